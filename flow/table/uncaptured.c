/* SPDX-License-Identifier: BSD-2-Clause */
/* What the capture lacks of a connection, counted when the connection is removed and at the end of the input: so
 * packets cost nothing. */
#include "dissect/dissect.h"
#include "flow/table/table_internal.h"

#define PORT_PRIVILEGED_END 1024u

/* Whether TCP endpoint `endpoint` has sent what only an answer of its peer explains: ACKs of a handshake or of data, or
 * in mid-stream new data in several segments. */
static bool
uncaptured_tcp_is_answered(const struct flow *flow, unsigned endpoint)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint];

	if (flow->tcp[1 - endpoint].bytes != 0)
		return true;
	if ((e->flags & TCP_EP_ISS_KNOWN) != 0)
		return e->last_ack_sent != 0;
	return e->segments_sent > 1 && e->bytes != 0 && !e->retransmitted;
}

static bool
uncaptured_is_one_way(const struct flow *flow)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct sctp_endpoint *sctp = &flow->sctp[endpoint];

		if (flow->kind == FLOW_TCP && flow->tcp[1 - endpoint].segments_sent == 0 &&
		    uncaptured_tcp_is_answered(flow, endpoint))
			return true;
		if (flow->kind == FLOW_SCTP && flow->sctp[1 - endpoint].packets == 0 &&
		    (sctp->flags & SCTP_EP_CUM_ACK_KNOWN) != 0)
			return true;
	}
	return false;
}

/* By the port that the first sender sends to.  A service below port 1024 that answers a client on such a port is no
 * tunnel. */
static bool
uncaptured_is_tunnel(const struct flow *flow)
{
	return flow->kind == FLOW_UDP && dissect_port_is_of_closed_tunnel(flow->key.port[1 - flow->first_sender]) &&
	       flow->key.port[flow->first_sender] >= PORT_PRIVILEGED_END;
}

void
flow_count_uncaptured(struct flow_table *table, const struct flow *flow)
{
	table->counters.one_way += flow->local != 0 && uncaptured_is_one_way(flow);
	table->counters.tunnel_streams += uncaptured_is_tunnel(flow);
}

static void
uncaptured_visit(void *table, const struct flow *flow)
{
	flow_count_uncaptured(table, flow);
}

void
flow_table_count_open(struct flow_table *table)
{
	flow_table_visit(table, uncaptured_visit, table);
}
