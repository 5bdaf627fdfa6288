/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "config/options.h"
#include "probes/nearest.h"

#define HELP_COLUMN 34
#define HELP_WIDTH  80

const char *const option_group_titles[GROUP_COUNT] = {
    [GROUP_INPUT] = "Input",   [GROUP_VIEW] = "Point of view", [GROUP_OUTPUT] = "Output",
    [GROUP_LIMITS] = "Limits", [GROUP_GENERAL] = "General",
};

/* Prints words, the first one at `column`, and begins a line at HELP_COLUMN before a word that does not fit. */
static void
help_print_wrapped(FILE *to, int column, const char *words)
{
	bool first = true;

	while (*words != '\0') {
		int length = (int)strcspn(words, " ");

		if (!first && column + 1 + length > HELP_WIDTH) {
			fprintf(to, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", length, words);
		column += length;
		words += length + (words[length] == ' ');
		first = false;
	}
	fputc('\n', to);
}

static void
help_print_row(FILE *to, const struct option_row *row, const struct config *defaults)
{
	char letter[5] = "    ", value[64] = "", buffer[OPTIONS_VALUE_MAX], words[OPTIONS_VALUE_MAX + 256];
	const char *default_value = row->kind->toggle ? NULL : row->kind->get(defaults, row, 0, buffer);
	int width;

	if (row->short_name != 0)
		snprintf(letter, sizeof letter, "-%c, ", row->short_name);
	if (row->argument != NULL)
		snprintf(value, sizeof value, row->optional ? "[=%s]" : " %s", row->argument);
	width = fprintf(to, "  %s--%s%s", letter, row->name, value);
	width += fprintf(to, "%*s", width < HELP_COLUMN - 1 ? HELP_COLUMN - width : 1, "");
	if (default_value != NULL)
		snprintf(words, sizeof words, "%s (%s)", row->help, default_value);
	else
		snprintf(words, sizeof words, "%s", row->help);
	help_print_wrapped(to, width, words);
}

void
options_print_help(FILE *to)
{
	struct config defaults;

	if (!config_set_defaults(&defaults)) {
		config_free(&defaults);
		return;
	}
	fputs("Usage: netobsd -i IFACE... [OPTION...] [FILTER]   observe interfaces\n"
	      "       netobsd -r FILE... [OPTION...] [FILTER]    replay captures\n"
	      "FILTER is a pcap-filter(7) expression.  Defaults are in parentheses.\n",
	      to);
	for (unsigned group = 0; group < GROUP_COUNT; group++) {
		fprintf(to, "\n%s:\n", option_group_titles[group]);
		for (size_t i = 0; i < options_table_rows; i++)
			if (options_table[i].group == group && options_table[i].source != OPTION_CONFIG_FILE)
				help_print_row(to, &options_table[i], &defaults);
	}
	fputs("\nExit status: 0 success, 1 failure, 2 damaged capture file, 3 frames were\n"
	      "dropped (--strict).\n"
	      "See netobsd(8) for details and netobs(7) for the probes.\n",
	      to);
	config_free(&defaults);
}

const char *
options_hint(const char *name, size_t length, bool settings, char hint[NEAREST_HINT_MAX])
{
	struct nearest nearest;

	nearest_begin(&nearest, name, length);
	for (size_t i = 0; i < options_table_rows; i++)
		if (options_table[i].source != (settings ? OPTION_COMMAND_LINE : OPTION_CONFIG_FILE))
			nearest_consider(&nearest, options_table[i].name);
	return nearest_hint(&nearest, settings ? "" : "--", hint);
}
