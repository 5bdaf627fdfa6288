# SPDX-License-Identifier: BSD-2-Clause

quick_tests += \
	%D%/accuracy.sh

check_tests += \
	%D%/truth.sh \
	%D%/tshark.sh \
	%D%/tshark_few.sh

# Live, so that chance decides which connections are compared; with files of $NETOBS_SHARED, whose content changes; with checkouts
# of other projects; with a tshark for each capture.
all_tests += \
	%D%/checkouts.sh \
	%D%/live_truth.sh \
	%D%/shared_cases.sh \
	%D%/shared_truth.sh \
	%D%/shared_tshark.sh \
	%D%/truth_disorder.sh \
	%D%/truth_fresh.sh \
	%D%/tshark_whole.sh

EXTRA_PROGRAMS += %D%/dump_fields %D%/truth_replay
%D%/truth.log %D%/truth_disorder.log %D%/truth_fresh.log %D%/shared_truth.log: %D%/truth_replay
%D%/tshark.log %D%/shared_tshark.log: %D%/dump_fields
