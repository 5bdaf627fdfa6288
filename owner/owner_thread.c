/* SPDX-License-Identifier: BSD-2-Clause */
/* Main loop of the lookup thread: requests first, everything else in bounded steps between them. */
#include "owner/owner_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log_debug.h"
#include "engine/engine.h"

#define REQUESTS_PER_STEP 256u
#define RETRIES_PER_STEP  256u
#define LINKS_PER_STEP	  512u /* descriptors examined between two checks for requests */
#define SCAN_SHARE	  9u   /* pause after a scan, in multiples of its duration: at most a tenth of one CPU */
#define REFRESH_SHARE	  4u   /* the same after a refresh round: at most a fifth of one CPU */
#define SCAN_GAP_MS	  2u
#define DUMP_GAP_MS	  500u

static uint64_t
owner_thread_now_us(void)
{
	return clock_monotonic_ns() / 1000;
}

/* Pause after work that took `spent_us`, at least `least_ms`. */
static uint64_t
owner_thread_rest_ms(uint64_t spent_us, uint64_t share, uint64_t least_ms)
{
	uint64_t rest = spent_us * share / 1000;

	return rest > least_ms ? rest : least_ms;
}

size_t
owner_thread_memory(uint32_t slots)
{
	return sizeof(struct owner_thread) + procfs_memory() +
	       slots * (sizeof(struct owner_state) + 2 * sizeof(uint32_t));
}

struct owner_thread *
owner_thread_new(struct owner_queue *queue, const struct owner_lookup_limits *limits)
{
	uint32_t slots = owner_table_slot_count(queue->table);
	struct owner_thread *thread = calloc(1, sizeof *thread);

	if (thread == NULL)
		return NULL;
	thread->queue = queue;
	thread->refresh_ms = limits->refresh_ms > 0 ? limits->refresh_ms : 1;
	thread->states = calloc(slots, sizeof *thread->states);
	thread->retries.slots = calloc(slots, sizeof *thread->retries.slots);
	thread->unresolved.slots = calloc(slots, sizeof *thread->unresolved.slots);
	thread->diag = sockdiag_new();
	if (thread->diag != NULL)
		thread->procfs = procfs_new();
	if (thread->procfs == NULL || thread->states == NULL || thread->retries.slots == NULL ||
	    thread->unresolved.slots == NULL) {
		int error = errno;

		owner_thread_free(thread);
		errno = error;
		return NULL;
	}
	return thread;
}

void
owner_thread_free(struct owner_thread *thread)
{
	if (thread == NULL)
		return;
	procfs_free(thread->procfs);
	sockdiag_free(thread->diag);
	free(thread->states);
	free(thread->retries.slots);
	free(thread->unresolved.slots);
	free(thread);
}

/* -------------------------------------------------------------------------------------------------------- requests */

static uint32_t
owner_queue_waiting(const struct owner_queue *queue)
{
	return atomic_load_explicit(&queue->enqueued, memory_order_relaxed) -
	       atomic_load_explicit(&queue->dequeued, memory_order_relaxed);
}

static void
owner_thread_resolve_timed(struct owner_thread *thread, uint32_t slot, const struct owner_request *request)
{
	uint64_t began = owner_thread_now_us();

	owner_resolve_request(thread, slot, request);
	engine_owner_answer(owner_thread_now_us() - began, owner_queue_waiting(thread->queue));
}

static void
owner_thread_handle_request(struct owner_thread *thread, const struct owner_request *request)
{
	struct owner_table *table = thread->queue->table;
	enum owner_claim claim;
	uint32_t slot = owner_table_claim_slot(table, owner_table_hash(table, &request->key), &request->key, &claim);

	owner_counter_add(&thread->counters.evicted, claim == OWNER_CLAIM_EVICTED);
	owner_table_touch(table, slot);
	if (engine_owner_answer_enabled())
		owner_thread_resolve_timed(thread, slot, request);
	else
		owner_resolve_request(thread, slot, request);
	owner_counter_add(&thread->counters.replies, 1);
}

