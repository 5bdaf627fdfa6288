/* SPDX-License-Identifier: BSD-2-Clause */
#include "dissect/transport/sctp_chunks.h"

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
