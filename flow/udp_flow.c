/* SPDX-License-Identifier: BSD-2-Clause */
/* UDP streams: datagrams between two ends without a pause longer than the idle timeout. */
#include "flow/record/record_internal.h"

struct flow *
flow_table_lookup_udp(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
		      unsigned sender, uint64_t now, struct flow_events *events)
{
	struct flow *flow = flow_table_lookup_live(table, key, hash, now);

	if (flow == NULL) {
		flow = flow_table_create_flow(table, key, hash, FLOW_UDP, EVICT_CLASS_UDP, sender, now,
					      deadline_add(now, flow_table_limits(table)->udp_idle_ns));
		flow_events_add(events, EVENT_UDP_STREAM_START, sender, now);
	}
	udp_count_datagram(flow, sender, packet->payload_wire, now);
	record_prepare(table, flow);
	if (record_unlikely(flow_table_keeps_records(table)))
		record_count_packet(table, flow, packet,
				    &(struct record_packet){.now = now,
							    .sender = sender,
							    .udp = true,
							    .fresh = packet->payload_wire != 0,
							    .answers = true});
	return flow;
}

uint64_t
udp_on_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t end = deadline_add(flow->last_seen, flow_table_limits(table)->udp_idle_ns);

	if (end > now)
		return end;
	flow_events_add(events, EVENT_UDP_STREAM_END, flow->first_sender, end);
	return 0;
}

void
udp_on_evict(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	(void)table;
	flow_events_add(events, EVENT_UDP_STREAM_END, flow->first_sender, now);
}
