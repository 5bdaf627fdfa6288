/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any TCP segments in any order, between two hosts with four pairs of ports, in a table for three connections, so that
 * they are evicted, reused and picked up in mid-stream.  A segment is 8 bytes: sender and ports, flags, position of its
 * sequence and acknowledgement numbers relative to what the tracker expects, length, options, window, time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "flow/tcp/tcp_loss.h"
#include "tests/flow/tcp/tcp_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEGMENT_SIZE 8

#define must(what)                                                                                \
	do {                                                                                      \
		if (!(what)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

static struct talk talk;

/* A number near the one that is expected, or anything. */
static uint32_t
near(uint32_t expected, uint8_t how, uint8_t seed)
{
	static const int32_t offsets[] = {0,	 0,	0,	1,     -1, 100, -100, 1448,
					  -1448, 30000, -30000, 70000, 2,  -2,	50,   1000};

	return how == 15 ? seed * 0x01010101u : expected + (uint32_t)offsets[how & 15];
}

/* What an endpoint of the present connection between these ports would send next. */
static void
expected(const struct packet *packet, unsigned from, uint32_t *seq, uint32_t *ack)
{
	struct flow_key key;
	struct flow *flow;
	unsigned sender;

	flow_key_of(packet, &key, &sender);
	flow = flow_find(talk.table, &key, flow_hash(talk.table, &key));
	*seq = from == A ? 1000 : 5000;
	*ack = from == A ? 5001 : 1001;
	if (flow == NULL)
		return;
	if ((flow->tcp[sender].flags & TCP_END_SENT) != 0)
		*seq = flow->tcp[sender].nxt;
	*ack = flow->tcp[sender].rcv_nxt;
}

static struct packet
segment_of(const uint8_t *bytes)
{
	static const uint32_t lengths[] = {0, 0, 1, 100, 1448, 65535, 500000, 10};
	struct segment s = bare(bytes[0] & 1, bytes[1], 0, 0);
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
	packet = talk_packet(&s);
	packet.tcp.sport = (uint16_t)(packet.tcp.sport + (bytes[0] >> 1 & 3));
	packet.tcp.dport = (uint16_t)(packet.tcp.dport + (bytes[0] >> 1 & 3));
	expected(&packet, s.from, &seq, &ack);
	packet.tcp.seq = near(seq, bytes[2] & 15, bytes[5]);
	packet.tcp.ack = near(ack, bytes[2] >> 4, bytes[6]);
	for (i = 0; i < s.sacks; i++) {
		packet.tcp.sack[i][0] = near(packet.tcp.ack, bytes[5] >> (2 * i) & 15, bytes[6]);
		packet.tcp.sack[i][1] = packet.tcp.sack[i][0] + bytes[6] % 3 * 1448;
	}
	return packet;
}

static void
check_flow(void *context, const struct flow *flow)
{
	const struct flow_cold *cold = flow_cold(talk.table, flow);
	unsigned *details = context, end;

	if (cold->detail != 0) {
		must(detail_of(flow_table_tcp(talk.table), cold)->owner == flow);
		++*details;
	}
	for (end = 0; end < 2; end++) {
		const struct tcp_end *e = &flow->tcp[end];

		must(e->state < TCP_STATE_COUNT && e->state != TCP_STATE_LISTEN);
		must((e->flags & TCP_END_SENT) == 0 || !seq_before(e->nxt, e->una));
		must(e->retransmits <= e->segments);
		must(e->wscale <= 14);
		must((e->trouble & TCP_TROUBLE_LOSS) == 0 || cold->detail != 0);
		if ((e->trouble & TCP_TROUBLE_WAITS) != 0)
			must(e->state != TCP_STATE_CLOSED && e->state != TCP_STATE_NONE && flow->deadline <= e->until);
		if (e->state == TCP_STATE_TIME_WAIT)
			must(flow->deadline <= e->until);
	}
}

static void
check_table(void)
{
	const struct flow_counters *counters = flow_table_counters(talk.table);
	struct tcp_store *store = flow_table_tcp(talk.table);
	unsigned details = 0;
	uint32_t spare, count = 0;

	must(counters->flows <= 3);
	flow_table_visit(talk.table, check_flow, &details);
	for (spare = store->detail_spare; spare != 0; spare = store->details[spare - 1].next_spare)
		count++;
	must(details + count == store->detail_top);
	must(talk.illegal == 0);
}

static void
take_segment(const uint8_t *bytes)
{
	static const uint64_t steps[] = {0,	      1000,	    100000,		 MILLISECONDS,
					 20 * MILLISECONDS, 250 * MILLISECONDS, 3 * NANOSECONDS, 40 * NANOSECONDS};
	struct packet packet;
	struct flow_events events;
	struct tcp_estimates estimates;
	struct flow_key key;
	struct flow *flow;
	unsigned sender, end, i;

	talk.now += steps[bytes[7] & 7];
	if (bytes[7] == 0xff)
		talk.now -= NANOSECONDS; /* captures do that */
	flow_table_run_timers(talk.table, talk.now);
	packet = segment_of(bytes);
	flow_key_of(&packet, &key, &sender);
	flow = flow_for_tcp(talk.table, &packet, &key, flow_hash(talk.table, &key), sender, talk.now);
	if (flow == NULL)
		return;
	for (end = 0; end < 2; end++) {
		events.count = 0;
		if (end == 0)
			tcp_sent(talk.table, flow, sender, &packet, talk.now, &events);
		else
			tcp_received(talk.table, flow, 1 - sender, &packet, talk.now, &events);
		must(events.count < FLOW_EVENTS_MAX - 1);
		for (i = 0; i < events.count; i++)
			talk_event(&talk, &events.event[i]);
	}
	tcp_estimate(talk.table, flow, sender, &estimates);
	must(flow_find(talk.table, &key, flow->hash) == flow);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow_limits limits = flow_limits_default();
	size_t at;

	memset(&talk, 0, sizeof talk);
	limits.flows = 3;
	talk.table = flow_table_new(&limits, 7, talk_report, &talk);
	talk.now = TALK_BEGIN;
	if (talk.table == NULL)
		abort();
	for (at = 0; at + SEGMENT_SIZE <= size; at += SEGMENT_SIZE) {
		talk.length = 0;
		take_segment(data + at);
		check_table();
	}
	tcp_flush(talk.table);
	check_table();
	talk.now += 1000 * 86400 * NANOSECONDS;
	flow_table_run_timers(talk.table, talk.now);
	check_table();
	must(flow_table_counters(talk.table)->flows == 0); /* no connection may stay for ever */
	flow_table_free(talk.table);
	return 0;
}
