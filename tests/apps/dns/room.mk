# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_dns

all_tests += \
	%D%/dns.sh
