/* SPDX-License-Identifier: BSD-2-Clause */
/* Main loop of the lookup thread: requests first, everything else in bounded steps between them. */
#include "owner/owner_thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "flow/endpoint.h"

/* --- Evaluates the kernel's replies about an endpoint: which process owns it, if any, and when to query again. --- */

/* Delay before a connection is queried again: by then a server that accepts and forks has passed the socket on. */
#define RECHECK_MS	       50u
#define SCAN_BACKOFF_MS	       1000u
#define SCAN_BACKOFF_DOUBLINGS 6u
#define LISTENER_QUERIES       8u

/* Retries for a connection that was not accepted yet, or whose SYN the kernel had not processed when it was queried. */
static const uint16_t accept_delays_ms[] = {1, 5, 20, 100, 500};
/* Retries for a socket that was not found: the frame may have been captured before the kernel acted on it. */
static const uint16_t absent_delays_ms[] = {2, 20};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* A lookup in progress: the record is changed here and written back once. */
struct owner_resolution {
	struct owner_thread *thread;
	struct owner_state *state;
	uint32_t slot;
	struct owner_record record;
};

static bool owner_dump_add(struct owner_thread *thread, uint32_t slot, const struct owner_key *key);

static void
owner_resolution_begin(struct owner_resolution *resolution, struct owner_thread *thread, uint32_t slot)
{
	resolution->thread = thread;
	resolution->state = &thread->states[slot];
	resolution->slot = slot;
	owner_table_copy_record(thread->queue->table, slot, &resolution->record);
}

static void
owner_resolution_commit(const struct owner_resolution *resolution)
{
	struct owner_table *table = resolution->thread->queue->table;

	owner_table_write(table, resolution->slot, owner_table_hash(table, &resolution->record.key),
			  &resolution->record, resolution->state->request_number);
}

/* Call it before querying the kernel: the reply is then newer than all requests taken so far. */
static void
owner_resolution_set_time(struct owner_resolution *resolution)
{
	resolution->state->request_number =
	    atomic_load_explicit(&resolution->thread->queue->dequeued, memory_order_relaxed);
	resolution->record.queried_ns = clock_realtime_ns();
}

static void
owner_slot_list_add(struct owner_slot_list *list, struct owner_state *state, uint8_t flag, uint32_t slot)
{
	if (state->flags & flag)
		return;
	state->flags |= flag;
	list->slots[list->count++] = slot;
}

static void
owner_schedule_retry(struct owner_resolution *resolution, uint32_t ms)
{
	struct owner_thread *thread = resolution->thread;

	resolution->state->retry_ms = thread->now_ms + ms;
	owner_slot_list_add(&thread->retries, resolution->state, OWNER_IN_RETRY_LIST, resolution->slot);
	if (thread->retries_due == 0 || resolution->state->retry_ms < thread->retries_due)
		thread->retries_due = resolution->state->retry_ms;
}

/* ----------------------------------------------------------------------------------------------- the process */

static void
owner_clear_process(struct owner_resolution *resolution)
{
	resolution->record.pid = -1;
	memset(resolution->record.comm, 0, sizeof resolution->record.comm);
	resolution->state->fd = -1;
	resolution->state->inode = 0;
	resolution->state->flags &= (uint8_t)~OWNER_NEEDS_PROCESS;
}

static void
owner_clear(struct owner_resolution *resolution)
{
	owner_clear_process(resolution);
	resolution->record.uid = OWNER_UID_UNKNOWN;
	resolution->record.flags = 0;
}

static void
owner_set_process(struct owner_resolution *resolution, const struct procfs_process *process)
{
	if (resolution->record.pid < 0)
		owner_counter_add(&resolution->thread->counters.processes, 1);
	resolution->record.pid = process->pid;
	resolution->record.flags &= ~(uint32_t)(OWNER_HIDDEN | OWNER_NOT_FOUND);
	memcpy(resolution->record.comm, process->comm, sizeof resolution->record.comm);
	resolution->state->fd = process->fd;
	resolution->state->failed_scans = 0;
	resolution->state->flags &= (uint8_t)~OWNER_NEEDS_PROCESS;
}

