/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry points of the dissector: pure functions from bytes to a struct packet. */
#ifndef NETOBS_DISSECT_DISSECT_H
#define NETOBS_DISSECT_DISSECT_H

#include "dissect/packet.h"

/* Most headers parsed per frame, including tunnels, tags and extension headers. */
#define DISSECT_LAYER_BUDGET 24

/* Most tunnels in each other per frame.  Each has a packet, for which all probes fire: five firings or more. */
#define DISSECT_TUNNELS_MAX 8

/* Whether frames of this link type (a DLT_ value) can be dissected. */
bool dissect_link_supported(int dlt);

/* The names of the supported link types in one line, for an error message.  Constant. */
const char *dissect_link_names(void);

/* Dissects one frame.  Always fills `*packet` and never fails: whatever is wrong is recorded in it as an anomaly. */
void dissect_frame(const struct frame *frame, struct packet *packet);

/* Dissects the packet inside the tunnel that `outer` carries (outer->inner is not INNER_NONE), within the rest of the
 * layer budget, which is used up after DISSECT_TUNNELS_MAX tunnels.  The inner packet refers to the same
 * frame. */
void dissect_inner(const struct packet *outer, struct packet *inner);

/* Whether the packet is that of a tunnel that is not unpacked: ESP, IPComp, L2TP, GRE with other content than frames
 * and IP packets; or of another one that the caller has not unpacked. */
bool dissect_is_closed_tunnel(const struct packet *packet);

/* Whether UDP datagrams to this port are packets of a tunnel that is not unpacked. */
bool dissect_port_is_of_closed_tunnel(uint16_t port);

/* Dissects a reassembled datagram: the link layer comes from its `last` fragment, the IP layer from the `first`;
 * `captured` of its `wire` payload bytes are captured.  The packet refers to the last fragment's frame and to
 * `bytes`. */
void dissect_reassembled(const struct packet *last, const struct ip_layer *first, const uint8_t *bytes,
			 uint32_t captured, uint32_t wire, struct packet *whole);

/* Verifies the transport checksum of a whole datagram (TCP, UDP, ICMP, ICMPv6, SCTP, DCCP), or the IPv4 header checksum
 * if there is no transport.  It reads the whole payload: call it only if a probe is enabled. */
enum checksum_verdict checksum_verify(const struct packet *packet);

#endif
