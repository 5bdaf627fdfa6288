/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of the local ends of a connection, in replies about connections. */
#include <stdio.h>

#include "base/clock.h"
#include "daemon/query/control_reply.h"
#include "owner/owner_lookup.h"

/* Longest wait for the owners of a connection, or of all connections of a list. */
#define OWNER_WAIT_NS NANOSECONDS

/* Most ends whose owners are looked up for a list.  With more than the lookup table holds, each list would evict the
 * replies that the next one needs. */
#define OWNER_ENDS_MAX 16384u

/* How an end is owned, or why its process is unknown. */
enum reply_owner_status {
	REPLY_OWNER_PROCESS,
	REPLY_OWNER_LISTENER,
	REPLY_OWNER_CLOSED,
	REPLY_OWNER_UNKNOWN, /* from here on the process is unknown */
	REPLY_OWNER_HIDDEN = REPLY_OWNER_UNKNOWN,
	REPLY_OWNER_NO_PROCESS,
	REPLY_OWNER_NO_USER, /* from here on the user is unknown, too, or not the client's business */
	REPLY_OWNER_CAPTURE = REPLY_OWNER_NO_USER,
	REPLY_OWNER_REMOTE,
	REPLY_OWNER_OFF,
	REPLY_OWNER_SCTP,
	REPLY_OWNER_PENDING,
	REPLY_OWNER_PRIVATE,
	REPLY_OWNER_NO_SOCKET,
};

static const char *const reply_owner_words[] = {
    [REPLY_OWNER_PROCESS] = "process",	   [REPLY_OWNER_LISTENER] = "listener",
    [REPLY_OWNER_CLOSED] = "closed",	   [REPLY_OWNER_CAPTURE] = "capture",
    [REPLY_OWNER_REMOTE] = "remote",	   [REPLY_OWNER_OFF] = "off",
    [REPLY_OWNER_SCTP] = "sctp",	   [REPLY_OWNER_PENDING] = "pending",
    [REPLY_OWNER_PRIVATE] = "private",	   [REPLY_OWNER_HIDDEN] = "hidden",
    [REPLY_OWNER_NO_SOCKET] = "no-socket", [REPLY_OWNER_NO_PROCESS] = "no-process",
};

static struct owner_lookup *
reply_owner_lookup(const struct control_reply *reply)
{
	return reply->query->workers->worker[reply->worker].owner_lookup;
}

/* Whether the owner of this end can be looked up. */
static bool
reply_is_owner_sought(const struct control_reply *reply, const struct flow *flow, unsigned endpoint)
{
	return reply_owner_lookup(reply) != NULL && (flow->local >> endpoint & 1) != 0 && flow->kind != FLOW_SCTP;
}

/* Whether the end is closed: no process holds its socket any more, so no later reply of the kernel names one. */
static bool
reply_end_is_closed(const struct flow *flow, unsigned endpoint)
{
	return flow->kind == FLOW_TCP &&
	       (flow->tcp[endpoint].state == TCP_STATE_CLOSED || flow->tcp[endpoint].state == TCP_STATE_TIME_WAIT);
}

/* Whether there is a reply of the kernel since the request that names the process, or the process will not be found. */
static bool
reply_is_owner_final(const struct control_reply *reply, const struct flow *flow, unsigned endpoint)
{
	struct owner_key key;
	struct owner owner;

	owner_key_from_flow(&key, &flow->key, endpoint);
	return owner_lookup_peek(reply_owner_lookup(reply), &key, &owner) && owner.queried_ns >= reply->asked_ns &&
	       (owner_is_final(owner.pid, owner.flags) || reply_end_is_closed(flow, endpoint));
}

static void
reply_begin_owners(struct control_reply *reply)
{
	if (reply->asked_ns != 0)
		return;
	reply->asked_ns = clock_realtime_ns();
	reply->deadline_ns = clock_monotonic_ns() + OWNER_WAIT_NS;
}

bool
reply_find_owners(struct control_reply *reply, const struct flow_table *table, const struct flow *flow)
{
	bool first = reply->asked_ns == 0, final = true;

	reply_begin_owners(reply);
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		struct owner_key key;

		if (!reply_is_owner_sought(reply, flow, endpoint))
			continue;
		owner_key_from_flow(&key, &flow->key, endpoint);
		if (first)
			owner_lookup_refresh(reply_owner_lookup(reply), &key, flow_first_seen(table, flow));
		final &= reply_is_owner_final(reply, flow, endpoint);
	}
	return final || clock_monotonic_ns() >= reply->deadline_ns;
}

/* Whether a list needs the owner of an end, and it can be looked up.  No process holds the socket of a closed end. */
static bool
reply_lists_owner(const struct control_reply *reply, const struct flow *flow, unsigned endpoint)
{
	return reply_is_owner_sought(reply, flow, endpoint) && !reply_end_is_closed(flow, endpoint);
}

