/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layout of the ring, private to its files.
 *
 * The memory is a sequence of entries: each frame, followed by the links to its further connections and by its notes.
 * They are multiples of 16 bytes, and no entry wraps: what does not fit before the end begins at the beginning, and a
 * padding entry fills the end.  Positions count 16 bytes; they only grow.  `tail` is the position of the oldest frame,
 * `head` the one after the latest.
 *
 * The entries of a connection are a chain: each has the distance to the one before, and the slot of the flow has the
 * position of the latest.  A position before the tail ends a chain.  A slot is for one flow of the flow table; it stays
 * when the flow is removed and is reset when the flow table gives its index to another connection.
 */
#ifndef NETOBS_FLIGHT_RING_INTERNAL_H
#define NETOBS_FLIGHT_RING_INTERNAL_H

#include <stddef.h>

#include "dissect/frame.h"
#include "flight/fragment_frames.h"
#include "flight/ring.h"
#include "flight/ring_interfaces.h"

#define RING_UNIT 16u

#define RING_BACK_BEYOND     UINT32_MAX /* the entry before is too far to be in the ring */

/* A position before that of every frame: the first frames of a connection were left out. */
#define RING_BEFORE 1u

enum ring_entry_kind { RING_ENTRY_PADDING, RING_ENTRY_FRAME, RING_ENTRY_LINK, RING_ENTRY_NOTE };

enum ring_frame_bit {
	RING_FRAME_DIRECTION = 0x03, /* enum direction */
	RING_FRAME_SENDER = 0x04,
	RING_FRAME_MORE = 0x08, /* links or notes follow */
};

enum ring_link_bit {
	RING_LINK_EARLIER =
	    0x01, /* it links an earlier frame, a fragment, and is not about the frame that it follows */
};

/* Of a frame or link: the next frame of its connection was left out. */
#define RING_GAP 0x10u

struct ring_frame_entry {
	uint8_t kind, bits;
	uint16_t source; /* ring_interfaces_source() */
	uint32_t back;	 /* distance to the entry before in the chain, 0: the first */
	uint32_t caplen, len;
	uint64_t ts, now;
	uint64_t cid; /* of the first connection, 0 none */
	uint64_t packet_id;
	uint8_t data[];
};

/* A further connection of the frame that it follows, or with RING_LINK_EARLIER a connection of an earlier one. */
struct ring_link_entry {
	uint8_t kind, bits;
	uint16_t unused;
	uint32_t back;
	uint64_t cid;	   /* 0: not known yet */
	uint64_t position; /* of the frame */
	uint64_t unused_too;
};

struct ring_note_entry {
	uint8_t kind;
	uint8_t event;	       /* enum ring_note_event */
	uint16_t size;	       /* bytes, with the text */
	uint8_t before, after; /* states; of a retransmission its kind */
	uint16_t unused;
	uint64_t cid;
	uint32_t count, elapsed_us; /* of a retransmission */
	int32_t pid;		    /* -1 unknown */
	char text[];		    /* with its NUL: command, or the text of RING_NOTE_TEXT */
};

struct ring_padding_entry {
	uint8_t kind, unused[3];
	uint32_t units;
};

_Static_assert(sizeof(struct ring_frame_entry) == 48, "the header of a frame is 48 bytes");
_Static_assert(sizeof(struct ring_link_entry) == 2 * RING_UNIT, "a link is two units");

/* Half a cache line for each flow of the flow table. */
struct ring_slot {
	uint64_t cid;	   /* of endpoint 0, 0: free */
	uint64_t head;	   /* position of the latest entry of the chain */
	uint64_t bytes[2]; /* wire bytes of the frames of each endpoint; only counted if they are limited.  From bit
			    * RING_KEPT_SHIFT on: the number of frames beyond the limit that were kept because of notes
			    * or fragments; it is 0 until the limit is reached, and the whole stays above it then. */
};

#define RING_KEPT_SHIFT 52

_Static_assert(RING_LIMIT_BYTES_MAX < UINT64_C(1) << RING_KEPT_SHIFT, "a limit does not reach the bits of the counter");
_Static_assert(RING_KEPT_MAX < UINT64_C(1) << (63 - RING_KEPT_SHIFT), "the counter does not overflow");

_Static_assert(sizeof(struct ring_slot) == 32, "a slot is half a cache line");

