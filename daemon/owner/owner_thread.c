/* SPDX-License-Identifier: BSD-2-Clause */
/* Main loop of the look-up thread: questions first, everything else in small portions between them. */
#include "daemon/owner/owner_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUESTIONS_A_TURN 256u
#define RETRIES_A_TURN 256u
#define LINKS_A_TURN 512u /* descriptors examined between two checks for questions */
#define WALK_SHARE 9u    /* pause after a walk, in multiples of its duration: at most a tenth of one CPU */
#define REFRESH_SHARE 4u /* pause after a refresh round: at most a fifth of one CPU */
#define WALK_GAP_MS 2u
#define DUMP_GAP_MS 500u
#define WORD_BITS 64u

uint64_t
owner_worker_clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* Pause after work that took `spent_us`, at least `least_ms`. */
static uint64_t
gap_after(uint64_t spent_us, uint64_t share, uint64_t least_ms)
{
	uint64_t rest = spent_us * share / 1000;

	return rest > least_ms ? rest : least_ms;
}

size_t
owner_worker_memory(uint32_t slots)
{
	return sizeof(struct owner_worker) + procfs_memory() +
	       slots * (sizeof(struct owner_work) + 2 * sizeof(uint32_t));
}

struct owner_worker *
owner_worker_new(struct owner_mailbox *mailbox, const struct owners_limits *limits)
{
	uint32_t slots = owner_table_slots(mailbox->table);
	struct owner_worker *worker = calloc(1, sizeof *worker);

	if (worker == NULL)
		return NULL;
	worker->mailbox = mailbox;
	worker->refresh_ms = limits->refresh_ms > 0 ? limits->refresh_ms : 1;
	worker->work = calloc(slots, sizeof *worker->work);
	worker->retries.slots = calloc(slots, sizeof *worker->retries.slots);
	worker->homeless.slots = calloc(slots, sizeof *worker->homeless.slots);
	worker->diag = sockdiag_new();
	if (worker->diag != NULL)
		worker->procfs = procfs_new();
	if (worker->procfs == NULL || worker->work == NULL || worker->retries.slots == NULL ||
	    worker->homeless.slots == NULL) {
		int error = errno;

		owner_worker_free(worker);
		errno = error;
		return NULL;
	}
	return worker;
}

void
owner_worker_free(struct owner_worker *worker)
{
	if (worker == NULL)
		return;
	procfs_free(worker->procfs);
	sockdiag_free(worker->diag);
	free(worker->work);
	free(worker->retries.slots);
	free(worker->homeless.slots);
	free(worker);
}

/* ------------------------------------------------------------------------------------------------------- questions */

static void
deal_with(struct owner_worker *worker, const struct owner_question *question)
{
	struct owner_table *table = worker->mailbox->table;
	enum owner_place taken;
	uint32_t slot =
	    owner_table_place(table, owner_table_hash(table, &question->key), &question->key, &taken);

	count(&worker->counters.evicted, taken == OWNER_PLACE_EVICTED);
	owner_table_touch(table, slot);
	owner_look_anew(worker, slot, question);
	count(&worker->counters.answered, 1);
}

static void
answer_questions(struct owner_worker *worker)
{
	struct owner_mailbox *box = worker->mailbox;
	uint32_t put = atomic_load_explicit(&box->put, memory_order_acquire);
	uint32_t taken = atomic_load_explicit(&box->taken, memory_order_relaxed);

	for (unsigned i = 0; i < QUESTIONS_A_TURN && taken != put; i++) {
		struct owner_question question = box->questions[++taken % OWNER_QUESTIONS];

		/* Set before the kernel is queried: the answer is then newer than the question. */
		atomic_store_explicit(&box->taken, taken, memory_order_release);
		deal_with(worker, &question);
		atomic_store_explicit(&box->done, taken, memory_order_release);
	}
}

static bool
has_questions(const struct owner_mailbox *box)
{
	return atomic_load_explicit(&box->put, memory_order_seq_cst) !=
	       atomic_load_explicit(&box->taken, memory_order_relaxed);
}

/* --------------------------------------------------------------------------------------------------------- retries */

/* When the next retry is due, 0 for never. */
static uint64_t
earliest_retry(const struct owner_worker *worker)
{
	uint64_t due = 0;

	for (uint32_t i = 0; i < worker->retries.count; i++) {
		uint64_t ms = worker->work[worker->retries.slots[i]].retry_ms;

		if (due == 0 || ms < due)
			due = ms > 0 ? ms : worker->now_ms;
	}
	return due;
}

