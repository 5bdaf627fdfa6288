/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_columns.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "records/record_text.h"

/* Columns of a table without chosen fields. */
enum record_column_kind {
	COLUMN_FIELD, /* a chosen field */
	COLUMN_START,
	COLUMN_START_WITH_DATE,
	COLUMN_DURATION,
	COLUMN_PROTOCOL,
	COLUMN_CLIENT,
	COLUMN_SERVER,
	COLUMN_SENT,
	COLUMN_RECEIVED,
	COLUMN_RESENT,
	COLUMN_ANSWER,
	COLUMN_LOST,
	COLUMN_WAITED,
	COLUMN_REASON,
	COLUMN_CID,
	COLUMN_STATES,
	COLUMN_AGE,
	COLUMN_ROUND_TRIP,
	COLUMN_PROCESS,
};

struct record_column {
	enum record_column_kind kind;
	const char *title;
	unsigned usual_width; /* enough for most values; 0: that of the title */
	bool right;	      /* numbers end at the right */
	const struct field_info *field;
	unsigned width;
};

struct record_columns {
	struct text_clock clock;
	double seconds; /* of an interval, in which counters have increased; 0: they count from the beginning */
	bool has_day; /* a record was measured */
	uint64_t day; /* on which the first one began, since the epoch */
	unsigned count;
	struct record_column columns[RECORD_FIELDS_MAX];
};

static const struct record_column usual_columns[] = {
    {.kind = COLUMN_START, .title = "START", .usual_width = 12},
    {.kind = COLUMN_DURATION, .title = "TIME", .usual_width = 6, .right = true},
    {.kind = COLUMN_PROTOCOL, .title = "PROT"},
    {.kind = COLUMN_CLIENT, .title = "CLIENT", .usual_width = 22},
    {.kind = COLUMN_SERVER, .title = "SERVER", .usual_width = 21},
    {.kind = COLUMN_SENT, .title = "SENT", .usual_width = 6, .right = true},
    {.kind = COLUMN_RECEIVED, .title = "RECVD", .usual_width = 6, .right = true},
    {.kind = COLUMN_ANSWER, .title = "ANSWER", .right = true},
    {.kind = COLUMN_LOST, .title = "LOST", .usual_width = 6, .right = true},
    {.kind = COLUMN_WAITED, .title = "WAITED"},
    {.kind = COLUMN_REASON, .title = "REASON"},
};

static const struct record_column open_columns[] = {
    {.kind = COLUMN_CID, .title = "CID", .right = true},
    {.kind = COLUMN_PROTOCOL, .title = "PROT"},
    {.kind = COLUMN_CLIENT, .title = "CLIENT"},
    {.kind = COLUMN_SERVER, .title = "SERVER"},
    {.kind = COLUMN_STATES, .title = "STATE"},
    {.kind = COLUMN_AGE, .title = "AGE", .right = true},
    {.kind = COLUMN_SENT, .title = "SENT", .right = true},
    {.kind = COLUMN_RECEIVED, .title = "RECVD", .right = true},
    {.kind = COLUMN_RESENT, .title = "RESENT", .right = true},
    {.kind = COLUMN_ROUND_TRIP, .title = "RTT", .right = true},
    {.kind = COLUMN_PROCESS, .title = "PROCESS"},
};

#define COLUMNS_OF(columns) (sizeof columns / sizeof columns[0])

struct record_columns *
record_columns_new(const struct record_fields *chosen, bool open)
{
	const struct record_column *usual = open ? open_columns : usual_columns;

	struct record_columns *table = calloc(1, sizeof *table);

	if (table == NULL)
		return NULL;
	table->count = chosen != NULL ? chosen->count
		       : open		? COLUMNS_OF(open_columns)
				: COLUMNS_OF(usual_columns);
	for (unsigned i = 0; i < table->count; i++) {
		struct record_column *column = &table->columns[i];

		if (chosen == NULL)
			*column = usual[i];
		else
			*column = (struct record_column){.title = record_field_short_name(chosen->fields[i]),
							 .right = chosen->fields[i]->kind != FIELD_TEXT &&
								  !record_field_is_time(chosen->fields[i]) &&
								  !chosen->fields[i]->is_hex,
							 .field = chosen->fields[i]};
		column->width = (unsigned)strlen(column->title);
	}
	return table;
}

