# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_control_reply \
	%D%/test_control_reply_connections \
	%D%/test_control_reply_owner \
	%D%/test_control_request \
	%D%/test_frame_programs \
	%D%/test_server
