/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the word that a misspelt one was probably meant to be; capital letters do not matter.  scripts/nearest.awk is
 * the same rule for scripts. */
#ifndef NETOBS_PROBES_NEAREST_H
#define NETOBS_PROBES_NEAREST_H

#include <stddef.h>

/* Longer words have no hint. */
#define NEAREST_WORD_MAX 64

/* Bytes of a hint, including the NUL. */
#define NEAREST_HINT_MAX (NEAREST_WORD_MAX + 32)

struct nearest {
	const char *word; /* the misspelt word, `length` bytes */
	size_t length;
	const char *found;   /* the nearest candidate; NULL: no candidate is near */
	int most_edits;	   /* a candidate with more edits is not near; -1: no candidate is */
};

/* Begins a search.  `word` must stay until its end. */
void nearest_begin(struct nearest *nearest, const char *word, size_t length);

/* Considers a candidate, which must stay until the end of the search.  Of equally near ones the first is found. */
void nearest_consider(struct nearest *nearest, const char *candidate);

/* Writes " (did you mean PREFIXWORD?)", or nothing if no candidate is near.  Returns `hint`. */
const char *nearest_hint(const struct nearest *nearest, const char *prefix, char hint[NEAREST_HINT_MAX]);

#endif
