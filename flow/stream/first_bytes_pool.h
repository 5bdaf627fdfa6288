/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first segments of connections, kept until their reader is known and both ends have opened the connection.
 *
 * A connection is recognised by its client's first bytes, which may come in small segments or out of order; data of a
 * SYN (TCP Fast Open, RFC 7413) count as soon as the server has acknowledged them; and if the beginning of a connection
 * is not captured, its first segments count as soon as both ends have proved that they were sent.  The segments are
 * then passed to the reader in the order of the capture.
 *
 * All address space is reserved at start.  If all memory is in use, the connection that has waited longest gives its
 * memory back: a flood of connections displaces the beginnings of others, but takes no more memory.
 */
#ifndef NETOBS_FLOW_STREAM_FIRST_BYTES_POOL_H
#define NETOBS_FLOW_STREAM_FIRST_BYTES_POOL_H

#include "flow/flow.h"
#include "flow/stream/stream.h"

/* Connections whose first segments are kept at once: a power of two. */
#define FIRST_BYTES_CONNECTIONS 512u

/* Bytes and segments of a connection that are kept.  Segments of a client that continue each other, with the same ACK,
 * count as one. */
#define FIRST_BYTES_MAX	     8192u
#define FIRST_BYTES_SEGMENTS 64u

struct first_segment {
	uint64_t time;	   /* packet time, ns since the epoch */
	uint64_t packet_id;
	uint32_t seq, ack; /* `seq` is that of its first byte */
	uint32_t wire;	   /* bytes of its payload */
	uint16_t offset, captured; /* of these, the ones that are kept */
	uint8_t flags;
	uint8_t sender;
	bool late; /* its receiver has acknowledged it before it was captured */
};

/* The first segments of a connection. */
struct first_bytes {
	const struct flow *flow; /* NULL: free */
	uint64_t cid;		 /* connection id of the flow's endpoint 0 */
	uint32_t iss;		 /* of the client's SYN, if `from_syn` */
	uint32_t used;		 /* bytes in memory */
	uint32_t bucket_next, newer, older; /* index + 1; 0 none */
	uint16_t count;
	uint8_t client;	      /* the endpoint that opened the connection */
	bool from_syn;	      /* its SYN was captured */
	bool settled;	      /* it is known which data of the SYN the server has accepted */
	struct first_segment segments[FIRST_BYTES_SEGMENTS];
};

struct first_bytes_pool;

/* Counts segments that are not kept in the counters of `streams`, which is borrowed.  NULL if out of memory. */
struct first_bytes_pool *first_bytes_pool_new(struct stream_pool *streams);
void first_bytes_pool_free(struct first_bytes_pool *pool);

/* Bytes of address space that a pool reserves: the most memory that it takes. */
size_t first_bytes_pool_memory_size(void);

/* Drops the segments of all connections. */
void first_bytes_pool_clear(struct first_bytes_pool *pool);

/* Connections whose segments are kept. */
uint32_t first_bytes_pool_count(const struct first_bytes_pool *pool);

/* What is kept of a connection, NULL if nothing is. */
struct first_bytes *first_bytes_find(struct first_bytes_pool *pool, const struct flow *flow, uint64_t cid);

/* What has been kept longest, NULL if nothing is. */
struct first_bytes *first_bytes_oldest(const struct first_bytes_pool *pool);

/* Begins to keep segments of a connection that `client` has opened, as far as it is known. */
struct first_bytes *first_bytes_begin(struct first_bytes_pool *pool, const struct flow *flow, uint64_t cid,
				      unsigned client);

/* Whether memory is left for all of a segment; `first`: NULL if nothing is kept of its connection. */
bool first_bytes_has_room(const struct first_bytes *first, const struct packet *packet);

/* Keeps a segment with payload of endpoint `sender`, which may be `late` (app_flow_is_late()).  False, and it is
 * counted, if no memory is left for all of it. */
bool first_bytes_add(struct first_bytes_pool *pool, struct first_bytes *first, const struct packet *packet,
		     uint64_t packet_id, unsigned sender, uint64_t now, bool late);

/* A segment of endpoint `sender`: settles which data of the SYN are part of the stream, and drops the others.  They are
 * those that the server's first segment acknowledges, and that the client does not send again. */
void first_bytes_settle(struct first_bytes *first, const struct packet *packet, unsigned sender);

/* Whether anything is kept, of the present connection attempt. */
bool first_bytes_are_current(const struct first_bytes *first);

/* Whether data of a SYN are kept. */
bool first_bytes_has_syn_data(const struct first_bytes *first);

/* The client's first bytes, without a gap, at most `size` of them: those that are kept, and those of this segment of
 * endpoint `sender`.  They are copied to `buffer`. */
struct slice first_bytes_head(const struct first_bytes_pool *pool, const struct first_bytes *first,
			      const struct packet *packet, unsigned sender, uint8_t *buffer, uint32_t size);

/* The lowest number `*seq` of the segments of endpoint `sender` that are kept; false if no segment is kept. */
bool first_bytes_get_first(const struct first_bytes *first, unsigned sender, uint32_t *seq);

/* Segment number `i`, from 0, as a packet with a TCP header and payload only. */
void first_bytes_get_packet(const struct first_bytes_pool *pool, const struct first_bytes *first, unsigned i,
			    struct packet *packet);

/* Drops the segments of a connection. */
void first_bytes_drop(struct first_bytes_pool *pool, struct first_bytes *first);

#endif
