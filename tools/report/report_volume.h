/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames and bytes over time, by protocol. */
#ifndef NETOBS_REPORT_VOLUME_H
#define NETOBS_REPORT_VOLUME_H

#include <stddef.h>
#include <stdint.h>

/* At most this many intervals; when the capture is longer, two neighbours become one. */
#define REPORT_BINS 240u

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

struct report_volume {
	uint64_t first, last; /* time stamps, ns; first is that of the first frame */
	uint64_t width;	      /* of an interval, ns */
	uint64_t gap;	      /* longest time between two frames, ns */
	uint64_t gap_at;      /* number of the frame behind it */
	uint64_t frames, bytes;
	struct report_bin bins[REPORT_BINS];
};

/* Counts a frame of which only the time and the bytes are known yet, as one that is not IP. */
void report_volume_frame(struct report_volume *volume, uint64_t time, uint64_t bytes);

/* Moves a counted frame to the protocol of its outermost IP header. */
void report_volume_protocol(struct report_volume *volume, uint64_t time, uint64_t bytes, unsigned number);

/* The interval of a time. */
size_t report_volume_bin(const struct report_volume *volume, uint64_t time);

#endif
