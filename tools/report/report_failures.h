/* SPDX-License-Identifier: BSD-2-Clause */
/* Failures that application protocols tell, counted by kind, code and server. */
#ifndef NETOBS_REPORT_FAILURES_H
#define NETOBS_REPORT_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/firing.h"
#include "tools/report/report_records.h"

/* Kinds, codes, servers and names that are told apart: a power of two.  What finds no place is counted in `dropped`. */
#define REPORT_FAILURES 8192u

/* Connections of a failure that are remembered. */
#define REPORT_EXAMPLES 5u

enum report_failure_kind {
	REPORT_NO_FAILURE, /* the place is free */
	REPORT_HTTP_ANY,   /* requests with an answer */
	REPORT_HTTP_HOST,  /* of these, those with a name of the server */
	REPORT_HTTP_4XX,
	REPORT_HTTP_5XX,
	REPORT_HTTP_SLOW, /* answers that came late, by path */
	REPORT_DNS_QUERY, /* queries, each once, by name */
	REPORT_DNS_ANY,	  /* answers */
	REPORT_DNS_NAME,  /* of these, those for a name */
	REPORT_DNS_RCODE,
	REPORT_DNS_SLOW,
	REPORT_TLS_ALERT,
	REPORT_UDP_UNREACHABLE,
};

struct report_failure {
	enum report_failure_kind kind;
	uint32_t code;	    /* status, RCODE, number of the alert, ICMP type << 8 | code */
	const char *server; /* address; kept text */
	uint16_t port;
	const char
	    *group; /* what failures are told apart by, besides: name of the server, path, name that was asked for; kept
			    * text, hostile bytes; NULL: by nothing */
	uint64_t count, sum_us, max_us; /* times: of answers that were slow */
	const char *text;		/* code in words */
	const char *name;		/* path or name that was asked for, the first time: hostile bytes */
	bool by_client;			/* the client has sent the alert */
	bool certificate;		/* the alert is about a certificate */
	bool closed;			/* the error says that no program has the port */
	struct {
		uint64_t cid, packet; /* connection id of the server's end; 0 unknown */
	} examples[REPORT_EXAMPLES];
	size_t examples_count;
};

struct report_failures {
	struct report_failure list[REPORT_FAILURES]; /* a hash table */
	uint64_t dropped;
};

/* Takes what fires: http-request-done, dns-query, dns-response, tls-alert, and icmp-receive about UDP; `packet`:
 * number of the frame. */
void report_failures_take(struct report_failures *failures, struct report_texts *texts, struct firing *firing,
			  uint64_t packet);

#endif
