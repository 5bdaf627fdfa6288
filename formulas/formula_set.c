/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/formula_set.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/threshold.h"
#include "formulas/wait.h"
#include "probes/feed/feed.h"
#include "probes/fire.h"
#include "probes/print/print.h"
#include "probes/site/semaphores.h"

/* One bit for each place of a formula. */
typedef uint64_t places;

_Static_assert(FORMULAS_MAX <= 64, "a bit for each place");

struct formula_entry {
	struct formula *formula; /* NULL: the place is free */
	struct formula_threshold *threshold; /* NULL: none */
	struct formula_wait *wait;	     /* NULL: none */
	enum formula_origin origin;
	unsigned slot;
	bool named, printed, written;
	struct feed_mask feeds; /* that have chosen it */
	_Atomic uint64_t sequence; /* firings since it was enabled, of all parts */
};

/* Used by the thread of one emitter. */
struct formula_part {
	struct formula_set *set;
	struct printer *printer; /* NULL: none */
	struct feed_part *feed;	 /* NULL: none */
	formula_match_handler *handler; /* NULL: none */
	void *handler_context;
	unsigned index;
	places active;
	places active_on[PROBE_COUNT];	/* without those that wait */
	places waiting_on[PROBE_COUNT]; /* those that wait */
	places waiting;
	struct {
		uint64_t seen, matched;
	} counts[FORMULAS_MAX];
};

struct formula_set {
	const struct slots_object *slots;
	const char *path; /* of the slots */
	const struct feed_set *feeds; /* NULL: none */
	struct formula_entry entries[FORMULAS_MAX]; /* by place */
	bool (*selects_written)(void *context, const char *name); /* NULL: no formula is written */
	void *written_context;
	unsigned order[FORMULAS_MAX]; /* places in the order of addition, the listed formulas first */
	unsigned count, total;	      /* formulas that are listed, and all */
	unsigned part_count;
	struct formula_part parts[];
};

struct formula_set *
formula_set_new(unsigned parts)
{
	struct formula_set *set = calloc(1, sizeof *set + parts * sizeof set->parts[0]);

	if (set == NULL)
		return NULL;
	set->part_count = parts;
	for (unsigned i = 0; i < parts; i++) {
		set->parts[i].set = set;
		set->parts[i].index = i;
	}
	return set;
}

/* ----------------------------------------------------------------------------------------------------- the activity */

static unsigned
entry_tracers(const struct formula_set *set, const struct formula_entry *entry)
{
	return set->slots != NULL && entry->slot != FORMULA_NO_SLOT ?
		   probe_tracers(set->slots->slots[entry->slot].semaphore) :
		   0;
}

static bool
entry_is_fed(const struct formula_entry *entry)
{
	return !feed_mask_is_empty(&entry->feeds);
}

/* Whether something that numbers the firings of the formula receives them. */
static bool
entry_is_enabled(const struct formula_part *part, const struct formula_entry *entry)
{
	return (entry->printed && part->printer != NULL) || entry_is_fed(entry) || entry_tracers(part->set, entry) != 0;
}

static bool
entry_is_written(const struct formula_part *part, const struct formula_entry *entry)
{
	return entry->written && part->handler != NULL;
}

static void
part_set_active(struct formula_part *part, unsigned place, bool active)
{
	const struct formula_entry *entry = &part->set->entries[place];
	places bit = (places)1 << place, *on = entry->wait != NULL ? part->waiting_on : part->active_on;

	part->active ^= bit;
	for (unsigned probe = 0; probe < PROBE_COUNT; probe++) {
		if (!formula_reads_probe(entry->formula, (enum probe_id)probe))
			continue;
		if (active && (part->active_on[probe] | part->waiting_on[probe]) == 0)
			semaphores_add_formula(probe);
		on[probe] ^= bit;
		if (!active && (part->active_on[probe] | part->waiting_on[probe]) == 0)
			semaphores_remove_formula(probe);
	}
	if (entry->wait == NULL)
		return;
	part->waiting ^= bit;
	if (!active)
		formula_wait_clear(entry->wait, part->index);
}

/* The next tracer counts from 1; another thread may have fired for it already. */
static void
entry_reset_sequence(const struct formula_set *set, struct formula_entry *entry)
{
	uint64_t before = atomic_load_explicit(&entry->sequence, memory_order_acquire);

	if (before != 0 && entry_tracers(set, entry) == 0)
		atomic_compare_exchange_strong_explicit(&entry->sequence, &before, 0, memory_order_relaxed,
							memory_order_relaxed);
}

