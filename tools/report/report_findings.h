/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings: what is wrong in a capture.  Each kind of fault has a row in the table of report_findings.c: a function
 * that looks for it in all connections, and says what it has cost.  A connection may be in several findings.  They are
 * ordered by what they cost: seconds that somebody waited, and connections or requests that failed.
 */
#ifndef NETOBS_REPORT_FINDINGS_H
#define NETOBS_REPORT_FINDINGS_H

#include "records/services.h"
#include "tools/report/report_capture.h"

/* Kinds of findings at most. */
#define REPORT_FINDINGS 48u

/* What a failed connection or request costs in the order of findings, us. */
#define REPORT_FAILURE_US 5000000u

/* The `cost_us` of what the capture lacks, from here on: so much that it cannot tell what is wrong. */
#define REPORT_BLIND 1000000u

struct report_evidence {
	size_t record;	/* index in the sorted records */
	uint64_t frame; /* number of the frame to which the link goes; 0 none */
	char text[128]; /* names its packets; "" none */
};

struct report_finding {
	const char *kind;   /* constant word, the id of the finding in the page */
	const char *side;   /* constant word: who is to blame: "client", "server", "network", "nobody" */
	uint64_t cost_us;   /* its place among the findings; 0: nothing found */
	uint64_t waited_us; /* seconds that somebody waited */
	uint64_t count, of; /* connections or requests that it is about, of how many; `of` 0: unknown */
	bool harmless;	    /* it costs nobody anything, and stands last */
	size_t order;
	char text[1024]; /* may have bytes of the capture */
	struct report_evidence evidence[REPORT_EVIDENCE];
	size_t evidence_count;
};

/* What findings need to know of a port of a server, from all connections to it. */
struct report_service {
	const char *address;
	uint16_t port;
	uint64_t connections;
	uint64_t opened; /* with a complete handshake */
	uint64_t exchanges, bytes;
	uint64_t slow_answers;
	uint64_t server_min_us, server_max_us; /* shortest and longest time for an answer; UINT64_MAX and 0: none */
	bool dns;			       /* queries of DNS go to it */
	uint64_t cut_off_us;		       /* patience of a client that cut an answer off; 0: none did */
	uint64_t abandoned_us; /* patience of the first client that closed before any byte of an answer; 0: none did */
	uint64_t abandoned;    /* how many had about that patience */
	uint64_t program_us[REPORT_ENDS]; /* sums of the waits for the programs */
};

/* The findings, most cost first, those without a text not to be shown; and the services of the capture, in the order of
 * services_list(). */
struct report_findings {
	struct report_finding list[REPORT_FINDINGS];
	const struct service **services;
	size_t services_count;
};

/* What findings are made of. */
struct report_facts {
	const struct report_capture *capture;
	const struct report_record *list;
	size_t count;
	struct report_service *services;
	size_t services_count;
	uint8_t *roles;	     /* by record: enum report_role */
	uint32_t *last_seen; /* by service: number of the gathering that found it last */
	uint32_t *gatherings;
};

/* Connections that one finding explains, so that others leave them out. */
enum report_role {
	REPORT_ROLE_NONE,
	REPORT_ROLE_SCAN,
	REPORT_ROLE_FLOOD,
};

/* Makes the findings; NULL if out of memory. */
struct report_findings *report_findings_make(struct report_capture *capture);
void report_findings_free(struct report_findings *findings);

/* ------------------------------------------------------------------------- for the files that look for findings */

/* Looks for one kind of fault. */
typedef void report_find(struct report_finding *finding, const struct report_facts *facts);

/* What a record contributes to a finding, us or a number; 0: nothing. */
typedef uint64_t (*report_measure)(const struct report_facts *facts, const struct report_record *record);

struct report_gathered {
	uint64_t count, sum, max;	   /* records found, their measures, the largest */
	const struct report_record *worst; /* with the largest; NULL: none was found */
	size_t services;		   /* of how many services */
};

/* Gathers the records that the measure finds.  Those with the largest measures become the evidence, with the packet of
 * the event. */
struct report_gathered report_gather(struct report_finding *finding, const struct report_facts *facts,
				     report_measure measure, enum report_event event);

/* Appends to the text. */
void report_write(struct report_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a duration, "1.234 s" or "12.3 ms". */
void report_write_time(struct report_finding *finding, uint64_t us);

/* Appends "ADDRESS port PORT" of the server of a record. */
void report_write_server(struct report_finding *finding, const struct report_record *record);

/* Appends the server of the worst record, and how many others. */
void report_write_where(struct report_finding *finding, const struct report_gathered *gathered);

/* An ICMP error in words, those of cr_icmp_str; appends the address that sent it; whether a filter sends
 * such errors. */
const char *report_rejection_words(const struct report_rejection *rejection);
void report_write_sender(struct report_finding *finding, const struct report_rejection *rejection);
bool report_rejection_is_filter(const struct report_rejection *rejection);

/* Whether only large segments of a connection are lost. */
bool report_is_mtu(const struct report_record *record);

/* Whether the server of a record sends messages for which nothing was asked. */
bool report_pushes(const struct report_record *record);

/* Adds to its service for how long the client of a record waited until it gave up. */
void report_note_patience(struct report_service *service, const struct report_record *record);

/* Sets in the records of queries without an answer which other address has answered them. */
void report_find_other_addresses(const struct report_facts *facts, struct report_record *list);

/* Whether a client gave up before the answer to its latest request was complete. */
bool report_is_given_up(const struct report_facts *facts, const struct report_record *record);

/* Whether an end that sends little but ACKs loses many of them on the way to the capture. */
bool report_loses_acks(const struct report_record *record, unsigned end);

/* Whether the capture has segments of one end of a connection only. */
uint64_t report_is_one_way(const struct report_facts *facts, const struct report_record *record);

/* Makes a packet the evidence, unless the number of its frame is 0. */
void report_set_packet(struct report_evidence *evidence, uint64_t frame);

const char *report_plural(uint64_t number);

static inline const struct report_service *
report_service_of(const struct report_facts *facts, const struct report_record *record)
{
	return &facts->services[record->service];
}

/* report_attempts.c: connections that do not come about. */
report_find report_find_scan, report_find_flood, report_find_no_answer, report_find_backlog, report_find_half_open,
    report_find_rejected, report_find_refused, report_find_lost_attempts, report_find_slow_handshake;

/* report_waiting.c: where time goes. */
report_find report_find_slow_server, report_find_distance, report_find_chatty, report_find_lost_client,
    report_find_lost_server, report_find_lost_acks, report_find_policer, report_find_slow_reader_client,
    report_find_slow_reader_server, report_find_slow_sender_client, report_find_slow_sender_server,
    report_find_reordered, report_find_doubled, report_find_queue, report_find_small_window, report_find_held;

/* report_endings.c: connections that end badly, or do not end. */
report_find report_find_silent, report_find_mtu, report_find_unanswered, report_find_gave_up, report_find_idle_closed,
    report_find_reset, report_find_half_closed_server, report_find_half_closed_client, report_find_capture;

/* report_protocols.c: failures that protocols tell. */
report_find report_find_tls, report_find_http_5xx, report_find_http_4xx, report_find_dns_slow, report_find_dns_rcode,
    report_find_dns_mute, report_find_dns_other_address, report_find_udp_unreachable;

#endif
