/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_volume.h"

#include <netinet/in.h>
#include <string.h>

/* The width of an interval at first, ns. */
#define WIDTH_FIRST 1000u

/* The limits of netobsd, ns: a time stamp may be earlier than one before it by TOLERANCE, and later by GAP. */
#define TOLERANCE_NS 1000000000u
#define GAP_NS	     (1ull << 33)

/* A longer silence of a capture, ns, shows that the first or the last frame has a wrong time stamp. */
#define YEAR_NS (365ull * 86400 * 1000000000)

static void
report_volume_halve(struct report_volume *volume)
{
	for (size_t i = 0; i < REPORT_BINS; i++) {
		struct report_bin bin = volume->bins[i];

		memset(&volume->bins[i], 0, sizeof(bin));
		for (size_t p = 0; p < REPORT_PROTOCOLS; p++) {
			volume->bins[i / 2].frames[p] += bin.frames[p];
			volume->bins[i / 2].bytes[p] += bin.bytes[p];
		}
	}
	volume->width *= 2;
}

size_t
report_volume_bin(const struct report_volume *volume, uint64_t time)
{
	size_t bin;

	if (time <= volume->first || volume->width == 0)
		return 0;
	bin = (time - volume->first) / volume->width;
	return bin < REPORT_BINS ? bin : REPORT_BINS - 1;
}

/* Whether the time stamp of the first frame is wrong: those after it are all earlier, or a year later. */
static bool
report_volume_first_is_stray(const struct report_volume *volume)
{
	uint64_t time = volume->held[0].time;
	bool later = volume->held_count > 1, earlier = later;

	for (size_t i = 1; i < volume->held_count; i++) {
		later &= time > volume->held[i].time + TOLERANCE_NS;
		earlier &= time + YEAR_NS < volume->held[i].time;
	}
	return later || earlier;
}

/* Whether the time stamp of the oldest frame that is held is wrong: time returns after it to where it was. */
static bool
report_volume_is_stray(const struct report_volume *volume)
{
	uint64_t time = volume->held[0].time;
	bool ahead = time > volume->now + GAP_NS, back = time + TOLERANCE_NS < volume->now;

	if (volume->width == 0)
		return report_volume_first_is_stray(volume);
	for (size_t i = 1; i < volume->held_count; i++) {
		uint64_t after = volume->held[i].time + TOLERANCE_NS;

		if ((ahead && after < time) || (back && after >= volume->now))
			return true;
	}
	return volume->held_count == 1 && (back || (ahead && time > volume->now + YEAR_NS));
}

/* Makes the span and the intervals reach a time. */
static void
report_volume_reach(struct report_volume *volume, const struct report_frame *frame)
{
	if (volume->width == 0) {
		volume->first = volume->last = volume->now = frame->time;
		volume->width = WIDTH_FIRST;
	}
	if (frame->time > volume->last) {
		if (frame->time - volume->last > volume->gap) {
			volume->gap = frame->time - volume->last;
			volume->gap_at = frame->number;
		}
		volume->last = frame->time;
	}
	/* An earlier one is out of order, or the clock was set back. */
	if (frame->time > volume->now || frame->time + TOLERANCE_NS < volume->now)
		volume->now = frame->time;
	while ((volume->last - volume->first) / REPORT_BINS >= volume->width)
		report_volume_halve(volume);
}

/* Adds the oldest frame that is held to the intervals. */
static void
report_volume_add_oldest(struct report_volume *volume)
{
	const struct report_frame frame = volume->held[0];
	bool stray = report_volume_is_stray(volume);
	struct report_bin *bin;

	volume->held_count--;
	memmove(volume->held, volume->held + 1, volume->held_count * sizeof(frame));
	if (stray) {
		if (volume->stray++ == 0)
			volume->stray_at = frame.number;
		return;
	}
	report_volume_reach(volume, &frame);
	bin = &volume->bins[report_volume_bin(volume, frame.time)];
	bin->frames[frame.protocol]++;
	bin->bytes[frame.protocol] += frame.bytes;
}

void
report_volume_frame(struct report_volume *volume, uint64_t time, uint64_t bytes)
{
	if (volume->held_count > REPORT_LOOKAHEAD)
		report_volume_add_oldest(volume);
	volume->frames++;
	volume->bytes += bytes;
	volume->held[volume->held_count++] =
	    (struct report_frame){.time = time, .bytes = bytes, .number = volume->frames, .protocol = REPORT_NOT_IP};
}

static enum report_protocol
report_volume_known(unsigned number)
{
	switch (number) {
	case IPPROTO_TCP:
		return REPORT_TCP;
	case IPPROTO_UDP:
		return REPORT_UDP;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return REPORT_ICMP;
	case IPPROTO_SCTP:
		return REPORT_SCTP;
	default:
		return REPORT_OTHER_IP;
	}
}

void
report_volume_protocol(struct report_volume *volume, unsigned number)
{
	if (volume->held_count > 0)
		volume->held[volume->held_count - 1].protocol = report_volume_known(number);
}

void
report_volume_end(struct report_volume *volume)
{
	while (volume->held_count > 0)
		report_volume_add_oldest(volume);
}