/* No scan has found the process. */
static void
owner_set_not_found(struct owner_resolution *resolution)
{
	bool unreadable = atomic_load_explicit(&resolution->thread->counters.unreadable, memory_order_relaxed) > 0;

	resolution->record.flags |= unreadable ? OWNER_HIDDEN : OWNER_NOT_FOUND;
}

static void
owner_add_unresolved(struct owner_resolution *resolution)
{
	resolution->record.pid = -1;
	memset(resolution->record.comm, 0, sizeof resolution->record.comm);
	if (resolution->thread->now_ms < resolution->state->backoff_until_ms) {
		owner_set_not_found(resolution);
		return;
	}
	resolution->state->flags |= OWNER_NEEDS_PROCESS;
	resolution->state->flags &= (uint8_t)~OWNER_IN_CURRENT_SCAN;
	owner_slot_list_add(&resolution->thread->unresolved, resolution->state, OWNER_IN_UNRESOLVED_LIST,
			    resolution->slot);
}

/* Finds the process that holds the inode: the known one if it still does; else the one of a hint; else /proc is
 * scanned. */
static void
owner_find_process(struct owner_resolution *resolution)
{
	struct procfs *procfs = resolution->thread->procfs;
	struct procfs_process process = {.pid = resolution->record.pid, .fd = resolution->state->fd};

	if (process.pid >= 0 && procfs_check_holder(procfs, resolution->state->inode, &process))
		owner_set_process(resolution, &process);
	else if (procfs_find_holder(procfs, resolution->state->inode, &process))
		owner_set_process(resolution, &process);
	else
		owner_add_unresolved(resolution);
}

/* --------------------------------------------------------------------------------------- the kernel's reply */

/* The process has closed the socket: the last holder stays the owner until the next request. */
static void
owner_handle_closed(struct owner_resolution *resolution, const struct sockdiag_socket *socket)
{
	struct owner_record *record = &resolution->record;

	record->flags = record->pid >= 0 ? OWNER_CLOSED : 0;
	if (socket != NULL && socket->has_tcp) {
		record->flags |= OWNER_TCP;
		record->tcp = socket->tcp;
	}
	resolution->state->flags &= (uint8_t)~OWNER_NEEDS_PROCESS;
}

/* The kernel has no such socket: schedules the next retry.  True if the last retry has failed. */
static bool
owner_retry_or_give_up(struct owner_resolution *resolution, const uint16_t *delays_ms, size_t delays)
{
	struct owner_state *state = resolution->state;

	if (state->cookie != 0) {
		owner_handle_closed(resolution, NULL);
		return false;
	}
	owner_clear(resolution);
	if (state->flags & OWNER_NO_SOCKET)
		return false;
	if (state->retries < delays) {
		owner_schedule_retry(resolution, delays_ms[state->retries++]);
		return false;
	}
	state->flags |= OWNER_NO_SOCKET;
	return true;
}

static void
owner_handle_no_socket(struct owner_resolution *resolution)
{
	if (owner_retry_or_give_up(resolution, absent_delays_ms, COUNT_OF(absent_delays_ms)) &&
	    !owner_dump_add(resolution->thread, resolution->slot, &resolution->record.key))
		owner_counter_add(&resolution->thread->counters.no_socket, 1);
}

/*
 * Finds the listening socket of a connection that is not accepted yet.  With SO_REUSEPORT several sockets may listen on
 * a port, and the kernel selects one by a hash of the connection's ends.  So several nonexistent remote ports are
 * queried: if the replies differ, the listener is ambiguous.
 */
static bool
owner_find_listener(const struct owner_resolution *resolution, struct sockdiag_socket *listener)
{
	struct owner_key key = resolution->record.key;
	struct sockdiag_socket one;

	memset(key.remote, 0, sizeof key.remote);
	for (uint16_t i = 0; i < LISTENER_QUERIES; i++) {
		key.remote_port = i;
		if (sockdiag_find(resolution->thread->diag, &key, resolution->state->ifindex, &one) != SOCKDIAG_FOUND ||
		    one.state != TCP_STATE_LISTEN || one.inode == 0 || (i > 0 && one.inode != listener->inode))
			return false;
		*listener = one;
	}
	return true;
}

