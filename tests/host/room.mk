# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_local_addrs \
	%D%/test_locality \
	%D%/test_lower_dedup \
	%D%/test_rtnl_link \
	%D%/test_view
