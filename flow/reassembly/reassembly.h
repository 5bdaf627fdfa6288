/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP reassembly (RFC 791, 815, 5722, 8200 section 4.5).
 *
 * A datagram is identified by source, destination, identification, address space and, in IPv4, protocol.  Fragments are
 * copied when they arrive, so packet memory may be reused after the call.  All memory is reserved at start; it never
 * grows.
 *
 * Policy for IPv4 and IPv6:
 *  - An exact duplicate (same offset and length, same captured bytes) is ignored and counted.
 *  - Any other overlap, and fragments that disagree about the end of the datagram, discard the whole datagram: the
 *    stored fragments, and until its timeout every later one.  RFC 5722 requires this for IPv6; Linux does it for
 *    IPv4 as well.
 *  - A fragment that cannot belong to any datagram (empty, unaligned, beyond 65535) is rejected; the datagram is kept.
 *  - If memory runs out, the oldest datagram is evicted, reported and counted.
 *  - A datagram that is not complete in time is reported, in order of time.  Its timeout starts with the first fragment
 *    captured.
 *
 * Truncated fragments count with their length on the wire.  The reassembled datagram then holds fewer bytes than its
 * length: those before the first missing one.
 */
#ifndef NETOBS_FLOW_REASSEMBLY_REASSEMBLY_H
#define NETOBS_FLOW_REASSEMBLY_REASSEMBLY_H

#include <stddef.h>

#include "dissect/packet.h"

struct reassembly_limits {
	uint32_t datagrams;	  /* datagrams in progress, 1 to 65534 */
	uint32_t bytes;		  /* bytes stored for all datagrams, in blocks of 512; 64 KiB to 32 MiB */
	uint32_t fragments;	  /* fragments of one datagram, 2 to 8192 */
	uint64_t ipv4_timeout_ns; /* timeout of an incomplete datagram */
	uint64_t ipv6_timeout_ns;
};

/* Linux's 4 MiB (net.ipv4.ipfrag_high_thresh), and 30 s for IPv4; RFC 8200's 60 s for IPv6; 4096 datagrams of at most
 * 256 fragments: 64 KiB in fragments of 256 bytes. */
struct reassembly_limits reassembly_limits_default(void);

/* 64-bit, never wrap in practice. */
struct reassembly_counters {
	uint64_t datagrams;	     /* datagrams in memory now: incomplete ones, and discarded ones until timeout */
	uint64_t bytes;		     /* bytes stored now, in whole blocks */
	uint64_t fragments;	     /* fragments received */
	uint64_t completed;	     /* datagrams completed */
	uint64_t incomplete;	     /* completed datagrams of which not all bytes are captured */
	uint64_t duplicates;	     /* duplicate fragments, ignored */
	uint64_t refused;	     /* fragments that cannot belong to a datagram */
	uint64_t overlaps;	     /* datagrams discarded because fragments overlap */
	uint64_t end_conflicts;	     /* datagrams discarded because fragments disagree about the end */
	uint64_t too_many_fragments; /* datagrams discarded because of too many fragments */
	uint64_t discarded;	     /* fragments of datagrams discarded before */
	uint64_t timeouts;	     /* datagrams that timed out */
	uint64_t evicted;	     /* datagrams evicted because memory ran out */
};

enum reassembly_verdict {
	REASSEMBLY_HELD,     /* fragments are missing, or this was a duplicate */
	REASSEMBLY_COMPLETE, /* the datagram is complete */
	REASSEMBLY_DROPPED,  /* dropped; `anomaly` is the anomaly */
};

struct reassembly_result {
	enum anomaly anomaly; /* of REASSEMBLY_DROPPED, otherwise ANOMALY_NONE */
	/* Valid if REASSEMBLY_COMPLETE, until the second next datagram is complete. */
	const struct ip_layer *first; /* IP layer of the fragment at offset 0, with copies of its slices */
	const uint8_t *bytes;	      /* payload of the datagram, from after the IPv6 fragment header on */
	uint32_t captured;	      /* captured bytes: fewer than `wire` only if a fragment is truncated */
	uint32_t wire;		      /* length of the payload on the wire */
	unsigned fragments;	      /* fragments that it came in, without duplicates */
};

struct reassembly;

/*
 * Receives each datagram that is given up; `lost->worst_anomaly` is ANOMALY_FRAGMENT_TIMEOUT or ANOMALY_FRAGMENT_LIMIT.
 * `lost` has the IP layer of the fragment at offset 0, or else of the first one captured.  Its frame holds the IP
 * header (link type raw), the time of the timeout, and the interface.  Valid during the call.
 */
typedef void reassembly_report(void *context, const struct packet *lost, unsigned fragments);

/* Creates a reassembly and reserves its memory.  `seed` makes the hash unpredictable; no result depends on it.  NULL
 * with errno EINVAL if a limit is out of range, ENOMEM if out of memory. */
struct reassembly *reassembly_new(const struct reassembly_limits *limits, uint64_t seed, reassembly_report *report,
				  void *context);
void reassembly_free(struct reassembly *r);

/* Bytes reserved for these limits. */
size_t reassembly_memory_size(const struct reassembly_limits *limits);

/* Adds a fragment: a packet with ip.fragment set that IP does not drop for another reason.  `space` is the address
 * space (0, or that of a tunnel); `now` is packet time and never decreases. */
enum reassembly_verdict reassembly_add(struct reassembly *r, const struct packet *fragment, uint16_t space,
				       uint64_t now, struct reassembly_result *result);

/* Gives up every datagram that has timed out at `now`, in order.  Costs one comparison if there is none. */
void reassembly_run_timers(struct reassembly *r, uint64_t now);

/* Time at which the next timer is due, for a check before every frame.  Valid as long as `r`. */
const uint64_t *reassembly_next_due(const struct reassembly *r);

/* Drops all datagrams without reporting them, as at the end of a capture file. */
void reassembly_clear(struct reassembly *r);

const struct reassembly_counters *reassembly_counters(const struct reassembly *r);

#endif