static void
owner_thread_handle_requests(struct owner_thread *thread)
{
	struct owner_queue *queue = thread->queue;
	uint32_t enqueued = atomic_load_explicit(&queue->enqueued, memory_order_acquire);
	uint32_t taken = atomic_load_explicit(&queue->dequeued, memory_order_relaxed);

	for (unsigned i = 0; i < REQUESTS_PER_STEP && taken != enqueued; i++) {
		struct owner_request request = queue->requests[++taken % OWNER_QUEUE_SIZE];

		/* Set before the kernel is queried: the reply is then newer than the request. */
		atomic_store_explicit(&queue->dequeued, taken, memory_order_release);
		owner_thread_handle_request(thread, &request);
		atomic_store_explicit(&queue->completed, taken, memory_order_release);
	}
}

static bool
owner_queue_has_requests(const struct owner_queue *queue)
{
	return atomic_load_explicit(&queue->enqueued, memory_order_seq_cst) !=
	       atomic_load_explicit(&queue->dequeued, memory_order_relaxed);
}

/* --------------------------------------------------------------------------------------------------------- retries */

/* When the next retry is due, 0 for never. */
static uint64_t
owner_thread_earliest_retry(const struct owner_thread *thread)
{
	uint64_t due = 0;

	for (uint32_t i = 0; i < thread->retries.count; i++) {
		uint64_t ms = thread->states[thread->retries.slots[i]].retry_ms;

		if (due == 0 || ms < due)
			due = ms > 0 ? ms : thread->now_ms;
	}
	return due;
}

static void
owner_thread_run_retries(struct owner_thread *thread)
{
	struct owner_slot_list *list = &thread->retries;
	uint32_t i = 0, queries = 0;

	while (i < list->count && queries < RETRIES_PER_STEP) {
		uint32_t slot = list->slots[i];
		struct owner_state *state = &thread->states[slot];

		if (state->retry_ms > thread->now_ms) {
			i++;
			continue;
		}
		list->slots[i] = list->slots[--list->count];
		state->flags &= (uint8_t)~OWNER_IN_RETRY_LIST;
		if (state->retry_ms != 0) { /* otherwise the retry was cancelled */
			owner_resolve_again(thread, slot);
			queries++;
		}
	}
	thread->retries_due = owner_thread_earliest_retry(thread);
}

/* ----------------------------------------------------------------------------------------------------------- scans */

static void
owner_thread_start_scan(struct owner_thread *thread)
{
	for (uint32_t i = 0; i < thread->unresolved.count; i++)
		thread->states[thread->unresolved.slots[i]].flags |= OWNER_IN_CURRENT_SCAN;
	log_debug(DEBUG_OWNER, "scan of /proc begins for %u sockets", (unsigned)thread->unresolved.count);
	procfs_scan_begin(thread->procfs);
	thread->scanning = true;
	thread->scan_us = 0;
}

/* Removes slots whose process was found, and at the end of a scan those whose process was not, from the list. */
static void
owner_thread_update_unresolved(struct owner_thread *thread, bool over)
{
	struct owner_slot_list *list = &thread->unresolved;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t slot = list->slots[i];
		struct owner_state *state = &thread->states[slot];

		if (!owner_resolve_process(thread, slot)) {
			if (!over || !(state->flags & OWNER_IN_CURRENT_SCAN)) {
				list->slots[kept++] = slot;
				continue;
			}
			owner_resolve_set_unknown(thread, slot);
		}
		state->flags &= (uint8_t)~(OWNER_IN_UNRESOLVED_LIST | OWNER_IN_CURRENT_SCAN);
	}
	list->count = kept;
}

static void
owner_thread_update_counters(struct owner_thread *thread)
{
	struct procfs_counters counters = procfs_counters(thread->procfs);

	atomic_store_explicit(&thread->counters.scans, counters.scans, memory_order_relaxed);
	atomic_store_explicit(&thread->counters.scan_links, counters.links, memory_order_relaxed);
	atomic_store_explicit(&thread->counters.unreadable, counters.denied, memory_order_relaxed);
}

