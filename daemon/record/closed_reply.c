/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/record/closed_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/clock.h"
#include "records/record_columns.h"
#include "records/record_fields.h"
#include "records/record_json.h"
#include "records/record_sort.h"

/* Records examined for one part. */
#define RECORDS_PER_PART 512u

/* Memory of a record that is sorted, at most. */
#define CLOSED_RECORD_SIZE (sizeof(struct connrec) + 128)

struct closed_reply {
	struct record_ring *ring;
	struct record_filter *filter; /* NULL: all records */
	struct record_json *json;     /* NULL: a table */
	struct record_columns *table;
	struct record_sort *sort; /* NULL: as in the ring */
	bool sorted;		  /* all records are in it */
	uint64_t limit;		  /* records that may be added to the reply yet */
	bool most_sorted;	  /* the limit is that of the sort, not of the request */
	bool notes;		  /* of struct closed_request */
	bool more;		  /* there are more */
	uint64_t position;	  /* number of the next record */
	uint64_t end;		  /* number after the last record: later ones end during the reply */
	uint64_t since;		  /* records that ended before are left out, ns since the epoch */
	bool overwritten;	  /* a record that ended later is overwritten */
	bool all_owners;
	uid_t uid;
	bool begun;
};

/* More than twice the records of the result fit into the memory, so that the sort keeps the first ones and needs no
 * file. */
static struct record_sort *
closed_reply_new_sort(struct record_order order, uint64_t limit)
{
	struct record_sort_settings settings = {.order = order,
						.limit = limit + 1, /* whether there are more */
						.memory = (limit + 1) * 3 * CLOSED_RECORD_SIZE,
						.spill_fd = -1};

	return record_sort_new(&settings);
}

/* The order; false with `mistake`. */
static bool
closed_reply_prepare_sort(struct closed_reply *reply, const struct closed_request *request,
			  char mistake[RECORD_ERROR_MAX])
{
	struct record_order order;

	reply->limit = request->limit != 0 ? request->limit : UINT64_MAX;
	if (request->sort == NULL)
		return true;
	if (!record_order_parse(request->sort, &order, mistake))
		return false;
	if (request->limit > CLOSED_SORT_MAX) {
		snprintf(mistake, RECORD_ERROR_MAX, "--sort sorts at most %u connections: give a smaller --limit",
			 CLOSED_SORT_MAX);
		return false;
	}
	reply->limit = request->limit != 0 ? request->limit : CLOSED_SORT_MAX;
	reply->most_sorted = request->limit == 0;
	reply->sort = closed_reply_new_sort(order, reply->limit);
	if (reply->sort == NULL)
		snprintf(mistake, RECORD_ERROR_MAX, "netobsd is out of memory");
	return reply->sort != NULL;
}

/* The formatter of lines; false with `error`. */
static bool
closed_reply_prepare(struct closed_reply *reply, const struct closed_request *request, char *error, size_t size)
{
	struct record_fields fields, *chosen = request->fields != NULL ? &fields : NULL;
	char mistake[RECORD_ERROR_MAX] = "netobsd is out of memory";

	if ((chosen == NULL || record_fields_parse(request->fields, chosen, mistake)) &&
	    (request->expression == NULL ||
	     (reply->filter = record_filter_compile(request->expression, mistake)) != NULL) &&
	    closed_reply_prepare_sort(reply, request, mistake)) {
		if (request->json)
			reply->json = record_json_new(chosen);
		else if ((reply->table = record_columns_new(chosen)) != NULL)
			record_columns_set_usual_widths(reply->table);
	}
	if (reply->json != NULL || reply->table != NULL)
		return true;
	snprintf(error, size, "%s", mistake);
	return false;
}

void
closed_reply_free(struct closed_reply *reply)
{
	if (reply == NULL)
		return;
	record_filter_free(reply->filter);
	record_json_free(reply->json);
	record_columns_free(reply->table);
	record_sort_free(reply->sort);
	free(reply);
}

/* Notes whether a record that ended at `since` or later is overwritten. */
static void
closed_reply_check_cut(struct closed_reply *reply, struct record_ring_counters counters)
{
	reply->overwritten = counters.overwritten != 0 && counters.latest_lost >= reply->since;
}

struct closed_reply *
closed_reply_new(struct record_ring *ring, const struct closed_request *request, char *error, size_t size)
{
	struct closed_reply *reply = calloc(1, sizeof *reply);
	struct record_ring_counters counters = record_ring_counters(ring);
	uint64_t now = clock_realtime_ns();

	if (reply == NULL) {
		snprintf(error, size, "netobsd is out of memory");
		return NULL;
	}
	if (!closed_reply_prepare(reply, request, error, size)) {
		closed_reply_free(reply);
		return NULL;
	}
	reply->ring = ring;
	reply->notes = request->notes;
	reply->all_owners = request->all_owners;
	reply->uid = request->uid;
	reply->since = request->last_ns != 0 && request->last_ns < now ? now - request->last_ns : 0;
	reply->position = counters.overwritten;
	reply->end = counters.overwritten + counters.now;
	closed_reply_check_cut(reply, counters);
	return reply;
}

