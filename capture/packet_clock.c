/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/packet_clock.h"

#define GAP_NS (1ull << PACKET_CLOCK_GAP_BITS)

static void
packet_clock_set_offset(struct packet_clock *clock, uint64_t offset)
{
	clock->other_offset = clock->offset;
	clock->offset = offset;
	clock->stepped = true;
}

/* Makes `ts` the present packet time. */
static enum packet_clock_verdict
packet_clock_follow(struct packet_clock *clock, uint64_t ts)
{
	packet_clock_set_offset(clock, clock->now - ts);
	return PACKET_CLOCK_STEP;
}

/* Whether the time stamp is near packet time with the offset before the latest step. */
static bool
packet_clock_is_of_other(const struct packet_clock *clock, uint64_t ts)
{
	uint64_t earliest = clock->now - PACKET_CLOCK_TOLERANCE_NS;

	return clock->stepped && ts + clock->other_offset - earliest < GAP_NS + PACKET_CLOCK_TOLERANCE_NS;
}

/* A file: the clock was set back to where it was.  Live: a frame that was captured before the latest step. */
static enum packet_clock_verdict
packet_clock_decide_other(struct packet_clock *clock, uint64_t ts)
{
	uint64_t time = ts + clock->other_offset;

	if (time - clock->now < GAP_NS)
		clock->now = time;
	if (clock->host_now != 0)
		return PACKET_CLOCK_REGULAR;
	packet_clock_set_offset(clock, clock->other_offset);
	return PACKET_CLOCK_STEP;
}

/* Whether packet time is ahead of the host's clock. */
static bool
packet_clock_is_ahead(const struct packet_clock *clock)
{
	return clock->now > clock->host_now + PACKET_CLOCK_TOLERANCE_NS + clock->offset;
}

/* Live: a time stamp is valid unless it is later than the host's clock.  An earlier one than packet time is out of
 * order, unless packet time itself is ahead of the host's clock, or the frame waited for those of another interface
 * since all interfaces were read. */
static enum packet_clock_verdict
packet_clock_decide_live(struct packet_clock *clock, uint64_t ts)
{
	uint64_t time = ts + clock->offset;

	if (ts > clock->host_now + PACKET_CLOCK_TOLERANCE_NS)
		return PACKET_CLOCK_STRAY;
	if (time >= clock->now) {
		clock->now = time;
		return PACKET_CLOCK_REGULAR;
	}
	if (packet_clock_is_ahead(clock))
		return packet_clock_follow(clock, ts);
	return clock->complete != 0 && time + PACKET_CLOCK_TOLERANCE_NS >= clock->complete ? PACKET_CLOCK_REGULAR
											   : PACKET_CLOCK_STRAY;
}

/* Whether time returns from the irregular time stamp to where it was. */
static bool
packet_clock_returns(const struct packet_clock *clock, uint64_t ts, const struct frame *after)
{
	if (ts + clock->offset > clock->now)
		return after->ts + PACKET_CLOCK_TOLERANCE_NS < ts;
	return after->ts + clock->offset + PACKET_CLOCK_TOLERANCE_NS >= clock->now;
}

/* Whether a time stamp that no frame after it contradicts is out of order, rather than a step back. */
static bool
packet_clock_is_unordered(struct packet_clock *clock)
{
	if (clock->back_step == 0 || clock->now - clock->back_at >= PACKET_CLOCK_STEADY_NS + clock->back_step)
		return false;
	if (clock->now != clock->back_at)
		clock->back_frames = 0;
	clock->back_at = clock->now;
	return ++clock->back_frames < PACKET_CLOCK_STEADY_FRAMES;
}

static enum packet_clock_verdict
packet_clock_step_back(struct packet_clock *clock, uint64_t ts)
{
	if (packet_clock_is_unordered(clock))
		return PACKET_CLOCK_STRAY;
	clock->back_at = clock->now;
	clock->back_step = clock->now - (ts + clock->offset);
	clock->back_frames = 0;
	return packet_clock_follow(clock, ts);
}

static enum packet_clock_verdict
packet_clock_decide_file(struct packet_clock *clock, uint64_t ts, const struct frame *after, unsigned count, bool last)
{
	bool ahead = ts + clock->offset > clock->now;

	if (count > PACKET_CLOCK_LOOKAHEAD)
		count = PACKET_CLOCK_LOOKAHEAD;
	for (unsigned i = 0; i < count; i++)
		if (packet_clock_returns(clock, ts, &after[i]))
			return PACKET_CLOCK_STRAY;
	if (count < PACKET_CLOCK_LOOKAHEAD && !last)
		return PACKET_CLOCK_UNDECIDED;
	if (ahead) {
		clock->now = ts + clock->offset;
		return PACKET_CLOCK_REGULAR;
	}
	return count > 0 ? packet_clock_step_back(clock, ts) : PACKET_CLOCK_STRAY;
}

enum packet_clock_verdict
packet_clock_decide(struct packet_clock *clock, uint64_t ts, const struct frame *after, unsigned count, bool last)
{
	uint64_t time = ts + clock->offset;

	if (clock->now - time <= PACKET_CLOCK_TOLERANCE_NS)
		return PACKET_CLOCK_REGULAR;
	if (packet_clock_is_of_other(clock, ts))
		return packet_clock_decide_other(clock, ts);
	if (clock->host_now != 0)
		return packet_clock_decide_live(clock, ts);
	if (clock->now == 0) { /* the first frame */
		clock->now = time;
		return PACKET_CLOCK_REGULAR;
	}
	return packet_clock_decide_file(clock, ts, after, count, last);
}

void
packet_clock_step(struct packet_clock *clock, uint64_t step)
{
	packet_clock_set_offset(clock, clock->offset - step);
	clock->step_at = clock->now;
	clock->narrow_bits = -step < GAP_NS ? PACKET_CLOCK_NARROW_BITS : 0;
}

enum packet_clock_verdict
packet_clock_advance(struct packet_clock *clock, uint64_t now)
{
	uint64_t time = now + clock->offset;

	if (time > clock->step_at + PACKET_CLOCK_NARROW_NS)
		clock->narrow_bits = 0;
	clock->complete = time;
	if (time < clock->now)
		return packet_clock_is_ahead(clock) ? packet_clock_follow(clock, now) : PACKET_CLOCK_REGULAR;
	clock->now = time;
	return PACKET_CLOCK_REGULAR;
}
