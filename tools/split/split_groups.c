/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/split/split_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

/* A power of two. */
#define SLOTS_LEAST 1024u

struct split_node {
	uint64_t key;
	uint32_t parent; /* its own number if it is the root of its tree, the least key of the group */
};

struct split_groups {
	struct split_node *nodes;
	uint32_t count;
	uint32_t *slots;    /* number of a node + 1, 0 free; open addressing, at most half full */
	uint32_t slot_mask; /* slots - 1 */
	uint64_t multiplier; /* of the hash function that selects home slots: odd, and random, since a capture could be
			      * made of keys that have the low bits in common */
};

static uint32_t
split_groups_home_slot(const struct split_groups *groups, uint64_t key, uint32_t mask)
{
	return (uint32_t)(key * groups->multiplier >> 32) & mask;
}

static bool
split_groups_resize(struct split_groups *groups, uint32_t slot_count)
{
	struct split_node *nodes = realloc(groups->nodes, slot_count / 2 * sizeof *nodes);
	uint32_t *slots;

	if (nodes == NULL)
		return false;
	groups->nodes = nodes;
	slots = calloc(slot_count, sizeof *slots);
	if (slots == NULL)
		return false;
	for (uint32_t i = 0; i < groups->count; i++) {
		uint32_t at = split_groups_home_slot(groups, nodes[i].key, slot_count - 1);

		while (slots[at] != 0)
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	free(groups->slots);
	groups->slots = slots;
	groups->slot_mask = slot_count - 1;
	return true;
}

struct split_groups *
split_groups_new(void)
{
	struct split_groups *groups = calloc(1, sizeof *groups);

	if (groups != NULL && getrandom(&groups->multiplier, sizeof groups->multiplier, 0) ==
				  (ssize_t)sizeof groups->multiplier) {
		groups->multiplier |= 1;
		if (split_groups_resize(groups, SLOTS_LEAST))
			return groups;
	}
	split_groups_free(groups);
	return NULL;
}

void
split_groups_free(struct split_groups *groups)
{
	if (groups == NULL)
		return;
	free(groups->nodes);
	free(groups->slots);
	free(groups);
}

size_t
split_groups_count(const struct split_groups *groups)
{
	return groups->count;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t
split_groups_slot(const struct split_groups *groups, uint64_t key)
{
	uint32_t at = split_groups_home_slot(groups, key, groups->slot_mask);

	while (groups->slots[at] != 0 && groups->nodes[groups->slots[at] - 1].key != key)
		at = (at + 1) & groups->slot_mask;
	return at;
}

/* The root of a node's tree. */
static uint32_t
split_groups_root(const struct split_groups *groups, uint32_t node)
{
	struct split_node *nodes = groups->nodes;

	while (nodes[node].parent != node) {
		nodes[node].parent = nodes[nodes[node].parent].parent;
		node = nodes[node].parent;
	}
	return node;
}

/* Adds a key unless it is known, and returns its node in `*node`. */
static bool
split_groups_add(struct split_groups *groups, uint64_t key, uint32_t *node)
{
	uint32_t slot = split_groups_slot(groups, key);

	if (groups->slots[slot] != 0) {
		*node = groups->slots[slot] - 1;
		return true;
	}
	if (groups->count == SPLIT_GROUPS_KEYS_MAX) {
		errno = E2BIG;
		return false;
	}
	if (groups->count == (groups->slot_mask + 1) / 2) {
		if (!split_groups_resize(groups, 2 * (groups->slot_mask + 1)))
			return false;
		slot = split_groups_slot(groups, key);
	}
	*node = groups->count++;
	groups->nodes[*node] = (struct split_node){.key = key, .parent = *node};
	groups->slots[slot] = *node + 1;
	return true;
}

bool
split_groups_join(struct split_groups *groups, uint64_t a, uint64_t b)
{
	uint32_t one, other;

	if (a == b)
		return true;
	if (!split_groups_add(groups, a, &one) || !split_groups_add(groups, b, &other))
		return false;
	one = split_groups_root(groups, one);
	other = split_groups_root(groups, other);
	if (groups->nodes[one].key < groups->nodes[other].key)
		groups->nodes[other].parent = one;
	else
		groups->nodes[one].parent = other;
	return true;
}

uint64_t
split_groups_find(struct split_groups *groups, uint64_t key)
{
	uint32_t slot = split_groups_slot(groups, key);

	if (groups->slots[slot] == 0)
		return key;
	return groups->nodes[split_groups_root(groups, groups->slots[slot] - 1)].key;
}