/* When the next scan may begin: at once if the capture thread waits, which does so rarely. */
static uint64_t
owner_thread_scan_due(const struct owner_thread *thread)
{
	return atomic_load_explicit(&thread->queue->reader_waits, memory_order_acquire) ? 0 : thread->scan_due;
}

static void
owner_thread_scan_step(struct owner_thread *thread)
{
	uint64_t began = owner_thread_now_us(), ended;
	bool over;

	if (!thread->scanning)
		owner_thread_start_scan(thread);
	over = procfs_scan_step(thread->procfs, LINKS_PER_STEP);
	owner_thread_update_counters(thread);
	owner_thread_update_unresolved(thread, over);
	ended = owner_thread_now_us();
	thread->scan_us += ended - began;
	if (over || thread->unresolved.count == 0) {
		log_debug(DEBUG_OWNER, "scan of /proc %s after %llu us; %u sockets have no known process",
			  over ? "is complete" : "ended early", (unsigned long long)thread->scan_us,
			  (unsigned)thread->unresolved.count);
		thread->scanning = false;
		thread->scan_due = ended / 1000 + owner_thread_rest_ms(thread->scan_us, SCAN_SHARE, SCAN_GAP_MS);
	}
}

/* ------------------------------------------------------------------------------------------------------ refreshing */

/* Whether any reply was read since the last round. */
static bool
owner_thread_has_references(const struct owner_thread *thread)
{
	for (uint32_t i = 0; i < thread->queue->referenced_words; i++)
		if (atomic_load_explicit(&thread->queue->referenced[i], memory_order_seq_cst) != 0)
			return true;
	return false;
}

static void
owner_thread_refresh_word(struct owner_thread *thread, uint32_t word)
{
	struct owner_queue *queue = thread->queue;
	uint64_t bits = atomic_load_explicit(&queue->referenced[word], memory_order_relaxed);

	if (bits == 0)
		return;
	bits = atomic_exchange_explicit(&queue->referenced[word], 0, memory_order_acq_rel);
	thread->refresh_any = true;
	for (; bits != 0; bits &= bits - 1) {
		uint32_t slot = word * OWNER_WORD_BITS + (uint32_t)__builtin_ctzll(bits);

		owner_table_touch(queue->table, slot);
		if (thread->states[slot].retry_ms != 0)
			continue; /* a retry is scheduled anyway */
		owner_resolve_again(thread, slot);
		owner_counter_add(&thread->counters.refreshed, 1);
	}
}

/* A round refreshes all slots that were read since the last one; each call does a bounded part of it. */
static void
owner_thread_refresh_step(struct owner_thread *thread)
{
	uint64_t began = owner_thread_now_us(), before = thread->counters.refreshed, ended;

	if (!thread->refreshing) {
		thread->refreshing = true;
		thread->refresh_any = false;
		thread->refresh_word = 0;
		thread->refresh_us = 0;
		thread->refresh_began = thread->now_ms;
	}
	while (thread->refresh_word < thread->queue->referenced_words &&
	       thread->counters.refreshed - before < OWNER_WORD_BITS)
		owner_thread_refresh_word(thread, thread->refresh_word++);
	ended = owner_thread_now_us();
	thread->refresh_us += ended - began;
	if (thread->refresh_word < thread->queue->referenced_words)
		return;
	thread->refreshing = false;
	thread->refresh_due = 0;
	if (thread->refresh_any) {
		uint64_t next = ended / 1000 + owner_thread_rest_ms(thread->refresh_us, REFRESH_SHARE, 0);

		thread->refresh_due = thread->refresh_began + thread->refresh_ms;
		if (thread->refresh_due < next) {
			thread->refresh_due = next;
			owner_counter_add(&thread->counters.refresh_late, 1);
			log_debug(DEBUG_OWNER, "a round of refreshes took %llu us: the next one is late",
				  (unsigned long long)thread->refresh_us);
		}
	}
}

/* ------------------------------------------------------------------------------------------------------ the thread */

static void
owner_thread_advance_deadline(uint64_t *deadline, uint64_t ms)
{
	if (ms < *deadline)
		*deadline = ms;
}

