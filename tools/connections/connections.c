/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections/connections.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "tools/connections/connection_list.h"
#include "tools/control_client.h"

/* Widest column: a longer value stands out of it, so that no value pads those of all other rows. */
#define CONNECTIONS_WIDTH_MAX 64

/* Bytes of a value whose blanks are escaped. */
#define CONNECTIONS_WORD_SIZE (CONNECTION_VALUE_SIZE * FORMAT_PLAIN_BYTE_MAX)

struct connections_run {
	struct connection_request request;
	struct connection_columns columns;
	size_t limit;
	double interval; /* seconds; 0: once */
	size_t count;
	bool parsable, json;
};

/* ------------------------------------------------------------------------------------------------------ the lines */

/* The value of a row as it is printed: one word, so that no name forges columns, except in the last column.  `word` has
 * CONNECTIONS_WORD_SIZE bytes. */
static const char *
connections_word(const struct connections_run *run, const struct connection_row *row, unsigned column, char *word)
{
	const char *value = row->values[column];

	if (column + 1 == run->columns.shown || strchr(value, ' ') == NULL)
		return value;
	*put_word(word, value, strlen(value)) = '\0';
	return word;
}

/* The width of a column for printf(3).  Numbers, and "-" for a number, are at the right; nothing follows a text of the
 * last column. */
static int
connections_measure(const struct connections_run *run, const struct connection_list *list, size_t rows, unsigned column)
{
	int width = (int)strlen(run->columns.titles[column]);
	size_t numbers = 0, unknown = 0;

	for (size_t row = 0; row < rows; row++) {
		char word[CONNECTIONS_WORD_SIZE];
		const char *value = connections_word(run, &list->rows[row], column, word);
		int length = (int)strlen(value);

		width = length > width ? length : width;
		numbers += connection_value_is_number(value);
		unknown += strcmp(value, "-") == 0;
	}
	width = width < CONNECTIONS_WIDTH_MAX ? width : CONNECTIONS_WIDTH_MAX;
	if (numbers > 0 && numbers + unknown == rows)
		return width;
	return column + 1 < run->columns.shown ? -width : 0;
}

static void
connections_print_titles(const struct connections_run *run, const int *widths)
{
	for (unsigned i = 0; i < run->columns.shown; i++) {
		char title[64];

		snprintf(title, sizeof title, "%s", run->columns.titles[i]);
		for (char *at = title; *at != '\0'; at++)
			*at = (char)toupper((unsigned char)*at);
		printf("%s%*s", i > 0 ? " " : "", widths[i], title);
	}
	putchar('\n');
}

static void
connections_print_table(const struct connections_run *run, const struct connection_list *list, size_t rows)
{
	int widths[CONNECTION_COLUMNS_MAX];

	for (unsigned i = 0; i < run->columns.shown; i++)
		widths[i] = connections_measure(run, list, rows, i);
	connections_print_titles(run, widths);
	for (size_t row = 0; row < rows; row++) {
		for (unsigned i = 0; i < run->columns.shown; i++) {
			char word[CONNECTIONS_WORD_SIZE];

			printf("%s%*s", i > 0 ? " " : "", widths[i],
			       connections_word(run, &list->rows[row], i, word));
		}
		putchar('\n');
	}
}

/* Prints values with colons between them; a colon or a backslash in a value follows a backslash, as in connstat(8). */
static void
connections_print_parsable(const struct connections_run *run, const struct connection_list *list, size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		for (unsigned i = 0; i < run->columns.shown; i++) {
			for (const char *at = list->rows[row].values[i]; *at != '\0'; at++) {
				if (*at == ':' || *at == '\\')
					putchar('\\');
				putchar(*at);
			}
			putchar(i + 1 < run->columns.shown ? ':' : '\n');
		}
}

/* Adds a value: numbers except for the name of a process, null for "-", which a name is not: netobsd escapes it. */
static void
connections_add_json(struct json *json, const char *title, const char *value)
{
	char bytes[CONNECTION_VALUE_SIZE];

	if (strcmp(value, "-") == 0)
		json_add_null(json, title);
	else if (connection_value_is_number(value) && strcmp(title, "comm") != 0)
		json_add_literal(json, title, value);
	else
		json_add_text(json, title, bytes, format_read_plain(value, bytes));
}

/* Prints an object a line. */
static void
connections_print_json(const struct connections_run *run, const struct connection_list *list, size_t rows)
{
	struct json json = json_to_file(stdout);

	for (size_t row = 0; row < rows; row++) {
		json_begin_object(&json, NULL);
		for (unsigned i = 0; i < run->columns.shown; i++)
			connections_add_json(&json, run->columns.titles[i], list->rows[row].values[i]);
		json_end_line(&json);
	}
}

