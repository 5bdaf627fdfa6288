/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system-call filter (seccomp), loaded before the first byte of a capture is parsed.  It allows what netobsd does,
 * listed by purpose (sandbox_rules.c).  Other calls fail with EPERM, because a newer C library may try a call that it
 * does not need.  Calls that only an intruder would make (run a program, trace a process, load code into the kernel)
 * kill the process.
 *
 * A filter applies to a thread and to those that it creates.  The threads beside the main thread add a filter of their
 * own, which allows less.
 */
#ifndef NETOBS_DAEMON_CONFINE_SANDBOX_H
#define NETOBS_DAEMON_CONFINE_SANDBOX_H

#include <stdbool.h>

#include "daemon/confine/sandbox_rules.h"

/* Loads the filter for this and every later thread.  `live`: interfaces are observed and may be reopened.  False, with
 * a message logged, if the filter is not in force afterwards; nothing must be parsed then. */
bool sandbox_enter(bool live);

/* After sandbox_enter(), live for workers and owner threads, otherwise for reader threads: adds the filter for `role`
 * to that of the calling thread.  False, with a message logged, on failure. */
bool sandbox_enter_thread(enum sandbox_role role);

#endif