static void
retry(struct owner_worker *worker)
{
	struct owner_list *list = &worker->retries;
	uint32_t i = 0, looks = 0;

	while (i < list->count && looks < RETRIES_A_TURN) {
		uint32_t slot = list->slots[i];
		struct owner_work *work = &worker->work[slot];

		if (work->retry_ms > worker->now_ms) {
			i++;
			continue;
		}
		list->slots[i] = list->slots[--list->count];
		work->flags &= (uint8_t)~WORK_IN_RETRIES;
		if (work->retry_ms != 0) { /* otherwise the retry was cancelled */
			owner_look(worker, slot);
			looks++;
		}
	}
	worker->retries_due = earliest_retry(worker);
}

/* ----------------------------------------------------------------------------------------------------------- walks */

static void
begin_walk(struct owner_worker *worker)
{
	for (uint32_t i = 0; i < worker->homeless.count; i++)
		worker->work[worker->homeless.slots[i]].flags |= WORK_WALKED;
	procfs_walk_begin(worker->procfs);
	worker->walking = true;
	worker->walk_us = 0;
}

/* Removes slots whose process was found, and at the end of a walk those whose process was not, from the list. */
static void
settle_homeless(struct owner_worker *worker, bool over)
{
	struct owner_list *list = &worker->homeless;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t slot = list->slots[i];
		struct owner_work *work = &worker->work[slot];

		if (!owner_look_process(worker, slot)) {
			if (!over || !(work->flags & WORK_WALKED)) {
				list->slots[kept++] = slot;
				continue;
			}
			owner_look_give_up(worker, slot);
		}
		work->flags &= (uint8_t)~(WORK_IN_HOMELESS | WORK_WALKED);
	}
	list->count = kept;
}

static void
count_walk(struct owner_worker *worker)
{
	struct procfs_counters counters = procfs_counters(worker->procfs);

	atomic_store_explicit(&worker->counters.scans, counters.walks, memory_order_relaxed);
	atomic_store_explicit(&worker->counters.scan_links, counters.links, memory_order_relaxed);
	atomic_store_explicit(&worker->counters.hidden, counters.denied, memory_order_relaxed);
}

static void
walk(struct owner_worker *worker)
{
	uint64_t began = owner_worker_clock_us(), ended;
	bool over;

	if (!worker->walking)
		begin_walk(worker);
	over = procfs_walk_step(worker->procfs, LINKS_A_TURN);
	count_walk(worker);
	settle_homeless(worker, over);
	ended = owner_worker_clock_us();
	worker->walk_us += ended - began;
	if (over || worker->homeless.count == 0) {
		worker->walking = false;
		worker->walk_due = ended / 1000 + gap_after(worker->walk_us, WALK_SHARE, WALK_GAP_MS);
	}
}

/* ------------------------------------------------------------------------------------------------------ refreshing */

/* Whether any answer was read since the last round. */
static bool
is_wanted(const struct owner_worker *worker)
{
	for (uint32_t i = 0; i < worker->mailbox->wanted_words; i++)
		if (atomic_load_explicit(&worker->mailbox->wanted[i], memory_order_seq_cst) != 0)
			return true;
	return false;
}

static void
refresh_word(struct owner_worker *worker, uint32_t word)
{
	struct owner_mailbox *box = worker->mailbox;
	uint64_t bits = atomic_load_explicit(&box->wanted[word], memory_order_relaxed);

	if (bits == 0)
		return;
	bits = atomic_exchange_explicit(&box->wanted[word], 0, memory_order_acq_rel);
	worker->refresh_found = true;
	for (; bits != 0; bits &= bits - 1) {
		uint32_t slot = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);

		owner_table_touch(box->table, slot);
		if (worker->work[slot].retry_ms != 0)
			continue; /* a retry is scheduled anyway */
		owner_look(worker, slot);
		count(&worker->counters.refreshed, 1);
	}
}

