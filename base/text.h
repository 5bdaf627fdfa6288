/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes numbers and text into a buffer that the caller guarantees to be large enough.  Every function returns the
 * position after its output; no NUL is added.  printf is avoided because a firing has up to a hundred fields.
 */
#ifndef NETOBS_BASE_TEXT_H
#define NETOBS_BASE_TEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Longest decimal number: sign and 19 digits, or 20 digits. */
#define FORMAT_NUMBER_MAX 20

/* Most bytes written for one byte of text. */
#define FORMAT_PLAIN_BYTE_MAX 4 /* \xff */

extern const char format_digit_pairs[201]; /* "00" to "99" */
extern const char format_nibbles[16];	   /* lower case */

/* Writes text of at most `size` bytes up to its NUL: keeps printable ASCII, doubles a backslash, and turns everything
 * else into \xNN.  Up to seven bytes of `text` after its NUL are read, never beyond `size`; up to eight bytes after
 * the returned end are overwritten, never beyond `at + size`. */
char *put_plain_text(char *at, const char *text, size_t size);

/* Writes a text of `size` bytes that put_plain_text() has written as one word of a table: each blank becomes \x20, and
 * "-", which stands for what is not known, \x2d. */
char *put_word(char *at, const char *text, size_t size);

/* Reads a text that put_plain_text() has written, back into `bytes`, which has space for as many.  Returns how many. */
size_t format_read_plain(const char *text, char *bytes);

/* "192.0.2.1:80" or "[2001:db8::1]:80", from an address of at most `size` bytes and a port in host order. */
char *put_endpoint(char *at, const char *address, size_t size, unsigned port);

/* A word of eight such bytes. */
#define EIGHT_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Sets bit 7 of each byte that is not printable ASCII, or is one of two ASCII characters; all other bits are 0. */
static inline uint64_t
format_mark_escaped(uint64_t word, char one, char other)
{
	/* Seven bits of each byte, so that no sum carries into the next byte. */
	uint64_t low = word & EIGHT_BYTES(0x7f);
	uint64_t printable = (low + EIGHT_BYTES(0x60)) & ~(low + EIGHT_BYTES(0x01));
	uint64_t is_neither = ((low ^ EIGHT_BYTES((uint8_t)one)) + EIGHT_BYTES(0x7f)) &
			      ((low ^ EIGHT_BYTES((uint8_t)other)) + EIGHT_BYTES(0x7f));

	return (word | ~(printable & is_neither)) & EIGHT_BYTES(0x80);
}

/* Copies text up to the first character that is not printable ASCII, or is one of two, eight bytes at a time: the last
 * seven may be left.  Returns how many; up to eight bytes after them are overwritten.  One byte at a time took a fifth
 * of the instructions of --print. */
static inline size_t
format_copy_printable(char *at, const uint8_t *s, size_t size, char one, char other)
{
	size_t i = 0;
	uint64_t word, escaped;

	for (; size - i >= sizeof word; i += sizeof word) {
		memcpy(&word, s + i, sizeof word);
		memcpy(at + i, &word, sizeof word);
		escaped = format_mark_escaped(le64toh(word), one, other);
		if (escaped != 0)
			return i + (size_t)__builtin_ctzll(escaped) / 8;
	}
	return i;
}

static inline char *
put_characters(char *at, const char *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

/* A constant string, whose length the compiler knows. */
#define PUT(at, literal) put_characters((at), "" literal, sizeof(literal) - 1)

static inline unsigned
format_count_digits(uint32_t value)
{
	if (value < 100)
		return 1u + (value >= 10);
	return 3u + (value >= 1000) + (value >= 10000) + (value >= 100000) + (value >= 1000000) + (value >= 10000000) +
	       (value >= 100000000) + (value >= 1000000000);
}

/* `value` in exactly `n` digits, with leading zeros. */
static inline char *
put_digits(char *at, uint32_t value, unsigned n)
{
	char *end = at + n;

	for (at = end; n >= 2; n -= 2, value /= 100) {
		at -= 2;
		memcpy(at, format_digit_pairs + value % 100 * 2, 2);
	}
	if (n == 1)
		at[-1] = (char)('0' + value % 10);
	return end;
}

static inline char *
put_u32(char *at, uint32_t value)
{
	if (value < 10) {
		*at = (char)('0' + value);
		return at + 1;
	}
	return put_digits(at, value, format_count_digits(value));
}

static inline char *
put_u64(char *at, uint64_t value)
{
	const uint64_t billion = 1000000000;

	if (value <= UINT32_MAX)
		return put_u32(at, (uint32_t)value);
	if (value / billion > UINT32_MAX) {
		at = put_u32(at, (uint32_t)(value / billion / billion));
		at = put_digits(at, (uint32_t)(value / billion % billion), 9);
	} else {
		at = put_u32(at, (uint32_t)(value / billion));
	}
	return put_digits(at, (uint32_t)(value % billion), 9);
}

static inline char *
put_i64(char *at, int64_t value)
{
	if (value >= 0)
		return put_u64(at, (uint64_t)value);
	*at = '-';
	return put_u64(at + 1, -(uint64_t)value);
}

static inline char *
put_hex_bytes(char *at, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*at++ = format_nibbles[bytes[i] >> 4];
		*at++ = format_nibbles[bytes[i] & 15];
	}
	return at;
}

/* "0x" and exactly `digits` hexadecimal digits. */
static inline char *
put_hex(char *at, uint32_t value, unsigned digits)
{
	at = PUT(at, "0x");
	for (unsigned shift = digits * 4; shift > 0; shift -= 4)
		*at++ = format_nibbles[value >> (shift - 4) & 15];
	return at;
}

/* 16 hexadecimal digits. */
static inline char *
put_hex64(char *at, uint64_t value)
{
	for (unsigned shift = 64; shift > 0; shift -= 4)
		*at++ = format_nibbles[value >> (shift - 4) & 15];
	return at;
}

/* A string from netobsd itself, which needs no escaping. */
static inline char *
put_string(char *at, const char *string)
{
	return put_characters(at, string, strlen(string));
}

/* --- Time stamps as text, always UTC. --- */

/* Bytes of a time stamp: "2026-11-20T11:02:03.123456789Z". */
#define TEXT_TIME_LENGTH 30

/* UTC time up to the second, cached so that the calendar is computed once per second. */
struct text_clock {
	uint64_t second; /* since the epoch */
	char prefix[32]; /* "2026-11-20T11:02:03." */
	unsigned length; /* of prefix; 0: not set */
};

/* Writes nanoseconds since the epoch as a time stamp.  At least 64 bytes at `at` are overwritten.  Returns its end. */
char *put_time(char *at, struct text_clock *clock, uint64_t ns);

/* ------------------------------------------------------------------------------------------------------ text buffer */

/* Text in a buffer of fixed size. */

struct text_buffer {
	char *bytes; /* buffer of `size` bytes, owned by the caller */
	size_t size;
	size_t used;
	bool truncated; /* some text did not fit: none is appended any more */
};

/* Appends the whole text, or nothing if it does not fit. */
void text_add_format(struct text_buffer *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the whole, or nothing. */
void text_add_bytes(struct text_buffer *text, const char *bytes, size_t length);

/* Appends for a terminal, like put_plain_text(). */
void text_add_escaped(struct text_buffer *text, const char *string);

static inline size_t
text_space_left(const struct text_buffer *text)
{
	return text->size - text->used;
}

#endif
