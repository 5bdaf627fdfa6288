/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layout of the flow table, private to the files of flow/table/ and flow/record/ and to flow/fastpath.c.
 *
 * slots: the hash table.  A slot is hash << 32 | flow index, or 0 if free.  A flow's home slot is a descending function
 * of its hash, and used slots are kept in descending order: a lookup starts at the home slot and ends at the first
 * smaller value, which includes free slots.  A miss is therefore as short as a hit, and there are no tombstones.  The
 * number of home slots follows the number of flows, because a table spread over more memory misses the caches; it
 * doubles, in place, when three quarters are used.
 *
 * hot, cold: the two halves of each flow, by index.  Index 0 means none.
 *
 * Slots at 3/4 load (10.7 bytes) + hot (192) + cold (40) + send log (12.6 bytes for each of a million flows, whichever
 * flows use it: flow/tcp/tcp_pools.h) make 255 bytes a connection.  The other state of TCP and SCTP outside the flows
 * is bounded in total and is touched only after a loss, or by SCTP.  Records, if they are kept, add 400 bytes
 * (flow/record/flow_record.h, record_time.h).
 */
#ifndef NETOBS_FLOW_TABLE_TABLE_INTERNAL_H
#define NETOBS_FLOW_TABLE_TABLE_INTERNAL_H

#include "flow/flow_internal.h"
#include "flow/record/record_internal.h"

/*
 * Longest probe sequence: a free slot is never farther from home than this.  At 3/4 load such a length arises by chance
 * with a probability of about exp(-0.0377 * 1024) = 2e-17 (Poisson homes), so reaching this limit means an attack: keys
 * that collide under the secret seed.  Each new flow then evicts one of the sequence (evict_from_probe_sequence), which
 * bounds the work per packet to reading and moving 8 KiB and limits the damage to flows near the attacker's own.
 */
#define HASH_PROBE_MAX 1024u

/* Two wheels of 4096 buckets each.  A bucket of the first is a tick of 2^26 ns (67 ms), a bucket of the second a lap of
 * the first, 2^38 ns (275 s), so the second reaches 13 days ahead.  A later deadline is parked in its last bucket.  The
 * present tick has 64 slices of 2^20 ns (1 ms). */
#define WHEEL_SLICE_BITS  20
#define WHEEL_SLICES_BITS 6
#define WHEEL_SLICES (1u << WHEEL_SLICES_BITS)
#define WHEEL_TICK_BITS	  (WHEEL_SLICE_BITS + WHEEL_SLICES_BITS)
#define WHEEL_BUCKET_BITS 12
#define WHEEL_BUCKETS (1u << WHEEL_BUCKET_BITS)
#define WHEEL_FIRST_SLICE (2 * WHEEL_BUCKETS)
#define WHEEL_DUE (WHEEL_FIRST_SLICE + WHEEL_SLICES) /* list of the present slice, sorted by deadline */

_Static_assert(WHEEL_DUE <= UINT16_MAX, "a flow has two bytes for its bucket");

struct wheel {
	/* No timer work is needed while time is in [idle_base, idle_base + idle_span): one unsigned comparison. */
	uint64_t idle_base;
	uint64_t idle_span;
	uint64_t slice;				  /* present slice: its flows are in the due list, all others belong to
						   * later slices */
	uint64_t rewind_count;			  /* consecutive calls with a time earlier than `idle_base` */
	uint64_t occupied[3][WHEEL_BUCKETS / 64]; /* of each wheel, and of the slices: bitmap of the buckets in use */
	uint64_t summary[3];			  /* bitmap of the nonzero words of `occupied` */
	flow_index bucket[WHEEL_DUE + 1];	  /* lists of flows: first wheel, second wheel, slices, due list */
};

struct evict_list {
	flow_index head, tail;
};

struct flow_table {
	uint64_t *slots;
	struct flow *hot;
	struct flow_cold *cold;
	struct flow *candidate; /* candidate of the next lookup, NULL none */
	const struct flow_protocol *protocols; /* by enum flow_kind */
	struct tcp_pools *tcp_pools;
	struct sctp_addr_table *sctp_addrs;
	uint64_t seed;
	uint64_t clock_offset; /* packet time - time stamp, modulo 2^64 */
	uint32_t home_slots; /* number of home slots; HASH_PROBE_MAX + 1 slots follow, the last one always free */
	uint32_t home_slots_max;
	flow_index high_water;	      /* highest index used so far; the memory after it is untouched */
	flow_index free_head;	      /* head of the free list below high_water, linked by evict_next */
	uint64_t last_serial;	      /* serial of the latest flow */
	bool omits_states;	      /* see flow_table_omit_states() */
	bool expects_duplicate;	      /* see flow_table_expect_duplicate() */
	unsigned id_first, id_stride; /* first connection id and stride: see flow_table_set_id_stride() */
	flow_event_handler *on_events;
	flow_end_handler *on_end; /* NULL none */
	void *context;
	struct flow_limits limits;
	struct flow_counters counters;
	struct evict_list evict_lists[EVICT_CLASS_COUNT];
	struct record_table records;
	struct wheel wheel;
};

static inline flow_index
flow_index_of(const struct flow_table *table, const struct flow *flow)
{
	return (flow_index)(flow - table->hot);
}

/* Whether a deadline has passed.  UINT64_MAX never passes. */
static inline bool
deadline_is_due(uint64_t deadline, uint64_t now)
{
	return deadline <= now && deadline != UINT64_MAX;
}

/* Home slots for a table of so many flows. */
static inline uint32_t
flow_home_slots_for(uint32_t flows)
{
	return flows + flows / 3 + 1;
}

/* slots.c: doubles the number of home slots.  Moves all entries to the end of the new range, in order, and then each to
 * its slot, which is never after its source.  Takes a few milliseconds with a million flows. */
void slots_grow(struct flow_table *table);

/* slots.c: inserts a flow under its hash, false if the free slot is too far from the home slot; removes it. */
bool slots_insert(struct flow_table *table, uint32_t hash, flow_index index);
void slots_remove(struct flow_table *table, uint32_t hash, flow_index index);

/* slots.c: copies the first flows, at most `count`, of the probe sequence of `hash`; returns their number. */
unsigned slots_list_probe_sequence(const struct flow_table *table, uint32_t hash, flow_index *flows, unsigned count);

/* timer_wheel.c: starts an empty wheel at `now`; adds a flow by its deadline; removes it. */
void wheel_init(struct flow_table *table, uint64_t now);
void wheel_add(struct flow_table *table, flow_index index);
void wheel_remove(struct flow_table *table, flow_index index);

/* timer_wheel.c: the time at which open connections are reported has changed: of one flow, of all. */
void wheel_requeue(struct flow_table *table, flow_index index);
void wheel_requeue_all(struct flow_table *table);

/* timer_wheel.c: when the connection is reported as open next, UINT64_MAX never. */
uint64_t wheel_active_time(const struct flow_table *table, flow_index index);

/* timer_wheel.c: packet time at which the present tick began; never after a timer that runs. */
uint64_t wheel_time(const struct flow_table *table);

/* timer_wheel.c: runs timers at `now`: turns the wheel back if time has been earlier for a while; the flow whose timer
 * is due first, 0 if there is none; when no more is due. */
void wheel_begin_run(struct flow_table *table, uint64_t now);
flow_index wheel_first_due(struct flow_table *table, uint64_t now);
void wheel_end_run(struct flow_table *table);

#endif
