/* SPDX-License-Identifier: BSD-2-Clause */
/* App flows with a reader that counts its calls: beginnings, ends, what is retired, names, datagrams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/stream/app_flow.h"
#include "flow/tcp/tcp.h"

enum { CLIENT, SERVER };

struct calls {
	unsigned starts, beginnings, bytes, gaps, ends[2], datagrams;
	uint32_t datagram_captured, datagram_wire;
	bool done;	     /* the reader needs no more bytes */
	bool done_sender[2]; /* likewise, of one direction */
	char name[64];
};

static struct calls calls;
static struct flow_table *flows;
static struct stream_pool *pool;
static struct app_flow_table *table;
static bool traced;
static uint16_t port;
static uint64_t now;
static uint32_t next[2];

static void
on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	(void)ctx;
	(void)sender;
	calls.starts++;
	calls.beginnings += beginning;
}

static void
on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	calls.bytes += bytes.len;
	app_flow_name(ctx, "first");
	app_flow_report(ctx, sender, "message");
}

static void
on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	(void)ctx;
	(void)sender;
	calls.gaps += length;
}

static void
on_end(struct app_context *ctx, unsigned sender)
{
	(void)ctx;
	calls.ends[sender]++;
}

static void
on_datagram(struct app_context *ctx, unsigned sender, struct slice bytes, uint32_t wire)
{
	(void)sender;
	assert_null(ctx->state);
	calls.datagrams++;
	calls.datagram_captured = bytes.len;
	calls.datagram_wire = wire;
}

static bool
is_reading(const void *state, unsigned sender)
{
	(void)state;
	return !calls.done && !calls.done_sender[sender];
}

static struct app_reader reader = {
    .state_size = 8,
    .connections_max = 64,
    .on_start = on_start,
    .on_bytes = on_bytes,
    .on_gap = on_gap,
    .on_end = on_end,
    .on_datagram = on_datagram,
    .is_reading = is_reading,
};

static void
on_message(void *context, unsigned sender, const void *message)
{
	(void)context;
	(void)sender;
	assert_string_equal(message, "message");
}

static void
on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	(void)a;
}

static void
on_name(void *context, const char *name)
{
	(void)context;
	snprintf(calls.name, sizeof calls.name, "%s", name);
}

static void
on_events(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	(void)events;
}

static int
begin(void **state)
{
	struct flow_limits limits = flow_limits_default();

	(void)state;
	limits.flows = 1000;
	calls = (struct calls){.done = false};
	traced = true;
	port = 40000;
	now = 1700000000 * UINT64_C(1000000000);
	reader.beginning_only = false;
	flows = flow_table_new(&limits, 1, on_events, NULL);
	pool = stream_pool_new();
	table = pool != NULL ? app_flow_table_new(&reader, &(struct app_settings){.seed = 1}, pool) : NULL;
	return flows == NULL || table == NULL;
}

static int
end(void **state)
{
	(void)state;
	app_flow_table_free(table);
	stream_pool_free(pool);
	flow_table_free(flows);
	return 0;
}

static struct app_context
make_context(const struct flow *flow)
{
	return (struct app_context){.flow = flow,
				    .now = now,
				    .server_endpoint = SERVER,
				    .traced = traced,
				    .on_message = on_message,
				    .on_anomaly = on_anomaly,
				    .on_name = on_name};
}

/* A segment of `length` bytes; returns what app_flow_feed() does. */
static bool
feed(unsigned from, uint8_t flags, uint32_t length)
{
	static const uint8_t bytes[2000], addr[2][16] = {{10, 0, 0, 1}, {10, 0, 255, 2}};
	struct packet p = {.network = NETWORK_IPV4, .transport = TRANSPORT_TCP, .payload_wire = length};
	struct flow_events events = {.count = 0};
	struct app_context ctx;
	struct flow_key key;
	struct flow *flow;
	unsigned sender;
	bool needed;

	p.ip.version = 4;
	memcpy(p.ip.src, addr[from], 16);
	memcpy(p.ip.dst, addr[1 - from], 16);
	p.tcp = (struct tcp_layer){.seq = next[from],
				   .ack = next[1 - from],
				   .sport = from == CLIENT ? port : 80,
				   .dport = from == CLIENT ? 80 : port,
				   .window = 65535,
				   .header_len = 20,
				   .flags = flags};
	p.payload = cursor_init(bytes, length, length);
	next[from] += length + ((flags & (TCP_SYN | TCP_FIN)) != 0);
	now += 1000;
	flow_key_from_packet(&p, &key, &sender);
	flow = flow_table_lookup_tcp(flows, &p, &key, flow_key_hash(flows, &key), sender, now);
	assert_non_null(flow);
	tcp_segment_sent(flows, flow, sender, &p, now, &events);
	ctx = make_context(flow);
	needed = app_flow_feed(table, flows, &p, sender, &ctx);
	events.count = 0;
	tcp_segment_received(flows, flow, 1 - sender, &p, now, &events);
	return needed;
}