/* Determines which formulas are active: the semaphores of their slots change without a notification. */
static void
part_poll(void *context)
{
	struct formula_part *part = context;
	struct formula_set *set = part->set;

	for (unsigned i = 0; i < set->total; i++) {
		unsigned place = set->order[i];
		struct formula_entry *entry = &set->entries[place];
		bool enabled = entry_is_enabled(part, entry);
		bool active = enabled || formula_is_counted(entry->formula) || entry_is_written(part, entry);

		if (active != (part->active >> place & 1))
			part_set_active(part, place, active);
		if (!enabled && part->index == 0)
			entry_reset_sequence(set, entry);
	}
}

/* ------------------------------------------------------------------------------------------------------ the firings */

static void
part_fire(struct formula_part *part, struct formula_entry *entry, struct firing *firing)
{
	const struct slots_object *slots = part->set->slots;
	bool traced = entry_tracers(part->set, entry) != 0, printed = entry->printed && part->printer != NULL;
	bool fed = entry_is_fed(entry) && part->feed != NULL;
	uint64_t sequence;

	if (!traced && !printed && !fed)
		return;
	sequence = atomic_fetch_add_explicit(&entry->sequence, 1, memory_order_relaxed) + 1;
	if (entry->wait != NULL)
		saved_firing_set_sequence(firing, sequence);
	else
		firing_complete(firing, sequence);
	if (traced)
		slots->slots[entry->slot].fire(firing->args[0], firing->args[1], firing->args[2], firing->args[3],
					       firing->args[4], firing->args[5]);
	if (printed)
		printer_print_formula(part->printer, formula_name(entry->formula), firing->probe, firing->args);
	if (fed)
		feed_add_formula(part->feed, &entry->feeds, formula_name(entry->formula), firing->probe, firing->args);
}

static void
part_match(struct formula_part *part, const struct formula_entry *entry, struct firing *firing, uint64_t cid)
{
	const struct formula_match match = {
	    .formula = entry->formula, .is_written = entry->written, .firing = firing, .cid = cid};

	part->handler(part->handler_context, &match);
}

/* The formula in `waiting` whose wait ends first, and when; FORMULAS_MAX if none is under way. */
static unsigned
part_first_due(struct formula_part *part, uint64_t *due)
{
	unsigned first = FORMULAS_MAX;

	*due = WAIT_NEVER;
	for (places left = part->waiting; left != 0; left &= left - 1) {
		unsigned place = (unsigned)__builtin_ctzll(left);
		uint64_t at = formula_wait_due(part->set->entries[place].wait, part->index);

		if (at < *due) {
			*due = at;
			first = place;
		}
	}
	return first;
}

/* The waits that have ended, in the order of time. */
static void
part_expire(void *context, struct emitter *emitter, uint64_t now)
{
	struct formula_part *part = context;
	struct formula_waited waited;
	unsigned place;
	uint64_t due;

	while ((place = part_first_due(part, &due)) != FORMULAS_MAX && due <= now) {
		struct formula_entry *entry = &part->set->entries[place];

		if (!formula_wait_take(entry->wait, part->index, now, &waited))
			continue;
		part->counts[place].matched++;
		part_fire(part, entry, &waited.firing);
		if (part->handler != NULL)
			part_match(part, entry, &waited.firing, waited.cid);
	}
	emitter_set_due(emitter, due);
}

static __attribute__((noinline)) void
part_wait(struct formula_part *part, struct firing *firing)
{
	uint64_t due;

	for (places left = part->waiting_on[firing->probe]; left != 0; left &= left - 1) {
		unsigned place = (unsigned)__builtin_ctzll(left);

		part->counts[place].seen++;
		formula_wait_read(part->set->entries[place].wait, part->index, firing);
	}
	part_first_due(part, &due);
	emitter_set_due(firing->emitter, due);
}

static void
part_on_firing(void *context, struct firing *firing)
{
	struct formula_part *part = context;

	for (places left = part->active_on[firing->probe]; left != 0; left &= left - 1) {
		unsigned place = (unsigned)__builtin_ctzll(left);
		struct formula_entry *entry = &part->set->entries[place];

		part->counts[place].seen++;
		if (!formula_is_true(entry->formula, firing))
			continue;
		if (entry->threshold != NULL && !formula_threshold_count(entry->threshold, firing))
			continue;
		part->counts[place].matched++;
		part_fire(part, entry, firing);
		if (part->handler != NULL)
			part_match(part, entry, firing, firing_cid(firing));
	}
	if (__builtin_expect(part->waiting_on[firing->probe] != 0, 0))
		part_wait(part, firing);
}

