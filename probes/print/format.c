/* SPDX-License-Identifier: BSD-2-Clause */
/* Escapes text so that parsers and terminals cannot misinterpret it. */
#include "probes/print/format.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define TEN(d) #d "0" #d "1" #d "2" #d "3" #d "4" #d "5" #d "6" #d "7" #d "8" #d "9"

const char format_digit_pairs[201] = TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9);
const char format_nibbles[16] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

static inline bool
format_is_printable(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

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
 * seven may be left.  Returns how many; up to eight bytes behind them are overwritten.  One byte at a time took a fifth
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

static inline bool
utf8_is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Length of the valid UTF-8 sequence (RFC 3629) at `s`, which has `left` bytes; 0 if invalid.  C1 control characters
 * count as invalid, because terminals execute them. */
static size_t
utf8_length(const uint8_t *s, size_t left)
{
	if (left >= 2 && s[0] >= 0xc2 && s[0] <= 0xdf && utf8_is_continuation(s[1]))
		return s[0] == 0xc2 && s[1] < 0xa0 ? 0 : 2;
	if (left >= 3 && (s[0] & 0xf0) == 0xe0 && utf8_is_continuation(s[1]) && utf8_is_continuation(s[2])) {
		bool overlong = s[0] == 0xe0 && s[1] < 0xa0;
		bool surrogate = s[0] == 0xed && s[1] >= 0xa0;

		return overlong || surrogate ? 0 : 3;
	}
	if (left >= 4 && s[0] >= 0xf0 && s[0] <= 0xf4 && utf8_is_continuation(s[1]) && utf8_is_continuation(s[2]) &&
	    utf8_is_continuation(s[3])) {
		bool overlong = s[0] == 0xf0 && s[1] < 0x90;
		bool too_high = s[0] == 0xf4 && s[1] >= 0x90;

		return overlong || too_high ? 0 : 4;
	}
	return 0;
}

/* Characters that a terminal or an editor does not show, and that may change the order of others: format characters
 * (Unicode category Cf), line and paragraph separators, and those of Default_Ignorable_Code_Point. */
static const struct {
	uint32_t first, last;
} hidden_characters[] = {
    {0xad, 0xad},	{0x34f, 0x34f},	    {0x600, 0x605},	{0x61c, 0x61c},	    {0x6dd, 0x6dd},
    {0x70f, 0x70f},	{0x890, 0x891},	    {0x8e2, 0x8e2},	{0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},	{0x200b, 0x200f},   {0x2028, 0x202e},	{0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},	{0xfeff, 0xfeff},   {0xffa0, 0xffa0},	{0xfff0, 0xfffb},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool
utf8_is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof hidden_characters / sizeof hidden_characters[0]; i++)
		if (code <= hidden_characters[i].last)
			return code >= hidden_characters[i].first;
	return false;
}

/* Decodes a valid sequence of `n` bytes, 2 to 4. */
static uint32_t
utf8_decode(const uint8_t *s, size_t n)
{
	uint32_t code = s[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

/* One UTF-16 unit. */
static char *
put_json_unit(char *at, uint32_t unit)
{
	const uint8_t bytes[2] = {(uint8_t)(unit >> 8), (uint8_t)unit};

	at = PUT(at, "\\u");
	return put_hex_bytes(at, bytes, 2);
}

/* Writes a character that is valid UTF-8 of `n` bytes. */
static char *
put_json_character(char *at, const uint8_t *s, size_t n)
{
	uint32_t code = utf8_decode(s, n);

	if (!utf8_is_hidden(code)) {
		memcpy(at, s, n);
		return at + n;
	}
	if (code < 0x10000)
		return put_json_unit(at, code);
	at = put_json_unit(at, 0xd800 + ((code - 0x10000) >> 10));
	return put_json_unit(at, 0xdc00 + (code & 0x3ff));
}

static char *
put_json_byte(char *at, uint8_t byte)
{
	switch (byte) {
	case '"':
		return PUT(at, "\\\"");
	case '\\':
		return PUT(at, "\\\\");
	case '\n':
		return PUT(at, "\\n");
	case '\t':
		return PUT(at, "\\t");
	case '\r':
		return PUT(at, "\\r");
	default:
		at = PUT(at, "\\u00");
		return put_hex_bytes(at, &byte, 1);
	}
}

char *
put_json_text(char *at, const char *text, size_t size)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t i = format_copy_printable(at, s, size, '"', '\\');

	at += i;
	while (i < size && s[i] != '\0') {
		size_t n;

		if (format_is_printable(s[i])) {
			*at++ = (char)s[i++];
		} else if (s[i] >= 0x80 && (n = utf8_length(s + i, size - i)) > 0) {
			at = put_json_character(at, s + i, n);
			i += n;
		} else {
			at = put_json_byte(at, s[i++]);
		}
	}
	return at;
}

char *
put_plain_text(char *at, const char *text, size_t size)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t i = format_copy_printable(at, s, size, '\\', '\\');

	for (at += i; i < size && s[i] != '\0'; i++) {
		if (format_is_printable(s[i]) || s[i] == '"') {
			*at++ = (char)s[i];
		} else if (s[i] == '\\') {
			at = PUT(at, "\\\\");
		} else {
			at = PUT(at, "\\x");
			at = put_hex_bytes(at, s + i, 1);
		}
	}
	return at;
}

