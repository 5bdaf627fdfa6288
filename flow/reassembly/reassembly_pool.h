/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reassembly keeps its datagrams in: reassembly.c and reassembly_pool.c only.
 *
 * A datagram has a slot.  Its bytes lie in blocks of 512, one for each 512 bytes of the datagram that anything has come
 * of, so a fragment's place in the datagram is its place in memory.  Which fragments have come is a chain of pieces in
 * rising order.  Slots, blocks and pieces are indices into arrays; index 0 is nobody.  Memory that has never been used
 * is never touched.
 */
#ifndef NETOBS_FLOW_REASSEMBLY_REASSEMBLY_POOL_H
#define NETOBS_FLOW_REASSEMBLY_REASSEMBLY_POOL_H

#include "flow/reassembly/reassembly.h"

enum {
	BLOCK_SIZE = 512,
	DATAGRAM_MAX = 65535,
	DATAGRAM_BLOCKS = (DATAGRAM_MAX + BLOCK_SIZE) / BLOCK_SIZE,
	/* An IPv4 header with all its options, or an IPv6 header with all the extension headers that anybody sends. */
	HEADER_MAX = 256,
	PIECES = 32768,
};

/* Compared and hashed as bytes: no padding. */
struct datagram_key {
	uint8_t src[16], dst[16];
	uint32_t id;
	uint16_t space;
	uint8_t protocol; /* 0 in IPv6, where fragments of one datagram may differ in it (RFC 8200 section 4.5) */
	uint8_t version;
};

_Static_assert(sizeof(struct datagram_key) == 40, "the key has no padding");

/* A fragment that has come. */
struct piece {
	uint16_t start;	 /* in 8-byte units */
	uint16_t next;	 /* piece */
	uint16_t length; /* on the wire */
	uint16_t have;	 /* captured */
};

/* Fragments of one datagram. */
struct datagram {
	struct datagram_key key;
	uint64_t since;	     /* when the first of them came */
	uint32_t bucket;     /* of the hash */
	uint16_t chain;	     /* next slot in the bucket, or next free slot */
	uint16_t next, prev; /* younger and older slots of the same IP version */
	uint16_t head, tail; /* pieces */
	uint16_t count;	     /* pieces */
	uint16_t blocks;     /* in use */
	uint32_t total;	     /* length, once its last fragment has come; 0 before */
	uint32_t end;	     /* where the farthest fragment ends */
	uint32_t held;	     /* sum of the lengths of the pieces: they never overlap */
	enum anomaly why;    /* it is discarded for this reason and only remembered; NONE while it is filled */
	/* The fragment at offset 0, else the one that came first. */
	struct ip_layer ip; /* its views point into `header` */
	uint8_t header[HEADER_MAX];
	const struct interface *interface;
	enum direction direction;
	bool loopback;
	uint16_t block[DATAGRAM_BLOCKS]; /* 0 where nothing has come */
};

struct fifo {
	uint16_t head, tail; /* oldest and youngest slot */
};

struct reassembly {
	uint64_t next_due; /* no datagram's time is over before */
	uint64_t seed;
	struct reassembly_limits limits;
	struct reassembly_counters counters;
	reassembly_report *report;
	void *context;
	struct datagram *slots;
	uint8_t *bytes; /* blocks */
	uint16_t *block_next;
	struct piece *pieces;
	uint16_t *buckets;
	uint32_t bucket_mask;
	uint32_t slots_free, blocks_free, pieces_free; /* how many */
	uint32_t slot_top, block_top, piece_top;       /* highest index ever used */
	uint16_t slot_spare, block_spare, piece_spare; /* first free index below it */
	struct fifo ages[2];			       /* IPv4, IPv6 */
	/* The last two whole datagrams: one may be a tunnel's packet whose inner packet completes the other. */
	unsigned latest;
	struct whole {
		struct ip_layer ip;
		uint8_t header[HEADER_MAX];
		uint8_t bytes[DATAGRAM_BLOCKS * BLOCK_SIZE];
	} whole[2];
	/* The last one given up. */
	struct frame lost_frame;
	struct packet lost;
};

/* An index is also a pointer's place: both are used, so both ways. */
static inline struct datagram *
datagram_at(struct reassembly *r, uint16_t index)
{
	return &r->slots[index];
}

static inline uint16_t
datagram_index(const struct reassembly *r, const struct datagram *d)
{
	return (uint16_t)(d - r->slots);
}

struct datagram *pool_find(struct reassembly *r, const struct datagram_key *key);

/* A new datagram; there must be a free slot. */
struct datagram *pool_create(struct reassembly *r, const struct datagram_key *key, uint64_t now);

/* Frees a datagram and all it holds. */
void pool_remove(struct reassembly *r, struct datagram *d);

/* Frees what it holds, and keeps the datagram. */
void pool_empty(struct reassembly *r, struct datagram *d);

/* A free piece; there must be one. */
uint16_t pool_take_piece(struct reassembly *r);

/* Blocks that bytes from `offset` on would need beside those the datagram has. */
uint32_t pool_blocks_missing(const struct datagram *d, uint32_t offset, uint32_t length);

/* Copies bytes into their place.  The blocks that are missing must be free. */
void pool_write(struct reassembly *r, struct datagram *d, uint32_t offset, struct view bytes);

/* Whether the datagram holds these very bytes there; they must have been written. */
bool pool_same(const struct reassembly *r, const struct datagram *d, uint32_t offset, struct view bytes);

/* Copies the first `length` bytes out; they must have been written. */
void pool_read(const struct reassembly *r, const struct datagram *d, uint8_t *to, uint32_t length);

#endif
