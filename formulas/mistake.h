/* SPDX-License-Identifier: BSD-2-Clause */
/* Mistakes in a definition: the first one is reported, with its line and column. */
#ifndef NETOBS_FORMULAS_MISTAKE_H
#define NETOBS_FORMULAS_MISTAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "formulas/formula.h"

struct source {
	const char *text; /* the definition, ended by a NUL */
	size_t length;
	struct formula_error *error;
	bool failed; /* `error` is set */
};

/* A part of the text. */
struct span {
	size_t at, length;
};

/* Reports a mistake at this offset, unless one is reported already.  Always returns false. */
bool mistake_report(struct source *source, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Bytes of an excerpt of the text, including the NUL. */
#define EXCERPT_MAX 48

/* Copies a part of the text for a message: control characters become spaces, bytes beyond ASCII '?'; "..." ends what
 * is too long. */
const char *mistake_excerpt(const struct source *source, struct span span, char excerpt[EXCERPT_MAX]);

#endif
