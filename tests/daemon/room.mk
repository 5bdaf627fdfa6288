# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_dtrace \
	%D%/test_formula_sites \
	%D%/test_notify

check_tests += \
	%D%/every_output.sh

# A test of its own, because every_output.sh would take minutes there.
sanitizers_tests += \
	%D%/every_output_sanitizers.sh

# The same with every capture, which takes minutes.
all_tests += \
	%D%/every_output_all.sh

# The same with every capture, which takes minutes.
all_sanitizers_tests += \
	%D%/every_output_all_sanitizers.sh
