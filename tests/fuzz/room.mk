# SPDX-License-Identifier: BSD-2-Clause

# Without sanitizers most faults go unnoticed.
sanitizers_tests += \
	%D%/fuzz.sh \
	%D%/mutations.sh

# Both compile the tree again: the memory sanitizer, and what a continuous-fuzzing service builds.
all_tests += \
	%D%/continuous.sh \
	%D%/memory.sh

# Captures of $NETOBS_SHARED, whose content changes; damage that is another one at each run.
all_sanitizers_tests += \
	%D%/fuzz_shared.sh \
	%D%/mutations_all.sh

# Linked with libFuzzer after configure --enable-fuzzing, otherwise with a driver that replays files: a plain test either way.
fuzz_targets = \
	%D%/fuzz_capture \
	%D%/fuzz_config \
	%D%/fuzz_decompress \
	%D%/fuzz_dns \
	%D%/fuzz_flow \
	%D%/fuzz_formula \
	%D%/fuzz_frame \
	%D%/fuzz_http \
	%D%/fuzz_iscsi \
	%D%/fuzz_netlink \
	%D%/fuzz_pipeline \
	%D%/fuzz_print \
	%D%/fuzz_query \
	%D%/fuzz_reassembly \
	%D%/fuzz_run \
	%D%/fuzz_sctp \
	%D%/fuzz_slots \
	%D%/fuzz_smb \
	%D%/fuzz_tls
EXTRA_PROGRAMS += $(fuzz_targets) %D%/fuzz_seeds
if FUZZING
fuzz_main =
else
fuzz_main = %D%/fuzz_main.c
endif
tests_fuzz_fuzz_capture_SOURCES = %D%/fuzz_capture.c $(fuzz_main)
tests_fuzz_fuzz_capture_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_config_SOURCES = %D%/fuzz_config.c $(fuzz_main)
tests_fuzz_fuzz_config_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_decompress_SOURCES = %D%/fuzz_decompress.c $(fuzz_main)
tests_fuzz_fuzz_decompress_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_dns_SOURCES = %D%/fuzz_dns.c $(fuzz_main)
tests_fuzz_fuzz_dns_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_flow_SOURCES = %D%/fuzz_flow.c $(fuzz_main)
tests_fuzz_fuzz_flow_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_formula_SOURCES = %D%/fuzz_formula.c $(fuzz_main)
tests_fuzz_fuzz_formula_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_frame_SOURCES = %D%/fuzz_frame.c $(fuzz_main)
tests_fuzz_fuzz_frame_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_http_SOURCES = %D%/fuzz_http.c $(fuzz_main)
tests_fuzz_fuzz_http_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_iscsi_SOURCES = %D%/fuzz_iscsi.c $(fuzz_main)
tests_fuzz_fuzz_iscsi_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_netlink_SOURCES = %D%/fuzz_netlink.c $(fuzz_main)
tests_fuzz_fuzz_netlink_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_pipeline_SOURCES = %D%/fuzz_pipeline.c $(fuzz_main)
tests_fuzz_fuzz_pipeline_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_print_SOURCES = %D%/fuzz_print.c $(fuzz_main)
tests_fuzz_fuzz_print_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_query_SOURCES = %D%/fuzz_query.c $(fuzz_main)
tests_fuzz_fuzz_query_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_reassembly_SOURCES = %D%/fuzz_reassembly.c $(fuzz_main)
tests_fuzz_fuzz_reassembly_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_run_SOURCES = %D%/fuzz_run.c $(fuzz_main)
tests_fuzz_fuzz_run_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_run_LDADD = libsplit.a $(LDADD)
tests_fuzz_fuzz_sctp_SOURCES = %D%/fuzz_sctp.c $(fuzz_main)
tests_fuzz_fuzz_sctp_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_slots_SOURCES = %D%/fuzz_slots.c $(fuzz_main)
tests_fuzz_fuzz_slots_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_smb_SOURCES = %D%/fuzz_smb.c $(fuzz_main)
tests_fuzz_fuzz_smb_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_tls_SOURCES = %D%/fuzz_tls.c $(fuzz_main)
tests_fuzz_fuzz_tls_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
%D%/fuzz.log: $(fuzz_targets) %D%/fuzz_seeds
%D%/fuzz_shared.log: $(fuzz_targets) %D%/fuzz_seeds
%D%/memory.log: %D%/fuzz_seeds
