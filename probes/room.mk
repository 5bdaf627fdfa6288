# SPDX-License-Identifier: BSD-2-Clause
# The contract (netobs.d, netobs.h), its manifest, and the firing of probes.

libprobes_a_SOURCES += \
	%D%/fire.c \
	%D%/fire.h \
	%D%/firing.h \
	%D%/saved_firing.c \
	%D%/saved_firing.h \
	%D%/manifest.c \
	%D%/manifest.h \
	%D%/names.c \
	%D%/names.h \
	%D%/nearest.c \
	%D%/nearest.h \
	%D%/owner.h
nodist_libprobes_a_SOURCES = probes/manifest_data.c probes/sites.c probes/sites.h probes/probe_ids.h
EXTRA_DIST += %D%/abi_rows.awk %D%/manifest.awk %D%/tracer_libraries.awk

# The structs of the probe arguments, which scripts include.
include_HEADERS = %D%/netobs.h
dist_pkgdata_DATA = %D%/netobs.d

# Sites, ids and --list-probes are generated from the provider file and the installed header, so that they cannot differ.
MANIFEST = $(MKDIR_P) probes && LC_ALL=C $(AWK) -f $(srcdir)/probes/manifest.awk
CONTRACT = $(srcdir)/probes/netobs.d $(srcdir)/probes/netobs.h
probes/probe_ids.h: probes/manifest.awk probes/netobs.d probes/netobs.h
	$(AM_V_GEN)$(MANIFEST) -v output=ids $(CONTRACT) >$@.new && mv $@.new $@
probes/sites.h: probes/manifest.awk probes/netobs.d probes/netobs.h
	$(AM_V_GEN)$(MANIFEST) -v output=sites.h $(CONTRACT) >$@.new && mv $@.new $@
probes/sites.c: probes/manifest.awk probes/netobs.d probes/netobs.h
	$(AM_V_GEN)$(MANIFEST) -v output=sites.c $(CONTRACT) >$@.new && mv $@.new $@
probes/manifest_data.c: probes/manifest.awk probes/netobs.d probes/netobs.h
	$(AM_V_GEN)$(MANIFEST) -v output=manifest $(CONTRACT) >$@.new && mv $@.new $@
probes/abi_rows.h: probes/abi_rows.awk tests/probes/abi.expected
	$(AM_V_GEN)$(MKDIR_P) probes && LC_ALL=C $(AWK) -f $(srcdir)/probes/abi_rows.awk $(srcdir)/tests/probes/abi.expected \
		>$@.new && mv $@.new $@
generated_sources = probes/abi_rows.h probes/probe_ids.h probes/sites.h probes/sites.c probes/manifest_data.c
BUILT_SOURCES += $(generated_sources)
CLEANFILES += $(generated_sources)

# For tracers that do not read netobs.h: the D library, and the tapset of SystemTap.
probes/listing: probes/manifest.awk probes/netobs.d probes/netobs.h
	$(AM_V_GEN)$(MANIFEST) -v output=listing $(CONTRACT) >$@.new && mv $@.new $@
LIBRARIES_AWK = LC_ALL=C $(AWK) -f $(srcdir)/probes/tracer_libraries.awk
probes/dtrace/netobs.d: probes/listing probes/tracer_libraries.awk
	$(AM_V_GEN)$(MKDIR_P) probes/dtrace && $(LIBRARIES_AWK) -v output=d probes/listing $(srcdir)/probes/netobs.h >$@.new && \
		mv $@.new $@
probes/tapset/netobs.stp: probes/listing probes/tracer_libraries.awk Makefile
	$(AM_V_GEN)$(MKDIR_P) probes/tapset && $(LIBRARIES_AWK) -v output=tapset -v program=$(sbindir)/netobsd \
		probes/listing $(srcdir)/probes/netobs.h >$@.new && mv $@.new $@
# The directory in which DTrace looks for libraries, if it has the same $(libdir).
dlibrarydir = $(libdir)/dtrace
nodist_dlibrary_DATA = probes/dtrace/netobs.d
tapsetdir = $(pkgdatadir)/tapset
nodist_tapset_DATA = probes/tapset/netobs.stp
CLEANFILES += probes/listing $(nodist_dlibrary_DATA) $(nodist_tapset_DATA)
