# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_closed_reply

shell_tests += \
	%D%/records.sh

quick_shell_tests += \
	%D%/records.sh
