/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/frame_filter.h"

#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most link types of the frames of a reply. */
#define LINK_TYPES_MAX 16u

#define SNAPLEN 262144

struct frame_filter {
	unsigned count;
	struct {
		int dlt;
		struct bpf_program program;
	} compiled[LINK_TYPES_MAX];
	char text[FRAME_FILTER_TEXT_MAX + 1];
};

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
 * of a word is an operator. */
static const char *
filter_next_word(const char *text, unsigned *brackets, size_t *length)
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

static bool
filter_check_words(const char *text, char *error, size_t size)
{
	unsigned brackets = 0;
	bool ranges = false;
	char word[64];
	size_t length;

	if (strchr(text, '\\') != NULL) {
		snprintf(error, size, "bad filter: give protocols by their numbers, without \\");
		return false;
	}
	while ((text = filter_next_word(text, &brackets, &length)) != NULL) {
		snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, text);
		if (length >= sizeof word || !filter_word_is_known(word, &ranges)) {
			snprintf(error, size,
				 "bad filter: \"%.40s\" is not known: netobsd looks up no names; give hosts by their "
				 "addresses, and ports by their numbers",
				 word);
			return false;
		}
		text += length;
	}
	return true;
}

struct frame_filter *
frame_filter_new(const char *text, char *error, size_t size)
{
	struct frame_filter *filter;

	if (strlen(text) > FRAME_FILTER_TEXT_MAX) {
		snprintf(error, size, "the filter is longer than %u bytes", FRAME_FILTER_TEXT_MAX);
		return NULL;
	}
	if (!filter_check_words(text, error, size))
		return NULL;
	filter = calloc(1, sizeof *filter);
	if (filter == NULL)
		snprintf(error, size, "netobsd is out of memory");
	else
		snprintf(filter->text, sizeof filter->text, "%s", text);
	return filter;
}

void
frame_filter_free(struct frame_filter *filter)
{
	if (filter == NULL)
		return;
	for (unsigned i = 0; i < filter->count; i++)
		pcap_freecode(&filter->compiled[i].program);
	free(filter);
}

bool
frame_filter_has_link_type(const struct frame_filter *filter, int dlt)
{
	for (unsigned i = 0; i < filter->count; i++)
		if (filter->compiled[i].dlt == dlt)
			return true;
	return false;
}

bool
frame_filter_add_link_type(struct frame_filter *filter, int dlt, char *error, size_t size)
{
	const char *name = pcap_datalink_val_to_name(dlt);
	pcap_t *dead;
	bool good;

	if (frame_filter_has_link_type(filter, dlt))
		return true;
	if (filter->count == LINK_TYPES_MAX) {
		snprintf(error, size, "frames of more than %u link types are not filtered", LINK_TYPES_MAX);
		return false;
	}
	dead = pcap_open_dead(dlt, SNAPLEN);
	if (dead == NULL) {
		snprintf(error, size, "netobsd is out of memory");
		return false;
	}
	/* Not optimized: with libpcap 1.10.3 the optimizer takes 0.2 s instead of 0.1 ms for 1 KB of "port 0 or port 1
	 * or port 2 ...", saves 3 ns a frame of "tcp port 443 and host 10.0.0.1", and makes it an error that a filter
	 * rejects all frames of a link type. */
	good = pcap_compile(dead, &filter->compiled[filter->count].program, filter->text, 0, PCAP_NETMASK_UNKNOWN) == 0;
	if (good)
		filter->compiled[filter->count++].dlt = dlt;
	else
		snprintf(error, size, "bad filter for link type %s: %.200s; pcap-filter(7) describes filters",
			 name != NULL ? name : "without a name", pcap_geterr(dead));
	pcap_close(dead);
	return good;
}

bool
frame_filter_matches(const struct frame_filter *filter, int dlt, const uint8_t *data, uint32_t caplen, uint32_t len)
{
	const struct pcap_pkthdr header = {.caplen = caplen, .len = len};

	for (unsigned i = 0; i < filter->count; i++)
		if (filter->compiled[i].dlt == dlt)
			return pcap_offline_filter(&filter->compiled[i].program, &header, data) != 0;
	return false;
}
