/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writers of the formats share: bytes in a fixed order, collected into pieces for the sink. */
#ifndef NETOBS_FLIGHT_FORMAT_CAPTURE_WRITER_INTERNAL_H
#define NETOBS_FLIGHT_FORMAT_CAPTURE_WRITER_INTERNAL_H

#include "flight/format/capture_writer.h"

#define CAPTURE_PIECE_SIZE    1024u   /* bytes collected for one call of the sink */
#define CAPTURE_SNAPLEN_MAX   262144u /* most bytes of a frame that common readers accept */
#define LINKTYPE_UNKNOWN      (-1)
#define NANOSECONDS_PER_SECOND UINT64_C(1000000000)

struct capture_writer {
	enum capture_format format;
	int dlt;
	uint32_t snaplen;
	struct byte_sink sink;
	bool failed; /* the sink has returned false */
	const char *error; /* capture_writer_error() */
	uint64_t shortened; /* capture_writer_shortened() */

	uint64_t *received; /* frames of each interface */
	unsigned interfaces, interface_capacity;

	size_t used; /* bytes in `piece` */
	uint8_t piece[CAPTURE_PIECE_SIZE];
};

/* Append to the file. */
void capture_put_bytes(struct capture_writer *writer, const void *bytes, size_t size);
void capture_put_zeros(struct capture_writer *writer, size_t count);
void capture_put_le16(struct capture_writer *writer, unsigned value);
void capture_put_le32(struct capture_writer *writer, uint32_t value);
void capture_put_be32(struct capture_writer *writer, uint32_t value);

/* LINKTYPE_ value of a DLT_ value, LINKTYPE_UNKNOWN if files cannot hold the link type. */
int capture_link_type(int dlt);

void pcapng_put_begin(struct capture_writer *writer);
void pcapng_put_interface(struct capture_writer *writer, const struct written_interface *interface);
void pcapng_put_frame(struct capture_writer *writer, const struct written_frame *frame);
void pcapng_put_end(struct capture_writer *writer, const struct written_statistics *statistics);

void pcap_put_begin(struct capture_writer *writer);
void pcap_put_frame(struct capture_writer *writer, const struct written_frame *frame);

bool snoop_holds(int dlt);
void snoop_put_begin(struct capture_writer *writer);
void snoop_put_frame(struct capture_writer *writer, const struct written_frame *frame);

#endif
