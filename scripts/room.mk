# SPDX-License-Identifier: BSD-2-Clause
# netobs(1) and its scripts: each has NAME.bt, NAME.d and an example of its output, NAME.txt.

script_names = \
	appwho \
	arpwatch \
	dnsfailed \
	dnsslow \
	dnsunanswered \
	drops \
	hosts \
	httpfailed \
	httplatency \
	httpwho \
	icmperrors \
	ipio \
	ipproto \
	iscsibytes \
	iscsilatency \
	iscsilogin \
	iscsilun \
	iscsiwho \
	outbound \
	refused \
	resets \
	retransmits \
	scanned \
	sctpstate \
	services \
	smbfailed \
	smbfiles \
	smbops \
	tcp1stbyte \
	tcp_rwndclosed \
	tcpaccept \
	tcpbytes \
	tcpconnect \
	tcpconnlat \
	tcpio \
	tcplife \
	tcpsize \
	tcpsnoop \
	tcpstate \
	tcptop \
	timeline \
	tlsalerts \
	tlslatency \
	tlssni \
	udptop \
	webconn

# Of the private provider netobs_engine, which DTrace does not see; what they print depends on the machine.
engine_script_names = \
	batchtime \
	lag \
	ringdrops \
	slowpath

bin_SCRIPTS = netobs
netobs: scripts/netobs Makefile
	$(AM_V_GEN)sed -e 's|[@]pkgdatadir[@]|$(pkgdatadir)|' -e 's|[@]includedir[@]|$(includedir)|' -e 's|[@]sbindir[@]|$(sbindir)|' \
		-e 's|[@]libexecdir[@]|$(libexecdir)|' -e 's|[@]VERSION[@]|$(VERSION)|' \
		-e 's|[@]libdir[@]|$(libdir)|' $(srcdir)/scripts/netobs >$@.new && chmod +x $@.new && mv $@.new $@
CLEANFILES += netobs

bpftracedir = $(pkgdatadir)/scripts/bpftrace
dist_bpftrace_DATA = $(script_names:%=scripts/bpftrace/%.bt) $(engine_script_names:%=scripts/bpftrace/%.bt)
dscriptsdir = $(pkgdatadir)/scripts/d
dist_dscripts_DATA = $(script_names:%=scripts/d/%.d)
examplesdir = $(pkgdatadir)/scripts/examples
dist_examples_DATA = $(script_names:%=scripts/examples/%.txt)
EXTRA_DIST += scripts/examples/LIST scripts/examples/update scripts/netobs scripts/translate

scriptsdir = $(pkgdatadir)/scripts
scripts_SCRIPTS = translate
dist_scripts_DATA = scripts/attached.awk scripts/errors.awk scripts/escape.awk scripts/formulas.awk scripts/marks.awk \
	scripts/nearest.awk scripts/output.awk scripts/translate.awk scripts/warnings.awk
translate: scripts/translate Makefile
	$(AM_V_GEN)sed 's|[@]sbindir[@]|$(sbindir)|' $(srcdir)/scripts/translate >$@.new && chmod +x $@.new && mv $@.new $@
CLEANFILES += translate
bccdir = $(pkgdatadir)/scripts/bcc
dist_bcc_SCRIPTS = scripts/bcc/talkers.py
gdbdir = $(pkgdatadir)/scripts/gdb
dist_gdb_DATA = scripts/gdb/changes.gdb
