/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters of captures: no word reaches a lookup of names, which would block netobsd; other link types than Ethernet. */
#include <arpa/inet.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "daemon/query/frame_filter.h"

static unsigned lookups;

/* Replaces that of the C library for libpcap, which calls it with addresses of IPv6, too. */
int
getaddrinfo(const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
	    struct addrinfo **restrict result)
{
	struct in6_addr address;

	(void)service;
	(void)hints;
	*result = NULL;
	if (node == NULL || inet_pton(AF_INET6, node, &address) != 1)
		lookups++;
	return EAI_NONAME;
}

struct netent *
getnetbyname(const char *name)
{
	(void)name;
	lookups++;
	return NULL;
}

static bool
compile(const char *text, int dlt)
{
	char error[320] = "";
	struct frame_filter *filter = frame_filter_new(text, error, sizeof error);
	bool good = filter != NULL && frame_filter_add_link_type(filter, dlt, error, sizeof error);

	if (!good)
		assert_string_not_equal(error, "");
	frame_filter_free(filter);
	return good;
}

static void
test_good(void **state)
{
	static const char *const good[] = {
	    "tcp port 80",
	    "host 10.0.0.1 or net 10.1 mask 255.255.0.0",
	    "net 10.0.0.0/8",
	    "portrange 1-2 or 3-4",
	    "tcp[2:2] > 20 and tcp[tcpflags] & (tcp-syn|tcp-ack) = tcp-syn",
	    "tcp[((tcp[12] & 0xf0) >> 2):4] = 0x47455420",
	    "ip[2:2] -4 > len",
	    "ether host 1:2:3:4:5:6",
	    "ether host 00-11-22-33-44-ff",
	    "not arp",
	};

	(void)state;
	lookups = 0;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (!compile(good[i], DLT_EN10MB))
			fail_msg("%s", good[i]);
	assert_int_equal(lookups, 0);
}

/* libpcap takes each of them for a name. */
static void
test_names(void **state)
{
	static const char *const names[] = {
	    "host example",
	    "host 192.168.1.1.",
	    "host 1-2",
	    "host 1.2.3.4-5",
	    "host 1.2.3.4.5",
	    "host dead:beef",
	    "host 1:2-3:4:5:6",
	    "ether host dead:beef",
	    "portrange 1-2 or host 3-4",
	    "port 80-90",
	    "port http",
	    "net 1.2.3.4.5",
	    "ip proto 1-2",
	    "ip proto \\tcp",
	    "gateway 10.0.0.1",
	};

	(void)state;
	lookups = 0;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (compile(names[i], DLT_EN10MB))
			fail_msg("%s", names[i]);
	assert_int_equal(lookups, 0);
}

/* The frames of one filter may have several link types. */
static void
test_link_types(void **state)
{
	static const uint8_t ip[] = {0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1,
				     10,   0, 0, 2,  0, 53, 0, 54, 0,  8,  0, 0};
	static const struct {
		int dlt;
		size_t header;
		uint8_t bytes[20];
	} types[] = {
	    {DLT_RAW, 0, {0}},
	    {DLT_EN10MB, 14, {[12] = 8}},
	    {DLT_LINUX_SLL, 16, {[14] = 8}},
	    {DLT_LINUX_SLL2, 20, {[0] = 8}},
	};
	char error[320];
	struct frame_filter *port = frame_filter_new("udp port 53", error, sizeof error);
	struct frame_filter *other = frame_filter_new("udp port 55", error, sizeof error);
	uint8_t frame[64];

	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		uint32_t length = (uint32_t)(types[i].header + sizeof ip);

		assert_true(frame_filter_add_link_type(port, types[i].dlt, error, sizeof error));
		assert_true(frame_filter_add_link_type(other, types[i].dlt, error, sizeof error));
		memcpy(frame, types[i].bytes, types[i].header);
		memcpy(frame + types[i].header, ip, sizeof ip);
		assert_true(frame_filter_matches(port, types[i].dlt, frame, length, length));
		assert_false(frame_filter_matches(other, types[i].dlt, frame, length, length));
		assert_false(frame_filter_matches(port, types[i].dlt, frame, 10, length));
	}
	frame_filter_free(port);
	frame_filter_free(other);
	assert_true(compile("ether host 1:2:3:4:5:6", DLT_EN10MB));
	assert_false(compile("ether host 1:2:3:4:5:6", DLT_RAW));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_link_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
