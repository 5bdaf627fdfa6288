# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_app_flow \
	%D%/test_first_bytes_pool \
	%D%/test_stream
