# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_describe \
	%D%/test_formula \
	%D%/test_formula_set \
	%D%/test_mistakes \
	%D%/test_threshold \
	%D%/test_wait

check_tests += \
	%D%/replay.sh \
	%D%/waits.sh

# Four tracers at a replay and at an interface; tshark's answers depend on no code of netobs.
all_tests += \
	%D%/conf_tshark.sh \
	%D%/tracers.sh

# Formulas are evaluated on firings of the tests' own.
firing_sample = %D%/firing_sample.c %D%/firing_sample.h
tests_formulas_test_describe_SOURCES = %D%/test_describe.c $(firing_sample)
tests_formulas_test_formula_SOURCES = %D%/test_formula.c $(firing_sample)
tests_formulas_test_formula_set_SOURCES = %D%/test_formula_set.c $(firing_sample)
tests_formulas_test_mistakes_SOURCES = %D%/test_mistakes.c $(firing_sample)
tests_formulas_test_threshold_SOURCES = %D%/test_threshold.c $(firing_sample)
tests_formulas_test_wait_SOURCES = %D%/test_wait.c $(firing_sample)

# The formulas of formulas.conf, each on captures with a known answer.
check_tests += \
	%D%/conf.sh

# It measures time.
speed_tests += \
	%D%/cost.sh
EXTRA_PROGRAMS += %D%/cost_formula
tests_formulas_cost_formula_SOURCES = %D%/cost_formula.c $(firing_sample)
%D%/cost.log: %D%/cost_formula
