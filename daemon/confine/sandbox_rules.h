/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls that netobsd makes, by purpose. */
#ifndef NETOBS_DAEMON_CONFINE_SANDBOX_RULES_H
#define NETOBS_DAEMON_CONFINE_SANDBOX_RULES_H

#include <stddef.h>
#include <stdint.h>

/* One rule: it matches if (argument & mask) == value.  Several rules for a call are alternatives. */
struct sandbox_rule {
	int number;
	unsigned argument; /* 1 to 6; 0: any arguments */
	uint64_t mask;
	uint64_t value;
};

enum sandbox_scope {
	SANDBOX_ALWAYS,
	SANDBOX_LIVE,
};

struct sandbox_table {
	const char *purpose;
	enum sandbox_scope when;
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
