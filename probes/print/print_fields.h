/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of chosen fields: a firing is printed as some of its fields, in the order in which a list has them. */
#ifndef NETOBS_PROBES_PRINT_PRINT_FIELDS_H
#define NETOBS_PROBES_PRINT_PRINT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/print/print.h"

/* Most fields of a list, and most bytes of the longest one, with its NUL. */
#define PRINT_FIELDS_MAX      96u
#define PRINT_FIELDS_WORD_MAX 64u

struct print_fields;

/* Compiles a comma-separated list of fields for the probes in `selected`:
 *   tcp_sport      the field of the first argument that has one of this name
 *   tcp.tcp_sport  that of the argument with this name in netobs.d, or of this type: tcpinfo, tcpinfo_t
 *   probe          the name of the probe or formula
 *   of             the name of the probe, also for a formula
 *   cid            the connection id: cs_cid, ci_cid or cr_client_cid, whichever the probe has
 *   ts             the time of the connection's event: cs_ts, ci_ts or cr_end
 * NULL with `error` if a word is not a field of any of the probes, if it is given twice, if the line could be longer
 * than PRINT_LINE_MAX, or if out of memory. */
struct print_fields *print_fields_new(const char *list, const bool selected[PROBE_COUNT], char *error, size_t size);
void print_fields_free(struct print_fields *fields);

/* In JSON, leaves out the fields that a probe does not have; without it they are null, so that all lines have the same
 * keys. */
void print_fields_omit_missing(struct print_fields *fields);

/* Writes one line like printer_format_line().  JSON: an object with the words of the list as keys; null if the probe
 * has no such field (unless these are omitted), or if the argument is absent.  Text: the values, separated by tabs; "-"
 * instead of null. */
char *print_fields_line(const struct print_fields *fields, enum print_format format, const char *formula,
			enum probe_id id, const void *const args[6], char *at);

#endif
