/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/formula.h"

/* Makes a definition of an expression. */
static const char definition[] = "records = connection-end where ";
#define DEFINITION_LENGTH (sizeof definition - 1)

struct record_filter {
	struct formula *formula;
};

/* Positions of a mistake are those in the user's text. */
static void
record_filter_explain(const struct formula_error *mistake, bool one_line, char error[RECORD_ERROR_MAX])
{
	unsigned column = mistake->column;

	if (mistake->line == 1)
		column = column > DEFINITION_LENGTH ? column - (unsigned)DEFINITION_LENGTH : 1;
	if (one_line)
		snprintf(error, RECORD_ERROR_MAX, "column %u: %.200s", column, mistake->message);
	else
		snprintf(error, RECORD_ERROR_MAX, "line %u, column %u: %.200s", mistake->line, column,
			 mistake->message);
}

static struct formula *
record_filter_compile_formula(const char *expression, char error[RECORD_ERROR_MAX])
{
	char text[FORMULA_TEXT_MAX + 1];
	struct formula_error mistake;
	struct formula *formula;

	if (expression[strspn(expression, " \t\r\n")] == '\0') {
		snprintf(error, RECORD_ERROR_MAX, "the expression is empty");
		return NULL;
	}
	if (strlen(expression) + DEFINITION_LENGTH > FORMULA_TEXT_MAX) {
		snprintf(error, RECORD_ERROR_MAX, "the expression is longer than %zu bytes",
			 (size_t)FORMULA_TEXT_MAX - DEFINITION_LENGTH);
		return NULL;
	}
	snprintf(text, sizeof text, "%s%s", definition, expression);
	formula = formula_compile(text, &mistake);
	if (formula == NULL)
		record_filter_explain(&mistake, strchr(expression, '\n') == NULL, error);
	return formula;
}

struct record_filter *
record_filter_compile(const char *expression, char error[RECORD_ERROR_MAX])
{
	struct record_filter *filter;
	struct formula *formula = record_filter_compile_formula(expression, error);

	if (formula == NULL)
		return NULL;
	filter = formula_has_threshold(formula) ? NULL : malloc(sizeof *filter);
	if (filter == NULL) {
		snprintf(error, RECORD_ERROR_MAX, "%s",
			 formula_has_threshold(formula) ? "a threshold (N times in DURATION) selects no records"
							: "out of memory");
		formula_free(formula);
		return NULL;
	}
	filter->formula = formula;
	return filter;
}

void
record_filter_free(struct record_filter *filter)
{
	if (filter == NULL)
		return;
	formula_free(filter->formula);
	free(filter);
}

bool
record_filter_selects(const struct record_filter *filter, const struct connrec *record)
{
	struct firing firing = {.probe = PROBE_CONNECTION_END, .built = 1, .args = {record}, .ts = record->cr_end};

	return formula_is_true(filter->formula, &firing);
}
