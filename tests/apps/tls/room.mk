# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_tls

# Real servers and clients.
all_tests += \
	%D%/tls.sh
