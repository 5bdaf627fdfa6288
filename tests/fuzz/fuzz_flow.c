/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any TCP segments in any order, between two hosts with four pairs of ports, in a table for three connections, so that
 * they are evicted, reused and picked up in mid-stream.  A segment is 8 bytes: sender and ports, flags, position of its
 * sequence and acknowledgement numbers relative to what the tracker expects, length, options, window, time.
 */
#include <stdlib.h>

#include "flow/tcp/tcp_internal.h"
#include "tests/flow/tcp/tcp_fixture.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEGMENT_SIZE 8

static struct tcp_fixture fixture;

/* A number near the one that is expected, or anything. */
static uint32_t
fuzz_flow_is_near(uint32_t expected, uint8_t how, uint8_t seed)
{
	static const int32_t offsets[] = {0,	 0,	0,	1,     -1, 100, -100, 1448,
					  -1448, 30000, -30000, 70000, 2,  -2,	50,   1000};

	return how == 15 ? seed * 0x01010101u : expected + (uint32_t)offsets[how & 15];
}

/* What an endpoint of the present connection between these ports would send next. */
static void
fuzz_flow_expected(const struct packet *packet, unsigned from, uint32_t *seq, uint32_t *ack)
{
	struct flow_key key;
	struct flow *flow;
	unsigned sender;

	flow_key_from_packet(packet, &key, &sender);
	flow = flow_table_lookup(fixture.table, &key, flow_key_hash(fixture.table, &key));
	*seq = from == A ? 1000 : 5000;
	*ack = from == A ? 5001 : 1001;
	if (flow == NULL)
		return;
	if ((flow->tcp[sender].flags & TCP_EP_SEQ_KNOWN) != 0)
		*seq = flow->tcp[sender].nxt;
	*ack = flow->tcp[sender].rcv_nxt;
}

static struct packet
segment_of(const uint8_t *bytes)
{
	static const uint32_t lengths[] = {0, 0, 1, 100, 1448, 65535, 500000, 10};
	struct test_segment s = segment_empty(bytes[0] & 1, bytes[1], 0, 0);
	struct packet packet;
	uint32_t seq, ack;
	unsigned i;

	s.len = lengths[bytes[3] & 7];
	s.window = (bytes[3] & 0x18) == 0x18 ? -1 : bytes[3] << 5;
	s.wscale = (bytes[4] & 1) != 0 ? bytes[5] % 15 + 1 : 0;
	s.sack_ok = (bytes[4] & 2) != 0;
	s.mss = (bytes[4] & 4) != 0 ? bytes[5] * 40u & 0xffff : 0;
	s.tsval = (bytes[4] & 8) != 0 ? bytes[6] + 1u : 0;
	s.tsecr = bytes[6] ^ bytes[5];
	s.sacks = bytes[4] >> 4 & 3;
	packet = tcp_fixture_packet(&s);
	packet.tcp.sport = (uint16_t)(packet.tcp.sport + (bytes[0] >> 1 & 3));
	packet.tcp.dport = (uint16_t)(packet.tcp.dport + (bytes[0] >> 1 & 3));
	fuzz_flow_expected(&packet, s.from, &seq, &ack);
	packet.tcp.seq = fuzz_flow_is_near(seq, bytes[2] & 15, bytes[5]);
	packet.tcp.ack = fuzz_flow_is_near(ack, bytes[2] >> 4, bytes[6]);
	for (i = 0; i < s.sacks; i++) {
		packet.tcp.sack[i][0] = fuzz_flow_is_near(packet.tcp.ack, bytes[5] >> (2 * i) & 15, bytes[6]);
		packet.tcp.sack[i][1] = packet.tcp.sack[i][0] + bytes[6] % 3 * 1448;
	}
	return packet;
}

