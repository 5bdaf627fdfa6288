/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/filter_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words of the language, except "protochain", whose programs contain loops, and "gateway", which needs a name. */
static const char *const filter_words[] = {
    "aarp",
    "addr1",
    "addr2",
    "addr3",
    "addr4",
    "address1",
    "address2",
    "address3",
    "address4",
    "ah",
    "and",
    "arp",
    "atalk",
    "atm",
    "broadcast",
    "byte",
    "carp",
    "clnp",
    "csnp",
    "decnet",
    "dir",
    "direction",
    "dst",
    "es-is",
    "esis",
    "esp",
    "ether",
    "fddi",
    "geneve",
    "greater",
    "host",
    "icmp",
    "icmp-echo",
    "icmp-echoreply",
    "icmp-ireq",
    "icmp-ireqreply",
    "icmp-maskreply",
    "icmp-maskreq",
    "icmp-paramprob",
    "icmp-redirect",
    "icmp-routeradvert",
    "icmp-routersolicit",
    "icmp-sourcequench",
    "icmp-timxceed",
    "icmp-tstamp",
    "icmp-tstampreply",
    "icmp-unreach",
    "icmp6",
    "icmp6-destinationunreach",
    "icmp6-echo",
    "icmp6-echoreply",
    "icmp6-neighboradvert",
    "icmp6-neighborsolicit",
    "icmp6-packettoobig",
    "icmp6-parameterproblem",
    "icmp6-redirect",
    "icmp6-routeradvert",
    "icmp6-routersolicit",
    "icmp6-timeexceeded",
    "icmp6code",
    "icmp6type",
    "icmpcode",
    "icmptype",
    "ifindex",
    "igmp",
    "igrp",
    "iih",
    "inbound",
    "ip",
    "ip6",
    "ipx",
    "is-is",
    "isis",
    "iso",
    "l1",
    "l2",
    "lat",
    "len",
    "length",
    "less",
    "link",
    "llc",
    "lsp",
    "mask",
    "mopdl",
    "moprc",
    "mpls",
    "multicast",
    "net",
    "netbeui",
    "not",
    "or",
    "outbound",
    "pim",
    "port",
    "portrange",
    "ppp",
    "pppoed",
    "pppoes",
    "proto",
    "psnp",
    "ra",
    "rarp",
    "sca",
    "sctp",
    "slip",
    "snp",
    "src",
    "stp",
    "subtype",
    "ta",
    "tcp",
    "tcp-ack",
    "tcp-cwr",
    "tcp-ece",
    "tcp-fin",
    "tcp-push",
    "tcp-rst",
    "tcp-syn",
    "tcp-urg",
    "tcpflags",
    "tr",
    "type",
    "udp",
    "vlan",
    "vrrp",
    "wlan",
};

static int
filter_compare_word(const void *word, const void *known)
{
	return strcmp(word, *(const char *const *)known);
}

/* Whether a word is a number, or an IPv4 address or network, which may lack its last parts. */
static bool
filter_is_dotted_number(const char *word)
{
	for (unsigned dots = 0; dots < 4; dots++) {
		size_t digits = strspn(word, "0123456789");

		if (digits == 0 || word[digits] == '\0')
			return digits > 0;
		if (word[digits] != '.')
			return false;
		word += digits + 1;
	}
	return false;
}

/* Whether a word is an Ethernet address: six numbers of one or two digits with the same separator. */
static bool
filter_is_ethernet_address(const char *word)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	char separator = '\0';

	for (unsigned i = 0; i < 6; i++) {
		size_t length = strspn(word, digits);

		if (length == 0 || length > 2)
			return false;
		word += length;
		separator = i == 0 ? *word : separator;
		if (i < 5 && ((separator != ':' && separator != '-') || *word++ != separator))
			return false;
	}
	return *word == '\0';
}

/* Whether a word is two numbers with a hyphen between them. */
static bool
filter_is_port_range(const char *word)
{
	size_t first = strspn(word, "0123456789"), second;

	if (first == 0 || word[first] != '-')
		return false;
	second = strspn(word + first + 1, "0123456789");
	return second > 0 && word[first + 1 + second] == '\0';
}

/* Whether a word needs no lookup: a number, or an address of IPv4, IPv6 or Ethernet.  libpcap takes anything similar,
 * such as 10.0.0.1. or 1-2, for a name. */
static bool
filter_is_number(const char *word)
{
	struct in6_addr address;

	if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
		return word[2] != '\0' && strspn(word + 2, "0123456789abcdefABCDEF") == strlen(word + 2);
	return filter_is_dotted_number(word) || filter_is_ethernet_address(word) ||
	       inet_pton(AF_INET6, word, &address) == 1;
}

static bool
filter_is_language_word(const char *word)
{
	return bsearch(word, filter_words, sizeof filter_words / sizeof filter_words[0], sizeof filter_words[0],
		       filter_compare_word) != NULL;
}

/* Whether a word needs no lookup.  `ranges`: "portrange" applies to numbers here. */
static bool
filter_word_is_known(const char *word, bool *ranges)
{
	if (filter_is_number(word))
		return true;
	if (filter_is_port_range(word))
		return *ranges;
	if (strcmp(word, "and") != 0 && strcmp(word, "or") != 0 && strcmp(word, "not") != 0)
		*ranges = strcmp(word, "portrange") == 0;
	return filter_is_language_word(word);
}

/* Finds the next word; NULL at the end.  In brackets a colon separates words, as in "tcp[2:2]", and a hyphen in front
 * of a word is an operator.  `brackets` is 0 at the beginning of the text. */
static const char *
filter_words_next(const char *text, unsigned *brackets, size_t *length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-:";
	size_t count = sizeof letters - 1;

	for (; *text != '\0'; text++) {
		if (*text == '[')
			++*brackets;
		else if (*text == ']' && *brackets > 0)
			--*brackets;
		count = sizeof letters - 1 - (*brackets > 0 ? 1 : 0);
		if (*text != '-' && memchr(letters, *text, count) != NULL)
			break;
	}
	for (*length = 0; text[*length] != '\0' && memchr(letters, text[*length], count) != NULL;)
		++*length;
	return *text != '\0' ? text : NULL;
}

bool
filter_words_need_lookup(const char *text, char *unknown, size_t size)
{
	unsigned brackets = 0;
	bool ranges = false;
	size_t length;

	while ((text = filter_words_next(text, &brackets, &length)) != NULL) {
		snprintf(unknown, size, "%.*s", length < size ? (int)length : (int)size - 1, text);
		if (length >= size || !filter_word_is_known(unknown, &ranges))
			return true;
		text += length;
	}
	return false;
}

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

/* Words that say what the values after them are, also those of later alternatives, as in "port 1 or 2".  `named`: if
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

/* Whether a word after `before`, the end of the text in front of it, is an operand: "&&" and "||" are not
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
