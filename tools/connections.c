/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/control_client.h"

#define FIELDS_MAX 25 /* those of a request, which may include one more to sort by */

/* Lines of a reply, and the rows that they are split into. */
struct connections_table {
	char *text;
	char **values; /* `columns` for each row */
	size_t rows;
	unsigned columns; /* with the hidden one to sort by */
	unsigned shown;
	const char *titles[FIELDS_MAX];
};

/* Which column sorts, for qsort(3). */
static unsigned sort_column;
static bool sort_reversed;

static bool
connections_is_number(const char *value)
{
	return isdigit((unsigned char)value[value[0] == '-']) != 0 && strspn(value, "-0123456789") == strlen(value);
}

/* Numbers before texts; numbers descend, texts ascend, unless reversed. */
static int
connections_compare(const void *left, const void *right)
{
	const char *a = ((char *const *)left)[sort_column], *b = ((char *const *)right)[sort_column];
	bool a_number = connections_is_number(a), b_number = connections_is_number(b);
	long long x, y;

	if (a_number != b_number)
		return a_number ? -1 : 1;
	if (!a_number)
		return sort_reversed ? strcmp(b, a) : strcmp(a, b);
	x = strtoll(a, NULL, 10);
	y = strtoll(b, NULL, 10);
	return (sort_reversed ? 1 : -1) * ((x > y) - (x < y));
}

/* Splits the titles in place; false if there are too many. */
static bool
connections_split_titles(struct connections_table *table, char *list)
{
	char *title;

	while ((title = strsep(&list, ",")) != NULL) {
		if (table->columns == FIELDS_MAX)
			return false;
		table->titles[table->columns++] = title;
	}
	table->shown = table->columns;
	return true;
}

/* Finds the column to sort by, "-FIELD" in reverse; adds a hidden one if it is not shown. */
static bool
connections_set_order(struct connections_table *table, const char *sort)
{
	sort_reversed = sort[0] == '-';
	sort += sort_reversed;
	for (sort_column = 0; sort_column < table->columns; sort_column++)
		if (strcmp(table->titles[sort_column], sort) == 0)
			return true;
	if (table->columns == FIELDS_MAX)
		return false;
	table->titles[table->columns++] = sort;
	return true;
}

/* Splits the lines of a reply into rows, in place.  False if a line does not have a value for each column. */
static bool
connections_split_rows(struct connections_table *table)
{
	size_t lines = 0;
	char *rest = table->text, *line;

	for (const char *at = table->text; *at != '\0'; at++)
		lines += *at == '\n';
	table->values = calloc(lines * table->columns + 1, sizeof *table->values);
	if (table->values == NULL)
		return false;
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		char **row = table->values + table->rows++ * table->columns;

		for (unsigned i = 0; i < table->columns; i++)
			if ((row[i] = strsep(&line, "\t")) == NULL)
				return false;
	}
	return true;
}

/* Prints a row in columns of the given widths, numbers at the right; nothing follows the last value. */
static void
connections_print_row(const struct connections_table *table, char *const *row, const int *widths)
{
	for (unsigned i = 0; i < table->shown; i++) {
		int width = connections_is_number(row[i]) ? widths[i] : i + 1 < table->shown ? -widths[i] : 0;

		printf("%s%*s", i > 0 ? " " : "", width, row[i]);
	}
	putchar('\n');
}

static void
connections_print_table(const struct connections_table *table, size_t rows)
{
	int widths[FIELDS_MAX] = {0};

	for (unsigned i = 0; i < table->shown; i++) {
		widths[i] = (int)strlen(table->titles[i]);
		for (size_t row = 0; row < rows; row++) {
			int length = (int)strlen(table->values[row * table->columns + i]);

			widths[i] = length > widths[i] ? length : widths[i];
		}
	}
	for (unsigned i = 0; i < table->shown; i++) {
		bool number = rows > 0 && connections_is_number(table->values[i]);
		int width = number ? widths[i] : i + 1 < table->shown ? -widths[i] : 0;
		char title[64];

		snprintf(title, sizeof title, "%s", table->titles[i]);
		for (char *at = title; *at != '\0'; at++)
			*at = (char)toupper((unsigned char)*at);
		printf("%s%*s", i > 0 ? " " : "", width, title);
	}
	putchar('\n');
	for (size_t row = 0; row < rows; row++)
		connections_print_row(table, table->values + row * table->columns, widths);
}

