/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluates the kernel's answers about an endpoint: which process owns it, if any, and when to look again. */
#include <string.h>
#include <time.h>

#include "daemon/owner/owner_thread.h"
#include "flow/endpoint.h"

#define PROTOCOL_TCP 6
#define SETTLE_MS 50u /* delay before a connection is queried again: by then a server that accepts and forks has passed
		       * the socket on */
#define HOPELESS_MS 1000u
#define HOPELESS_DOUBLINGS 6u
#define LISTENER_PROBES 8u

/* Retries for a connection that was not accepted yet, or whose SYN the kernel had not processed when it was queried. */
static const uint16_t accept_delays_ms[] = {1, 5, 20, 100, 500};
/* Retries for a socket that was not found: the frame may have been captured before the kernel acted on it. */
static const uint16_t absent_delays_ms[] = {2, 20};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* A look-up in progress: the record is changed here and written back once. */
struct look {
	struct owner_worker *worker;
	struct owner_work *work;
	uint32_t slot;
	struct owner_record record;
};

static uint64_t
wall_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
open_look(struct look *look, struct owner_worker *worker, uint32_t slot)
{
	look->worker = worker;
	look->work = &worker->work[slot];
	look->slot = slot;
	owner_table_peek(worker->mailbox->table, slot, &look->record);
}

static void
close_look(const struct look *look)
{
	struct owner_table *table = look->worker->mailbox->table;

	owner_table_write(table, look->slot, owner_table_hash(table, &look->record.key), &look->record,
			  look->work->as_of);
}

/* Call it before querying the kernel: the answer is then newer than all questions taken so far. */
static void
stamp(struct look *look)
{
	look->work->as_of = atomic_load_explicit(&look->worker->mailbox->taken, memory_order_relaxed);
	look->record.asked_ns = wall_clock_ns();
}

static void
put_into(struct owner_list *list, struct owner_work *work, uint8_t flag, uint32_t slot)
{
	if (work->flags & flag)
		return;
	work->flags |= flag;
	list->slots[list->count++] = slot;
}

static void
look_again_in(struct look *look, uint32_t ms)
{
	struct owner_worker *worker = look->worker;

	look->work->retry_ms = worker->now_ms + ms;
	put_into(&worker->retries, look->work, WORK_IN_RETRIES, look->slot);
	if (worker->retries_due == 0 || look->work->retry_ms < worker->retries_due)
		worker->retries_due = look->work->retry_ms;
}

/* ------------------------------------------------------------------------------------------------- its process */

static void
forget_process(struct look *look)
{
	look->record.pid = -1;
	memset(look->record.comm, 0, sizeof look->record.comm);
	look->work->fd = -1;
	look->work->inode = 0;
	look->work->flags &= (uint8_t)~WORK_SEEKS;
}

static void
forget_owner(struct look *look)
{
	forget_process(look);
	look->record.uid = OWNER_UID_UNKNOWN;
	look->record.flags = 0;
}

static void
name_process(struct look *look, const struct procfs_process *process)
{
	if (look->record.pid < 0)
		count(&look->worker->counters.processes, 1);
	look->record.pid = process->pid;
	look->record.flags &= ~(uint32_t)OWNER_HIDDEN;
	memcpy(look->record.comm, process->comm, sizeof look->record.comm);
	look->work->fd = process->fd;
	look->work->walks = 0;
	look->work->flags &= (uint8_t)~WORK_SEEKS;
}

static void
seek_process(struct look *look)
{
	look->record.pid = -1;
	memset(look->record.comm, 0, sizeof look->record.comm);
	if (look->worker->now_ms < look->work->hopeless_ms) {
		if (atomic_load_explicit(&look->worker->counters.hidden, memory_order_relaxed) > 0)
			look->record.flags |= OWNER_HIDDEN;
		return;
	}
	look->work->flags |= WORK_SEEKS;
	look->work->flags &= (uint8_t)~WORK_WALKED;
	put_into(&look->worker->homeless, look->work, WORK_IN_HOMELESS, look->slot);
}

/* Finds the process that holds work->inode: the known one if it still does; else a remembered one; else /proc is
 * searched. */
