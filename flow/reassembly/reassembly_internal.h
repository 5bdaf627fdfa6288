/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef NETOBS_FLOW_REASSEMBLY_REASSEMBLY_INTERNAL_H
#define NETOBS_FLOW_REASSEMBLY_REASSEMBLY_INTERNAL_H

#include "flow/reassembly/reassembly.h"

/*
 * Memory of the reassembly, private to reassembly.c and its tests.
 *
 * The bytes of a datagram lie in blocks of 512, allocated for each 512 bytes of the datagram of which something has
 * arrived, so the offset in the datagram determines the place in memory.  The stored fragments are a list in ascending
 * order.  Datagrams, blocks and fragments are indices into arrays; index 0 means none.  Memory that was never used is
 * never touched.
 */

enum {
	BLOCK_SIZE = 512,
	DATAGRAM_MAX = 65535,
	DATAGRAM_BLOCKS = (DATAGRAM_MAX + BLOCK_SIZE) / BLOCK_SIZE,
	/* room for an IPv4 header with all options, or an IPv6 header with the extension headers common in practice */
	HEADER_MAX = 256,
	FRAGMENTS_MAX = 32768,
};

/* No padding: keys are compared and hashed as bytes. */
struct datagram_key {
	uint8_t src[16], dst[16];
	uint32_t id;
	uint16_t space;
	uint8_t protocol; /* 0 in IPv6, where fragments of one datagram may differ in it (RFC 8200 section 4.5) */
	uint8_t version;
};

_Static_assert(sizeof(struct datagram_key) == 40, "the key has no padding");

/* A fragment that was received and is not a duplicate. */
struct stored_fragment {
	uint16_t start;	   /* in 8-byte units */
	uint16_t next;	   /* next fragment of the datagram, or next free one */
	uint16_t length;   /* length on the wire */
	uint16_t captured; /* bytes captured */
};

/* An incomplete datagram. */
struct datagram {
	struct datagram_key key;
	uint64_t first_seen;  /* arrival of its first fragment */
	uint32_t bucket;      /* hash bucket */
	uint16_t bucket_next; /* next datagram in the bucket, or next free one */
	uint16_t next, prev;  /* younger and older datagram of the same IP version */
	uint16_t head, tail;  /* first and last stored fragment */
	uint16_t count;	      /* number of stored fragments */
	uint16_t blocks;      /* blocks in use */
	uint32_t total;	      /* length of the payload, known from the last fragment; 0 before */
	uint32_t end;	      /* end of the farthest fragment */
	uint32_t bytes_held;  /* sum of the lengths of the stored fragments, which never overlap */
	enum anomaly anomaly; /* why it was discarded and is kept only until its timeout; ANOMALY_NONE before */
	/* The fragment at offset 0, else the first one captured. */
	struct ip_layer ip; /* its slices point into `header` */
	uint8_t header[HEADER_MAX];
	const struct interface *interface;
	enum direction direction;
	bool loopback;
	uint16_t block[DATAGRAM_BLOCKS]; /* block of each 512 bytes, 0 if nothing of them has arrived */
};

struct datagram_fifo {
	uint16_t head, tail; /* oldest and youngest datagram */
};

struct reassembly {
	uint64_t next_due; /* earliest timeout of a datagram */
	uint64_t seed;
	struct reassembly_limits limits;
	struct reassembly_counters counters;
	reassembly_report *report;
	void *context;
	struct datagram *datagrams;
	uint8_t *bytes; /* memory of the blocks */
	uint16_t *block_next;
	struct stored_fragment *fragments;
	uint16_t *buckets;
	uint32_t bucket_mask;
	uint32_t datagrams_free, blocks_free, fragments_free;		     /* number of free ones */
	uint32_t datagram_high_water, block_high_water, fragment_high_water; /* highest index used so far */
	uint16_t datagram_free_head, block_free_head, fragment_free_head;    /* head of the free list below that
									      * index */
	struct datagram_fifo fifo[2];					     /* one list each for IPv4 and IPv6 */
	/* The last two completed datagrams: one may be a tunnel packet whose inner packet completes the other. */
	unsigned last_completed;
	struct complete_datagram {
		struct ip_layer ip;
		uint8_t header[HEADER_MAX];
		uint8_t bytes[DATAGRAM_BLOCKS * BLOCK_SIZE];
	} completed[2];
	/* The last datagram that was given up. */
	struct frame lost_frame;
	struct packet lost;
};

/* Conversions between index and pointer. */
static inline struct datagram *
datagram_at(struct reassembly *r, uint16_t index)
{
	return &r->datagrams[index];
}

static inline uint16_t
datagram_index(const struct reassembly *r, const struct datagram *d)
{
	return (uint16_t)(d - r->datagrams);
}

#endif