/* The formulas may read arguments that are missing: their results are then ignored. */
static bool
part_rejects(void *context, struct firing *firing)
{
	const struct formula_part *part = context;

	for (places left = part->active_on[firing->probe]; left != 0; left &= left - 1)
		if (formula_is_true(part->set->entries[__builtin_ctzll(left)].formula, firing))
			return false;
	for (places left = part->waiting_on[firing->probe]; left != 0; left &= left - 1)
		if (!formula_wait_rejects(part->set->entries[__builtin_ctzll(left)].wait, firing))
			return false;
	return true;
}

static void
part_count_rejected(void *context, enum probe_id probe)
{
	struct formula_part *part = context;

	for (places left = part->active_on[probe] | part->waiting_on[probe]; left != 0; left &= left - 1)
		part->counts[__builtin_ctzll(left)].seen++;
}

const struct emitter_listener *
formula_set_connect(struct formula_set *set, unsigned index, struct printer *printer)
{
	static const struct emitter_listener listener = {.fire = part_on_firing,
							 .poll = part_poll,
							 .rejects = part_rejects,
							 .count_rejected = part_count_rejected,
							 .expire = part_expire};

	set->parts[index].printer = printer;
	return &listener;
}

void
formula_set_connect_feed(struct formula_set *set, unsigned index, struct feed_part *feed)
{
	set->parts[index].feed = feed;
}

void
formula_set_set_match_handler(struct formula_set *set, unsigned index, formula_match_handler *handler, void *context)
{
	set->parts[index].handler = handler;
	set->parts[index].handler_context = context;
}

struct formula_part *
formula_set_part(struct formula_set *set, unsigned index)
{
	return &set->parts[index];
}

void
formula_set_set_slots(struct formula_set *set, const struct slots_object *slots, const char *path)
{
	set->slots = slots;
	set->path = path;
}

const char *
formula_set_path(const struct formula_set *set)
{
	return set->path;
}

void
formula_set_set_slot(struct formula_set *set, unsigned number, unsigned slot, bool named)
{
	set->entries[set->order[number]].slot = slot;
	set->entries[set->order[number]].named = named;
}

/* ---------------------------------------------------------------------------------------------------------- the set */

unsigned
formula_set_count(const struct formula_set *set)
{
	return set->count;
}

unsigned
formula_set_find(const struct formula_set *set, const char *name)
{
	unsigned i = 0;

	while (i < set->count && strcmp(formula_name(set->entries[set->order[i]].formula), name) != 0)
		i++;
	return i;
}

bool
formula_set_slot_is_unused(const struct formula_set *set, unsigned slot)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->entries[set->order[i]].slot == slot)
			return false;
	return true;
}

bool
formula_set_slot_is_free(const struct formula_set *set, unsigned slot)
{
	return formula_set_slot_is_unused(set, slot) &&
	       (set->slots == NULL || probe_tracers(set->slots->slots[slot].semaphore) == 0);
}

unsigned
formula_set_tracers(const struct formula_set *set)
{
	unsigned sum = 0;

	for (unsigned i = 0; set->slots != NULL && i < SLOTS_COUNT; i++)
		sum += probe_tracers(set->slots->slots[i].semaphore);
	for (unsigned i = 0; i < set->count; i++)
		sum += set->entries[set->order[i]].printed + entry_is_fed(&set->entries[set->order[i]]);
	return sum;
}

/* The place of another formula; NULL with the reason if the set is full. */
static struct formula_entry *
formula_set_take_place(struct formula_set *set, char *error, size_t size)
{
	struct formula_entry *entry = set->entries;

	if (set->total == FORMULAS_MAX) {
		snprintf(error, size, "there are %d formulas already, as many as there can be", FORMULAS_MAX);
		return NULL;
	}
	while (entry->formula != NULL)
		entry++;
	*entry = (struct formula_entry){.slot = FORMULA_NO_SLOT};
	atomic_init(&entry->sequence, 0);
	for (unsigned i = 0; i < set->part_count; i++)
		memset(&set->parts[i].counts[entry - set->entries], 0, sizeof set->parts[i].counts[0]);
	return entry;
}

bool
formula_set_add(struct formula_set *set, struct formula *formula, enum formula_origin origin, char *error, size_t size)
{
	struct formula_threshold *threshold = NULL;
	struct formula_wait *wait = NULL;
	struct formula_entry *entry;

	if (formula_set_find(set, formula_name(formula)) < set->count) {
		snprintf(error, size, "there is a formula %s already", formula_name(formula));
		return false;
	}
	entry = formula_set_take_place(set, error, size);
	if (entry == NULL)
		return false;
	if ((formula_has_threshold(formula) && (threshold = formula_threshold_new(formula)) == NULL) ||
	    (formula_has_wait(formula) && (wait = formula_wait_new(formula, set->part_count)) == NULL)) {
		snprintf(error, size, "out of memory");
		return false;
	}
	entry->formula = formula;
	entry->threshold = threshold;
	entry->wait = wait;
	entry->origin = origin;
	if (set->feeds != NULL)
		entry->feeds = feed_set_select_formula(set->feeds, formula_name(formula));
	if (set->selects_written != NULL)
		entry->written = set->selects_written(set->written_context, formula_name(formula));
	memmove(set->order + set->count + 1, set->order + set->count, (set->total - set->count) * sizeof set->order[0]);
	set->order[set->count++] = (unsigned)(entry - set->entries);
	set->total++;
	return true;
}

