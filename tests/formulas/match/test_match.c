/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses in prefixes, shell patterns and libpcap filters, compared with inet_pton(), fnmatch() and libpcap. */
#include <arpa/inet.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "dissect/frame.h"
#include "formulas/match/address.h"
#include "formulas/match/pattern.h"
#include "formulas/match/pcap_test.h"

static uint64_t state_of_random = 1;

static unsigned
below(unsigned limit)
{
	state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state_of_random >> 33) % limit;
}

/* -------------------------------------------------------------------------------------------------------- addresses */

/* Bytes in which zeros and equal bytes are frequent, so that "::" and hits are. */
static void
random_bytes(uint8_t bytes[16])
{
	for (unsigned i = 0; i < 16; i++)
		bytes[i] = below(3) > 0 ? 0 : (uint8_t)below(256);
	if (below(8) == 0)
		memcpy(bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
}

static bool
same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		if (((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1) != 0)
			return false;
	return true;
}

/* Any prefix and any address, near to each other: the comparison of text is that of bits. */
static void
text_is_in_a_prefix_if_its_bits_are(void **state)
{
	unsigned hits = 0;

	(void)state;
	for (unsigned i = 0; i < 300000; i++) {
		struct address address = {.version = below(2) == 0 ? 4 : 6};
		unsigned most = address.version == 4 ? 32 : 128;
		struct address_prefix prefix;
		uint8_t other[16];
		char text[46] = "";
		bool expected;

		address.bits = below(most + 1);
		random_bytes(address.bytes);
		memcpy(other, address.bytes, sizeof other);
		for (unsigned changes = below(3); changes > 0; changes--)
			other[below(most / 8)] ^= (uint8_t)(1u << below(8));
		address_mask(&address);
		assert_non_null(inet_ntop(most == 32 ? AF_INET : AF_INET6, other, text, sizeof text));
		address_prepare(&prefix, &address);
		expected = same_bits(address.bytes, other, address.bits);
		hits += expected;
		if (address_match(&prefix, text) != expected)
			fail_msg("%s in the first %u bits of another", text, address.bits);
		assert_false(most == 32 && address_match(&prefix, "2001:db8::1\0    "));
		assert_false(most == 128 && address_match(&prefix, "192.0.2.1\0     "));
		assert_false(address_match(&prefix, "<unknown>\0     "));
		assert_false(address_match(&prefix, "\0              "));
	}
	assert_in_range(hits, 50000, 250000);
}

static void
addresses_are_read(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		unsigned version, bits;
	} rows[] = {
		{"10.0.0.0/8", 10, 4, 8},    {"10.0.0.1 ", 8, 4, 32},	   {"2001:db8::/32,", 13, 6, 32},
		{"::1}", 3, 6, 128},	     {"fe80::1/999", 11, 6, 999}, {"10.0.0.1/x", 8, 4, 32},
		{"10.0.0", 0, 0, 0},	     {"80..90", 0, 0, 0},	   {"1.5ms", 0, 0, 0},
		{"dead", 0, 0, 0},	     {"1:2", 0, 0, 0},		   {"", 0, 0, 0},
		{"10.0.0.1/99999999999", 20, 4, 9999},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct address address = {0};

		assert_int_equal(address_parse(rows[i].text, &address), rows[i].length);
		if (rows[i].length > 0) {
			assert_int_equal(address.version, rows[i].version);
			assert_int_equal(address.bits, rows[i].bits);
		}
	}
}

/* --------------------------------------------------------------------------------------------------------- patterns */

static bool
matches(const char *text, size_t length, const char *bytes, size_t bytes_length)
{
	void *memory = malloc(pattern_size(length));
	bool result;

	assert_non_null(memory);
	result = pattern_match(pattern_prepare(memory, text, length), bytes, bytes_length);
	free(memory);
	return result;
}

