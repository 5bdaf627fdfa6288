/* SPDX-License-Identifier: BSD-2-Clause */
/* The capture thread's part of the owner lookup.  It never waits and makes no system call except the wakeup in
 * owner_lookup_wake(), unless it may wait for replies. */
#include "owner/owner_lookup.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/thread.h"
#include "engine/engine.h"
#include "owner/owner_thread.h"

#define LATEST_SETS   (OWNER_QUEUE_SIZE) /* a power of two */
#define LATEST_WAYS   4u
#define WAIT_NS	      20000000u /* longest wait for a reply */
#define WAIT_SHARE    10u	/* waits take one part in so many of the time */
#define WAIT_SAVED_NS (5u * WAIT_NS)
#define OLD_NS	      (30 * NANOSECONDS) /* age at which owner_lookup_prepare() has a reply refreshed */
#define UNACCEPTED_NS (2 * NANOSECONDS)	 /* likewise, of a reply that names the listener */
#define PUBLISH_BATCH 64u /* requests that are published at once; the others wait for owner_lookup_wake() */

/*
 * The latest request for each key, by hash of the key.  When a set is full the oldest entry is overwritten.  That
 * matters only while its request is still in the queue (4 of 1,000 with a full queue): the request may then be
 * repeated, and a reply about an earlier connection may be accepted until the queue is processed.
 */
struct latest_requests {
	_Alignas(32) uint32_t tags[LATEST_WAYS]; /* 0: free */
	uint32_t numbers[LATEST_WAYS];
};

struct owner_lookup {
	struct owner_queue queue;
	struct owner_thread *owner_thread;
	pthread_t thread;
	uint64_t netns;

	/* Used by the capture thread only. */
	_Alignas(64) uint32_t enqueued; /* number of the last request; queue.enqueued lags behind */
	uint32_t dequeued_seen;		/* last value read from queue.dequeued */
	bool wake_for_request, wake_for_refresh;
	bool waiting;	       /* owner_lookup_set_waiting() */
	uint32_t waited[2];    /* numbers of the latest requests that were waited for, by their lowest bit */
	uint64_t wait_left_ns; /* how long it may wait; grows with the time since wait_counted_ns */
	uint64_t wait_counted_ns;
	struct {
		_Atomic uint64_t requests, dropped, torn;
	} counters;
	struct latest_requests latest[LATEST_SETS];
};

struct owner_lookup_limits
owner_lookup_default_limits(void)
{
	return (struct owner_lookup_limits){.endpoints = 32768, .refresh_ms = 100};
}

size_t
owner_lookup_memory(const struct owner_lookup_limits *limits)
{
	uint32_t slots = owner_table_slot_count_for(limits->endpoints);

	return sizeof(struct owner_lookup) + owner_table_memory(limits->endpoints) + owner_thread_memory(slots) +
	       slots / 8;
}

/* The network namespace of this thread, which may differ from the process's. */
static bool
owner_lookup_read_netns(uint64_t *inode)
{
	struct stat status;

	if (stat("/proc/thread-self/ns/net", &status) < 0)
		return false;
	*inode = status.st_ino;
	return true;
}

static bool
owner_lookup_start_thread(struct owner_lookup *lookup)
{
	errno = thread_start(&lookup->thread, THREAD_OWNER, owner_thread_main, lookup->owner_thread);
	return errno == 0;
}

static void
owner_lookup_release(struct owner_lookup *lookup)
{
	owner_thread_free(lookup->owner_thread);
	owner_table_free(lookup->queue.table);
	free(lookup->queue.referenced);
	sem_destroy(&lookup->queue.wakeup);
	sem_destroy(&lookup->queue.replied);
	free(lookup);
}