/* Time of the next work, UINT64_MAX for never. */
static uint64_t
owner_thread_next_deadline(const struct owner_thread *thread)
{
	uint64_t deadline = UINT64_MAX;

	if (thread->refreshing || thread->scanning)
		return 0;
	if (thread->retries_due != 0)
		owner_thread_advance_deadline(&deadline, thread->retries_due);
	if (thread->unresolved.count > 0)
		owner_thread_advance_deadline(&deadline, owner_thread_scan_due(thread));
	if (thread->dump_count > 0)
		owner_thread_advance_deadline(&deadline, thread->dump_due);
	if (thread->refresh_due != 0)
		owner_thread_advance_deadline(&deadline, thread->refresh_due);
	return deadline;
}

/* Plans a refresh round at the end of the interval, unless one is planned already. */
static void
owner_thread_schedule_refresh(struct owner_thread *thread)
{
	if (thread->refresh_due == 0 && owner_thread_has_references(thread))
		thread->refresh_due = thread->refresh_began + thread->refresh_ms;
}

static void
owner_thread_sleep_until(struct owner_thread *thread, uint64_t deadline)
{
	struct owner_queue *queue = thread->queue;
	struct timespec until = {.tv_sec = (time_t)(deadline / 1000), .tv_nsec = (long)(deadline % 1000) * 1000000};
	bool planned = thread->refresh_due != 0;

	if (!planned) {
		/* Set before the last check: a reader that sets a referenced bit after that check sees the flag and
		 * wakes the thread. */
		atomic_store_explicit(&queue->wake_on_reference, true, memory_order_seq_cst);
		owner_thread_schedule_refresh(thread);
	}
	if (planned == (thread->refresh_due != 0) && !owner_queue_has_requests(queue)) {
		if (deadline == UINT64_MAX)
			sem_wait(&queue->wakeup);
		else
			sem_clockwait(&queue->wakeup, CLOCK_MONOTONIC, &until);
	}
	atomic_store_explicit(&queue->wake_on_reference, false, memory_order_relaxed);
	while (sem_trywait(&queue->wakeup) == 0)
		continue;
	owner_thread_schedule_refresh(thread);
}

static void
owner_thread_run_once(struct owner_thread *thread)
{
	thread->now_ms = owner_thread_now_us() / 1000;
	owner_thread_handle_requests(thread);
	if (thread->retries_due != 0 && thread->retries_due <= thread->now_ms)
		owner_thread_run_retries(thread);
	if (thread->scanning || (thread->unresolved.count > 0 && owner_thread_scan_due(thread) <= thread->now_ms))
		owner_thread_scan_step(thread);
	if (thread->dump_count > 0 && thread->dump_due <= thread->now_ms) {
		uint64_t began = owner_thread_now_us(), ended;

		log_debug(DEBUG_OWNER, "dump of the socket tables begins for %u endpoints",
			  (unsigned)thread->dump_count);
		owner_dump_run(thread);
		ended = owner_thread_now_us();
		log_debug(DEBUG_OWNER, "dump ended after %llu us", (unsigned long long)(ended - began));
		thread->dump_due = ended / 1000 + owner_thread_rest_ms(ended - began, SCAN_SHARE, DUMP_GAP_MS);
	}
	if (thread->refreshing || (thread->refresh_due != 0 && thread->refresh_due <= thread->now_ms))
		owner_thread_refresh_step(thread);
	if (atomic_load_explicit(&thread->queue->reader_waits, memory_order_acquire))
		sem_post(&thread->queue->replied);
}

void *
owner_thread_main(void *context)
{
	struct owner_thread *thread = context;
	struct owner_queue *queue = thread->queue;

	pthread_setname_np(pthread_self(), "netobs-owner");
	while (!atomic_load_explicit(&queue->stop, memory_order_acquire)) {
		uint64_t deadline;

		owner_thread_run_once(thread);
		deadline = owner_thread_next_deadline(thread);
		if (!owner_queue_has_requests(queue) && deadline > thread->now_ms)
			owner_thread_sleep_until(thread, deadline);
	}
	return NULL;
}