static void
patterns_are_those_of_fnmatch(void **state)
{
	static const char pattern_bytes[] = "ab*?[]!-\\*", text_bytes[] = "ab-]c";
	unsigned correct = 0, hits = 0;

	(void)state;
	for (unsigned i = 0; i < 1000000; i++) {
		char pattern[12] = "", text[12] = "";
		size_t pattern_length = below(9), text_length = below(7);
		bool expected;

		for (size_t j = 0; j < pattern_length; j++)
			pattern[j] = pattern_bytes[below(sizeof pattern_bytes - 1)];
		for (size_t j = 0; j < text_length; j++)
			text[j] = text_bytes[below(sizeof text_bytes - 1)];
		/* In a set, '\\', "[" and a range without order mean more to glibc. */
		if (pattern_find_mistake(pattern, pattern_length) != pattern_length ||
		    (strchr(pattern, '[') != NULL && (strchr(pattern, '\\') != NULL ||
						       strchr(pattern, '[') != strrchr(pattern, '['))))
			continue;
		correct++;
		expected = fnmatch(pattern, text, 0) == 0;
		hits += expected;
		if (matches(pattern, pattern_length, text, text_length) != expected)
			fail_msg("\"%s\" ~ \"%s\" is not %d", text, pattern, expected);
	}
	assert_true(correct > 100000 && hits > 20000);
}

/* A long pattern is one of several words: the text matches it across their borders, and no other text does. */
static void
long_patterns_match(void **state)
{
	char pattern[PATTERN_MAX], text[PATTERN_MAX];

	(void)state;
	for (size_t length = 1; length <= PATTERN_MAX; length += length < 200 ? 1 : 37) {
		size_t star = below((unsigned)length);

		for (size_t i = 0; i < length; i++)
			pattern[i] = text[i] = (char)('a' + below(4));
		assert_true(matches(pattern, length, text, length));
		assert_false(matches(pattern, length, text, length - 1));
		pattern[star] = '*';
		assert_true(matches(pattern, length, text, length));
		text[star] = '*';
		assert_true(matches(pattern, length, text, length));
		text[star > 0 ? star - 1 : length - 1] = 'x';
		assert_int_equal(matches(pattern, length, text, length), length == 1);
	}
}

static void
a_pattern_with_many_stars_takes_no_exponential_time(void **state)
{
	char pattern[400] = "", text[4000];

	(void)state;
	for (unsigned i = 0; i < 130; i++)
		memcpy(pattern + 3 * i, "*a?", 4);
	memcpy(pattern + 390, "b", 2);
	memset(text, 'a', sizeof text);
	assert_false(matches(pattern, strlen(pattern), text, sizeof text));
}

/* ---------------------------------------------------------------------------------------------------------- filters */

static bool
filter_matches(const struct pcap_test *test, int dlt, const char *bytes, uint32_t caplen, uint32_t length)
{
	struct frame frame = {.data = (const uint8_t *)bytes, .caplen = caplen, .len = length, .dlt = dlt};

	return pcap_test_match(test, &frame);
}

static void
filters_are_libpcaps_on_every_link_type(void **state)
{
	static const char tagged[64] = "\0\0\x5e\0\x53\1\0\0\x5e\0\x53\2\x81\0\0\5\x08\0\x45";
	static const char raw[64] = "\x45\0\0\x28\0\0\0\0\x40\x06";
	char message[200];
	struct pcap_test *test = pcap_test_new("vlan and greater 1000", NULL, message, sizeof message);

	(void)state;
	assert_non_null(test);
	assert_true(filter_matches(test, DLT_EN10MB, tagged, 64, 1000));
	assert_false(filter_matches(test, DLT_EN10MB, tagged, 64, 999));
	assert_false(filter_matches(test, DLT_EN10MB, tagged, 13, 1000)); /* truncated */
	assert_false(filter_matches(test, DLT_RAW, raw, 64, 1000));	     /* no VLAN on raw IP */
	assert_false(filter_matches(test, 147, tagged, 64, 1000));	     /* not dissected */
	test = pcap_test_new("ip proto 6", test, message, sizeof message);
	assert_non_null(test);
	assert_true(filter_matches(test, DLT_RAW, raw, 64, 64));
	assert_true(filter_matches(test, 101, raw, 64, 64)); /* LINKTYPE_RAW */
	assert_true(filter_matches(test, DLT_IPV4, raw, 64, 64));
	assert_false(filter_matches(test, DLT_EN10MB, raw, 64, 64));
	assert_null(pcap_test_new("nonsense and", test, message, sizeof message));
	assert_true(message[0] != '\0');
	pcap_test_free(test);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_in_a_prefix_if_its_bits_are),
		cmocka_unit_test(addresses_are_read),
		cmocka_unit_test(patterns_are_those_of_fnmatch),
		cmocka_unit_test(long_patterns_match),
		cmocka_unit_test(a_pattern_with_many_stars_takes_no_exponential_time),
		cmocka_unit_test(filters_are_libpcaps_on_every_link_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
