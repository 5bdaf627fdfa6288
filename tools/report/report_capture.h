/* SPDX-License-Identifier: BSD-2-Clause */
/* The first pass: all frames, records and events of the captures. */
#ifndef NETOBS_REPORT_CAPTURE_H
#define NETOBS_REPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/replay/replay.h"
#include "tools/report/report_records.h"
#include "tools/report/report_volume.h"

/* Kinds of events that a sentence of the verdict links to: a segment with RST that has an effect, one that closes the
 * window, a retransmission. */
enum report_event { REPORT_RESET, REPORT_ZERO_WINDOW, REPORT_RESENT, REPORT_EVENTS };

/* The first event of each kind of an endpoint: packet ids, 0 none. */
struct report_first {
	uint64_t packets[REPORT_EVENTS];
};

/* Packet ids of the first packets of frames; with tunnels a frame has several packets. */
struct report_frames {
	uint64_t *packets;
	size_t count, capacity;
};

struct report_firsts {
	struct report_first *list; /* by connection id */
	size_t count;
};

struct report_unanswered {
	uint64_t queries;
	uint64_t cid; /* of the first one */
};

struct report_capture {
	struct report_volume volume;
	struct report_records records;
	struct report_frames frames;
	struct report_firsts firsts;
	struct report_unanswered dns;
	uint64_t dropped;				     /* frames that the kernel dropped in a live capture */
	uint64_t truncated, damaged, unsupported, midstream; /* counters of netobsd */
	uint64_t packet;				     /* id, time and bytes of the frame that was counted last */
	uint64_t time, bytes;
	bool no_memory;
	int status; /* exit status of netobsd; 2 as well if a live capture broke off */
};

/* Reads the captures. */
void report_capture_read(struct report_capture *capture, const struct replay_source *source);

/* The number of the frame that contains a packet, from 1 on, as Wireshark counts; 0 if unknown. */
uint64_t report_capture_frame(const struct report_capture *capture, uint64_t packet);

/* The number of the frame of the first event of a record's ends; 0 if there was none, or for REPORT_EVENTS. */
uint64_t report_capture_event(const struct report_capture *capture, const struct report_record *record,
			      enum report_event event);

#endif
