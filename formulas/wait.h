/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits: "for DURATION by FIELD, ..." is reached when packet time shows that the expression has been true for all
 * firings with the same values in these fields for the duration; "no PROBE where EXPRESSION within DURATION by FIELD,
 * ..." when the duration has passed since a firing for which the formula's own expression is true, without a firing of
 * the probe with the same values.  A firing in which one of the fields is absent has no effect.
 *
 * The first firing of a wait is kept, with its arguments: it is the firing of the formula, at the end of the duration.
 * The thread of the part that began a wait ends it, by its own packet time.  The table of waits is bounded; when it is
 * full the wait that began longest ago is dropped, and counted as such.
 */
#ifndef NETOBS_FORMULAS_WAIT_H
#define NETOBS_FORMULAS_WAIT_H

#include "formulas/formula.h"
#include "probes/saved_firing.h"

/* Waits of a formula at a time; with "for" also the values for which it was true and has not been false since. */
#define WAITS_MAX 4096u

/* No wait is under way. */
#define WAIT_NEVER UINT64_MAX

struct formula_wait;

/* What has been waited for. */
struct formula_waited {
	struct firing firing;
	uint64_t cid; /* connection id of its reported endpoint, 0 without a connection */
	uint64_t arguments[SAVED_ARGUMENTS_MAX / sizeof(uint64_t)];
};

/* The waits of a formula that has them, for `parts` threads; `formula` is borrowed.  NULL if out of memory. */
struct formula_wait *formula_wait_new(const struct formula *formula, unsigned parts);
void formula_wait_free(struct formula_wait *wait);

/* Reads a firing of a probe that the formula reads, in the thread of a part. */
void formula_wait_read(struct formula_wait *wait, unsigned part, struct firing *firing);

/* Whether formula_wait_read() has no effect for a firing, as far as its arguments are known. */
bool formula_wait_rejects(struct formula_wait *wait, struct firing *firing);

/* Packet time at which the next wait of a part ends, or WAIT_NEVER. */
uint64_t formula_wait_due(struct formula_wait *wait, unsigned part);

/* Ends the wait of a part that ends first, if it has ended at `now`. */
bool formula_wait_take(struct formula_wait *wait, unsigned part, uint64_t now, struct formula_waited *waited);

/* Forgets all waits of a part: firings will be missed. */
void formula_wait_clear(struct formula_wait *wait, unsigned part);

/* Waits that were dropped because the table was full. */
uint64_t formula_wait_dropped(struct formula_wait *wait);

#endif
