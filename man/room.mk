# SPDX-License-Identifier: BSD-2-Clause
# Manual pages.

dist_man_MANS = %D%/netobs.1 %D%/netobs-report.8 %D%/netobs-split.8 %D%/netobs.conf.5 %D%/netobsctl.8 %D%/netobsd.8
EXTRA_DIST += %D%/netobs.7.in %D%/netobs7.awk

# The tables of netobs(7) are generated from the sources of the program.
nodist_man_MANS = man/netobs.7
man/netobs.7: man/netobs.7.in man/netobs7.awk probes/manifest.awk probes/netobs.d probes/netobs.h dissect/anomaly.def engine/engine.def
	$(AM_V_GEN)$(MKDIR_P) man && LC_ALL=C $(AWK) -v output=listing -f $(srcdir)/probes/manifest.awk $(CONTRACT) >$@.tables && \
		LC_ALL=C $(AWK) -f $(srcdir)/man/netobs7.awk $@.tables $(srcdir)/dissect/anomaly.def $(srcdir)/engine/engine.def $(srcdir)/man/netobs.7.in >$@.new && \
		mv $@.new $@ && rm $@.tables
CLEANFILES += man/netobs.7

# The examples have the paths of the default prefix; installed manuals have those of the installation.
manuals = $(man1dir)/netobs.1 $(man5dir)/netobs.conf.5 $(man7dir)/netobs.7 $(man8dir)/netobsctl.8 $(man8dir)/netobsd.8
if HAVE_FUSE
dist_man_MANS += %D%/netobs-connfs.1
manuals += $(man1dir)/netobs-connfs.1
endif
install-data-hook:
	@set -e; for page in $(manuals); do \
		sed -e 's|/usr/local/sbin/|$(sbindir)/|g' -e 's|/usr/local/include/|$(includedir)/|g' \
			-e 's|/usr/local/share/netobs|$(pkgdatadir)|g' -e 's|/usr/local/lib/dtrace|$(dlibrarydir)|g' -e 's|/etc/netobs/|$(netobsconfdir)/|g' \
			"$(DESTDIR)$$page" >"$(DESTDIR)$$page.new"; \
		cat "$(DESTDIR)$$page.new" >"$(DESTDIR)$$page"; \
		rm "$(DESTDIR)$$page.new"; \
	done
