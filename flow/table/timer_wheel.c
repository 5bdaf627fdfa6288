/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers: two wheels, the slices of the present tick, and one sorted list.
 *
 * A flow waits in the bucket of its deadline's tick, or in that of its lap if the tick is more than 4096 ahead.  When a
 * tick begins, the flows of its bucket are distributed over its slices; when a slice begins, its flows become the due
 * list, sorted by deadline.  Each timer runs when its own deadline has passed, exactly and in order.  A flow may be
 * examined too early (its deadline has moved, it was parked at the horizon, or time went backwards) and is then moved
 * to its bucket; it is never examined too late.  A deadline that only moves later, as idle timeouts do with every
 * packet, therefore costs nothing.  A bitmap finds the occupied buckets, so a gap of years between two frames costs no
 * more than a gap of one tick.
 */
#include "flow/table/table_internal.h"

#define BUCKET_MASK	   (WHEEL_BUCKETS - 1)
#define WHEEL_LEVEL_0	   0
#define WHEEL_LEVEL_1	   1
#define WHEEL_LEVEL_SLICES 2

/* Frames that are slightly out of order are common (several queues, merged files) and do not turn the wheel back. */
#define BACKWARD_TOLERANCE_NS NANOSECONDS

/* How far from its end the due list is searched for the position of a deadline in the present slice, which occurs with
 * a timeout shorter than a slice or a frame from the past.  Beyond that the flow waits for the next slice: its timer
 * then runs up to 1 ms out of order, still with its own deadline as the time.  This bounds the search against
 * attackers. */
#define DUE_SEARCH_MAX 32

/* When the connection is reported as open next; records are kept and the interval is set. */
static __attribute__((noinline, cold)) uint64_t
wheel_next_active(const struct flow_table *table, flow_index index)
{
	const struct flow_record *record = &table->records.entries[index];
	uint64_t age;

	if ((record->bits & (RECORD_BEGUN | RECORD_ENDED)) != RECORD_BEGUN ||
	    record->active_count == RECORD_ACTIVE_MAX ||
	    __builtin_mul_overflow(table->records.active_interval_ns, record->active_count + 1ull, &age))
		return UINT64_MAX;
	return deadline_add(table->cold[index].first_seen, age);
}

static inline uint64_t
wheel_active_deadline(const struct flow_table *table, flow_index index)
{
	if (__builtin_expect(table->records.active_interval_ns == 0 || table->records.entries == NULL, 1))
		return UINT64_MAX;
	return wheel_next_active(table, index);
}

uint64_t
wheel_active_time(const struct flow_table *table, flow_index index)
{
	return wheel_active_deadline(table, index);
}

/* When the wheel must examine the flow. */
static inline uint64_t
wheel_deadline(const struct flow_table *table, flow_index index)
{
	uint64_t deadline = table->hot[index].deadline, active = wheel_active_deadline(table, index);

	return active < deadline ? active : deadline;
}

/* --- lists: rings linked by wheel_next and wheel_prev; the wheel holds the head --- */

static void
wheel_ring_insert(struct flow_table *table, flow_index index, flow_index next)
{
	struct flow_cold *cold = table->cold;
	flow_index prev = cold[next].wheel_prev;

	cold[index].wheel_next = next;
	cold[index].wheel_prev = prev;
	cold[prev].wheel_next = index;
	cold[next].wheel_prev = index;
}

static void
wheel_bucket_append(struct flow_table *table, uint32_t bucket, flow_index index)
{
	flow_index *head = &table->wheel.bucket[bucket];

	table->cold[index].wheel_bucket = (uint16_t)bucket;
	if (*head != 0) {
		wheel_ring_insert(table, index, *head);
		return;
	}
	table->cold[index].wheel_next = table->cold[index].wheel_prev = index;
	*head = index;
}

static void
wheel_mark_occupied(struct wheel *wheel, uint32_t bucket)
{
	unsigned level = bucket >> WHEEL_BUCKET_BITS, place = bucket & BUCKET_MASK;

	wheel->occupied[level][place / 64] |= 1ull << (place % 64);
	wheel->summary[level] |= 1ull << (place / 64);
}

