/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections/connection_list.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/control_client.h"

/* Longest wait for each part of a reply, seconds. */
#define LIST_TIMEOUT_S 10

/* Size of the text of a rate. */
#define RATE_TEXT_SIZE 24u

/* Fields that count, by both names.  Their increase is a rate. */
static const struct {
	const char *name, *contract;
	bool bytes;
} list_counters[] = {
    {"inbytes", "tcps_rcv_bytes", true}, {"outbytes", "tcps_snd_bytes", true},	     {"insegs", "tcps_rcv_segs", false},
    {"outsegs", "tcps_snd_segs", false}, {"retranssegs", "tcps_snd_retrans", false},
};

#define COUNTER_COUNT (sizeof list_counters / sizeof list_counters[0])

/* ----------------------------------------------------------------------------------------------------- the fields */

/* The column of a field, which is added if it is not there; false if there are too many. */
static bool
connection_columns_find(struct connection_columns *columns, const char *name, unsigned *column)
{
	for (*column = 0; *column < columns->count; ++*column)
		if (strcmp(columns->titles[*column], name) == 0)
			return true;
	if (columns->count == CONNECTION_COLUMNS_MAX)
		return false;
	columns->titles[columns->count++] = name;
	return true;
}

bool
connection_columns_choose(struct connection_columns *columns, char *list, const char *sort)
{
	char *title;

	*columns = (struct connection_columns){.count = 0};
	while ((title = strsep(&list, ",")) != NULL) {
		if (columns->count == CONNECTION_COLUMNS_MAX)
			return false;
		columns->titles[columns->count++] = title;
	}
	columns->shown = columns->count;
	if (!connection_columns_find(columns, "cid", &columns->cid))
		return false;
	columns->start = columns->sort = CONNECTION_COLUMNS_MAX;
	columns->reversed = sort != NULL && sort[0] == '-';
	return sort == NULL || connection_columns_find(columns, sort + columns->reversed, &columns->sort);
}

bool
connection_columns_add_start(struct connection_columns *columns)
{
	return connection_columns_find(columns, "start", &columns->start);
}

/* ------------------------------------------------------------------------------------------------------ the reply */

static bool
connection_list_write_request(const struct connection_columns *columns, const struct connection_request *request,
			      char line[CLIENT_REQUEST_MAX])
{
	size_t used = (size_t)snprintf(line, CLIENT_REQUEST_MAX, "connections --fields=");

	for (unsigned i = 0; i < columns->count && used < CLIENT_REQUEST_MAX; i++)
		used += (size_t)snprintf(line + used, CLIENT_REQUEST_MAX - used, "%s%s", i > 0 ? "," : "",
					 columns->titles[i]);
	if (request->no_wait && used < CLIENT_REQUEST_MAX)
		used += (size_t)snprintf(line + used, CLIENT_REQUEST_MAX - used, " --no-wait");
	for (int i = 0; i < request->count && used < CLIENT_REQUEST_MAX; i++)
		used += (size_t)snprintf(line + used, CLIENT_REQUEST_MAX - used, " %s", request->words[i]);
	if (used + 1 >= CLIENT_REQUEST_MAX || strpbrk(line, "\n\r") != NULL)
		return false;
	memcpy(line + used, "\n", 2);
	return true;
}

static size_t
connection_list_count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

/* Splits a line at its tabs, in place; false unless it has a printable value of a sensible length for each column. */
static bool
connection_list_split_line(char *line, const char **row, unsigned columns)
{
	for (unsigned i = 0; i < columns; i++) {
		row[i] = strsep(&line, "\t");
		if (row[i] == NULL || strlen(row[i]) >= CONNECTION_VALUE_SIZE)
			return false;
		for (const char *at = row[i]; *at != '\0'; at++)
			if (*at < ' ' || *at > '~')
				return false;
	}
	return line == NULL;
}

/* Makes room for `count` rows. */
static bool
connection_list_allocate(struct connection_list *list, size_t count, unsigned columns)
{
	list->rows = calloc(count + 1, sizeof *list->rows);
	list->values = calloc(count * columns + 1, sizeof *list->values);
	return list->rows != NULL && list->values != NULL;
}

