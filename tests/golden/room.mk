# SPDX-License-Identifier: BSD-2-Clause

quick_tests += \
	%D%/golden.sh

# The same captures again: reads beyond their ends.
sanitizers_tests += \
	%D%/golden.sh