static void
wheel_mark_empty(struct wheel *wheel, uint32_t bucket)
{
	unsigned level = bucket >> WHEEL_BUCKET_BITS, place = bucket & BUCKET_MASK;

	wheel->occupied[level][place / 64] &= ~(1ull << (place % 64));
	if (wheel->occupied[level][place / 64] == 0)
		wheel->summary[level] &= ~(1ull << (place / 64));
}

/* Distance from bucket `place` to the next occupied one of the same wheel, 1 to 4096; 0 if there is none. */
static unsigned
wheel_find_occupied(const struct wheel *wheel, unsigned level, uint64_t place)
{
	unsigned from = (unsigned)(place + 1) & BUCKET_MASK;
	unsigned word = from / 64;
	uint64_t bits = wheel->occupied[level][word] & ~0ull << (from % 64);
	uint64_t words;

	if (bits == 0) {
		unsigned turn = (word + 1) % 64;

		words = wheel->summary[level];
		words = turn == 0 ? words : words >> turn | words << (64 - turn);
		if (words == 0)
			return 0;
		word = (turn + (unsigned)__builtin_ctzll(words)) % 64;
		bits = wheel->occupied[level][word];
	}
	return ((word * 64 + (unsigned)__builtin_ctzll(bits) - from) & BUCKET_MASK) + 1;
}

/* --- next work --- */

static inline uint64_t
wheel_tick(const struct wheel *wheel)
{
	return wheel->slice >> WHEEL_SLICES_BITS;
}

/* Distance from the present slice to the next occupied one, all of which are later slices of the present tick. */
static unsigned
wheel_find_slice(const struct wheel *wheel)
{
	return wheel_find_occupied(wheel, WHEEL_LEVEL_SLICES, wheel->slice & (WHEEL_SLICES - 1));
}

/* When the wheel must run next: flows of the present slice at their own deadlines, later ones at the start of their
 * slice, tick or lap. */
static uint64_t
wheel_next_due(const struct flow_table *table)
{
	const struct wheel *wheel = &table->wheel;
	uint64_t next = UINT64_MAX, begin, tick = wheel_tick(wheel);
	unsigned distance;

	if (wheel->bucket[WHEEL_DUE] != 0)
		return wheel_deadline(table, wheel->bucket[WHEEL_DUE]);
	distance = wheel_find_slice(wheel);
	if (distance != 0)
		return (wheel->slice + distance) << WHEEL_SLICE_BITS;
	distance = wheel_find_occupied(wheel, WHEEL_LEVEL_0, tick);
	if (distance != 0)
		next = (tick + distance) << WHEEL_TICK_BITS;
	distance = wheel_find_occupied(wheel, WHEEL_LEVEL_1, tick >> WHEEL_BUCKET_BITS);
	if (distance != 0) {
		begin = ((tick >> WHEEL_BUCKET_BITS) + distance) << (WHEEL_BUCKET_BITS + WHEEL_TICK_BITS);
		if (begin < next)
			next = begin;
	}
	return next;
}

static void
wheel_update_idle_span(struct flow_table *table)
{
	struct wheel *wheel = &table->wheel;
	uint64_t begin = wheel_time(table);
	uint64_t next = wheel_next_due(table);

	wheel->idle_base = begin < BACKWARD_TOLERANCE_NS ? 0 : begin - BACKWARD_TOLERANCE_NS;
	wheel->idle_span = next < wheel->idle_base ? 0 : next - wheel->idle_base;
}

static void
wheel_shorten_idle_span(struct wheel *wheel, uint64_t time)
{
	uint64_t span = time < wheel->idle_base ? 0 : time - wheel->idle_base;

	if (span < wheel->idle_span)
		wheel->idle_span = span;
}

/* --- adding and removing --- */

