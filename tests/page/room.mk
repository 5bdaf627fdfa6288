# SPDX-License-Identifier: BSD-2-Clause

all_tests += \
	%D%/live.sh \
	%D%/pages.sh
