# SPDX-License-Identifier: BSD-2-Clause

# It tests what compares with checkouts of other projects.
all_tests += \
	%D%/checkout.sh
