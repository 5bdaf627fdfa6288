# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_dns

# Real servers and clients.
all_tests += \
	%D%/dns.sh