/* Writes a text of another program, of which all printable characters and those of `blanks` remain. */
static char *
put_foreign(char *at, const uint8_t *s, size_t size, const char *blanks, bool json)
{
	for (size_t i = 0, n; i < size; i += n) {
		n = format_copy_printable(at, s + i, size - i, 0x7f, 0x7f);
		at += n;
		if (n > 0)
			continue;
		n = 1;
		if ((s[i] >= ' ' && s[i] <= '~') || (s[i] != '\0' && strchr(blanks, s[i]) != NULL)) {
			*at++ = (char)s[i];
		} else if (!json) {
			at = PUT(at, "\\x");
			at = put_hex_bytes(at, s + i, 1);
		} else if (s[i] >= 0x80 && utf8_length(s + i, size - i) > 0) {
			n = utf8_length(s + i, size - i);
			at = put_json_character(at, s + i, n);
		} else {
			at = put_json_byte(at, s[i]);
		}
	}
	return at;
}

char *
put_foreign_text(char *at, const char *text, size_t size)
{
	return put_foreign(at, (const uint8_t *)text, size, "", false);
}

char *
put_foreign_lines(char *at, const char *lines, size_t size)
{
	while (size > 0) {
		const char *end = memchr(lines, '\n', size);
		size_t length = end != NULL ? (size_t)(end - lines) + 1 : size;

		at = put_foreign(at, (const uint8_t *)lines, length, "\n\t", *lines == '{');
		lines += length;
		size -= length;
	}
	return at;
}

/* The value of a hexadecimal digit, -1 for another character. */
static int
format_hex_digit(char digit)
{
	const char *found = digit != '\0' ? memchr(format_nibbles, digit, sizeof format_nibbles) : NULL;

	return found != NULL ? (int)(found - format_nibbles) : -1;
}

char *
put_word(char *at, const char *text, size_t size)
{
	if (size == 1 && *text == '-')
		return PUT(at, "\\x2d");
	for (const char *end = text + size; text < end; text++) {
		if (*text == ' ')
			at = PUT(at, "\\x20");
		else
			*at++ = *text;
	}
	return at;
}

size_t
format_read_plain(const char *text, char *bytes)
{
	size_t count = 0;

	while (*text != '\0') {
		int high = text[0] == '\\' && text[1] == 'x' ? format_hex_digit(text[2]) : -1;
		int low = high >= 0 ? format_hex_digit(text[3]) : -1;

		if (low >= 0) {
			bytes[count++] = (char)(high << 4 | low);
			text += 4;
			continue;
		}
		text += text[0] == '\\' && text[1] == '\\';
		bytes[count++] = *text++;
	}
	return count;
}

char *
put_endpoint(char *at, const char *address, size_t size, unsigned port)
{
	bool bracket = memchr(address, ':', size) != NULL;

	if (bracket)
		*at++ = '[';
	at = put_plain_text(at, address, size);
	if (bracket)
		*at++ = ']';
	*at++ = ':';
	return put_u32(at, port);
}

/* Days since 1970-01-01 as a date of the Gregorian calendar; counts from 1 March, so that the leap day is last. */
static char *
text_clock_put_date(char *at, uint64_t days)
{
	uint64_t z = days + 719468;
	uint32_t of_era = (uint32_t)(z % 146097);
	uint32_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint32_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	uint32_t month = (5 * of_year + 2) / 153;
	uint32_t day = of_year - (153 * month + 2) / 5 + 1;
	uint32_t year = year_of_era + (uint32_t)(z / 146097) * 400 + (month >= 10);

	at = put_digits(at, year, 4);
	*at++ = '-';
	at = put_digits(at, month < 10 ? month + 3 : month - 9, 2);
	*at++ = '-';
	return put_digits(at, day, 2);
}

static void
text_clock_set(struct text_clock *clock, uint64_t second)
{
	uint32_t of_day = (uint32_t)(second % 86400);
	char *at = text_clock_put_date(clock->prefix, second / 86400);

	*at++ = 'T';
	at = put_digits(at, of_day / 3600, 2);
	*at++ = ':';
	at = put_digits(at, of_day / 60 % 60, 2);
	*at++ = ':';
	at = put_digits(at, of_day % 60, 2);
	*at++ = '.';
	clock->length = (unsigned)(at - clock->prefix);
	clock->second = second;
}

char *
put_time(char *at, struct text_clock *clock, uint64_t ns)
{
	uint64_t second = ns / 1000000000;

	if (clock->length == 0 || second != clock->second)
		text_clock_set(clock, second);
	memcpy(at, clock->prefix, sizeof clock->prefix);
	at = put_digits(at + clock->length, (uint32_t)(ns % 1000000000), 9);
	*at++ = 'Z';
	return at;
}
