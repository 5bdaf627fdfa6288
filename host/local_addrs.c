/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses in an open-addressing hash set (a host has a handful, a router thousands), prefixes in a short list. */
#include "host/local_addrs.h"

#include <stdlib.h>
#include <string.h>

#define INITIAL_SLOTS 64u /* a power of two */

struct local_addr_slot {
	uint8_t addr[16];
	uint32_t refcount; /* interfaces with this address; 0 if the address was removed */
	uint8_t version;   /* 0: never used; ends a lookup */
};

/* What was looked up since the prefixes were set. */
struct prefix_use {
	bool any_address;
	bool matched[]; /* an address in the prefix of this index */
};

struct local_addrs {
	struct local_addr_slot *slots;
	uint32_t mask; /* number of slots less one */
	uint32_t used; /* slots in use, including removed addresses */
	uint32_t epoch;
	size_t prefix_count;
	struct ip_prefix *prefixes;
	struct prefix_use *use;
};

static uint32_t
local_addrs_hash(uint8_t version, const uint8_t addr[16])
{
	uint64_t low, high;

	/* Local addresses are not chosen by an attacker, so no seed is needed.  The multiplier is 2^64 / the golden
	 * ratio. */
	memcpy(&low, addr, sizeof low);
	memcpy(&high, addr + sizeof low, sizeof high);
	return (uint32_t)(((low ^ (high * 31 + version)) * 0x9e3779b97f4a7c15u) >> 32);
}

/* The slot of an address, or the empty slot at which its lookup ends. */
static struct local_addr_slot *
local_addrs_find_slot(struct local_addr_slot *slots, uint32_t mask, uint8_t version, const uint8_t addr[16])
{
	uint32_t at = local_addrs_hash(version, addr) & mask;

	while (slots[at].version != 0 &&
	       (slots[at].version != version || memcmp(slots[at].addr, addr, sizeof slots[at].addr) != 0))
		at = (at + 1) & mask;
	return &slots[at];
}

/* Rehashes into a table that is at most a quarter full, without removed addresses. */
static bool
local_addrs_rehash(struct local_addrs *local_addrs)
{
	uint32_t live = 0, size = INITIAL_SLOTS;
	struct local_addr_slot *slots;

	for (uint32_t i = 0; i <= local_addrs->mask; i++)
		live += local_addrs->slots[i].refcount > 0;
	while (size / 4 <= live)
		size *= 2;
	slots = calloc(size, sizeof *slots);
	if (slots == NULL)
		return false;
	for (uint32_t i = 0; i <= local_addrs->mask; i++) {
		const struct local_addr_slot *old = &local_addrs->slots[i];

		if (old->refcount > 0)
			*local_addrs_find_slot(slots, size - 1, old->version, old->addr) = *old;
	}
	free(local_addrs->slots);
	local_addrs->slots = slots;
	local_addrs->mask = size - 1;
	local_addrs->used = live;
	return true;
}

struct local_addrs *
local_addrs_new(const struct ip_prefix *prefixes, size_t count)
{
	struct local_addrs *local_addrs = calloc(1, sizeof *local_addrs);

	if (local_addrs == NULL)
		return NULL;
	local_addrs->slots = calloc(INITIAL_SLOTS, sizeof *local_addrs->slots);
	if (local_addrs->slots == NULL || !local_addrs_set_prefixes(local_addrs, prefixes, count)) {
		local_addrs_free(local_addrs);
		return NULL;
	}
	local_addrs->mask = INITIAL_SLOTS - 1;
	local_addrs->epoch = 0;
	return local_addrs;
}

bool
local_addrs_set_prefixes(struct local_addrs *local_addrs, const struct ip_prefix *prefixes, size_t count)
{
	struct ip_prefix *copy = calloc(count > 0 ? count : 1, sizeof *copy);
	struct prefix_use *use = calloc(1, sizeof *use + count * sizeof use->matched[0]);

	if (copy == NULL || use == NULL) {
		free(copy);
		free(use);
		return false;
	}
	if (count > 0)
		memcpy(copy, prefixes, count * sizeof *copy);
	free(local_addrs->prefixes);
	free(local_addrs->use);
	local_addrs->prefixes = copy;
	local_addrs->use = use;
	local_addrs->prefix_count = count;
	local_addrs->epoch++;
	return true;
}

void
local_addrs_free(struct local_addrs *local_addrs)
{
	if (local_addrs == NULL)
		return;
	free(local_addrs->slots);
	free(local_addrs->prefixes);
	free(local_addrs->use);
	free(local_addrs);
}

bool
local_addrs_add(struct local_addrs *local_addrs, uint8_t version, const uint8_t addr[16])
{
	struct local_addr_slot *slot = local_addrs_find_slot(local_addrs->slots, local_addrs->mask, version, addr);

	if (slot->version == 0) {
		if (local_addrs->used >= (local_addrs->mask + 1) / 2) {
			if (!local_addrs_rehash(local_addrs))
				return false;
			slot = local_addrs_find_slot(local_addrs->slots, local_addrs->mask, version, addr);
		}
		memcpy(slot->addr, addr, sizeof slot->addr);
		slot->version = version;
		local_addrs->used++;
	}
	if (slot->refcount++ == 0)
		local_addrs->epoch++;
	return true;
}

void
local_addrs_remove(struct local_addrs *local_addrs, uint8_t version, const uint8_t addr[16])
{
	struct local_addr_slot *slot = local_addrs_find_slot(local_addrs->slots, local_addrs->mask, version, addr);

	if (slot->refcount > 0 && --slot->refcount == 0)
		local_addrs->epoch++;
}

static bool
ip_prefix_contains(const struct ip_prefix *prefix, uint8_t version, const uint8_t addr[16])
{
	unsigned bytes = prefix->bits / 8u, rest = prefix->bits % 8u;

	if (prefix->version != version || memcmp(prefix->addr, addr, bytes) != 0)
		return false;
	return rest == 0 || ((prefix->addr[bytes] ^ addr[bytes]) >> (8 - rest)) == 0;
}

static bool
address_is_loopback(uint8_t version, const uint8_t addr[16])
{
	static const uint8_t one[16] = {[15] = 1};

	return version == 4 ? addr[0] == 127 : memcmp(addr, one, sizeof one) == 0;
}

bool
local_addrs_contains(const struct local_addrs *local_addrs, uint8_t version, const uint8_t addr[16])
{
	bool found = local_addrs_find_slot(local_addrs->slots, local_addrs->mask, version, addr)->refcount > 0 ||
		     address_is_loopback(version, addr);

	local_addrs->use->any_address = true;
	for (size_t i = 0; i < local_addrs->prefix_count; i++) {
		if (!ip_prefix_contains(&local_addrs->prefixes[i], version, addr))
			continue;
		local_addrs->use->matched[i] = true;
		found = true;
	}
	return found;
}

bool
local_addrs_prefix_is_unmatched(const struct local_addrs *local_addrs, size_t index)
{
	return index < local_addrs->prefix_count && local_addrs->use->any_address && !local_addrs->use->matched[index];
}

bool
local_addrs_any_known(const struct local_addrs *local_addrs)
{
	return local_addrs->used > 0 || local_addrs->prefix_count > 0;
}

uint32_t
local_addrs_epoch(const struct local_addrs *local_addrs)
{
	return local_addrs->epoch;
}
