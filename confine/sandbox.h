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
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

/* -------------------------------------------------------------------------------------------------------- the rules */

/* The system calls that netobsd makes, by purpose. */

#define SANDBOX_CONDITIONS 3

/* Number of the call that puts Landlock into force, the same for all processors; older headers lack it. */
#define SANDBOX_LANDLOCK_RESTRICT_SELF 446

/* What an argument is compared with. */
enum sandbox_operand {
	SANDBOX_CONSTANT,	/* (argument & mask) == value */
	SANDBOX_LOW_DESCRIPTOR, /* a descriptor below the boundary (high_sockets.h) */
	SANDBOX_OWN_PROCESS,	/* the id of this process */
};

/* The kernel reads only the lower 32 bits of an argument that is an int, and a call may have any value in the others:
 * such an argument is compared with a mask of 32 bits. */
struct sandbox_condition {
	unsigned argument; /* 1 to 6; 0: no condition */
	enum sandbox_operand operand;
	uint64_t mask;
	uint64_t value;
};

/* One rule: it matches if all its conditions hold.  Several rules for a call are alternatives. */
struct sandbox_rule {
	int number;
	struct sandbox_condition conditions[SANDBOX_CONDITIONS];
};

/* What a filter is for, as bits: a table applies to several of them. */
enum sandbox_role {
	SANDBOX_REPLAY = 1,  /* the process of a replay: all its threads together */
	SANDBOX_LIVE = 2,    /* the process that observes interfaces: all its threads together */
	SANDBOX_WORKER = 4,  /* of the process that observes interfaces, the additional capture threads */
	SANDBOX_OWNER = 8,   /* of the same process, the threads that look up processes */
	SANDBOX_READER = 16, /* of a replay, the threads that decompress files */
};

/* When a table applies. */
enum sandbox_case {
	SANDBOX_ALWAYS,
	SANDBOX_IF_OPENING,    /* interfaces may be opened after the start */
	SANDBOX_IF_SUSPENDING, /* capture may be suspended */
	SANDBOX_IF_DTRACE,     /* probes are described to DTrace */
};

struct sandbox_table {
	const char *purpose;
	unsigned roles;
	enum sandbox_case when;
	const struct sandbox_rule *rules;
	size_t count;
};

extern const struct sandbox_table sandbox_allowed[];
extern const size_t sandbox_allowed_count;

/* Calls that fail with ENOSYS, so that the C library falls back to another one. */
extern const int sandbox_enosys[];
extern const size_t sandbox_enosys_count;

/* Calls that kill the process. */
extern const int sandbox_kill[];
extern const size_t sandbox_kill_count;

/* Calls that sanitizers and gcov need: sandbox_instrumentation.c in builds with them, empty in all others
 * (sandbox_instrumentation_stub.c). */
extern const struct sandbox_table sandbox_instrumentation;

/* ------------------------------------------------------------------------------------------------------- the filter */

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

/* -------------------------------------------------------------------------------------------------- access to files */

/*
 * Access to files, if the kernel has Landlock (Linux 5.13): after the start, netobsd reads only below the directories
 * that it needs, and cannot create, change or remove a file, nor connect to a TCP port or to an abstract Unix socket.
 *
 * Threads that look up processes are exceptions: Landlock hides the descriptors of other processes in /proc from the
 * threads that it restricts.  They must be created before.
 */

/* Makes the set of rules.  Call it while the process may still make any call and open any file.  False, with a message
 * logged, on failure; a kernel without Landlock is not a failure. */
bool landlock_prepare(const struct config *config);

/* Restricts this thread and those that it creates.  No effect if landlock_prepare() found no Landlock.  False, with a
 * message logged, on failure. */
bool landlock_enter(void);

#endif
