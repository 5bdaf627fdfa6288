/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/ring_interfaces.h"

#include <stdbool.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "flow/memory.h"

/* Sources: one for each interface, and some for interfaces with several link types.  The last ones are for those of
 * the unknown interface, one for each link type. */
#define RING_SOURCES	 (RING_INTERFACES + 1024u)
#define RING_SOURCES_OWN (RING_SOURCES - 512u)
#define SOURCE_SLOTS	 16384u /* more than twice RING_SOURCES */
#define INTERFACE_SLOTS	 16384u

struct ring_interfaces {
	uint64_t seed;
	uint64_t sweep_after; /* position before which no source can be free */
	unsigned interface_count, source_count;
	unsigned interfaces_before, sources_before; /* those with lower numbers are all used */
	uint16_t latest;			    /* source of the latest frame */
	/* Hash tables with linear hash probes: number of a source, of an interface + 1, 0 free. */
	uint16_t slots[SOURCE_SLOTS];
	uint16_t interface_slots[INTERFACE_SLOTS];
	struct ring_source sources[RING_SOURCES];
	struct interface unknown;
	struct interface interfaces[RING_INTERFACES];
	bool interface_used[RING_INTERFACES];
};

struct ring_interfaces *
ring_interfaces_new(uint64_t seed)
{
	struct ring_interfaces *t = memory_reserve(sizeof *t);

	if (t != NULL)
		t->seed = seed;
	return t;
}

void
ring_interfaces_free(struct ring_interfaces *t)
{
	memory_release(t, sizeof *t);
}

size_t
ring_interfaces_memory_size(void)
{
	return sizeof(struct ring_interfaces);
}

const struct ring_source *
ring_interfaces_source(const struct ring_interfaces *t, uint16_t number)
{
	return &t->sources[number];
}

unsigned
ring_interfaces_add_link_types(const struct ring_interfaces *t, int *types, unsigned count, unsigned most)
{
	for (unsigned i = 0; i < RING_SOURCES && count < most; i++) {
		unsigned known = 0;

		if (t->sources[i].interface == NULL)
			continue;
		while (known < count && types[known] != t->sources[i].dlt)
			known++;
		if (known == count)
			types[count++] = t->sources[i].dlt;
	}
	return count;
}

static bool
ring_interface_equals(const struct interface *a, const struct interface *b)
{
	return strncmp(a->name, b->name, sizeof a->name) == 0 && a->ifindex == b->ifindex && a->netns == b->netns;
}

static bool
ring_source_equals(const struct ring_source *source, const struct interface *interface, int dlt)
{
	return source->interface != NULL && source->dlt == dlt && ring_interface_equals(source->interface, interface);
}

/* Whether the frame certainly has this source. */
static inline bool
ring_source_is_same(const struct ring_source *source, const struct frame *frame)
{
	const struct interface *a = source->interface, *b = frame->interface;

	return a != NULL && source->dlt == frame->dlt && memcmp(a->name, b->name, sizeof a->name) == 0 &&
	       a->ifindex == b->ifindex && a->netns == b->netns;
}

static uint64_t
ring_interface_hash(const struct ring_interfaces *t, const struct interface *interface, int dlt)
{
	struct {
		char name[16];
		uint64_t netns;
		uint32_t ifindex;
		int dlt;
	} key = {.netns = interface->netns, .ifindex = interface->ifindex, .dlt = dlt};

	memcpy(key.name, interface->name, strnlen(interface->name, sizeof key.name));
	return XXH3_64bits_withSeed(&key, sizeof key, t->seed);
}

/* The slot of the source, or the free slot where it belongs. */
static uint16_t *
ring_source_slot(struct ring_interfaces *t, const struct interface *interface, int dlt)
{
	size_t at = ring_interface_hash(t, interface, dlt) % SOURCE_SLOTS;

	while (t->slots[at] != 0 && !ring_source_equals(&t->sources[t->slots[at] - 1], interface, dlt))
		at = (at + 1) % SOURCE_SLOTS;
	return &t->slots[at];
}

