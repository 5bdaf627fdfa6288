/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers: two wheels and one sorted list.
 *
 * A flow waits in the slot of its deadline's tick, or in that of its lap if the tick is more than 4096 ahead.  When a
 * tick begins, the flows of its slot become the due list, sorted by deadline; each timer runs when its own deadline has
 * passed, exactly and in order.  A flow may be examined too early (its deadline has moved, it was parked at the
 * horizon, or time went backwards) and is then moved to its slot; it is never examined too late.  A deadline that only
 * moves later, as idle timeouts do with every packet, therefore costs nothing.  A bitmap finds the occupied slots, so a
 * gap of years between two frames costs no more than a gap of one tick.
 */
#include "flow/table/slots.h"

#define SLOT_MASK (WHEEL_SLOTS - 1)
#define FIRST 0
#define SECOND 1

/* Frames that are slightly out of order are common (several queues, merged files) and do not turn the wheel back. */
#define BACKWARD_TOLERANCE_NS NANOSECONDS

/* How far from its end the due list is searched for the place of a deadline in the present tick, which occurs with a
 * timeout shorter than a tick or a frame from the past.  Beyond that the flow waits for the next tick: its timer then
 * runs up to 67 ms out of order, still with its own deadline as the time.  This bounds the search against attackers. */
#define DUE_SEARCH_MAX 32

static inline uint64_t
deadline_of(const struct flow_table *table, flow_index index)
{
	return table->hot[index].deadline;
}

/* --- lists: rings linked by wheel_next and wheel_prev; the wheel holds the head --- */

static void
ring_insert_before(struct flow_table *table, flow_index index, flow_index next)
{
	struct flow_cold *cold = table->cold;
	flow_index prev = cold[next].wheel_prev;

	cold[index].wheel_next = next;
	cold[index].wheel_prev = prev;
	cold[prev].wheel_next = index;
	cold[next].wheel_prev = index;
}

static void
list_append(struct flow_table *table, uint32_t slot, flow_index index)
{
	flow_index *head = &table->wheel.list[slot];

	table->cold[index].slot = (uint16_t)slot;
	if (*head != 0) {
		ring_insert_before(table, index, *head);
		return;
	}
	table->cold[index].wheel_next = table->cold[index].wheel_prev = index;
	*head = index;
}

static void
mark_occupied(struct wheel *wheel, uint32_t slot)
{
	unsigned which = slot >> WHEEL_SLOT_BITS, place = slot & SLOT_MASK;

	wheel->occupied[which][place / 64] |= 1ull << (place % 64);
	wheel->summary[which] |= 1ull << (place / 64);
}

static void
mark_empty(struct wheel *wheel, uint32_t slot)
{
	unsigned which = slot >> WHEEL_SLOT_BITS, place = slot & SLOT_MASK;

	wheel->occupied[which][place / 64] &= ~(1ull << (place % 64));
	if (wheel->occupied[which][place / 64] == 0)
		wheel->summary[which] &= ~(1ull << (place / 64));
}

/* Distance from a slot to the next occupied one of the same wheel, 1 to 4096; 0 if there is none. */
static unsigned
distance_to_occupied(const struct wheel *wheel, unsigned which, uint64_t place)
{
	unsigned from = (unsigned)(place + 1) & SLOT_MASK;
	unsigned word = from / 64;
	uint64_t bits = wheel->occupied[which][word] & ~0ull << (from % 64);
	uint64_t words;

	if (bits == 0) {
		unsigned turn = (word + 1) % 64;

		words = wheel->summary[which];
		words = turn == 0 ? words : words >> turn | words << (64 - turn);
		if (words == 0)
			return 0;
		word = (turn + (unsigned)__builtin_ctzll(words)) % 64;
		bits = wheel->occupied[which][word];
	}
	return ((word * 64 + (unsigned)__builtin_ctzll(bits) - from) & SLOT_MASK) + 1;
}

/* --- next work --- */

/* When the wheel must run next: flows of the present tick at their own deadlines, later ones at the start of their tick
 * or lap. */
