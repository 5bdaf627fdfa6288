/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP packets built chunk by chunk, for tests. */
#ifndef NETOBS_TESTS_FLOW_SCTP_SCTP_BUILDER_H
#define NETOBS_TESTS_FLOW_SCTP_SCTP_BUILDER_H

#include "dissect/transport/sctp.h"
#include "tests/flow/reassembly/packet_buffer.h"

/* Begins a packet: an IPv4 header, to be completed by sctp_build_end(), and the common header. */
static inline void
sctp_build_begin(struct packet_buffer *buffer, unsigned src, unsigned dst, unsigned sport, unsigned dport,
		 uint32_t verify)
{
	buffer->len = 0;
	packet_put_ipv4(buffer, src, dst, 132, 0, 0, 12);
	packet_put_u16(buffer, sport);
	packet_put_u16(buffer, dport);
	packet_put_u32(buffer, verify);
	packet_put_u32(buffer, 0);
}

/* A chunk header whose length counts `value` bytes, which the caller appends, then sctp_build_padding(). */
static inline void
sctp_build_chunk(struct packet_buffer *buffer, unsigned type, unsigned flags, uint32_t value)
{
	packet_put_u8(buffer, type);
	packet_put_u8(buffer, flags);
	packet_put_u16(buffer, 4 + value);
}

static inline void
sctp_build_padding(struct packet_buffer *buffer)
{
	while (buffer->len % 4 != 0)
		packet_put_u8(buffer, 0);
}

/* INIT or INIT ACK with the IPv4 addresses 10.0.0.n for each n of `addresses`. */
static inline void
sctp_build_init(struct packet_buffer *buffer, unsigned type, uint32_t tag, const uint8_t *addresses, unsigned count)
{
	sctp_build_chunk(buffer, type, 0, 16 + 8 * count);
	packet_put_u32(buffer, tag);
	packet_put_u32(buffer, 100000); /* a_rwnd */
	packet_put_u16(buffer, 10);
	packet_put_u16(buffer, 20);
	packet_put_u32(buffer, 1000); /* initial TSN */
	for (unsigned i = 0; i < count; i++) {
		packet_put_u16(buffer, SCTP_PARAMETER_IPV4);
		packet_put_u16(buffer, 8);
		packet_put_u32(buffer, 0x0a000000u | addresses[i]);
	}
}

static inline void
sctp_build_data(struct packet_buffer *buffer, uint32_t tsn, uint32_t bytes)
{
	sctp_build_chunk(buffer, SCTP_CHUNK_DATA, 3, 12 + bytes);
	packet_put_u32(buffer, tsn);
	packet_put_u32(buffer, 0); /* stream and its sequence number */
	packet_put_u32(buffer, 0); /* payload protocol */
	for (uint32_t i = 0; i < bytes; i++)
		packet_put_u8(buffer, i);
	sctp_build_padding(buffer);
}

static inline void
sctp_build_sack(struct packet_buffer *buffer, uint32_t acked)
{
	sctp_build_chunk(buffer, SCTP_CHUNK_SACK, 0, 12);
	packet_put_u32(buffer, acked);
	packet_put_u32(buffer, 90000);
	packet_put_u32(buffer, 0);
}

static inline void
sctp_build_shutdown(struct packet_buffer *buffer, uint32_t acked)
{
	sctp_build_chunk(buffer, SCTP_CHUNK_SHUTDOWN, 0, 4);
	packet_put_u32(buffer, acked);
}

/* Sets the lengths and the IP checksum. */
static inline void
sctp_build_end(struct packet_buffer *buffer)
{
	packet_set_u16(buffer, 2, buffer->len);
	packet_set_u16(buffer, 10, 0);
	packet_set_u16(buffer, 10, (uint16_t)~slice_checksum((struct slice){buffer->bytes, 20}));
}

#endif
