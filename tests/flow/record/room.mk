# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_record_table \
	%D%/test_record_tcp \
	%D%/test_record_time
