/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/filter_size.h"

#include <stdio.h>
#include <string.h>

#include "formulas/match/filter_words.h"

/* Instructions of an operand of arithmetic, of an access to bytes, of a sign, of a value whose kind is not named, of an
 * address of DECnet, and of the first jumps and the end of a program. */
#define SIZE_OPERAND 6u
#define SIZE_ACCESS  12u
#define SIZE_MINUS   5u
#define SIZE_VALUE   36u
#define SIZE_DECNET  52u
#define SIZE_FIXED   4u

/* Words that are not values.  A word that is in no table, such as a name, counts as a value. */
static const struct {
	const char *word;
	unsigned size;
} plain_words[] = {
    {"and", 0},	     {"or", 0},		{"not", 0},	  {"src", 0},	 {"dst", 0},  {"mask", 0},    {"ip", 4},
    {"ip6", 4},	     {"arp", 4},	{"rarp", 4},	  {"ether", 4},	 {"link", 4}, {"wlan", 4},    {"mpls", 4},
    {"pppoes", 4},   {"pppoed", 4},	{"len", 6},	  {"length", 6}, {"less", 3}, {"greater", 3}, {"inbound", 3},
    {"outbound", 3}, {"broadcast", 12}, {"multicast", 9}, {"vlan", 11},	 {"icmp", 5}, {"igmp", 5},    {"vrrp", 5},
    {"icmp6", 11},   {"tcp", 15},	{"udp", 15},	  {"sctp", 15},	 {"ah", 15},  {"esp", 15},    {"pim", 15},
    {"geneve", 90},  {"l1", 45},	{"l2", 45},
};

/* Words that say what the values behind them are, also those of later alternatives, as in "port 1 or 2".  `named`: if
 * the protocol is named in front of the word. */
static const struct value_kind {
	const char *word;
	unsigned size, named;
} value_kinds[] = {
    {"host", SIZE_VALUE, 29}, {"net", SIZE_VALUE, 31}, {"proto", 15, 15},   {"port", 64, 24},
    {"portrange", 94, 35},    {"protochain", 60, 60},  {"gateway", 64, 64},
};

struct estimate {
	unsigned size;
	unsigned value;	   /* of the value that the last word announces, 0 none */
	unsigned implied;  /* of any other value: the most of the kinds so far, 0 none */
	unsigned protocol; /* of the protocol that is named in front of the next word, 0 none */
	bool side;	   /* the last word was "src" or "dst", as in "src or dst" */
	bool twice;	   /* libpcap tests what is inside and outside, or the stack of labels each time */
	bool decnet;
};

static bool
word_is(const char *word, size_t length, const char *known)
{
	return strlen(known) == length && memcmp(word, known, length) == 0;
}

static unsigned
larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Whether a word behind `before`, the end of the text in front of it, is an operand: "&&" and "||" are not
 * arithmetic. */
static bool
word_is_operand(const char *text, const char *before)
{
	while (before > text && strchr(" \t\r\n", before[-1]) != NULL)
		before--;
	if (before == text || strchr("=<>+-*/%^&|:[", before[-1]) == NULL)
		return false;
	return (before[-1] != '&' && before[-1] != '|') || before == text + 1 || before[-2] != before[-1];
}

/* The text between two words: symbols separate a protocol from a kind as words do. */
static void
estimate_add_gap(struct estimate *estimate, const char *gap, const char *end)
{
	for (; gap < end; gap++) {
		if (strchr(" \t\r\n", *gap) != NULL)
			continue;
		estimate->size += *gap == '[' ? SIZE_ACCESS : *gap == '-' ? SIZE_MINUS : 0;
		estimate->protocol = 0;
		estimate->side = false;
	}
}

static bool
estimate_add_kind(struct estimate *estimate, const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof value_kinds / sizeof value_kinds[0]; i++) {
		const struct value_kind *kind = &value_kinds[i];

		if (!word_is(word, length, kind->word))
			continue;
		estimate->value = estimate->protocol != 0 ? kind->named : kind->size;
		estimate->implied = larger(estimate->implied, estimate->value);
		estimate->size -= estimate->protocol;
		estimate->protocol = 0;
		return true;
	}
	return false;
}

static bool
estimate_add_plain(struct estimate *estimate, const char *word, size_t length)
{
	bool side = word_is(word, length, "src") || word_is(word, length, "dst");

	for (size_t i = 0; i < sizeof plain_words / sizeof plain_words[0]; i++) {
		unsigned size = plain_words[i].size;

		if (!word_is(word, length, plain_words[i].word))
			continue;
		estimate->size += size;
		if (size != 0)
			estimate->protocol = size;
		else if (!side && !estimate->side)
			estimate->protocol = 0;
		estimate->side = side;
		estimate->twice |= word_is(word, length, "geneve") || word_is(word, length, "mpls");
		return true;
	}
	return false;
}

/* A word that is in no table: a value, or a word of the language such as "snp", which may be larger than the values.
 * "dst 10.0.0.1" is a host, whatever the kinds in front of it. */
static void
estimate_add_value(struct estimate *estimate, const char *word, size_t length)
{
	bool digit = *word >= '0' && *word <= '9', qualified = estimate->protocol != 0 || estimate->side;
	unsigned size = estimate->value;

	estimate->decnet |= word_is(word, length, "decnet");
	if (size == 0)
		size = digit && !qualified && estimate->implied != 0 ? estimate->implied
								     : larger(estimate->implied, SIZE_VALUE);
	estimate->size += estimate->decnet ? larger(size, SIZE_DECNET) : size;
	estimate->value = estimate->protocol = 0;
	estimate->side = false;
}

unsigned
filter_size_estimate(const char *text)
{
	struct estimate estimate = {.size = SIZE_FIXED};
	const char *end = text, *word;
	unsigned brackets = 0;
	size_t length;

	for (; (word = filter_words_next(end, &brackets, &length)) != NULL; end = word + length) {
		bool escaped = word > text && word[-1] == '\\';

		estimate_add_gap(&estimate, end, word);
		if (!escaped &&
		    (estimate_add_kind(&estimate, word, length) || estimate_add_plain(&estimate, word, length)))
			continue;
		if (!escaped && (brackets > 0 || word_is_operand(text, word)))
			estimate.size += SIZE_OPERAND;
		else
			estimate_add_value(&estimate, word, length);
	}
	estimate_add_gap(&estimate, end, end + strlen(end));
	return estimate.twice ? 2 * estimate.size : estimate.size;
}

bool
filter_size_check(const char *text, unsigned most, char *error, size_t size)
{
	unsigned estimate = filter_size_estimate(text);

	if (estimate <= most)
		return true;
	snprintf(error, size,
		 "the filter is too big: about %u instructions, at most %u; \"tcp port 1\" has fewer than \"port 1\", "
		 "and \"portrange 1-9\" than its ports",
		 estimate, most);
	return false;
}
