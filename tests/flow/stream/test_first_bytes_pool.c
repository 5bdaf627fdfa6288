/* SPDX-License-Identifier: BSD-2-Clause */
/* The first segments of connections: which are kept, which data of a SYN count, and what the limits are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "flow/stream/first_bytes_pool.h"

enum { CLIENT, SERVER };

static struct stream_pool *streams;
static struct first_bytes_pool *pool;
static struct flow flows[FIRST_BYTES_CONNECTIONS + 1];

static int
begin(void **state)
{
	(void)state;
	streams = stream_pool_new();
	pool = first_bytes_pool_new(streams);
	memset(flows, 0, sizeof flows);
	for (unsigned i = 0; i <= FIRST_BYTES_CONNECTIONS; i++)
		flows[i].tcp[CLIENT].iss = 0xfffffff0; /* numbers wrap after 15 bytes */
	return 0;
}

static int
end(void **state)
{
	(void)state;
	first_bytes_pool_free(pool);
	stream_pool_free(streams);
	return 0;
}

/* A packet with these bytes at an offset of the sender's stream, and whether it is a SYN. */
static struct packet
packet_at(uint32_t offset, const char *text, uint8_t flags, uint32_t ack)
{
	struct packet packet = {.payload_wire = (uint32_t)strlen(text)};

	packet.tcp = (struct tcp_layer){.ack = ack, .flags = flags};
	packet.tcp.seq = 0xfffffff1 + offset - ((flags & TCP_SYN) != 0);
	packet.payload = cursor_init((const uint8_t *)text, packet.payload_wire, packet.payload_wire);
	return packet;
}

static bool
add(struct first_bytes *first, unsigned sender, uint32_t offset, const char *text, uint8_t flags)
{
	struct packet packet = packet_at(offset, text, flags, 0);

	return first_bytes_add(pool, first, &packet, 3, sender, 7, false);
}

static void
settle(struct first_bytes *first, unsigned sender, uint32_t offset, uint8_t flags, uint32_t ack)
{
	struct packet packet = packet_at(offset, sender == CLIENT ? "x" : "", flags, 0xfffffff1 + ack);

	first_bytes_settle(first, &packet, sender);
}

/* The bytes of the client that are kept, and those of this text after them. */
static void
assert_head(const struct first_bytes *first, const char *wanted, uint32_t offset, const char *more)
{
	struct packet packet = packet_at(offset, more, TCP_ACK, 0);
	uint8_t buffer[100];
	struct slice head = first_bytes_head(pool, first, &packet, CLIENT, buffer, sizeof buffer);

	assert_int_equal(head.len, strlen(wanted));
	assert_memory_equal(head.at, wanted, head.len);
}

static void
test_segments(void **state)
{
	struct first_bytes *first = first_bytes_begin(pool, &flows[0], 1, CLIENT);
	struct packet packet;

	(void)state;
	assert_true(first_bytes_find(pool, &flows[0], 1) == first);
	assert_null(first_bytes_find(pool, &flows[0], 3));
	assert_null(first_bytes_find(pool, &flows[1], 1));
	/* Those that continue each other are one; they may come in any order. */
	for (unsigned i = 0; i < 10; i++)
		assert_true(add(first, CLIENT, 10 + i, "c", TCP_ACK));
	assert_true(add(first, SERVER, 0, "server", TCP_ACK));
	assert_true(add(first, CLIENT, 3, "bbbbbbb", TCP_ACK));
	assert_head(first, "", 20, "d");
	assert_true(add(first, CLIENT, 0, "aaa", TCP_ACK));
	assert_int_equal(first->count, 4);
	assert_head(first, "aaabbbbbbbccccccccccdd", 20, "dd");
	assert_head(first, "aaabbbbbbbcccccccccc", 21, "dd");
	first_bytes_get_packet(pool, first, 0, &packet);
	assert_int_equal(packet.tcp.seq, 0xfffffff1 + 10);
	assert_int_equal(packet.payload_wire, 10);
	first_bytes_drop(pool, first);
	assert_null(first_bytes_find(pool, &flows[0], 1));
	assert_int_equal(first_bytes_pool_count(pool), 0);
}

static void
test_data_of_a_syn(void **state)
{
	static const char *const wanted[] = {"", "a", "ab", "abc", "abcd", "abcd"};
	struct first_bytes *first;

	(void)state;
	for (uint32_t accepted = 0; accepted < 6; accepted++) {
		first = first_bytes_begin(pool, &flows[0], 1, CLIENT);
		add(first, CLIENT, 0, "abcd", TCP_SYN);
		assert_true(first_bytes_has_syn_data(first));
		settle(first, SERVER, 0, TCP_RST | TCP_ACK, 0);
		settle(first, SERVER, 0, TCP_SYN | TCP_ACK, accepted);
		settle(first, SERVER, 0, TCP_ACK, 0); /* the first one counts */
		assert_head(first, wanted[accepted], 10, "");
		assert_int_equal(first->count, accepted > 0);
		first_bytes_drop(pool, first);
	}
	/* The client sends them again, and the SYN,ACK was not captured. */
	first = first_bytes_begin(pool, &flows[0], 1, CLIENT);
	add(first, CLIENT, 0, "abcd", TCP_SYN);
	settle(first, CLIENT, 2, TCP_ACK, 0);
	assert_head(first, "abxx", 2, "xx");
}

static void
test_limits(void **state)
{
	struct first_bytes *first = first_bytes_begin(pool, &flows[0], 1, CLIENT);
	static char text[FIRST_BYTES_MAX + 2];

	(void)state;
	memset(text, 't', FIRST_BYTES_MAX + 1);
	assert_false(add(first, CLIENT, 0, text, TCP_ACK));
	assert_false(add(first, CLIENT, 0, "a", TCP_ACK));
	assert_int_equal(stream_pool_counters(streams)->unkept, 2);
	assert_int_equal(first->segments[0].captured, FIRST_BYTES_MAX);
	assert_int_equal(first->segments[0].wire, FIRST_BYTES_MAX + 1);
	for (unsigned i = 1; i < FIRST_BYTES_CONNECTIONS; i++)
		add(first_bytes_begin(pool, &flows[i], 2 * i + 1, CLIENT), CLIENT, 0, "b", TCP_ACK);
	assert_non_null(first_bytes_find(pool, &flows[0], 1));
	/* The oldest gives its memory back. */
	first = first_bytes_begin(pool, &flows[FIRST_BYTES_CONNECTIONS], 10001, CLIENT);
	assert_null(first_bytes_find(pool, &flows[0], 1));
	assert_non_null(first_bytes_find(pool, &flows[1], 3));
	assert_int_equal(first_bytes_pool_count(pool), FIRST_BYTES_CONNECTIONS);
	assert_int_equal(stream_pool_counters(streams)->unkept, 3);
	for (unsigned i = 0; i < FIRST_BYTES_SEGMENTS; i++)
		assert_true(add(first, CLIENT, 2 * i, "c", TCP_ACK));
	assert_false(add(first, CLIENT, 1000, "c", TCP_ACK));
	first_bytes_pool_clear(pool);
	assert_int_equal(first_bytes_pool_count(pool), 0);
	for (unsigned i = 0; i <= FIRST_BYTES_CONNECTIONS; i++)
		assert_null(first_bytes_find(pool, &flows[i], 2 * i + 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_segments, begin, end),
	    cmocka_unit_test_setup_teardown(test_data_of_a_syn, begin, end),
	    cmocka_unit_test_setup_teardown(test_limits, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
