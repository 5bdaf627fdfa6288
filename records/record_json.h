/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as JSON, one object a line.  With all fields a line begins with the time of the record's end and cr_uid,
 *
 *	{"end":"2026-11-22T19:40:00.123456789Z","cr_uid":"0123456789abcdef","cr_community":"1:...",...}
 *
 * so that `LC_ALL=C sort` sorts lines by end and identity, and `sort -m` merges sorted files.  With chosen fields a
 * line has these fields only.
 */
#ifndef NETOBS_RECORDS_RECORD_JSON_H
#define NETOBS_RECORDS_RECORD_JSON_H

#include "probes/netobs.h"
#include "records/record_fields.h"

/* Most bytes of a line. */
#define RECORD_LINE_MAX 16384

struct record_json;

/* `chosen` NULL: all fields of records, with `open` those of open connections, too.  NULL if out of memory. */
struct record_json *record_json_new(const struct record_fields *chosen, bool open);
void record_json_free(struct record_json *json);

/* Writes a line at `at`, where RECORD_LINE_MAX bytes may be overwritten.  Returns its end. */
char *record_json_put_line(struct record_json *json, const struct connrow *row, char *at);

#endif