static void
open_connection(void)
{
	next[CLIENT] = (uint32_t)now;
	next[SERVER] = (uint32_t)now + 5000;
	feed(CLIENT, TCP_SYN, 0);
	feed(SERVER, TCP_SYN | TCP_ACK, 0);
	assert_true(feed(CLIENT, TCP_ACK, 0));
}

static const struct app_flow_counters *
counters(void)
{
	return app_flow_table_counters(table);
}

static void
test_ends_are_reported_once(void **state)
{
	(void)state;
	open_connection();
	assert_true(feed(CLIENT, TCP_ACK, 10));
	assert_true(feed(SERVER, TCP_ACK, 20));
	assert_int_equal(calls.beginnings, 2);
	assert_int_equal(calls.bytes, 30);
	assert_string_equal(calls.name, "first");
	assert_true(feed(SERVER, TCP_FIN | TCP_ACK, 5));
	assert_int_equal(calls.ends[SERVER], 1);
	assert_int_equal(calls.ends[CLIENT], 0);
	assert_false(feed(CLIENT, TCP_FIN | TCP_ACK, 0));
	assert_int_equal(calls.ends[SERVER], 1);
	assert_int_equal(calls.ends[CLIENT], 1);
	assert_int_equal(calls.bytes, 35);
	assert_int_equal(counters()->active, 0);
}

static void
test_a_reset_ends_both_streams(void **state)
{
	(void)state;
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	assert_false(feed(SERVER, TCP_RST | TCP_ACK, 0));
	assert_int_equal(calls.ends[SERVER], 1);
	assert_int_equal(calls.ends[CLIENT], 1);
}

/* Bytes that the other end has acknowledged are a gap, behind the bytes captured or before queued ones. */
static void
test_missing_bytes_before_a_reset(void **state)
{
	(void)state;
	for (unsigned from = CLIENT; from <= SERVER; from++) {
		port++;
		calls = (struct calls){.done = false};
		open_connection();
		feed(CLIENT, TCP_ACK, 10);
		feed(SERVER, TCP_ACK, 20);
		feed(CLIENT, TCP_ACK, 10);
		next[SERVER] += 100; /* not captured */
		if (from == SERVER)
			feed(CLIENT, TCP_ACK, 0);
		assert_int_equal(calls.gaps, 0);
		assert_false(feed(from, TCP_RST | TCP_ACK, 0));
		assert_int_equal(calls.gaps, 100);
		assert_int_equal(calls.ends[SERVER], 1);
	}
	port++;
	calls = (struct calls){.done = false};
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	next[SERVER] += 100;
	feed(SERVER, TCP_ACK, 7);
	assert_int_equal(calls.gaps, 0);
	assert_false(feed(CLIENT, TCP_RST | TCP_ACK, 0));
	assert_int_equal(calls.gaps, 100);
	assert_int_equal(calls.bytes, 37);
}

static void
test_missing_bytes_before_the_end(void **state)
{
	(void)state;
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	next[SERVER] += 100; /* not captured */
	feed(SERVER, TCP_FIN | TCP_ACK, 5);
	assert_int_equal(calls.ends[SERVER], 0);
	assert_int_equal(calls.gaps, 0);
	feed(CLIENT, TCP_ACK, 0); /* acknowledges them */
	assert_int_equal(calls.gaps, 100);
	assert_int_equal(calls.bytes, 35);
	assert_int_equal(calls.ends[SERVER], 1);
}

/* The last data is not captured, and an empty FIN follows. */
static void
test_missing_bytes_before_an_empty_fin(void **state)
{
	(void)state;
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	next[SERVER] += 100;
	feed(SERVER, TCP_FIN | TCP_ACK, 0);
	assert_int_equal(calls.ends[SERVER], 0);
	assert_false(feed(CLIENT, TCP_FIN | TCP_ACK, 0));
	assert_int_equal(calls.gaps, 100);
	assert_int_equal(calls.ends[SERVER], 1);
	assert_int_equal(calls.ends[CLIENT], 1);
	assert_int_equal(counters()->active, 0);
}

/* Bytes that the reader does not need any more are not missing at the end. */
static void
test_the_end_of_a_direction_that_is_not_read(void **state)
{
	(void)state;
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	calls.done_sender[SERVER] = true;
	feed(SERVER, TCP_ACK, 50);
	feed(SERVER, TCP_FIN | TCP_ACK, 0);
	assert_false(feed(CLIENT, TCP_FIN | TCP_ACK, 0));
	assert_int_equal(calls.ends[SERVER], 1);
	assert_int_equal(counters()->active, 0);
}

