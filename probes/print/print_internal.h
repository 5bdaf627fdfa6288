/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two formats of the printer. */
#ifndef NETOBS_PROBES_PRINT_PRINT_INTERNAL_H
#define NETOBS_PROBES_PRINT_PRINT_INTERNAL_H

#include "probes/manifest.h"
#include "probes/print/print.h"
#include "probes/print/text_line.h"
#include "probes/print/writer.h"

/* Upper bound of a line for any packet; checked for JSON when a printer is created. */
#define PRINT_LINE_MAX 16384

/* How one field is printed in JSON.  A field in network byte order is printed as the number that a little-endian
 * machine reads, so that a replay prints the same bytes on every machine. */
enum json_operation {
	JSON_U8,
	JSON_U16,
	JSON_U32,
	JSON_U64,
	JSON_HEX,
	JSON_NETWORK,
	JSON_I8,
	JSON_I32,
	JSON_I64,
	JSON_TEXT,
	JSON_BYTES,
};

/* Keys are copied with a fixed size, which takes two moves; only the first key_length bytes count. */
#define JSON_KEY_MAX 32

struct json_field {
	char key[JSON_KEY_MAX]; /* ,"tcp_sport": and for strings the quote that opens them */
	uint8_t key_length;
	uint8_t operation;
	uint16_t offset;
	uint16_t size;
};

/* The fields of one struct that are printed. */
struct json_struct {
	struct json_field *fields;
	unsigned count;
};

/* UTC time up to the second, cached so that the calendar is computed once per second. */
struct text_clock {
	uint64_t second; /* since the epoch */
	char prefix[32]; /* "2026-11-20T11:02:03." */
	unsigned length; /* of prefix; 0: not set */
};

struct printer {
	struct writer out;
	struct writer_shared shared; /* out.shared of this printer and of those made by printer_new_shared() */
	bool holds_semaphores;	     /* it raised the semaphores, and lowers them */
	enum print_format format;
	bool selected[PROBE_COUNT];
	struct json_struct json[STRUCT_COUNT];
	text_formatter *text[PROBE_COUNT];
	struct text_clock clock;
};

/* The formatter of connection-end and connection-active. */
text_formatter text_connection;

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
