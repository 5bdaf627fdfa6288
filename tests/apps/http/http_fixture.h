/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of HTTP: a connection of a client (10.0.0.1:40000, end 0) to a server (10.0.255.2:80, end 1), and the
 * reader's reports as lines of text.
 */
#ifndef NETOBS_TESTS_APPS_HTTP_HTTP_FIXTURE_H
#define NETOBS_TESTS_APPS_HTTP_HTTP_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/http/http_args.h"
#include "apps/http/http_reader.h"
#include "flow/tcp/tcp.h"

enum { CLIENT, SERVER };

struct http_fixture {
	struct flow_table *table;
	struct stream_pool *pool;
	struct app_flow_table *all;
	uint64_t now;
	uint16_t port; /* of the client: another one is another connection */
	bool traced;
	uint32_t next[2]; /* sequence numbers */
	unsigned anomalies[ANOMALY_COUNT];
	unsigned starts, dones;
	struct http_message last; /* the last request reported; its slices must not be used */
	struct httpinfo info;	  /* its argument */
	char name[256];		  /* of the connection */
	char trace[8192];	  /* "> GET /" and "< 200 GET /", with bytes and times if `verbose` */
	size_t length;
	bool verbose;
};

static inline void
http_fixture_on_message(void *context, unsigned sender, const void *reported)
{
	struct http_fixture *s = context;
	const struct http_message *message = reported;
	const struct flow flow = {.key = {.port = {1000, 80}}};

	s->starts += !message->done;
	s->dones += message->done;
	s->last = *message;
	args_httpinfo(&s->info, message, &flow, 1);
	if (sender != (message->done ? SERVER : CLIENT))
		abort();
	if (s->length > sizeof s->trace - 1024)
		return;
	s->length += (size_t)snprintf(s->trace + s->length, 600, "%s", message->done ? "< " : "> ");
	if (message->done)
		s->length += (size_t)snprintf(s->trace + s->length, 600, "%u ", (unsigned)s->info.rq_status);
	s->length += (size_t)snprintf(s->trace + s->length, 600, "%s %s", s->info.rq_method, s->info.rq_uri);
	if (s->verbose)
		s->length += (size_t)snprintf(s->trace + s->length, 100, " %u/%u %d/%d",
					      (unsigned)s->info.rq_request_bytes, (unsigned)s->info.rq_response_bytes,
					      (int)s->info.rq_first_byte_us, (int)s->info.rq_total_us);
	s->length += (size_t)snprintf(s->trace + s->length, 20, "%s\n", s->info.rq_upgraded != 0 ? " upgraded" : "");
}

static inline void
http_fixture_on_anomaly(void *context, enum anomaly a)
{
	((struct http_fixture *)context)->anomalies[a]++;
}

static inline void
http_fixture_on_name(void *context, const char *name)
{
	struct http_fixture *s = context;

	if (s->name[0] == '\0')
		snprintf(s->name, sizeof s->name, "%s", name);
}

/* Ignores the events of timers and of reused tuples. */
static inline void
http_fixture_on_events(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	(void)events;
}

static inline void
http_fixture_setup(struct http_fixture *s)
{
	struct flow_limits limits = flow_limits_default();

	limits.flows = 100;
	*s = (struct http_fixture){.now = 1700000000 * NANOSECONDS, .port = 40000, .traced = true};
	s->table = flow_table_new(&limits, 1, http_fixture_on_events, NULL);
	s->pool = stream_pool_new();
	s->all = s->pool != NULL ? app_flow_table_new(&http_reader, &(struct app_settings){.seed = 1}, s->pool) : NULL;
	if (s->table == NULL || s->all == NULL)
		abort();
}

static inline void
http_fixture_teardown(struct http_fixture *s)
{
	app_flow_table_free(s->all);
	stream_pool_free(s->pool);
	flow_table_free(s->table);
}

