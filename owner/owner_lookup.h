/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owners of the TCP and UDP sockets of the observed network namespace, for live capture, without delaying it.
 *
 * A thread queries the kernel (sock_diag, then /proc).  The capture thread puts requests into a bounded queue and reads
 * replies from a table of fixed size; neither operation waits or makes a system call, unless
 * owner_lookup_set_waiting() permits it.  owner_lookup_request(), owner_lookup_find(), owner_lookup_peek(),
 * owner_lookup_refresh(), owner_lookup_prepare(), owner_lookup_is_searching() and owner_lookup_wake() may be called by
 * the capture thread only, or with its lock held; the other functions by the creator.
 *
 * A NULL object knows no owners: replays use it, and every function accepts it.
 */
#ifndef NETOBS_OWNER_OWNER_LOOKUP_H
#define NETOBS_OWNER_OWNER_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/owner.h"

struct owner_lookup;

struct owner_lookup_limits {
	uint32_t endpoints;  /* endpoints whose owners are kept; the least recently used is evicted */
	uint32_t refresh_ms; /* highest age of a reply that is used repeatedly, as long as the thread keeps up */
};

/* 32,768 endpoints (14 MiB), 100 ms. */
struct owner_lookup_limits owner_lookup_default_limits(void);

/* Limits for one of several objects that share the connections of a run: each gets its part. */
static inline struct owner_lookup_limits
owner_lookup_limits_for(unsigned objects)
{
	struct owner_lookup_limits limits = owner_lookup_default_limits();

	limits.endpoints = (limits.endpoints + objects - 1) / objects;
	return limits;
}

/* Whether a reply with this process and these flags (enum owner_flag) names the process, or the process will not be
 * found. */
static inline bool
owner_is_final(int32_t pid, uint32_t flags)
{
	return pid >= 0 || (flags & (OWNER_HIDDEN | OWNER_CLOSED)) != 0;
}

struct owner_lookup_counters {
	uint64_t requests;     /* requests made */
	uint64_t dropped;      /* requests dropped because the queue was full; repeated when the owner is needed */
	uint64_t replies;      /* requests processed, whether or not an owner was found */
	uint64_t no_socket;    /* no such socket: closed already, or never in this namespace */
	uint64_t no_process;   /* a socket, but no visible process that holds it */
	uint64_t processes;    /* a process was found */
	uint64_t unaccepted;   /* replies that name the listener, because no process had accepted the connection yet */
	uint64_t refreshed;    /* known sockets that were queried again */
	uint64_t refresh_late; /* refresh rounds that took longer than refresh_ms */
	uint64_t evicted;      /* endpoints evicted for others */
	uint64_t torn_reads;   /* replies not read because they were being written */
	uint64_t scans;	       /* scans of /proc */
	uint64_t scan_links;   /* file descriptors examined in the scans */
	uint64_t dumps;	       /* dumps of whole socket tables */
	uint64_t errors;       /* queries that the kernel refused or did not answer */
	uint64_t unreadable;   /* processes that the latest complete scan had no permission to examine */
};

/* Starts the lookup thread for the network namespace of the calling thread; another namespace needs another object.
 * Call it after the last fork and after dropping privileges, because the thread inherits the privileges of its creator.
 * NULL with errno on failure.  `seed` makes the table's hash unpredictable. */
struct owner_lookup *owner_lookup_new(const struct owner_lookup_limits *limits, uint64_t seed);

/* Ends the thread. */
void owner_lookup_free(struct owner_lookup *lookup);

/* A connection has begun: discards the reply about an earlier one between the same ends.  `ifindex` is the interface
 * of its packet, 0 if unknown; it matters because a socket may be bound to an interface. */
void owner_lookup_request(struct owner_lookup *lookup, const struct owner_key *key, uint32_t ifindex);

/* Looks up the owner of an endpoint.  False, with *owner unknown, if there is no reply yet.  A reply from before
 * `since_ns`, the time stamp of the connection's first packet, is about an earlier connection between the same ends:
 * connections that begin while nothing is traced cause no request.  Enqueues a request if no request is pending; a
 * reply that is used gets refreshed. */
bool owner_lookup_find(struct owner_lookup *lookup, const struct owner_key *key, uint32_t ifindex, uint64_t since_ns,
		       struct owner *owner);

/* Like owner_lookup_find(), but never waits and requests nothing: the owner as last found, at any time. */
bool owner_lookup_peek(struct owner_lookup *lookup, const struct owner_key *key, struct owner *owner);

/* Has the kernel queried again about an endpoint, and at once: owner_lookup_peek() then finds an owner whose queried_ns
 * is later.  A reply from before `since_ns` is discarded, as in owner_lookup_find(). */
void owner_lookup_refresh(struct owner_lookup *lookup, const struct owner_key *key, uint64_t since_ns);

/* For a list of many endpoints. */
enum owner_prepared {
	OWNER_PREPARED,	       /* there is a reply, or there can be none */
	OWNER_PREPARE_PENDING, /* a request is queued */
	OWNER_PREPARE_LATER,   /* the queue is half full; the rest is for new connections */
};

/* Enqueues a request unless it is pending or there is a reply from `since_ns` or later.  A reply that is old at
 * `now_ns` is refreshed: after 30 seconds, after 2 if it names the listener.  Call owner_lookup_wake() after the last
 * one. */
enum owner_prepared owner_lookup_prepare(struct owner_lookup *lookup, const struct owner_key *key, uint64_t since_ns,
					 uint64_t now_ns);

/* Whether a request is pending, or the socket was found since `asked_ns` and its process is searched for. */
bool owner_lookup_is_searching(struct owner_lookup *lookup, const struct owner_key *key, uint64_t asked_ns);

/* Makes owner_lookup_find() wait for the first reply about each connection: at most 20 ms at once, and a tenth of the
 * time altogether, so that the kernel's buffer holds the frames meanwhile.  The creator calls it before the first
 * request. */
void owner_lookup_set_waiting(struct owner_lookup *lookup, bool waiting);

/* Wakes the thread if it sleeps and there is work.  Call it after each batch of packets.  Costs one comparison if there
 * is no work, and at most one system call. */
void owner_lookup_wake(struct owner_lookup *lookup);

/* The inode of the network namespace, -1 for NULL. */
int64_t owner_lookup_netns_inode(const struct owner_lookup *lookup);

struct owner_lookup_counters owner_lookup_get_counters(const struct owner_lookup *lookup);

/* Bytes that owner_lookup_new() reserves. */
size_t owner_lookup_memory(const struct owner_lookup_limits *limits);

#endif
