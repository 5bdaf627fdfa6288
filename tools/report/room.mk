# SPDX-License-Identifier: BSD-2-Clause
# netobs-report makes the page of `netobs report` of what netobsd prints.  Style, script and body of the page are files of
# their own, which the build puts into the program.

libexec_PROGRAMS = netobs-report
netobs_report_SOURCES = \
	%D%/report_capture.c \
	%D%/report_capture.h \
	%D%/report_data.c \
	%D%/report_data.h \
	%D%/report_detail.c \
	%D%/report_detail.h \
	%D%/report_lines.c \
	%D%/report_lines.h \
	%D%/report_live.c \
	%D%/report_live.h \
	%D%/report_main.c \
	%D%/report_overview.c \
	%D%/report_overview.h \
	%D%/report_page.c \
	%D%/report_page.h \
	%D%/report_records.c \
	%D%/report_records.h \
	%D%/report_source.c \
	%D%/report_source.h \
	%D%/report_verdict.c \
	%D%/report_verdict.h \
	%D%/report_volume.c \
	%D%/report_volume.h
nodist_netobs_report_SOURCES = tools/report/report_files.c
netobs_report_LDADD = $(NETTLE_LIBS) $(PCAP_LIBS)

# In the order in which the page has them.
report_scripts = $(addprefix $(srcdir)/tools/report/page/,data.js text.js surface.js verdict.js overview.js table.js lanes.js \
	ladder.js sequence.js start.js)
EXTRA_DIST += $(report_scripts) tools/report/page/style.css tools/report/page/body.html tools/report/files.sh
CLEANFILES += tools/report/report_files.c
tools/report/report_files.c: $(srcdir)/tools/report/files.sh $(srcdir)/tools/report/page/style.css $(report_scripts) \
		$(srcdir)/tools/report/page/body.html
	$(AM_V_GEN)$(MKDIR_P) tools/report && $(SHELL) $(srcdir)/tools/report/files.sh $(srcdir)/tools/report/page/style.css \
		$(srcdir)/tools/report/page/body.html $(report_scripts) >$@.new && mv $@.new $@
