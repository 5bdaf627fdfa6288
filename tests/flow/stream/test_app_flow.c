/* SPDX-License-Identifier: BSD-2-Clause */
/* App flows with a reader that counts its calls: beginnings, ends, what is retired, names, datagrams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/lib/tcp_fixture.h"

struct calls {
	unsigned starts, beginnings, bytes, gaps, ends[2], datagrams;
	uint32_t datagram_captured, datagram_wire;
	bool late;	     /* the latest bytes were acknowledged before they were captured */
	bool done;	     /* the reader needs no more bytes */
	bool done_sender[2]; /* likewise, of one direction */
	char name[64];
};

static struct calls calls;
static struct tcp_fixture tcp;

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
	calls.late = ctx->late;
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

static const struct app_context reports = {.on_message = on_message, .on_anomaly = on_anomaly, .on_name = on_name};

static int
begin(void **state)
{
	(void)state;
	calls = (struct calls){.done = false};
	tcp_fixture_setup(&tcp, &reader, &reports, 80, 1000);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&tcp);
	return 0;
}

/* A segment of `length` bytes; returns what app_flow_feed() does. */
static bool
feed(unsigned from, uint8_t flags, uint32_t length)
{
	static const uint8_t bytes[2000];
	uint32_t seq = tcp.next[from];

	tcp.next[from] += length + ((flags & TCP_FIN) != 0);
	return tcp_fixture_feed_segment(&tcp, from, flags, seq, bytes, length, length);
}

static const struct app_flow_counters *
counters(void)
{
	return app_flow_table_counters(tcp.app_flows);
}

static void
test_ends_are_reported_once(void **state)
{
	(void)state;
	tcp_fixture_handshake(&tcp);
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
	tcp_fixture_handshake(&tcp);
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	assert_false(feed(SERVER, TCP_RST | TCP_ACK, 0));
	assert_int_equal(calls.ends[SERVER], 1);
	assert_int_equal(calls.ends[CLIENT], 1);
}

/* Bytes that the other end has acknowledged are a gap, after the bytes captured or before queued ones. */
static void
test_missing_bytes_before_a_reset(void **state)
{
	(void)state;
	for (unsigned from = CLIENT; from <= SERVER; from++) {
		tcp.port[CLIENT]++;
		calls = (struct calls){.done = false};
		tcp_fixture_handshake(&tcp);
		feed(CLIENT, TCP_ACK, 10);
		feed(SERVER, TCP_ACK, 20);
		feed(CLIENT, TCP_ACK, 10);
		tcp.next[SERVER] += 100; /* not captured */
		if (from == SERVER)
			feed(CLIENT, TCP_ACK, 0);
		assert_int_equal(calls.gaps, 0);
		assert_false(feed(from, TCP_RST | TCP_ACK, 0));
		assert_int_equal(calls.gaps, 100);
		assert_int_equal(calls.ends[SERVER], 1);
	}
	tcp.port[CLIENT]++;
	calls = (struct calls){.done = false};
	tcp_fixture_handshake(&tcp);
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	tcp.next[SERVER] += 100;
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
	tcp_fixture_handshake(&tcp);
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	tcp.next[SERVER] += 100; /* not captured */
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
	tcp_fixture_handshake(&tcp);
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	tcp.next[SERVER] += 100;
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
	tcp_fixture_handshake(&tcp);
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
	tcp_fixture_handshake(&tcp);
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 20);
	tcp.next[CLIENT] += 1000; /* queued segments are dropped, too */
	feed(CLIENT, TCP_ACK, 10);
	app_flow_table_clear(tcp.app_flows);
	assert_int_equal(counters()->active, 0);
	assert_int_equal(stream_pool_segments(tcp.pool), 0);
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
	tcp.next[CLIENT] = tcp.next[SERVER] = 1000;
	for (; needed && segments < 2000; segments++)
		needed = feed(CLIENT, TCP_ACK, 1000);
	assert_in_range(segments, 1000, 1100);
	assert_int_equal(calls.starts, 0);
}

