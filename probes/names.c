/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/names.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

/* Clears the rest of a field, in steps of constant length: for a memset() of unknown length gcc emits a loop of single
 * bytes, which took a sixth of the time of --print. */
static void
field_clear(char *at, const char *end)
{
	for (; end - at >= 16; at += 16)
		memset(at, 0, 16);
	if (((end - at) & 8) != 0) {
		memset(at, 0, 8);
		at += 8;
	}
	if (((end - at) & 4) != 0) {
		memset(at, 0, 4);
		at += 4;
	}
	if (((end - at) & 2) != 0) {
		memset(at, 0, 2);
		at += 2;
	}
	if (((end - at) & 1) != 0)
		*at = 0;
}

/* Not inlined: gcc 12 would warn of strings in arrays that are shorter than the field. */
__attribute__((noinline)) void
field_set_string(char *to, size_t size, const char *string)
{
	size_t n = strnlen(string, size - 1);

	memcpy(to, string, n);
	field_clear(to + n, to + size);
}

static char *
put_decimal_byte(char *at, uint8_t n)
{
	if (n >= 100)
		*at++ = (char)('0' + n / 100);
	if (n >= 10)
		*at++ = (char)('0' + n / 10 % 10);
	*at++ = (char)('0' + n % 10);
	return at;
}

static char *
put_hexadecimal_group(char *at, unsigned n)
{
	static const char digit[] = "0123456789abcdef";

	if (n >= 0x1000)
		*at++ = digit[n >> 12];
	if (n >= 0x100)
		*at++ = digit[n >> 8 & 15];
	if (n >= 0x10)
		*at++ = digit[n >> 4 & 15];
	*at++ = digit[n & 15];
	return at;
}

/* The first of the longest runs of at least two groups that are 0, for which "::" stands (RFC 5952 section 4.2). */
struct zero_run {
	unsigned begin, count; /* count is 0 without one */
};

static struct zero_run
find_zero_run(const unsigned groups[8])
{
	struct zero_run longest = {8, 0};

	for (unsigned i = 0, begin; i < 8; i++) {
		for (begin = i; i < 8 && groups[i] == 0; i++)
			;
		if (i - begin > 1 && i - begin > longest.count)
			longest = (struct zero_run){begin, i - begin};
	}
	return longest;
}

/* inet_ntop() would be the most expensive part of a firing; it spells IPv4 addresses inside of IPv6 addresses. */
static void
field_set_ipv6_address(char *to, size_t size, const uint8_t *address)
{
	unsigned groups[8];
	struct zero_run zeros;
	char *at = to;

	for (unsigned i = 0; i < 8; i++)
		groups[i] = (unsigned)address[2 * i] << 8 | address[2 * i + 1];
	zeros = find_zero_run(groups);
	if (size < INET6_ADDRSTRLEN || (zeros.begin == 0 && zeros.count >= 5)) {
		memset(to, 0, size);
		if (inet_ntop(AF_INET6, address, to, (socklen_t)size) == NULL)
			field_set_string(to, size, NAME_UNKNOWN);
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		if (i > 0 || zeros.begin == 0)
			*at++ = ':';
		if (i == zeros.begin) {
			i += zeros.count - 1;
			if (i == 7)
				*at++ = ':';
		} else
			at = put_hexadecimal_group(at, groups[i]);
	}
	field_clear(at, to + size);
}

void
field_set_address(char *to, size_t size, unsigned version, const uint8_t *address)
{
	char *at = to;

	if (version == 6) {
		field_set_ipv6_address(to, size, address);
		return;
	}
	if (version != 4 || size < 16) {
		field_set_string(to, size, NAME_UNKNOWN);
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		at = put_decimal_byte(at, address[i]);
		if (i < 3)
			*at++ = '.';
	}
	field_clear(at, to + size);
}

void
field_set_mac(char to[18], const uint8_t mac[6])
{
	static const char digit[] = "0123456789abcdef";

	for (unsigned i = 0; i < 6; i++) {
		to[3 * i] = digit[mac[i] >> 4];
		to[3 * i + 1] = digit[mac[i] & 15];
		to[3 * i + 2] = ':';
	}
	to[17] = '\0';
}

