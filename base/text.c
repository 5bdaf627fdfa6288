/* SPDX-License-Identifier: BSD-2-Clause */
/* Escapes text so that terminals cannot misinterpret it. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEN(d) #d "0" #d "1" #d "2" #d "3" #d "4" #d "5" #d "6" #d "7" #d "8" #d "9"

const char format_digit_pairs[201] = TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9);
const char format_nibbles[16] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

char *
put_plain_text(char *at, const char *text, size_t size)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t i = format_copy_printable(at, s, size, '\\', '\\');

	for (at += i; i < size && s[i] != '\0'; i++) {
		if (s[i] >= ' ' && s[i] <= '~' && s[i] != '\\') {
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

/* ------------------------------------------------------------------------------------------------------ text buffer */

void
text_add_format(struct text_buffer *text, const char *format, ...)
{
	va_list arguments;
	int length;

	if (text->truncated)
		return;
	va_start(arguments, format);
	length = vsnprintf(text->bytes + text->used, text_space_left(text), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= text_space_left(text)) {
		text->truncated = true;
		return;
	}
	text->used += (size_t)length;
}

void
text_add_bytes(struct text_buffer *text, const char *bytes, size_t length)
{
	if (text->truncated)
		return;
	if (length >= text_space_left(text)) {
		text->truncated = true;
		return;
	}
	memcpy(text->bytes + text->used, bytes, length);
	text->used += length;
	text->bytes[text->used] = '\0';
}

void
text_add_escaped(struct text_buffer *text, const char *string)
{
	char piece[64 * FORMAT_PLAIN_BYTE_MAX + 8];

	while (*string != '\0') {
		size_t length = strnlen(string, 64);

		text_add_bytes(text, piece, (size_t)(put_plain_text(piece, string, length) - piece));
		string += length;
	}
}
