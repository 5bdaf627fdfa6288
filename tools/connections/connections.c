/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections/connections.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/units.h"
#include "records/record_columns.h"
#include "records/record_sort.h"
#include "tools/connections/connection_list.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

/* Memory for sorting, bytes; more rows are sorted in a temporary file. */
#define CONNECTIONS_SORT_MEMORY ((size_t)64 << 20)

struct connections_run {
	const char *path, *sort;
	bool closed;	  /* connections that have ended */
	uint64_t last_ns; /* in this time; 0: all that are kept */
	char expression[CONNECTIONS_EXPRESSION_SIZE];
	struct record_fields chosen;	/* the fields that are shown */
	bool has_chosen;		/* otherwise the usual columns, or as JSON all fields */
	struct record_fields requested; /* with those to sort by; `count` 0: all */
	struct record_order order;
	struct connection_columns columns; /* in intervals */
	size_t limit;			   /* lines; 0: all */
	double interval;		   /* seconds; 0: once */
	size_t count;
	bool parsable, json;

	/* The output: */
	struct record_columns *table;
	struct record_json *lines;
	struct record_sort *sorted;
};

/* ------------------------------------------------------------------------------------------------------ the lines */

/* Prints values with colons between them; a colon or a backslash in a value follows a backslash, as in connstat(8). */
static void
connections_print_parsable(const struct connections_run *run, const struct connrow *row)
{
	char value[RECORD_LINE_MAX];

	for (unsigned i = 0; i < run->chosen.count; i++) {
		const char *end = record_columns_put_value(run->table, i, row, false, value);

		for (const char *at = value; at < end; at++) {
			if (*at == ':' || *at == '\\')
				putchar('\\');
			putchar(*at);
		}
		putchar(i + 1 < run->chosen.count ? ':' : '\n');
	}
}

/* Prints an object whose counters are rates. */
static void
connections_print_rates(const struct connections_run *run, const struct connrow *row)
{
	struct json json = json_to_file(stdout);
	char value[RECORD_LINE_MAX];

	json_begin_object(&json, NULL);
	for (unsigned i = 0; i < run->chosen.count; i++) {
		const struct field_info *field = run->chosen.fields[i];

		if (field->kind == FIELD_TEXT) {
			json_add_string(&json, field->name, (const char *)row + field->offset);
		} else if (record_field_is_time(field)) {
			json_add_unsigned(&json, field->name, record_field_number(field, row));
		} else {
			*record_columns_put_value(run->table, i, row, true, value) = '\0';
			(field->is_hex ? json_add_string : json_add_literal)(&json, field->name, value);
		}
	}
	json_end_line(&json);
}

static void
connections_print_row(const struct connections_run *run, const struct connrow *row)
{
	char line[2 * RECORD_LINE_MAX];
	const char *end;

	if (run->parsable) {
		connections_print_parsable(run, row);
		return;
	}
	if (run->json && run->interval > 0) {
		connections_print_rates(run, row);
		return;
	}
	end = run->json ? record_json_put_line(run->lines, row, line) : record_columns_put_line(run->table, row, line);
	fwrite(line, 1, (size_t)(end - line), stdout);
}

static void
connections_print_titles(const struct connections_run *run)
{
	char line[2 * RECORD_LINE_MAX];

	if (!run->json && !run->parsable)
		fwrite(line, 1, (size_t)(record_columns_put_titles(run->table, line) - line), stdout);
}

