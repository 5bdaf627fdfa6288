/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of a frame: 64-bit hash values of everything by which the flow table finds the connections that the frame
 * belongs to.  They are the same for both directions, in every run and on every machine.
 *
 * TCP, UDP, SCTP: the flow key.  A tunnel has further keys for the packets inside it.  SCTP: the verification tags with
 * the ports as well, because associations are found by them on other paths.  A fragment: its datagram; the one that
 * completes the datagram adds the keys of the datagram.  An ICMP error: the connection that it quotes.
 *
 * A frame without connections has the key of its pair of addresses, or key 0 if it is not an IP packet.
 *
 * Groups of keys: a disjoint-set forest (union by value, path halving).  The keys of a frame that has several, such as
 * the connections of a tunnel and the tunnel itself, are one group.  A key that was never joined takes no memory and is
 * a group of its own.  The name of a group is its least key, so that it does not depend on the order of the joins.
 */
#ifndef NETOBS_TOOLS_SPLIT_SPLIT_GROUPS_H
#define NETOBS_TOOLS_SPLIT_SPLIT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/frame.h"

/* Most keys of a frame: four for each packet in the layer budget. */
#define SPLIT_KEYS_MAX 96

struct split_keys {
	unsigned count; /* at least 1 */
	uint64_t key[SPLIT_KEYS_MAX];
};

struct split_dissector;

/* `reassemble`: add the keys of completed datagrams; the first key of a frame does not depend on it.  NULL if out of
 * memory. */
struct split_dissector *split_dissector_new(bool reassemble);
void split_dissector_free(struct split_dissector *dissector);

/* Frames must be passed in their order; `now` is packet time. */
void split_keys_of_frame(struct split_dissector *dissector, const struct frame *frame, uint64_t now,
			 struct split_keys *keys);

/* Most keys that can be joined: 24 to 32 bytes each. */
#define SPLIT_GROUPS_KEYS_MAX (1u << 26)

struct split_groups;

/* NULL if out of memory. */
struct split_groups *split_groups_new(void);
void split_groups_free(struct split_groups *groups);

/* Makes one group of the groups of two keys.  False with errno: out of memory, or E2BIG for too many keys. */
bool split_groups_join(struct split_groups *groups, uint64_t a, uint64_t b);

/* The name of the key's group. */
uint64_t split_groups_find(struct split_groups *groups, uint64_t key);

/* Number of joined keys. */
size_t split_groups_count(const struct split_groups *groups);

#endif
