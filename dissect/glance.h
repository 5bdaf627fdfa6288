/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame at a glance: what it takes to move a connection on while nobody wants to know more.
 *
 * Ethernet without tags, IP without options, extension headers or fragments, TCP or UDP, nothing odd about it: of such
 * a frame dissect_frame() says the same, and much that is not asked for here (tests/test_usual.c compares both).
 */
#ifndef NETOBS_DISSECT_GLANCE_H
#define NETOBS_DISSECT_GLANCE_H

#include "dissect/packet.h"

enum glance_kind {
	GLANCE_NONE, /* dissect it: nothing is known */
	GLANCE_KEY,  /* dissect it: only whose it is (addresses, ports, protocol, version) is known */
	GLANCE_TCP,  /* an ACK, with or without data, with no options or timestamps alone; no SYN, FIN, RST */
	GLANCE_UDP,  /* a datagram, of no tunnel */
};

struct glance {
	const uint8_t *src, *dst; /* in the frame; 4 or 16 bytes, no group and src not unspecified */
	uint32_t seq, ack;	  /* GLANCE_TCP, as is the next */
	uint16_t window;	  /* raw */
	uint16_t sport, dport;	  /* host order */
	uint8_t protocol;	  /* 6 or 17 */
	uint8_t version;	  /* 4 or 6 */
	uint32_t segment;	  /* bytes of payload on the wire; GLANCE_TCP and GLANCE_UDP */
};

/* Looks at a frame of Ethernet.  Of `*glance` only what the answer names is written. */
enum glance_kind glance_at(struct glance *glance, const struct frame *frame);

#endif
