/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON of netobsd, read with jansson: members by name; one that is missing, or of another type, is an error. */
#ifndef NETOBS_TOOLS_JSON_READER_H
#define NETOBS_TOOLS_JSON_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses one object, such as a line of `length` bytes with its newline or without.  NULL if it is not an object.  The
 * caller frees it with json_decref(). */
json_t *json_read_object(const char *line, size_t length);

/* A member.  False if there is none of this type; a number that is negative or has more than 63 bits does not count. */
bool json_read_unsigned(const json_t *object, const char *name, uint64_t *number);
bool json_read_bool(const json_t *object, const char *name, bool *value);

/* The string of a member; NULL if it is not a string. */
const char *json_read_string(const json_t *object, const char *name);

#endif