void
record_columns_set_interval(struct record_columns *table, double seconds)
{
	table->seconds = seconds;
}

void
record_columns_free(struct record_columns *table)
{
	free(table);
}

const char *
record_columns_fields(bool open)
{
	return open ? "cid,protostr,client,client_port,role,server,server_port,client_state,server_state,age_us,"
		      "client_bytes,server_bytes,resent,rtt_us,pid,comm"
		    : "start,duration_us,protostr,client,client_port,role,server,server_port,client_bytes,server_bytes,"
		      "answer_us,lost_us,waited,reason,icmp_str,icmp_sender";
}

/* ---------------------------------------------------------------------------------------------------------- values */

/* "2026-11-22T19:40:00.123", or what of it follows the date. */
static char *
put_milliseconds(char *at, struct text_clock *clock, uint64_t ns, bool with_date)
{
	char text[128];
	size_t date = with_date ? 0 : sizeof "2026-11-22T" - 1, length = sizeof "2026-11-22T19:40:00.123" - 1 - date;

	put_time(text, clock, ns);
	memcpy(at, text + date, length);
	return at + length;
}

/* Most bytes of a value: a text of 256 bytes, and what put_time() overwrites. */
#define VALUE_MAX (256 * FORMAT_PLAIN_BYTE_MAX + 128)

/* A text as one word, so that no name forges columns; blanks remain in the last column.  "-": there is no text. */
static char *
put_text_value(char *at, const char *text, size_t size, bool last)
{
	char plain[VALUE_MAX];
	size_t length = (size_t)(put_plain_text(plain, text, size) - plain);

	if (length == 0)
		return PUT(at, "-");
	if (!last || (length == 1 && *plain == '-'))
		return put_word(at, plain, length);
	memcpy(at, plain, length);
	return at + length;
}

/* A rate: bytes as a whole number, others with a decimal place. */
static char *
put_rate(char *at, const struct field_info *field, uint64_t increase, double seconds)
{
	return at + snprintf(at, 40, field->unit == UNIT_BYTES ? "%.0f" : "%.1f",
			     (double)increase / seconds);
}

char *
record_columns_put_value(struct record_columns *table, unsigned column, const struct connrow *row, bool word, char *at)
{
	const struct field_info *field = table->columns[column].field;
	uint64_t value = field->kind != FIELD_TEXT ? record_field_number(field, row) : 0;

	if (field->kind == FIELD_TEXT)
		return put_text_value(at, (const char *)row + field->offset, field->size, !word);
	if (table->seconds > 0 && record_field_is_counter(field))
		return put_rate(at, field, value, table->seconds);
	if (record_field_is_time(field))
		return put_time(at, &table->clock, value);
	if (field->is_hex)
		return put_hex64(at, value);
	if (field->kind == FIELD_SIGNED)
		return put_i64(at, (int64_t)value);
	return put_u64(at, value);
}

static char *
put_client(char *at, const struct connrec *record)
{
	at = put_endpoint(at, record->cr_client, sizeof record->cr_client, record->cr_client_port);
	if (strcmp(record->cr_role, "seen") != 0)
		*at++ = '?';
	return at;
}

/* The reason, in the last column also the ICMP error that it stands for. */
static char *
put_reason(char *at, const struct connrec *record, bool last)
{
	at = put_plain_text(at, record->cr_reason, sizeof record->cr_reason);
	if (!last || record->cr_icmp_str[0] == '\0')
		return at;
	*at++ = ':';
	*at++ = ' ';
	at = put_plain_text(at, record->cr_icmp_str, sizeof record->cr_icmp_str);
	memcpy(at, ", from ", 7);
	return put_plain_text(at + 7, record->cr_icmp_sender, sizeof record->cr_icmp_sender);
}

