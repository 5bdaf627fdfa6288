# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_http

# Real servers and clients; a flood.
all_tests += \
	%D%/http.sh \
	%D%/http_flood.sh
