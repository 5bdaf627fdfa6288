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
#include "formulas/match/filter_text.h"
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
    "tcp||port #",
    "l1||port #",
    "tcp&&!(port #)",
    "proto \\tcp ||proto #",
    "decnet host 1.2||decnet host 1.#",
    "proto 6||snp||proto #",
    "ip6 protochain 6||ip6 protochain #",
    "ip proto 6||icmp||(port #)",
    "- - - - len = #",
    "len - # = 1",
    "llc||llc i||less #",
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
				if (size > 3 * estimate + 32)
					fail_msg("%u times \"%s\", link type %d: %u, estimated %u", count,
						 primitives[i], dlt, size, estimate);
			}
		}
	}
}

/* ------------------------------------------------------------------------------------------ filters of all kinds */

static uint32_t
draw(uint32_t below)
{
	static uint32_t state = 12345;

	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

struct writer {
	char text[TEXT_SIZE];
	size_t used;
};

static void
put(struct writer *w, const char *text)
{
	w->used += (size_t)snprintf(w->text + w->used, TEXT_SIZE - w->used, "%s", text);
	assert_true(w->used < TEXT_SIZE);
}

static const char *
choose(const char *const *list, size_t count)
{
	return list[draw((uint32_t)count)];
}

#define CHOOSE(...) \
	choose((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void
put_number(struct writer *w, uint32_t below)
{
	char number[16];

	snprintf(number, sizeof number, "%u", draw(below) + 1);
	put(w, number);
}

static void
put_operator(struct writer *w)
{
	put(w, CHOOSE(" and ", " or ", "&&", "||", " && ", " || ", "\n&&\t", "|| "));
}

/* One value, or several with the words in front of them implied, with parentheses or without. */
static void
put_values(struct writer *w, const char *before, uint32_t below, const char *after)
{
	unsigned count = draw(3) == 0 ? 1 + draw(4) : 1;
	bool parentheses = count > 1 && draw(2) == 0;

	put(w, parentheses ? "(" : "");
	for (unsigned i = 0; i < count; i++) {
		put(w, i == 0 ? "" : CHOOSE(" or ", "||", " || "));
		put(w, before);
		put_number(w, below);
		put(w, after);
	}
	put(w, parentheses ? ")" : "");
}

static void
put_operand(struct writer *w, unsigned depth)
{
	switch (draw(depth > 2 ? 2 : 5)) {
	case 0:
		put_number(w, 200);
		break;
	case 1:
		put(w, CHOOSE("len", "0x7f", "len", "tcp-syn", "tcpflags"));
		break;
	case 2:
		put(w, CHOOSE("tcp[", "udp[", "icmp[", "icmp6[", "ip[", "ip6[", "ether[", "arp[", "igmp[", "pim[",
			      "sctp["));
		put_operand(w, depth + 1);
		put(w, CHOOSE("]", ":1]", ":2]", " : 4]"));
		break;
	case 3:
		put(w, CHOOSE("-", "- ", "- -"));
		put(w, "(");
		put_operand(w, depth + 1);
		put(w, ")");
		break;
	default:
		put(w, "(");
		put_operand(w, depth + 1);
		put(w, CHOOSE("+", " + ", "-", " - ", "*", "/ ", "&", "|", " & ", " | ", "^", "<<", ">> "));
		put_operand(w, depth + 1);
		put(w, ")");
	}
}

static void
put_primitive(struct writer *w)
{
	const char *side = CHOOSE("", "", "src ", "dst ", "src or dst ", "src||dst ", "src and dst ", "src&&dst ");

	switch (draw(14)) {
	case 0:
	case 1:
		put(w, CHOOSE("", "", "tcp ", "udp ", "sctp "));
		put(w, side);
		put(w, "port ");
		put_values(w, "", 9000, "");
		break;
	case 2:
		put(w, CHOOSE("", "tcp ", "udp "));
		put(w, side);
		put(w, "portrange ");
		put_values(w, "", 900, "-950");
		break;
	case 3:
		put(w, CHOOSE("", "ip ", "arp ", "rarp "));
		put(w, side);
		put(w, CHOOSE("host ", "", "host "));
		put_values(w, "10.0.0.", 200, "");
		break;
	case 4:
		put(w, CHOOSE("", "ip6 "));
		put(w, side);
		put(w, "host ");
		put_values(w, "2001:db8::", 9, "");
		break;
	case 5:
		put(w, CHOOSE("", "ip "));
		put(w, side);
		put(w, "net ");
		put_values(w, "10.", 200, CHOOSE("", ".0.0/16", ".0/24", ".0.0 mask 255.255.0.0"));
		break;
	case 6:
		put(w, side);
		put(w, "net ");
		put_values(w, "2001:db8:", 9, "::/48");
		break;
	case 7:
		put(w, CHOOSE("ether host ", "ether src ", "ether dst "));
		put_values(w, "2:0:0:0:0:", 9, "");
		break;
	case 8:
		put(w, CHOOSE("proto ", "ip proto ", "ip6 proto ", "ether proto ", "ip protochain ", "ip6 protochain ",
			      "protochain ", "iso proto ", "isis proto "));
		put_values(w, "", 200, "");
		break;
	case 9:
		put(w,
		    CHOOSE("vlan", "vlan 7", "mpls", "mpls 7", "pppoes", "pppoes 7", "pppoed", "geneve", "geneve 7"));
		break;
	case 10:
		put_operand(w, 0);
		put(w, CHOOSE("=", "!=", " > ", " <= ", "=="));
		put_operand(w, 0);
		break;
	case 11:
		put(w, CHOOSE("less ", "greater "));
		put_number(w, 1000);
		break;
	case 12:
		put(w, CHOOSE("proto \\tcp", "ether proto \\ip", "ether proto \\arp", "decnet host 1.2",
			      "decnet src 1.2", "llc", "llc i", "llc sabme", "type mgt", "dir fromds", "inbound",
			      "ip multicast", "ether broadcast", "proto \\udp", "ip proto \\icmp", "iso proto \\clnp"));
		break;
	default:
		put(w, CHOOSE("tcp", "udp", "icmp", "icmp6", "ip", "ip6", "arp", "rarp", "sctp", "igmp", "pim", "vrrp",
			      "carp", "ah", "esp", "l1", "l2", "iih", "lsp", "snp", "csnp", "psnp", "iso", "isis",
			      "esis", "clnp", "stp", "ipx", "netbeui", "atalk", "aarp", "decnet", "lat", "sca", "moprc",
			      "mopdl", "broadcast", "multicast", "igrp"));
	}
}

static void
put_filter(struct writer *w, unsigned terms, unsigned depth)
{
	for (unsigned i = 0; i < terms; i++) {
		if (i > 0)
			put_operator(w);
		put(w, CHOOSE("", "", "not ", "!", "! "));
		if (depth < 4 && draw(4) == 0) {
			put(w, "(");
			put_filter(w, 1 + draw(4), depth + 1);
			put(w, ")");
		} else {
			put_primitive(w);
		}
	}
}

/* Of one filter: within a tenth for Ethernet, three times as many for the other link types, and their first look at the
 * lengths of headers. */
static void
check_estimate(const char *text, unsigned *accepted)
{
	static const int links[] = {DLT_EN10MB, DLT_LINUX_SLL,	      DLT_LINUX_SLL2, DLT_RAW,
				    DLT_NULL,	DLT_IEEE802_11_RADIO, DLT_PPP};
	unsigned estimate = filter_size_estimate(text);

	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
		unsigned size = size_of(text, links[i]);

		*accepted += links[i] == DLT_EN10MB && size > 0;
		if (links[i] == DLT_EN10MB ? size * 10 > estimate * 11 : size > 3 * estimate + 32)
			fail_msg("link type %d: %u, estimated %u: \"%s\"", links[i], size, estimate, text);
	}
}

static void
estimates_hold_for_all_kinds(void **state)
{
	static struct writer once, many;
	unsigned accepted = 0;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		once.used = many.used = 0;
		put_filter(&once, 1 + draw(i % 10 == 0 ? 12 : 3), 0);
		check_estimate(once.text, &accepted);
		for (unsigned j = 0; i % 10 == 1 && j < 12; j++) {
			put(&many, j > 0 ? "||" : "");
			put(&many, once.text);
		}
		if (many.used > 0)
			check_estimate(many.text, &accepted);
	}
	assert_in_range(accepted, 1000, 4000);
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
	    cmocka_unit_test(estimates_are_not_too_low),  cmocka_unit_test(estimates_hold_for_all_kinds),
	    cmocka_unit_test(alternatives_are_estimated), cmocka_unit_test(a_definition_compiles_little),
	    cmocka_unit_test(a_formula_compiles_little),  cmocka_unit_test(link_types_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
