/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP common header and the sequence of chunks, RFC 9260 section 3. */
#include "dissect/transport/sctp.h"

#include "dissect/header_fields.h"

enum { ITEM_HEADER = 4 };

struct cursor
sctp_chunks(const struct packet *packet)
{
	return cursor_init(packet->sctp.chunks.at, packet->sctp.chunks.len, packet->sctp.chunks_wire);
}

/* Chunks and parameters have the same layout: a header of 4 bytes whose last two are a length that includes the header,
 * and padding to 4 bytes, which the last one may lack. */
static bool
sctp_take_tlv(struct cursor *c, struct sctp_chunk *item, struct slice *head)
{
	struct slice padding;
	uint32_t length, padding_len;

	if (!cursor_take(c, ITEM_HEADER, head))
		return false;
	item->length = slice_u16(*head, 2);
	if (item->length < ITEM_HEADER)
		return false;
	length = item->length - (uint32_t)ITEM_HEADER;
	padding_len = (4 - length % 4) % 4;
	if (length + padding_len <= c->captured) { /* nearly always */
		bool taken = cursor_take(c, length + padding_len, &item->value);

		item->value.len = length;
		return taken;
	}
	if (!cursor_take_captured(c, length, &item->value))
		return false;
	return cursor_take_captured(c, padding_len < c->wire ? padding_len : c->wire, &padding);
}

bool
sctp_chunk_next(struct cursor *c, struct sctp_chunk *chunk)
{
	struct slice head;

	if (c->wire == 0 || !sctp_take_tlv(c, chunk, &head))
		return false;
	chunk->type = slice_u8(head, 0);
	chunk->flags = slice_u8(head, 1);
	return true;
}

struct cursor
sctp_chunk_parameters(const struct sctp_chunk *chunk, uint32_t offset)
{
	uint32_t length = chunk->length - (uint32_t)ITEM_HEADER;
	struct slice captured = slice_sub(chunk->value, offset, chunk->value.len);

	return cursor_init(captured.at, captured.len, length > offset ? length - offset : 0);
}

bool
sctp_parameter_next(struct cursor *c, struct sctp_chunk *parameter)
{
	struct slice head;

	if (c->wire == 0 || !sctp_take_tlv(c, parameter, &head))
		return false;
	parameter->type = slice_u16(head, 0);
	parameter->flags = 0;
	return true;
}

enum { CHUNK_HEADER = 4 };

/* Most chunks of a packet that netobs parses.  Packets of 1500 bytes have at most 73 chunks with data. */
enum { CHUNKS_MAX = 80 };

/* The chunks from here on are not parsed. */
static void
sctp_end_chunks(struct packet *packet, const struct cursor *c)
{
	struct sctp_layer *sctp = &packet->sctp;

	packet_add_anomaly(packet, ANOMALY_SCTP_CHUNK_LIMIT);
	sctp->chunks = slice_sub(sctp->chunks, 0, sctp->chunks_wire - c->wire);
	sctp->chunks_wire -= c->wire;
}

/* Chunks are padded to 4 bytes; the padding of the last one may be missing. */
static void
sctp_count_chunks(struct packet *packet, struct cursor c)
{
	struct sctp_layer *sctp = &packet->sctp;
	struct slice head, chunk;
	uint32_t length;

	while (c.wire > 0) {
		if (sctp->chunk_count == CHUNKS_MAX) {
			sctp_end_chunks(packet, &c);
			return;
		}
		if (!cursor_take(&c, CHUNK_HEADER, &head))
			break;
		if (sctp->chunk_count == 0)
			sctp->first_chunk = slice_u8(head, 0);
		length = slice_u16(head, 2);
		if (length < CHUNK_HEADER || length - CHUNK_HEADER > c.wire) {
			packet_add_anomaly(packet, ANOMALY_SCTP_CHUNK_LENGTH);
			return;
		}
		sctp->chunk_count++;
		length = (length + 3) / 4 * 4 - CHUNK_HEADER;
		if (!cursor_take_captured(&c, length < c.wire ? length : c.wire, &chunk))
			break;
	}
	if (c.error != CURSOR_OK)
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_CHUNKS, ANOMALY_SCTP_CHUNK_LENGTH);
	else if (sctp->chunk_count == 0)
		packet_add_anomaly(packet, ANOMALY_SCTP_NO_CHUNK);
}

void
dissect_sctp(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, SCTP_HEADER, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_SCTP_SHORT);
		return;
	}
	packet->sctp = (struct sctp_layer){
		.header = header,
		.sport = slice_u16(header, 0),
		.dport = slice_u16(header, 2),
		.verification_tag = slice_u32(header, 4),
		.checksum = slice_u32(header, 8),
		.chunks = cursor_captured_slice(&c),
		.chunks_wire = c.wire,
	};
	packet->transport = TRANSPORT_SCTP;
	packet_advance(packet, &c);
	packet->payload_wire = c.wire;
	sctp_count_chunks(packet, c);
}