/* The state of both ends, as one if they are the same; "-": there are none. */
static char *
put_states(char *at, const struct connrec *record)
{
	at = put_text_value(at, record->cr_client_state, sizeof record->cr_client_state, false);
	if (strcmp(record->cr_client_state, record->cr_server_state) == 0)
		return at;
	*at++ = '/';
	return put_text_value(at, record->cr_server_state, sizeof record->cr_server_state, false);
}

static char *
put_process(char *at, const struct connlive *live, bool last)
{
	if (live->pid < 0)
		return PUT(at, "-");
	at = put_i64(at, live->pid);
	*at++ = '/';
	return put_text_value(at, live->comm, sizeof live->comm, last);
}

/* A count, or its increase per second. */
static char *
put_count(char *at, const struct record_columns *table, uint64_t count)
{
	return put_amount(at, table->seconds > 0 ? (uint64_t)((double)count / table->seconds + 0.5) : count);
}

static char *
put_column(char *at, struct record_columns *table, unsigned number, const struct connrow *row)
{
	const struct record_column *column = &table->columns[number];
	const struct connrec *record = &row->record;
	bool last = number + 1 == table->count;

	switch (column->kind) {
	case COLUMN_START:
	case COLUMN_START_WITH_DATE:
		return put_milliseconds(at, &table->clock, record->cr_start, column->kind == COLUMN_START_WITH_DATE);
	case COLUMN_DURATION:
		return put_duration(at, (int64_t)record->cr_duration_us);
	case COLUMN_PROTOCOL:
		return put_plain_text(at, record->cr_protostr, sizeof record->cr_protostr);
	case COLUMN_CLIENT:
		return put_client(at, record);
	case COLUMN_SERVER:
		return put_endpoint(at, record->cr_server, sizeof record->cr_server, record->cr_server_port);
	case COLUMN_SENT:
		return put_count(at, table, record->cr_client_bytes);
	case COLUMN_RECEIVED:
		return put_count(at, table, record->cr_server_bytes);
	case COLUMN_RESENT:
		return put_count(at, table, row->live.resent);
	case COLUMN_ANSWER:
		return put_duration(at, row->live.answer_us);
	case COLUMN_LOST:
		return put_duration(at, (int64_t)row->live.lost_us);
	case COLUMN_WAITED:
		return put_plain_text(at, row->live.waited, strlen(row->live.waited));
	case COLUMN_REASON:
		return put_reason(at, record, last);
	case COLUMN_CID:
		return put_u64(at, row->live.cid);
	case COLUMN_STATES:
		return put_states(at, record);
	case COLUMN_AGE:
		return put_duration(at, (int64_t)row->live.age_us);
	case COLUMN_ROUND_TRIP:
		return put_duration(at, row->live.rtt_us == 0 ? -1 : (int64_t)row->live.rtt_us);
	case COLUMN_PROCESS:
		return put_process(at, &row->live, last);
	case COLUMN_FIELD:
		break;
	}
	return record_columns_put_value(table, number, row, !last, at);
}

/* ----------------------------------------------------------------------------------------------------------- lines */

/* START has a date if two records began on different days. */
static void
record_columns_compare_days(struct record_columns *table, const struct connrec *record)
{
	uint64_t day = record->cr_start / (UINT64_C(86400) * 1000000000);

	if (!table->has_day)
		table->day = day;
	table->has_day = true;
	if (table->day != day && table->columns[0].kind == COLUMN_START)
		table->columns[0].kind = COLUMN_START_WITH_DATE;
}

void
record_columns_measure(struct record_columns *table, const struct connrow *row)
{
	char value[VALUE_MAX];

	record_columns_compare_days(table, &row->record);
	for (unsigned i = 0; i < table->count; i++) {
		struct record_column *column = &table->columns[i];
		unsigned width = (unsigned)(put_column(value, table, i, row) - value);

		if (column->width < width)
			column->width = width;
	}
}

