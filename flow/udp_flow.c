/* SPDX-License-Identifier: BSD-2-Clause */
/* UDP streams: datagrams between two ends without a pause longer than the idle timeout. */
#include "flow/flow_internal.h"

struct flow *
flow_for_udp(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
	     unsigned sender, uint64_t now, struct flow_events *events)
{
	struct flow *flow = flow_find_live(table, key, hash, now);

	if (flow == NULL) {
		flow = flow_create(table, key, hash, FLOW_UDP, CLASS_DATAGRAM, sender, now,
				   deadline_after(now, flow_table_limits(table)->udp_idle_ns));
		event_add(events, EVENT_UDP_STREAM_START, sender, now);
	}
	udp_count(flow, sender, packet->segment, now);
	return flow;
}

uint64_t
udp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t end = deadline_after(flow->last, flow_table_limits(table)->udp_idle_ns);

	if (end > now)
		return end;
	event_add(events, EVENT_UDP_STREAM_END, flow->first, end);
	return 0;
}

void
udp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	(void)table;
	event_add(events, EVENT_UDP_STREAM_END, flow->first, now);
}