struct owner_lookup *
owner_lookup_new(const struct owner_lookup_limits *limits, uint64_t seed)
{
	struct owner_lookup *lookup = aligned_alloc(_Alignof(struct owner_lookup), sizeof *lookup);
	uint32_t slots;

	if (lookup == NULL)
		return NULL;
	memset(lookup, 0, sizeof *lookup);
	sem_init(&lookup->queue.wakeup, 0, 0);
	sem_init(&lookup->queue.replied, 0, 0);
	lookup->queue.table = owner_table_new(limits->endpoints, seed);
	if (lookup->queue.table != NULL) {
		slots = owner_table_slot_count(lookup->queue.table);
		lookup->queue.referenced_words = owner_referenced_words(slots);
		lookup->queue.referenced = calloc(lookup->queue.referenced_words, sizeof *lookup->queue.referenced);
	}
	if (lookup->queue.referenced != NULL && owner_lookup_read_netns(&lookup->netns))
		lookup->owner_thread = owner_thread_new(&lookup->queue, limits->refresh_ms);
	if (lookup->owner_thread == NULL || !owner_lookup_start_thread(lookup)) {
		int error = errno;

		owner_lookup_release(lookup);
		errno = error;
		return NULL;
	}
	return lookup;
}

void
owner_lookup_free(struct owner_lookup *lookup)
{
	if (lookup == NULL)
		return;
	atomic_store_explicit(&lookup->queue.stop, true, memory_order_release);
	sem_post(&lookup->queue.wakeup);
	pthread_join(lookup->thread, NULL);
	owner_lookup_release(lookup);
}

static inline uint32_t
owner_lookup_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

/* Finds the number of the latest request for a key; false if no request is stored. */
static inline bool
owner_lookup_find_latest(const struct owner_lookup *lookup, uint64_t hash, uint32_t *number)
{
	const struct latest_requests *set = &lookup->latest[hash % LATEST_SETS];

	for (unsigned way = 0; way < LATEST_WAYS; way++)
		if (set->tags[way] == owner_lookup_tag(hash)) {
			*number = set->numbers[way];
			return true;
		}
	return false;
}

static inline void
owner_lookup_store_latest(struct owner_lookup *lookup, uint64_t hash, uint32_t number)
{
	struct latest_requests *set = &lookup->latest[hash % LATEST_SETS];
	unsigned at = 0;

	for (unsigned way = 0; way < LATEST_WAYS; way++) {
		if (set->tags[way] == owner_lookup_tag(hash) || set->tags[way] == 0) {
			at = way;
			break;
		}
		if (owner_request_before(set->numbers[way], set->numbers[at]))
			at = way;
	}
	set->tags[at] = owner_lookup_tag(hash);
	set->numbers[at] = number;
}

/* Whether `n` more requests fit into the queue. */
static bool
owner_lookup_queue_has_space(struct owner_lookup *lookup, uint32_t n)
{
	if (lookup->enqueued + n - lookup->dequeued_seen > OWNER_QUEUE_SIZE)
		lookup->dequeued_seen = atomic_load_explicit(&lookup->queue.dequeued, memory_order_acquire);
	return lookup->enqueued + n - lookup->dequeued_seen <= OWNER_QUEUE_SIZE;
}

static void
owner_lookup_publish(struct owner_lookup *lookup)
{
	atomic_store_explicit(&lookup->queue.enqueued, lookup->enqueued, memory_order_release);
}

static void
owner_lookup_enqueue(struct owner_lookup *lookup, uint64_t hash, const struct owner_key *key, uint32_t ifindex)
{
	uint32_t number = lookup->enqueued + 1;

	/* A request that is dropped because the queue is full gets the number of the next one that fits, so that no
	 * earlier reply counts as its reply. */
	owner_lookup_store_latest(lookup, hash, number);
	owner_counter_add(&lookup->counters.requests, 1);
	lookup->wake_for_request = true;
	if (!owner_lookup_queue_has_space(lookup, 1)) {
		owner_counter_add(&lookup->counters.dropped, 1);
		return;
	}
	lookup->queue.requests[number % OWNER_QUEUE_SIZE] = (struct owner_request){*key, ifindex};
	lookup->enqueued = number;
	engine_owner_ask(number - lookup->dequeued_seen);
	/* Publishing moves a cache line between processors, so it is done once for many requests. */
	if (number % PUBLISH_BATCH == 0)
		owner_lookup_publish(lookup);
}

