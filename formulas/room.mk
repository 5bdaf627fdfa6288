# SPDX-License-Identifier: BSD-2-Clause
# definitions to code, evaluation, thresholds, waits

libformulas_a_SOURCES += \
	%D%/check.c \
	%D%/check_operators.c \
	%D%/code.h \
	%D%/compile.c \
	%D%/describe.c \
	%D%/evaluate.c \
	%D%/expression.c \
	%D%/fields.c \
	%D%/field_values.c \
	%D%/field_values.h \
	%D%/formula.h \
	%D%/formula_set.c \
	%D%/formula_set.h \
	%D%/generate.c \
	%D%/lexer.c \
	%D%/lexer.h \
	%D%/syntax.c \
	%D%/syntax.h \
	%D%/threshold.c \
	%D%/threshold.h \
	%D%/value_table.c \
	%D%/value_table.h \
	%D%/wait.c \
	%D%/wait.h \
	%D%/words.c \
	%D%/words.h
