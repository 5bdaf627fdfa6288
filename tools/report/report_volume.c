/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_volume.h"

#include <netinet/in.h>
#include <string.h>

/* The width of an interval at first, ns. */
#define WIDTH_FIRST 1000u

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

void
report_volume_frame(struct report_volume *volume, uint64_t time, uint64_t bytes)
{
	struct report_bin *bin;

	if (volume->frames++ == 0) {
		volume->first = volume->last = time;
		volume->width = WIDTH_FIRST;
	}
	if (time > volume->last) {
		if (time - volume->last > volume->gap) {
			volume->gap = time - volume->last;
			volume->gap_at = volume->frames;
		}
		volume->last = time;
	}
	while ((volume->last - volume->first) / REPORT_BINS >= volume->width)
		report_volume_halve(volume);
	volume->bytes += bytes;
	bin = &volume->bins[report_volume_bin(volume, time)];
	bin->frames[REPORT_NOT_IP]++;
	bin->bytes[REPORT_NOT_IP] += bytes;
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
report_volume_protocol(struct report_volume *volume, uint64_t time, uint64_t bytes, unsigned number)
{
	struct report_bin *bin = &volume->bins[report_volume_bin(volume, time)];
	enum report_protocol protocol = report_volume_known(number);

	bin->frames[REPORT_NOT_IP]--;
	bin->bytes[REPORT_NOT_IP] -= bytes;
	bin->frames[protocol]++;
	bin->bytes[protocol] += bytes;
}
