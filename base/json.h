/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON into a buffer that the caller guarantees to be large enough, as base/format.h does for plain text.
 */
#ifndef NETOBS_BASE_JSON_H
#define NETOBS_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Most bytes written for one byte of text: \u00ff. */
#define JSON_BYTE_MAX 6

/* Writes text of at most `size` bytes up to its NUL: escapes as required, keeps valid UTF-8 except characters that are
 * not shown or change the direction of text, which become \uXXXX, and turns other bytes into \u00xx.  Reads and writes
 * as far beyond the ends as put_plain_text(). */
char *put_json_text(char *at, const char *text, size_t size);

/* Writes the character of UTF-8, or the invalid byte, at the start of a text of `size` bytes, escaped except if it is
 * shown.  `*length` is its number of bytes. */
char *put_json_character(char *at, const uint8_t *s, size_t size, size_t *length);

#endif