/* The connection is in the listener's queue; no process has accepted it yet. */
static void
owner_handle_unaccepted(struct owner_resolution *resolution)
{
	struct owner_state *state = resolution->state;
	struct sockdiag_socket listener;

	/* Most connections are accepted before the second query. */
	if (state->retries > 0 && owner_find_listener(resolution, &listener)) {
		if (state->inode != listener.inode)
			owner_clear_process(resolution);
		state->inode = listener.inode;
		owner_counter_add(&resolution->thread->counters.unaccepted,
				  !(resolution->record.flags & OWNER_LISTENER));
		resolution->record.flags = OWNER_LISTENER;
		resolution->record.uid = listener.uid;
		owner_find_process(resolution);
	} else {
		owner_clear(resolution);
	}
	if (state->retries < COUNT_OF(accept_delays_ms))
		owner_schedule_retry(resolution, accept_delays_ms[state->retries++]);
}

/* The query finds the listener: the kernel does not know the connection, or not yet. */
static void
owner_handle_listener(struct owner_resolution *resolution)
{
	if (owner_retry_or_give_up(resolution, accept_delays_ms, COUNT_OF(accept_delays_ms)))
		owner_counter_add(&resolution->thread->counters.no_socket, 1);
}

/* The socket is held by a process. */
static void
owner_handle_socket(struct owner_resolution *resolution, const struct sockdiag_socket *socket)
{
	struct owner_state *state = resolution->state;
	bool tcp = resolution->record.key.protocol == IPPROTO_TCP;

	if (state->cookie != socket->cookie || state->inode != socket->inode)
		owner_clear_process(resolution);
	state->cookie = socket->cookie;
	state->inode = socket->inode;
	resolution->record.uid = socket->uid;
	resolution->record.flags = socket->has_tcp ? OWNER_TCP : 0;
	resolution->record.tcp = socket->tcp;
	owner_find_process(resolution);
	if (tcp && !(state->flags & OWNER_RECHECKED)) {
		state->flags |= OWNER_RECHECKED;
		owner_schedule_retry(resolution, RECHECK_MS);
	}
}

static void
owner_handle_reply(struct owner_resolution *resolution, const struct sockdiag_socket *socket)
{
	bool tcp = resolution->record.key.protocol == IPPROTO_TCP;

	if (socket->inode != 0 && !(tcp && socket->state == TCP_STATE_LISTEN))
		owner_handle_socket(resolution, socket);
	else if (tcp && socket->state == TCP_STATE_LISTEN)
		owner_handle_listener(resolution);
	else if (resolution->state->cookie != 0)
		owner_handle_closed(resolution, resolution->state->cookie == socket->cookie ? socket : NULL);
	else if (tcp && (socket->state == TCP_STATE_SYN_RECEIVED || socket->state == TCP_STATE_ESTABLISHED ||
			 socket->state == TCP_STATE_CLOSE_WAIT))
		owner_handle_unaccepted(resolution);
	else /* remains of a connection whose owner was not queried in time */
		owner_handle_closed(resolution, socket);
}

/* ---------------------------------------------------------------------------------------------------------- queries */

static void
owner_query_kernel(struct owner_resolution *resolution)
{
	struct sockdiag_socket socket;

	resolution->state->retry_ms = 0;
	owner_resolution_set_time(resolution);
	switch (sockdiag_find(resolution->thread->diag, &resolution->record.key, resolution->state->ifindex, &socket)) {
	case SOCKDIAG_FOUND:
		owner_handle_reply(resolution, &socket);
		break;
	case SOCKDIAG_NONE:
		owner_handle_no_socket(resolution);
		break;
	case SOCKDIAG_FAILED:
		owner_counter_add(&resolution->thread->counters.errors, 1);
		break;
	}
}

/* Queries the kernel again. */
static void
owner_resolve_again(struct owner_thread *thread, uint32_t slot)
{
	struct owner_resolution resolution;

	owner_resolution_begin(&resolution, thread, slot);
	owner_query_kernel(&resolution);
	owner_resolution_commit(&resolution);
}

