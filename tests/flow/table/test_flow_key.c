/* SPDX-License-Identifier: BSD-2-Clause */
/* The canonical key and its hash. */
#include "tests/flow/table/flow_table_fixture.h"

static const uint8_t v4_low[4] = {10, 0, 0, 1}, v4_high[4] = {10, 0, 0, 2}, v4_home[4] = {127, 0, 0, 1};
static const uint8_t v6_low[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
static const uint8_t v6_high[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

static struct flow_key
key_of(struct packet_tuple tuple, enum transport_layer transport, unsigned *sender)
{
	struct packet packet = fixture_packet(tuple, transport);
	struct flow_key key;

	memset(&key, 0xa5, sizeof key); /* every byte must be set */
	flow_key_from_packet(&packet, &key, sender);
	return key;
}

static struct packet_tuple
turned(struct packet_tuple tuple)
{
	return (struct packet_tuple){tuple.version, tuple.dst, tuple.src, tuple.dport, tuple.sport};
}

static void
assert_same_both_ways(struct packet_tuple tuple, enum transport_layer transport, unsigned sender)
{
	unsigned there, back;
	struct flow_key a = key_of(tuple, transport, &there), b = key_of(turned(tuple), transport, &back);

	assert_memory_equal(&a, &b, sizeof a);
	assert_int_equal(there, sender);
	assert_int_equal(back, sender ^ 1);
	assert_memory_equal(a.addr[there], tuple.src, tuple.version == 4 ? 4 : 16);
	assert_memory_equal(a.addr[back], tuple.dst, tuple.version == 4 ? 4 : 16);
	assert_int_equal(a.port[there], tuple.sport);
	assert_int_equal(a.port[back], tuple.dport);
	assert_int_equal(a.version, tuple.version);
	assert_int_equal(a.protocol, transport == TRANSPORT_TCP ? 6 : 17);
	assert_int_equal(a.address_space, 0);
}

static void
test_both_directions_share_a_key(void **state)
{
	(void)state;
	assert_same_both_ways((struct packet_tuple){4, v4_low, v4_high, 40000, 80}, TRANSPORT_TCP, 0);
	assert_same_both_ways((struct packet_tuple){4, v4_high, v4_low, 40000, 80}, TRANSPORT_UDP, 1);
	assert_same_both_ways((struct packet_tuple){6, v6_low, v6_high, 53, 53}, TRANSPORT_UDP, 0);
	assert_same_both_ways((struct packet_tuple){6, v6_high, v6_low, 1, 65535}, TRANSPORT_TCP, 1);
}

static void
test_addresses_are_compared_as_numbers(void **state)
{
	static const uint8_t nine[4] = {9, 255, 255, 255}, ten[4] = {10, 0, 0, 0}, top[4] = {200, 0, 0, 0};
	uint8_t last_byte[16], first_byte[16];

	(void)state;
	assert_same_both_ways((struct packet_tuple){4, nine, ten, 80, 80}, TRANSPORT_TCP, 0);
	assert_same_both_ways((struct packet_tuple){4, top, ten, 80, 80}, TRANSPORT_TCP, 1);
	memset(last_byte, 0, sizeof last_byte);
	memset(first_byte, 0, sizeof first_byte);
	last_byte[15] = 0xff;
	first_byte[0] = 1;
	assert_same_both_ways((struct packet_tuple){6, last_byte, first_byte, 80, 80}, TRANSPORT_TCP, 0);
	first_byte[0] = 0;
	first_byte[8] = 1;
	assert_same_both_ways((struct packet_tuple){6, last_byte, first_byte, 80, 80}, TRANSPORT_TCP, 0);
}

/* Loopback: one address, so the ports decide, as numbers. */
static void
test_ports_decide_between_equal_addresses(void **state)
{
	(void)state;
	assert_same_both_ways((struct packet_tuple){4, v4_home, v4_home, 80, 40000}, TRANSPORT_TCP, 0);
	assert_same_both_ways((struct packet_tuple){4, v4_home, v4_home, 256, 255}, TRANSPORT_TCP, 1);
	assert_same_both_ways((struct packet_tuple){6, v6_low, v6_low, 1, 2}, TRANSPORT_UDP, 0);
}

/* The address decides before the port does, or one connection would have two keys. */
static void
test_ports_do_not_outweigh_addresses(void **state)
{
	(void)state;
	assert_same_both_ways((struct packet_tuple){4, v4_low, v4_high, 65535, 1}, TRANSPORT_TCP, 0);
	assert_same_both_ways((struct packet_tuple){4, v4_low, v4_high, 1, 65535}, TRANSPORT_TCP, 0);
}

static void
test_a_connection_of_a_socket_with_itself(void **state)
{
	struct packet_tuple tuple = {4, v4_home, v4_home, 4444, 4444};
	unsigned there, back;
	struct flow_key a = key_of(tuple, TRANSPORT_TCP, &there), b = key_of(turned(tuple), TRANSPORT_TCP, &back);

	(void)state;
	assert_memory_equal(&a, &b, sizeof a);
	assert_int_equal(there, 0);
	assert_int_equal(back, 0);
}

static void
test_kinds_do_not_share_keys(void **state)
{
	struct flow_table *table = fixture_table_new(1);
	uint8_t a[16] = {10, 0, 0, 1}, b[16] = {10, 0, 0, 2}; /* as IPv6 the same bytes as in IPv4 */
	unsigned sender;
	struct flow_key v4 = key_of((struct packet_tuple){4, a, b, 5, 6}, TRANSPORT_TCP, &sender);
	struct flow_key v6 = key_of((struct packet_tuple){6, a, b, 5, 6}, TRANSPORT_TCP, &sender);
	struct flow_key udp = key_of((struct packet_tuple){4, a, b, 5, 6}, TRANSPORT_UDP, &sender);
	struct flow_key tunnel = v4;

	(void)state;
	tunnel.address_space = 1;
	assert_memory_equal(v4.addr, v6.addr, sizeof v4.addr);
	assert_memory_not_equal(&v4, &v6, sizeof v4);
	assert_memory_not_equal(&v4, &udp, sizeof v4);
	assert_int_not_equal(flow_key_hash(table, &v4), flow_key_hash(table, &v6));
	assert_int_not_equal(flow_key_hash(table, &v4), flow_key_hash(table, &udp));
	assert_int_not_equal(flow_key_hash(table, &v4), flow_key_hash(table, &tunnel));
	flow_table_free(table);
}

static struct packet
error_quoting(uint8_t version, uint8_t protocol)
{
	struct packet packet = {.transport = version == 4 ? TRANSPORT_ICMP : TRANSPORT_ICMPV6};

	packet.icmp.error = true;
	packet.icmp.quote.version = version;
	packet.icmp.quote.protocol = protocol;
	memcpy(packet.icmp.quote.src, version == 4 ? v4_high : v6_high, version == 4 ? 4 : 16);
	memcpy(packet.icmp.quote.dst, version == 4 ? v4_low : v6_low, version == 4 ? 4 : 16);
	packet.icmp.quote.has_ports = true;
	packet.icmp.quote.sport = 5353;
	packet.icmp.quote.dport = 53;
	return packet;
}

static void
test_a_quote_names_the_connection(void **state)
{
	struct packet v4 = error_quoting(4, 17), v6 = error_quoting(6, 6);
	struct flow_key quoted, own;
	unsigned sender, own_sender;

	(void)state;
	assert_true(flow_key_from_icmp_error(&v4, &quoted, &sender));
	own = key_of((struct packet_tuple){4, v4_high, v4_low, 5353, 53}, TRANSPORT_UDP, &own_sender);
	assert_memory_equal(&quoted, &own, sizeof own);
	assert_int_equal(sender, own_sender);
	assert_true(flow_key_from_icmp_error(&v6, &quoted, &sender));
	own = key_of((struct packet_tuple){6, v6_high, v6_low, 5353, 53}, TRANSPORT_TCP, &own_sender);
	assert_memory_equal(&quoted, &own, sizeof own);
	assert_int_equal(sender, own_sender);
}

static void
test_quotes_that_name_none(void **state)
{
	struct packet packet;
	struct flow_key key;
	unsigned sender;

	(void)state;
	packet = error_quoting(4, 6);
	packet.icmp.quote.has_ports = false;
	assert_false(flow_key_from_icmp_error(&packet, &key, &sender));
	packet = error_quoting(4, 1); /* ICMP about ICMP */
	assert_false(flow_key_from_icmp_error(&packet, &key, &sender));
	packet = error_quoting(4, 6);
	packet.icmp.quote.version = 0;
	assert_false(flow_key_from_icmp_error(&packet, &key, &sender));
	packet = error_quoting(4, 6);
	packet.icmp.error = false;
	assert_false(flow_key_from_icmp_error(&packet, &key, &sender));
	packet = error_quoting(4, 6);
	packet.transport = TRANSPORT_UDP;
	assert_false(flow_key_from_icmp_error(&packet, &key, &sender));
}

/* Every byte of the key that can differ moves the hash, and so does the seed. */
static void
test_hash_depends_on_every_byte(void **state)
{
	struct flow_limits limits = {.flows = 1};
	struct flow_table *table = fixture_table_new(1);
	struct flow_table *other = flow_table_new(&limits, 0x5eed + 1, fixture_record_events, &other);
	uint8_t version;
	size_t i;

	(void)state;
	assert_non_null(other);
	for (version = 4; version <= 6; version += 2) {
		struct flow_key key = {.version = version, .protocol = 6}, changed;

		for (i = 0; i < sizeof key; i++) {
			bool padding = version == 4 && i < 32 && i % 16 >= 4;

			changed = key;
			((uint8_t *)&changed)[i] ^= 0x10;
			if (padding || i == offsetof(struct flow_key, version))
				continue;
			assert_int_not_equal(flow_key_hash(table, &key), flow_key_hash(table, &changed));
		}
		assert_int_not_equal(flow_key_hash(table, &key), flow_key_hash(other, &key));
		assert_int_equal(flow_key_hash(table, &key), flow_key_hash(table, &key));
	}
	flow_table_free(table);
	flow_table_free(other);
}

/* Neighbouring addresses and ports, as real networks have them, fill 1024 buckets evenly: 100 +- 10 each is expected,
 * and eight times that deviation would be no accident. */
static void
test_hash_spreads_neighbours(void **state)
{
	struct flow_table *table = fixture_table_new(1);
	uint32_t bucket[1024];
	uint8_t version;
	uint32_t i;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		memset(bucket, 0, sizeof bucket);
		for (i = 0; i < 102400; i++) {
			struct flow_key key = {.version = version, .protocol = 6, .port = {80, 0}};

			key.addr[0][3] = (uint8_t)i;
			key.port[1] = (uint16_t)(i >> 8);
			bucket[flow_key_hash(table, &key) >> 22]++;
		}
		for (i = 0; i < 1024; i++)
			assert_in_range(bucket[i], 20, 180);
	}
	flow_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_directions_share_a_key),
		cmocka_unit_test(test_addresses_are_compared_as_numbers),
		cmocka_unit_test(test_ports_decide_between_equal_addresses),
		cmocka_unit_test(test_ports_do_not_outweigh_addresses),
		cmocka_unit_test(test_a_connection_of_a_socket_with_itself),
		cmocka_unit_test(test_kinds_do_not_share_keys),
		cmocka_unit_test(test_a_quote_names_the_connection),
		cmocka_unit_test(test_quotes_that_name_none),
		cmocka_unit_test(test_hash_depends_on_every_byte),
		cmocka_unit_test(test_hash_spreads_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
