/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections, for people and as JSON. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/query/control_reply.h"
#include "daemon/stats/flow_names.h"

/* Connections examined for one piece; capture is blocked meanwhile. */
#define LOOKS 4096u

/* Upper bound of a line. */
#define LINE_MAX_BYTES 1024u

/* Room for an address: "[IPv6]:port" fits. */
#define END_SIZE (INET6_ADDRSTRLEN + 8)

static uint64_t
bytes_of(const struct flow *flow, unsigned end)
{
	if (flow->kind == FLOW_TCP)
		return flow->tcp[end].bytes;
	return flow->kind == FLOW_SCTP ? flow->sctp[end].bytes : flow->udp[end].bytes;
}

static unsigned long long
packets_of(const struct flow *flow, unsigned end)
{
	if (flow->kind == FLOW_TCP)
		return flow->tcp[end].segments;
	return flow->kind == FLOW_SCTP ? flow->sctp[end].packets : flow->udp[end].datagrams;
}

static unsigned
retransmits_of(const struct flow *flow, unsigned end)
{
	if (flow->kind == FLOW_TCP)
		return flow->tcp[end].retransmits;
	return flow->kind == FLOW_SCTP ? flow->sctp[end].retransmits : 0;
}

static const char *
address(const struct flow *flow, unsigned end, char at[INET6_ADDRSTRLEN])
{
	if (inet_ntop(flow->key.version == 6 ? AF_INET6 : AF_INET, flow->key.addr[end], at, INET6_ADDRSTRLEN) == NULL)
		at[0] = '\0';
	return at;
}

static const char *
place(const struct flow *flow, unsigned end, char at[END_SIZE])
{
	char bytes[INET6_ADDRSTRLEN];

	snprintf(at, END_SIZE, flow->key.version == 6 ? "[%s]:%u" : "%s:%u", address(flow, end, bytes),
		 (unsigned)flow->key.port[end]);
	return at;
}

static bool
is_wanted(const struct answer *answer, const struct flow_table *table, const struct flow *flow)
{
	const struct request_filter *filter = &answer->request.filter;
	const struct flow_key *key = &flow->key;

	if (answer->request.verb == REQUEST_CONNECTION)
		return flow_cid(table, flow, 0) == answer->request.cid ||
		       flow_cid(table, flow, 1) == answer->request.cid;
	if (filter->has_protocol && key->protocol != filter->protocol)
		return false;
	if (filter->has_port && key->port[0] != filter->port && key->port[1] != filter->port)
		return false;
	if (filter->has_host && (key->version != filter->version ||
				 (memcmp(key->addr[0], filter->host, sizeof filter->host) != 0 &&
				  memcmp(key->addr[1], filter->host, sizeof filter->host) != 0)))
		return false;
	return filter->state[0] == '\0' || strcmp(flow_state_word(flow, 0), filter->state) == 0 ||
	       strcmp(flow_state_word(flow, 1), filter->state) == 0;
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static double
age_of(const struct flow_table *table, const struct flow *flow)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)flow_start(table, flow) / 1e9;
}

static void
add_row(const struct flow_table *table, const struct flow *flow, struct text *text)
{
	unsigned local = flow_near_end(flow), remote = 1 - local;
	char here[END_SIZE], there[END_SIZE], states[64];

	snprintf(states, sizeof states, "%s/%s", flow_state_word(flow, local), flow_state_word(flow, remote));
	text_add(text, "%10llu %-4s %-28s %-28s %-25s %9.1f %12llu %12llu %7u\n",
		 (unsigned long long)flow_cid(table, flow, local), flow_protocol_word(flow), place(flow, local, here),
		 place(flow, remote, there), flow->kind == FLOW_UDP ? "-" : states, age_of(table, flow),
		 (unsigned long long)bytes_of(flow, local), (unsigned long long)bytes_of(flow, remote),
		 retransmits_of(flow, local) + retransmits_of(flow, remote));
}

static void
add_end_json(const struct flow_table *table, const struct flow *flow, unsigned end, struct text *text)
{
	char bytes[INET6_ADDRSTRLEN];

	text_add(text,
		 "{\"cid\":%llu,\"address\":\"%s\",\"port\":%u,\"local\":%s,\"state\":\"%s\",\"bytes\":%llu,"
		 "\"packets\":%llu,\"retransmits\":%u,\"srtt_us\":%u}",
		 (unsigned long long)flow_cid(table, flow, end), address(flow, end, bytes),
		 (unsigned)flow->key.port[end], (flow->local >> end & 1) != 0 ? "true" : "false",
		 flow_state_word(flow, end),
		 (unsigned long long)bytes_of(flow, end), packets_of(flow, end), retransmits_of(flow, end),
		 flow->kind == FLOW_TCP ? flow->tcp[end].srtt_us : 0);
}