/* A connection of the frame in progress. */
struct ring_connection {
	struct ring_slot *slot;
	uint64_t cid;
	unsigned sender;
	unsigned fragments; /* it is linked with so many of the earlier frames, from the first on */
};

/* The frame in progress. */
struct ring_pending {
	struct frame frame;
	uint64_t now;
	uint64_t packet_id;
	unsigned direction;
	bool has_packet;
	bool has_fragment;
	struct fragment_key fragment;
	unsigned connection_count;
	struct ring_connection connections[RING_CONNECTIONS_MAX];
	struct ring_slot removed[RING_CONNECTIONS_MAX]; /* slots of connections that were removed meanwhile */
	unsigned fragment_count, fragment_links;
	uint64_t fragments[RING_FRAGMENTS_MAX]; /* earlier frames of the datagrams that it has completed */
	unsigned notes, notes_size;
	_Alignas(RING_UNIT) uint8_t note_bytes[RING_NOTES_SIZE];
};

/* A frame at which the oldest frames may end.  Frames are removed from mark to mark, without touching them. */
struct ring_mark {
	uint32_t position, number; /* low bits; frames that were added before it */
};

struct ring {
	uint8_t *memory;
	uint64_t units; /* of the memory */
	uint64_t lap;	/* position of the first unit of the memory, of the latest lap */
	uint64_t head, tail;
	uint64_t limit; /* `head` may move up to here: no entry there is in use, and no mark belongs before it */
	uint64_t mark_distance;
	struct ring_mark *marks;
	size_t mark_count, mark_head, mark_tail; /* ring of `marks`: the next one, the one of the oldest frame */
	struct ring_slot *slots;
	uint32_t slot_count;
	uint32_t caplen_max;
	uint64_t bytes_max; /* limits.bytes, UINT64_MAX without a limit */
	size_t mapped;	    /* bytes of `memory` */
	const struct flow_table *flows;
	uint64_t newest;
	struct ring_counters counters;
	struct ring_interfaces *interfaces;
	struct fragment_frames *fragments;
	emitter_find_owner *find_owner;
	void *owner_context;
	ring_leave_handler *leave;
	void *leave_context;
	unsigned readers;
	/* The latest copy that waits for the connection of the frame after it. */
	uint64_t copy_frame; /* number of that frame, 0 none */
	uint32_t copy_len;
	struct fragment_key copy_key;
	struct ring_pending pending;
};

/* Units of `bytes`. */
static inline uint64_t
ring_units(uint64_t bytes)
{
	return (bytes + RING_UNIT - 1) / RING_UNIT;
}

static inline void *
ring_entry_at(const struct ring *ring, uint64_t position)
{
	return ring->memory +
	       (position >= ring->lap ? position - ring->lap : position - ring->lap + ring->units) * RING_UNIT;
}

static inline uint64_t
ring_frame_units(const struct ring_frame_entry *frame)
{
	return ring_units(sizeof *frame + frame->caplen);
}

/* ring.c: the position of the next frame, or `head` at the end: after the links and notes, and after the padding. */
uint64_t ring_next_frame(const struct ring *ring, uint64_t position);

/* ring.c: the link or note at `position` and sets the position after it; 0 if there is neither. */
enum ring_entry_kind ring_next_annex(const struct ring *ring, uint64_t *position, const void **entry);

/* ring.c: makes room for so many units at `head`, or at the beginning of the memory, and sets `limit`. */
void ring_make_room(struct ring *ring, uint64_t units);

/* Returns the position of so many units, at most a quarter of the ring, which becomes valid when `head` is moved after
 * them. */
static inline uint64_t
ring_reserve(struct ring *ring, uint64_t units)
{
	if (__builtin_expect(ring->limit - ring->head < units, 0))
		ring_make_room(ring, units);
	return ring->head;
}

/* ring.c: fills a frame from the entry at `position`; its connections go to `cids`. */
void ring_fill_frame(const struct ring *ring, uint64_t position, struct ring_frame *frame,
		     uint64_t cids[RING_CONNECTIONS_MAX]);

/* flow/flow.h numbers both ends of a connection: the id of endpoint 0. */
static inline uint64_t
ring_connection_cid(uint64_t cid)
{
	return cid != 0 ? cid - (cid % 2 == 0) : 0;
}

#endif
