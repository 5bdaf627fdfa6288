/* SPDX-License-Identifier: BSD-2-Clause */
/* The estimated size of filters, compared with what libpcap compiles, and how much it compiles for a formula. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "dissect/dissect.h"
#include "dissect/frame.h"
#include "formulas/formula.h"
#include "formulas/match/filter_size.h"
#include "formulas/match/pcap_test.h"

#define TEXT_SIZE 32768

static unsigned compiled; /* calls for a formula */
static unsigned largest;  /* instructions of the largest of these programs without optimization */

static int
compile(pcap_t *pcap, struct bpf_program *program, const char *text, int optimize)
{
	static int (*libpcaps)(pcap_t *, struct bpf_program *, const char *, int, bpf_u_int32);

	if (libpcaps == NULL)
		*(void **)&libpcaps = dlsym(RTLD_NEXT, "pcap_compile");
	return libpcaps(pcap, program, text, optimize, PCAP_NETMASK_UNKNOWN);
}

/* Instructions without optimization, 0 if the link type does not allow the filter. */
static unsigned
size_of(const char *text, int dlt)
{
	pcap_t *pcap = pcap_open_dead(dlt, 65535);
	struct bpf_program program;
	unsigned size = 0;

	if (compile(pcap, &program, text, 0) == 0) {
		size = program.bf_len;
		pcap_freecode(&program);
	}
	pcap_close(pcap);
	return size;
}

/* Replaces that of libpcap for the formulas. */
int
pcap_compile(pcap_t *pcap, struct bpf_program *program, const char *text, int optimize, bpf_u_int32 mask)
{
	unsigned size = size_of(text, pcap_datalink(pcap));

	(void)mask;
	compiled++;
	largest = size > largest ? size : largest;
	return compile(pcap, program, text, optimize);
}

/* "port 1 or port 2 ...": "#" stands for the number. */
static const char *
repeat(const char *primitive, const char *between, unsigned count)
{
	static char text[TEXT_SIZE];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 1; i <= count; i++) {
		size_t head = strcspn(primitive, "#");

		used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s%.*s%u%s", i > 1 ? between : "", (int)head,
					 primitive, i % 200 + 1, primitive + head + 1);
		assert_true(used < TEXT_SIZE);
	}
	return text;
}

static const char *const primitives[] = {
    "port #",
    "tcp port #",
    "udp src port #",
    "src or dst port #",
    "tcp src or dst port #",
    "portrange #-700",
    "tcp portrange #-700",
    "tcp and port #",
    "host 10.0.0.#",
    "src host 10.0.0.#",
    "ip host 10.0.0.#",
    "arp host 10.0.0.#",
    "host 10.0.0.1 and port #",
    "(host 10.0.0.# && ! port 22)",
    "net 10.0.#.0/24",
    "net 10.0.#.0 mask 255.255.255.0",
    "host 2001:db8::#",
    "net 2001:db8:#::/48",
    "ether host 1:2:3:4:5:#",
    "ip proto #",
    "proto #",
    "ip protochain #",
    "tcp[#] = 1",
    "tcp[tcpflags] & tcp-syn != #",
    "tcp[tcp[#]] = tcp[tcp[1]]",
    "ip[0] + ip[1] + ip[2] + ip[3] = #",
    "ip6[#] = 1",
    "ether[#:2] = 1",
    "udp[#:2] = 1 || icmp6",
    "len > #",
    "less #",
    "1 = #",
    "(ip and tcp and less #)",
    "(vrrp or igmp or icmp or less #)",
    "(csnp or l1 or less #)",
    "(isis or iso or stp or ipx or atalk or less #)",
    "decnet host 1.#",
    "(broadcast or multicast or less #)",
    "(esp or ah or pim or sctp or less #)",
};

static void
estimates_are_not_too_low(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++) {
		for (unsigned count = 1; count <= 12; count += 11) {
			const char *text = repeat(primitives[i], count % 2 ? " or " : " and not ", count);
			unsigned size = size_of(text, DLT_EN10MB), estimate = filter_size_estimate(text);

			/* long filters are lists of ports and addresses */
			bool list = strstr(text, "port") != NULL || strstr(text, "host") != NULL;

			if (size == 0 || estimate * 11 < size * 10 || (list && estimate > 4 * size))
				fail_msg("%u times \"%s\": %u, estimated %u", count, primitives[i], size, estimate);
			for (int dlt = 0; dlt < 300; dlt++) {
				size = dissect_link_supported(dlt) && count > 1 ? size_of(text, dlt) : 0;
				if (size > 6 * estimate)
					fail_msg("%u times \"%s\", link type %d: %u, estimated %u", count,
						 primitives[i], dlt, size, estimate);
			}
		}
	}
}

