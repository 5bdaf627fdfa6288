/* SPDX-License-Identifier: BSD-2-Clause */
/* Classic pcap with times in nanoseconds, little-endian on every machine (draft-ietf-opsawg-pcap). */
#include "flight/format/capture_writer_internal.h"

#define PCAP_MAGIC_NANOSECONDS 0xa1b23c4du

void
pcap_put_begin(struct capture_writer *writer)
{
	capture_put_le32(writer, PCAP_MAGIC_NANOSECONDS);
	capture_put_le16(writer, 2);
	capture_put_le16(writer, 4);
	capture_put_zeros(writer, 8);
	capture_put_le32(writer, writer->snaplen ? writer->snaplen : CAPTURE_SNAPLEN_MAX);
	capture_put_le32(writer, (uint32_t)capture_link_type(writer->dlt));
}

void
pcap_put_frame(struct capture_writer *writer, const struct written_frame *frame)
{
	capture_put_le32(writer, (uint32_t)(frame->ts / NANOSECONDS_PER_SECOND));
	capture_put_le32(writer, (uint32_t)(frame->ts % NANOSECONDS_PER_SECOND));
	capture_put_le32(writer, frame->caplen);
	capture_put_le32(writer, frame->len);
	capture_put_bytes(writer, frame->data, frame->caplen);
}
