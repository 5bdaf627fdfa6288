/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON lines that netobsd prints: formulas that choose connections, and fields. */
#ifndef NETOBS_REPORT_LINES_H
#define NETOBS_REPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line, and the place from which the next field is searched: fields are read in the order of the line. */
struct report_line {
	const char *at;
	const char *end;
};

/* Starts at the beginning of a line of `length` bytes. */
void report_line_begin(struct report_line *line, const char *text, size_t length);

/* Whether the line is a firing of a probe whose name begins with `probe`. */
bool report_line_is(const struct report_line *line, const char *probe);

/* Whether the line has this text after what was read. */
bool report_line_contains(const struct report_line *line, const char *text);

/*
 * Advances past the next `"NAME":`; false if there is none.  A value cannot be taken for a field: a quote within a
 * string is escaped.
 */
bool report_line_find(struct report_line *line, const char *name);

/* The next field of this name as a whole number, at most INT64_MAX in size; `otherwise` if there is none. */
int64_t report_line_number(struct report_line *line, const char *name, int64_t otherwise);

/*
 * The next field of this name as a string, copied with its JSON escapes, so that it can be written into JSON again.  A
 * longer string is cut after a complete character or escape, and ends with an ellipsis.
 */
void report_line_text(struct report_line *line, const char *name, char *text, size_t size);

/* Connections, of two ids each, that one formula lists: its text is limited. */
#define REPORT_FORMULA_CIDS 60u

/*
 * The option that defines the formula NAME-NUMBER: `where` begins its definition after the name and ends with the
 * field that must be one of the ids, `more` ends it.  NULL if out of memory; the caller frees it.
 */
char *report_line_formula(const char *name, size_t number, const char *where, const uint64_t *cids, size_t count,
			  const char *more);

#endif
