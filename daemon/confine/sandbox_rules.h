/* SPDX-License-Identifier: BSD-2-Clause */
/* Which system calls netobsd makes, and what for. */
#ifndef NETOBS_DAEMON_CONFINE_SANDBOX_RULES_H
#define NETOBS_DAEMON_CONFINE_SANDBOX_RULES_H

#include <stddef.h>
#include <stdint.h>

/* One call.  It holds if (argument & mask) == value; several rules for one call are alternatives. */
struct sandbox_rule {
	int number;
	unsigned argument; /* 1 to 6; 0: whatever the arguments are */
	uint64_t mask;
	uint64_t value;
};

enum sandbox_when {
	SANDBOX_ALWAYS,
	SANDBOX_LIVE,
};

struct sandbox_table {
	const char *purpose;
	enum sandbox_when when;
	const struct sandbox_rule *rules;
	size_t count;
};

extern const struct sandbox_table sandbox_allowed[];
extern const size_t sandbox_allowed_count;

/* Which seem not to exist (ENOSYS), so that whoever makes them does it another way. */
extern const int sandbox_absent[];
extern const size_t sandbox_absent_count;

/* Whose mere attempt kills the process. */
extern const int sandbox_deadly[];
extern const size_t sandbox_deadly_count;

/* What sanitizers and gcov need: sandbox_instrumentation.c in builds with them; sandbox_instrumentation_stub.c, which is
 * empty, in all others. */
extern const struct sandbox_table sandbox_instruments;

#endif