/* https://www.iana.org/assignments/protocol-numbers: the common ones. */
const char *
ip_protocol_name(uint8_t protocol)
{
	switch (protocol) {
	case 0: return "HOPOPT";
	case 1: return "ICMP";
	case 2: return "IGMP";
	case 4: return "IPv4";
	case 6: return "TCP";
	case 17: return "UDP";
	case 33: return "DCCP";
	case 41: return "IPv6";
	case 43: return "IPv6-Route";
	case 44: return "IPv6-Frag";
	case 46: return "RSVP";
	case 47: return "GRE";
	case 50: return "ESP";
	case 51: return "AH";
	case 58: return "ICMPv6";
	case 59: return "IPv6-NoNxt";
	case 60: return "IPv6-Opts";
	case 88: return "EIGRP";
	case 89: return "OSPF";
	case 97: return "ETHERIP";
	case 103: return "PIM";
	case 108: return "IPComp";
	case 112: return "VRRP";
	case 115: return "L2TP";
	case 132: return "SCTP";
	case 135: return "Mobility";
	case 136: return "UDPLite";
	case 137: return "MPLS-in-IP";
	case 139: return "HIP";
	case 140: return "Shim6";
	case 143: return "Ethernet";
	default: return NAME_UNKNOWN;
	}
}

/* https://www.iana.org/assignments/arp-parameters; 3 and 4 are RARP's (RFC 903), 8 and 9 InARP's (RFC 2390). */
const char *
arp_operation_name(uint16_t op)
{
	switch (op) {
	case 1: return "request";
	case 2: return "reply";
	case 3: return "reverse-request";
	case 4: return "reverse-reply";
	case 8: return "inverse-request";
	case 9: return "inverse-reply";
	default: return NAME_UNKNOWN;
	}
}

/* RFC 4340 section 5.1. */
const char *
dccp_type_name(uint8_t type)
{
	static const char *const names[] = {
	    "request", "response", "data", "ack", "data-ack", "close-req", "close", "reset", "sync", "sync-ack",
	};

	return type < sizeof names / sizeof names[0] ? names[type] : NAME_UNKNOWN;
}

/* RFC 4340 section 5.6, table 2; codes from 128 on belong to the congestion control. */
const char *
dccp_reset_name(uint8_t code)
{
	static const char *const names[] = {
	    "unspecified", "closed", "aborted", "no-connection", "packet-error", "option-error", "mandatory-error",
	    "connection-refused", "bad-service-code", "too-busy", "bad-init-cookie", "aggression-penalty",
	};

	if (code >= 128)
		return "ccid-specific";
	return code < sizeof names / sizeof names[0] ? names[code] : NAME_UNKNOWN;
}

/* https://www.iana.org/assignments/icmp-parameters */
static const char *
icmp4_type_name(uint8_t type)
{
	switch (type) {
	case 0: return "echo-reply";
	case 3: return "unreachable";
	case 4: return "source-quench";
	case 5: return "redirect";
	case 8: return "echo-request";
	case 9: return "router-advertisement";
	case 10: return "router-solicitation";
	case 11: return "time-exceeded";
	case 12: return "parameter-problem";
	case 13: return "timestamp";
	case 14: return "timestamp-reply";
	case 15: return "information-request";
	case 16: return "information-reply";
	case 17: return "address-mask-request";
	case 18: return "address-mask-reply";
	case 42: return "extended-echo-request";
	case 43: return "extended-echo-reply";
	default: return NAME_UNKNOWN;
	}
}

/* https://www.iana.org/assignments/icmpv6-parameters */
static const char *
icmp6_type_name(uint8_t type)
{
	switch (type) {
	case 1: return "unreachable";
	case 2: return "packet-too-big";
	case 3: return "time-exceeded";
	case 4: return "parameter-problem";
	case 128: return "echo-request";
	case 129: return "echo-reply";
	case 130: return "mld-query";
	case 131: return "mld-report";
	case 132: return "mld-done";
	case 133: return "router-solicitation";
	case 134: return "router-advertisement";
	case 135: return "neighbor-solicitation";
	case 136: return "neighbor-advertisement";
	case 137: return "redirect";
	case 138: return "router-renumbering";
	case 139: return "node-information-query";
	case 140: return "node-information-reply";
	case 141: return "inverse-nd-solicitation";
	case 142: return "inverse-nd-advertisement";
	case 143: return "mldv2-report";
	case 144: return "home-agent-request";
	case 145: return "home-agent-reply";
	case 146: return "mobile-prefix-solicitation";
	case 147: return "mobile-prefix-advertisement";
	case 148: return "certification-solicitation";
	case 149: return "certification-advertisement";
	case 151: return "multicast-router-advertisement";
	case 152: return "multicast-router-solicitation";
	case 153: return "multicast-router-termination";
	case 155: return "rpl-control";
	case 160: return "extended-echo-request";
	case 161: return "extended-echo-reply";
	default: return NAME_UNKNOWN;
	}
}