/* A round refreshes all slots that were read since the last one; each call does a bounded part of it. */
static void
refresh(struct owner_worker *worker)
{
	uint64_t began = owner_worker_clock_us(), before = worker->counters.refreshed, ended;

	if (!worker->refreshing) {
		worker->refreshing = true;
		worker->refresh_found = false;
		worker->refresh_word = 0;
		worker->refresh_us = 0;
		worker->refresh_began = worker->now_ms;
	}
	while (worker->refresh_word < worker->mailbox->wanted_words &&
	       worker->counters.refreshed - before < WORD_BITS)
		refresh_word(worker, worker->refresh_word++);
	ended = owner_worker_clock_us();
	worker->refresh_us += ended - began;
	if (worker->refresh_word < worker->mailbox->wanted_words)
		return;
	worker->refreshing = false;
	worker->refresh_due = 0;
	if (worker->refresh_found) {
		uint64_t next = ended / 1000 + gap_after(worker->refresh_us, REFRESH_SHARE, 0);

		worker->refresh_due = worker->refresh_began + worker->refresh_ms;
		if (worker->refresh_due < next) {
			worker->refresh_due = next;
			count(&worker->counters.refresh_late, 1);
		}
	}
}

/* ------------------------------------------------------------------------------------------------------ the thread */

static void
earlier(uint64_t *deadline, uint64_t ms)
{
	if (ms < *deadline)
		*deadline = ms;
}

/* Time of the next work, UINT64_MAX for never. */
static uint64_t
next_deadline(const struct owner_worker *worker)
{
	uint64_t deadline = UINT64_MAX;

	if (worker->refreshing || worker->walking)
		return 0;
	if (worker->retries_due != 0)
		earlier(&deadline, worker->retries_due);
	if (worker->homeless.count > 0)
		earlier(&deadline, worker->walk_due);
	if (worker->missed_count > 0)
		earlier(&deadline, worker->dump_due);
	if (worker->refresh_due != 0)
		earlier(&deadline, worker->refresh_due);
	return deadline;
}

/* Plans a refresh round at the end of the interval, unless one is planned already. */
static void
plan_refresh(struct owner_worker *worker)
{
	if (worker->refresh_due == 0 && is_wanted(worker))
		worker->refresh_due = worker->refresh_began + worker->refresh_ms;
}

static void
sleep_until(struct owner_worker *worker, uint64_t deadline)
{
	struct owner_mailbox *box = worker->mailbox;
	struct timespec until = {.tv_sec = (time_t)(deadline / 1000), .tv_nsec = (long)(deadline % 1000) * 1000000};
	bool planned = worker->refresh_due != 0;

	if (!planned) {
		/* Set before the last check: a reader that sets a wanted bit after that check sees the flag and wakes
		 * the thread. */
		atomic_store_explicit(&box->heeds_wanted, true, memory_order_seq_cst);
		plan_refresh(worker);
	}
	if (planned == (worker->refresh_due != 0) && !has_questions(box)) {
		if (deadline == UINT64_MAX)
			sem_wait(&box->bell);
		else
			sem_clockwait(&box->bell, CLOCK_MONOTONIC, &until);
	}
	atomic_store_explicit(&box->heeds_wanted, false, memory_order_relaxed);
	while (sem_trywait(&box->bell) == 0)
		continue;
	plan_refresh(worker);
}

static void
turn(struct owner_worker *worker)
{
	worker->now_ms = owner_worker_clock_us() / 1000;
	answer_questions(worker);
	if (worker->retries_due != 0 && worker->retries_due <= worker->now_ms)
		retry(worker);
	if (worker->walking || (worker->homeless.count > 0 && worker->walk_due <= worker->now_ms))
		walk(worker);
	if (worker->missed_count > 0 && worker->dump_due <= worker->now_ms) {
		uint64_t began = owner_worker_clock_us(), ended;

		owner_missed_run(worker);
		ended = owner_worker_clock_us();
		worker->dump_due = ended / 1000 + gap_after(ended - began, WALK_SHARE, DUMP_GAP_MS);
	}
	if (worker->refreshing || (worker->refresh_due != 0 && worker->refresh_due <= worker->now_ms))
		refresh(worker);
}

void *
owner_worker_run(void *context)
{
	struct owner_worker *worker = context;
	struct owner_mailbox *box = worker->mailbox;

	pthread_setname_np(pthread_self(), "netobs-owner");
	while (!atomic_load_explicit(&box->stop, memory_order_acquire)) {
		uint64_t deadline;

		turn(worker);
		deadline = next_deadline(worker);
		if (!has_questions(box) && deadline > worker->now_ms)
			sleep_until(worker, deadline);
	}
	return NULL;
}
