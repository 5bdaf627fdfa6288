/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/record/closed_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "records/record_columns.h"
#include "records/record_fields.h"
#include "records/record_filter.h"
#include "records/record_json.h"

/* Records examined for one part. */
#define RECORDS_PER_PART 512u

struct closed_reply {
	struct record_ring *ring;
	struct record_filter *filter; /* NULL: all records */
	struct record_json *json;     /* NULL: a table */
	struct record_columns *table;
	uint64_t position; /* number of the next record */
	uint64_t since;	   /* records that ended before are left out, ns since the epoch */
	bool overwritten;  /* a record that ended later is overwritten */
	bool all_owners;
	uid_t uid;
	bool begun;
};

/* The formatter of lines; false with `error`. */
static bool
closed_reply_prepare(struct closed_reply *reply, const struct closed_request *request, char *error, size_t size)
{
	struct record_fields fields, *chosen = request->fields != NULL ? &fields : NULL;
	char mistake[RECORD_ERROR_MAX] = "netobsd is out of memory";

	if ((chosen == NULL || record_fields_parse(request->fields, chosen, mistake)) &&
	    (request->expression == NULL ||
	     (reply->filter = record_filter_compile(request->expression, mistake)) != NULL)) {
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
	free(reply);
}

/* Whether a record that ended at `since` or later is overwritten. */
static bool
closed_reply_is_cut(struct record_ring *ring, uint64_t since)
{
	struct record_ring_counters counters = record_ring_counters(ring);

	return counters.overwritten != 0 && counters.latest_lost >= since;
}

struct closed_reply *
closed_reply_new(struct record_ring *ring, const struct closed_request *request, char *error, size_t size)
{
	struct closed_reply *reply = calloc(1, sizeof *reply);
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
	reply->all_owners = request->all_owners;
	reply->uid = request->uid;
	reply->since = request->last_ns != 0 && request->last_ns < now ? now - request->last_ns : 0;
	reply->overwritten = closed_reply_is_cut(ring, reply->since);
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

/* Says below a table what may be missing in it. */
static void
closed_reply_end(const struct closed_reply *reply, struct text_buffer *text)
{
	if (reply->overwritten && reply->table != NULL)
		text_add_format(text, "earlier ones are overwritten: netobsd keeps %u, see --closed-connections\n",
				(unsigned)record_ring_capacity(reply->ring));
}

bool
closed_reply_write(struct closed_reply *reply, struct text_buffer *text)
{
	struct connrec record;

	if (!reply->begun)
		closed_reply_begin(reply, text);
	reply->begun = true;
	for (unsigned i = 0; i < RECORDS_PER_PART && text_space_left(text) >= 2 * RECORD_LINE_MAX; i++) {
		if (!record_ring_read(reply->ring, &reply->position, &record)) {
			closed_reply_end(reply, text);
			return false;
		}
		closed_reply_hide_owners(reply, &record);
		if (record.cr_end >= reply->since &&
		    (reply->filter == NULL || record_filter_selects(reply->filter, &record)))
			closed_reply_add(reply, &record, text);
	}
	return true;
}
