/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/filter_words.h"

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

const char *
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