/* The slot of the interface, with any link type, or the free slot where it belongs. */
static uint16_t *
ring_interface_slot(struct ring_interfaces *t, const struct interface *interface)
{
	size_t at = ring_interface_hash(t, interface, 0) % INTERFACE_SLOTS;

	while (t->interface_slots[at] != 0 &&
	       !ring_interface_equals(&t->interfaces[t->interface_slots[at] - 1], interface))
		at = (at + 1) % INTERFACE_SLOTS;
	return &t->interface_slots[at];
}

/* Drops the sources and interfaces that no frame in the ring uses. */
static void
ring_interfaces_sweep(struct ring_interfaces *t, uint64_t tail)
{
	memset(t->slots, 0, sizeof t->slots);
	memset(t->interface_slots, 0, sizeof t->interface_slots);
	memset(t->interface_used, 0, sizeof t->interface_used);
	t->interface_count = t->source_count = t->interfaces_before = t->sources_before = 0;
	for (unsigned i = 0; i < RING_SOURCES; i++) {
		struct ring_source *source = &t->sources[i];

		if (source->interface == NULL)
			continue;
		if (source->used < tail) {
			source->interface = NULL;
			continue;
		}
		t->source_count++;
		*ring_source_slot(t, source->interface, source->dlt) = (uint16_t)(i + 1);
		if (source->interface != &t->unknown)
			t->interface_used[source->interface - t->interfaces] = true;
	}
	for (unsigned i = 0; i < RING_INTERFACES; i++) {
		if (!t->interface_used[i])
			continue;
		t->interface_count++;
		*ring_interface_slot(t, &t->interfaces[i]) = (uint16_t)(i + 1);
	}
}

/* Beyond the limits it is the unknown interface, without a search: there may be many such frames. */
static const struct interface *
ring_interface_copy(struct ring_interfaces *t, const struct interface *interface)
{
	uint16_t *slot = ring_interface_slot(t, interface);
	unsigned *unused = &t->interfaces_before;

	if (t->source_count >= RING_SOURCES_OWN)
		return &t->unknown;
	if (*slot != 0)
		return &t->interfaces[*slot - 1];
	if (t->interface_count == RING_INTERFACES)
		return &t->unknown;
	while (t->interface_used[*unused])
		++*unused;
	t->interface_used[*unused] = true;
	t->interfaces[*unused] = *interface;
	t->interface_count++;
	*slot = (uint16_t)(*unused + 1);
	return &t->interfaces[*unused];
}

static uint16_t
ring_source_add(struct ring_interfaces *t, const struct frame *frame, uint16_t *slot)
{
	const struct interface *interface = ring_interface_copy(t, frame->interface);
	unsigned *unused = &t->sources_before;

	if (interface == &t->unknown) {
		slot = ring_source_slot(t, interface, frame->dlt);
		if (*slot != 0)
			return (uint16_t)(*slot - 1);
	}
	while (t->sources[*unused].interface != NULL)
		++*unused;
	t->sources[*unused] = (struct ring_source){.interface = interface, .dlt = frame->dlt};
	t->source_count++;
	*slot = (uint16_t)(*unused + 1);
	return (uint16_t)*unused;
}

static __attribute__((noinline)) uint16_t
ring_interfaces_search(struct ring_interfaces *t, const struct frame *frame, uint64_t position, uint64_t tail)
{
	uint16_t *slot = ring_source_slot(t, frame->interface, frame->dlt);

	if (*slot != 0)
		return (uint16_t)(*slot - 1);
	if ((t->interface_count == RING_INTERFACES || t->source_count >= RING_SOURCES_OWN) && tail > t->sweep_after) {
		ring_interfaces_sweep(t, tail);
		t->sweep_after = position;
		slot = ring_source_slot(t, frame->interface, frame->dlt);
	}
	return ring_source_add(t, frame, slot);
}

uint16_t
ring_interfaces_find(struct ring_interfaces *t, const struct frame *frame, uint64_t position, uint64_t tail)
{
	if (__builtin_expect(!ring_source_is_same(&t->sources[t->latest], frame), 0))
		t->latest = ring_interfaces_search(t, frame, position, tail);
	t->sources[t->latest].used = position;
	return t->latest;
}
