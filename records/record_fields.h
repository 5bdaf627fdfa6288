/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the fields of struct connrec, as users choose them: with or without "cr_". */
#ifndef NETOBS_RECORDS_RECORD_FIELDS_H
#define NETOBS_RECORDS_RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/manifest.h"
#include "probes/netobs.h"

/* Bytes of a message, including the NUL. */
#define RECORD_ERROR_MAX 256

/* Most fields that can be chosen at once. */
#define RECORD_FIELDS_MAX 96u

/* Fields in the order in which they are shown. */
struct record_fields {
	const struct field_info *fields[RECORD_FIELDS_MAX];
	unsigned count;
};

/* How records are sorted.  Records with equal values, and all of them without a field, are sorted by cr_end and
 * cr_uid. */
struct record_order {
	const struct field_info *field; /* NULL: cr_end */
	bool descending;
};

/* Finds a field by its name of `length` bytes.  NULL, with the reason and the nearest name in `error`, if there is
 * none. */
const struct field_info *record_fields_find(const char *name, size_t length, char error[RECORD_ERROR_MAX]);

/* Parses "client,server_port,cr_bytes".  False, with `error`, if a name is wrong. */
bool record_fields_parse(const char *list, struct record_fields *to, char error[RECORD_ERROR_MAX]);

/* Sets all fields that are the same in every run: those except connection ids and the number of the firing. */
void record_fields_set_all(struct record_fields *to);

/* Parses "FIELD" or "-FIELD".  Text and times ascend, other numbers descend; "-" reverses that.  False, with `error`,
 * if the name is wrong. */
bool record_order_parse(const char *text, struct record_order *to, char error[RECORD_ERROR_MAX]);

/* Whether the field is a time since the epoch, ns. */
bool record_field_is_time(const struct field_info *field);

/* The value of a field that is not text, as a number with the order of its values. */
uint64_t record_field_rank(const struct field_info *field, const void *record);

/* The name without "cr_". */
const char *record_field_short_name(const struct field_info *field);

/* --- Selects records by an expression of formulas (netobs(7), FORMULAS) over the fields of struct connrec. --- */

struct record_filter;

/* Compiles an expression.  NULL, with the mistake and its column in `error`, if it has one. */
struct record_filter *record_filter_compile(const char *expression, char error[RECORD_ERROR_MAX]);
void record_filter_free(struct record_filter *filter);

bool record_filter_selects(const struct record_filter *filter, const struct connrec *record);

#endif
