# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/record.sh
quick_shell_tests += \
	%D%/record.sh