/* Splits the text into rows, in place. */
static bool
connection_list_split(struct connection_list *list, const struct connection_columns *columns, size_t most)
{
	size_t lines = connection_list_count_lines(list->text);
	char *rest = list->text;

	list->cut = most > 0 && lines > most;
	lines = list->cut ? most : lines;
	if (!connection_list_allocate(list, lines, columns->count))
		return false;
	while (list->count < lines) {
		struct connection_row *row = &list->rows[list->count];

		row->values = list->values + list->count * columns->count;
		if (!connection_list_split_line(strsep(&rest, "\n"), row->values, columns->count)) {
			errno = EPROTO;
			return false;
		}
		row->cid = strtoull(row->values[columns->cid], NULL, 10);
		list->count++;
	}
	return true;
}

uint64_t
connection_list_now(void)
{
	return clock_monotonic_ns();
}

bool
connection_list_receive(struct connection_list *list, const struct connection_columns *columns,
			const struct connection_request *request, char *error, size_t size)
{
	char line[CLIENT_REQUEST_MAX];
	int fd, reason;

	*list = (struct connection_list){.count = 0};
	if (!connection_list_write_request(columns, request, line)) {
		snprintf(error, size, "the command is too long or contains a line break");
		errno = 0;
		return false;
	}
	fd = client_open_reply(request->path, line, LIST_TIMEOUT_S, error, size);
	if (fd < 0)
		return false;
	list->time_ns = connection_list_now();
	list->text = client_read_lines(fd, request->most, sizeof *list->rows + columns->count * sizeof *list->values);
	if (list->text != NULL && connection_list_split(list, columns, request->most)) {
		close(fd);
		return true;
	}
	reason = errno;
	if (reason == EMSGSIZE)
		snprintf(error, size, "the reply is too long: 1 GiB of memory does not hold it; give fewer fields or "
				      "a condition");
	else
		snprintf(error, size, "the reply is incomplete: %s", strerror(reason));
	close(fd);
	connection_list_clear(list);
	errno = reason;
	return false;
}

void
connection_list_clear(struct connection_list *list)
{
	free(list->rows);
	free(list->values);
	free(list->text);
	*list = (struct connection_list){.count = 0};
}

/* ------------------------------------------------------------------------------------------------------ the order */

bool
connection_value_is_number(const char *value)
{
	static const char digits[] = "0123456789";
	size_t length;

	value += value[0] == '-';
	length = strspn(value, digits);
	if (length == 0 || (value[0] == '0' && length > 1))
		return false;
	value += length;
	if (value[0] != '.')
		return value[0] == '\0';
	length = strspn(++value, digits);
	return length > 0 && value[length] == '\0';
}

static int
connection_list_compare_cids(const void *left, const void *right)
{
	const struct connection_row *a = left, *b = right;

	return (a->cid > b->cid) - (a->cid < b->cid);
}

static int
connection_list_compare_values(const struct connection_row *a, const struct connection_row *b, unsigned column)
{
	if (isnan(a->number) || isnan(b->number))
		return isnan(a->number) && isnan(b->number) ? strcmp(a->values[column], b->values[column])
							    : isnan(a->number) - isnan(b->number);
	return (a->number < b->number) - (a->number > b->number);
}

/* Equal values stand in the order of connection ids, so that a connection keeps its line in the next table. */
static int
connection_list_compare(const void *left, const void *right, void *columns)
{
	const struct connection_columns *of = columns;
	int order = connection_list_compare_values(left, right, of->sort);

	return order != 0 ? order : connection_list_compare_cids(left, right);
}

static int
connection_list_compare_reversed(const void *left, const void *right, void *columns)
{
	const struct connection_row *a = left, *b = right;

	return !isnan(a->number) == !isnan(b->number) ? connection_list_compare(b, a, columns)
						      : connection_list_compare(a, b, columns);
}

void
connection_list_sort(struct connection_list *list, const struct connection_columns *columns)
{
	struct connection_columns by = *columns;

	if (columns->sort >= columns->count || list->count == 0)
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct connection_row *row = &list->rows[i];
		const char *key = row->values[columns->sort];

		row->number = connection_value_is_number(key) ? strtod(key, NULL) : NAN;
	}
	qsort_r(list->rows, list->count, sizeof *list->rows,
		columns->reversed ? connection_list_compare_reversed : connection_list_compare, &by);
}