static void
add_json(const struct flow_table *table, const struct flow *flow, struct text *text)
{
	unsigned local = flow_near_end(flow);

	text_add(text, "{\"proto\":\"%s\",\"start\":%llu,\"last\":%llu,\"near\":", flow_protocol_word(flow),
		 (unsigned long long)flow_start(table, flow), (unsigned long long)flow->last);
	add_end_json(table, flow, local, text);
	text_add(text, ",\"far\":");
	add_end_json(table, flow, 1 - local, text);
	text_add(text, "}\n");
}

static void
add_end_details(const struct flow_table *table, const struct flow *flow, unsigned end, struct text *text)
{
	char at[END_SIZE];

	text_add(text, "%s\n", place(flow, end, at));
	text_add(text, "  connection id  %llu, %s\n", (unsigned long long)flow_cid(table, flow, end),
		 (flow->local >> end & 1) != 0 ? "local" : "remote");
	text_add(text, "  state          %s\n", flow_state_word(flow, end));
	text_add(text, "  sent           %llu bytes in %llu packets, %u retransmitted\n",
		 (unsigned long long)bytes_of(flow, end), packets_of(flow, end), retransmits_of(flow, end));
	if (flow->kind == FLOW_TCP)
		text_add(text, "  round trip     %u us, window %u bytes, unacknowledged %u bytes\n",
			 (unsigned)flow->tcp[end].srtt_us, (unsigned)flow->tcp[end].wnd,
			 (unsigned)(flow->tcp[end].nxt - flow->tcp[end].una));
}

static void
add_details(const struct flow_table *table, const struct flow *flow, struct text *text)
{
	text_add(text, "%s, age %.1f s\n", flow_protocol_word(flow), age_of(table, flow));
	add_end_details(table, flow, flow_near_end(flow), text);
	add_end_details(table, flow, 1 - flow_near_end(flow), text);
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

static void
begin(struct answer *answer, struct text *text)
{
	answer->begun = true;
	if (answer->request.verb == REQUEST_CONNECTION)
		return; /* not known yet whether the connection exists */
	text_add(text, "ok\n");
	if (!answer->request.json)
		text_add(text, "%10s %-4s %-28s %-28s %-25s %9s %12s %12s %7s\n", "CID", "PROT", "LOCAL", "REMOTE",
			 "STATE", "AGE", "SENT", "RECEIVED", "RETRANS");
}

static void
add_flow(struct answer *answer, const struct flow_table *table, const struct flow *flow, struct text *text)
{
	bool one = answer->request.verb == REQUEST_CONNECTION;

	answer->found++;
	if (one)
		text_add(text, "ok\n");
	if (answer->request.json)
		add_json(table, flow, text);
	else
		(one ? add_details : add_row)(table, flow, text);
	answer->done = one;
}

/* Moves on to the next worker. */
static void
go_on(struct answer *answer, struct text *text)
{
	answer->place = 0;
	if (++answer->worker < answer->insight->workers->count)
		return;
	answer->done = true;
	if (answer->request.verb == REQUEST_CONNECTION)
		text_add(text, "error there is no connection %llu\n", (unsigned long long)answer->request.cid);
}

/* Each piece covers one worker and is made while its lock is held. */
void
answer_flows(struct answer *answer, struct text *text)
{
	const struct worker *worker = &answer->insight->workers->each[answer->worker];
	const struct flow_table *table = observer_flows(worker->observer);
	const struct flow *flow;
	bool more = true;

	if (!answer->begun)
		begin(answer, text);
	guard_enter(worker->guard);
	for (unsigned i = 0; i < LOOKS && more && !answer->done && text_room(text) >= LINE_MAX_BYTES; i++) {
		more = flow_table_step(table, &answer->place, &flow);
		if (more && flow != NULL && is_wanted(answer, table, flow))
			add_flow(answer, table, flow, text);
	}
	guard_leave(worker->guard);
	if (!more)
		go_on(answer, text);
}
