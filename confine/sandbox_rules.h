/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls that netobsd makes, by purpose. */
#ifndef NETOBS_CONFINE_SANDBOX_RULES_H
#define NETOBS_CONFINE_SANDBOX_RULES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