const char *
icmp_type_name(unsigned version, uint8_t type)
{
	return version == 4 ? icmp4_type_name(type) : icmp6_type_name(type);
}

#define RETURN_CODE_NAME(...)                                                                                          \
	do {                                                                                                           \
		static const char *const names[] = {__VA_ARGS__};                                                      \
		return code < sizeof names / sizeof names[0] ? names[code] : NAME_UNKNOWN;                             \
	} while (0)

const char *
icmp_code_name(unsigned version, uint8_t type, uint8_t code)
{
	switch (version << 8 | type) {
	case 4 << 8 | 3:
		RETURN_CODE_NAME("net", "host", "protocol", "port", "fragmentation-needed", "source-route-failed",
				 "net-unknown", "host-unknown", "source-isolated", "net-prohibited", "host-prohibited",
				 "net-tos", "host-tos", "communication-prohibited", "host-precedence",
				 "precedence-cutoff");
	case 4 << 8 | 5:
		RETURN_CODE_NAME("net", "host", "net-tos", "host-tos");
	case 4 << 8 | 11:
	case 6 << 8 | 3:
		RETURN_CODE_NAME("transit", "reassembly");
	case 4 << 8 | 12:
		RETURN_CODE_NAME("pointer", "missing-option", "bad-length");
	case 6 << 8 | 1:
		RETURN_CODE_NAME("no-route", "prohibited", "beyond-scope", "address", "port", "source-policy",
				 "reject-route", "source-routing-header", "headers-too-long");
	case 6 << 8 | 4:
		RETURN_CODE_NAME("header-field", "next-header", "option", "first-fragment-incomplete", "sr-upper-layer",
				 "next-header-intermediate", "extension-header-too-big", "extension-chain-too-long",
				 "too-many-extensions", "too-many-options", "option-too-big");
	default:
		return code == 0 ? "" : NAME_UNKNOWN;
	}
}

/* RFC 792, RFC 1122 and RFC 1812; RFC 4443. */
const char *
icmp_error_words(unsigned version, uint8_t type, uint8_t code)
{
	switch (version << 8 | type) {
	case 4 << 8 | 3:
		RETURN_CODE_NAME("network unreachable", "host unreachable", "protocol unreachable", "port unreachable",
				 "fragmentation needed", "source route failed", "network unknown", "host unknown",
				 "source host isolated", "network administratively prohibited",
				 "host administratively prohibited", "network unreachable for type of service",
				 "host unreachable for type of service", "communication administratively prohibited",
				 "host precedence violation", "precedence cutoff in effect");
	case 4 << 8 | 11:
		RETURN_CODE_NAME("time exceeded in transit", "fragment reassembly time exceeded");
	case 4 << 8 | 12:
		RETURN_CODE_NAME("parameter problem", "required option missing", "bad length");
	case 6 << 8 | 1:
		RETURN_CODE_NAME("no route to destination", "communication administratively prohibited",
				 "beyond scope of source address", "address unreachable", "port unreachable",
				 "source address failed policy", "reject route to destination",
				 "error in source routing header", "headers too long");
	case 6 << 8 | 3:
		RETURN_CODE_NAME("hop limit exceeded in transit", "fragment reassembly time exceeded");
	case 6 << 8 | 4:
		RETURN_CODE_NAME("erroneous header field", "unrecognized next header", "unrecognized option");
	default: return icmp_type_name(version, type);
	}
}

const char *
sctp_chunk_name(uint32_t type)
{
	static const char *const names[] = {
	    "DATA", "INIT", "INIT_ACK", "SACK", "HEARTBEAT", "HEARTBEAT_ACK", "ABORT", "SHUTDOWN",
	    "SHUTDOWN_ACK", "ERROR", "COOKIE_ECHO", "COOKIE_ACK", "ECNE", "CWR", "SHUTDOWN_COMPLETE",
	};

	return type < sizeof names / sizeof names[0] ? names[type] : NULL;
}

void
field_set_tcp_flags(char to[24], uint8_t flags)
{
	static const char names[8][4] = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
	/* Connection flags first, as in common notation: SYN|ACK, FIN|PSH|ACK. */
	size_t n = 0, shown = 0;

	memset(to, 0, 24);
	for (unsigned bit = 0; bit < 8; bit++) {
		if ((flags >> bit & 1) == 0)
			continue;
		if (shown++ == 5 && (flags >> bit) > 1) { /* the sixth of more than six names: "|..." replaces it */
			memcpy(to + n, "|...", 4);
			return;
		}
		if (n > 0)
			to[n++] = '|';
		memcpy(to + n, names[bit], 3);
		n += 3;
	}
}
