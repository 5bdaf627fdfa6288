/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps a socket's inode to the process that holds it: /proc/PID/fd.  The kernel has no such table, so the descriptors
 * of all processes are scanned in steps, and every socket found is stored as a hint.  procfs_find_holder() verifies the
 * hint and never names a process that does not hold the inode at that moment, even if numbers were reused.  No
 * allocation after procfs_new().
 */
#ifndef NETOBS_OWNER_PROCFS_H
#define NETOBS_OWNER_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct procfs;

struct procfs_process {
	int32_t pid;
	int32_t fd;    /* descriptor number of the socket */
	char comm[16]; /* raw, "" if it could not be read */
};

struct procfs_counters {
	uint64_t scans;	 /* scans started */
	uint64_t links;	 /* descriptors examined */
	uint64_t denied; /* processes that the latest complete scan had no permission to examine */
};

/* NULL with errno; requires /proc. */
struct procfs *procfs_new(void);
void procfs_free(struct procfs *procfs);
size_t procfs_memory(void);

/* The process that holds the inode, if the one of the hint still does.  Among processes that inherited the socket from
 * each other, the oldest. */
bool procfs_find_holder(struct procfs *procfs, uint32_t inode, struct procfs_process *process);

/* Whether the process still holds the inode at the same descriptor; updates its comm. */
bool procfs_check_holder(struct procfs *procfs, uint32_t inode, struct procfs_process *process);

/* A scan of all processes: first those started since the last scan, youngest first; then the latest results of
 * procfs_find_holder(); then the rest.  Each step examines about `links` descriptors and returns true when the scan is
 * complete.  Beginning again abandons the present scan. */
void procfs_scan_begin(struct procfs *procfs);
bool procfs_scan_step(struct procfs *procfs, unsigned links);

struct procfs_counters procfs_counters(const struct procfs *procfs);

#endif
