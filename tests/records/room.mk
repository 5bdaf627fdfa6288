# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_record_fields \
	%D%/test_record_lines \
	%D%/test_record_ring \
	%D%/test_record_sort \
	%D%/test_record_tally \
	%D%/test_services
