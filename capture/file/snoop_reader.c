/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads snoop files, version 2 (RFC 1761).  All numbers are big-endian. */
#include <pcap/dlt.h>

#include "capture/file/frame_reader_internal.h"

enum { SNOOP_FILE_HEADER = 16, SNOOP_FRAME_HEADER = 24, SNOOP_VERSION = 2 };

struct snoop_reader {
	struct frame_reader base;
	struct interface interface; /* without a name */
};

static uint32_t
snoop_get32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The DLT_ value of a link type: of RFC 1761, then of Solaris (dlpi.h).  -1 if there is none: InfiniBand (26) has the
 * 4 bytes of RFC 4391 before a packet, and DLT_IPOIB has 40 bytes more. */
static int
snoop_link_type(uint32_t type)
{
	static const struct {
		uint32_t type;
		int dlt;
	} table[] = {
	    {0, DLT_EN10MB},			       /* IEEE 802.3 */
	    {2, DLT_IEEE802},			       /* token ring */
	    {4, DLT_EN10MB},			       /* Ethernet */
	    {8, DLT_FDDI},	     {24, DLT_EN10MB}, /* Ethernet and IEEE 802.3 */
	    {25, DLT_EN10MB},			       /* 100BASE-T */
	    {0x80000005, DLT_IPNET},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].type == type)
			return table[i].dlt;
	return -1;
}

static bool
snoop_start(struct frame_reader *base)
{
	uint32_t version, type;
	int dlt;

	if (!frame_reader_fill(base, SNOOP_FILE_HEADER))
		return false;
	version = snoop_get32(frame_reader_bytes(base) + 8);
	type = snoop_get32(frame_reader_bytes(base) + 12);
	dlt = snoop_link_type(type);
	if (version != SNOOP_VERSION)
		return frame_reader_set_error(base, "version %u of snoop files is not supported", version);
	if (dlt < 0)
		return frame_reader_set_error(base, "link type %u of snoop files is not supported", type);
	base->parsed += SNOOP_FILE_HEADER;
	return frame_reader_add_link_type(base, dlt);
}

static enum frame_step
snoop_step(struct frame_reader *base, struct frame *frame)
{
	struct snoop_reader *reader = (struct snoop_reader *)base;
	const uint8_t *header = frame_reader_bytes(base);
	uint32_t caplen, length, fraction;

	if (!frame_reader_has(base, SNOOP_FRAME_HEADER))
		return FRAME_STEP_PARTIAL;
	caplen = snoop_get32(header + 4);
	length = snoop_get32(header + 8);
	if (caplen > FRAME_READER_CAPLEN_MAX) {
		frame_reader_set_error(base, "a frame of %u captured bytes; at most %u are allowed", caplen,
				       FRAME_READER_CAPLEN_MAX);
		return FRAME_STEP_DAMAGED;
	}
	if (length < SNOOP_FRAME_HEADER + caplen || length > FRAME_READER_BLOCK_MAX) {
		frame_reader_set_error(base, "a frame of %u bytes with %u captured bytes", length, caplen);
		return FRAME_STEP_DAMAGED;
	}
	if (!frame_reader_has(base, length))
		return FRAME_STEP_PARTIAL;
	fraction = snoop_get32(header + 20);
	frame->data = header + SNOOP_FRAME_HEADER;
	frame->interface = &reader->interface;
	/* An invalid fraction is the last nanosecond of its second, as in a pcap file. */
	frame->ts = (uint64_t)snoop_get32(header + 16) * NS_PER_SECOND +
		    (fraction < 1000000 ? fraction * 1000 : NS_PER_SECOND - 1);
	frame->caplen = caplen;
	frame->len = snoop_get32(header);
	frame->dlt = base->link_types[0];
	base->parsed += length;
	return FRAME_STEP_FRAME;
}

const struct frame_format snoop_format = {
    .magic = {'s', 'n', 'o', 'o', 'p'},
    .magic_length = 8,
    .reader_size = sizeof(struct snoop_reader),
    .start = snoop_start,
    .step = snoop_step,
};
