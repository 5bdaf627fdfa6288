# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/live.sh \
	%D%/pages.sh
