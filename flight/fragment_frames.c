/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/fragment_frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "flow/memory.h"

#define FRAGMENT_BUCKETS 4096u

/* Timeouts of an incomplete datagram, as in flow/reassembly, which starts them with the first fragment, ns. */
#define FRAGMENT_IPV4_TIMEOUT (UINT64_C(30) * 1000000000)
#define FRAGMENT_IPV6_TIMEOUT (UINT64_C(60) * 1000000000)

/* A fragment has the number of its entry as name, which only grows; 0 is not a name.  An entry is overwritten by the
 * one that is FRAGMENT_FRAMES later: a name that is older than that is invalid. */
struct fragment_entry {
	struct fragment_key key;
	uint64_t frame;
	uint64_t began; /* packet time of the first fragment of the datagram */
	uint64_t next;	/* name of an older fragment with the same bucket */
};

struct fragment_frames {
	uint64_t seed;
	uint64_t last;			    /* name of the latest fragment */
	uint64_t buckets[FRAGMENT_BUCKETS]; /* name of the latest fragment of each bucket */
	struct fragment_entry entries[FRAGMENT_FRAMES];
};

struct fragment_frames *
fragment_frames_new(uint64_t seed)
{
	struct fragment_frames *f = memory_reserve(sizeof *f);

	if (f != NULL)
		f->seed = seed;
	return f;
}

void
fragment_frames_free(struct fragment_frames *f)
{
	memory_release(f, sizeof *f);
}

size_t
fragment_frames_memory_size(void)
{
	return sizeof(struct fragment_frames);
}

void
fragment_key_set(struct fragment_key *key, const struct packet *fragment)
{
	const struct ip_layer *ip = &fragment->ip;

	*key = (struct fragment_key){.id = ip->fragment_id, .version = ip->version};
	if (ip->version == 4)
		key->protocol = ip->protocol;
	memcpy(key->src, ip->src, sizeof key->src);
	memcpy(key->dst, ip->dst, sizeof key->dst);
}

static uint64_t *
fragment_bucket(struct fragment_frames *f, const struct fragment_key *key)
{
	return &f->buckets[XXH3_64bits_withSeed(key, sizeof *key, f->seed) % FRAGMENT_BUCKETS];
}

/* NULL if the name is invalid. */
static struct fragment_entry *
fragment_entry_of(struct fragment_frames *f, uint64_t name)
{
	return name != 0 && f->last - name < FRAGMENT_FRAMES ? &f->entries[name % FRAGMENT_FRAMES] : NULL;
}

/* Whether a datagram that began then has timed out. */
static bool
fragment_is_late(const struct fragment_key *key, uint64_t began, uint64_t now)
{
	return now > began && now - began >= (key->version == 4 ? FRAGMENT_IPV4_TIMEOUT : FRAGMENT_IPV6_TIMEOUT);
}

/* The latest fragment with this key after `name`; NULL if there is none. */
static struct fragment_entry *
fragment_find(struct fragment_frames *f, const struct fragment_key *key, uint64_t name)
{
	struct fragment_entry *entry;

	while ((entry = fragment_entry_of(f, name)) != NULL && memcmp(&entry->key, key, sizeof *key) != 0)
		name = entry->next;
	return entry;
}

void
fragment_frames_add(struct fragment_frames *f, const struct fragment_key *key, uint64_t frame, uint64_t now)
{
	uint64_t *bucket = fragment_bucket(f, key);
	const struct fragment_entry *latest = fragment_find(f, key, *bucket);
	uint64_t began = latest != NULL && !fragment_is_late(key, latest->began, now) ? latest->began : now;
	uint64_t name = ++f->last;

	f->entries[name % FRAGMENT_FRAMES] = (struct fragment_entry){*key, frame, began, *bucket};
	*bucket = name;
}

unsigned
fragment_frames_take(struct fragment_frames *f, const struct fragment_key *key, uint64_t now, uint64_t *frames,
		     unsigned size)
{
	uint64_t *link = fragment_bucket(f, key);
	const struct fragment_entry *latest = fragment_find(f, key, *link);
	uint64_t began = latest != NULL ? latest->began : 0;
	bool late = latest != NULL && fragment_is_late(key, began, now);
	struct fragment_entry *entry;
	unsigned count = 0;

	while ((entry = fragment_entry_of(f, *link)) != NULL) {
		if (memcmp(&entry->key, key, sizeof *key) != 0) {
			link = &entry->next;
			continue;
		}
		if (count < size && !late && entry->began == began)
			frames[count++] = entry->frame;
		*link = entry->next;
	}
	*link = 0;
	return count;
}