/* Handles a request for a slot, whose record may be another endpoint's. */
static void
owner_resolve_request(struct owner_thread *thread, uint32_t slot, const struct owner_request *request)
{
	uint8_t lists = OWNER_IN_RETRY_LIST | OWNER_IN_UNRESOLVED_LIST;
	struct owner_resolution resolution;

	owner_resolution_begin(&resolution, thread, slot);
	*resolution.state = (struct owner_state){
	    .ifindex = request->ifindex, .fd = -1, .flags = (uint8_t)(resolution.state->flags & lists)};
	resolution.record = (struct owner_record){.key = request->key, .pid = -1, .uid = OWNER_UID_UNKNOWN};
	owner_query_kernel(&resolution);
	owner_resolution_commit(&resolution);
}

/* The socket of a slot was found by a dump. */
static void
owner_resolve_from_dump(struct owner_thread *thread, uint32_t slot, const struct sockdiag_socket *socket)
{
	struct owner_resolution resolution;

	owner_resolution_begin(&resolution, thread, slot);
	owner_resolution_set_time(&resolution);
	resolution.state->flags &= (uint8_t)~OWNER_NO_SOCKET;
	resolution.state->ifindex = socket->ifindex; /* the next query by key will find it */
	owner_handle_reply(&resolution, socket);
	owner_resolution_commit(&resolution);
}

/* Tries the hints of procfs for a slot without a process; false if the process is still unknown. */
static bool
owner_resolve_process(struct owner_thread *thread, uint32_t slot)
{
	struct procfs_process process;
	struct owner_resolution resolution;

	if (!(thread->states[slot].flags & OWNER_NEEDS_PROCESS))
		return true;
	if (!procfs_find_holder(thread->procfs, thread->states[slot].inode, &process))
		return false;
	owner_resolution_begin(&resolution, thread, slot);
	owner_set_process(&resolution, &process);
	owner_resolution_commit(&resolution);
	return true;
}

/* A complete scan has not found the process. */
static void
owner_resolve_set_unknown(struct owner_thread *thread, uint32_t slot)
{
	struct owner_state *state = &thread->states[slot];
	struct owner_resolution resolution;

	owner_resolution_begin(&resolution, thread, slot);
	state->flags &= (uint8_t)~OWNER_NEEDS_PROCESS;
	state->backoff_until_ms = thread->now_ms + ((uint64_t)SCAN_BACKOFF_MS << state->failed_scans);
	state->failed_scans = (uint8_t)(state->failed_scans + (state->failed_scans < SCAN_BACKOFF_DOUBLINGS));
	owner_set_not_found(&resolution);
	owner_counter_add(&thread->counters.no_process, 1);
	owner_resolution_commit(&resolution);
}

/*
 * Endpoints that the kernel does not find by their addresses although they may have a socket: the socket is bound to a
 * device other than the interface of the packet (a VRF, or an "any" capture that does not show the interface).  For
 * these the whole socket tables are dumped, rarely and for many endpoints at once.
 */

/* How well a socket matches; the highest sum wins, as in the kernel. */
#define SCORE_CONNECTED 4
#define SCORE_ADDRESS	2
#define SCORE_DEVICE	1
#define SCORE_NONE	(-1)

struct owner_dump_context {
	struct owner_thread *thread;
	uint8_t protocol;
};

/* Queues an endpoint for the next dump; false if the queue is full. */
static bool
owner_dump_add(struct owner_thread *thread, uint32_t slot, const struct owner_key *key)
{
	if (thread->dump_count >= OWNER_DUMP_MAX)
		return false;
	thread->dump_entries[thread->dump_count++] = (struct owner_dump_entry){
	    .key = *key, .slot = slot, .ifindex = thread->states[slot].ifindex, .score = SCORE_NONE};
	return true;
}

static bool
owner_dump_is_wildcard(const uint8_t addr[16])
{
	static const uint8_t any[16];

	return memcmp(addr, any, sizeof any) == 0;
}

