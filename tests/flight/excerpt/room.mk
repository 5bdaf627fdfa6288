# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_excerpt_index

check_tests += \
	%D%/write.sh

# The body of the comparisons with tshark.
all_tests += \
	%D%/write_tshark.sh
