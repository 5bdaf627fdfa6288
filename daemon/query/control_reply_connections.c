/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies about connections, open ones of the flow tables or ended ones of the ring: rows as JSON, one a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/query/control_reply.h"
#include "flow/record/flow_record.h"
#include "owner/owner_lookup.h"
#include "probes/args/args.h"
#include "records/record_filter.h"
#include "records/record_json.h"
#include "records/record_ring.h"

/* Time after which a part ends, ns; capture is blocked meanwhile.  An expression may cost many times as much as the
 * rest of a row, so that no number of rows bounds the time. */
#define PART_NS 500000u

/* Places of the flow table, or records, that are passed over before the clock is read again. */
#define PASSED_PER_READING 64u

/* What a reply about connections needs besides the request. */
struct connections_reply {
	struct record_filter *filter; /* NULL: all connections */
	struct record_json *json;
	uint64_t left; /* lines that may be added */
	bool selects_owners; /* the filter may depend on owners */
	const char *open_field; /* of the request, which ended connections lack; NULL: none */
	bool owners_hidden;  /* netobsd may not examine the process of an end in a row */

	/* Connections that have ended: */
	struct record_ring *ring; /* NULL: open ones */
	uint64_t position;	  /* number of the next record */
	uint64_t end;		  /* number after the last record: later ones end during the reply */
	uint64_t since;		  /* records that ended before are left out, ns since the epoch */
	bool overwritten;	  /* a record that ended later is overwritten */
};

/* Notes whether a record that ended at `since` or later is overwritten. */
static void
connections_check_cut(struct connections_reply *reply)
{
	struct record_ring_counters counters = record_ring_counters(reply->ring);

	reply->overwritten = counters.overwritten != 0 && counters.latest_lost >= reply->since;
}

static void
connections_begin_ended(struct connections_reply *reply, struct record_ring *ring, uint64_t last_ns)
{
	struct record_ring_counters counters = record_ring_counters(ring);
	uint64_t now = clock_realtime_ns();

	reply->ring = ring;
	reply->since = last_ns != 0 && last_ns < now ? now - last_ns : 0;
	reply->position = counters.overwritten;
	reply->end = counters.overwritten + counters.now;
	connections_check_cut(reply);
}

/* Whether names of fields, or an expression, have one of a process. */
static bool
connections_name_owners(const char *text)
{
	static const char *const names[] = {"pid", "comm", "_uid", "owner"};

	for (size_t i = 0; text != NULL && i < sizeof names / sizeof names[0]; i++)
		if (strstr(text, names[i]) != NULL)
			return true;
	return false;
}

bool
control_reply_begin_connections(struct control_reply *control, char *error, size_t size)
{
	struct control_request *request = &control->request;
	struct record_fields fields, *chosen = request->fields != NULL ? &fields : NULL;
	struct connections_reply *reply;
	char mistake[RECORD_ERROR_MAX] = "netobsd is out of memory";

	if (request->closed && control->query->closed == NULL) {
		snprintf(error, size, "netobsd keeps no connections that have ended: start it with "
				      "--closed-connections=NUMBER");
		return false;
	}
	control->connections = reply = calloc(1, sizeof *reply);
	if (reply != NULL && (chosen == NULL || record_fields_parse(request->fields, chosen, mistake)) &&
	    (request->operand == NULL ||
	     (reply->filter = record_filter_compile(request->operand, mistake)) != NULL))
		reply->json = record_json_new(chosen, !request->closed);
	if (reply == NULL || reply->json == NULL) {
		snprintf(error, size, "%s", mistake);
		return false;
	}
	reply->left = request->limit != 0 ? request->limit : UINT64_MAX;
	reply->selects_owners = connections_name_owners(request->operand);
	control->owners = !request->closed && (chosen == NULL || reply->selects_owners ||
					       connections_name_owners(request->fields));
	if (request->closed) {
		connections_begin_ended(reply, control->query->closed, request->last_ns);
		reply->open_field = record_fields_find_open(request->operand);
		if (reply->open_field == NULL)
			reply->open_field = record_fields_find_open(request->fields);
	}
	return true;
}

void
control_reply_end_connections(struct control_reply *control)
{
	struct connections_reply *reply = control->connections;

	if (reply == NULL)
		return;
	record_filter_free(reply->filter);
	record_json_free(reply->json);
	free(reply);
	control->connections = NULL;
}

/* ------------------------------------------------------------------------------------------------------------ rows */