/* Inserts into the due list by deadline.  False if the position is too far from the end. */
static bool
wheel_due_insert(struct flow_table *table, flow_index index)
{
	flow_index *head = &table->wheel.bucket[WHEEL_DUE];
	const struct flow_cold *cold = table->cold;
	uint64_t deadline = wheel_deadline(table, index);
	flow_index later = *head;
	unsigned examined = 0;

	if (*head == 0 || wheel_deadline(table, cold[*head].wheel_prev) <= deadline) {
		wheel_bucket_append(table, WHEEL_DUE, index);
		return true;
	}
	do {
		if (examined++ == DUE_SEARCH_MAX)
			return false;
		later = cold[later].wheel_prev;
	} while (later != *head && wheel_deadline(table, cold[later].wheel_prev) > deadline);
	wheel_ring_insert(table, index, later);
	table->cold[index].wheel_bucket = WHEEL_DUE;
	if (later == *head)
		*head = index;
	return true;
}

/* The bucket of a slice that is later than the present one; sets the time at which it begins. */
static uint32_t
wheel_choose_bucket(const struct wheel *wheel, uint64_t slice, uint64_t *begin)
{
	uint64_t present = wheel_tick(wheel), tick = slice >> WHEEL_SLICES_BITS;
	uint64_t lap = present >> WHEEL_BUCKET_BITS, target_lap = tick >> WHEEL_BUCKET_BITS;

	if (tick == present) {
		*begin = slice << WHEEL_SLICE_BITS;
		return WHEEL_FIRST_SLICE + (uint32_t)(slice & (WHEEL_SLICES - 1));
	}
	if (tick - present <= WHEEL_BUCKETS) {
		*begin = tick << WHEEL_TICK_BITS;
		return (uint32_t)(tick & BUCKET_MASK);
	}
	if (target_lap - lap > WHEEL_BUCKETS)
		target_lap = lap + WHEEL_BUCKETS;
	*begin = target_lap << (WHEEL_BUCKET_BITS + WHEEL_TICK_BITS);
	return WHEEL_BUCKETS + (uint32_t)(target_lap & BUCKET_MASK);
}

void
wheel_add(struct flow_table *table, flow_index index)
{
	struct wheel *wheel = &table->wheel;
	uint64_t deadline = wheel_deadline(table, index), begin;
	uint64_t slice = deadline >> WHEEL_SLICE_BITS;
	uint32_t bucket;

	if (slice <= wheel->slice) {
		if (wheel_due_insert(table, index)) {
			wheel_shorten_idle_span(wheel, deadline);
			return;
		}
		slice = wheel->slice + 1;
	}
	bucket = wheel_choose_bucket(wheel, slice, &begin);
	wheel_shorten_idle_span(wheel, begin);
	wheel_bucket_append(table, bucket, index);
	wheel_mark_occupied(wheel, bucket);
}

void
wheel_remove(struct flow_table *table, flow_index index)
{
	struct flow_cold *cold = table->cold;
	flow_index next = cold[index].wheel_next, prev = cold[index].wheel_prev;
	flow_index *head = &table->wheel.bucket[cold[index].wheel_bucket];

	cold[prev].wheel_next = next;
	cold[next].wheel_prev = prev;
	if (*head != index)
		return;
	*head = next == index ? 0 : next;
	if (*head == 0 && cold[index].wheel_bucket != WHEEL_DUE)
		wheel_mark_empty(&table->wheel, cold[index].wheel_bucket);
}

void
flow_set_deadline(struct flow_table *table, struct flow *flow, uint64_t deadline)
{
	flow_index index = flow_index_of(table, flow);

	/* A later deadline, and the flow is not in the sorted due list: the wheel notices when it examines the flow. */
	if (deadline >= flow->deadline && table->cold[index].wheel_bucket != WHEEL_DUE) {
		flow->deadline = deadline;
		return;
	}
	wheel_remove(table, index);
	flow->deadline = deadline;
	wheel_add(table, index);
}

uint64_t
wheel_time(const struct flow_table *table)
{
	return wheel_tick(&table->wheel) << WHEEL_TICK_BITS;
}

void
wheel_init(struct flow_table *table, uint64_t now)
{
	table->wheel.slice = now >> WHEEL_SLICE_BITS;
	table->wheel.rewind_count = 0;
	wheel_update_idle_span(table);
}

/* --- advancing time --- */

/* Unlinks a whole list and returns it as a chain that ends with 0. */
static flow_index
wheel_bucket_detach(struct flow_table *table, uint32_t bucket)
{
	flow_index first = table->wheel.bucket[bucket];

	if (first == 0)
		return 0;
	table->cold[table->cold[first].wheel_prev].wheel_next = 0;
	table->wheel.bucket[bucket] = 0;
	if (bucket != WHEEL_DUE)
		wheel_mark_empty(&table->wheel, bucket);
	return first;
}

