/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the table is made of: key.c, slots.c, wheel.c, evict.c and table.c only.
 *
 * slots: where a key is found.  Each slot is hash << 32 | index of the flow, 0 if free.  A flow's home slot is a
 * falling function of its hash, and the slots in use are kept in falling order: a search starts at home and ends at
 * the first slot that is smaller, free ones included, so a miss is as short as a hit and there are no tombstones.
 * There are as few homes as the flows at hand need, because what is spread over more memory is in no cache: they
 * double, in place, whenever three quarters are taken.
 *
 * hot, cold: the two halves of every flow by index.  Index 0 is nobody.
 *
 * Slots at 3/4 load (10.7 bytes) + hot (192) + cold (40) + the send log (12.6 bytes for each of a million flows that
 * there may be, whoever fills them: flow/tcp/tcp_pools.h) make 255 bytes a connection.  What else TCP and SCTP keep beside
 * the flows is bounded for all together and touched only where something was lost, or by SCTP.
 */
#ifndef NETOBS_FLOW_TABLE_TABLE_INTERNAL_H
#define NETOBS_FLOW_TABLE_TABLE_INTERNAL_H

#include "flow/flow_internal.h"

/*
 * Free slots are never farther from home than this.  At 3/4 load a run of so many used slots has a chance of about
 * exp(-0.0377 * 1024) = 2e-17 (Poisson homes), so who meets one met it on purpose: somebody has found keys that
 * collide under our secret seed.  Then one of the run is evicted for each that comes (evict_crowded), which bounds the
 * work for any packet at reading and moving 8 KiB and confines the loss to flows near the attacker's own.
 */
#define PROBE_MAX 1024u

/* Two wheels of 4096 slots.  The first turns by ticks of 2^26 ns (67 ms), the second by its laps of 2^38 ns (275 s)
 * and so reaches 13 days; a deadline beyond is parked there. */
#define WHEEL_TICK_BITS 26
#define WHEEL_SLOT_BITS 12
#define WHEEL_SLOTS (1u << WHEEL_SLOT_BITS)
#define WHEEL_DUE (2 * WHEEL_SLOTS) /* the list of the present tick, in order of deadline */

_Static_assert(WHEEL_DUE <= UINT16_MAX, "a flow has two bytes for its place in the wheels");

struct wheel {
	/* Nothing is to be done while time is in [base, base + quiet): one unsigned comparison. */
	uint64_t base;
	uint64_t quiet;
	uint64_t tick;	 /* the tick whose flows are in the due list; all others wait for a later one */
	uint64_t behind; /* times in a row that time was earlier than `base` */
	uint64_t occupied[2][WHEEL_SLOTS / 64]; /* per wheel: slots that hold somebody */
	uint64_t summary[2];			/* words of `occupied` that are not zero */
	flow_index list[2 * WHEEL_SLOTS + 1];	/* rings of flows: first wheel, second wheel, due */
};

struct class_list {
	flow_index head, tail;
};

struct flow_table {
	uint64_t *slots;
	struct flow *hot;
	struct flow_cold *cold;
	struct flow *expected; /* may be the flow of the next look-up; NULL: nobody in particular */
	struct tcp_store *tcp;
	struct sctp_store *sctp;
	uint64_t seed;
	uint32_t homes; /* home slots; PROBE_MAX + 1 more follow, and the last is always free */
	uint32_t homes_most;
	flow_index top; /* highest index ever used: memory behind it is untouched */
	flow_index spare; /* first free index below it, linked by class_next */
	uint64_t serial; /* of the latest flow */
	unsigned id_first, id_stride; /* what connection ids are made of: see flow_table_share_ids() */
	flow_timer_report *report;
	void *context;
	struct flow_limits limits;
	struct flow_counters counters;
	struct class_list classes[CLASS_COUNT];
	struct wheel wheel;
};

static inline flow_index
index_of(const struct flow_table *table, const struct flow *flow)
{
	return (flow_index)(flow - table->hot);
}

/* Whether a deadline has passed.  The end of time never comes. */
static inline bool
is_due(uint64_t deadline, uint64_t now)
{
	return deadline <= now && deadline != UINT64_MAX;
}

/* slots.c: about twice as many homes.  All slots in use go to the end of the new range, in order, and from there each
 * to its place, which never is behind where it comes from.  Takes some milliseconds with a million flows. */
void slots_grow(struct flow_table *table);

/* slots.c: enters a flow under its hash; false if the free slot is too far from home.  Takes it out again. */
bool slots_insert(struct flow_table *table, uint32_t hash, flow_index index);
void slots_remove(struct flow_table *table, uint32_t hash, flow_index index);

/* The occupants of at most `count` slots from the home of `hash` on; answers how many. */
unsigned slots_near(const struct flow_table *table, uint32_t hash, flow_index *near, unsigned count);

/* wheel.c: begins an empty wheel at `now`; enters a flow at its deadline; takes it out. */
void wheel_start(struct flow_table *table, uint64_t now);
void wheel_add(struct flow_table *table, flow_index index);
void wheel_remove(struct flow_table *table, flow_index index);

/* evict.c: class lists, a flow being in that of its cold_class(), which is set before it is entered; and making room:
 * at the ceiling, or where too many share a neighbourhood of slots. */
void class_append(struct flow_table *table, flow_index index, enum flow_class class);
void class_remove(struct flow_table *table, flow_index index);
void evict_one(struct flow_table *table, uint64_t now);
void evict_crowded(struct flow_table *table, uint32_t hash, uint64_t now);

#endif
