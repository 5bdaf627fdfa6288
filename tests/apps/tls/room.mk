# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_tls

all_tests += \
	%D%/tls.sh
