/* SPDX-License-Identifier: BSD-2-Clause */
/* Snoop version 2 (RFC 1761): big-endian, times in microseconds. */
#include <pcap/dlt.h>

#include "flight/format/capture_writer_internal.h"

#define SNOOP_VERSION	  2
#define SNOOP_RECORD_SIZE 24u /* bytes of a record before its frame */

/* Data link types of RFC 1761; Solaris has added IPNET. */
#define SNOOP_ETHERNET	4u
#define SNOOP_OTHER	9u
#define SNOOP_IPNET	UINT32_C(0x80000005)

static uint32_t
snoop_data_link_type(int dlt)
{
	switch (dlt) {
	case DLT_EN10MB: return SNOOP_ETHERNET;
	case DLT_IPNET: return SNOOP_IPNET;
	default: return SNOOP_OTHER;
	}
}

bool
snoop_holds(int dlt)
{
	return snoop_data_link_type(dlt) != SNOOP_OTHER;
}

void
snoop_put_begin(struct capture_writer *writer)
{
	capture_put_bytes(writer, "snoop\0\0", 8);
	capture_put_be32(writer, SNOOP_VERSION);
	capture_put_be32(writer, snoop_data_link_type(writer->dlt));
}

void
snoop_put_frame(struct capture_writer *writer, const struct written_frame *frame)
{
	uint32_t padding = -frame->caplen & 3;

	capture_put_be32(writer, frame->len);
	capture_put_be32(writer, frame->caplen);
	capture_put_be32(writer, SNOOP_RECORD_SIZE + frame->caplen + padding);
	capture_put_be32(writer, 0); /* cumulative drops: unknown for a single frame */
	capture_put_be32(writer, (uint32_t)(frame->ts / NANOSECONDS_PER_SECOND));
	capture_put_be32(writer, (uint32_t)(frame->ts % NANOSECONDS_PER_SECOND / 1000));
	capture_put_bytes(writer, frame->data, frame->caplen);
	capture_put_zeros(writer, padding);
}