/* An unconnected dual-stack socket receives IPv4 as well. */
static bool
owner_dump_version_matches(const struct sockdiag_socket *socket, uint8_t version)
{
	return socket->version == version || (version == 4 && owner_dump_is_wildcard(socket->local) &&
					      owner_dump_is_wildcard(socket->remote) && !socket->v6only);
}

static int
owner_dump_score(const struct owner_dump_entry *entry, const struct sockdiag_socket *socket)
{
	const struct owner_key *key = &entry->key;
	bool connected = socket->remote_port != 0, named = !owner_dump_is_wildcard(socket->local);
	int sum = 0;

	if (socket->local_port != key->local_port || !owner_dump_version_matches(socket, key->version))
		return SCORE_NONE;
	if (named && memcmp(socket->local, key->local, sizeof key->local) != 0)
		return SCORE_NONE;
	if (connected &&
	    (socket->remote_port != key->remote_port || memcmp(socket->remote, key->remote, sizeof key->remote) != 0))
		return SCORE_NONE;
	if (key->protocol == IPPROTO_TCP && !(connected && named))
		return SCORE_NONE;
	sum += connected ? SCORE_CONNECTED : 0;
	sum += named ? SCORE_ADDRESS : 0;
	sum += socket->ifindex != 0 && socket->ifindex == entry->ifindex ? SCORE_DEVICE : 0;
	return sum;
}

static void
owner_dump_match(void *context, const struct sockdiag_socket *socket)
{
	const struct owner_dump_context *dump = context;
	struct owner_thread *thread = dump->thread;

	for (uint32_t i = 0; i < thread->dump_count; i++) {
		struct owner_dump_entry *entry = &thread->dump_entries[i];
		int score;

		if (entry->key.local_port != socket->local_port || entry->key.protocol != dump->protocol)
			continue;
		score = owner_dump_score(entry, socket);
		if (score == SCORE_NONE || score < entry->score)
			continue;
		entry->ambiguous = score == entry->score && entry->best.cookie != socket->cookie;
		entry->score = score;
		entry->best = *socket;
	}
}

static bool
owner_dump_needs_table(const struct owner_thread *thread, uint8_t protocol, uint8_t version)
{
	for (uint32_t i = 0; i < thread->dump_count; i++) {
		const struct owner_key *key = &thread->dump_entries[i].key;

		/* IPv6 sockets may carry IPv4. */
		if (key->protocol == protocol && (key->version == version || version == 6))
			return true;
	}
	return false;
}

/* Dumps the socket tables and looks up all queued endpoints in them. */
static void
owner_dump_run(struct owner_thread *thread)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP};

	for (unsigned p = 0; p < sizeof protocols; p++)
		for (uint8_t version = 4; version <= 6; version = (uint8_t)(version + 2)) {
			struct owner_dump_context dump = {thread, protocols[p]};

			if (!owner_dump_needs_table(thread, protocols[p], version))
				continue;
			owner_counter_add(&thread->counters.dumps, 1);
			if (!sockdiag_dump(thread->diag, protocols[p], version, owner_dump_match, &dump))
				owner_counter_add(&thread->counters.errors, 1);
		}
	for (uint32_t i = 0; i < thread->dump_count; i++) {
		const struct owner_dump_entry *entry = &thread->dump_entries[i];
		struct owner_record record;

		owner_table_copy_record(thread->queue->table, entry->slot, &record);
		if (memcmp(&record.key, &entry->key, sizeof entry->key) != 0 ||
		    !(thread->states[entry->slot].flags & OWNER_NO_SOCKET))
			continue; /* the slot was reused for another endpoint, or queried again */
		if (entry->score != SCORE_NONE && !entry->ambiguous)
			owner_resolve_from_dump(thread, entry->slot, &entry->best);
		else
			owner_counter_add(&thread->counters.no_socket, 1);
	}
	thread->dump_count = 0;
}

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
owner_thread_new(struct owner_queue *queue, uint32_t refresh_ms)
{
	uint32_t slots = owner_table_slot_count(queue->table);
	struct owner_thread *thread = calloc(1, sizeof *thread);

	if (thread == NULL)
		return NULL;
	thread->queue = queue;
	thread->refresh_ms = refresh_ms > 0 ? refresh_ms : 1;
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