static bool
connections_print(const struct connections_run *run, struct connection_list *list)
{
	size_t rows = list->count < run->limit ? list->count : run->limit;

	connection_list_sort(list, &run->columns);
	if (run->json)
		connections_print_json(run, list, rows);
	else
		(run->parsable ? connections_print_parsable : connections_print_table)(run, list, rows);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	client_log_error("cannot write to standard output", strerror(errno));
	return false;
}

/* ------------------------------------------------------------------------------------------------------ intervals */

/* Requests the list; false, with a message unless `*failed` is set, if netobsd does not reply.  Sets `*failed`. */
static bool
connections_receive(const struct connections_run *run, struct connection_list *list, bool *failed)
{
	struct connection_request request = run->request;
	char error[4096];
	bool done;

	request.no_wait = run->interval > 0;
	done = connection_list_receive(list, &run->columns, &request, error, sizeof error);
	if (!done && !*failed)
		client_log_error(error, NULL);
	*failed = !done;
	return done;
}

/* Waits for the end of the interval that began at `begin_ns`. */
static void
connections_wait(const struct connections_run *run, uint64_t begin_ns)
{
	uint64_t until = begin_ns + (uint64_t)(run->interval * 1e9);
	struct timespec end = {.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		continue;
}

/* Prints the rates between two lists. */
static bool
connections_print_interval(const struct connections_run *run, const struct connection_list *list,
			   struct connection_list *before)
{
	struct connection_list rates;
	bool done = connection_list_make_rates(&rates, list, before, &run->columns);

	if (!done)
		client_log_error("out of memory", NULL);
	else
		done = connections_print(run, &rates);
	connection_list_clear(&rates);
	return done;
}

/* Prints a table at the end of each interval, a blank line between two.  While netobsd does not reply there is no
 * table; the first list of a netobsd that is back begins an interval. */
static bool
connections_print_rates(const struct connections_run *run)
{
	struct connection_list before, list;
	bool failed = false, done = connections_receive(run, &before, &failed);
	uint64_t begin_ns = before.time_ns;

	for (size_t printed = 0; done && printed < run->count;) {
		connections_wait(run, begin_ns);
		connections_receive(run, &list, &failed);
		if (list.time_ns != 0 && before.time_ns != 0) {
			if (printed++ > 0 && !run->parsable && !run->json)
				putchar('\n');
			done = connections_print_interval(run, &list, &before);
		}
		connection_list_clear(&before);
		before = list;
		begin_ns = failed ? connection_list_now() : list.time_ns;
	}
	connection_list_clear(&before);
	return done;
}

static bool
connections_print_once(const struct connections_run *run)
{
	struct connection_list list;
	bool failed = false, done = connections_receive(run, &list, &failed) && connections_print(run, &list);

	connection_list_clear(&list);
	return done;
}

/* ------------------------------------------------------------------------------------------------------ the options */

/* Parses a number from 1; `*value` remains as it is if `text` is NULL. */
static bool
connections_parse_number(const char *text, size_t *value)
{
	size_t digits = text != NULL ? strspn(text, "0123456789") : 0;

	if (text == NULL)
		return true;
	*value = strtoul(text, NULL, 10);
	return digits > 0 && digits < 10 && text[digits] == '\0' && *value > 0;
}

bool
connections_parse_interval(const char *text, double *seconds)
{
	static const struct quantity interval = {DIMENSION_TIME, UNITS_SECOND, UNITS_SECOND / 10, UNITS_DAY, false};
	char error[UNITS_ERROR_MAX], message[UNITS_ERROR_MAX + 16];
	uint64_t ns;

	if (text == NULL)
		return true;
	if (!units_parse(&interval, text, &ns, error)) {
		snprintf(message, sizeof message, "-i: %s, not", error);
		client_log_error(message, text);
		return false;
	}
	*seconds = (double)ns / (double)UNITS_SECOND;
	return true;
}

int
connections_run(const char *path, char *const *words, int count, const struct connections_options *options)
{
	struct connections_run run = {.request = {.path = path, .words = words, .count = count},
				      .limit = SIZE_MAX,
				      .count = SIZE_MAX,
				      .parsable = options->parsable,
				      .json = options->json};
	char *fields = strdup(options->fields != NULL ? options->fields : CONNECTIONS_FIELDS);
	bool done = false;

	if (fields == NULL)
		client_log_error("out of memory", NULL);
	else if (!connections_parse_number(options->limit, &run.limit))
		client_log_error("--limit: expected a number of lines from 1, not", options->limit);
	else if (!connections_parse_interval(options->interval, &run.interval))
		; /* the message is printed */
	else if (!connections_parse_number(options->count, &run.count))
		client_log_error("-c: expected a number of tables from 1, not", options->count);
	else if (!connection_columns_choose(&run.columns, fields, options->sort) ||
		 (run.interval > 0 && !connection_columns_add_start(&run.columns)))
		client_log_error("too many fields", NULL);
	else
		done = run.interval > 0 ? connections_print_rates(&run) : connections_print_once(&run);
	free(fields);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
