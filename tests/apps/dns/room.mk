# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_dns

shell_tests += \
	%D%/dns.sh
