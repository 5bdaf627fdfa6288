# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_output_path \
	%D%/test_unit_clause

check_tests += \
	%D%/outputs.sh
