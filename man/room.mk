# SPDX-License-Identifier: BSD-2-Clause
# Manual pages.

dist_man_MANS = %D%/netobs.1 %D%/netobs.conf.5 %D%/netobsctl.8 %D%/netobsd.8
EXTRA_DIST += %D%/netobs.7.in %D%/netobs7.awk

# The tables of netobs(7) are generated from the sources of the program.
nodist_man_MANS = man/netobs.7
man/netobs.7: man/netobs.7.in man/netobs7.awk probes/manifest.awk probes/netobs.d probes/netobs.h dissect/anomaly.def
	$(AM_V_GEN)$(MKDIR_P) man && LC_ALL=C $(AWK) -v output=listing -f $(srcdir)/probes/manifest.awk $(CONTRACT) >$@.tables && \
		LC_ALL=C $(AWK) -f $(srcdir)/man/netobs7.awk $@.tables $(srcdir)/dissect/anomaly.def $(srcdir)/man/netobs.7.in >$@.new && \
		mv $@.new $@ && rm $@.tables
CLEANFILES += man/netobs.7