void
wheel_requeue(struct flow_table *table, flow_index index)
{
	wheel_remove(table, index);
	wheel_add(table, index);
}

/* The due list is emptied first: it must be sorted by what holds now. */
void
wheel_requeue_all(struct flow_table *table)
{
	uint32_t bucket = (uint32_t)((wheel_tick(&table->wheel) + 1) & BUCKET_MASK);
	flow_index chain = wheel_bucket_detach(table, WHEEL_DUE), next;

	for (; chain != 0; chain = next) {
		next = table->cold[chain].wheel_next;
		wheel_bucket_append(table, bucket, chain);
		wheel_mark_occupied(&table->wheel, bucket);
	}
	for (flow_index index = 1; index <= table->high_water; index++)
		if (flow_cold_serial(&table->cold[index]) != 0)
			wheel_requeue(table, index);
}

/* Merges two sorted chains; among equals those of `a` come first. */
static flow_index
wheel_merge_chains(struct flow_table *table, flow_index a, flow_index b)
{
	flow_index first = 0;
	flow_index *end = &first;

	while (a != 0 && b != 0) {
		flow_index *least = wheel_deadline(table, a) <= wheel_deadline(table, b) ? &a : &b;

		*end = *least;
		end = &table->cold[*least].wheel_next;
		*least = *end;
	}
	*end = a != 0 ? a : b;
	return first;
}

/* Sorts a chain by deadline; stable.  Ascending runs are merged bottom-up, as in a binary counter, so a chain that is
 * one run, as most are, costs one pass. */
static flow_index
wheel_sort_chain(struct flow_table *table, flow_index chain)
{
	flow_index pile[32] = {0}; /* pile[n] holds 2^n runs or none */
	flow_index sorted = 0;
	unsigned n, highest = 0;

	while (chain != 0) {
		flow_index run = chain, last = chain;

		while ((chain = table->cold[last].wheel_next) != 0 &&
		       wheel_deadline(table, last) <= wheel_deadline(table, chain))
			last = chain;
		table->cold[last].wheel_next = 0;
		for (n = 0; pile[n] != 0; n++) {
			run = wheel_merge_chains(table, pile[n], run);
			pile[n] = 0;
		}
		pile[n] = run;
		if (n > highest)
			highest = n;
	}
	for (n = 0; n <= highest; n++)
		sorted = wheel_merge_chains(table, pile[n], sorted);
	return sorted;
}

/* Begins a slice of the present tick: turns its flows into the due list; those of a later slice go back to the
 * wheel. */
static void
wheel_load_slice(struct flow_table *table, uint64_t slice)
{
	flow_index chain = wheel_bucket_detach(table, WHEEL_FIRST_SLICE + (uint32_t)(slice & (WHEEL_SLICES - 1)));
	flow_index due = 0, next;
	flow_index *end = &due;

	table->wheel.slice = slice;
	for (; chain != 0; chain = next) {
		next = table->cold[chain].wheel_next;
		if (wheel_deadline(table, chain) >> WHEEL_SLICE_BITS > slice) {
			wheel_add(table, chain);
		} else {
			*end = chain;
			end = &table->cold[chain].wheel_next;
		}
	}
	*end = 0;
	for (due = wheel_sort_chain(table, due); due != 0; due = next) {
		next = table->cold[due].wheel_next;
		wheel_bucket_append(table, WHEEL_DUE, due);
	}
}

/* Begins a tick: distributes its flows over its slices, of which the first begins; those of a later tick go back to the
 * wheel. */
static void
wheel_load_tick(struct flow_table *table, uint64_t tick)
{
	flow_index chain = wheel_bucket_detach(table, (uint32_t)(tick & BUCKET_MASK)), next;
	uint64_t first = tick << WHEEL_SLICES_BITS;

	table->wheel.slice = first;
	for (; chain != 0; chain = next) {
		next = table->cold[chain].wheel_next;
		if (wheel_deadline(table, chain) >> WHEEL_SLICE_BITS > first) {
			wheel_add(table, chain);
		} else {
			wheel_bucket_append(table, WHEEL_FIRST_SLICE, chain);
			wheel_mark_occupied(&table->wheel, WHEEL_FIRST_SLICE);
		}
	}
	wheel_load_slice(table, first);
}

