/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system-call filter (seccomp), loaded before the first byte of a capture is parsed.  It allows what netobsd does,
 * listed by purpose (sandbox_rules.c).  Other calls fail with EPERM, because a newer C library may try a call that it
 * does not need.  Calls that only an intruder would make (run a program, trace a process, load code into the kernel)
 * kill the process.
 *
 * Sockets that capture frames have high descriptors (high_sockets.h): nothing can be sent through them, they cannot be
 * bound or duplicated, and of their options only the filter of frames can be set.  Two things widen that: a netobsd
 * that may open interfaces after the start (it keeps CAP_NET_RAW) can create such sockets, and give them options and an
 * interface; one that may suspend capture (--on-demand) can bind its sockets.
 *
 * A filter applies to a thread and to those that it creates.  The threads beside the main thread add a filter of their
 * own, which allows less.
 */
#ifndef NETOBS_CONFINE_SANDBOX_H
#define NETOBS_CONFINE_SANDBOX_H

#include <stdbool.h>

#include "confine/sandbox_rules.h"

/* What the process does after the start. */
struct sandbox_process {
	bool live;     /* observes interfaces */
	bool opens;    /* and opens those that return */
	bool suspends; /* and suspends capture */
	bool dtrace;   /* describes its probes to dtprobed */
};

/* Loads the filter for this and every later thread.  False, with a message logged, if the filter is not in force
 * afterwards; nothing must be parsed then. */
bool sandbox_enter(const struct sandbox_process *process);

/* After sandbox_enter(), live for workers and owner threads, otherwise for reader threads: adds the filter for `role`
 * to that of the calling thread.  False, with a message logged, on failure. */
bool sandbox_enter_thread(enum sandbox_role role);

#endif
