# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_owner_lookup

# It waits for the kernel's replies.
slow_unit_tests += %D%/test_owner_lookup