/* Fills the row of an open connection.  The client sees in it only the processes that it may see. */
static void
connections_fill_open(const struct control_reply *control, const struct flow_table *table, const struct flow *flow,
		      struct connrow *row)
{
	static const char *const locals[2][4] = {{"", "client", "server", "both"}, {"", "server", "client", "both"}};
	const struct flow_record *record = flow_table_record(table, flow);
	struct recorded_connection of = {.table = table, .flow = flow};
	struct tcpsinfo ends[2];
	struct flow_record unkept;
	struct owner owners[2];
	uint64_t now = clock_realtime_ns(), first = flow_first_seen(table, flow);
	unsigned client;

	if (record == NULL) {
		flow_record_from_now(flow, &unkept);
		record = &unkept;
	}
	of.record = record;
	of.reason = flow_record_reason(table, flow, record, now);
	client = flow_record_client(record);
	memset(&row->live, 0, sizeof row->live);
	for (unsigned end = 0; end < 2; end++)
		if (reply_find_owner(control, table, flow, end, &owners[end], row->live.owner[end != client]))
			of.owner[end] = &owners[end];
	args_connrec(&row->record, &of);
	snprintf(row->live.local, sizeof row->live.local, "%s", locals[client][flow->local & 3u]);
	row->live.age_us = now > first ? (now - first) / 1000 : 0;
	for (unsigned end = 0; end < 2 && flow->kind == FLOW_TCP; end++) {
		struct probe_endpoint endpoint = {
		    .table = table, .flow = flow, .end = end, .tcp = &flow->tcp[end]};

		args_tcpsinfo(&ends[end != client], &endpoint);
	}
	connrow_set_open(row, flow->kind == FLOW_TCP ? ends : NULL);
}

/* Adds a row to the reply, if it is selected. */
static void
connections_add(struct control_reply *control, const struct connrow *row, struct text_buffer *text)
{
	struct connections_reply *reply = control->connections;
	char *at = text->bytes + text->used;

	if (reply->filter != NULL && !record_filter_selects(reply->filter, row))
		return;
	if (control->services != NULL)
		services_take(control->services, &row->record, true);
	else
		text->used += (size_t)(record_json_put_line(reply->json, row, at) - at);
	for (unsigned end = 0; control->owners && end < 2; end++)
		reply->owners_hidden |= strcmp(row->live.owner[end], "hidden") == 0;
	control->done |= --reply->left == 0;
}

/* Adds {"note":"TEXT"}, which is about the other lines. */
static void
connections_add_note(struct text_buffer *text, const char *note)
{
	struct json json = text_json(text);

	json_begin_object(&json, NULL);
	json_add_string(&json, "note", note);
	json_end_line(&json);
}

/* Whether a part that began at `start` must end.  `*passed` counts what was passed over since the clock was read; a row
 * that was examined counts as all of it. */
static bool
connections_time_is_over(uint64_t start, unsigned *passed)
{
	if (*passed < PASSED_PER_READING)
		return false;
	*passed = 0;
	return clock_monotonic_ns() - start >= PART_NS;
}

static bool
connections_have_space(const struct text_buffer *text)
{
	return text_space_left(text) >= 2 * (size_t)RECORD_LINE_MAX;
}

/* ------------------------------------------------------------------------------------------------ open connections */

/* Whether the conditions besides the expression hold: a few comparisons. */
static bool
connections_hold(const struct control_request *request, const struct flow_table *table, const struct flow *flow)
{
	if (request->cid != 0 && flow_cid(table, flow, 0) != request->cid && flow_cid(table, flow, 1) != request->cid)
		return false;
	return !request->open || !flow_has_ended(table, flow);
}

/* Whether the owners of one connection are looked up again when its row is written. */
static bool
connections_is_one(const struct control_reply *control)
{
	return control->request.cid != 0 && !control->request.no_wait;
}

/* Whether rows are written in this pass: all owners have been looked up that the reply needs. */
static bool
connections_are_written(const struct control_reply *control)
{
	return !control->owners || connections_is_one(control) || control->owner_pass == REPLY_PASS_WRITE;
}

/* A step of a pass that is not the last one, with a connection whose owners the reply needs, or may need. */
static void
connections_visit_owners(struct control_reply *control, const struct flow_table *table, const struct flow *flow)
{
	const struct connections_reply *reply = control->connections;
	struct connrow row;

	if (reply->filter != NULL && !reply->selects_owners) {
		connections_fill_open(control, table, flow, &row);
		if (!record_filter_selects(reply->filter, &row))
			return;
	}
	if (control->owner_pass == REPLY_PASS_PREPARE)
		reply_prepare_owners(control, table, flow);
	else
		reply_wait_for_owners(control, flow);
}

/* One step of the present pass; returns as how many places passed over it counts. */
static unsigned
connections_visit(struct control_reply *control, const struct flow_table *table, const struct flow *flow,
		  struct text_buffer *text)
{
	struct connrow row;

