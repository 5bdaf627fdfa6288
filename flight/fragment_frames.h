/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of incomplete datagrams: when a datagram is complete, its earlier fragments are known to belong to the
 * connection of the datagram.  Memory is fixed; the oldest fragments are dropped first.
 */
#ifndef NETOBS_FLIGHT_FRAGMENT_FRAMES_H
#define NETOBS_FLIGHT_FRAGMENT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "dissect/packet.h"

/* Fragments that are stored at once; a power of two. */
#define FRAGMENT_FRAMES 8192u

/* What the fragments of a datagram share.  No padding: keys are compared as bytes. */
struct fragment_key {
	uint8_t src[16], dst[16];
	uint32_t id;
	uint8_t protocol; /* IPv4; 0 in IPv6, where fragments may disagree */
	uint8_t version;
	uint16_t zero;
};

_Static_assert(sizeof(struct fragment_key) == 40, "the key has no padding");

struct fragment_frames;

/* `seed` makes the hash unpredictable; no result depends on it.  NULL if out of memory. */
struct fragment_frames *fragment_frames_new(uint64_t seed);
void fragment_frames_free(struct fragment_frames *fragments);
size_t fragment_frames_memory_size(void);

void fragment_key_set(struct fragment_key *key, const struct packet *fragment);

/* Stores a frame that holds a fragment: its number or position.  `now` is packet time. */
void fragment_frames_add(struct fragment_frames *fragments, const struct fragment_key *key, uint64_t frame,
			 uint64_t now);

/* Removes the frames of a datagram, and those of datagrams with its key that timed out before.  The first `size` frames
 * of the datagram itself, the latest one first, go to `frames`.  Returns their number. */
unsigned fragment_frames_take(struct fragment_frames *fragments, const struct fragment_key *key, uint64_t now,
			      uint64_t *frames, unsigned size);

#endif
