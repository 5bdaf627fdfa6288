/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints that the kernel does not find by their addresses although they may have a socket: the socket is bound to a
 * device other than the interface of the packet (a VRF, or an "any" capture that does not show the interface).  For
 * these the whole socket tables are dumped, rarely and for many endpoints at once.
 */
#include <netinet/in.h>
#include <string.h>

#include "owner/owner_thread.h"

/* How well a socket matches; the highest sum wins, as in the kernel. */
#define SCORE_CONNECTED 4
#define SCORE_ADDRESS	2
#define SCORE_DEVICE	1
#define SCORE_NONE	(-1)

struct owner_dump_context {
	struct owner_thread *thread;
	uint8_t protocol;
};

bool
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

void
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
