/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to files, if the kernel has Landlock (Linux 5.13): after the start, netobsd reads only below the directories
 * that it needs, and cannot create, change or remove a file, nor connect to a TCP port or to an abstract Unix socket.
 *
 * Threads that look up processes are exceptions: Landlock hides the descriptors of other processes in /proc from the
 * threads that it restricts.  They must be created before.
 */
#ifndef NETOBS_CONFINE_LANDLOCK_H
#define NETOBS_CONFINE_LANDLOCK_H

#include <stdbool.h>

#include "config/config.h"

/* Makes the set of rules.  Call it while the process may still make any call and open any file.  False, with a message
 * logged, on failure; a kernel without Landlock is none. */
bool landlock_prepare(const struct config *config);

/* Restricts this thread and those that it creates.  No effect if landlock_prepare() found no Landlock.  False, with a
 * message logged, on failure. */
bool landlock_enter(void);

#endif