/* Makes what formats the lines; false if out of memory. */
static bool
connections_begin_output(struct connections_run *run)
{
	record_columns_free(run->table);
	run->table = record_columns_new(run->has_chosen ? &run->chosen : NULL, !run->closed);
	if (run->lines == NULL && run->json)
		run->lines = record_json_new(run->has_chosen ? &run->chosen : NULL, !run->closed);
	if (run->table != NULL && (run->lines != NULL || !run->json))
		return true;
	client_log_error("out of memory", NULL);
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ once */

static bool
connections_write_request(const struct connections_run *run, char line[CLIENT_REQUEST_MAX])
{
	struct text_buffer text = {.bytes = line, .size = CLIENT_REQUEST_MAX};

	text_add_format(&text, "connections");
	if (run->closed)
		text_add_format(&text, " --closed");
	if (run->last_ns != 0)
		text_add_format(&text, " --last=%" PRIu64 "ns", run->last_ns);
	for (unsigned i = 0; i < run->requested.count; i++)
		text_add_format(&text, "%s%s", i == 0 ? " --fields=" : ",",
				record_field_short_name(run->requested.fields[i]));
	if (run->limit != 0 && run->sorted == NULL)
		text_add_format(&text, " --limit=%zu", run->limit);
	text_add_format(&text, " %s\n", run->expression);
	if (text.truncated)
		client_log_error("the command is too long", NULL);
	return !text.truncated;
}

/* Takes an object of the reply; returns the name of a member that it lacks. */
static const char *
connections_take(void *context, json_t *object)
{
	struct connections_run *run = context;
	const char *note = json_object_size(object) == 1 ? json_read_string(object, "note") : NULL, *missing;
	struct record_fields all;
	struct connrow row;

	if (note != NULL) {
		client_log("netobsctl", "%s", note);
		return NULL;
	}
	if (run->requested.count == 0)
		record_fields_set_all(&all, !run->closed);
	memset(&row, 0, sizeof row);
	missing = connection_row_read(object, run->requested.count == 0 ? &all : &run->requested, &row);
	if (missing == NULL) {
		record_columns_measure(run->table, &row);
		record_sort_add(run->sorted, &row);
	}
	return missing;
}

/* Prints the rows in their order. */
static bool
connections_print_sorted(struct connections_run *run)
{
	const struct connrow *row = record_sort_next(run->sorted);

	if (record_sort_error(run->sorted) == 0)
		connections_print_titles(run);
	for (size_t lines = 0; row != NULL && (run->limit == 0 || lines < run->limit); lines++) {
		connections_print_row(run, row);
		row = record_sort_next(run->sorted);
	}
	if (row != NULL && !run->json && !run->parsable && client_end_output())
		client_log("netobsctl", "there are more: --limit");
	if (record_sort_error(run->sorted) != 0)
		client_log_error("the list is incomplete", strerror(record_sort_error(run->sorted)));
	return record_sort_error(run->sorted) == 0 && client_end_output();
}

/* Prints JSON as it comes, in the order of netobsd; what is to be sorted, or a table, when it is complete. */
static bool
connections_print_once(struct connections_run *run)
{
	struct record_sort_settings settings = {.order = run->order, .memory = CONNECTIONS_SORT_MEMORY};
	char request[CLIENT_REQUEST_MAX], reason[OUTPUT_PATH_ERROR_MAX];
	bool done;

	if (run->json && run->sort == NULL)
		return connections_write_request(run, request) && client_print_records(run->path, request);
	settings.limit = run->limit != 0 ? run->limit + 1 : 0;
	settings.spill_fd = output_file_open_unnamed("/tmp", reason);
	if (settings.spill_fd < 0) {
		client_log("netobsctl", "cannot create a temporary file in %s; set TMPDIR to another directory",
			   reason);
		return false;
	}
	run->sorted = record_sort_new(&settings);
	if (run->sorted == NULL)
		client_log_error("out of memory", NULL);
	done = run->sorted != NULL && connections_write_request(run, request) &&
	       client_visit_reply(run->path, request, CLIENT_LIST_MAX, connections_take, run) &&
	       connections_print_sorted(run);
	record_sort_free(run->sorted);
	close(settings.spill_fd);
	return done;
}

/* ------------------------------------------------------------------------------------------------------ intervals */

/* Requests the list; false, with a message unless `*failed` is set, if netobsd does not reply.  Sets `*failed`. */
static bool
connections_receive(const struct connections_run *run, struct connection_list *list, bool *failed)
{
	struct connection_request request = {.path = run->path, .expression = run->expression, .no_wait = true};
	char error[4096];
	bool done = connection_list_receive(list, &run->columns, &request, error, sizeof error);

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
connections_print_interval(struct connections_run *run, const struct connection_list *list,
			   struct connection_list *before)
{
	struct connection_list rates;
	struct connrow row;
	size_t lines;

	if (!connections_begin_output(run))
		return false;
	if (!connection_list_make_rates(&rates, list, before, &run->columns)) {
		client_log_error("out of memory", NULL);
		return false;
	}
	record_columns_set_interval(run->table, rates.seconds);
	connection_list_sort(&rates, &run->columns);
	lines = run->limit != 0 && run->limit < rates.count ? run->limit : rates.count;
	for (size_t i = 0; i < lines; i++) {
		connection_row_restore(&rates.rows[i], &run->columns, &row);
		record_columns_measure(run->table, &row);
	}
	connections_print_titles(run);
	for (size_t i = 0; i < lines; i++) {
		connection_row_restore(&rates.rows[i], &run->columns, &row);
		connections_print_row(run, &row);
	}
	connection_list_clear(&rates);
	return client_end_output();
}

/* Prints a table at the end of each interval, a blank line between two.  While netobsd does not reply there is no
 * table; the first list of a netobsd that is back begins an interval. */
static bool
connections_print_intervals(struct connections_run *run)
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

/* Parses the value of --closed; `*ns` remains as it is if `text` is NULL or "all". */
static bool
connections_parse_closed(const char *text, uint64_t *ns)
{
	char error[UNITS_ERROR_MAX], message[UNITS_ERROR_MAX + 16];

	if (text == NULL || strcmp(text, "all") == 0 || units_parse(&quantity_last, text, ns, error))
		return true;
	snprintf(message, sizeof message, "--closed: %s, not", error);
	client_log_error(message, text);
	return false;
}

bool
connections_join_words(char *const *words, int count, char expression[CONNECTIONS_EXPRESSION_SIZE])
{
	struct text_buffer text = {.bytes = expression, .size = CONNECTIONS_EXPRESSION_SIZE};

	expression[0] = '\0';
	for (int i = 0; i < count; i++)
		text_add_format(&text, "%s%s", i > 0 ? " " : "", words[i]);
	return !text.truncated && strpbrk(expression, "\n\r") == NULL;
}

/* Adds a field to those that are requested, if it is not there. */
static void
connections_request_field(struct record_fields *to, const struct field_info *field)
{
	for (unsigned i = 0; i < to->count; i++)
		if (to->fields[i] == field)
			return;
	to->fields[to->count++] = field;
}

/* Chooses the fields of the request: those that are shown, and those that records are sorted by. */
static bool
connections_choose_fields(struct connections_run *run, const struct connections_options *options)
{
	const char *shown = options->fields;
	char error[RECORD_ERROR_MAX];

	if (shown == NULL && (!run->json || run->interval > 0))
		shown = record_columns_fields(!run->closed);
	run->has_chosen = options->fields != NULL || run->parsable || (run->json && run->interval > 0);
	if ((shown != NULL && !record_fields_parse(shown, &run->chosen, error)) ||
	    (run->sort != NULL && !record_order_parse(run->sort, &run->order, error)) ||
	    (run->interval > 0 && !connection_columns_choose(&run->columns, shown, run->sort, error))) {
		client_log_error(error, NULL);
		return false;
	}
	run->requested = run->chosen;
	if (shown == NULL || (run->json && run->sort == NULL))
		return true;
	if (run->order.field != NULL)
		connections_request_field(&run->requested, run->order.field);
	connections_request_field(&run->requested, record_fields_find("end", 3, error));
	connections_request_field(&run->requested, record_fields_find("uid", 3, error));
	return true;
}

int
connections_run(const char *path, char *const *words, int count, const struct connections_options *options)
{
	struct connections_run run = {.path = path,
				      .closed = options->closed != NULL,
				      .sort = options->sort,
				      .count = SIZE_MAX,
				      .parsable = options->parsable,
				      .json = options->json};
	bool done = false;

	if (!connections_join_words(words, count, run.expression))
		client_log_error("the expression is too long or contains a line break", NULL);
	else if (!connections_parse_closed(options->closed, &run.last_ns))
		; /* the message is printed */
	else if (!connections_parse_number(options->limit, &run.limit))
		client_log_error("--limit: expected a number of connections from 1, not", options->limit);
	else if (!connections_parse_interval(options->interval, &run.interval))
		; /* the message is printed */
	else if (!connections_parse_number(options->count, &run.count))
		client_log_error("-c: expected a number of tables from 1, not", options->count);
	else if (connections_choose_fields(&run, options) && connections_begin_output(&run))
		done = run.interval > 0 ? connections_print_intervals(&run) : connections_print_once(&run);
	record_columns_free(run.table);
	record_json_free(run.lines);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --------------------------------------------------------------------------------------------------- one connection */

/* What the words of `client_owner` stand for. */
static const struct {
	const char *word, *text;
} connection_owners[] = {
    {"process", ""},
    {"listener", ", listens; no process has accepted the connection yet"},
    {"closed", ", has closed the socket"},
    {"capture", "a capture file contains no processes"},
    {"remote", "not an end of this host"},
    {"off", "netobsd does not look up processes (its log has the reason, or --no-owners)"},
    {"sctp", "processes of SCTP associations are not looked up"},
    {"pending", "not found in time"},
    {"private", "the socket belongs to another user"},
    {"hidden", "netobsd may not examine processes of other users; --all-owners permits it"},
    {"no-socket", "the socket is closed, or in another network namespace"},
    {"no-process", "no process was found that holds the socket"},
};

/* `unknown`: the text for another word. */
static const char *
connection_owner_text(const char *word, const char *unknown)
{
	for (size_t i = 0; i < sizeof connection_owners / sizeof connection_owners[0]; i++)
		if (strcmp(connection_owners[i].word, word) == 0)
			return connection_owners[i].text;
	return unknown;
}

/* A number of an end, by its name without "client_". */
static unsigned long long
connection_end_number(const struct connrow *row, bool server, const char *name)
{
	char full[32], error[RECORD_ERROR_MAX];
	const struct field_info *field;

	snprintf(full, sizeof full, "%s_%s", server ? "server" : "client", name);
	field = record_fields_find(full, strlen(full), error);
	return field != NULL ? record_field_number(field, row) : 0;
}

static void
connection_describe_end(const struct connrow *row, bool server, struct text_buffer *text)
{
	const struct connrec *record = &row->record;
	const char *address = server ? record->cr_server : record->cr_client, *local = row->live.local;
	const char *origin = strcmp(record->cr_role, "seen") == 0   ? ""
			     : strcmp(record->cr_role, "port") == 0 ? " by the ports"
								    : " by the first packet";
	const char *state = server ? record->cr_server_state : record->cr_client_state;
	unsigned long long rtt = connection_end_number(row, server, "srtt_us");
	uint32_t unacknowledged = (uint32_t)connection_end_number(row, server, "snxt") -
				  (uint32_t)connection_end_number(row, server, "suna");
	int pid = (int)connection_end_number(row, server, "pid");

	text_add_format(text, strchr(address, ':') != NULL ? "[%s]:%llu\n" : "%s:%llu\n", address,
			connection_end_number(row, server, "port"));
	text_add_format(text, "  connection id  %llu, %s, %s%s\n", connection_end_number(row, server, "cid"),
			strcmp(local, "both") == 0 || strcmp(local, server ? "server" : "client") == 0 ? "local"
												       : "remote",
			server ? "server" : "client", origin);
	text_add_format(text, "  state          %s\n", *state != '\0' ? state : "-");
	text_add_format(text, "  sent           %llu bytes in %llu packets, %llu retransmitted\n",
			connection_end_number(row, server, "bytes"), connection_end_number(row, server, "segments"),
			connection_end_number(row, server, "resent"));
	if (strcmp(record->cr_protostr, "TCP") == 0) {
		if (rtt != 0)
			text_add_format(text, "  round trip     %llu us, ", rtt);
		else
			text_add_format(text, "  round trip     -, ");
		text_add_format(text, "window %llu bytes, unacknowledged %u bytes\n",
				connection_end_number(row, server, "rwnd"), (unsigned)unacknowledged);
	}
	if (pid >= 0) {
		text_add_format(text, "  process        %d (", pid);
		text_add_escaped(text, server ? record->cr_server_comm : record->cr_client_comm);
		text_add_format(text, ")%s\n", connection_owner_text(row->live.owner[server], ""));
	} else {
		text_add_format(text, "  process        unknown: %s\n",
				connection_owner_text(row->live.owner[server], "-"));
	}
}

/* Requests the row of a connection; false with a message. */
static bool
connection_request_row(const char *path, uint64_t cid, struct connrow *row, char *error, size_t size)
{
	char request[64];
	struct record_fields all;
	const char *missing;
	json_t *lines, *object;

	snprintf(request, sizeof request, "connections --cid=%llu\n", (unsigned long long)cid);
	lines = client_read_array(path, request, 2 * (size_t)RECORD_LINE_MAX, error, size);
	if (lines == NULL)
		return false;
	object = json_array_get(lines, 0);
	record_fields_set_all(&all, true);
	memset(row, 0, sizeof *row);
	missing = object != NULL ? connection_row_read(object, &all, row) : "";
	json_decref(lines);
	if (missing == NULL)
		return true;
	if (*missing == '\0')
		snprintf(error, size, "there is no connection %llu", (unsigned long long)cid);
	else
		snprintf(error, size, "the reply has no \"%s\"", missing);
	return false;
}

bool
connection_describe(const char *path, uint64_t cid, char *text, size_t size)
{
	struct text_buffer buffer = {.bytes = text, .size = size};
	struct connrow row;
	bool server;

	if (!connection_request_row(path, cid, &row, text, size))
		return false;
	server = strcmp(row.live.local, "server") == 0;
	text_add_format(&buffer, "%s, age %.1f s\n", row.record.cr_protostr, (double)row.live.age_us / 1e6);
	connection_describe_end(&row, server, &buffer);
	connection_describe_end(&row, !server, &buffer);
	return true;
}

int
connection_run(const char *path, char *const *words, int count, bool json)
{
	char text[8192], line[2 * RECORD_LINE_MAX];
	struct record_json *lines = json ? record_json_new(NULL, true) : NULL;
	struct connrow row;
	size_t cid = 0;
	bool done;

	if (count == 1 && strspn(words[0], "0123456789") == strlen(words[0]))
		cid = strtoull(words[0], NULL, 10);
	if (cid == 0)
		return client_log_error("connection: expected one connection id, as listed by \"connections\"", NULL);
	done = json ? lines != NULL && connection_request_row(path, cid, &row, text, sizeof text)
		    : connection_describe(path, cid, text, sizeof text);
	if (!done)
		client_log_error(json && lines == NULL ? "out of memory" : text, NULL);
	else if (json)
		fwrite(line, 1, (size_t)(record_json_put_line(lines, &row, line) - line), stdout);
	else
		fputs(text, stdout);
	record_json_free(lines);
	return done && client_end_output() ? EXIT_SUCCESS : EXIT_FAILURE;
}
