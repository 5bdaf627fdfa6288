/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identities of connections.  The Community IDs are those that baseline/baseline_deflt.json of
 * github.com/corelight/community-id-spec (commit c4ec2bc40d65) states for TCP, UDP and SCTP; those of equal addresses
 * are computed with Python's hashlib and base64 from the text of the specification.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probes/args/connection_id.h"

/* The canonical key of a packet, as the flow table makes it. */
static struct flow_key
make_key(uint8_t protocol, const char *source, uint16_t sport, const char *destination, uint16_t dport)
{
	struct packet packet;
	struct flow_key key;
	unsigned sender;
	int family = strchr(source, ':') != NULL ? AF_INET6 : AF_INET;

	memset(&packet, 0, sizeof packet);
	packet.network = family == AF_INET ? NETWORK_IPV4 : NETWORK_IPV6;
	packet.transport = protocol == 6 ? TRANSPORT_TCP : protocol == 17 ? TRANSPORT_UDP : TRANSPORT_SCTP;
	packet.ip.version = family == AF_INET ? 4 : 6;
	packet.ip.protocol = protocol;
	assert_int_equal(inet_pton(family, source, packet.ip.src), 1);
	assert_int_equal(inet_pton(family, destination, packet.ip.dst), 1);
	packet.tcp.sport = packet.udp.sport = packet.sctp.sport = sport;
	packet.tcp.dport = packet.udp.dport = packet.sctp.dport = dport;
	flow_key_from_packet(&packet, &key, &sender);
	return key;
}

static void
community_ids_are_those_of_the_baseline(void **state)
{
	static const struct {
		uint8_t protocol;
		const char *source, *destination;
		uint16_t sport, dport;
		const char *id;
	} rows[] = {
		{6, "128.232.110.120", "66.35.250.204", 34855, 80, "1:LQU9qZlK+B5F3KDmev6m5PMibrg="},
		{17, "192.168.1.52", "8.8.8.8", 54585, 53, "1:d/FP5EW3wiY1vCndhwleRRKHowQ="},
		{132, "192.168.170.8", "192.168.170.56", 7, 7, "1:MP2EtRCAUIZvTw6MxJHLV7N7JDs="},
		{6, "2001:470:e5bf:dead:4957:2174:e82c:4887", "2607:f8b0:400c:c03::1a", 63943, 25,
		 "1:/qFaeAR+gFe1KYjMzVDsMv+wgU4="},
		/* Equal addresses: the ports decide. */
		{6, "127.0.0.1", "127.0.0.1", 40000, 80, "1:5rFr+y3i0wpQbEhThSaj08U8BaE="},
		{17, "::1", "::1", 53, 40000, "1:/unZ7Occw74/oANO2taP7w7cHzQ="},
		{6, "127.0.0.1", "127.0.0.1", 80, 80, "1:fIDbyK7a7a6sKdFrKTpzX9bw/iw="},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct flow_key there =
		    make_key(rows[i].protocol, rows[i].source, rows[i].sport, rows[i].destination, rows[i].dport);
		struct flow_key back =
		    make_key(rows[i].protocol, rows[i].destination, rows[i].dport, rows[i].source, rows[i].sport);
		char id[COMMUNITY_ID_SIZE];

		connection_community(&there, id);
		assert_string_equal(id, rows[i].id);
		connection_community(&back, id);
		assert_string_equal(id, rows[i].id);
	}
}

/* The number is part of what records of several hosts are joined by: it may never change. */
static void
uid_is_the_same_for_ever(void **state)
{
	struct flow_key key = make_key(6, "192.0.2.1", 40000, "198.51.100.2", 443);
	struct flow_key key6 = make_key(17, "2001:db8::1", 40000, "2001:db8::2", 53);

	(void)state;
	assert_int_equal(connection_uid(&key, &(struct connection_origin){.isn_known = true, .isn = 0x01020304}),
			 0x3117704f5b3995a6);
	assert_int_equal(connection_uid(&key6, &(struct connection_origin){.start = 1795172523123456789}),
			 0x0ef144b5a2d9e9c4);
}

static void
uid_depends_on_the_isn_or_else_on_the_time(void **state)
{
	struct flow_key key = make_key(6, "192.0.2.1", 40000, "198.51.100.2", 443);
	struct connection_origin origin = {.isn_known = true, .isn = 7, .start = 100}, other = origin;
	uint64_t uid = connection_uid(&key, &origin);

	(void)state;
	other.start = 200; /* another host's clock */
	assert_int_equal(connection_uid(&key, &other), uid);
	other.isn = 8;
	assert_int_not_equal(connection_uid(&key, &other), uid);
	origin.isn_known = other.isn_known = false;
	assert_int_not_equal(connection_uid(&key, &origin), connection_uid(&key, &other));
	other.start = origin.start;
	assert_int_equal(connection_uid(&key, &origin), connection_uid(&key, &other));
	origin.start = origin.isn = 7;
	other = origin;
	other.isn_known = true;
	assert_int_not_equal(connection_uid(&key, &origin), connection_uid(&key, &other));
}

static void
uid_depends_on_every_part_of_the_key(void **state)
{
	struct flow_key key = make_key(6, "192.0.2.1", 40000, "198.51.100.2", 443);
	struct connection_origin origin = {.isn_known = true, .isn = 7};
	uint64_t uid = connection_uid(&key, &origin);

	(void)state;
	for (size_t i = 0; i < sizeof key; i++) {
		struct flow_key other = key;

		((uint8_t *)&other)[i] ^= 1;
		assert_int_not_equal(connection_uid(&other, &origin), uid);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(community_ids_are_those_of_the_baseline),
	    cmocka_unit_test(uid_is_the_same_for_ever),
	    cmocka_unit_test(uid_depends_on_the_isn_or_else_on_the_time),
	    cmocka_unit_test(uid_depends_on_every_part_of_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
