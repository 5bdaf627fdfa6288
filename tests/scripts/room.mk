# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/completion.sh \
	%D%/conns.sh \
	%D%/d.sh

all_tests += \
	%D%/answers.sh \
	%D%/formulas.sh \
	%D%/netobs.sh \
	%D%/scripts.sh \
	%D%/translate.sh