void
owner_lookup_request(struct owner_lookup *lookup, const struct owner_key *key, uint32_t ifindex)
{
	if (lookup != NULL)
		owner_lookup_enqueue(lookup, owner_table_hash(lookup->queue.table, key), key, ifindex);
}

/* Whether a request for this key is queued or being processed. */
static bool
owner_lookup_is_pending(const struct owner_lookup *lookup, uint64_t hash)
{
	uint32_t number;

	return owner_lookup_find_latest(lookup, hash, &number) && !owner_request_before(lookup->enqueued, number) &&
	       owner_request_before(atomic_load_explicit(&lookup->queue.completed, memory_order_acquire), number);
}

static void
owner_lookup_mark_referenced(struct owner_lookup *lookup, uint32_t slot)
{
	_Atomic uint64_t *word = &lookup->queue.referenced[slot / OWNER_WORD_BITS];
	uint64_t bit = (uint64_t)1 << slot % OWNER_WORD_BITS;

	if (atomic_load_explicit(word, memory_order_relaxed) & bit)
		return;
	atomic_fetch_or_explicit(word, bit, memory_order_seq_cst);
	lookup->wake_for_refresh = true;
}

static void
owner_lookup_set_unknown(const struct owner_lookup *lookup, struct owner *owner)
{
	*owner = (struct owner){.netns = lookup != NULL ? lookup->netns : 0, .pid = -1, .uid = OWNER_UID_UNKNOWN};
}

/* Reads a reply that is newer than the latest request for its key, and from `since_ns` or later. */
static inline enum owner_read_result
owner_lookup_read_reply(const struct owner_lookup *lookup, uint64_t hash, const struct owner_key *key,
			uint64_t since_ns, struct owner_record *record, uint32_t *slot)
{
	uint32_t as_of, number;
	enum owner_read_result result = owner_table_read(lookup->queue.table, hash, key, record, slot, &as_of);

	if (result != OWNER_READ_OK)
		return result;
	if (record->queried_ns < since_ns ||
	    (owner_lookup_find_latest(lookup, hash, &number) && owner_request_before(as_of, number)))
		return OWNER_READ_ABSENT; /* about an earlier connection */
	return OWNER_READ_OK;
}

/* Enqueues a request if there is neither a reply nor a pending request.  The reply is read again, because it may have
 * arrived just before the check for a pending request. */
static enum owner_read_result
owner_lookup_read_or_request(struct owner_lookup *lookup, uint64_t hash, const struct owner_key *key, uint32_t ifindex,
			     uint64_t since_ns, struct owner_record *record, uint32_t *slot)
{
	enum owner_read_result result;

	if (owner_lookup_is_pending(lookup, hash))
		return OWNER_READ_ABSENT;
	result = owner_lookup_read_reply(lookup, hash, key, since_ns, record, slot);
	/* Half of the queue is reserved for new connections. */
	if (result == OWNER_READ_ABSENT && owner_lookup_queue_has_space(lookup, OWNER_QUEUE_SIZE / 2))
		owner_lookup_enqueue(lookup, hash, key, ifindex);
	return result;
}

void
owner_lookup_set_waiting(struct owner_lookup *lookup, bool waiting)
{
	lookup->waiting = waiting;
	lookup->wait_counted_ns = clock_monotonic_ns();
	lookup->wait_left_ns = WAIT_SAVED_NS;
}

/* Whether to wait for the reply to the latest request for a key: only once, and if waits have not taken too long. */
static bool
owner_lookup_may_wait(struct owner_lookup *lookup, uint64_t hash)
{
	uint64_t now;
	uint32_t number;

	if (!owner_lookup_find_latest(lookup, hash, &number) ||
	    !owner_request_before(lookup->waited[number & 1], number))
		return false;
	lookup->waited[number & 1] = number; /* the ends of a connection have consecutive numbers */
	now = clock_monotonic_ns();
	lookup->wait_left_ns += (now - lookup->wait_counted_ns) / WAIT_SHARE;
	if (lookup->wait_left_ns > WAIT_SAVED_NS)
		lookup->wait_left_ns = WAIT_SAVED_NS;
	lookup->wait_counted_ns = now;
	return lookup->wait_left_ns >= WAIT_NS;
}

