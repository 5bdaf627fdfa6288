/* SPDX-License-Identifier: BSD-2-Clause */
/* DNS (RFC 1035): a message, from bytes to fields. */
#ifndef NETOBS_APPS_DNS_DNS_MESSAGE_H
#define NETOBS_APPS_DNS_DNS_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"

/* Size of a name as text: the first 255 bytes of it, escapes included, and the terminating zero. */
#define DNS_NAME_SIZE 256u

/* Most bytes of a name on the wire (RFC 1035 section 2.3.4). */
#define DNS_NAME_WIRE_MAX 255u

/* Records of a message that are examined; those behind them are not. */
#define DNS_RECORDS_MAX 256u

enum dns_flag {
	DNS_RESPONSE = 0x8000,
	DNS_RCODE = 0x000f,
};

/* How a message is carried.  mDNS (RFC 6762) and LLMNR (RFC 4795) are known by their ports. */
enum dns_transport {
	DNS_UDP,
	DNS_TCP,
	DNS_MDNS,
	DNS_LLMNR,
};

struct dns_message {
	uint16_t id, flags;
	uint16_t questions, answers, authority, additional; /* records of each section, as the header counts them */
	uint16_t qtype, qclass; /* of the first question; 0 none */
	uint16_t rcode;		/* with the upper bits of EDNS */
	uint16_t edns_size;	/* 0 without EDNS */
	uint32_t ttl;		/* of the first record of the answer, s */
	uint32_t size;		/* bytes on the wire */
	bool dnssec_ok;
	uint8_t addr_version;	/* of `addr`: 4 or 6; 0 none */
	uint8_t addr[16];	/* first address of the answer */
	char qname[DNS_NAME_SIZE], cname[DNS_NAME_SIZE]; /* "" none */
	/* Set by the reader. */
	uint8_t sender;		/* endpoint */
	uint8_t transport;	/* enum dns_transport */
	bool timed_out;
	uint32_t tries;		/* copies of the query; 0 unknown */
	int64_t latency_us;	/* -1 unknown */
};

/*
 * Parses a message of `wire` bytes, of which `bytes` are captured; fewer if the snapshot length cut it.  Returns false
 * if it is not a message, or if its header or first question is not complete; then nothing is to be reported.
 * `*anomaly` is what is wrong with it, ANOMALY_NONE if nothing: the fields that are parsed before are valid.
 */
bool dns_parse(struct slice bytes, uint32_t wire, struct dns_message *message, enum anomaly *anomaly);

#endif