static void
fuzz_flow_check_flow(void *context, const struct flow *flow)
{
	const struct flow_cold *cold = flow_cold(fixture.table, flow);
	const struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(fixture.table), cold);
	unsigned *details = context, endpoint;

	if (cold->loss_index != 0) {
		must(pair->flow == flow);
		++*details;
	}
	for (endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &flow->tcp[endpoint];

		must(e->state < TCP_STATE_COUNT && e->state != TCP_STATE_LISTEN);
		must((e->flags & TCP_EP_SEQ_KNOWN) == 0 || !tcp_seq_before(e->nxt, e->una));
		must(tcp_retransmits(fixture.table, flow, endpoint) <= e->segments_sent);
		must(e->wscale <= 14);
		must((e->slow_reasons & TCP_SLOW_LOSS) == 0 || cold->loss_index != 0);
		must(pair == NULL || pair->end[endpoint].fin_wait_segments == 0 || e->state == TCP_STATE_FIN_WAIT_1 ||
		     (e->state == TCP_STATE_ESTABLISHED && e->fin_unproven));
		if ((e->slow_reasons & TCP_SLOW_DEFERRED) != 0)
			must(e->state != TCP_STATE_CLOSED && e->state != TCP_STATE_NONE);
		if ((e->slow_reasons & TCP_SLOW_SYN_ACK_DEFERRED) != 0)
			must(e->state == TCP_STATE_SYN_SENT || e->state == TCP_STATE_SYN_RECEIVED ||
			     e->state == TCP_STATE_FIN_WAIT_1);
		/* A SYN,ACK waits without a timer of its own.  So does its ACK while data after that are not
		 * answered; the send log may forget the data later. */
		if (e->state != TCP_STATE_SYN_SENT && (e->slow_reasons & TCP_SLOW_DEFERRED) != 0 &&
		    !(tcp_ack_is_deferred(e) && (e->wait_until <= fixture.now ||
						 tcp_deferred_ack_is_tested(fixture.table, flow, endpoint))))
			must(flow->deadline <= e->wait_until);
		if (e->state == TCP_STATE_TIME_WAIT)
			must(flow->deadline <= e->wait_until);
	}
}

static void
check_table(void)
{
	const struct flow_counters *counters = flow_table_counters(fixture.table);
	struct tcp_pools *pools = flow_table_tcp_pools(fixture.table);
	unsigned details = 0;
	uint32_t spare, count = 0;

	must(counters->flows <= 3);
	flow_table_visit(fixture.table, fuzz_flow_check_flow, &details);
	for (spare = pools->loss_free_head; spare != 0; spare = pools->loss_pairs[spare - 1].next_free)
		count++;
	must(details + count == pools->loss_high_water);
	must(fixture.illegal == 0);
}

/* The check announces what happens. */
static void
fuzz_flow_receive(struct flow *flow, unsigned receiver, const struct packet *packet, struct flow_events *events)
{
	enum anomaly announced = tcp_segment_check(fixture.table, flow, receiver, packet);

	must(tcp_segment_received(fixture.table, flow, receiver, packet, fixture.now, events) == announced);
}

static void
fuzz_flow_feed_segment(const uint8_t *bytes)
{
	static const uint64_t steps[] = {0,	      1000,	    100000,		 MILLISECONDS,
					 20 * MILLISECONDS, 250 * MILLISECONDS, 3 * NANOSECONDS, 40 * NANOSECONDS};
	struct packet packet;
	struct flow_events events;
	struct tcp_estimates estimates;
	struct flow_key key;
	struct flow *flow;
	unsigned sender, endpoint, i;

	fixture.now += steps[bytes[7] & 7];
	if (bytes[7] == 0xff)
		fixture.now -= NANOSECONDS; /* as some captures do */
	flow_table_run_timers(fixture.table, fixture.now);
	packet = segment_of(bytes);
	flow_key_from_packet(&packet, &key, &sender);
	flow = flow_table_lookup_tcp(fixture.table, &packet, &key, flow_key_hash(fixture.table, &key), sender,
				     fixture.now);
	if (flow == NULL)
		return;
	for (endpoint = 0; endpoint < 2; endpoint++) {
		events.count = 0;
		if (endpoint == 0)
			tcp_segment_sent(fixture.table, flow, sender, &packet, fixture.now, &events);
		else
			fuzz_flow_receive(flow, 1 - sender, &packet, &events);
		must(events.count < FLOW_EVENTS_MAX - 1);
		for (i = 0; i < events.count; i++)
			tcp_fixture_trace_event(&fixture, &events.event[i]);
	}
	tcp_estimate_congestion(fixture.table, flow, sender, &estimates);
	must(flow_table_lookup(fixture.table, &key, flow->hash) == flow);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow_limits limits = flow_limits_default();
	size_t at;

	memset(&fixture, 0, sizeof fixture);
	limits.flows = 3;
	fixture.table = flow_table_new(&limits, 7, tcp_fixture_on_events, &fixture);
	fixture.now = FIXTURE_BEGIN;
	if (fixture.table == NULL)
		abort();
	for (at = 0; at + SEGMENT_SIZE <= size; at += SEGMENT_SIZE) {
		fixture.length = 0;
		fuzz_flow_feed_segment(data + at);
		check_table();
	}
	tcp_flush_deferred(fixture.table, fixture.now);
	check_table();
	fixture.now += 1000 * 86400 * NANOSECONDS;
	flow_table_run_timers(fixture.table, fixture.now);
	check_table();
	must(flow_table_counters(fixture.table)->flows == 0); /* no connection may stay for ever */
	flow_table_free(fixture.table);
	return 0;
}