/* A segment as it is in the capture: `have` of `wire` bytes, at `seq`. */
static inline void
http_fixture_feed_segment(struct http_fixture *s, unsigned from, uint8_t flags, uint32_t seq, const void *bytes,
			  uint32_t have, uint32_t wire)
{
	static const uint8_t addr[2][16] = {{10, 0, 0, 1}, {10, 0, 255, 2}};
	struct packet p = {.network = NETWORK_IPV4, .transport = TRANSPORT_TCP, .payload_wire = wire};
	struct app_context ctx = {.server_endpoint = SERVER,
				  .traced = s->traced,
				  .on_message = http_fixture_on_message,
				  .on_anomaly = http_fixture_on_anomaly,
				  .on_name = http_fixture_on_name,
				  .context = s};
	struct flow_events events = {.count = 0};
	struct flow_key key;
	struct flow *flow;
	unsigned sender;

	p.ip.version = 4;
	memcpy(p.ip.src, addr[from], 16);
	memcpy(p.ip.dst, addr[1 - from], 16);
	p.tcp = (struct tcp_layer){.seq = seq,
				   .ack = s->next[1 - from],
				   .sport = from == CLIENT ? s->port : 80,
				   .dport = from == CLIENT ? 80 : s->port,
				   .window = 65535,
				   .header_len = 20,
				   .flags = flags};
	p.payload = cursor_init(bytes, have, wire);
	s->now += 1000;
	ctx.now = s->now;
	flow_key_from_packet(&p, &key, &sender);
	flow = flow_table_lookup_tcp(s->table, &p, &key, flow_key_hash(s->table, &key), sender, s->now);
	if (flow == NULL)
		return;
	ctx.flow = flow;
	tcp_segment_sent(s->table, flow, sender, &p, s->now, &events);
	app_flow_feed(s->all, s->table, &p, sender, &ctx);
	events.count = 0;
	tcp_segment_received(s->table, flow, 1 - sender, &p, s->now, &events);
}

/* The three-way handshake. */
static inline void
http_fixture_handshake(struct http_fixture *s)
{
	uint32_t isn = (uint32_t)s->now; /* another one for every connection */

	s->next[CLIENT] = isn;
	s->next[SERVER] = 0;
	http_fixture_feed_segment(s, CLIENT, TCP_SYN, isn, NULL, 0, 0);
	s->next[CLIENT]++;
	s->next[SERVER] = isn + 5000;
	http_fixture_feed_segment(s, SERVER, TCP_SYN | TCP_ACK, isn + 5000, NULL, 0, 0);
	s->next[SERVER]++;
	http_fixture_feed_segment(s, CLIENT, TCP_ACK, isn + 1, NULL, 0, 0);
}

/* Bytes in one segment. */
static inline void
http_fixture_feed(struct http_fixture *s, unsigned from, const void *bytes, uint32_t length)
{
	uint32_t seq = s->next[from];

	s->next[from] += length;
	http_fixture_feed_segment(s, from, TCP_ACK | TCP_PSH, seq, bytes, length, length);
}

/* Bytes that the snapshot length has cut off. */
static inline void
http_fixture_cut(struct http_fixture *s, unsigned from, uint32_t length)
{
	http_fixture_feed_segment(s, from, TCP_ACK, s->next[from], NULL, 0, length);
	s->next[from] += length;
}

static inline void
http_fixture_end(struct http_fixture *s, unsigned from, uint8_t flags)
{
	http_fixture_feed_segment(s, from, flags | TCP_ACK, s->next[from], NULL, 0, 0);
	if ((flags & TCP_FIN) != 0)
		s->next[from]++;
	if ((flags & TCP_RST) == 0)
		http_fixture_feed_segment(s, 1 - from, TCP_ACK, s->next[1 - from], NULL, 0, 0);
}

/* Both ends send data and acknowledge some of the other's, in mid-stream. */
static inline void
http_fixture_pick_up(struct http_fixture *s)
{
	static const uint8_t data[2][100];

	for (unsigned i = 0; i < 3; i++) {
		unsigned from = i == 1 ? SERVER : CLIENT;
		uint32_t length = i == 2 ? 0 : 100;

		http_fixture_feed_segment(s, from, TCP_ACK, s->next[from], data[from], length, length);
		s->next[from] += length;
	}
}

#endif
