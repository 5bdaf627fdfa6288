/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies about connections, as text and as JSON. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "owner/owner_lookup.h"
#include "daemon/query/connection_filter.h"
#include "daemon/query/control_reply.h"
#include "daemon/stats/flow_names.h"
#include "flow/record/flow_record.h"
#include "flow/tcp/tcp.h"

/* Connections visited for one part; capture is blocked meanwhile.  One of which an expression is evaluated, or the
 * owner looked up, costs as much as EXAMINED_COST others. */
#define FLOWS_PER_PART 4096u
#define EXAMINED_COST  8u

/* Upper bound of a line. */
#define LINE_MAX_BYTES 2048u

/* Size of a text that holds "[IPv6]:port". */
#define ENDPOINT_TEXT_SIZE (INET6_ADDRSTRLEN + 8)

static uint64_t
flow_endpoint_bytes(const struct flow *flow, unsigned endpoint)
{
	if (flow->kind == FLOW_TCP)
		return tcp_captured_bytes(&flow->tcp[endpoint]);
	return flow->kind == FLOW_SCTP ? flow->sctp[endpoint].bytes : flow->udp[endpoint].bytes;
}

static unsigned long long
flow_endpoint_packets(const struct flow *flow, unsigned endpoint)
{
	if (flow->kind == FLOW_TCP)
		return flow->tcp[endpoint].segments_sent;
	return flow->kind == FLOW_SCTP ? flow->sctp[endpoint].packets : flow->udp[endpoint].datagrams;
}

static unsigned
flow_endpoint_retransmits(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	if (flow->kind == FLOW_TCP)
		return tcp_retransmits(table, flow, endpoint);
	return flow->kind == FLOW_SCTP ? flow->sctp[endpoint].retransmits : 0;
}

static const char *
reply_format_address(const struct flow *flow, unsigned endpoint, char at[INET6_ADDRSTRLEN])
{
	if (inet_ntop(flow->key.version == 6 ? AF_INET6 : AF_INET, flow->key.addr[endpoint], at, INET6_ADDRSTRLEN) ==
	    NULL)
		at[0] = '\0';
	return at;
}

