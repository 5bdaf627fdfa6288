/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/config_print.h"

#include <string.h>

/* Writes a string in double quotes, escaping what libconfuse would interpret: quotes, escapes and ${ENVIRONMENT}. */
static void
config_print_quoted(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text != '\0'; text++) {
		if (strchr("\"\\$", *text) != NULL)
			fputc('\\', to);
		fputc(*text, to);
	}
	fputc('"', to);
}

/* Numbers, times, sizes, true and false are written without quotes. */
static void
config_print_value(FILE *to, const struct option_row *row, const char *value)
{
	if (row->kind->toggle || row->max > row->min || row->quantity.max > 0)
		fputs(value, to);
	else
		config_print_quoted(to, value);
}

bool
config_print_row(FILE *to, const struct option_row *row, const struct config *config)
{
	char buffer[OPTIONS_VALUE_MAX];
	const char *value = row->kind->get(config, row, 0, buffer);

	if (value == NULL)
		return false;
	fprintf(to, "%s = %s", row->name, row->kind->list ? "{" : "");
	for (size_t i = 0; (value = row->kind->get(config, row, i, buffer)) != NULL; i++) {
		if (i > 0)
			fputs(", ", to);
		config_print_value(to, row, value);
	}
	fputs(row->kind->list ? "}" : "", to);
	return true;
}

void
config_print(FILE *to, const struct config *config)
{
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (row->source == OPTION_COMMAND_LINE)
			continue;
		if (!config_print_row(to, row, config))
			fprintf(to, "# %s is not set", row->name);
		fputc('\n', to);
	}
}
