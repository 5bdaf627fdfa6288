/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects connections by an expression of formulas (netobs(7), FORMULAS) over the fields of struct connrow. */
#ifndef NETOBS_RECORDS_RECORD_FILTER_H
#define NETOBS_RECORDS_RECORD_FILTER_H

#include <stdbool.h>

#include "records/record_fields.h"

struct record_filter;

/* Compiles an expression.  NULL, with the mistake and its column in `error`, if it has one. */
struct record_filter *record_filter_compile(const char *expression, char error[RECORD_ERROR_MAX]);
void record_filter_free(struct record_filter *filter);

bool record_filter_selects(const struct record_filter *filter, const struct connrow *row);

#endif