static void
reply_begin_pass(struct control_reply *reply, enum reply_owner_pass pass)
{
	reply->owner_pass = (uint8_t)pass;
	reply->worker = 0;
	reply->position = 0;
}

void
reply_next_owner_pass(struct control_reply *reply)
{
	bool waits = reply->owner_pass == REPLY_PASS_PREPARE && reply->owners_pending && !reply->request.no_wait;

	reply_begin_pass(reply, waits ? REPLY_PASS_WAIT : REPLY_PASS_WRITE);
}

void
reply_prepare_owners(struct control_reply *reply, const struct flow_table *table, const struct flow *flow)
{
	enum owner_prepared prepared = OWNER_PREPARED;

	reply_begin_owners(reply);
	for (unsigned endpoint = 0; endpoint < 2 && prepared != OWNER_PREPARE_LATER; endpoint++) {
		struct owner_key key;

		if (!reply_lists_owner(reply, flow, endpoint))
			continue;
		owner_key_from_flow(&key, &flow->key, endpoint);
		prepared = owner_lookup_prepare(reply_owner_lookup(reply), &key, flow_first_seen(table, flow),
						reply->asked_ns);
		reply->owners_pending |= prepared != OWNER_PREPARED;
		reply->owner_ends++;
	}
	if (reply->owner_ends >= OWNER_ENDS_MAX)
		reply_next_owner_pass(reply);
	else if (prepared == OWNER_PREPARE_LATER &&
		 (reply->request.no_wait || clock_monotonic_ns() >= reply->deadline_ns))
		reply_begin_pass(reply, REPLY_PASS_WRITE);
	else
		reply->later = prepared == OWNER_PREPARE_LATER;
}

void
reply_wait_for_owners(struct control_reply *reply, const struct flow *flow)
{
	if (clock_monotonic_ns() >= reply->deadline_ns) {
		reply_begin_pass(reply, REPLY_PASS_WRITE);
		return;
	}
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		struct owner_key key;

		if (!reply_lists_owner(reply, flow, endpoint))
			continue;
		owner_key_from_flow(&key, &flow->key, endpoint);
		reply->later |= owner_lookup_is_searching(reply_owner_lookup(reply), &key, reply->asked_ns);
	}
}

/* Reads the owner of an end as last found. */
static enum reply_owner_status
reply_read_owner(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		 unsigned endpoint, struct owner *owner)
{
	struct owner_key key;
	bool found;

	owner_key_from_flow(&key, &flow->key, endpoint);
	found = owner_lookup_peek(reply_is_owner_sought(reply, flow, endpoint) ? reply_owner_lookup(reply) : NULL, &key,
				  owner);
	if (reply->query->config->capture_paths[0] != NULL)
		return REPLY_OWNER_CAPTURE;
	if ((flow->local >> endpoint & 1) == 0)
		return REPLY_OWNER_REMOTE;
	if (reply_owner_lookup(reply) == NULL)
		return REPLY_OWNER_OFF;
	if (flow->kind == FLOW_SCTP)
		return REPLY_OWNER_SCTP;
	if (!found || owner->queried_ns < flow_first_seen(table, flow))
		return REPLY_OWNER_PENDING; /* not queried yet, or about an earlier connection between the same ends */
	if (owner->uid == OWNER_UID_UNKNOWN)
		return REPLY_OWNER_NO_SOCKET;
	if (!reply->all_owners && owner->uid != reply->uid)
		return REPLY_OWNER_PRIVATE;
	if (owner->pid < 0)
		return (owner->flags & OWNER_HIDDEN) != 0 ? REPLY_OWNER_HIDDEN : REPLY_OWNER_NO_PROCESS;
	if ((owner->flags & OWNER_CLOSED) != 0)
		return REPLY_OWNER_CLOSED;
	return (owner->flags & OWNER_LISTENER) != 0 ? REPLY_OWNER_LISTENER : REPLY_OWNER_PROCESS;
}

int32_t
reply_owner_pid(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		unsigned endpoint)
{
	struct owner owner;

	return reply_read_owner(reply, table, flow, endpoint, &owner) < REPLY_OWNER_UNKNOWN ? owner.pid : -1;
}

bool
reply_find_owner(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		 unsigned endpoint, struct owner *owner, char word[REPLY_OWNER_WORD_SIZE])
{
	enum reply_owner_status status = reply_read_owner(reply, table, flow, endpoint, owner);

	snprintf(word, REPLY_OWNER_WORD_SIZE, "%s", reply_owner_words[status]);
	return status < REPLY_OWNER_NO_USER;
}
