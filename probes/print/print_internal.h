/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two formats of the printer. */
#ifndef NETOBS_PROBES_PRINT_PRINT_INTERNAL_H
#define NETOBS_PROBES_PRINT_PRINT_INTERNAL_H

#include "base/text.h"
#include "probes/manifest.h"
#include "probes/print/json_fields.h"
#include "probes/print/print.h"
#include "probes/print/print_fields.h"
#include "probes/print/text_line.h"
#include "probes/print/writer.h"

struct printer {
	struct writer out;
	struct writer_shared shared; /* out.shared of this printer and of those made by printer_new_shared() */
	bool holds_semaphores;	     /* it raised the semaphores, and lowers them */
	enum print_format format;
	bool selected[PROBE_COUNT];
	struct json_struct json[STRUCT_COUNT];
	text_formatter *text[PROBE_COUNT];
	bool text_receives[PROBE_COUNT]; /* the probe's name ends in -receive */
	struct text_clock clock;
	struct print_fields *fields; /* NULL: whole lines */
};

/* Prepares the tables of a format; false with errno if out of memory. */
bool print_json_prepare(struct printer *printer);
void print_json_free(struct printer *printer);
void print_text_prepare(struct printer *printer);

/* Most bytes of a formula's name. */
#define PRINT_FORMULA_MAX 64

/* Writes one line of at most PRINT_LINE_MAX bytes at `at`; returns its end.  `formula` is the name of the formula that
 * the firing is of, NULL for a firing of the probe itself. */
char *print_json_line(const struct printer *printer, const char *formula, enum probe_id id, const void *const args[6],
		      char *at);
char *print_text_line(struct printer *printer, const char *formula, enum probe_id id, const void *const args[6],
		      char *at);

#endif
