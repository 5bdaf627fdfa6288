/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of keys: a disjoint-set forest (union by value, path halving).  The keys of a frame that has several, such as
 * the connections of a tunnel and the tunnel itself, are one group.  A key that was never joined takes no memory and is
 * a group of its own.  The name of a group is its least key, so that it does not depend on the order of the joins.
 */
#ifndef NETOBS_TOOLS_SPLIT_SPLIT_GROUPS_H
#define NETOBS_TOOLS_SPLIT_SPLIT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
