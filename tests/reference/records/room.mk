# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/checkout.sh
