/* SPDX-License-Identifier: BSD-2-Clause */
/* The first pass: all frames, records and events of the captures. */
#ifndef NETOBS_REPORT_CAPTURE_H
#define NETOBS_REPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/replay/replay.h"
#include "tools/report/report_duplicates.h"
#include "tools/report/report_ends.h"
#include "tools/report/report_records.h"
#include "tools/report/report_volume.h"

/* Connections or queries that are named as evidence of a sentence. */
#define REPORT_EVIDENCE 5u

/* Packet ids of the first packets of frames; with tunnels a frame has several packets. */
struct report_frames {
	uint64_t *packets;
	size_t count, capacity;
};

/* A DNS query without answer. */
struct report_query {
	uint64_t cid;	 /* connection id of its server */
	uint64_t time;	 /* when it counts as not answered, ns since the epoch */
	uint64_t packet; /* packet id of its first copy, which the second pass finds; 0 unknown */
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

struct report_capture {
	struct report_volume volume;
	struct report_records records;
	struct report_frames frames;
	struct report_ends ends;
	struct report_duplicates duplicates;
	struct report_unanswered dns;
	uint64_t dropped;				     /* frames that the kernel or an interface dropped */
	uint64_t truncated, damaged, unsupported; /* counters of netobsd */
	uint64_t shortened; /* of the truncated packets: shorter than IP says, and complete as the capture says */
	uint64_t read;	 /* counter of netobsd: frames, with those outside of --from and --to */
	uint64_t packet; /* id of the frame that was counted last, 0 it is read */
	uint64_t time;	 /* its time stamp */
	bool no_memory;
	int status; /* exit status of netobsd; 2 as well if a live capture broke off */
};

/* Reads the captures. */
void report_capture_read(struct report_capture *capture, const struct replay_source *source);

/* The number of the frame that contains a packet, from 1 on, which is that of Wireshark if all frames of a capture are
 * observed; 0 if unknown. */
uint64_t report_capture_frame(const struct report_capture *capture, uint64_t packet);

/* The number of the frame of the first event of a record's ends; 0 if there was none, or for REPORT_EVENTS. */
uint64_t report_capture_event(const struct report_capture *capture, const struct report_record *record,
			      enum report_event event);

#endif
