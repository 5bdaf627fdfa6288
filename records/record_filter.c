/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_filter.h"

#include <ctype.h>
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

/* Conditions such as "port 80" and "state=established", and what says the same: `end`, the value, and with `other` that
 * and the value again, then `close`. */
static const struct record_condition {
	const char *word, *end, *other, *close;
} record_conditions[] = {
    {"state", "client_state == \"", "\" || server_state == \"", "\""},
    {"port", "server_port == ", " || client_port == ", ""},
    {"host", "client == ", " || server == ", ""},
    {"proto", "protostr == \"", NULL, "\""},
    {"cid", "client_cid == ", " || server_cid == ", ""},
    {"where", "", NULL, ""},
};

/* The value after "WORD " or "WORD=", NULL if a text does not begin so. */
static const char *
record_condition_value(const char *text, const char *word)
{
	static const char blanks[] = " \t\r\n";
	size_t length = strlen(word);

	if (strncmp(text, word, length) != 0 || strchr(" \t\r\n=", text[length]) == NULL)
		return NULL;
	text += length + strspn(text + length, blanks);
	text += text[0] == '=' && text[1] != '=';
	text += strspn(text, blanks);
	return *text != '\0' && strchr("=!<>&|)", *text) == NULL ? text : NULL;
}

/* Replaces the mistake in a text that begins with a condition: `error` has the expression instead. */
static void
record_filter_explain_condition(const char *text, char error[RECORD_ERROR_MAX])
{
	for (size_t i = 0; i < sizeof record_conditions / sizeof record_conditions[0]; i++) {
		const struct record_condition *condition = &record_conditions[i];
		const char *value = record_condition_value(text, condition->word);
		char copy[RECORD_ERROR_MAX];
		int length;

		if (value == NULL)
			continue;
		length = *condition->end == '\0' ? 150 : (int)strcspn(value, " \t\r\n");
		snprintf(copy, sizeof copy, "%.*s", length, value);
		for (char *at = copy; strcmp(condition->word, "proto") == 0 && *at != '\0'; at++)
			*at = (char)toupper((unsigned char)*at);
		length = condition->other != NULL ? 60 : 150;
		snprintf(error, RECORD_ERROR_MAX, "\"%s\" is not an expression: write %s%.*s%s%.*s%s", condition->word,
			 condition->end, length, copy, condition->other != NULL ? condition->other : "",
			 condition->other != NULL ? length : 0, copy, condition->close);
		return;
	}
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
	formula = formula_compile_rows(text, record_row_struct(), &mistake);
	if (formula == NULL) {
		record_filter_explain(&mistake, strchr(expression, '\n') == NULL, error);
		record_filter_explain_condition(expression, error);
	}
	return formula;
}

struct record_filter *
record_filter_compile(const char *expression, char error[RECORD_ERROR_MAX])
{
	struct record_filter *filter;
	struct formula *formula = record_filter_compile_formula(expression, error);

	if (formula == NULL)
		return NULL;
	filter = formula_has_threshold(formula) || formula_has_wait(formula) ? NULL : malloc(sizeof *filter);
	if (filter == NULL) {
		snprintf(error, RECORD_ERROR_MAX, "%s",
			 formula_has_threshold(formula) ? "a threshold (N times in DURATION) selects no records" :
			 formula_has_wait(formula)	? "a duration (for, no ... within) selects no records" :
							  "out of memory");
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
record_filter_selects(const struct record_filter *filter, const struct connrow *row)
{
	struct firing firing = {.probe = PROBE_CONNECTION_END, .built = 1, .args = {row}, .ts = row->record.cr_end};

	return formula_is_true(filter->formula, &firing);
}
