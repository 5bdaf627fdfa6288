/* SPDX-License-Identifier: BSD-2-Clause */
/* Escapes text so that parsers and terminals cannot misinterpret it. */
#include "probes/print/format.h"

#include <stdbool.h>

#define TEN(d) #d "0" #d "1" #d "2" #d "3" #d "4" #d "5" #d "6" #d "7" #d "8" #d "9"

const char format_digit_pairs[201] = TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9);
const char format_nibbles[16] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

static inline bool
format_is_printable(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
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
	size_t i = 0;

	while (i < size && s[i] != '\0') {
		size_t n;

		if (format_is_printable(s[i])) {
			*at++ = (char)s[i++];
		} else if (s[i] >= 0x80 && (n = utf8_length(s + i, size - i)) > 0) {
			memcpy(at, s + i, n);
			at += n;
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

	for (size_t i = 0; i < size && s[i] != '\0'; i++) {
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