/* Waits until the lookup thread has found the process, at most WAIT_NS.  The last reply is in *record. */
static enum owner_read_result
owner_lookup_wait(struct owner_lookup *lookup, uint64_t hash, const struct owner_key *key, uint64_t since_ns,
		  struct owner_record *record, uint32_t *slot)
{
	uint64_t began = clock_monotonic_ns(), end = began + WAIT_NS, now;
	struct timespec until = {.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000)};
	enum owner_read_result result;

	atomic_store_explicit(&lookup->queue.reader_waits, true, memory_order_release);
	owner_lookup_publish(lookup);
	sem_post(&lookup->queue.wakeup);
	do {
		int timed_out = sem_clockwait(&lookup->queue.replied, CLOCK_MONOTONIC, &until);

		result = owner_lookup_read_reply(lookup, hash, key, since_ns, record, slot);
		now = timed_out != 0 && errno == ETIMEDOUT ? end : clock_monotonic_ns();
	} while (now < end && (result != OWNER_READ_OK || !owner_is_final(record->pid, record->flags)));
	atomic_store_explicit(&lookup->queue.reader_waits, false, memory_order_relaxed);
	lookup->wait_left_ns -= now - began < WAIT_NS ? now - began : WAIT_NS;
	lookup->wait_counted_ns = now;
	return result;
}

static void
owner_lookup_copy_owner(const struct owner_lookup *lookup, const struct owner_record *record, struct owner *owner)
{
	*owner = (struct owner){.queried_ns = record->queried_ns,
				.netns = lookup->netns,
				.pid = record->pid,
				.uid = record->uid,
				.flags = record->flags,
				.tcp = record->tcp};
	memcpy(owner->comm, record->comm, sizeof owner->comm);
}

bool
owner_lookup_find(struct owner_lookup *lookup, const struct owner_key *key, uint32_t ifindex, uint64_t since_ns,
		  struct owner *owner)
{
	struct owner_record record;
	enum owner_read_result result;
	uint32_t slot;
	uint64_t hash;

	if (lookup == NULL) {
		owner_lookup_set_unknown(lookup, owner);
		return false;
	}
	hash = owner_table_hash(lookup->queue.table, key);
	result = owner_lookup_read_reply(lookup, hash, key, since_ns, &record, &slot);
	if (result == OWNER_READ_ABSENT)
		result = owner_lookup_read_or_request(lookup, hash, key, ifindex, since_ns, &record, &slot);
	if (lookup->waiting && (result != OWNER_READ_OK || !owner_is_final(record.pid, record.flags)) &&
	    owner_lookup_may_wait(lookup, hash))
		result = owner_lookup_wait(lookup, hash, key, since_ns, &record, &slot);
	if (result != OWNER_READ_OK) {
		owner_counter_add(&lookup->counters.torn, result == OWNER_READ_TORN);
		owner_lookup_set_unknown(lookup, owner);
		return false;
	}
	owner_lookup_mark_referenced(lookup, slot);
	owner_lookup_copy_owner(lookup, &record, owner);
	return true;
}

bool
owner_lookup_peek(struct owner_lookup *lookup, const struct owner_key *key, struct owner *owner)
{
	struct owner_record record;
	uint32_t slot;

	owner_lookup_set_unknown(lookup, owner);
	if (lookup == NULL || owner_lookup_read_reply(lookup, owner_table_hash(lookup->queue.table, key), key, 0,
						      &record, &slot) != OWNER_READ_OK)
		return false;
	owner_lookup_copy_owner(lookup, &record, owner);
	return true;
}

void
owner_lookup_refresh(struct owner_lookup *lookup, const struct owner_key *key, uint64_t since_ns)
{
	struct owner_record record;
	uint32_t slot;
	uint64_t hash;

	if (lookup == NULL)
		return;
	hash = owner_table_hash(lookup->queue.table, key);
	if (owner_lookup_read_reply(lookup, hash, key, since_ns, &record, &slot) == OWNER_READ_OK)
		owner_lookup_mark_referenced(lookup, slot);
	else if (!owner_lookup_is_pending(lookup, hash))
		owner_lookup_enqueue(lookup, hash, key, 0);
	owner_lookup_wake(lookup);
}

