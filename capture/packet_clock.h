/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet time: the time stamps of frames as a clock that never goes back.  Packet time is time stamp + offset; the
 * offset is 0 until the clock of the capturing host is stepped.  A step moves the offset, so that timers and round
 * trips are not affected by it.  A lone time stamp far from those around it is ignored.
 *
 * Files: the frames after an irregular time stamp decide.  If time returns, the stamp is ignored; if it does not, a
 * later stamp is a gap in the traffic, and an earlier one a step.  Time runs away if blocks of frames that are not in
 * order are taken for gaps and steps in turn, so a step soon after another needs more frames.  Live: the host's clock
 * decides (see `host_now`), which is read again after the frames: a pause of the process or of the machine is not a
 * step.
 */
#ifndef NETOBS_CAPTURE_PACKET_CLOCK_H
#define NETOBS_CAPTURE_PACKET_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/frame.h"

/* A time stamp that is ahead of packet time by this is irregular: 2^33 ns = 8.6 s. */
#define PACKET_CLOCK_GAP_BITS 33

/* For a second after a small step back of the host's clock these bits less, 1.07 s: frames from before the step may
 * still arrive, and seem to be ahead. */
#define PACKET_CLOCK_NARROW_BITS 3
#define PACKET_CLOCK_NARROW_NS	 1000000000u

/* Frames may be out of order by this. */
#define PACKET_CLOCK_TOLERANCE_NS 1000000000u

/* Frames after an irregular one that decide what it means. */
#define PACKET_CLOCK_LOOKAHEAD 3u

/* Files that are not in order of time: after a step back, another one within this time plus the size of the first is a
 * step only if so many frames in a row are as early. */
#define PACKET_CLOCK_STEADY_NS	   60000000000u
#define PACKET_CLOCK_STEADY_FRAMES 256u

struct packet_clock {
	uint64_t now;	       /* latest packet time, ns */
	uint64_t offset;       /* packet time - time stamp, modulo 2^64 */
	uint64_t other_offset; /* offset before the latest step: frames from before it may still arrive */
	uint64_t host_now;     /* live: the host's clock since the latest frames were read; 0 for files */
	uint64_t complete;     /* live: frames with an earlier packet time have all been observed */
	uint64_t back_at;      /* files: packet time at the latest step back, or frame that could have been one */
	uint64_t back_step;    /* files: size of the latest step back, ns; 0 if there was none */
	unsigned back_frames;  /* files: frames in a row that could have been a step back */
	uint64_t step_at;      /* live: packet time at the latest step of the host's clock */
	unsigned narrow_bits;  /* live: PACKET_CLOCK_NARROW_BITS, or 0 */
	bool stepped;	       /* other_offset is valid */
};

enum packet_clock_verdict {
	PACKET_CLOCK_REGULAR,	/* slightly out of order, or a gap in the traffic */
	PACKET_CLOCK_STEP,	/* the clock of the capturing host was stepped */
	PACKET_CLOCK_STRAY,	/* a time stamp that is ignored */
	PACKET_CLOCK_UNDECIDED, /* later frames decide; the clock is not changed */
};

/* Whether a time stamp is not earlier than packet time and not far ahead of it. */
static inline bool
packet_clock_is_regular(const struct packet_clock *clock, uint64_t ts)
{
	return (ts + clock->offset - clock->now) >> (PACKET_CLOCK_GAP_BITS - clock->narrow_bits) == 0;
}

/* Decides about a frame whose time stamp is not regular, by the `count` frames after it, and moves the clock.  `last`:
 * the frames after it are not available, decide without them. */
enum packet_clock_verdict packet_clock_decide(struct packet_clock *clock, uint64_t ts, const struct frame *after,
					      unsigned count, bool last);

/* Live: the host's clock was stepped by `step` ns (modulo 2^64). */
void packet_clock_step(struct packet_clock *clock, uint64_t step);

/* Live: all frames with a time stamp before `now` have been observed; `host_now` may be later.  PACKET_CLOCK_STEP if
 * packet time was ahead of the host's clock. */
enum packet_clock_verdict packet_clock_advance(struct packet_clock *clock, uint64_t now);

#endif