/* Prints values with colons between them; a colon or a backslash in a value follows a backslash, as in connstat(8). */
static void
connections_print_parsable(const struct connections_table *table, size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		for (unsigned i = 0; i < table->shown; i++) {
			for (const char *at = table->values[row * table->columns + i]; *at != '\0'; at++) {
				if (*at == ':' || *at == '\\')
					putchar('\\');
				putchar(*at);
			}
			putchar(i + 1 < table->shown ? ':' : '\n');
		}
}

/* Receives the rows of the request into `table`.  False with a message printed. */
static bool
connections_receive(struct connections_table *table, const char *path, const char *request)
{
	size_t size;
	FILE *to = open_memstream(&table->text, &size);
	bool done;

	if (to == NULL)
		return client_log_error("out of memory", NULL) == 0;
	done = client_print_reply(path, request, to);
	if (fclose(to) != 0)
		return client_log_error("out of memory", NULL) == 0;
	if (done && !connections_split_rows(table))
		return client_log_error("the reply is not a table, or memory is short", NULL) == 0;
	return done;
}

static bool
connections_write_request(const struct connections_table *table, char *const *words, int count,
			  char request[CLIENT_REQUEST_MAX])
{
	size_t used = (size_t)snprintf(request, CLIENT_REQUEST_MAX, "connections --fields=");

	for (unsigned i = 0; i < table->columns && used < CLIENT_REQUEST_MAX; i++)
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, "%s%s", i > 0 ? "," : "",
					 table->titles[i]);
	for (int i = 0; i < count && used < CLIENT_REQUEST_MAX; i++)
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, " %s", words[i]);
	if (used + 1 >= CLIENT_REQUEST_MAX || strpbrk(request, "\n\r") != NULL)
		return false;
	memcpy(request + used, "\n", 2);
	return true;
}

/* Prints the table; the exit status. */
static int
connections_print(const struct connections_table *table, const struct connections_options *options, size_t limit)
{
	size_t rows = table->rows < limit ? table->rows : limit;

	(options->parsable ? connections_print_parsable : connections_print_table)(table, rows);
	if (fflush(stdout) != 0 || ferror(stdout))
		return client_log_error("cannot write to standard output", NULL);
	return EXIT_SUCCESS;
}

/* Parses --limit; false unless it is a number from 1. */
static bool
connections_parse_limit(const char *text, size_t *limit)
{
	size_t digits = text != NULL ? strspn(text, "0123456789") : 0;

	*limit = SIZE_MAX;
	if (text == NULL)
		return true;
	*limit = strtoul(text, NULL, 10);
	return digits > 0 && digits < 10 && text[digits] == '\0' && *limit > 0;
}

int
connections_run(const char *path, char *const *words, int count, const struct connections_options *options)
{
	struct connections_table table = {.text = NULL};
	char request[CLIENT_REQUEST_MAX], *fields = strdup(options->fields);
	int status = EXIT_FAILURE;
	size_t limit;

	if (fields == NULL)
		client_log_error("out of memory", NULL);
	else if (!connections_parse_limit(options->limit, &limit))
		client_log_error("--limit: expected a number of lines from 1, not", options->limit);
	else if (!connections_split_titles(&table, fields) ||
		 (options->sort != NULL && !connections_set_order(&table, options->sort)))
		client_log_error("too many fields", NULL);
	else if (!connections_write_request(&table, words, count, request))
		client_log_error("the command is too long or contains a line break", NULL);
	else if (connections_receive(&table, path, request)) {
		if (options->sort != NULL)
			qsort(table.values, table.rows, table.columns * sizeof *table.values, connections_compare);
		status = connections_print(&table, options, limit);
	}
	free(table.values);
	free(table.text);
	free(fields);
	return status;
}