/* ------------------------------------------------------------------------------------------------------ the rates */

void
connection_list_sort_by_cid(struct connection_list *list)
{
	if (list->count > 0)
		qsort(list->rows, list->count, sizeof *list->rows, connection_list_compare_cids);
}

const struct connection_row *
connection_list_find(const struct connection_list *list, uint64_t cid)
{
	const struct connection_row key = {.cid = cid};

	return list->count > 0 ? bsearch(&key, list->rows, list->count, sizeof key, connection_list_compare_cids)
			       : NULL;
}

/* The number of the counter that a field is, COUNTER_COUNT if it is not a counter. */
static size_t
connection_list_find_counter(const char *title)
{
	size_t i = 0;

	while (i < COUNTER_COUNT && strcmp(title, list_counters[i].name) != 0 &&
	       strcmp(title, list_counters[i].contract) != 0)
		i++;
	return i;
}

/* The row of a connection in an earlier list that is sorted by connection id; NULL if it is new. */
static const struct connection_row *
connection_list_find_earlier(const struct connection_list *before, const struct connection_row *row,
			     const struct connection_columns *columns)
{
	const struct connection_row *earlier = connection_list_find(before, row->cid);

	if (earlier == NULL || columns->start >= columns->count ||
	    strcmp(earlier->values[columns->start], row->values[columns->start]) == 0)
		return earlier;
	return NULL;
}

/* Writes the rates of a row at `text`; returns the place after them.  `earlier` is NULL if the connection is new. */
static char *
connection_list_set_rates(const char **row, const struct connection_row *earlier,
			  const struct connection_columns *columns, double seconds, char *text)
{
	for (unsigned i = 0; i < columns->count; i++) {
		size_t counter = connection_list_find_counter(columns->titles[i]);
		double increase;

		if (counter == COUNTER_COUNT || !connection_value_is_number(row[i]))
			continue;
		increase = strtod(row[i], NULL) - (earlier != NULL ? strtod(earlier->values[i], NULL) : 0);
		snprintf(text, RATE_TEXT_SIZE, list_counters[counter].bytes ? "%.0f" : "%.1f",
			 increase > 0 && seconds > 0 ? increase / seconds : 0);
		row[i] = text;
		text += RATE_TEXT_SIZE;
	}
	return text;
}

/* The rates of a connection that may be an old one are not known. */
static void
connection_list_unset_rates(const char **row, const struct connection_columns *columns)
{
	for (unsigned i = 0; i < columns->count; i++)
		if (connection_list_find_counter(columns->titles[i]) < COUNTER_COUNT)
			row[i] = "-";
}

bool
connection_list_make_rates(struct connection_list *rates, const struct connection_list *list,
			   struct connection_list *before, const struct connection_columns *columns)
{
	double seconds = (double)(list->time_ns - before->time_ns) / 1e9;
	size_t counters = 0;
	char *text;

	*rates = (struct connection_list){.time_ns = list->time_ns, .cut = list->cut};
	for (unsigned i = 0; i < columns->count; i++)
		counters += connection_list_find_counter(columns->titles[i]) < COUNTER_COUNT;
	rates->text = text = malloc(list->count * counters * RATE_TEXT_SIZE + 1);
	if (text == NULL || !connection_list_allocate(rates, list->count, columns->count)) {
		connection_list_clear(rates);
		return false;
	}
	connection_list_sort_by_cid(before);
	for (; rates->count < list->count; rates->count++) {
		const struct connection_row *from = &list->rows[rates->count], *earlier;
		struct connection_row *row = &rates->rows[rates->count];

		row->cid = from->cid;
		row->values = rates->values + rates->count * columns->count;
		memcpy(row->values, from->values, columns->count * sizeof *row->values);
		earlier = connection_list_find_earlier(before, row, columns);
		if (earlier == NULL && before->cut)
			connection_list_unset_rates(row->values, columns);
		else
			text = connection_list_set_rates(row->values, earlier, columns, seconds, text);
	}
	return true;
}
