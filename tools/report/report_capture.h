/* SPDX-License-Identifier: BSD-2-Clause */
/* The first pass: all frames, records and events of the captures. */
#ifndef NETOBS_REPORT_CAPTURE_H
#define NETOBS_REPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/services.h"
#include "tools/report/report_failures.h"
#include "tools/report/report_pass.h"
#include "tools/report/report_records.h"
#include "tools/report/report_volume.h"

/* Connections or queries that are named as evidence of a sentence. */
#define REPORT_EVIDENCE 5u

/* A DNS query without answer. */
struct report_query {
	uint64_t cid;	 /* connection id of its server */
	uint64_t time;	 /* when it counts as not answered, ns since the epoch */
	uint64_t packet; /* its first copy, which the second pass finds; 0 unknown */
	uint16_t id;	 /* transaction id */
};

/* The timeout of a query.  Another one of the same query within a minute: it was sent again. */
struct report_timeout {
	uint64_t cid, time;
	uint16_t id;
};

/* Timeouts that are kept: a power of two. */
#define REPORT_TIMEOUTS 4096u

struct report_unanswered {
	uint64_t count; /* queries; one that is sent again counts once */
	struct report_timeout timeouts[REPORT_TIMEOUTS]; /* latest ones, by a hash of cid and id */
	struct report_query first[REPORT_EVIDENCE]; /* the first ones */
};

/* Packets that are in a capture twice: a mirror port copies both directions, or two interfaces have captured them. */
struct report_duplicates {
	uint64_t packets; /* IP packets that can be compared */
	uint64_t copies;  /* of these, copies of others */
};

/* A packet is named by the number of its frame, from 1 on: that of Wireshark if all frames of the capture are
 * observed. */
struct report_capture {
	struct report_volume volume;
	struct report_records records;
	struct services *services; /* of all connections; NULL: there is none */
	struct report_end_events (*live)[2]; /* of connections that are open, by index in the table of flows, and end */
	size_t live_count; /* of them, those that may have events */
	struct report_duplicates duplicates;
	struct report_unanswered dns;
	struct report_failures failures;
	uint64_t dropped;			  /* frames that the kernel or an interface dropped */
	uint64_t truncated, damaged, unsupported; /* packets, files and frames, as netobsd counts them */
	uint64_t shortened; /* of the truncated packets: shorter than IP says, and complete as the capture says */
	uint64_t read;	    /* frames, with those outside of --from and --to */
	struct report_pass pass;
	bool no_memory;
	int status; /* exit status; 2 if a capture is damaged, or a live one broke off */
};

/* Reads the captures; false, with a message logged, on failure. */
bool report_capture_read(struct report_capture *capture, struct report_passes *passes);

void report_capture_free(struct report_capture *capture);

#endif
