/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that only move a connection on, at a glance: most of them. */
#include "flow/search.h"
#include "flow/tcp_plain.h"

bool
flow_onward(struct flow_table *table, struct flow *flow, const struct flow_key *key, unsigned sender,
	    const struct glance *glance, uint64_t now)
{
	struct tcp_end *from = &flow->tcp[sender], *to = &flow->tcp[1 - sender];
	struct plain_segment s = {
	    .seq = glance->seq, .ack = glance->ack, .len = glance->segment, .window = glance->window};
	uint32_t us;

	if (!key_equal(&flow->key, key) || is_due(flow->deadline, now))
		return false;
	if (__builtin_expect(flow->kind != FLOW_TCP, 0)) {
		udp_count(flow, sender, glance->segment, now);
		return true;
	}
	if (!plain_end(from) || !plain_end(to) || !plain_to_send(from, &s) || !plain_to_receive(to, &s))
		return false;
	us = (uint32_t)(now / 1000);
	flow->last = now;
	plain_sent(table->tcp, from, &s, us);
	plain_received(to, &s, us);
	return true;
}
