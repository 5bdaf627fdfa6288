# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/truth.sh

all_tests += \
	%D%/cases.sh \
	%D%/checkouts.sh \
	%D%/live_truth.sh \
	%D%/state_cases.sh \
	%D%/truth_fresh.sh \
	%D%/tshark.sh \
	%D%/tshark_dns.sh \
	%D%/tshark_http.sh \
	%D%/tshark_smb.sh \
	%D%/tshark_tls.sh \
	%D%/tshark_records.sh \
	%D%/tshark_retransmissions.sh

EXTRA_PROGRAMS += %D%/dump_fields %D%/truth_replay
%D%/truth.log %D%/truth_fresh.log: %D%/truth_replay
%D%/tshark.log: %D%/dump_fields
