# SPDX-License-Identifier: BSD-2-Clause

quick_tests += \
	%D%/d.sh

check_tests += \
	%D%/completion.sh \
	%D%/conns.sh

# DTrace is no package.
all_tests += \
	%D%/d_dtrace.sh

all_tests += \
	%D%/answers.sh \
	%D%/formulas.sh \
	%D%/netobs.sh \
	%D%/scripts.sh \
	%D%/translate.sh