/* Values without a word in front of them are of the same kind. */
static void
alternatives_are_estimated(void **state)
{
	char text[TEXT_SIZE];

	(void)state;
	snprintf(text, sizeof text, "tcp port 7 or %s", repeat("#", " or ", 100));
	assert_in_range(filter_size_estimate(text), size_of(text, DLT_EN10MB), 2500);
	snprintf(text, sizeof text, "port 7 || %s", repeat("#", " || ", 50));
	assert_in_range(filter_size_estimate(text), size_of(text, DLT_EN10MB), 3500);
	snprintf(text, sizeof text, "geneve and (%s)", repeat("port #", " or ", 10));
	assert_in_range(filter_size_estimate(text), size_of(text, DLT_EN10MB), 2000);
	assert_in_range(filter_size_estimate(""), 1, 10);
}

/* Defines `count` formulas' worth of ports in one; returns whether it is accepted. */
static bool
define(const char *filter, char message[256])
{
	struct pcap_test *test;

	compiled = largest = 0;
	test = pcap_test_new(filter, NULL, message, 256);
	pcap_test_free(test);
	return test != NULL;
}

static void
a_definition_compiles_little(void **state)
{
	char message[256];

	(void)state;
	assert_true(define("port 1", message));
	assert_in_range(compiled, 20, 60); /* for every link type */
	assert_true(define(repeat("port #", " or ", 4), message));
	assert_in_range(largest, 1, 600);
	assert_true(define(repeat("port #", " or ", 60), message));
	assert_int_equal(compiled, 1); /* for Ethernet */
	assert_in_range(largest, 3000, FILTER_SIZE_MAX);
	assert_true(define(repeat("tcp port #", " or ", 160), message));
	assert_true(define("wlan addr1 1:2:3:4:5:6 and ether[0] = 1", message)); /* not for Ethernet */
	for (const unsigned *count = (const unsigned[]){79, 169, 1000, 0}; *count != 0; count++) {
		assert_false(define(repeat("port #", " or ", *count), message));
		assert_int_equal(compiled, 0);
		assert_non_null(strstr(message, "the filter is too big: about "));
	}
	assert_false(define(repeat("port http or port #", " or ", 20), message)); /* it would be looked up later */
	assert_int_equal(compiled, 0);
	assert_non_null(strstr(message, "too big for \"http\""));
}

/* The limit holds for all filters of a formula together. */
static void
a_formula_compiles_little(void **state)
{
	char text[FORMULA_TEXT_MAX + 1];
	const char *ports = repeat("port #", " or ", 50);
	struct formula_error error;

	(void)state;
	snprintf(text, sizeof text, "x = gld-receive where pcap(\"%s\") || pcap(\"%s\")", ports, ports);
	compiled = largest = 0;
	assert_null(formula_compile(text, &error));
	assert_int_equal(compiled, 1);
	assert_non_null(strstr(error.message, "the filter is too big: about "));
}

static bool
matches(const struct pcap_test *test, int dlt, const char *bytes)
{
	struct frame frame = {.data = (const uint8_t *)bytes, .caplen = 64, .len = 64, .dlt = dlt};

	return pcap_test_match(test, &frame);
}

/* A large filter is compiled once for each link type, when a frame has it. */
static void
link_types_come_later(void **state)
{
	static const char raw[64] = "\x45\0\0\x28\0\0\0\0\x40\x06\0\0\x0a\0\0\1\x0a\0\0\2\x30\x39\0\x28";
	static char cooked[64], other[64];
	char message[256];
	struct pcap_test *test = pcap_test_new(repeat("port #", " or ", 40), NULL, message, sizeof message);

	(void)state;
	assert_non_null(test);
	memcpy(cooked, "\0\0\0\1\0\6\2\0\0\0\0\1\0\0\x08\0", 16);
	memcpy(cooked + 16, raw, 48);
	memcpy(other, raw, sizeof other);
	other[23] = 100;
	compiled = 0;
	for (unsigned i = 0; i < 3; i++) {
		assert_true(matches(test, DLT_RAW, raw));
		assert_false(matches(test, DLT_RAW, other));
		assert_true(matches(test, DLT_LINUX_SLL, cooked));
		assert_false(matches(test, 147, raw)); /* not dissected */
	}
	assert_int_equal(compiled, 2);
	pcap_test_free(test);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(estimates_are_not_too_low),
	    cmocka_unit_test(alternatives_are_estimated),
	    cmocka_unit_test(a_definition_compiles_little),
	    cmocka_unit_test(a_formula_compiles_little),
	    cmocka_unit_test(link_types_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
