/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/threshold.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/code.h"
#include "formulas/field_values.h"
#include "formulas/value_table.h"

/* Of a key: its firings within the duration. */
struct threshold_ring {
	unsigned first, count; /* of its time stamps */
};

struct formula_threshold {
	pthread_mutex_t lock;
	const struct formula *formula;
	uint64_t dropped;
	struct value_table keys;      /* values of the fields after "by" */
	struct threshold_ring *rings; /* of each key */
	struct value_table distinct;  /* number of the key and values; a list for each key, by their last firing */
	uint64_t *stamps;	      /* `times` of each key; with "distinct" of each of its entries */
};

static bool
threshold_is_distinct(const struct formula *formula)
{
	return formula->distinct.count > 0;
}

static uint32_t
threshold_key_count(const struct formula *formula)
{
	size_t count = THRESHOLD_STAMPS_MAX / formula->times;
	size_t room = THRESHOLD_DISTINCT_BYTES_MAX / (formula->times * (formula->distinct.size + sizeof(uint32_t)));

	if (formula->by.count == 0)
		return 1;
	if (threshold_is_distinct(formula) && room < count)
		count = room;
	return count < THRESHOLD_KEYS_MAX ? (uint32_t)count : THRESHOLD_KEYS_MAX;
}

struct formula_threshold *
formula_threshold_new(const struct formula *formula)
{
	struct formula_threshold *t = calloc(1, sizeof *t);
	uint32_t keys = threshold_key_count(formula), stamps = keys * formula->times;
	bool good;

	if (t == NULL)
		return NULL;
	t->formula = formula;
	pthread_mutex_init(&t->lock, NULL);
	good = value_table_open(&t->keys, keys, formula->by.size, 1);
	if (threshold_is_distinct(formula))
		good = value_table_open(&t->distinct, stamps, formula->distinct.size + sizeof(uint32_t), keys) && good;
	t->rings = calloc(keys, sizeof *t->rings);
	t->stamps = calloc(stamps, sizeof *t->stamps);
	if (good && t->rings != NULL && t->stamps != NULL)
		return t;
	formula_threshold_free(t);
	return NULL;
}

void
formula_threshold_free(struct formula_threshold *t)
{
	if (t == NULL)
		return;
	pthread_mutex_destroy(&t->lock);
	value_table_close(&t->keys);
	value_table_close(&t->distinct);
	free(t->rings);
	free(t->stamps);
	free(t);
}

static uint64_t
threshold_time_between(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* ------------------------------------------------------------------------------------------------------------ times */

/* Adds a time stamp, after those that are not within the duration have left.  Time may go back: a clock that was set,
 * or a frame with a wrong time stamp. */
static bool
threshold_count_times(struct formula_threshold *t, uint32_t key, uint64_t now)
{
	struct threshold_ring *ring = &t->rings[key];
	unsigned times = t->formula->times;
	uint64_t *stamps = &t->stamps[(size_t)key * times], duration = t->formula->duration_ns;

	if (ring->count > 0 && threshold_time_between(stamps[(ring->first + ring->count - 1) % times], now) > duration)
		ring->count = 0;
	while (ring->count > 0 && threshold_time_between(stamps[ring->first], now) > duration) {
		ring->first = (ring->first + 1) % times;
		ring->count--;
	}
	stamps[(ring->first + ring->count) % times] = now;
	if (++ring->count < times)
		return false;
	ring->count = 0;
	return true;
}

/* -------------------------------------------------------------------------------------------------- distinct values */

static void
threshold_remove_distinct(struct formula_threshold *t, uint32_t key)
{
	while (t->distinct.lists[key].count > 0)
		value_table_remove(&t->distinct, t->distinct.lists[key].oldest);
}

/* Like threshold_count_times(), with the last time stamp of each value. */
static bool
threshold_count_distinct(struct formula_threshold *t, uint32_t key, const uint8_t *values, uint64_t now)
{
	const struct value_list *list = &t->distinct.lists[key];
	uint64_t duration = t->formula->duration_ns, hash = value_table_hash(&t->distinct, values);
	uint32_t entry;

	if (list->count > 0 && threshold_time_between(t->stamps[list->newest], now) > duration)
		threshold_remove_distinct(t, key);
	while (list->count > 0 && threshold_time_between(t->stamps[list->oldest], now) > duration)
		value_table_remove(&t->distinct, list->oldest);
	entry = value_table_find(&t->distinct, values, hash);
	if (entry != NO_ENTRY) {
		value_table_move(&t->distinct, entry, key);
	} else if (list->count + 1 == t->formula->times) {
		threshold_remove_distinct(t, key);
		return true;
	} else {
		entry = value_table_add(&t->distinct, values, hash, key);
	}
	t->stamps[entry] = now;
	return false;
}

/* --------------------------------------------------------------------------------------------------------- counting */

/* The key of these values, made if there is none; it becomes the newest. */
static uint32_t
threshold_find_key(struct formula_threshold *t, const uint8_t *values)
{
	uint64_t hash = value_table_hash(&t->keys, values);
	uint32_t key = value_table_find(&t->keys, values, hash);

	if (key != NO_ENTRY) {
		value_table_move(&t->keys, key, 0);
		return key;
	}
	if (value_table_is_full(&t->keys)) {
		t->dropped++;
		key = t->keys.lists[0].oldest;
		if (threshold_is_distinct(t->formula))
			threshold_remove_distinct(t, key);
		value_table_remove(&t->keys, key);
	}
	key = value_table_add(&t->keys, values, hash, 0);
	t->rings[key] = (struct threshold_ring){0, 0};
	return key;
}

bool
formula_threshold_count(struct formula_threshold *t, struct firing *firing)
{
	const struct formula *formula = t->formula;
	const struct program *program = formula->programs[firing->probe];
	uint8_t values[FIELD_VALUES_MAX], distinct[sizeof(uint32_t) + FIELD_VALUES_MAX];
	uint32_t key;
	bool reached;

	if (!field_values_read(firing, program->by, formula->by.count, values) ||
	    !field_values_read(firing, program->distinct, formula->distinct.count, distinct + sizeof key))
		return false;
	pthread_mutex_lock(&t->lock);
	key = threshold_find_key(t, values);
	memcpy(distinct, &key, sizeof key);
	reached = threshold_is_distinct(formula) ? threshold_count_distinct(t, key, distinct, firing->ts) :
						   threshold_count_times(t, key, firing->ts);
	pthread_mutex_unlock(&t->lock);
	return reached;
}

uint64_t
formula_threshold_dropped(struct formula_threshold *t)
{
	uint64_t dropped;

	pthread_mutex_lock(&t->lock);
	dropped = t->dropped;
	pthread_mutex_unlock(&t->lock);
	return dropped;
}

unsigned
formula_threshold_longest_chain(const struct formula_threshold *t)
{
	unsigned keys = value_table_longest_chain(&t->keys);
	unsigned distinct = t->distinct.capacity > 0 ? value_table_longest_chain(&t->distinct) : 0;

	return keys > distinct ? keys : distinct;
}
