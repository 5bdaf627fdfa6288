# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_flow_key \
	%D%/test_flow_table \
	%D%/test_timer_wheel
