# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/answers.sh \
	%D%/completion.sh \
	%D%/conns.sh \
	%D%/d.sh \
	%D%/formulas.sh \
	%D%/netobs.sh \
	%D%/scripts.sh \
	%D%/translate.sh

quick_shell_tests += \
	%D%/conns.sh
