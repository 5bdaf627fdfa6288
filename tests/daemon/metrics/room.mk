# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_http_host \
	%D%/test_metrics_page
