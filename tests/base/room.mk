# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_clock \
	%D%/test_high_sockets \
	%D%/test_json \
	%D%/test_log_debug \
	%D%/test_log_limit \
	%D%/test_loop \
	%D%/test_output_file \
	%D%/test_output_path \
	%D%/test_time_histogram \
	%D%/test_trusted_path \
	%D%/test_unit_clause \
	%D%/test_units

check_tests += \
	%D%/outputs.sh
