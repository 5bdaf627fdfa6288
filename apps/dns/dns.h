/* SPDX-License-Identifier: BSD-2-Clause */
/* DNS (RFC 1035): messages, the queries that wait, the reader, the arguments of the probes. */
#ifndef NETOBS_APPS_DNS_DNS_H
#define NETOBS_APPS_DNS_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"
#include "flow/stream/app_reader.h"

/* Size of a name as text: the first 255 bytes of it, escapes included, and the terminating zero. */
#define DNS_NAME_SIZE 256u

/* Most bytes of a name on the wire (RFC 1035 section 2.3.4). */
#define DNS_NAME_WIRE_MAX 255u

/* Records of a message that are examined; those after them are not. */
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

/* Pointers that a name (RFC 1035 sections 3.1 and 4.1.4) may have: one for each label of the longest name. */
#define DNS_POINTERS_MAX 127u

/* Whether two names are equal but for the case of ASCII letters (RFC 4343). */
bool dns_name_equal(const char *a, const char *b);

/*
 * The messages of a connection.  On UDP a datagram is a message; on TCP two bytes of length precede each
 * (RFC 1035 section 4.2.2).
 */

/* Bytes of a message on TCP that are kept if it comes in parts: those after them are not parsed. */
#define DNS_KEPT_MAX 4096u

extern const struct app_reader dns_reader;

/*
 * Queries that wait for their response: a bounded table.  A query is known by its connection, id, name and type; the
 * same query again is another try.  All have the same timeout: the oldest is the next to time out.  A query whose
 * response was captured up to a second before it does not wait.
 */

/* Queries that may wait at once, of all workers; the oldest is evicted in favour of another one. */
#define DNS_REQUESTS_MAX 16384u

struct dns_requests;

/* app_reader.open(), close() and shared_size(). */
void *dns_requests_open(const struct app_settings *settings);
void dns_requests_close(void *requests);
size_t dns_requests_size(const struct app_settings *settings);

/* app_reader.clear(): no query waits any more. */
void dns_requests_clear(void *requests);

const struct app_request_counters *dns_requests_counters(const void *requests);

/* A query of ctx->flow: sets its `tries`. */
void dns_requests_begin(const struct app_context *ctx, struct dns_message *query);

/* A response: sets its `tries` and `latency_us` if its query waits, which then does no longer. */
void dns_requests_answer(const struct app_context *ctx, struct dns_message *response);

/* app_reader.next_timeout() and on_time(). */
uint64_t dns_requests_next_timeout(const void *requests);
void dns_requests_on_time(struct app_context *ctx);

/* Fills the argument of the dns probes. */
struct dnsinfo;
void args_dnsinfo(struct dnsinfo *info, const struct dns_message *message);

/* Words for the numbers of DNS (IANA's registry of DNS parameters): "AAAA"; "TYPE65280" for a number without a word
 * (RFC 3597). */
void dns_put_type(char *to, size_t size, uint16_t type);

/* "NXDOMAIN"; "RCODE12". */
void dns_put_rcode(char *to, size_t size, uint16_t rcode);

#endif
