# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_tcp \
	%D%/test_tcp_exhaustive \
	%D%/test_tcp_accept \
	%D%/test_tcp_icmp \
	%D%/test_tcp_ignored \
	%D%/test_tcp_loss \
	%D%/test_tcp_machine \
	%D%/test_tcp_order \
	%D%/test_tcp_transition

check_tests += \
	%D%/icmp_errors.sh

# Every combination of four losses, duplicates and delays.
all_tests += \
	%D%/exhaustive.sh

%D%/exhaustive.log: %D%/test_tcp_exhaustive
