/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of an argument struct as members of a JSON object, by the tables of the manifest. */
#ifndef NETOBS_PROBES_PRINT_JSON_FIELDS_H
#define NETOBS_PROBES_PRINT_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/manifest.h"

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

enum json_operation json_field_operation(const struct field_info *field);

/* Prepares a field, the first of an object or a later one.  A FIELD_POINTER cannot be printed. */
void json_field_prepare(struct json_field *to, const struct field_info *field, bool first);

/* Most bytes that a field takes. */
size_t json_field_length_max(const struct json_field *field);

/* Writes the fields of the struct at `from`, from the object's brace on, without the closing one.  Up to JSON_KEY_MAX
 * bytes after the end are overwritten.  Returns the end. */
char *json_put_fields(char *at, const struct json_field *fields, unsigned count, const void *from);

/* Writes one value, of `size` bytes at `from`; returns its end. */
char *json_put_value(char *at, enum json_operation operation, size_t size, const char *from);

#endif