static void
test_a_cleared_table_reads_in_mid_stream(void **state)
{
	(void)state;
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	next[CLIENT] += 1000; /* queued segments are dropped, too */
	feed(CLIENT, TCP_ACK, 10);
	app_flow_table_clear(table);
	assert_int_equal(counters()->active, 0);
	assert_int_equal(stream_pool_segments(pool), 0);
	calls = (struct calls){.done = false};
	assert_true(feed(SERVER, TCP_ACK, 20));
	assert_int_equal(calls.starts, 1);
	assert_int_equal(calls.beginnings, 0);
	assert_int_equal(calls.gaps, 0);
}

/* Nothing of the other end is captured. */
static void
test_one_direction_is_given_up(void **state)
{
	bool needed = true;
	unsigned segments = 0;

	(void)state;
	next[CLIENT] = next[SERVER] = 1000;
	for (; needed && segments < 2000; segments++)
		needed = feed(CLIENT, TCP_ACK, 1000);
	assert_in_range(segments, 1000, 1100);
	assert_int_equal(calls.starts, 0);
}

static void
test_a_finished_reader_is_retired(void **state)
{
	(void)state;
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	calls.done = true;
	assert_false(feed(SERVER, TCP_ACK, 20));
	assert_int_equal(counters()->active, 0);
	calls.starts = 0;
	assert_false(feed(CLIENT, TCP_ACK, 10));
	assert_int_equal(calls.starts, 0);
}

static void
test_retired_app_flows_are_reused(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 200; n++) {
		port++;
		calls.done = false;
		open_connection();
		feed(CLIENT, TCP_ACK, 10);
		calls.done = true;
		feed(SERVER, TCP_ACK, 20);
	}
	assert_int_equal(counters()->begun, 200);
	assert_int_equal(counters()->active, 0);
	assert_int_equal(counters()->evicted + counters()->evicted_unconfirmed, 0);
}

static void
test_mid_stream(void **state)
{
	(void)state;
	next[CLIENT] = next[SERVER] = 1000;
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 10);
	assert_true(feed(CLIENT, TCP_ACK, 10));
	assert_int_equal(calls.starts, 1);
	assert_int_equal(calls.beginnings, 0);
}

static void
test_only_from_the_beginning(void **state)
{
	(void)state;
	reader.beginning_only = true;
	next[CLIENT] = next[SERVER] = 1000;
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 10);
	assert_false(feed(CLIENT, TCP_ACK, 10));
	assert_int_equal(calls.starts, 0);
	port++;
	open_connection();
	assert_true(feed(CLIENT, TCP_ACK, 10));
	assert_int_equal(calls.beginnings, 1);
}

static void
test_untraced(void **state)
{
	(void)state;
	traced = false;
	open_connection();
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 10);
	assert_int_equal(calls.bytes, 0);
}

static void
test_datagram_cut_by_the_snapshot_length(void **state)
{
	static const uint8_t bytes[100];
	struct packet p = {.transport = TRANSPORT_UDP, .payload = cursor_init(bytes, 60, 100), .payload_wire = 100};
	struct flow flow = {.kind = FLOW_UDP};
	struct app_context ctx = make_context(&flow);

	(void)state;
	app_flow_feed_datagram(&reader, &p, CLIENT, &ctx);
	assert_int_equal(calls.datagrams, 1);
	assert_int_equal(calls.datagram_captured, 60);
	assert_int_equal(calls.datagram_wire, 100);
}

static void
test_memory_is_bounded(void **state)
{
	(void)state;
	assert_true(app_flow_table_memory_size(&reader, &(struct app_settings){0}) < 64 * 1024 + 65 * (8 + 256 + 64));
}
static void
test_workers_share_limits(void **unused)
{
	(void)unused;
	assert_int_equal(app_settings_share(&(struct app_settings){.workers = 0}, 131072), 131072);
	assert_int_equal(app_settings_share(&(struct app_settings){.workers = 1}, 131072), 131072);
	assert_int_equal(app_settings_share(&(struct app_settings){.workers = 3}, 1024), 256);
	assert_int_equal(app_settings_share(&(struct app_settings){.workers = 64}, 131072), 2048);
	assert_int_equal(app_settings_share(&(struct app_settings){.workers = 64}, 1024), 64);
}


#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_ends_are_reported_once),
	    TEST(test_a_reset_ends_both_streams),
	    TEST(test_missing_bytes_before_a_reset),
	    TEST(test_missing_bytes_before_the_end),
	    TEST(test_missing_bytes_before_an_empty_fin),
	    TEST(test_the_end_of_a_direction_that_is_not_read),
	    TEST(test_a_cleared_table_reads_in_mid_stream),
	    TEST(test_one_direction_is_given_up),
	    TEST(test_a_finished_reader_is_retired),
	    TEST(test_retired_app_flows_are_reused),
	    TEST(test_mid_stream),
	    TEST(test_only_from_the_beginning),
	    TEST(test_untraced),
	    TEST(test_datagram_cut_by_the_snapshot_length),
	    TEST(test_memory_is_bounded),
	    TEST(test_workers_share_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
