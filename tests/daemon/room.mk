# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_formula_sites \
	%D%/test_notify
