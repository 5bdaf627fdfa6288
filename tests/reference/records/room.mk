# SPDX-License-Identifier: BSD-2-Clause

all_tests += \
	%D%/checkout.sh
