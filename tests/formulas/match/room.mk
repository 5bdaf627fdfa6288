# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_filter_size \
	%D%/test_match
