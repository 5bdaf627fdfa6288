/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recipes of frame sequences, for the measurements of this room.
 *
 * A recipe is a list of operations of 16 bytes.  Each operation makes `repeat` frames of one kind, whose fields may
 * step from frame to frame; the operations from `loop` on are repeated until the sequence is long enough.  Every
 * byte has a meaning in every operation, so that random changes of a recipe give another valid one.
 */
#ifndef NETOBS_TESTS_COST_COST_FRAMES_H
#define NETOBS_TESTS_COST_COST_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

enum { COST_OPS_MAX = 12, COST_FRAMES_MAX = 4096, COST_FRAME_LEN_MAX = 1514 };

enum cost_kind {
	COST_TCP,
	COST_HANDSHAKE, /* SYN; SYN,ACK; ACK; of each flow */
	COST_UDP,
	COST_SCTP,
	COST_FRAGMENT,
	COST_ICMP_ERROR, /* quotes a segment of the flow */
	COST_DCCP,
	COST_IP, /* another protocol */
	COST_KINDS
};

enum cost_payload {
	COST_ZEROS,
	COST_LOGIN,	     /* iSCSI login request of an additional connection of a session */
	COST_LOGIN_RESPONSE, /* iSCSI login response that ends the login */
	COST_LOGIN_FIRST,    /* iSCSI login request of the first connection of a session */
	COST_CANDIDATES,     /* in mid-stream, an iSCSI header may begin at every 16th byte */
	COST_COMMANDS,	     /* iSCSI NOPs */
	COST_TEXT,	     /* iSCSI login request with many pairs of text */
	COST_NOISE,
	COST_PAYLOADS
};

enum cost_wrap {
	COST_PLAIN,
	COST_VLAN,	 /* 20 VLAN tags */
	COST_EXTENSIONS, /* IPv6 with extension headers, one that is all options */
	COST_IPV6,
	COST_GRE,	 /* GRE in GRE, 5 deep */
	COST_IP_IN_IP,	 /* 10 deep */
	COST_VXLAN,
	COST_IP_OPTIONS, /* 40 bytes of IPv4 options */
	COST_WRAPS
};

struct cost_op {
	uint8_t kind;	 /* enum cost_kind */
	uint8_t repeat;	 /* 2^n frames, n up to 11 */
	uint8_t flow;	 /* number of the flow, of 256 */
	uint8_t step;	 /* low 4 bits: added to the flow with each frame; high 4 bits: flows that this loops over,
		2^n */
	uint8_t sender;	 /* low 2 bits: client, server, alternating */
	uint8_t flags;	 /* of TCP; type of a chunk */
	uint8_t seq;	 /* low 4 bits: distance of the sequence number; high 4 bits: what it adds with each frame */
	uint8_t ack;	 /* likewise, of the acknowledgement number */
	uint8_t length;	 /* of the payload */
	uint8_t payload; /* enum cost_payload */
	uint8_t options; /* of TCP: bit 0 timestamps, bits 1 to 3 number of SACK blocks, bits 4 to 6 their place */
	uint8_t time;	 /* time between two frames */
	uint8_t wrap;	 /* enum cost_wrap */
	uint8_t port;	 /* of the server */
	uint8_t change;	 /* byte of the frame that is replaced, if not 0, ... */
	uint8_t value;	 /* by this value plus the number of the frame */
};

_Static_assert(sizeof(struct cost_op) == 16, "an operation has no padding");

struct cost_recipe {
	unsigned count, loop;
	unsigned frames; /* most frames of the sequence, 0 COST_FRAMES_MAX */
	struct cost_op ops[COST_OPS_MAX];
};

struct cost_frame {
	uint32_t delta_us; /* time since the frame before */
	uint16_t len;
	uint8_t bytes[COST_FRAME_LEN_MAX];
};

/* Makes the frames of a recipe, at most COST_FRAMES_MAX.  Returns their number. */
unsigned cost_frames_make(const struct cost_recipe *recipe, struct cost_frame *frames);

#endif
