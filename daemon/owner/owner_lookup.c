/* SPDX-License-Identifier: BSD-2-Clause */
/* The capture thread's side of the owner look-up.  It never waits and makes no system call except the wakeup in
 * owners_wake(). */
#include "daemon/owner/owner_lookup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/owner/owner_queue.h"
#include "daemon/owner/owner_thread.h"

#define LATEST_SETS (OWNER_QUESTIONS) /* a power of two */
#define LATEST_WAYS 4u
#define WORD_BITS 64u
#define HAND_OVER 64u /* most questions held back until owners_wake() */

/*
 * The latest question about each key, by hash of the key.  When a set is full the oldest entry is overwritten.  That
 * matters only while its question is still in the queue (4 of 1,000 with a full queue): the question may then be asked
 * twice, and an answer about an earlier connection may be accepted until the queue is processed.
 */
struct latest {
	_Alignas(32) uint32_t tags[LATEST_WAYS]; /* 0: free */
	uint32_t numbers[LATEST_WAYS];
};

struct owners {
	struct owner_mailbox box;
	struct owner_worker *worker;
	pthread_t thread;
	uint64_t zone;

	/* Used by the capture thread only. */
	_Alignas(64) uint32_t put; /* number of the last question; box.put lags behind */
	uint32_t taken;		   /* last value read from box.taken */
	bool ring_asked, ring_wanted;
	struct {
		_Atomic uint64_t asked, dropped, torn;
	} counters;
	struct latest latest[LATEST_SETS];
};

struct owners_limits
owners_limits_default(void)
{
	return (struct owners_limits){.connections = 32768, .refresh_ms = 100};
}

size_t
owners_memory(const struct owners_limits *limits)
{
	uint32_t slots = owner_table_slots_for(limits->connections);

	return sizeof(struct owners) + owner_table_memory(limits->connections) + owner_worker_memory(slots) + slots / 8;
}

/* The network namespace of this thread, which may differ from the process's. */
static bool
find_zone(uint64_t *zone)
{
	struct stat status;

	if (stat("/proc/thread-self/ns/net", &status) < 0)
		return false;
	*zone = status.st_ino;
	return true;
}

