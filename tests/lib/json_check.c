/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursive descent; written from the grammar, independently of the printer. */
#include "tests/lib/json_check.h"

#include <string.h>

struct json {
	const unsigned char *text;
	size_t at, length;
};

static bool json_value(struct json *json);

static int
json_peek(const struct json *json)
{
	return json->at < json->length ? json->text[json->at] : -1;
}

static bool
json_accept(struct json *json, int byte)
{
	if (json_peek(json) != byte)
		return false;
	json->at++;
	return true;
}

static bool
json_is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

static bool
json_literal(struct json *json, const char *word)
{
	size_t n = strlen(word);

	if (json->length - json->at < n || memcmp(json->text + json->at, word, n) != 0)
		return false;
	json->at += n;
	return true;
}

/* Integers are all that is ever printed. */
static bool
json_number(struct json *json)
{
	json_accept(json, '-');
	if (json_accept(json, '0'))
		return !json_is_digit(json_peek(json));
	if (!json_is_digit(json_peek(json)))
		return false;
	while (json_is_digit(json_peek(json)))
		json->at++;
	return true;
}

/* Whether the character changes the direction of text, or is not shown: those that are most abused. */
static bool
json_is_hidden(unsigned long code)
{
	return code == 0xad || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       code >> 12 == 0xe0;
}

/* Decodes one code point; false unless it is encoded in the only valid way. */
static bool
json_code_point(struct json *json)
{
	static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned first = (unsigned)json_peek(json);
	unsigned n = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
	unsigned long code = n == 1 ? first : first & (0x7fu >> n);

	if (n == 0 || json->length - json->at < n)
		return false;
	for (unsigned i = 1; i < n; i++) {
		unsigned next = json->text[json->at + i];

		if (next >> 6 != 2)
			return false;
		code = code << 6 | (next & 0x3f);
	}
	json->at += n;
	return code >= 0x20 && code >= least[n] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) &&
	       (code < 0x7f || code > 0x9f) && !json_is_hidden(code);
}

static bool
json_escape(struct json *json)
{
	if (json_accept(json, 'u')) {
		for (int i = 0; i < 4; i++) {
			int c = json_peek(json);

			if (c < 0 || strchr("0123456789abcdefABCDEF", c) == NULL || c == 0)
				return false;
			json->at++;
		}
		return true;
	}
	if (json_peek(json) <= 0 || strchr("\"\\/bfnrt", json_peek(json)) == NULL)
		return false;
	json->at++;
	return true;
}

static bool
json_string(struct json *json)
{
	if (!json_accept(json, '"'))
		return false;
	while (!json_accept(json, '"')) {
		if (json_accept(json, '\\') ? !json_escape(json) : json_peek(json) < 0 || !json_code_point(json))
			return false;
	}
	return true;
}

static bool
json_member(struct json *json)
{
	return json_string(json) && json_accept(json, ':') && json_value(json);
}

static bool
json_elements(struct json *json, int end, bool (*element)(struct json *))
{
	json->at++;
	if (json_accept(json, end))
		return true;
	do {
		if (!element(json))
			return false;
	} while (json_accept(json, ','));
	return json_accept(json, end);
}

static bool
json_value(struct json *json)
{
	switch (json_peek(json)) {
	case '{':
		return json_elements(json, '}', json_member);
	case '[':
		return json_elements(json, ']', json_value);
	case '"':
		return json_string(json);
	case 'n':
		return json_literal(json, "null");
	case 't':
		return json_literal(json, "true");
	case 'f':
		return json_literal(json, "false");
	default:
		return json_number(json);
	}
}

bool
json_check(const char *text, size_t length, size_t *where)
{
	struct json json = {.text = (const unsigned char *)text, .length = length};
	bool good = json_value(&json) && json.at == length;

	*where = json.at;
	return good;
}
