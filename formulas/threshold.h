/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thresholds: "N times in DURATION by FIELD, ..." is reached by the Nth firing within the duration of packet time that
 * has the same values in all these fields; "N distinct FIELD, ... in DURATION by FIELD, ..." by the firing with the Nth
 * different values of the first fields.  What is counted for the values after "by" then starts again at 0.  A firing in
 * which one of the fields is absent does not count.
 *
 * The table of values is bounded.  When it is full the values that were counted longest ago are dropped, and counted as
 * such.  Distinct values are counted exactly: a threshold needs no more of them than N.
 */
#ifndef NETOBS_FORMULAS_THRESHOLD_H
#define NETOBS_FORMULAS_THRESHOLD_H

#include "formulas/formula.h"

#define THRESHOLD_TIMES_MAX 10000u

/* Values that a table holds; fewer if the threshold is above THRESHOLD_STAMPS_MAX / THRESHOLD_KEYS_MAX, because the
 * times of all their firings, or their distinct values, are kept; these have THRESHOLD_DISTINCT_BYTES_MAX bytes at
 * most. */
#define THRESHOLD_KEYS_MAX	     1024u
#define THRESHOLD_STAMPS_MAX	     (256u * 1024)
#define THRESHOLD_DISTINCT_BYTES_MAX (16u * 1024 * 1024)

struct formula_threshold;

/* The table of a formula that has a threshold; `formula` is borrowed.  NULL if out of memory. */
struct formula_threshold *formula_threshold_new(const struct formula *formula);
void formula_threshold_free(struct formula_threshold *threshold);

/* Counts a firing for which the expression is true; returns whether the threshold is reached.  Threads may call it at
 * the same time. */
bool formula_threshold_count(struct formula_threshold *threshold, struct firing *firing);

/* Values that were dropped because the table was full. */
uint64_t formula_threshold_dropped(struct formula_threshold *threshold);

/* The values in the fullest bucket of the tables, with which those of a firing are compared at most.  For tests: the
 * threshold must not be in use. */
unsigned formula_threshold_longest_chain(const struct formula_threshold *threshold);

#endif
