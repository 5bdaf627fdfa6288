# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_tcp \
	%D%/test_tcp_exhaustive \
	%D%/test_tcp_ignored \
	%D%/test_tcp_loss \
	%D%/test_tcp_machine \
	%D%/test_tcp_order \
	%D%/test_tcp_transition

# 11 s: every combination of up to four losses, duplicates and delays.
slow_unit_tests += %D%/test_tcp_exhaustive
