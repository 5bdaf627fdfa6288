# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_excerpt_index

check_tests += \
	%D%/record.sh
