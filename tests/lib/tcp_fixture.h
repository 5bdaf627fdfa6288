/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of readers: a TCP connection of a client (10.0.0.1:40000, end 0) to a server (10.0.255.2, end 1), whose
 * segments pass through a flow table to an app flow.
 */
#ifndef NETOBS_TESTS_LIB_TCP_FIXTURE_H
#define NETOBS_TESTS_LIB_TCP_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "flow/stream/app_flow.h"
#include "flow/tcp/tcp.h"

enum { CLIENT, SERVER };

struct tcp_fixture {
	struct flow_table *flows;
	struct stream_pool *pool;
	struct app_flow_table *app_flows;
	struct app_context ctx; /* its functions and context are the test's; flow and now are of the last segment */
	uint16_t port[2];	/* another port of the client is another connection */
	uint8_t network;	/* third byte of the client's address */
	uint32_t next[2];	/* sequence numbers */
};

/* Ignores the events of timers and of reused tuples. */
static inline void
tcp_fixture_on_events(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	(void)events;
}

/* At most `flows` connections, of servers at `port`.  `ctx` has what the reader reports to. */
static inline void
tcp_fixture_setup(struct tcp_fixture *f, const struct app_reader *reader, const struct app_context *ctx, uint16_t port,
		  uint32_t flows)
{
	struct flow_limits limits = flow_limits_default();

	limits.flows = flows;
	*f = (struct tcp_fixture){.ctx = *ctx, .port = {40000, port}};
	f->ctx.now = 1700000000 * NANOSECONDS;
	f->ctx.server_endpoint = SERVER;
	f->ctx.traced = true;
	f->flows = flow_table_new(&limits, 1, tcp_fixture_on_events, NULL);
	f->pool = stream_pool_new();
	f->app_flows = f->pool != NULL ? app_flow_table_new(reader, &(struct app_settings){.seed = 1}, f->pool) : NULL;
	if (f->flows == NULL || f->app_flows == NULL)
		abort();
}

static inline void
tcp_fixture_teardown(struct tcp_fixture *f)
{
	app_flow_table_free(f->app_flows);
	stream_pool_free(f->pool);
	flow_table_free(f->flows);
}

/* A segment as it is in the capture: `have` of `wire` bytes, at `seq`.  Returns what app_flow_feed() does. */
static inline bool
tcp_fixture_feed_segment(struct tcp_fixture *f, unsigned from, uint8_t flags, uint32_t seq, const void *bytes,
			 uint32_t have, uint32_t wire)
{
	const uint8_t addr[2][16] = {{10, 0, f->network, 1}, {10, 0, 255, 2}};
	struct packet p = {.network = NETWORK_IPV4, .transport = TRANSPORT_TCP, .payload_wire = wire};
	struct flow_events events = {.count = 0};
	struct flow_key key;
	struct flow *flow;
	unsigned sender;
	bool ignored, needed;

	p.ip.version = 4;
	memcpy(p.ip.src, addr[from], 16);
	memcpy(p.ip.dst, addr[1 - from], 16);
	p.tcp = (struct tcp_layer){.seq = seq,
				   .ack = f->next[1 - from],
				   .sport = f->port[from],
				   .dport = f->port[1 - from],
				   .window = 65535,
				   .header_len = 20,
				   .flags = flags};
	p.payload = cursor_init(bytes, have, wire);
	f->ctx.now += 1000;
	flow_key_from_packet(&p, &key, &sender);
	flow = flow_table_lookup_tcp(f->flows, &p, &key, flow_key_hash(f->flows, &key), sender, f->ctx.now);
	if (flow == NULL)
		return false;
	ignored = tcp_segment_check(f->flows, flow, 1 - sender, &p) != ANOMALY_NONE;
	tcp_segment_sent(f->flows, flow, sender, &p, f->ctx.now, &events);
	f->ctx.flow = flow;
	needed = ignored || app_flow_feed(f->app_flows, f->flows, &p, sender, &f->ctx);
	events.count = 0;
	tcp_segment_received(f->flows, flow, 1 - sender, &p, f->ctx.now, &events);
	return needed;
}

/* The three-way handshake, with initial sequence numbers of its own for every connection. */
static inline bool
tcp_fixture_handshake(struct tcp_fixture *f)
{
	uint32_t isn = (uint32_t)f->ctx.now;

	f->next[CLIENT] = isn;
	f->next[SERVER] = 0;
	tcp_fixture_feed_segment(f, CLIENT, TCP_SYN, isn, NULL, 0, 0);
	f->next[CLIENT]++;
	f->next[SERVER] = isn + 5000;
	tcp_fixture_feed_segment(f, SERVER, TCP_SYN | TCP_ACK, isn + 5000, NULL, 0, 0);
	f->next[SERVER]++;
	return tcp_fixture_feed_segment(f, CLIENT, TCP_ACK, isn + 1, NULL, 0, 0);
}

/* Bytes in one segment. */
static inline bool
tcp_fixture_feed(struct tcp_fixture *f, unsigned from, const void *bytes, uint32_t length)
{
	uint32_t seq = f->next[from];

	f->next[from] += length;
	return tcp_fixture_feed_segment(f, from, TCP_ACK | TCP_PSH, seq, bytes, length, length);
}

/* Bytes that the snapshot length has cut off. */
static inline void
tcp_fixture_feed_cut(struct tcp_fixture *f, unsigned from, uint32_t length)
{
	tcp_fixture_feed_segment(f, from, TCP_ACK, f->next[from], NULL, 0, length);
	f->next[from] += length;
}

/* A FIN or RST; the other end acknowledges a FIN. */
static inline void
tcp_fixture_end(struct tcp_fixture *f, unsigned from, uint8_t flags)
{
	tcp_fixture_feed_segment(f, from, flags | TCP_ACK, f->next[from], NULL, 0, 0);
	if ((flags & TCP_FIN) != 0)
		f->next[from]++;
	if ((flags & TCP_RST) == 0)
		tcp_fixture_feed_segment(f, 1 - from, TCP_ACK, f->next[1 - from], NULL, 0, 0);
}

/* Both ends send data and acknowledge some of the other's, in mid-stream. */
static inline void
tcp_fixture_pick_up(struct tcp_fixture *f)
{
	static const uint8_t data[2][100];

	for (unsigned i = 0; i < 3; i++) {
		unsigned from = i == 1 ? SERVER : CLIENT;
		uint32_t length = i == 2 ? 0 : 100;

		tcp_fixture_feed_segment(f, from, TCP_ACK, f->next[from], data[from], length, length);
		f->next[from] += length;
	}
}

#endif
