/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames and bytes over time, by protocol; the span of time of the captures. */
#ifndef NETOBS_REPORT_VOLUME_H
#define NETOBS_REPORT_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most this many intervals; when the capture is longer, two neighbours become one. */
#define REPORT_BINS 240u

/* Frames after one with an irregular time stamp that decide whether the stamp is wrong, as in netobsd. */
#define REPORT_LOOKAHEAD 3u

enum report_protocol {
	REPORT_TCP,
	REPORT_UDP,
	REPORT_ICMP,
	REPORT_SCTP,
	REPORT_OTHER_IP,
	REPORT_NOT_IP,
	REPORT_PROTOCOLS
};

struct report_bin {
	uint64_t frames[REPORT_PROTOCOLS];
	uint64_t bytes[REPORT_PROTOCOLS];
};

struct report_frame {
	uint64_t time, bytes, number; /* number: from 1 on */
	enum report_protocol protocol;
};

/* The time stamps ns since the epoch, durations ns. */
struct report_volume {
	uint64_t first, last; /* time stamps of frames; first is that of the first one that is not stray */
	uint64_t width;	      /* of an interval; 0 before the first frame */
	uint64_t gap;	      /* longest time between two frames */
	uint64_t gap_at;      /* number of the frame after it */
	uint64_t frames, bytes; /* of all frames */
	uint64_t stray;	      /* frames that are not in the intervals: their time stamps are wrong */
	uint64_t stray_at;    /* number of the first of them */
	uint64_t now;	      /* time stamp of the latest frame that is not stray */
	struct report_frame held[REPORT_LOOKAHEAD + 1]; /* latest frames, not in the intervals yet */
	size_t held_count;
	struct report_bin bins[REPORT_BINS];
};

/* Counts a frame of which only the time stamp and the bytes are known yet, as one that is not IP. */
void report_volume_frame(struct report_volume *volume, uint64_t time, uint64_t bytes);

/* The protocol of the latest frame: the number in its outermost IP header. */
void report_volume_protocol(struct report_volume *volume, unsigned number);

/* The captures end: the latest frames join the intervals. */
void report_volume_end(struct report_volume *volume);

/* The interval of a time. */
size_t report_volume_bin(const struct report_volume *volume, uint64_t time);

#endif
