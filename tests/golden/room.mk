# SPDX-License-Identifier: BSD-2-Clause

quick_tests += \
	%D%/golden.sh

sanitizers_tests += \
	%D%/golden.sh
