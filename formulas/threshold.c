/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/threshold.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formulas/code.h"

#define NO_KEY UINT32_MAX

/* The values of the fields, and their firings within the duration. */
struct threshold_key {
	uint64_t hash;
	uint32_t next;		/* in the bucket */
	uint32_t newer, older; /* by the last count */
	unsigned first, count;	/* in the ring of time stamps */
};

struct formula_threshold {
	pthread_mutex_t lock;
	const struct formula *formula;
	uint64_t seed; /* so that traffic cannot be made to fill one bucket */
	size_t value_size; /* bytes of the values of a key */
	uint32_t key_count, used, bucket_count;
	uint32_t newest, oldest;
	uint64_t dropped;
	struct threshold_key *keys;
	uint8_t *values; /* of each key */
	uint64_t *stamps; /* `times` of each key */
	uint32_t *buckets;
};

/* Bytes of all values; the size of a field is the same in all probes. */
static size_t
threshold_value_size(const struct formula *formula)
{
	size_t size = 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (formula->probes[i]) {
			for (unsigned j = 0; j < formula->by_count; j++)
				size += formula->programs[i]->by[j].size;
			break;
		}
	return size;
}

static uint32_t
threshold_key_count(const struct formula *formula)
{
	unsigned count = THRESHOLD_STAMPS_MAX / formula->times;

	if (formula->by_count == 0)
		return 1;
	return count < THRESHOLD_KEYS_MAX ? count : THRESHOLD_KEYS_MAX;
}

struct formula_threshold *
formula_threshold_new(const struct formula *formula)
{
	struct formula_threshold *t = calloc(1, sizeof *t);

	if (t == NULL)
		return NULL;
	t->formula = formula;
	t->value_size = threshold_value_size(formula);
	t->key_count = threshold_key_count(formula);
	t->bucket_count = 2 * t->key_count;
	t->newest = t->oldest = NO_KEY;
	if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != (ssize_t)sizeof t->seed)
		t->seed = (uint64_t)(uintptr_t)t;
	t->keys = calloc(t->key_count, sizeof *t->keys);
	t->values = calloc(t->key_count, t->value_size + 1);
	t->stamps = calloc((size_t)t->key_count * formula->times, sizeof *t->stamps);
	t->buckets = malloc(t->bucket_count * sizeof *t->buckets);
	pthread_mutex_init(&t->lock, NULL);
	if (t->keys == NULL || t->values == NULL || t->stamps == NULL || t->buckets == NULL) {
		formula_threshold_free(t);
		return NULL;
	}
	for (uint32_t i = 0; i < t->bucket_count; i++)
		t->buckets[i] = NO_KEY;
	return t;
}

void
formula_threshold_free(struct formula_threshold *t)
{
	if (t == NULL)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t->keys);
	free(t->values);
	free(t->stamps);
	free(t->buckets);
	free(t);
}

/* ----------------------------------------------------------------------------------------------------------- values */

/* Copies the values of the fields, text with zeros after its end; returns false if one is absent. */
static bool
threshold_read_values(const struct formula *formula, struct firing *firing, uint8_t *values)
{
	const struct program *program = formula->programs[firing->probe];

	for (unsigned i = 0; i < formula->by_count; i++) {
		const struct field_place *place = &program->by[i];
		const uint8_t *argument = firing_argument(firing, place->position);
		size_t length;

		if (argument == NULL)
			return false;
		argument += place->offset;
		length = place->is_text ? strnlen((const char *)argument, place->size) : place->size;
		memcpy(values, argument, length);
		memset(values + length, 0, place->size - length);
		values += place->size;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------- keys */

static void
threshold_unlink(struct formula_threshold *t, uint32_t key)
{
	struct threshold_key *k = &t->keys[key];

	if (k->newer == NO_KEY)
		t->newest = k->older;
	else
		t->keys[k->newer].older = k->older;
	if (k->older == NO_KEY)
		t->oldest = k->newer;
	else
		t->keys[k->older].newer = k->newer;
}

static void
threshold_link_newest(struct formula_threshold *t, uint32_t key)
{
	struct threshold_key *k = &t->keys[key];

	k->newer = NO_KEY;
	k->older = t->newest;
	if (t->newest == NO_KEY)
		t->oldest = key;
	else
		t->keys[t->newest].newer = key;
	t->newest = key;
}

/* A key to use: a new one, or the one that was counted longest ago, which leaves its bucket. */
static uint32_t
threshold_take_key(struct formula_threshold *t)
{
	uint32_t key = t->oldest, *at;

	if (t->used < t->key_count)
		return t->used++;
	t->dropped++;
	at = &t->buckets[t->keys[key].hash % t->bucket_count];
	while (*at != key)
		at = &t->keys[*at].next;
	*at = t->keys[key].next;
	threshold_unlink(t, key);
	return key;
}

/* The key of these values, made if there is none; it becomes the newest. */
static uint32_t
threshold_find_key(struct formula_threshold *t, const uint8_t *values)
{
	uint64_t hash = XXH3_64bits_withSeed(values, t->value_size, t->seed);
	uint32_t *bucket = &t->buckets[hash % t->bucket_count], key;

	for (key = *bucket; key != NO_KEY; key = t->keys[key].next)
		if (t->keys[key].hash == hash &&
		    memcmp(&t->values[key * t->value_size], values, t->value_size) == 0) {
			threshold_unlink(t, key);
			threshold_link_newest(t, key);
			return key;
		}
	key = threshold_take_key(t);
	t->keys[key] = (struct threshold_key){.hash = hash, .next = *bucket};
	*bucket = key;
	memcpy(&t->values[key * t->value_size], values, t->value_size);
	threshold_link_newest(t, key);
	return key;
}

/* --------------------------------------------------------------------------------------------------------- counting */

static uint64_t
threshold_time_between(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Adds a time stamp, after those that are not within the duration have left.  Time may go back: a clock that was set,
 * or a frame with a wrong time stamp. */
static bool
threshold_count_key(struct formula_threshold *t, uint32_t key, uint64_t now)
{
	struct threshold_key *k = &t->keys[key];
	unsigned times = t->formula->times;
	uint64_t *stamps = &t->stamps[(size_t)key * times], duration = t->formula->duration_ns;

	if (k->count > 0 && threshold_time_between(stamps[(k->first + k->count - 1) % times], now) > duration)
		k->count = 0;
	while (k->count > 0 && threshold_time_between(stamps[k->first], now) > duration) {
		k->first = (k->first + 1) % times;
		k->count--;
	}
	stamps[(k->first + k->count) % times] = now;
	if (++k->count < times)
		return false;
	k->count = 0;
	return true;
}

bool
formula_threshold_count(struct formula_threshold *t, struct firing *firing)
{
	uint8_t values[THRESHOLD_VALUE_MAX];
	bool reached;

	if (!threshold_read_values(t->formula, firing, values))
		return false;
	pthread_mutex_lock(&t->lock);
	reached = threshold_count_key(t, threshold_find_key(t, values), firing->ts);
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
	unsigned longest = 0;

	for (uint32_t bucket = 0; bucket < t->bucket_count; bucket++) {
		unsigned length = 0;

		for (uint32_t key = t->buckets[bucket]; key != NO_KEY; key = t->keys[key].next)
			length++;
		longest = length > longest ? length : longest;
	}
	return longest;
}
