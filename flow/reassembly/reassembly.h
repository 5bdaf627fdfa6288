/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP reassembly (RFC 791, 815, 5722, 8200 section 4.5).
 *
 * A datagram is known by source, destination, identification, address space and, in IPv4, protocol.  Fragments are
 * copied as they come: packet memory need not outlive the call.  All memory is reserved at start and never grows.
 *
 * Policy, the same for IPv4 and IPv6:
 *  - An exact duplicate (same place, same length, same bytes as far as captured) is ignored and counted.
 *  - Any other overlap, and fragments that disagree about where the datagram ends, discard the whole datagram: what was
 *    held and, until its time is over, what still comes of it.  IPv6 must (RFC 5722), Linux does it for IPv4 as well.
 *  - A fragment that cannot belong to any datagram (empty, unaligned, beyond 65535) is refused; the datagram waits on.
 *  - Where memory or slots run out, the oldest datagram goes first, reported and counted.
 *  - A datagram not complete in time is reported, in order of time.  The time runs from the fragment that came first.
 *
 * Fragments cut by the snapshot length count with their length on the wire.  The whole datagram then has fewer bytes
 * than its length says: those up to the first that is missing.
 */
#ifndef NETOBS_FLOW_REASSEMBLY_REASSEMBLY_H
#define NETOBS_FLOW_REASSEMBLY_REASSEMBLY_H

#include <stddef.h>

#include "dissect/packet.h"

struct reassembly_limits {
	uint32_t datagrams; /* put together at once, 1 to 65534 */
	uint32_t bytes;	    /* held for all of them, in blocks of 512; 64 KiB to 32 MiB */
	uint32_t fragments; /* of one datagram, 2 to 8192 */
	uint64_t ipv4_ns;   /* patience with an incomplete datagram */
	uint64_t ipv6_ns;
};

/* Linux's 4 MiB (net.ipv4.ipfrag_high_thresh) and 30 s for IPv4, RFC 8200's 60 s for IPv6; 4096 datagrams of at most
 * 256 fragments, which is 64 KiB in pieces of 256 bytes. */
struct reassembly_limits reassembly_limits_default(void);

/* 64-bit, never wrap in practice. */
struct reassembly_counters {
	uint64_t datagrams;  /* incomplete now; discarded ones that are still remembered included */
	uint64_t bytes;	     /* held now, in whole blocks */
	uint64_t fragments;  /* looked at */
	uint64_t whole;	     /* datagrams completed */
	uint64_t incomplete; /* of them with bytes that the capture does not hold */
	uint64_t duplicates; /* fragments ignored */
	uint64_t refused;    /* fragments that cannot belong to a datagram */
	uint64_t overlaps;   /* datagrams discarded because fragments overlap */
	uint64_t ends;	     /* datagrams discarded because fragments disagree about the end */
	uint64_t crowded;    /* datagrams discarded because of too many fragments */
	uint64_t discarded;  /* fragments of datagrams discarded before */
	uint64_t timeouts;   /* datagrams given up in time */
	uint64_t evicted;    /* datagrams given up for lack of room */
};

enum reassembly_verdict {
	REASSEMBLY_HELD,    /* more are missing, or a duplicate */
	REASSEMBLY_WHOLE,   /* that was the last piece */
	REASSEMBLY_DROPPED, /* `why` says for which anomaly */
};

struct reassembly_result {
	enum anomaly why; /* DROPPED; otherwise ANOMALY_NONE */
	/* WHOLE; valid until the second next datagram is whole */
	const struct ip_layer *first; /* the IP layer of the fragment at offset 0; its views are copies too */
	const uint8_t *bytes;	      /* what the datagram carries, from behind the IPv6 fragment header on */
	uint32_t have;		      /* bytes held, all of them unless the capture cut a fragment */
	uint32_t wire;		      /* length of what it carries */
	unsigned fragments;	      /* how many it came in, duplicates not counted */
};

struct reassembly;

/*
 * Told of each datagram that is given up: `lost->reason` is ANOMALY_FRAGMENT_TIMEOUT or ANOMALY_FRAGMENT_LIMIT.
 * `lost` has the IP layer of its fragment at offset 0, or else of the one that came first; its frame holds the IP
 * header (link type raw) and says when the time was over and on which interface it was.  Valid during the call.
 */
typedef void reassembly_report(void *context, const struct packet *lost, unsigned fragments);

/* Reserves all memory.  `seed` makes the hash unpredictable; no result depends on it.  NULL with errno EINVAL for
 * limits out of range, ENOMEM if memory cannot be had. */
struct reassembly *reassembly_new(const struct reassembly_limits *limits, uint64_t seed, reassembly_report *report,
				  void *context);
void reassembly_free(struct reassembly *r);

/* Bytes reserved under these limits. */
size_t reassembly_memory(const struct reassembly_limits *limits);

/* Takes a fragment: a packet whose ip.fragment is set, and which IP would not drop for another reason.  `space` tells
 * address spaces apart (0, or which tunnel's); `now` is packet time and never goes back. */
enum reassembly_verdict reassembly_add(struct reassembly *r, const struct packet *fragment, uint16_t space,
				       uint64_t now, struct reassembly_result *result);

/* Gives up every datagram whose time is over at `now`, in order.  One comparison when there is none. */
void reassembly_run_timers(struct reassembly *r, uint64_t now);

/* Forgets everything without a report, as when a capture file ends. */
void reassembly_clear(struct reassembly *r);

const struct reassembly_counters *reassembly_counters(const struct reassembly *r);

#endif
