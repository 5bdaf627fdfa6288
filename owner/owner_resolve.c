/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluates the kernel's replies about an endpoint: which process owns it, if any, and when to query again. */
#include <netinet/in.h>
#include <string.h>

#include "base/clock.h"
#include "owner/owner_thread.h"
#include "flow/endpoint.h"

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

void
owner_resolve_again(struct owner_thread *thread, uint32_t slot)
{
	struct owner_resolution resolution;

	owner_resolution_begin(&resolution, thread, slot);
	owner_query_kernel(&resolution);
	owner_resolution_commit(&resolution);
}

void
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

void
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

bool
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

void
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
