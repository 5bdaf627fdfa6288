# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_landlock \
	%D%/test_sandbox
