# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_excerpt_index

shell_tests += \
	%D%/record.sh
quick_shell_tests += \
	%D%/record.sh
