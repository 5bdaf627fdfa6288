/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints that the kernel does not find by name although they may have a socket: the socket is bound to a device
 * other than the interface of the packet (a VRF, or an "any" capture that does not show the interface).  For these the
 * whole socket tables are dumped, rarely and for many endpoints at once.
 */
#include <string.h>

#include "daemon/owner/owner_thread.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

/* How well a socket matches; the highest sum wins, as in the kernel. */
#define SCORE_CONNECTED 4
#define SCORE_ADDRESS 2
#define SCORE_DEVICE 1
#define SCORE_NONE (-1)

struct dump {
	struct owner_worker *worker;
	uint8_t protocol;
};

bool
owner_missed_add(struct owner_worker *worker, uint32_t slot, const struct owner_key *key)
{
	if (worker->missed_count >= OWNER_MISSED_MAX)
		return false;
	worker->missed[worker->missed_count++] = (struct owner_missed){
	    .key = *key, .slot = slot, .ifindex = worker->work[slot].ifindex, .score = SCORE_NONE};
	return true;
}

static bool
is_any(const uint8_t addr[16])
{
	static const uint8_t any[16];

	return memcmp(addr, any, sizeof any) == 0;
}

/* An unconnected dual-stack socket receives IPv4 as well. */
static bool
can_carry(const struct sockdiag_socket *socket, uint8_t version)
{
	return socket->version == version ||
	       (version == 4 && is_any(socket->local) && is_any(socket->remote) && !socket->v6only);
}

static int
score(const struct owner_missed *missed, const struct sockdiag_socket *socket)
{
	const struct owner_key *key = &missed->key;
	bool connected = socket->remote_port != 0, named = !is_any(socket->local);
	int sum = 0;

	if (socket->local_port != key->local_port || !can_carry(socket, key->version))
		return SCORE_NONE;
	if (named && memcmp(socket->local, key->local, sizeof key->local) != 0)
		return SCORE_NONE;
	if (connected && (socket->remote_port != key->remote_port ||
			  memcmp(socket->remote, key->remote, sizeof key->remote) != 0))
		return SCORE_NONE;
	if (key->protocol == PROTOCOL_TCP && !(connected && named))
		return SCORE_NONE;
	sum += connected ? SCORE_CONNECTED : 0;
	sum += named ? SCORE_ADDRESS : 0;
	sum += socket->ifindex != 0 && socket->ifindex == missed->ifindex ? SCORE_DEVICE : 0;
	return sum;
}

static void
match(void *context, const struct sockdiag_socket *socket)
{
	const struct dump *dump = context;
	struct owner_worker *worker = dump->worker;

	for (uint32_t i = 0; i < worker->missed_count; i++) {
		struct owner_missed *missed = &worker->missed[i];
		int fits;

		if (missed->key.local_port != socket->local_port || missed->key.protocol != dump->protocol)
			continue;
		fits = score(missed, socket);
		if (fits == SCORE_NONE || fits < missed->score)
			continue;
		missed->ambiguous = fits == missed->score && missed->best.cookie != socket->cookie;
		missed->score = fits;
		missed->best = *socket;
	}
}

static bool
any_missed(const struct owner_worker *worker, uint8_t protocol, uint8_t version)
{
	for (uint32_t i = 0; i < worker->missed_count; i++) {
		const struct owner_key *key = &worker->missed[i].key;

		/* IPv6 sockets may carry IPv4. */
		if (key->protocol == protocol && (key->version == version || version == 6))
			return true;
	}
	return false;
}

void
owner_missed_run(struct owner_worker *worker)
{
	static const uint8_t protocols[] = {PROTOCOL_TCP, PROTOCOL_UDP};

	for (unsigned p = 0; p < sizeof protocols; p++)
		for (uint8_t version = 4; version <= 6; version = (uint8_t)(version + 2)) {
			struct dump dump = {worker, protocols[p]};

			if (!any_missed(worker, protocols[p], version))
				continue;
			count(&worker->counters.dumps, 1);
			if (!sockdiag_dump(worker->diag, protocols[p], version, match, &dump))
				count(&worker->counters.errors, 1);
		}
	for (uint32_t i = 0; i < worker->missed_count; i++) {
		const struct owner_missed *missed = &worker->missed[i];
		struct owner_record record;

		owner_table_peek(worker->mailbox->table, missed->slot, &record);
		if (memcmp(&record.key, &missed->key, sizeof missed->key) != 0 ||
		    !(worker->work[missed->slot].flags & WORK_GIVEN_UP))
			continue; /* the slot was reused for another endpoint, or queried again */
		if (missed->score != SCORE_NONE && !missed->ambiguous)
			owner_look_found(worker, missed->slot, &missed->best);
		else
			count(&worker->counters.no_socket, 1);
	}
	worker->missed_count = 0;
}
