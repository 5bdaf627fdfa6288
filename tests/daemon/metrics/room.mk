# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_http_host
