/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who owns the TCP and UDP sockets of the observed network namespace: live only, and never in capture's way.
 *
 * One thread of its own asks the kernel (sock_diag, then /proc).  The capture thread puts questions into a bounded
 * queue and reads answers from a table of fixed size; it neither waits nor makes a system call for either.
 * owners_ask(), owners_find() and owners_wake() are for one thread only, the capture's; the others for whoever made the
 * object.
 *
 * NULL is the owner of nothing: replays and builds without libmnl have it, every function takes it, and nothing is
 * found.
 */
#ifndef NETOBS_DAEMON_OWNER_OWNER_LOOKUP_H
#define NETOBS_DAEMON_OWNER_OWNER_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/owner.h"

struct owners;

struct owners_limits {
	uint32_t connections; /* endpoints whose owners are remembered; the least recently wanted makes way */
	uint32_t refresh_ms;  /* an answer that is wanted again and again is at most so old while the thread keeps up */
};

/* 32,768 endpoints (14 MiB), 100 ms. */
struct owners_limits owners_limits_default(void);

/* The same for one of several objects that share the connections of a run: together they remember as many. */
static inline struct owners_limits
owners_limits_for(unsigned objects)
{
	struct owners_limits limits = owners_limits_default();

	limits.connections = (limits.connections + objects - 1) / objects;
	return limits;
}

struct owners_counters {
	uint64_t asked;	       /* questions put */
	uint64_t dropped;      /* of them, lost to a full queue; put again when the answer is wanted */
	uint64_t answered;     /* questions dealt with, found or not */
	uint64_t no_socket;    /* the kernel knew no such socket: closed already, or never of this namespace */
	uint64_t no_process;   /* a socket, but no process that could be seen to hold it */
	uint64_t processes;    /* a process was found */
	uint64_t unaccepted;   /* answers that had to name the listener, for nobody had accepted the connection yet */
	uint64_t refreshed;    /* known sockets asked for again */
	uint64_t refresh_late; /* rounds of refreshing that took longer than refresh_ms */
	uint64_t evicted;      /* endpoints forgotten for others */
	uint64_t torn;	       /* answers not read because they were being written */
	uint64_t scans;	       /* walks through /proc */
	uint64_t scan_links;   /* file descriptors looked at in them */
	uint64_t dumps;	       /* whole socket tables asked for */
	uint64_t errors;       /* requests that the kernel refused or did not answer */
	uint64_t hidden;       /* processes that the latest whole walk could not look into; 0: all were seen */
};

/* Starts the look-ups for the network namespace that the calling thread is in; other namespaces are other objects.
 * Call it after the last fork and after dropping privileges: the thread keeps those of its creator.  NULL with errno if
 * it cannot be: ENOTSUP in a build without libmnl.  `seed` makes the table's hash unpredictable. */
struct owners *owners_new(const struct owners_limits *limits, uint64_t seed);

/* Ends the thread. */
void owners_free(struct owners *owners);

/* A connection has begun: whatever is known of an earlier one between the same ends counts no more.  `ifindex` is where
 * its packet was seen, 0 if unknown: a socket may be bound to an interface. */
void owners_ask(struct owners *owners, const struct owner_key *key, uint32_t ifindex);

/* What is known of an endpoint; false, with *owner saying unknown, if nothing is yet.  Asks by itself if nobody has
 * asked, and sees to it that the answer is fresh next time. */
bool owners_find(struct owners *owners, const struct owner_key *key, uint32_t ifindex, struct owner *owner);

/* To be called after each batch of packets: wakes the thread if there is anything to do and it sleeps.  One comparison
 * if not, a system call at most. */
void owners_wake(struct owners *owners);

/* The inode of the network namespace, -1 for NULL. */
int64_t owners_zone(const struct owners *owners);

struct owners_counters owners_counters(const struct owners *owners);

/* Bytes that owners_new() reserves. */
size_t owners_memory(const struct owners_limits *limits);

#endif