static uint64_t
next_work(const struct flow_table *table)
{
	const struct wheel *wheel = &table->wheel;
	uint64_t next = UINT64_MAX, begin;
	unsigned distance;

	if (wheel->list[WHEEL_DUE] != 0)
		return deadline_of(table, wheel->list[WHEEL_DUE]);
	distance = distance_to_occupied(wheel, FIRST, wheel->tick);
	if (distance != 0)
		next = (wheel->tick + distance) << WHEEL_TICK_BITS;
	distance = distance_to_occupied(wheel, SECOND, wheel->tick >> WHEEL_SLOT_BITS);
	if (distance != 0) {
		begin = ((wheel->tick >> WHEEL_SLOT_BITS) + distance) << (WHEEL_SLOT_BITS + WHEEL_TICK_BITS);
		if (begin < next)
			next = begin;
	}
	return next;
}

static void
settle(struct flow_table *table)
{
	struct wheel *wheel = &table->wheel;
	uint64_t begin = wheel->tick << WHEEL_TICK_BITS;
	uint64_t next = next_work(table);

	wheel->base = begin < BACKWARD_TOLERANCE_NS ? 0 : begin - BACKWARD_TOLERANCE_NS;
	wheel->quiet = next < wheel->base ? 0 : next - wheel->base;
}

static void
work_at(struct wheel *wheel, uint64_t time)
{
	uint64_t quiet = time < wheel->base ? 0 : time - wheel->base;

	if (quiet < wheel->quiet)
		wheel->quiet = quiet;
}

/* --- adding and removing --- */

/* Inserts into the due list by deadline.  False if the place is too far from the end. */
static bool
due_insert(struct flow_table *table, flow_index index)
{
	flow_index *head = &table->wheel.list[WHEEL_DUE];
	const struct flow_cold *cold = table->cold;
	uint64_t deadline = deadline_of(table, index);
	flow_index later = *head;
	unsigned looked = 0;

	if (*head == 0 || deadline_of(table, cold[*head].wheel_prev) <= deadline) {
		list_append(table, WHEEL_DUE, index);
		return true;
	}
	do {
		if (looked++ == DUE_SEARCH_MAX)
			return false;
		later = cold[later].wheel_prev;
	} while (later != *head && deadline_of(table, cold[later].wheel_prev) > deadline);
	ring_insert_before(table, index, later);
	table->cold[index].slot = WHEEL_DUE;
	if (later == *head)
		*head = index;
	return true;
}

void
wheel_add(struct flow_table *table, flow_index index)
{
	struct wheel *wheel = &table->wheel;
	uint64_t deadline = deadline_of(table, index);
	uint64_t tick = deadline >> WHEEL_TICK_BITS;
	uint64_t lap = wheel->tick >> WHEEL_SLOT_BITS;
	uint32_t slot;

	if (tick <= wheel->tick) {
		if (due_insert(table, index)) {
			work_at(wheel, deadline);
			return;
		}
		tick = wheel->tick + 1;
	}
	if (tick - wheel->tick <= WHEEL_SLOTS) {
		slot = (uint32_t)(tick & SLOT_MASK);
		work_at(wheel, tick << WHEEL_TICK_BITS);
	} else {
		uint64_t wanted = tick >> WHEEL_SLOT_BITS;

		if (wanted - lap > WHEEL_SLOTS)
			wanted = lap + WHEEL_SLOTS;
		slot = WHEEL_SLOTS + (uint32_t)(wanted & SLOT_MASK);
		work_at(wheel, wanted << (WHEEL_SLOT_BITS + WHEEL_TICK_BITS));
	}
	list_append(table, slot, index);
	mark_occupied(wheel, slot);
}

void
wheel_remove(struct flow_table *table, flow_index index)
{
	struct flow_cold *cold = table->cold;
	flow_index next = cold[index].wheel_next, prev = cold[index].wheel_prev;
	flow_index *head = &table->wheel.list[cold[index].slot];

	cold[prev].wheel_next = next;
	cold[next].wheel_prev = prev;
	if (*head != index)
		return;
	*head = next == index ? 0 : next;
	if (*head == 0 && cold[index].slot != WHEEL_DUE)
		mark_empty(&table->wheel, cold[index].slot);
}

