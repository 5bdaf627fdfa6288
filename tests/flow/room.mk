# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_duplicates \
	%D%/test_udp_flow
