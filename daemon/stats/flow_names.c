/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/flow_names.h"

#include <string.h>

#include "base/clock.h"
#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"

unsigned
flow_reported_endpoint(const struct flow *flow)
{
	unsigned local = flow->local & 3u;

	if (local == 1 || local == 2)
		return local - 1;
	return flow->first_sender;
}

const char *
flow_protocol_name(const struct flow *flow)
{
	return flow->kind == FLOW_TCP ? "tcp" : flow->kind == FLOW_SCTP ? "sctp" : "udp";
}

const char *
flow_state_name(const struct flow *flow, unsigned endpoint)
{
	const char *name = "-";

	if (flow->kind == FLOW_TCP)
		name = tcp_state_name((enum tcp_state)flow->tcp[endpoint].state);
	else if (flow->kind == FLOW_SCTP)
		name = sctp_state_name((enum sctp_state)flow->sctp[endpoint].state);
	if (strncmp(name, "state-", 6) == 0)
		return name + 6;
	return name[0] == '<' ? "-" : name;
}

double
flow_age_seconds(const struct flow_table *table, const struct flow *flow)
{
	return (double)clock_realtime_ns() / 1e9 - (double)flow_first_seen(table, flow) / 1e9;
}
