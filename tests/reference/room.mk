# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/truth.sh

# Live, so that chance decides which connections are compared; with files of $NETOBS_SHARED, whose content changes; with checkouts
# of other projects; with a tshark for each capture.
all_tests += \
	%D%/checkouts.sh \
	%D%/live_truth.sh \
	%D%/shared_cases.sh \
	%D%/shared_truth.sh \
	%D%/truth_fresh.sh \
	%D%/tshark.sh \
	%D%/tshark_dns.sh \
	%D%/tshark_http.sh \
	%D%/tshark_smb.sh \
	%D%/tshark_tls.sh \
	%D%/tshark_records.sh \
	%D%/tshark_retransmissions.sh

EXTRA_PROGRAMS += %D%/dump_fields %D%/truth_replay
%D%/truth.log %D%/truth_fresh.log %D%/shared_truth.log: %D%/truth_replay
%D%/tshark.log: %D%/dump_fields
