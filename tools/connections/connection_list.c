/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections/connection_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

/* Longest wait for each part of a reply, seconds. */
#define LIST_TIMEOUT_S 10

/* ----------------------------------------------------------------------------------------------------- the fields */

/* The column of a field, which is added if it is not there. */
static unsigned
connection_columns_find(struct connection_columns *columns, const struct field_info *field)
{
	struct record_fields *fields = &columns->fields;
	unsigned column = 0;

	while (column < fields->count && fields->fields[column] != field)
		column++;
	if (column == fields->count)
		fields->fields[fields->count++] = field;
	return column;
}

bool
connection_columns_choose(struct connection_columns *columns, const char *list, const char *sort,
			  char error[RECORD_ERROR_MAX])
{
	*columns = (struct connection_columns){.shown = 0};
	if (!record_fields_parse(list, &columns->fields, error) ||
	    (sort != NULL && !record_order_parse(sort, &columns->order, error)))
		return false;
	columns->shown = columns->fields.count;
	columns->cid = connection_columns_find(columns, record_fields_find("cid", 3, error));
	columns->start = connection_columns_find(columns, record_fields_find("start", 5, error));
	if (columns->order.field != NULL)
		columns->sort = connection_columns_find(columns, columns->order.field);
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- values */

/* Whether others than netobsd have chosen a text: it may have any bytes.  One that is not UTF-8 takes two here. */
static bool
connection_text_is_foreign(const struct field_info *field)
{
	static const char *const names[] = {"cr_comm", "cr_client_comm", "cr_server_comm", "cr_name", "cr_if_name"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(field->name, names[i]) == 0)
			return true;
	return false;
}

static bool
connection_text_is_valid(const struct field_info *field, const char *text)
{
	if (text == NULL || connection_text_is_foreign(field))
		return text != NULL && strlen(text) < 2 * field->size;
	for (const char *c = text; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			return false;
	return strlen(text) < field->size;
}

/* Reads the digits of a number that is printed as text. */
static bool
connection_hex_read(const char *digits, const struct field_info *field, uint64_t *number)
{
	size_t length = digits != NULL ? strspn(digits, "0123456789abcdef") : 0;

	if (length == 0 || length > 2 * field->size || digits[length] != '\0')
		return false;
	*number = strtoull(digits, NULL, 16);
	return true;
}

static bool
connection_number_fits(const struct field_info *field, json_int_t number)
{
	unsigned spare = 64 - 8 * (unsigned)field->size;

	if (field->kind == FIELD_SIGNED)
		return number >= -(INT64_MAX >> spare) - 1 && number <= INT64_MAX >> spare;
	return number >= 0 && (uint64_t)number <= UINT64_MAX >> spare;
}

/* The value of a field in an object; false if it has none that the field can have.  A terminal would execute, and a
 * file of netobs-connfs would hold, what a text has besides printable ASCII. */
static bool
connection_value_read(const json_t *object, const struct field_info *field, union connection_value *to)
{
	const json_t *member = json_object_get(object, field->name);

	if (field->kind == FIELD_TEXT) {
		to->text = json_string_value(member);
		return connection_text_is_valid(field, to->text);
	}
	if (field->is_hex)
		return connection_hex_read(json_string_value(member), field, &to->number);
	to->number = (uint64_t)json_integer_value(member);
	return json_is_integer(member) && connection_number_fits(field, json_integer_value(member));
}

static void
connection_value_set(const struct field_info *field, const union connection_value *value, struct connrow *to)
{
	if (field->kind == FIELD_TEXT)
		snprintf((char *)to + field->offset, field->size, "%s", value->text);
	else
		record_field_set_number(field, to, value->number);
}

const char *
connection_row_read(const json_t *object, const struct record_fields *fields, struct connrow *to)
{
	for (unsigned i = 0; i < fields->count; i++) {
		union connection_value value;

		if (!connection_value_read(object, fields->fields[i], &value))
			return fields->fields[i]->name;
		connection_value_set(fields->fields[i], &value, to);
	}
	return NULL;
}

void
connection_row_restore(const struct connection_row *row, const struct connection_columns *columns, struct connrow *to)
{
	memset(to, 0, sizeof *to);
	for (unsigned i = 0; i < columns->fields.count; i++)
		connection_value_set(columns->fields.fields[i], &row->values[i], to);
}

/* ------------------------------------------------------------------------------------------------------ the reply */

static bool
connection_list_write_request(const struct connection_columns *columns, const struct connection_request *request,
			      char line[CLIENT_REQUEST_MAX])
{
	size_t used = (size_t)snprintf(line, CLIENT_REQUEST_MAX, "connections%s", request->no_wait ? " --no-wait" : "");

	if (request->cid != 0)
		used += (size_t)snprintf(line + used, CLIENT_REQUEST_MAX - used, " --cid=%llu",
					 (unsigned long long)request->cid);
	for (unsigned i = 0; i < columns->fields.count && used < CLIENT_REQUEST_MAX; i++)
		used += (size_t)snprintf(line + used, CLIENT_REQUEST_MAX - used, "%s%s", i > 0 ? "," : " --fields=",
					 record_field_short_name(columns->fields.fields[i]));
	if (used < CLIENT_REQUEST_MAX)
		used += (size_t)snprintf(line + used, CLIENT_REQUEST_MAX - used, " %s",
					 request->expression != NULL ? request->expression : "");
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

/* Makes room for `count` rows and their texts. */
static bool
connection_list_allocate(struct connection_list *list, size_t count, unsigned columns, size_t text)
{
	list->rows = calloc(count + 1, sizeof *list->rows);
	list->values = calloc(count * columns + 1, sizeof *list->values);
	list->text = malloc(text + 1);
	return list->rows != NULL && list->values != NULL && list->text != NULL;
}

/* Adds the row of an object, or takes its note; texts are stored at `*text`, which moves on.  False if it is
 * neither. */
static bool
connection_list_add(struct connection_list *list, const struct connection_columns *columns, const json_t *object,
		    char **text)
{
	const char *note = json_object_size(object) == 1 ? json_read_string(object, "note") : NULL;
	struct connection_row *row = &list->rows[list->count];

	if (note != NULL) {
		snprintf(list->note, sizeof list->note, "%s", note);
		return true;
	}
	row->values = list->values + list->count * columns->fields.count;
	for (unsigned i = 0; i < columns->fields.count; i++) {
		if (!connection_value_read(object, columns->fields.fields[i], &row->values[i]))
			return false;
		if (columns->fields.fields[i]->kind != FIELD_TEXT)
			continue;
		memcpy(*text, row->values[i].text, strlen(row->values[i].text) + 1);
		row->values[i].text = *text;
		*text += strlen(*text) + 1;
	}
	row->cid = row->values[columns->cid].number;
	list->count++;
	return true;
}

/* Parses the lines.  A text of JSON takes more bytes than what it stands for. */
static bool
connection_list_parse(struct connection_list *list, const struct connection_columns *columns, const char *lines,
		      size_t most)
{
	size_t count = connection_list_count_lines(lines);
	char *text;

	list->cut = most > 0 && count > most;
	count = list->cut ? most : count;
	if (!connection_list_allocate(list, count, columns->fields.count, strlen(lines)))
		return false;
	text = list->text;
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(lines, "\n");
		json_t *object = json_read_object(lines, length);
		bool good = object != NULL && connection_list_add(list, columns, object, &text);

		json_decref(object);
		if (!good) {
			errno = EPROTO;
			return false;
		}
		lines += length + 1;
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
	char line[CLIENT_REQUEST_MAX], *lines;
	int fd, reason;
	bool done;

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
	lines = client_read_lines(fd, request->most,
				  sizeof *list->rows + columns->fields.count * sizeof *list->values);
	done = lines != NULL && connection_list_parse(list, columns, lines, request->most);
	reason = errno;
	free(lines);
	close(fd);
	if (done)
		return true;
	if (reason == EMSGSIZE)
		snprintf(error, size, "the reply is too long: 1 GiB of memory does not hold it; give fewer fields or "
				      "an expression");
	else
		snprintf(error, size, "the reply is incomplete: %s", strerror(reason));
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

static int
connection_list_compare_cids(const void *left, const void *right)
{
	const struct connection_row *a = left, *b = right;

	return (a->cid > b->cid) - (a->cid < b->cid);
}

static int
connection_list_compare(const void *left, const void *right, void *context)
{
	const struct connection_row *a = left, *b = right;
	const struct connection_columns *columns = context;
	const union connection_value *one = &a->values[columns->sort], *other = &b->values[columns->sort];
	int order;

	if (columns->order.field->kind == FIELD_TEXT)
		order = strcmp(one->text, other->text);
	else if (columns->order.field->kind == FIELD_SIGNED)
		order = ((int64_t)one->number > (int64_t)other->number) -
			((int64_t)one->number < (int64_t)other->number);
	else
		order = (one->number > other->number) - (one->number < other->number);
	if (order == 0)
		return connection_list_compare_cids(left, right);
	return columns->order.descending ? -order : order;
}

void
connection_list_sort(struct connection_list *list, const struct connection_columns *columns)
{
	struct connection_columns by = *columns;

	if (columns->order.field != NULL && list->count > 0)
		qsort_r(list->rows, list->count, sizeof *list->rows, connection_list_compare, &by);
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

/* The row of a connection in an earlier list that is sorted by connection id; NULL if it is new. */
static const struct connection_row *
connection_list_find_earlier(const struct connection_list *before, const struct connection_row *row,
			     const struct connection_columns *columns)
{
	const struct connection_row *earlier = connection_list_find(before, row->cid);

	if (earlier == NULL || earlier->values[columns->start].number == row->values[columns->start].number)
		return earlier;
	return NULL;
}

/* Makes increases of the counters of a row.  `earlier` is NULL if the connection is new. */
static void
connection_row_make_rates(struct connection_row *row, const struct connection_row *earlier,
			  const struct connection_columns *columns)
{
	for (unsigned i = 0; i < columns->fields.count; i++) {
		uint64_t before = earlier != NULL ? earlier->values[i].number : 0;

		if (record_field_is_counter(columns->fields.fields[i]))
			row->values[i].number = row->values[i].number > before && !row->unrated
						    ? row->values[i].number - before
						    : 0;
	}
}

bool
connection_list_make_rates(struct connection_list *rates, const struct connection_list *list,
			   struct connection_list *before, const struct connection_columns *columns)
{
	*rates = (struct connection_list){.time_ns = list->time_ns, .cut = list->cut};
	rates->seconds = (double)(list->time_ns - before->time_ns) / 1e9;
	memcpy(rates->note, list->note, sizeof rates->note);
	if (!connection_list_allocate(rates, list->count, columns->fields.count, 0)) {
		connection_list_clear(rates);
		return false;
	}
	connection_list_sort_by_cid(before);
	for (; rates->count < list->count; rates->count++) {
		const struct connection_row *from = &list->rows[rates->count], *earlier;
		struct connection_row *row = &rates->rows[rates->count];

		row->cid = from->cid;
		row->values = rates->values + rates->count * columns->fields.count;
		memcpy(row->values, from->values, columns->fields.count * sizeof *row->values);
		earlier = connection_list_find_earlier(before, row, columns);
		row->unrated = earlier == NULL && before->cut;
		connection_row_make_rates(row, earlier, columns);
	}
	return true;
}
