/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system-call filter (seccomp), loaded before the first byte of a capture is parsed.  It allows what netobsd does,
 * listed by purpose (sandbox_rules.c).  Other calls fail with EPERM, because a newer C library may try a call that it
 * does not need.  Calls that only an intruder would make (run a program, trace a process, load code into the kernel)
 * kill the process.
 */
#ifndef NETOBS_DAEMON_CONFINE_SANDBOX_H
#define NETOBS_DAEMON_CONFINE_SANDBOX_H

#include <stdbool.h>

/* Loads the filter for this and every later thread.  `live`: interfaces are observed and may be reopened.  False, with
 * a message logged, if the filter is not in force afterwards; nothing must be parsed then. */
bool sandbox_enter(bool live);

#endif