static const char *
reply_format_endpoint(const struct flow *flow, unsigned endpoint, char at[ENDPOINT_TEXT_SIZE])
{
	char bytes[INET6_ADDRSTRLEN];

	snprintf(at, ENDPOINT_TEXT_SIZE, flow->key.version == 6 ? "[%s]:%u" : "%s:%u",
		 reply_format_address(flow, endpoint, bytes), (unsigned)flow->key.port[endpoint]);
	return at;
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static void
reply_add_flow_row(struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		   struct text_buffer *text)
{
	unsigned local = flow_reported_endpoint(flow), remote = 1 - local;
	char here[ENDPOINT_TEXT_SIZE], there[ENDPOINT_TEXT_SIZE], states[64];

	snprintf(states, sizeof states, "%s/%s", flow_state_name(flow, local), flow_state_name(flow, remote));
	text_add_format(text, "%10llu %-4s %-28s %-28s %-25s %9.1f %12llu %12llu %7u ",
			(unsigned long long)flow_cid(table, flow, local), flow_protocol_name(flow),
			reply_format_endpoint(flow, local, here), reply_format_endpoint(flow, remote, there),
			flow->kind == FLOW_UDP ? "-" : states, flow_age_seconds(table, flow),
			(unsigned long long)flow_endpoint_bytes(flow, local),
			(unsigned long long)flow_endpoint_bytes(flow, remote),
			flow_endpoint_retransmits(table, flow, local) + flow_endpoint_retransmits(table, flow, remote));
	reply_add_owner_column(reply, table, flow, local, text);
	text_add_format(text, "\n");
}

static void
reply_add_endpoint_json(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
			unsigned endpoint, struct json *json)
{
	char address[INET6_ADDRSTRLEN];

	json_add_unsigned(json, "cid", flow_cid(table, flow, endpoint));
	json_add_string(json, "address", reply_format_address(flow, endpoint, address));
	json_add_unsigned(json, "port", flow->key.port[endpoint]);
	json_add_bool(json, "local", (flow->local >> endpoint & 1) != 0);
	json_add_string(json, "state", flow_state_name(flow, endpoint));
	json_add_unsigned(json, "bytes", flow_endpoint_bytes(flow, endpoint));
	json_add_unsigned(json, "packets", flow_endpoint_packets(flow, endpoint));
	json_add_unsigned(json, "retransmits", flow_endpoint_retransmits(table, flow, endpoint));
	json_add_unsigned(json, "srtt_us", flow->kind == FLOW_TCP ? flow->tcp[endpoint].srtt_us : 0);
	reply_add_owner_json(reply, table, flow, endpoint, json);
}

static void
reply_add_flow_json(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		    struct text_buffer *text)
{
	unsigned local = flow_reported_endpoint(flow);
	enum record_role role;
	unsigned client = flow_find_client(table, flow, &role);
	struct json json = text_json(text);

	json_begin_object(&json, NULL);
	json_add_string(&json, "proto", flow_protocol_name(flow));
	json_add_unsigned(&json, "start", flow_first_seen(table, flow));
	json_add_unsigned(&json, "last", flow_last_seen(table, flow));
	json_add_string(&json, "client", client == local ? "near" : "far");
	json_add_string(&json, "role", record_role_name(role));
	json_begin_object(&json, "near");
	reply_add_endpoint_json(reply, table, flow, local, &json);
	json_end_object(&json);
	json_begin_object(&json, "far");
	reply_add_endpoint_json(reply, table, flow, 1 - local, &json);
	json_end_object(&json);
	json_end_line(&json);
}

static void
reply_add_endpoint_details(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
			   unsigned endpoint, struct text_buffer *text)
{
	static const char *const role_origins[] = {
	    [RECORD_ROLE_SEEN] = "",
	    [RECORD_ROLE_PORT] = " by the ports",
	    [RECORD_ROLE_FIRST] = " by the first packet",
	};
	char at[ENDPOINT_TEXT_SIZE];
	enum record_role role;
	unsigned client = flow_find_client(table, flow, &role);

	text_add_format(text, "%s\n", reply_format_endpoint(flow, endpoint, at));
	text_add_format(text, "  connection id  %llu, %s, %s%s\n", (unsigned long long)flow_cid(table, flow, endpoint),
			(flow->local >> endpoint & 1) != 0 ? "local" : "remote",
			client == endpoint ? "client" : "server", role_origins[role]);
	text_add_format(text, "  state          %s\n", flow_state_name(flow, endpoint));
	text_add_format(text, "  sent           %llu bytes in %llu packets, %u retransmitted\n",
			(unsigned long long)flow_endpoint_bytes(flow, endpoint), flow_endpoint_packets(flow, endpoint),
			flow_endpoint_retransmits(table, flow, endpoint));
	if (flow->kind == FLOW_TCP && flow->tcp[endpoint].srtt_us == 0)
		text_add_format(text, "  round trip     -, ");
	else if (flow->kind == FLOW_TCP)
		text_add_format(text, "  round trip     %u us, ", (unsigned)flow->tcp[endpoint].srtt_us);
	if (flow->kind == FLOW_TCP)
		text_add_format(text, "window %u bytes, unacknowledged %u bytes\n", (unsigned)flow->tcp[endpoint].wnd,
				(unsigned)(flow->tcp[endpoint].nxt - flow->tcp[endpoint].una));
	text_add_format(text, "  process        ");
	reply_add_owner_line(reply, table, flow, endpoint, text);
}

static void
reply_add_flow_details(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		       struct text_buffer *text)
{
	text_add_format(text, "%s, age %.1f s\n", flow_protocol_name(flow), flow_age_seconds(table, flow));
	reply_add_endpoint_details(reply, table, flow, flow_reported_endpoint(flow), text);
	reply_add_endpoint_details(reply, table, flow, 1 - flow_reported_endpoint(flow), text);
}

/* ------------------------------------------------------------------------------------------------------------ parts */

/* Whether lines are written in this pass: all owners have been looked up that the reply needs. */
static bool
reply_is_written(const struct control_reply *reply)
{
	return reply->request.owners == OWNERS_NONE || reply->owner_pass == REPLY_PASS_WRITE;
}

static void
reply_begin_flows(struct control_reply *reply, struct text_buffer *text)
{
	reply->begun = true;
	if (reply->request.command == REQUEST_CONNECTION)
		return; /* not known yet whether the connection exists */
	text_add_format(text, "ok\n");
	if (!reply->request.json && reply->request.connection_fields.count == 0)
		text_add_format(text, "%10s %-4s %-28s %-28s %-25s %9s %12s %12s %7s %s\n", "CID", "PROT", "LOCAL",
				"REMOTE", "STATE", "AGE", "SENT", "RECEIVED", "RETRANS", "PROCESS");
}

static void
reply_add_flow(struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
	       struct text_buffer *text)
{
	bool one = reply->request.command == REQUEST_CONNECTION;

	if (one && !reply_find_owners(reply, table, flow)) {
		reply->later = true;
		return;
	}
	if (one)
		text_add_format(text, "ok\n");
	if (reply->request.connection_fields.count > 0)
		connection_fields_add(reply, table, flow, text);
	else if (reply->request.json)
		reply_add_flow_json(reply, table, flow, text);
	else if (one)
		reply_add_flow_details(reply, table, flow, text);
	else
		reply_add_flow_row(reply, table, flow, text);
	reply->done = one;
}

/* Moves on to the next worker, then to the next pass; the last one ends the reply. */
static void
reply_next_worker(struct control_reply *reply, struct text_buffer *text)
{
	reply->position = 0;
	if (++reply->worker < reply->query->workers->count)
		return;
	if (!reply_is_written(reply)) {
		reply_next_owner_pass(reply);
		return;
	}
	reply->done = true;
	if (reply->owners_hidden)
		text_add_format(text, "processes of other users are hidden: netobsd --all-owners permits them\n");
	if (reply->request.command == REQUEST_CONNECTION)
		text_add_format(text, "error there is no connection %llu\n", (unsigned long long)reply->request.cid);
}

/* One step of the present pass; returns what it costs. */
static unsigned
reply_visit_flow(struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		 struct text_buffer *text)
{
	bool written = reply_is_written(reply);

	if (!connection_filter_holds(reply, table, flow))
		return 1;
	if (written) {
		if (connection_filter_selects(reply, table, flow))
			reply_add_flow(reply, table, flow, text);
	} else if (connection_filter_may_select(reply, table, flow)) {
		if (reply->owner_pass == REPLY_PASS_PREPARE)
			reply_prepare_owners(reply, table, flow);
		else
			reply_wait_for_owners(reply, flow);
	}
	return written && reply->expression == NULL ? 1 : EXAMINED_COST;
}

/* Each part covers one worker and is made while its lock is held. */
void
control_reply_write_flows(struct control_reply *reply, struct text_buffer *text)
{
	const struct worker *worker = &reply->query->workers->worker[reply->worker];
	const struct flow_table *table = observer_flows(worker->observer);
	const struct flow *flow;
	const unsigned pass = reply->owner_pass;
	uint32_t position = reply->position;
	unsigned cost = 0;
	bool more = true;

	if (!reply->begun && reply_is_written(reply))
		reply_begin_flows(reply, text);
	reply->later = false;
	fair_lock_acquire(worker->lock);
	while (cost < FLOWS_PER_PART && more && !reply->done && !reply->later && reply->owner_pass == pass &&
	       text_space_left(text) >= LINE_MAX_BYTES) {
		position = reply->position;
		more = flow_table_next(table, &reply->position, &flow);
		cost += more && flow != NULL ? reply_visit_flow(reply, table, flow, text) : 1;
	}
	owner_lookup_wake(worker->owner_lookup);
	fair_lock_release(worker->lock);
	if (reply->later)
		reply->position = position; /* the same flow again */
	else if (!more)
		reply_next_worker(reply, text);
}
