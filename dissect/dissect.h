/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry points of the dissector: pure functions from bytes to a struct packet. */
#ifndef NETOBS_DISSECT_DISSECT_H
#define NETOBS_DISSECT_DISSECT_H

#include "dissect/packet.h"

/* Headers that one frame may spend, tunnels, tags and extension headers included. */
#define DISSECT_LAYER_BUDGET 24

/* Whether frames of this link type (a DLT_ value) can be dissected. */
bool dissect_link_supported(int dlt);

/* The names of the supported link types in one line, for an error message.  Constant. */
const char *dissect_link_names(void);

/* Dissects one frame.  Always fills `*packet`; never fails: what is odd has a name in it. */
void dissect_frame(const struct frame *frame, struct packet *packet);

/* Dissects what lies inside the tunnel that `outer` carries (outer->inner is not INNER_NONE), with what is left of
 * the layer budget.  The inner packet refers to the same frame. */
void dissect_inner(const struct packet *outer, struct packet *inner);

/* Dissects a datagram that reassembly made whole: the link layer of its `last` fragment, the IP layer of the `first`,
 * and `have` of the `wire` bytes it carries.  The whole packet refers to the last fragment's frame and to `bytes`. */
void dissect_reassembled(const struct packet *last, const struct ip_layer *first, const uint8_t *bytes, uint32_t have,
			 uint32_t wire, struct packet *whole);

/* Verifies the transport checksum of a whole datagram (TCP, UDP, ICMP, ICMPv6, SCTP), or the IPv4 header checksum
 * where there is no transport.  Reads the whole payload: call it only where somebody asks. */
enum checksum_verdict dissect_checksum(const struct packet *packet);

#endif
