# SPDX-License-Identifier: BSD-2-Clause

quick_tests += \
	%D%/d.sh

check_tests += \
	%D%/completion.sh \
	%D%/conns.sh \
	%D%/formulas.sh \
	%D%/names.sh \
	%D%/netobs.sh \
	%D%/scripts.sh \
	%D%/translate.sh \
	%D%/trust.sh

# bpftrace with every script, and on live interfaces; DTrace, which Debian 12 does not have.
all_tests += \
	%D%/answers.sh \
	%D%/d_dtrace.sh \
	%D%/formulas_traced.sh \
	%D%/names_traced.sh \
	%D%/netobs_traced.sh \
	%D%/scripts_traced.sh \
	%D%/translate_traced.sh
