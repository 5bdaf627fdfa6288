/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters that netobsctl compiles are taken by netobsd, and select the frames of each link type. */
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "daemon/query/frame_programs.h"
#include "tools/write_client.h"

static bool
compile(const char *text, int dlt)
{
	char programs[WRITE_FILTER_MAX] = "", error[WRITE_FILTER_ERROR_MAX] = "", refused[320];
	bool good = write_filter_add(text, dlt, programs, error);
	struct frame_programs *taken;

	if (!good) {
		assert_string_not_equal(error, "");
		return false;
	}
	taken = frame_programs_new(programs, refused, sizeof refused);
	if (taken == NULL)
		fail_msg("%s: %s", text, refused);
	assert_true(frame_programs_have(taken, dlt));
	frame_programs_free(taken);
	return true;
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
	    "ip proto 6 and port 80",
	    "vlan 7 and port 80",
	    "ip[0] & 0xf != 5 and ip[2:2] / ip[8] > 3 and ip[1] << ip[9] > 1",
	    "ether[0] & 1 = 0 and ip6[6] % 7 = 3",
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (!compile(good[i], DLT_EN10MB))
			fail_msg("%s", good[i]);
	/* Names, as tcpdump has them, where /etc/services and /etc/protocols have them. */
	if (getservbyname("http", "tcp") != NULL && getprotobyname("tcp") != NULL)
		assert_true(compile("ip proto \\tcp and port http", DLT_EN10MB));
}

/* The frames of one filter may have several link types. */
static void
test_link_types(void **state)
{
	static const uint8_t ip[] = {0x45, 0, 0,  28, 0, 0, 0, 0,  64, 17, 0, 0, 10, 0,
				     0,	   1, 10, 0,  0, 2, 0, 53, 0,  54, 0, 8, 0,  0};
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
	char text[WRITE_FILTER_MAX] = "", text_of_other[WRITE_FILTER_MAX] = "", error[WRITE_FILTER_ERROR_MAX];
	struct frame_programs *port, *other;
	uint8_t frame[64];

	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		assert_true(write_filter_add("udp port 53", types[i].dlt, text, error));
		assert_true(write_filter_add("udp port 55", types[i].dlt, text_of_other, error));
	}
	port = frame_programs_new(text, error, sizeof error);
	other = frame_programs_new(text_of_other, error, sizeof error);
	assert_non_null(port);
	assert_non_null(other);
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		uint32_t length = (uint32_t)(types[i].header + sizeof ip);

		memcpy(frame, types[i].bytes, types[i].header);
		memcpy(frame + types[i].header, ip, sizeof ip);
		assert_true(frame_programs_select(port, types[i].dlt, frame, length, length));
		assert_false(frame_programs_select(other, types[i].dlt, frame, length, length));
		assert_false(frame_programs_select(port, types[i].dlt, frame, 10, length));
	}
	frame_programs_free(port);
	frame_programs_free(other);
	assert_true(compile("ether host 1:2:3:4:5:6", DLT_EN10MB));
	assert_false(compile("ether host 1:2:3:4:5:6", DLT_RAW));
}

/* What netobsd would not take has a reason. */
static void
test_refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} wrong[] = {
	    {"port", "bad filter for link type EN10MB: can't parse filter expression: syntax error"},
	    {"ip6 protochain 6", "it has a loop"},
	    {"tcp port 99999", "illegal port number 99999 > 65535"},
	};
	char programs[WRITE_FILTER_MAX] = "", error[WRITE_FILTER_ERROR_MAX], ports[65536] = "port 1";

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_false(write_filter_add(wrong[i].text, DLT_EN10MB, programs, error));
		if (strstr(error, wrong[i].reason) == NULL)
			fail_msg("%s: %s", wrong[i].text, error);
	}
	for (unsigned i = 2; i < 800; i++)
		snprintf(ports + strlen(ports), sizeof ports - strlen(ports), " or port %u", 3 * i);
	assert_false(write_filter_add(ports, DLT_EN10MB, programs, error));
	/* To libpcap's optimizer this is an error. */
	assert_true(compile("ip and ip6", DLT_EN10MB));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_link_types),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