static bool
start_thread(struct owners *owners)
{
	sigset_t all, before;
	int error;

	/* Signals are handled by the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&owners->thread, NULL, owner_worker_run, owners->worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return error == 0;
}

static void
free_memory(struct owners *owners)
{
	owner_worker_free(owners->worker);
	owner_table_free(owners->box.table);
	free(owners->box.wanted);
	sem_destroy(&owners->box.bell);
	free(owners);
}

struct owners *
owners_new(const struct owners_limits *limits, uint64_t seed)
{
	struct owners *owners = aligned_alloc(_Alignof(struct owners), sizeof *owners);
	uint32_t slots;

	if (owners == NULL)
		return NULL;
	memset(owners, 0, sizeof *owners);
	sem_init(&owners->box.bell, 0, 0);
	owners->box.table = owner_table_new(limits->connections, seed);
	if (owners->box.table != NULL) {
		slots = owner_table_slots(owners->box.table);
		owners->box.wanted_words = slots / WORD_BITS;
		owners->box.wanted = calloc(owners->box.wanted_words, sizeof *owners->box.wanted);
	}
	if (owners->box.wanted != NULL && find_zone(&owners->zone))
		owners->worker = owner_worker_new(&owners->box, limits);
	if (owners->worker == NULL || !start_thread(owners)) {
		int error = errno;

		free_memory(owners);
		errno = error;
		return NULL;
	}
	return owners;
}

void
owners_free(struct owners *owners)
{
	if (owners == NULL)
		return;
	atomic_store_explicit(&owners->box.stop, true, memory_order_release);
	sem_post(&owners->box.bell);
	pthread_join(owners->thread, NULL);
	free_memory(owners);
}

static inline uint32_t
tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

/* Finds the number of the latest question about a key; false if none is remembered. */
static inline bool
latest_question(const struct owners *owners, uint64_t hash, uint32_t *number)
{
	const struct latest *set = &owners->latest[hash % LATEST_SETS];

	for (unsigned way = 0; way < LATEST_WAYS; way++)
		if (set->tags[way] == tag_of(hash)) {
			*number = set->numbers[way];
			return true;
		}
	return false;
}

static inline void
remember_question(struct owners *owners, uint64_t hash, uint32_t number)
{
	struct latest *set = &owners->latest[hash % LATEST_SETS];
	unsigned at = 0;

	for (unsigned way = 0; way < LATEST_WAYS; way++) {
		if (set->tags[way] == tag_of(hash) || set->tags[way] == 0) {
			at = way;
			break;
		}
		if (question_before(set->numbers[way], set->numbers[at]))
			at = way;
	}
	set->tags[at] = tag_of(hash);
	set->numbers[at] = number;
}

/* Whether `n` more questions fit into the queue. */
static bool
has_room(struct owners *owners, uint32_t n)
{
	if (owners->put + n - owners->taken > OWNER_QUESTIONS)
		owners->taken = atomic_load_explicit(&owners->box.taken, memory_order_acquire);
	return owners->put + n - owners->taken <= OWNER_QUESTIONS;
}

static void
hand_over(struct owners *owners)
{
	atomic_store_explicit(&owners->box.put, owners->put, memory_order_release);
}

static void
put(struct owners *owners, uint64_t hash, const struct owner_key *key, uint32_t ifindex)
{
	uint32_t number = owners->put + 1;

	/* A question dropped for lack of room gets the number of the next one that fits, so that no earlier answer
	 * counts as its answer. */
	remember_question(owners, hash, number);
	count(&owners->counters.asked, 1);
	owners->ring_asked = true;
	if (!has_room(owners, 1)) {
		count(&owners->counters.dropped, 1);
		return;
	}
	owners->box.questions[number % OWNER_QUESTIONS] = (struct owner_question){*key, ifindex};
	owners->put = number;
	/* Publishing moves a cache line between processors, so it is done once for many questions. */
	if (number % HAND_OVER == 0)
		hand_over(owners);
}

void
owners_ask(struct owners *owners, const struct owner_key *key, uint32_t ifindex)
{
	if (owners != NULL)
		put(owners, owner_table_hash(owners->box.table, key), key, ifindex);
}

/* Whether a question about this key is queued or being processed. */
static bool
is_pending(const struct owners *owners, uint64_t hash)
{
	uint32_t number;

	return latest_question(owners, hash, &number) && !question_before(owners->put, number) &&
	       question_before(atomic_load_explicit(&owners->box.done, memory_order_acquire), number);
}

static void
want(struct owners *owners, uint32_t slot)
{
	_Atomic uint64_t *word = &owners->box.wanted[slot / WORD_BITS];
	uint64_t bit = (uint64_t)1 << slot % WORD_BITS;

	if (atomic_load_explicit(word, memory_order_relaxed) & bit)
		return;
	atomic_fetch_or_explicit(word, bit, memory_order_seq_cst);
	owners->ring_wanted = true;
}

static void
tell_unknown(const struct owners *owners, struct owner *owner)
{
	*owner = (struct owner){.zone = owners != NULL ? owners->zone : 0, .pid = -1, .uid = OWNER_UID_UNKNOWN};
}

/* Reads an answer that is newer than the latest question about its key. */
static inline enum owner_read
read_answer(const struct owners *owners, uint64_t hash, const struct owner_key *key, struct owner_record *record,
	    uint32_t *slot)
{
	uint32_t as_of, number;
	enum owner_read result = owner_table_read(owners->box.table, hash, key, record, slot, &as_of);

	if (result == OWNER_READ_DONE && latest_question(owners, hash, &number) && question_before(as_of, number))
		return OWNER_READ_ABSENT; /* about an earlier connection */
	return result;
}

/* Asks if there is no answer and no pending question.  The answer is read again, because it may have arrived just
 * before the pending check. */
static enum owner_read
read_or_ask(struct owners *owners, uint64_t hash, const struct owner_key *key, uint32_t ifindex,
	    struct owner_record *record, uint32_t *slot)
{
	enum owner_read result;

	if (is_pending(owners, hash))
		return OWNER_READ_ABSENT;
	result = read_answer(owners, hash, key, record, slot);
	/* Half of the queue is reserved for new connections. */
	if (result == OWNER_READ_ABSENT && has_room(owners, OWNER_QUESTIONS / 2))
		put(owners, hash, key, ifindex);
	return result;
}

bool
owners_find(struct owners *owners, const struct owner_key *key, uint32_t ifindex, struct owner *owner)
{
	struct owner_record record;
	enum owner_read result;
	uint32_t slot;
	uint64_t hash;

	if (owners == NULL) {
		tell_unknown(owners, owner);
		return false;
	}
	hash = owner_table_hash(owners->box.table, key);
	result = read_answer(owners, hash, key, &record, &slot);
	if (result == OWNER_READ_ABSENT)
		result = read_or_ask(owners, hash, key, ifindex, &record, &slot);
	if (result != OWNER_READ_DONE) {
		count(&owners->counters.torn, result == OWNER_READ_TORN);
		tell_unknown(owners, owner);
		return false;
	}
	want(owners, slot);
	*owner = (struct owner){.asked_ns = record.asked_ns,
				.zone = owners->zone,
				.pid = record.pid,
				.uid = record.uid,
				.flags = record.flags,
				.tcp = record.tcp};
	memcpy(owner->comm, record.comm, sizeof owner->comm);
	return true;
}

void
owners_wake(struct owners *owners)
{
	if (owners == NULL || !(owners->ring_asked | owners->ring_wanted))
		return;
	if (owners->ring_asked)
		hand_over(owners);
	if (owners->ring_asked || atomic_load_explicit(&owners->box.heeds_wanted, memory_order_seq_cst))
		sem_post(&owners->box.bell);
	owners->ring_asked = owners->ring_wanted = false;
}

int64_t
owners_zone(const struct owners *owners)
{
	return owners != NULL ? (int64_t)owners->zone : -1;
}

struct owners_counters
owners_counters(const struct owners *owners)
{
	const struct owner_worker *worker;

	if (owners == NULL)
		return (struct owners_counters){0};
	worker = owners->worker;
	return (struct owners_counters){
	    .asked = owners->counters.asked,
	    .dropped = owners->counters.dropped,
	    .torn = owners->counters.torn,
	    .answered = worker->counters.answered,
	    .no_socket = worker->counters.no_socket,
	    .no_process = worker->counters.no_process,
	    .processes = worker->counters.processes,
	    .unaccepted = worker->counters.unaccepted,
	    .refreshed = worker->counters.refreshed,
	    .refresh_late = worker->counters.refresh_late,
	    .evicted = worker->counters.evicted,
	    .scans = worker->counters.scans,
	    .scan_links = worker->counters.scan_links,
	    .dumps = worker->counters.dumps,
	    .errors = worker->counters.errors,
	    .hidden = worker->counters.hidden,
	};
}