static void
find_process(struct look *look)
{
	struct procfs *procfs = look->worker->procfs;
	struct procfs_process process = {.pid = look->record.pid, .fd = look->work->fd};

	if (process.pid >= 0 && procfs_still_holds(procfs, look->work->inode, &process))
		name_process(look, &process);
	else if (procfs_holder(procfs, look->work->inode, &process))
		name_process(look, &process);
	else
		seek_process(look);
}

/* --------------------------------------------------------------------------------------------- what was found */

/* The process has closed the socket: the last holder stays the owner until a new question comes. */
static void
found_closed(struct look *look, const struct sockdiag_socket *socket)
{
	struct owner_record *record = &look->record;

	record->flags = record->pid >= 0 ? OWNER_CLOSED : 0;
	if (socket != NULL && socket->has_tcp) {
		record->flags |= OWNER_TCP;
		record->tcp = socket->tcp;
	}
	look->work->flags &= (uint8_t)~WORK_SEEKS;
}

/* The kernel has no such socket: schedules the next retry.  True if the last retry has failed. */
static bool
gives_up(struct look *look, const uint16_t *delays_ms, size_t delays)
{
	struct owner_work *work = look->work;

	if (work->cookie != 0) {
		found_closed(look, NULL);
		return false;
	}
	forget_owner(look);
	if (work->flags & WORK_GIVEN_UP)
		return false;
	if (work->tries < delays) {
		look_again_in(look, delays_ms[work->tries++]);
		return false;
	}
	work->flags |= WORK_GIVEN_UP;
	return true;
}

static void
found_nothing(struct look *look)
{
	if (gives_up(look, absent_delays_ms, COUNT_OF(absent_delays_ms)) &&
	    !owner_missed_add(look->worker, look->slot, &look->record.key))
		count(&look->worker->counters.no_socket, 1);
}

/*
 * Finds the listening socket of a connection that is not accepted yet.  With SO_REUSEPORT several sockets may listen on
 * a port, and the kernel selects one by a hash of the connection's ends.  So several nonexistent remote ports are
 * queried: if the answers differ, the listener is ambiguous.
 */
static bool
find_listener(const struct look *look, struct sockdiag_socket *listener)
{
	struct owner_key key = look->record.key;
	struct sockdiag_socket one;

	memset(key.remote, 0, sizeof key.remote);
	for (uint16_t i = 0; i < LISTENER_PROBES; i++) {
		key.remote_port = i;
		if (sockdiag_find(look->worker->diag, &key, look->work->ifindex, &one) != SOCKDIAG_FOUND ||
		    one.state != TCP_STATE_LISTEN || one.inode == 0 || (i > 0 && one.inode != listener->inode))
			return false;
		*listener = one;
	}
	return true;
}

/* The connection is in the listener's queue; no process has accepted it yet. */
static void
found_unaccepted(struct look *look)
{
	struct owner_work *work = look->work;
	struct sockdiag_socket listener;

	/* Most connections are accepted before the second look. */
	if (work->tries > 0 && find_listener(look, &listener)) {
		if (work->inode != listener.inode)
			forget_process(look);
		work->inode = listener.inode;
		count(&look->worker->counters.unaccepted, !(look->record.flags & OWNER_LISTENER));
		look->record.flags = OWNER_LISTENER;
		look->record.uid = listener.uid;
		find_process(look);
	} else {
		forget_owner(look);
	}
	if (work->tries < COUNT_OF(accept_delays_ms))
		look_again_in(look, accept_delays_ms[work->tries++]);
}

/* The query finds the listener: the kernel does not know the connection, or not yet. */
static void
found_listener(struct look *look)
{
	if (gives_up(look, accept_delays_ms, COUNT_OF(accept_delays_ms)))
		count(&look->worker->counters.no_socket, 1);
}