static void
test_a_finished_reader_is_retired(void **state)
{
	(void)state;
	tcp_fixture_handshake(&tcp);
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
		tcp.port[CLIENT]++;
		calls.done = false;
		tcp_fixture_handshake(&tcp);
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
	tcp.next[CLIENT] = tcp.next[SERVER] = 1000;
	feed(CLIENT, TCP_ACK, 10);
	assert_int_equal(calls.starts, 0);
	feed(SERVER, TCP_ACK, 10); /* it begins at the number that the client has acknowledged */
	assert_int_equal(calls.starts, 1);
	assert_true(feed(CLIENT, TCP_ACK, 10));
	assert_int_equal(calls.starts, 2);
	assert_int_equal(calls.beginnings, 0);
}

static void
test_mid_stream_of_other_numbers(void **state)
{
	(void)state;
	tcp.next[CLIENT] = tcp.next[SERVER] = 1000;
	feed(CLIENT, TCP_ACK, 10);
	tcp.next[SERVER] += 100; /* bytes are missing, or the segment of the client is forged */
	feed(SERVER, TCP_ACK, 10);
	assert_int_equal(calls.starts, 0);
	feed(CLIENT, TCP_ACK, 10);
	assert_int_equal(calls.starts, 1);
}

static void
test_untraced(void **state)
{
	(void)state;
	tcp.ctx.traced = false;
	tcp_fixture_handshake(&tcp);
	feed(CLIENT, TCP_ACK, 10);
	feed(SERVER, TCP_ACK, 10);
	assert_int_equal(calls.bytes, 0);
}

/* An ACK of more than was sent: what is sent next may have been captured late, until its receiver acknowledges less. */
static void
test_ack_of_bytes_that_were_not_sent(void **state)
{
	(void)state;
	for (unsigned from = CLIENT; from <= SERVER; from++) {
		tcp.port[CLIENT]++;
		calls = (struct calls){.done = false};
		tcp_fixture_handshake(&tcp);
		feed(CLIENT, TCP_ACK, 10);
		assert_false(calls.late);
		feed(SERVER, TCP_ACK, 10);
		tcp.next[from] += 5000;
		feed(1 - from, TCP_ACK, 0);
		tcp.next[from] -= 5000;
		feed(from, TCP_ACK, 10);
		assert_true(calls.late);
		feed(1 - from, TCP_ACK, 10);
		feed(from, TCP_ACK, 10);
		assert_false(calls.late);
		tcp.next[from] += 10;
		feed(from, TCP_ACK, 10);
		assert_int_equal(calls.gaps, 0); /* the bytes in front of it may still come */
	}
}

/* An ACK beyond the window of its sender is refused: it makes nothing late. */
static void
test_refused_ack(void **state)
{
	(void)state;
	for (unsigned from = CLIENT; from <= SERVER; from++) {
		tcp.port[CLIENT]++;
		calls = (struct calls){.done = false};
		tcp_fixture_handshake(&tcp);
		feed(CLIENT, TCP_ACK, 10);
		feed(SERVER, TCP_ACK, 10);
		tcp.next[from] += 100000;
		feed(1 - from, TCP_ACK, 0);
		tcp.next[from] -= 100000;
		feed(from, TCP_ACK, 10);
		assert_false(calls.late);
		feed(1 - from, TCP_ACK, 10);
		assert_false(calls.late);
	}
}

static void
test_datagram_cut_by_the_snapshot_length(void **state)
{
	static const uint8_t bytes[100];
	struct packet p = {.transport = TRANSPORT_UDP, .payload = cursor_init(bytes, 60, 100), .payload_wire = 100};
	struct flow flow = {.kind = FLOW_UDP};
	struct app_context ctx = reports;

	(void)state;
	ctx.flow = &flow;
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
test_workers_share_limits(void **state)
{
	(void)state;
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
    TEST(test_mid_stream_of_other_numbers),
	    TEST(test_untraced),
	    TEST(test_ack_of_bytes_that_were_not_sent),
	    TEST(test_refused_ack),
	    TEST(test_datagram_cut_by_the_snapshot_length),
	    TEST(test_memory_is_bounded),
	    TEST(test_workers_share_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
