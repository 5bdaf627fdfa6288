/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON: members one by one to any output (struct json), or, where a line has a hundred fields and its keys are
 * prepared, into a buffer that the caller guarantees to be large enough, as base/text.h does for plain text.
 */
#ifndef NETOBS_BASE_JSON_H
#define NETOBS_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

/* Most bytes written for one byte of text: \u00ff. */
#define JSON_BYTE_MAX 6

/* Writes text of at most `size` bytes up to its NUL: escapes as required, keeps valid UTF-8 except characters that are
 * not shown or change the direction of text, which become \uXXXX, and turns other bytes into \u00xx.  Reads and writes
 * as far beyond the ends as put_plain_text(). */
char *put_json_text(char *at, const char *text, size_t size);

/* Writes a text of at most `size` bytes up to its NUL, in quotes. */
static inline char *
put_json_string(char *at, const char *text, size_t size)
{
	*at++ = '"';
	at = put_json_text(at, text, size);
	*at++ = '"';
	return at;
}

/* Writes a string that needs no escaping, in quotes. */
static inline char *
put_json_name(char *at, const char *name)
{
	*at++ = '"';
	at = put_string(at, name);
	*at++ = '"';
	return at;
}

/* Writes the key of a member after `before`: the brace of its object, or a comma.  `name` needs no escaping. */
static inline char *
put_json_key(char *at, char before, const char *name)
{
	*at++ = before;
	*at++ = '"';
	at = put_string(at, name);
	return PUT(at, "\":");
}

/* Longest name of a member of struct json. */
#define JSON_NAME_MAX 64

/* Writes values, with commas where they are needed.  It has no memory: what is written cannot be changed. */
struct json {
	void (*write)(void *to, const char *bytes, size_t length);
	void *to;
	bool separate; /* a comma stands in front of the next value */
	bool in_html;  /* the texts of values have `<`, `>` and `&` as escapes: nothing ends the element of the data */
};

/* Writes to a stream, whose errors are those of ferror(). */
struct json json_to_file(FILE *file);

/* Begin an object or an array; json_end_object() or json_end_array() ends it.  `name`, here and below, is the name of
 * the member, which needs no escaping; NULL in an array or for a whole line. */
void json_begin_object(struct json *json, const char *name);
void json_begin_array(struct json *json, const char *name);
void json_end_object(struct json *json);
void json_end_array(struct json *json);

/* Ends the object that is a line. */
void json_end_line(struct json *json);

/* Begins a new line in front of the next value of an array. */
void json_break_line(struct json *json);

void json_add_string(struct json *json, const char *name, const char *string);
void json_add_unsigned(struct json *json, const char *name, uint64_t number);
void json_add_signed(struct json *json, const char *name, int64_t number);
void json_add_bool(struct json *json, const char *name, bool value);
void json_add_null(struct json *json, const char *name);

/* A text of at most `size` bytes up to its NUL. */
void json_add_text(struct json *json, const char *name, const char *text, size_t size);

/* A text that is escaped already, as put_json_text() does it. */
void json_add_escaped(struct json *json, const char *name, const char *text);

/* A number as text, which is JSON already. */
void json_add_literal(struct json *json, const char *name, const char *literal);

/* Appends to a text: each part of a member as a whole, or not. */
struct json text_json(struct text_buffer *text);

/* --- texts of others, which may be lines of JSON --- */

/* Writes a text that contains words of others, such as names of files, as part of a line: printable ASCII remains, and
 * everything else becomes \xNN.  An escape that is in it already remains as it is. */
char *put_foreign_text(char *at, const char *text, size_t size);

/*
 * Writes complete lines of another program, perhaps not netobsd, so that no terminal executes any of it: printable
 * ASCII, line breaks and tabs remain.  In a line that begins with '{' everything else becomes what put_json_text()
 * makes of it; in other lines it becomes \xNN.  Lines of netobsd remain as they are.  At most JSON_BYTE_MAX
 * bytes are written for each byte.
 */
char *put_foreign_lines(char *at, const char *lines, size_t size);

#endif
