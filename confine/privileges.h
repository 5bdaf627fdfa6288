/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Privileges while parsing: never root, and no capability that is not needed.
 *
 * If started as root, netobsd switches to another user and drops every capability for good.  If started as another
 * user, it drops all capabilities except, when it observes interfaces, CAP_NET_RAW: the service manager, or setcap on
 * the file, granted it so that captures can be opened, and reopening a removed interface needs it.  No exec restores
 * anything.
 *
 * --all-owners is the one exception: CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH stay, because without them the kernel does
 * not reveal the owners of other users' sockets.
 *
 * The threads divide what is kept: those that open interfaces keep CAP_NET_RAW, and those that look up processes the
 * two others.  The division limits the system calls that an error in one thread can cause.  It does not stop code that
 * writes to the memory of the process: all threads share that memory, so that such code can make any thread use its
 * capabilities.
 *
 * A process that was privileged dumps no core, and other processes of its user cannot trace it.  One without privileges
 * keeps both, so that an ordinary user can debug a replay.
 */
#ifndef NETOBS_CONFINE_PRIVILEGES_H
#define NETOBS_CONFINE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "config/config.h"

struct privileges {
	bool change; /* started as root: switch to the ids below */
	uid_t uid;
	gid_t gid;
	bool keep_capture; /* keep CAP_NET_RAW, if present */
	bool keep_owners;  /* keep CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, if present */
};

/* Determines the target state before anything is opened.  False, with a message logged, if the configuration requires
 * the impossible. */
bool privileges_plan(const struct config *config, struct privileges *plan);

/* Whether the capability to open interfaces will be kept. */
bool privileges_keep_capture(const struct privileges *plan);

/* Drops privileges and verifies the result.  Call it when everything is open and before threads are created.  False,
 * with a message logged, if a privilege is left; nothing must be parsed then. */
bool privileges_drop(const struct privileges *plan);

/* Thread by thread: keeps only those of the kept capabilities that a thread of this kind uses.  `capture`: it opens
 * interfaces; `owners`: it looks up processes.  False, with a message logged, on failure. */
bool privileges_drop_in_thread(bool capture, bool owners);

/* ------------------------------------------------------------------------------------------------------ descriptors */

/* File descriptors that the process inherited. */

/* Begins a program, before it opens anything: messages have its name, whatever the file is called, which is borrowed;
 * those of the descriptors 0 to 2 that are closed are opened; errors of write(2) are not signals; paths are checked if
 * it has privileges. */
void descriptors_begin_program(char *name);

/* Closes all descriptors above 2 except those that the configuration names as /dev/fd/N or /proc/self/fd/N.  Call it
 * before netobsd keeps a descriptor of its own. */
void descriptors_close_inherited(const struct config *config);

#endif