	if (!connections_hold(&control->request, table, flow))
		return 1;
	if (!connections_are_written(control)) {
		connections_visit_owners(control, table, flow);
	} else if (control->owners && connections_is_one(control) && !reply_find_owners(control, table, flow)) {
		control->later = true;
	} else {
		connections_fill_open(control, table, flow, &row);
		connections_add(control, &row, text);
	}
	return PASSED_PER_READING;
}

/* Moves on to the next worker, then to the next pass; the last one ends the reply. */
static void
connections_next_worker(struct control_reply *control)
{
	control->position = 0;
	if (++control->worker < control->query->workers->count)
		return;
	if (connections_are_written(control))
		control->done = true;
	else
		reply_next_owner_pass(control);
}

/* Each part covers one worker and is made while its lock is held. */
static void
connections_write_open(struct control_reply *control, struct text_buffer *text)
{
	const struct worker *worker = &control->query->workers->worker[control->worker];
	const struct flow_table *table = observer_flows(worker->observer);
	const unsigned pass = control->owner_pass;
	uint32_t position = control->position;
	const struct flow *flow;
	unsigned passed = 0;
	uint64_t start;
	bool more = true;

	control->later = false;
	fair_lock_acquire(worker->lock);
	start = clock_monotonic_ns();
	while (more && !control->done && !control->later && control->owner_pass == pass &&
	       connections_have_space(text) && !connections_time_is_over(start, &passed)) {
		position = control->position;
		more = flow_table_next(table, &control->position, &flow);
		passed += more && flow != NULL ? connections_visit(control, table, flow, text) : 1;
	}
	owner_lookup_wake(worker->owner_lookup);
	fair_lock_release(worker->lock);
	if (control->later)
		control->position = position; /* the same flow again */
	else if (!more)
		connections_next_worker(control);
	if (control->done && control->connections->owners_hidden)
		connections_add_note(text, "processes of other users are hidden: netobsd --all-owners permits them");
}

/* ----------------------------------------------------------------------------------------------- ended connections */

/* A user sees only own processes on a socket to which every user may connect, as in the list of open connections. */
static void
connections_hide_owners(const struct control_reply *control, struct connrec *record)
{
	if (control->all_owners)
		return;
	if (record->cr_client_uid < 0 || (uid_t)record->cr_client_uid != control->uid) {
		record->cr_client_pid = -1;
		record->cr_client_uid = -1;
		memset(record->cr_client_comm, 0, sizeof record->cr_client_comm);
	}
	if (record->cr_server_uid < 0 || (uid_t)record->cr_server_uid != control->uid) {
		record->cr_server_pid = -1;
		record->cr_server_uid = -1;
		memset(record->cr_server_comm, 0, sizeof record->cr_server_comm);
	}
}

/* Reads the next record of the ring; false at the end.  Records that were overwritten since the request are skipped. */
static bool
connections_read_ended(struct connections_reply *reply, struct connrec *record)
{
	uint64_t expected = reply->position;

	if (expected >= reply->end || !record_ring_read(reply->ring, &reply->position, record))
		return false;
	if (reply->position != expected + 1)
		connections_check_cut(reply);
	return reply->position <= reply->end;
}

static void
connections_write_ended(struct control_reply *control, struct text_buffer *text)
{
	struct connections_reply *reply = control->connections;
	uint64_t cid = control->request.cid;
	uint64_t start = clock_monotonic_ns();
	unsigned passed = 0;
	struct connrow row;
	char note[128];

	for (; !control->done && connections_have_space(text) && !connections_time_is_over(start, &passed); passed++) {
		if (!connections_read_ended(reply, &row.record)) {
			control->done = true;
			break;
		}
		if (row.record.cr_end < reply->since ||
		    (cid != 0 && row.record.cr_client_cid != cid && row.record.cr_server_cid != cid))
			continue;
		passed += PASSED_PER_READING;
		connections_hide_owners(control, &row.record);
		connrow_set_ended(&row);
		connections_add(control, &row, text);
	}
	if (!control->done)
		return;
	if (reply->open_field != NULL) {
		snprintf(note, sizeof note, "%s is known of open connections only: it is 0 or empty here",
			 reply->open_field);
		connections_add_note(text, note);
	}
	if (!reply->overwritten || cid != 0)
		return;
	snprintf(note, sizeof note, "earlier ones are overwritten: netobsd keeps %u, see --closed-connections",
		 (unsigned)record_ring_capacity(reply->ring));
	connections_add_note(text, note);
}

void
control_reply_write_connections(struct control_reply *control, struct text_buffer *text)
{
	if (!control->begun)
		text_add_format(text, "ok\n");
	control->begun = true;
	if (control->request.closed)
		connections_write_ended(control, text);
	else
		connections_write_open(control, text);
}
