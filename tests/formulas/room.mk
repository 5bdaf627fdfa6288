# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_formula

tests_formulas_test_formula_SOURCES = %D%/test_formula.c %D%/firing_sample.c %D%/firing_sample.h