/* A user sees only own processes on a socket to which every user may connect, as in the list of open connections. */
static void
closed_reply_hide_owners(const struct closed_reply *reply, struct connrec *record)
{
	if (reply->all_owners)
		return;
	if (record->cr_client_uid < 0 || (uid_t)record->cr_client_uid != reply->uid) {
		record->cr_client_pid = -1;
		record->cr_client_uid = -1;
		memset(record->cr_client_comm, 0, sizeof record->cr_client_comm);
	}
	if (record->cr_server_uid < 0 || (uid_t)record->cr_server_uid != reply->uid) {
		record->cr_server_pid = -1;
		record->cr_server_uid = -1;
		memset(record->cr_server_comm, 0, sizeof record->cr_server_comm);
	}
}

static void
closed_reply_add(const struct closed_reply *reply, const struct connrec *record, struct text_buffer *text)
{
	char *at = text->bytes + text->used, *end;

	end = reply->json != NULL ? record_json_put_line(reply->json, record, at)
				  : record_columns_put_line(reply->table, record, at);
	text->used += (size_t)(end - at);
}

static void
closed_reply_begin(const struct closed_reply *reply, struct text_buffer *text)
{
	char *at;

	if (reply->table == NULL)
		return;
	at = text->bytes + text->used;
	text->used += (size_t)(record_columns_put_titles(reply->table, at) - at);
}

/* Adds an object with one member. */
static void
closed_reply_add_member(struct text_buffer *text, const char *name, const char *string)
{
	struct json json = text_json(text);

	json_begin_object(&json, NULL);
	json_add_string(&json, name, string);
	json_end_line(&json);
}

/* Adds a line below the connections. */
static void
closed_reply_add_note(const struct closed_reply *reply, struct text_buffer *text, const char *note)
{
	if (reply->table != NULL)
		text_add_format(text, "%s\n", note);
	else if (reply->notes)
		closed_reply_add_member(text, "note", note);
}

/* Adds what is missing in the reply.  JSON whose request has a limit does not end with that. */
static void
closed_reply_end(const struct closed_reply *reply, struct text_buffer *text)
{
	int error = reply->sort != NULL ? record_sort_error(reply->sort) : 0;
	char note[128];

	if (error != 0 && reply->table != NULL)
		text_add_format(text, "the list is incomplete: %s\n", strerror(error));
	else if (error != 0)
		closed_reply_add_member(text, "error", strerror(error));
	if (reply->more && reply->most_sorted) {
		snprintf(note, sizeof note, "there are more: with --sort at most %u are printed", CLOSED_SORT_MAX);
		closed_reply_add_note(reply, text, note);
	} else if (reply->more && reply->table != NULL) {
		closed_reply_add_note(reply, text, "there are more: --limit");
	}
	if (reply->overwritten) {
		snprintf(note, sizeof note, "earlier ones are overwritten: netobsd keeps %u, see --closed-connections",
			 (unsigned)record_ring_capacity(reply->ring));
		closed_reply_add_note(reply, text, note);
	}
}

/* Reads the next record of the ring; false at the end.  Records that were overwritten since the request are skipped. */
static bool
closed_reply_read_any(struct closed_reply *reply, struct connrec *record)
{
	uint64_t expected = reply->position;

	if (expected >= reply->end || !record_ring_read(reply->ring, &reply->position, record))
		return false;
	if (reply->position != expected + 1)
		closed_reply_check_cut(reply, record_ring_counters(reply->ring));
	return reply->position <= reply->end;
}

/* The next record of the ring that the request selects, and whether there is one; false as well after a part of the
 * ring, then with `*end` false. */
static bool
closed_reply_read(struct closed_reply *reply, struct connrec *record, unsigned *examined, bool *end)
{
	while (*examined < RECORDS_PER_PART) {
		++*examined;
		if (!closed_reply_read_any(reply, record)) {
			*end = true;
			return false;
		}
		closed_reply_hide_owners(reply, record);
		if (record->cr_end >= reply->since &&
		    (reply->filter == NULL || record_filter_selects(reply->filter, record)))
			return true;
	}
	return false;
}

/* The next record of the reply, which may be in `record`; NULL at the end of a part, or of all. */
static const struct connrec *
closed_reply_next(struct closed_reply *reply, struct connrec *record, unsigned *examined, bool *end)
{
	const struct connrec *next;

	if (reply->sort == NULL)
		return closed_reply_read(reply, record, examined, end) ? record : NULL;
	while (!reply->sorted && closed_reply_read(reply, record, examined, &reply->sorted))
		record_sort_add(reply->sort, record);
	if (!reply->sorted || ++*examined > RECORDS_PER_PART)
		return NULL;
	next = record_sort_next(reply->sort);
	*end = next == NULL;
	return next;
}

bool
closed_reply_write(struct closed_reply *reply, struct text_buffer *text)
{
	const struct connrec *next;
	struct connrec record;
	unsigned examined = 0;
	bool end = false;

	if (!reply->begun)
		closed_reply_begin(reply, text);
	reply->begun = true;
	while (text_space_left(text) >= 2 * RECORD_LINE_MAX &&
	       (next = closed_reply_next(reply, &record, &examined, &end)) != NULL) {
		reply->more = reply->limit == 0;
		if (reply->more) {
			end = true;
			break;
		}
		closed_reply_add(reply, next, text);
		reply->limit--;
	}
	if (end)
		closed_reply_end(reply, text);
	return !end;
}
