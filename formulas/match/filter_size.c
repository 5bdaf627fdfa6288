/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/filter_size.h"

#include <stdio.h>
#include <string.h>

#include "formulas/match/filter_words.h"

/* Instructions of an operand of arithmetic, of an access to bytes, of a value whose kind is not named, and of the first
 * jumps and the end of a program. */
#define SIZE_OPERAND 6u
#define SIZE_ACCESS  12u
#define SIZE_VALUE   36u
#define SIZE_FIXED   4u

/* Words that are not values.  A word that is in no table, such as a name, counts as a value. */
static const struct {
	const char *word;
	unsigned size;
} plain_words[] = {
    {"and", 0},	     {"or", 0},	      {"not", 0},     {"src", 0},    {"dst", 0},     {"mask", 0},     {"ip", 3},
    {"ip6", 3},	     {"arp", 3},      {"rarp", 3},    {"ether", 3},  {"link", 3},    {"wlan", 3},     {"mpls", 3},
    {"pppoes", 3},   {"pppoed", 3},   {"len", 3},     {"length", 3}, {"less", 3},    {"greater", 3},  {"inbound", 3},
    {"outbound", 3}, {"broadcast", 4}, {"multicast", 4}, {"vlan", 11}, {"icmp", 5},    {"igmp", 5},     {"vrrp", 5},
    {"icmp6", 11},   {"tcp", 15},     {"udp", 15},    {"sctp", 15},  {"ah", 15},     {"esp", 15},     {"pim", 15},
    {"geneve", 90},  {"l1", 45},      {"l2", 45},
};

/* Words that say what the values behind them are, also those of later alternatives, as in "port 1 or 2".  `named`: if
 * the protocol is named in front of the word. */
static const struct value_kind {
	const char *word;
	unsigned size, named;
} value_kinds[] = {
    {"host", SIZE_VALUE, 25},   {"net", SIZE_VALUE, 31}, {"proto", 15, 15},
    {"port", 64, 24},		      {"portrange", 94, 35},	       {"protochain", 60, 24},
};

struct estimate {
	unsigned size;
	unsigned value;	   /* of each value */
	unsigned protocol; /* of the protocol that is named in front of the next word, 0 none */
	bool side;	   /* the last word was "src" or "dst", as in "src or dst" */
	bool geneve;	   /* libpcap tests what is inside and outside */
};

static bool
word_is(const char *word, size_t length, const char *known)
{
	return strlen(known) == length && memcmp(word, known, length) == 0;
}

/* Whether a word behind `before`, the end of the text in front of it, is an operand: "&&" and "||" are not
 * arithmetic. */
static bool
word_is_operand(const char *text, const char *before)
{
	while (before > text && strchr(" \t\r\n", before[-1]) != NULL)
		before--;
	if (before == text || strchr("=<>+*/%^&|:[", before[-1]) == NULL)
		return false;
	return (before[-1] != '&' && before[-1] != '|') || before == text + 1 || before[-2] != before[-1];
}

static bool
estimate_add_kind(struct estimate *estimate, const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof value_kinds / sizeof value_kinds[0]; i++) {
		const struct value_kind *kind = &value_kinds[i];

		if (!word_is(word, length, kind->word))
			continue;
		estimate->value = estimate->protocol != 0 ? kind->named : kind->size;
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
		estimate->geneve |= word_is(word, length, "geneve");
		return true;
	}
	return false;
}

unsigned
filter_size_estimate(const char *text)
{
	struct estimate estimate = {.size = SIZE_FIXED, .value = SIZE_VALUE};
	const char *word = text;
	unsigned brackets = 0;
	size_t length;

	for (const char *c = text; *c != '\0'; c++)
		estimate.size += *c == '[' ? SIZE_ACCESS : 0;
	for (; (word = filter_words_next(word, &brackets, &length)) != NULL; word += length) {
		if (estimate_add_kind(&estimate, word, length) || estimate_add_plain(&estimate, word, length))
			continue;
		estimate.size += brackets > 0 || word_is_operand(text, word) ? SIZE_OPERAND : estimate.value;
		estimate.protocol = 0;
		estimate.side = false;
	}
	return estimate.geneve ? 2 * estimate.size : estimate.size;
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
