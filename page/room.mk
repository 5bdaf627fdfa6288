# SPDX-License-Identifier: BSD-2-Clause
# The page of `netobs report` and of the metrics address.  Style, script and body are files of their own, which the build
# puts into the programs.

noinst_LIBRARIES += libpage.a
libpage_a_SOURCES = \
	%D%/page.c \
	%D%/page.h \
	%D%/page_files.h
nodist_libpage_a_SOURCES = page/page_files.c

# In the order in which the page has them.
page_scripts = $(addprefix $(srcdir)/page/,data.js text.js surface.js place.js verdict.js overview.js waits.js table.js lanes.js \
	ladder.js sequence.js streams.js graphs.js live_findings.js live.js start.js)
EXTRA_DIST += $(page_scripts) page/style.css page/body.html page/files.sh
CLEANFILES += page/page_files.c
page/page_files.c: $(srcdir)/page/files.sh $(srcdir)/page/style.css $(page_scripts) $(srcdir)/page/body.html
	$(AM_V_GEN)$(MKDIR_P) page && $(SHELL) $(srcdir)/page/files.sh $(srcdir)/page/style.css $(srcdir)/page/body.html \
		$(page_scripts) >$@.new && mv $@.new $@