/* Moves the flows of a lap that is about to begin to the first wheel. */
static void
wheel_cascade_lap(struct flow_table *table, uint64_t lap)
{
	flow_index chain = wheel_bucket_detach(table, WHEEL_BUCKETS + (uint32_t)(lap & BUCKET_MASK)), next;

	table->wheel.slice = (lap << (WHEEL_BUCKET_BITS + WHEEL_SLICES_BITS)) - 1;
	for (; chain != 0; chain = next) {
		next = table->cold[chain].wheel_next;
		wheel_add(table, chain);
	}
}

/* With neither due flows nor occupied slices: advances to the next occupied tick or lap, but not beyond tick `limit`.
 * False if there is none up to `limit`. */
static bool
wheel_advance_tick(struct flow_table *table, uint64_t limit)
{
	const struct wheel *wheel = &table->wheel;
	uint64_t tick = wheel_tick(wheel), lap = tick >> WHEEL_BUCKET_BITS;
	unsigned ticks = wheel_find_occupied(wheel, WHEEL_LEVEL_0, tick);
	unsigned laps = wheel_find_occupied(wheel, WHEEL_LEVEL_1, lap);
	uint64_t lap_begin = (lap + laps) << WHEEL_BUCKET_BITS;

	if (laps != 0 && lap_begin <= limit && (ticks == 0 || lap_begin <= tick + ticks)) {
		wheel_cascade_lap(table, lap + laps);
		return true;
	}
	if (ticks == 0 || tick + ticks > limit)
		return false;
	wheel_load_tick(table, tick + ticks);
	return true;
}

/* With an empty due list: advances to the next occupied slice, tick or lap, but not beyond slice `limit`.  False if
 * there is none up to `limit`. */
static bool
wheel_advance(struct flow_table *table, uint64_t limit)
{
	struct wheel *wheel = &table->wheel;
	unsigned slices = wheel_find_slice(wheel);

	if (slices != 0 && wheel->slice + slices <= limit) {
		wheel_load_slice(table, wheel->slice + slices);
		return true;
	}
	if (slices == 0 && wheel_advance_tick(table, limit >> WHEEL_SLICES_BITS))
		return true;
	if (limit > wheel->slice)
		wheel->slice = limit;
	return false;
}

/* Time has been earlier than the wheel for a while: the clock was set back, or a frame had a time stamp in the future.
 * Turns the wheel back.  Its buckets stay, so at worst flows are examined too early.  The delay before this happens
 * bounds the cost of a file whose time stamps jump back and forth. */
static void
wheel_rewind(struct flow_table *table, uint64_t now)
{
	struct wheel *wheel = &table->wheel;

	if (++wheel->rewind_count < 64 + table->counters.flows / 16)
		return;
	wheel->rewind_count = 0;
	wheel->slice = now >> WHEEL_SLICE_BITS;
	for (uint32_t bucket = WHEEL_FIRST_SLICE; bucket <= WHEEL_DUE; bucket++) {
		flow_index chain = wheel_bucket_detach(table, bucket), next;

		for (; chain != 0; chain = next) {
			next = table->cold[chain].wheel_next;
			wheel_add(table, chain);
		}
	}
}

void
wheel_begin_run(struct flow_table *table, uint64_t now)
{
	if (now < table->wheel.idle_base)
		wheel_rewind(table, now);
	else
		table->wheel.rewind_count = 0;
}

flow_index
wheel_first_due(struct flow_table *table, uint64_t now)
{
	do {
		flow_index first = table->wheel.bucket[WHEEL_DUE];

		if (first != 0)
			return deadline_is_due(wheel_deadline(table, first), now) ? first : 0;
	} while (wheel_advance(table, now >> WHEEL_SLICE_BITS));
	return 0;
}

void
wheel_end_run(struct flow_table *table)
{
	wheel_update_idle_span(table);
}