void
record_columns_set_usual_widths(struct record_columns *table)
{
	for (unsigned i = 0; i < table->count; i++)
		if (table->columns[i].width < table->columns[i].usual_width)
			table->columns[i].width = table->columns[i].usual_width;
}

/* Writes a value in its column.  Nothing follows the last one. */
static char *
put_in_column(char *at, const struct record_column *column, const char *value, size_t length, bool last)
{
	size_t spaces = length < column->width ? column->width - length : 0;

	if (column->right) {
		memset(at, ' ', spaces);
		at += spaces;
	}
	memcpy(at, value, length);
	at += length;
	if (last) {
		*at++ = '\n';
		return at;
	}
	if (column->right)
		spaces = 0;
	memset(at, ' ', spaces + 1);
	return at + spaces + 1;
}

char *
record_columns_put_titles(const struct record_columns *table, char *at)
{
	for (unsigned i = 0; i < table->count; i++)
		at = put_in_column(at, &table->columns[i], table->columns[i].title, strlen(table->columns[i].title),
				   i + 1 == table->count);
	return at;
}

char *
record_columns_put_line(struct record_columns *table, const struct connrow *row, char *at)
{
	char value[VALUE_MAX];

	for (unsigned i = 0; i < table->count; i++) {
		const struct record_column *column = &table->columns[i];
		bool last = i + 1 == table->count;
		char *end = put_column(value, table, i, row);

		at = put_in_column(at, column, value, (size_t)(end - value), last);
	}
	return at;
}

void
record_tally_add(struct record_tally *tally, const struct connrec *record)
{
	static const char reset_by[] = "reset-by-";

	tally->lines++;
	if (strcmp(record->cr_reason, "open") == 0)
		return;
	tally->connections++;
	tally->tcp += record->cr_protocol == IPPROTO_TCP;
	tally->udp += record->cr_protocol == IPPROTO_UDP;
	tally->sctp += record->cr_protocol == IPPROTO_SCTP;
	tally->refused += strcmp(record->cr_reason, "refused") == 0;
	tally->unreachable += strcmp(record->cr_reason, "unreachable") == 0;
	tally->unanswered += strcmp(record->cr_reason, "no-answer") == 0;
	tally->reset += strncmp(record->cr_reason, reset_by, sizeof reset_by - 1) == 0;
}

/* Appends "SEPARATORCOUNT WORD", unless the count is 0.  Returns the next separator: ", " after a count. */
static const char *
record_tally_append(char text[RECORD_TALLY_MAX], const char *separator, uint64_t count, const char *word)
{
	size_t used = strlen(text);

	if (count == 0)
		return separator;
	snprintf(text + used, RECORD_TALLY_MAX - used, "%s%llu %s", separator, (unsigned long long)count, word);
	return ", ";
}

void
record_tally_format(const struct record_tally *tally, uint64_t limit, char text[RECORD_TALLY_MAX])
{
	const char *separator = ": ";
	size_t used;

	snprintf(text, RECORD_TALLY_MAX, "%llu connection%s", (unsigned long long)tally->connections,
		 tally->connections == 1 ? "" : "s");
	separator = record_tally_append(text, separator, tally->tcp, "TCP");
	separator = record_tally_append(text, separator, tally->udp, "UDP");
	(void)record_tally_append(text, separator, tally->sctp, "SCTP");
	separator = record_tally_append(text, "; ", tally->refused, "refused");
	separator = record_tally_append(text, separator, tally->unreachable, "unreachable");
	separator = record_tally_append(text, separator, tally->unanswered, "no-answer");
	(void)record_tally_append(text, separator, tally->reset, "reset");
	used = strlen(text);
	if (limit != 0 && limit < tally->lines)
		snprintf(text + used, RECORD_TALLY_MAX - used, "; %llu of %llu lines shown", (unsigned long long)limit,
			 (unsigned long long)tally->lines);
}