/* A reply from the future is old, too, if the clock was set back. */
static bool
owner_lookup_is_old(const struct owner_record *record, uint64_t now_ns)
{
	uint64_t age = now_ns > record->queried_ns ? now_ns - record->queried_ns : record->queried_ns - now_ns;

	return age > ((record->flags & OWNER_LISTENER) != 0 ? UNACCEPTED_NS : OLD_NS);
}

enum owner_prepared
owner_lookup_prepare(struct owner_lookup *lookup, const struct owner_key *key, uint64_t since_ns, uint64_t now_ns)
{
	struct owner_record record;
	uint32_t slot;
	uint64_t hash;

	if (lookup == NULL)
		return OWNER_PREPARED;
	hash = owner_table_hash(lookup->queue.table, key);
	if (owner_lookup_read_reply(lookup, hash, key, since_ns, &record, &slot) == OWNER_READ_OK) {
		if (owner_lookup_is_old(&record, now_ns))
			owner_lookup_mark_referenced(lookup, slot);
		return OWNER_PREPARED;
	}
	if (owner_lookup_is_pending(lookup, hash))
		return OWNER_PREPARE_PENDING;
	if (!owner_lookup_queue_has_space(lookup, OWNER_QUEUE_SIZE / 2))
		return OWNER_PREPARE_LATER;
	owner_lookup_enqueue(lookup, hash, key, 0);
	return OWNER_PREPARE_PENDING;
}

bool
owner_lookup_is_searching(struct owner_lookup *lookup, const struct owner_key *key, uint64_t asked_ns)
{
	struct owner_record record;
	uint32_t slot;
	uint64_t hash;

	if (lookup == NULL)
		return false;
	hash = owner_table_hash(lookup->queue.table, key);
	if (owner_lookup_is_pending(lookup, hash))
		return true;
	return owner_lookup_read_reply(lookup, hash, key, asked_ns, &record, &slot) == OWNER_READ_OK &&
	       record.uid != OWNER_UID_UNKNOWN && !owner_is_final(record.pid, record.flags) &&
	       (record.flags & OWNER_NOT_FOUND) == 0;
}

void
owner_lookup_wake(struct owner_lookup *lookup)
{
	if (lookup == NULL || !(lookup->wake_for_request | lookup->wake_for_refresh))
		return;
	if (lookup->wake_for_request)
		owner_lookup_publish(lookup);
	if (lookup->wake_for_request || atomic_load_explicit(&lookup->queue.wake_on_reference, memory_order_seq_cst))
		sem_post(&lookup->queue.wakeup);
	lookup->wake_for_request = lookup->wake_for_refresh = false;
}

int64_t
owner_lookup_netns_inode(const struct owner_lookup *lookup)
{
	return lookup != NULL ? (int64_t)lookup->netns : -1;
}

struct owner_lookup_counters
owner_lookup_get_counters(const struct owner_lookup *lookup)
{
	const struct owner_thread *thread;

	if (lookup == NULL)
		return (struct owner_lookup_counters){0};
	thread = lookup->owner_thread;
	return (struct owner_lookup_counters){
	    .requests = lookup->counters.requests,
	    .dropped = lookup->counters.dropped,
	    .torn_reads = lookup->counters.torn,
	    .replies = thread->counters.replies,
	    .no_socket = thread->counters.no_socket,
	    .no_process = thread->counters.no_process,
	    .processes = thread->counters.processes,
	    .unaccepted = thread->counters.unaccepted,
	    .refreshed = thread->counters.refreshed,
	    .refresh_late = thread->counters.refresh_late,
	    .evicted = thread->counters.evicted,
	    .scans = thread->counters.scans,
	    .scan_links = thread->counters.scan_links,
	    .dumps = thread->counters.dumps,
	    .errors = thread->counters.errors,
	    .unreadable = thread->counters.unreadable,
	};
}
