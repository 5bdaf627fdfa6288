/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the tables of netobsd(8) that are made from tables of the program: manual_tables counters | topics.
 * manual_tables.sh compares the page with them. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "daemon/stats/counters.h"

#define LINE_WIDTH 78

/* Writes running text in mdoc: short lines, each sentence begins one, "--" are two hyphens. */
static void
write_text(const char *text)
{
	size_t width = 0;

	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		bool sentence_ends = text[length - 1] == '.';

		if (width > 0 && width + 1 + length > LINE_WIDTH) {
			putchar('\n');
			width = 0;
		}
		if (width > 0)
			width += (size_t)printf(" ");
		if (strncmp(text, "--", 2) == 0)
			printf("\\-\\-%.*s", (int)length - 2, text + 2);
		else
			printf("%.*s", (int)length, text);
		width += length;
		text += length;
		text += strspn(text, " ");
		if (sentence_ends || *text == '\0') {
			putchar('\n');
			width = 0;
		}
	}
}

/* The metric with its labels, as a query selects it. */
static void
write_metric(const struct counter_row *row)
{
	const char *last = row->label != NULL ? strrchr(row->label, ',') : NULL;

	if (row->type == COUNTER_HISTOGRAM) {
		printf("Metric, a histogram:\n.Li netobs_%s .\n", row->metric);
		return;
	}
	printf("Metric:\n.Li netobs_%s", row->metric);
	if (row->label == NULL)
		printf(" .\n");
	else if (row->element_name != NULL && last != NULL)
		printf("{%.*s} ,\nlabel\n.Li %s .\n", (int)(last - row->label), row->label, last + 1);
	else if (row->element_name == NULL)
		printf("{%s=\\(dq%s\\(dq} .\n", row->label, row->label_value != NULL ? row->label_value : row->name);
	else
		printf(" ,\nlabel\n.Li %s .\n", row->label);
}

static void
write_counter(const struct counter_row *row)
{
	if (row->element_name != NULL)
		printf(".It Li %.*s\\&. Ns Ar %s\n", (int)strlen(row->group) - 1, row->group, row->variable);
	else
		printf(".It Li %s%s\n", row->group, row->name);
	write_text(row->help);
	if (row->advice != NULL)
		write_text(row->advice);
	if (row->metric != NULL)
		write_metric(row);
}

static void
write_counters(void)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < counters_table_rows; i++) {
		const struct counter_row *row = &counters_table[i];

		if (row->condition != COUNTER_IN_METRICS_ONLY) {
			write_counter(row);
		} else if (row->metric_help != NULL) {
			printf(".It Li netobs_%s\n", row->metric);
			write_text(row->metric_help);
			puts("Only in the metrics.");
		}
	}
	puts(".El");
}

static void
write_topics(void)
{
	puts(".Bl -tag -width capture -compact");
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT; i++)
		printf(".It Cm %s\n%s\n", debug_topics[i].name, debug_topics[i].help);
	puts(".El");
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "counters") == 0) {
		write_counters();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "topics") == 0) {
		write_topics();
		return 0;
	}
	fputs("usage: manual_tables counters | topics\n", stderr);
	return 1;
}