/* The socket is held by a process. */
static void
found_held(struct look *look, const struct sockdiag_socket *socket)
{
	struct owner_work *work = look->work;
	bool tcp = look->record.key.protocol == PROTOCOL_TCP;

	if (work->cookie != socket->cookie || work->inode != socket->inode)
		forget_process(look);
	work->cookie = socket->cookie;
	work->inode = socket->inode;
	look->record.uid = socket->uid;
	look->record.flags = socket->has_tcp ? OWNER_TCP : 0;
	look->record.tcp = socket->tcp;
	find_process(look);
	if (tcp && !(work->flags & WORK_SETTLED)) {
		work->flags |= WORK_SETTLED;
		look_again_in(look, SETTLE_MS);
	}
}

static void
found(struct look *look, const struct sockdiag_socket *socket)
{
	bool tcp = look->record.key.protocol == PROTOCOL_TCP;

	if (socket->inode != 0 && !(tcp && socket->state == TCP_STATE_LISTEN))
		found_held(look, socket);
	else if (tcp && socket->state == TCP_STATE_LISTEN)
		found_listener(look);
	else if (look->work->cookie != 0)
		found_closed(look, look->work->cookie == socket->cookie ? socket : NULL);
	else if (tcp && (socket->state == TCP_STATE_SYN_RECEIVED || socket->state == TCP_STATE_ESTABLISHED ||
			 socket->state == TCP_STATE_CLOSE_WAIT))
		found_unaccepted(look);
	else /* remains of a connection whose owner was not queried in time */
		found_closed(look, socket);
}

/* ------------------------------------------------------------------------------------------------------------ looks */

static void
ask_kernel(struct look *look)
{
	struct sockdiag_socket socket;

	look->work->retry_ms = 0;
	stamp(look);
	switch (sockdiag_find(look->worker->diag, &look->record.key, look->work->ifindex, &socket)) {
	case SOCKDIAG_FOUND:
		found(look, &socket);
		break;
	case SOCKDIAG_NONE:
		found_nothing(look);
		break;
	case SOCKDIAG_FAILED:
		count(&look->worker->counters.errors, 1);
		break;
	}
}

void
owner_look(struct owner_worker *worker, uint32_t slot)
{
	struct look look;

	open_look(&look, worker, slot);
	ask_kernel(&look);
	close_look(&look);
}

void
owner_look_anew(struct owner_worker *worker, uint32_t slot, const struct owner_question *question)
{
	uint8_t lists = WORK_IN_RETRIES | WORK_IN_HOMELESS;
	struct look look;

	open_look(&look, worker, slot);
	*look.work = (struct owner_work){
	    .ifindex = question->ifindex, .fd = -1, .flags = (uint8_t)(look.work->flags & lists)};
	look.record = (struct owner_record){.key = question->key, .pid = -1, .uid = OWNER_UID_UNKNOWN};
	ask_kernel(&look);
	close_look(&look);
}

void
owner_look_found(struct owner_worker *worker, uint32_t slot, const struct sockdiag_socket *socket)
{
	struct look look;

	open_look(&look, worker, slot);
	stamp(&look);
	look.work->flags &= (uint8_t)~WORK_GIVEN_UP;
	look.work->ifindex = socket->ifindex; /* the next query by name will find it */
	found(&look, socket);
	close_look(&look);
}

bool
owner_look_process(struct owner_worker *worker, uint32_t slot)
{
	struct procfs_process process;
	struct look look;

	if (!(worker->work[slot].flags & WORK_SEEKS))
		return true;
	if (!procfs_holder(worker->procfs, worker->work[slot].inode, &process))
		return false;
	open_look(&look, worker, slot);
	name_process(&look, &process);
	close_look(&look);
	return true;
}

void
owner_look_give_up(struct owner_worker *worker, uint32_t slot)
{
	struct owner_work *work = &worker->work[slot];
	struct look look;

	open_look(&look, worker, slot);
	work->flags &= (uint8_t)~WORK_SEEKS;
	work->hopeless_ms = worker->now_ms + ((uint64_t)HOPELESS_MS << work->walks);
	work->walks = (uint8_t)(work->walks + (work->walks < HOPELESS_DOUBLINGS));
	if (atomic_load_explicit(&worker->counters.hidden, memory_order_relaxed) > 0)
		look.record.flags |= OWNER_HIDDEN;
	count(&worker->counters.no_process, 1);
	close_look(&look);
}
