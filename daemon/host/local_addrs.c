/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses in an open-addressing hash set (a host has a handful, a router thousands), prefixes in a short list. */
#include "daemon/host/local_addrs.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_AT_FIRST 64u /* a power of two */

struct slot {
	uint8_t addr[16];
	uint32_t count; /* interfaces with this address; 0 if the address was removed */
	uint8_t version; /* 0: never used; ends a search */
};

struct locals {
	struct slot *slots;
	uint32_t mask; /* number of slots less one */
	uint32_t used; /* slots in use, including removed addresses */
	uint32_t generation;
	size_t prefix_count;
	struct prefix *prefixes;
};

static uint32_t
hash_of(uint8_t version, const uint8_t addr[16])
{
	uint64_t low, high;

	/* Local addresses are not chosen by an attacker, so no seed is needed.  The multiplier is 2^64 / the golden
	 * ratio. */
	memcpy(&low, addr, sizeof low);
	memcpy(&high, addr + sizeof low, sizeof high);
	return (uint32_t)(((low ^ (high * 31 + version)) * 0x9e3779b97f4a7c15u) >> 32);
}

/* The slot of an address, or the empty slot at which its search ends. */
static struct slot *
find(struct slot *slots, uint32_t mask, uint8_t version, const uint8_t addr[16])
{
	uint32_t at = hash_of(version, addr) & mask;

	while (slots[at].version != 0 &&
	       (slots[at].version != version || memcmp(slots[at].addr, addr, sizeof slots[at].addr) != 0))
		at = (at + 1) & mask;
	return &slots[at];
}

/* Rehashes into a table that is at most a quarter full, without removed addresses. */
static bool
rebuild(struct locals *locals)
{
	uint32_t live = 0, size = SLOTS_AT_FIRST;
	struct slot *slots;

	for (uint32_t i = 0; i <= locals->mask; i++)
		live += locals->slots[i].count > 0;
	while (size / 4 <= live)
		size *= 2;
	slots = calloc(size, sizeof *slots);
	if (slots == NULL)
		return false;
	for (uint32_t i = 0; i <= locals->mask; i++) {
		const struct slot *old = &locals->slots[i];

		if (old->count > 0)
			*find(slots, size - 1, old->version, old->addr) = *old;
	}
	free(locals->slots);
	locals->slots = slots;
	locals->mask = size - 1;
	locals->used = live;
	return true;
}

struct locals *
locals_new(const struct prefix *prefixes, size_t count)
{
	struct locals *locals = calloc(1, sizeof *locals);

	if (locals == NULL)
		return NULL;
	locals->slots = calloc(SLOTS_AT_FIRST, sizeof *locals->slots);
	if (locals->slots == NULL || !locals_set_prefixes(locals, prefixes, count)) {
		locals_free(locals);
		return NULL;
	}
	locals->mask = SLOTS_AT_FIRST - 1;
	locals->generation = 0;
	return locals;
}

bool
locals_set_prefixes(struct locals *locals, const struct prefix *prefixes, size_t count)
{
	struct prefix *copy = calloc(count > 0 ? count : 1, sizeof *copy);

	if (copy == NULL)
		return false;
	if (count > 0)
		memcpy(copy, prefixes, count * sizeof *copy);
	free(locals->prefixes);
	locals->prefixes = copy;
	locals->prefix_count = count;
	locals->generation++;
	return true;
}

void
locals_free(struct locals *locals)
{
	if (locals == NULL)
		return;
	free(locals->slots);
	free(locals->prefixes);
	free(locals);
}

bool
locals_add(struct locals *locals, uint8_t version, const uint8_t addr[16])
{
	struct slot *slot = find(locals->slots, locals->mask, version, addr);

	if (slot->version == 0) {
		if (locals->used >= (locals->mask + 1) / 2) {
			if (!rebuild(locals))
				return false;
			slot = find(locals->slots, locals->mask, version, addr);
		}
		memcpy(slot->addr, addr, sizeof slot->addr);
		slot->version = version;
		locals->used++;
	}
	if (slot->count++ == 0)
		locals->generation++;
	return true;
}

void
locals_remove(struct locals *locals, uint8_t version, const uint8_t addr[16])
{
	struct slot *slot = find(locals->slots, locals->mask, version, addr);

	if (slot->count > 0 && --slot->count == 0)
		locals->generation++;
}

void
locals_clear_addresses(struct locals *locals)
{
	memset(locals->slots, 0, (locals->mask + 1) * sizeof *locals->slots);
	locals->used = 0;
	locals->generation++;
}

static bool
prefix_covers(const struct prefix *prefix, uint8_t version, const uint8_t addr[16])
{
	unsigned bytes = prefix->bits / 8u, rest = prefix->bits % 8u;

	if (prefix->version != version || memcmp(prefix->addr, addr, bytes) != 0)
		return false;
	return rest == 0 || ((prefix->addr[bytes] ^ addr[bytes]) >> (8 - rest)) == 0;
}

static bool
is_loopback(uint8_t version, const uint8_t addr[16])
{
	static const uint8_t one[16] = {[15] = 1};

	return version == 4 ? addr[0] == 127 : memcmp(addr, one, sizeof one) == 0;
}

bool
locals_has(const struct locals *locals, uint8_t version, const uint8_t addr[16])
{
	if (find(locals->slots, locals->mask, version, addr)->count > 0 || is_loopback(version, addr))
		return true;
	for (size_t i = 0; i < locals->prefix_count; i++)
		if (prefix_covers(&locals->prefixes[i], version, addr))
			return true;
	return false;
}

bool
locals_known(const struct locals *locals)
{
	return locals->used > 0 || locals->prefix_count > 0;
}

uint32_t
locals_generation(const struct locals *locals)
{
	return locals->generation;
}