void
flow_set_deadline(struct flow_table *table, struct flow *flow, uint64_t deadline)
{
	flow_index index = index_of(table, flow);

	/* A later deadline, and the flow is not in the sorted due list: the wheel notices when it examines the flow. */
	if (deadline >= flow->deadline && flow->deadline >> WHEEL_TICK_BITS > table->wheel.tick) {
		flow->deadline = deadline;
		return;
	}
	wheel_remove(table, index);
	flow->deadline = deadline;
	wheel_add(table, index);
}

void
wheel_start(struct flow_table *table, uint64_t now)
{
	table->wheel.tick = now >> WHEEL_TICK_BITS;
	table->wheel.behind = 0;
	settle(table);
}

/* --- advancing time --- */

/* Unlinks a whole list and returns it as a chain that ends with 0. */
static flow_index
take_list(struct flow_table *table, uint32_t slot)
{
	flow_index first = table->wheel.list[slot];

	if (first == 0)
		return 0;
	table->cold[table->cold[first].wheel_prev].wheel_next = 0;
	table->wheel.list[slot] = 0;
	if (slot != WHEEL_DUE)
		mark_empty(&table->wheel, slot);
	return first;
}

/* Merges two sorted chains; among equals those of `a` come first. */
static flow_index
merge(struct flow_table *table, flow_index a, flow_index b)
{
	flow_index first = 0;
	flow_index *end = &first;

	while (a != 0 && b != 0) {
		flow_index *least = deadline_of(table, a) <= deadline_of(table, b) ? &a : &b;

		*end = *least;
		end = &table->cold[*least].wheel_next;
		*least = *end;
	}
	*end = a != 0 ? a : b;
	return first;
}

/* Sorts a chain by deadline; stable.  Ascending runs are merged bottom-up, as in a binary counter, so a chain that is
 * one run, the usual case, costs one pass. */
static flow_index
sort(struct flow_table *table, flow_index chain)
{
	flow_index pile[32] = {0}; /* pile[n] holds 2^n runs or none */
	flow_index sorted = 0;
	unsigned n, highest = 0;

	while (chain != 0) {
		flow_index run = chain, last = chain;

		while ((chain = table->cold[last].wheel_next) != 0 &&
		       deadline_of(table, last) <= deadline_of(table, chain))
			last = chain;
		table->cold[last].wheel_next = 0;
		for (n = 0; pile[n] != 0; n++) {
			run = merge(table, pile[n], run);
			pile[n] = 0;
		}
		pile[n] = run;
		if (n > highest)
			highest = n;
	}
	for (n = 0; n <= highest; n++)
		sorted = merge(table, pile[n], sorted);
	return sorted;
}

/* Turns the flows of the tick that has just begun into the due list; those of a later tick go back to the wheel. */
static void
open_tick(struct flow_table *table)
{
	flow_index chain = take_list(table, (uint32_t)(table->wheel.tick & SLOT_MASK));
	flow_index due = 0, next;
	flow_index *end = &due;

	for (; chain != 0; chain = next) {
		next = table->cold[chain].wheel_next;
		if (deadline_of(table, chain) >> WHEEL_TICK_BITS > table->wheel.tick) {
			wheel_add(table, chain);
		} else {
			*end = chain;
			end = &table->cold[chain].wheel_next;
		}
	}
	*end = 0;
	for (due = sort(table, due); due != 0; due = next) {
		next = table->cold[due].wheel_next;
		list_append(table, WHEEL_DUE, due);
	}
}

/* Moves the flows of a lap that is about to begin to the first wheel. */
static void
open_lap(struct flow_table *table, uint64_t lap)
{
	flow_index chain = take_list(table, WHEEL_SLOTS + (uint32_t)(lap & SLOT_MASK)), next;

	table->wheel.tick = (lap << WHEEL_SLOT_BITS) - 1;
	for (; chain != 0; chain = next) {
		next = table->cold[chain].wheel_next;
		wheel_add(table, chain);
	}
}

/* With an empty due list: advances to the next occupied tick or lap, but not beyond tick `limit`.  False if there is
 * none up to `limit`. */
