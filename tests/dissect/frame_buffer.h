/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames for tests: wrapping bytes into layers, dissecting them from memory of their exact size, cutting them. */
#ifndef NETOBS_TESTS_DISSECT_FRAME_BUFFER_H
#define NETOBS_TESTS_DISSECT_FRAME_BUFFER_H

#include <pcap/dlt.h>

#include "dissect/dissect.h"

struct frame_buffer {
	uint8_t data[4096];
	uint32_t len;
};

struct frame_buffer frame_buffer_from(const void *data, uint32_t len);
void frame_buffer_append(struct frame_buffer *to, const void *data, uint32_t len);

/* 02:00:00:00:00:01 -> 02:00:00:00:00:02. */
struct frame_buffer frame_wrap_ether(uint16_t type, const struct frame_buffer *inside);

/* 10.0.0.1 -> 10.0.0.2, TTL 64, id 0x1234, DF, right checksum.  No link header. */
struct frame_buffer frame_wrap_ipv4(uint8_t protocol, const struct frame_buffer *inside);

/* The same with a packet's flags and fragment offset (in 8-byte units), and with options. */
struct frame_buffer frame_wrap_ipv4_fragment(uint8_t protocol, uint16_t flags_offset,
					     const struct frame_buffer *inside);
struct frame_buffer frame_wrap_ipv4_options(uint8_t protocol, const struct frame_buffer *options,
					    const struct frame_buffer *inside);

/* Puts the right header checksum into an IPv4 packet without link header. */
void frame_fix_ipv4_checksum(struct frame_buffer *packet);

/* 2001:db8::1 -> 2001:db8::2, hop limit 64.  No link header. */
struct frame_buffer frame_wrap_ipv6(uint8_t next_header, const struct frame_buffer *inside);

/* Dissects `have` bytes of which `wire` were on the wire.  The result, and the copy it points into, live until the
 * next call. */
const struct packet *frame_dissect_cut(int dlt, const void *data, uint32_t have, uint32_t wire);
const struct packet *frame_dissect(int dlt, const struct frame_buffer *bytes);

/* Dissects the packet in the tunnel of the packet that was dissected last. */
const struct packet *frame_dissect_inner(const struct packet *outer);

#define DISSECT(dlt, array) frame_dissect_cut((dlt), (array), sizeof(array), sizeof(array))

/* The reason of a frame cut to `n` bytes, for every n from the end of the row above up to, not including, `upto`:
 * `snaplen` where the capture cut it, `wire` where the wire did. */
struct truncation_row {
	uint32_t upto;
	enum anomaly snaplen, wire;
};

/* Cuts at every byte.  The last row ends at the length of the frame.  A cut frame may have no anomaly that the whole
 * frame does not have, except for the cut itself. */
void assert_truncations(int dlt, const void *data, uint32_t len, const struct truncation_row *cuts);

/* cmocka prints numbers; this function prints names. */
void assert_worst_anomaly(const struct packet *packet, enum anomaly reason);

#endif
