/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of the JSON lines that netobsd prints. */
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

/*
 * Advances behind the next `"NAME":`; false if there is none.  A value cannot be taken for a field: a quote within a
 * string is escaped.
 */
bool report_line_find(struct report_line *line, const char *name);

/* The next field of this name as a number; `otherwise` if there is none. */
int64_t report_line_number(struct report_line *line, const char *name, int64_t otherwise);

/*
 * The next field of this name as a string, copied with its JSON escapes, so that it can be written into JSON again.  A
 * longer string is empty, because its end may be within an escape.
 */
void report_line_text(struct report_line *line, const char *name, char *text, size_t size);

#endif