static bool
advance(struct flow_table *table, uint64_t limit)
{
	struct wheel *wheel = &table->wheel;
	uint64_t lap = wheel->tick >> WHEEL_SLOT_BITS;
	unsigned ticks = distance_to_occupied(wheel, FIRST, wheel->tick);
	unsigned laps = distance_to_occupied(wheel, SECOND, lap);
	uint64_t lap_begin = (lap + laps) << WHEEL_SLOT_BITS;

	if (laps != 0 && lap_begin <= limit && (ticks == 0 || lap_begin <= wheel->tick + ticks)) {
		open_lap(table, lap + laps);
		return true;
	}
	if (ticks != 0 && wheel->tick + ticks <= limit) {
		wheel->tick += ticks;
		open_tick(table);
		return true;
	}
	if (limit > wheel->tick)
		wheel->tick = limit;
	return false;
}

/* Time has been earlier than the wheel for a while: the clock was set back, or a frame had a time stamp in the future.
 * Turns the wheel back.  Its slots stay, so at worst flows are examined too early.  The delay before this happens
 * bounds the cost of a file whose time stamps jump back and forth. */
static void
turn_back(struct flow_table *table, uint64_t now)
{
	struct wheel *wheel = &table->wheel;
	flow_index chain, next;

	if (++wheel->behind < 64 + table->counters.flows / 16)
		return;
	wheel->behind = 0;
	chain = take_list(table, WHEEL_DUE);
	wheel->tick = now >> WHEEL_TICK_BITS;
	for (; chain != 0; chain = next) {
		next = table->cold[chain].wheel_next;
		wheel_add(table, chain);
	}
}

/* Runs the timer of a flow whose deadline has passed; the deadline is the time of its events, however late this
 * runs. */
static void
fire(struct flow_table *table, flow_index index)
{
	struct flow *flow = &table->hot[index];
	uint64_t deadline = flow->deadline, next;
	struct flow_events events;

	events.count = 0;
	next = flow_timer(table, flow, deadline, &events);
	flow_report(table, flow, &events);
	if (next == 0) {
		table->counters.expired++;
		flow_remove(table, flow);
		return;
	}
	wheel_remove(table, index);
	/* A deadline that is not later is a bug; it must not stop the clock. */
	flow->deadline = next > deadline ? next : deadline_after(deadline, 1ull << WHEEL_TICK_BITS);
	wheel_add(table, index);
}

static void
run(struct flow_table *table, uint64_t now)
{
	struct wheel *wheel = &table->wheel;

	if (now < wheel->base)
		turn_back(table, now);
	else
		wheel->behind = 0;
	do {
		flow_index first;

		while ((first = wheel->list[WHEEL_DUE]) != 0 && is_due(deadline_of(table, first), now)) {
			flow_index second = table->cold[first].wheel_next;

			__builtin_prefetch(&table->hot[second]);
			__builtin_prefetch(&table->cold[second]);
			fire(table, first);
		}
		if (first != 0)
			break;
	} while (advance(table, now >> WHEEL_TICK_BITS));
	settle(table);
}

void
flow_table_run_timers(struct flow_table *table, uint64_t now)
{
	if (__builtin_expect(now - table->wheel.base >= table->wheel.quiet, 0))
		run(table, now);
}

/* Before an overdue flow is returned, its timer and all earlier ones run. */
static struct flow *
find_after_timers(struct flow_table *table, const struct flow_key *key, uint32_t hash, uint64_t now)
{
	struct flow *flow;

	flow_table_run_timers(table, now);
	while ((flow = flow_find(table, key, hash)) != NULL && is_due(flow->deadline, now))
		fire(table, index_of(table, flow)); /* the wheel has not reached it, because time went backwards */
	return flow;
}

struct flow *
flow_find_live(struct flow_table *table, const struct flow_key *key, uint32_t hash, uint64_t now)
{
	struct flow *flow = slots_find_expected(table, key, hash);

	if (flow == NULL || __builtin_expect(!is_due(flow->deadline, now), 1))
		return flow;
	return find_after_timers(table, key, hash, now);
}