bool
formula_set_write_probe(struct formula_set *set, enum probe_id probe, char *error, size_t size)
{
	struct formula_entry *entry;

	for (unsigned i = set->count; i < set->total; i++)
		if (formula_has_probe(set->entries[set->order[i]].formula, probe))
			return true;
	entry = formula_set_take_place(set, error, size);
	if (entry == NULL)
		return false;
	entry->formula = formula_new_for_probe(probe);
	if (entry->formula == NULL) {
		snprintf(error, size, "out of memory");
		return false;
	}
	entry->written = true;
	set->order[set->total++] = (unsigned)(entry - set->entries);
	return true;
}

static void
formula_set_remove_number(struct formula_set *set, unsigned number)
{
	unsigned place = set->order[number];
	struct formula_entry *entry = &set->entries[place];

	for (unsigned i = 0; i < set->part_count; i++)
		if ((set->parts[i].active >> place & 1) != 0)
			part_set_active(&set->parts[i], place, false);
	formula_threshold_free(entry->threshold);
	formula_wait_free(entry->wait);
	formula_free(entry->formula);
	entry->formula = NULL;
	set->count -= number < set->count;
	set->total--;
	memmove(set->order + number, set->order + number + 1, (set->total - number) * sizeof set->order[0]);
}

bool
formula_set_remove(struct formula_set *set, const char *name)
{
	unsigned number = formula_set_find(set, name);

	if (number == set->count)
		return false;
	formula_set_remove_number(set, number);
	return true;
}

void
formula_set_free(struct formula_set *set)
{
	if (set == NULL)
		return;
	while (set->total > 0)
		formula_set_remove_number(set, set->total - 1);
	free(set);
}

void
formula_set_select_printed(struct formula_set *set, bool (*selects)(void *context, const char *name), void *context)
{
	for (unsigned i = 0; i < set->count; i++) {
		struct formula_entry *entry = &set->entries[set->order[i]];

		entry->printed = selects(context, formula_name(entry->formula));
	}
}

void
formula_set_select_fed(struct formula_set *set, const struct feed_set *feeds)
{
	set->feeds = feeds;
	for (unsigned i = 0; i < set->count; i++) {
		struct formula_entry *entry = &set->entries[set->order[i]];

		entry->feeds = (struct feed_mask){{0}};
		if (feeds != NULL)
			entry->feeds = feed_set_select_formula(feeds, formula_name(entry->formula));
	}
}

void
formula_set_select_written(struct formula_set *set, bool (*selects)(void *context, const char *name), void *context)
{
	set->selects_written = selects;
	set->written_context = context;
	for (unsigned i = 0; i < set->count; i++) {
		struct formula_entry *entry = &set->entries[set->order[i]];

		entry->written = selects != NULL && selects(context, formula_name(entry->formula));
	}
}

void
formula_set_poll(struct formula_set *set)
{
	for (unsigned i = 0; i < set->part_count; i++)
		part_poll(&set->parts[i]);
}

struct formula_place
formula_set_place(const struct formula_set *set, unsigned number)
{
	const struct formula_entry *entry = &set->entries[set->order[number]];

	return (struct formula_place){.formula = entry->formula, .slot = entry->slot, .named = entry->named};
}

struct formula_status
formula_set_status(const struct formula_set *set, unsigned number)
{
	unsigned place = set->order[number];
	const struct formula_entry *entry = &set->entries[place];
	struct formula_status status = {.formula = entry->formula,
					.origin = entry->origin,
					.slot = entry->slot,
					.named = entry->named,
					.printed = entry->printed,
					.traced = entry_tracers(set, entry) != 0,
					.fed = entry_is_fed(entry)};

	for (unsigned i = 0; i < set->part_count; i++) {
		status.seen += set->parts[i].counts[place].seen;
		status.matched += set->parts[i].counts[place].matched;
		status.active |= (set->parts[i].active >> place & 1) != 0;
		status.written |= entry_is_written(&set->parts[i], entry);
	}
	if (entry->threshold != NULL)
		status.dropped = formula_threshold_dropped(entry->threshold);
	if (entry->wait != NULL)
		status.dropped = formula_wait_dropped(entry->wait);
	return status;
}
