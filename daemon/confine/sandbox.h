/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of system calls (seccomp), loaded before the first byte of a capture is parsed.
 *
 * It is a list of what netobsd does, in tables by purpose (sandbox_rules.c).  What is not in it fails with EPERM: a
 * newer C library may try a call that it can do without.  What only an intruder would do (run a program, trace a
 * process, load code into the kernel) kills the process.
 */
#ifndef NETOBS_DAEMON_CONFINE_SANDBOX_H
#define NETOBS_DAEMON_CONFINE_SANDBOX_H

#include <stdbool.h>

/* Loads the filter for this and every later thread.  `live`: interfaces are observed, and may have to be opened again.
 * False, with a message logged, if it is not in force afterwards; nothing is to be parsed then. */
bool sandbox_enter(bool live);

#endif
