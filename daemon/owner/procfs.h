/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a socket's inode to the process that holds it: /proc/PID/fd.
 *
 * The kernel has no such table, so all descriptors of all processes are walked through, in steps, and whatever sockets
 * are seen are remembered.  What is remembered is only a hint: procfs_holder() answers after looking again, so it never
 * names a process that does not hold the inode at that moment, whatever has become of the numbers.
 *
 * No allocation after procfs_new().
 */
#ifndef NETOBS_DAEMON_OWNER_PROCFS_H
#define NETOBS_DAEMON_OWNER_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct procfs;

struct procfs_process {
	int32_t pid;
	int32_t fd;	/* the descriptor that is the socket */
	char comm[16];	/* raw, "" if it could not be read */
};

struct procfs_counters {
	uint64_t walks;	 /* begun */
	uint64_t links;	 /* descriptors looked at in them */
	uint64_t denied; /* processes of the latest complete walk that could not be looked into */
};

/* NULL with errno; there must be a /proc. */
struct procfs *procfs_new(void);
void procfs_free(struct procfs *procfs);
size_t procfs_memory(void);

/* The process that holds the inode, if any is remembered to and still does.  Of processes that have inherited it from
 * each other the eldest. */
bool procfs_holder(struct procfs *procfs, uint32_t inode, struct procfs_process *process);

/* Whether the process still holds the inode at the same descriptor; renews its comm. */
bool procfs_still_holds(struct procfs *procfs, uint32_t inode, struct procfs_process *process);

/* A walk through all processes: those that have come since the last one first, the youngest before, then the latest
 * finds of procfs_holder(), then the rest.  A step looks at about `links` descriptors and returns true when all have
 * been seen.  Beginning again gives up the walk under way. */
void procfs_walk_begin(struct procfs *procfs);
bool procfs_walk_step(struct procfs *procfs, unsigned links);

struct procfs_counters procfs_counters(const struct procfs *procfs);

#endif
