/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/wait.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/code.h"
#include "formulas/field_values.h"
#include "formulas/value_table.h"

struct formula_wait {
	pthread_mutex_t lock;
	const struct formula *formula;
	unsigned parts;
	size_t saved_size; /* bytes of the arguments of a firing */
	uint64_t dropped;
	struct value_table table; /* two lists for each part: waits_under_way(), waits_reached() */
	uint64_t *due;		  /* of each entry, packet time */
	struct saved_firing *saved;
	char *arguments; /* saved_size for each entry */
};

/* The list of waits that have not ended. */
static uint32_t
waits_under_way(unsigned part)
{
	return 2 * part;
}

/* The list of values for which "for" was true: they wait for a firing that is false. */
static uint32_t
waits_reached(unsigned part)
{
	return 2 * part + 1;
}

struct formula_wait *
formula_wait_new(const struct formula *formula, unsigned parts)
{
	struct formula_wait *w = calloc(1, sizeof *w);
	bool good;

	if (w == NULL)
		return NULL;
	w->formula = formula;
	w->parts = parts;
	pthread_mutex_init(&w->lock, NULL);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (formula->probes[i] && saved_firing_size((enum probe_id)i) > w->saved_size)
			w->saved_size = saved_firing_size((enum probe_id)i);
	good = value_table_open(&w->table, WAITS_MAX, formula->by.size, 2 * parts);
	w->due = calloc(WAITS_MAX, sizeof *w->due);
	w->saved = calloc(WAITS_MAX, sizeof *w->saved);
	w->arguments = calloc(WAITS_MAX, w->saved_size);
	if (good && w->due != NULL && w->saved != NULL && w->arguments != NULL)
		return w;
	formula_wait_free(w);
	return NULL;
}

void
formula_wait_free(struct formula_wait *w)
{
	if (w == NULL)
		return;
	pthread_mutex_destroy(&w->lock);
	value_table_close(&w->table);
	free(w->due);
	free(w->saved);
	free(w->arguments);
	free(w);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Values that wait for nothing but a false firing are dropped first. */
static void
wait_drop_oldest(struct formula_wait *w, unsigned part)
{
	for (unsigned i = 0; i < w->parts; i++) {
		unsigned at = (part + i) % w->parts;
		uint32_t list = w->table.lists[waits_reached(at)].count > 0 ? waits_reached(at) : waits_under_way(at);

		if (w->table.lists[list].count > 0) {
			value_table_remove(&w->table, w->table.lists[list].oldest);
			w->dropped++;
			return;
		}
	}
}

static void
wait_begin(struct formula_wait *w, unsigned part, struct firing *firing, const uint8_t *values, uint64_t hash)
{
	uint64_t due;
	uint32_t entry;

	/* What comes at the last moment has come within the duration. */
	if (__builtin_add_overflow(firing->ts, w->formula->duration_ns + (w->formula->wait == WAIT_ABSENT), &due))
		return;
	if (value_table_is_full(&w->table))
		wait_drop_oldest(w, part);
	entry = value_table_add(&w->table, values, hash, waits_under_way(part));
	w->due[entry] = due;
	saved_firing_set(&w->saved[entry], firing, w->arguments + entry * w->saved_size);
}

/* Whether a formula has the probe of a firing and is true for it; its values of the fields after "by". */
static bool
wait_matches(const struct formula *formula, struct firing *firing, uint8_t *values)
{
	return formula->probes[firing->probe] && formula_is_true(formula, firing) &&
	       field_values_read(firing, formula->programs[firing->probe]->by, formula->by.count, values);
}

/* Ends the wait of these values, if there is one. */
static void
wait_end(struct formula_wait *w, const uint8_t *values)
{
	uint32_t entry = value_table_find(&w->table, values, value_table_hash(&w->table, values));

	if (entry != NO_ENTRY)
		value_table_remove(&w->table, entry);
}

void
formula_wait_read(struct formula_wait *w, unsigned part, struct firing *firing)
{
	const struct formula *formula = w->formula;
	const bool held = formula->wait == WAIT_HELD;
	uint8_t values[FIELD_VALUES_MAX], until[FIELD_VALUES_MAX];
	bool begins = wait_matches(formula, firing, values), ends;
	uint64_t hash;

	if (held)
		ends = !begins && field_values_read(firing, formula->programs[firing->probe]->by, formula->by.count,
						    until);
	else
		ends = wait_matches(formula->until, firing, until);
	if (!begins && !ends)
		return;
	pthread_mutex_lock(&w->lock);
	if (ends)
		wait_end(w, until);
	if (begins) {
		hash = value_table_hash(&w->table, values);
		if (value_table_find(&w->table, values, hash) == NO_ENTRY)
			wait_begin(w, part, firing, values, hash);
	}
	pthread_mutex_unlock(&w->lock);
}

bool
formula_wait_rejects(struct formula_wait *w, struct firing *firing)
{
	const struct formula *formula = w->formula;
	bool empty = true;

	if (formula->probes[firing->probe] && formula_is_true(formula, firing))
		return false;
	if (formula->until != NULL &&
	    (!formula->until->probes[firing->probe] || !formula_is_true(formula->until, firing)))
		return true;
	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < 2 * w->parts; i++)
		empty = empty && w->table.lists[i].count == 0;
	pthread_mutex_unlock(&w->lock);
	return empty;
}

/* ----------------------------------------------------------------------------------------------------------- ending */

uint64_t
formula_wait_due(struct formula_wait *w, unsigned part)
{
	const struct value_list *list = &w->table.lists[waits_under_way(part)];
	uint64_t due;

	pthread_mutex_lock(&w->lock);
	due = list->count > 0 ? w->due[list->oldest] : WAIT_NEVER;
	pthread_mutex_unlock(&w->lock);
	return due;
}

bool
formula_wait_take(struct formula_wait *w, unsigned part, uint64_t now, struct formula_waited *waited)
{
	const struct value_list *list = &w->table.lists[waits_under_way(part)];
	uint32_t entry;
	bool ended;

	pthread_mutex_lock(&w->lock);
	entry = list->oldest;
	ended = entry != NO_ENTRY && w->due[entry] <= now;
	if (ended) {
		memcpy(waited->arguments, w->arguments + entry * w->saved_size, w->saved_size);
		saved_firing_get(&w->saved[entry], waited->arguments, w->saved[entry].ts + w->formula->duration_ns,
				 &waited->firing);
		waited->cid = w->saved[entry].cid;
		if (w->formula->wait == WAIT_HELD)
			value_table_move(&w->table, entry, waits_reached(part));
		else
			value_table_remove(&w->table, entry);
	}
	pthread_mutex_unlock(&w->lock);
	return ended;
}

void
formula_wait_clear(struct formula_wait *w, unsigned part)
{
	pthread_mutex_lock(&w->lock);
	for (uint32_t list = waits_under_way(part); list <= waits_reached(part); list++)
		while (w->table.lists[list].count > 0)
			value_table_remove(&w->table, w->table.lists[list].oldest);
	pthread_mutex_unlock(&w->lock);
}

uint64_t
formula_wait_dropped(struct formula_wait *w)
{
	uint64_t dropped;

	pthread_mutex_lock(&w->lock);
	dropped = w->dropped;
	pthread_mutex_unlock(&w->lock);
	return dropped;
}
