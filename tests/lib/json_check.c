/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursive descent; written from the grammar, independently of the printer. */
#include "tests/lib/json_check.h"

#include <string.h>

struct json {
	const unsigned char *text;
	size_t at, length;
};

static bool value(struct json *json);

static int
peek(const struct json *json)
{
	return json->at < json->length ? json->text[json->at] : -1;
}

static bool
accept(struct json *json, int byte)
{
	if (peek(json) != byte)
		return false;
	json->at++;
	return true;
}

static bool
is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

static bool
literal(struct json *json, const char *word)
{
	size_t n = strlen(word);

	if (json->length - json->at < n || memcmp(json->text + json->at, word, n) != 0)
		return false;
	json->at += n;
	return true;
}

/* Integers are all that is ever printed. */
static bool
number(struct json *json)
{
	accept(json, '-');
	if (accept(json, '0'))
		return !is_digit(peek(json));
	if (!is_digit(peek(json)))
		return false;
	while (is_digit(peek(json)))
		json->at++;
	return true;
}

/* Decodes one code point; false unless it is encoded in the only valid way. */
static bool
code_point(struct json *json)
{
	static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned first = (unsigned)peek(json);
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
	       (code < 0x7f || code > 0x9f);
}

static bool
escape(struct json *json)
{
	if (accept(json, 'u')) {
		for (int i = 0; i < 4; i++) {
			int c = peek(json);

			if (c < 0 || strchr("0123456789abcdefABCDEF", c) == NULL || c == 0)
				return false;
			json->at++;
		}
		return true;
	}
	if (peek(json) <= 0 || strchr("\"\\/bfnrt", peek(json)) == NULL)
		return false;
	json->at++;
	return true;
}

static bool
string(struct json *json)
{
	if (!accept(json, '"'))
		return false;
	while (!accept(json, '"')) {
		if (accept(json, '\\') ? !escape(json) : peek(json) < 0 || !code_point(json))
			return false;
	}
	return true;
}

static bool
member(struct json *json)
{
	return string(json) && accept(json, ':') && value(json);
}

static bool
sequence(struct json *json, int end, bool (*element)(struct json *))
{
	json->at++;
	if (accept(json, end))
		return true;
	do {
		if (!element(json))
			return false;
	} while (accept(json, ','));
	return accept(json, end);
}

static bool
value(struct json *json)
{
	switch (peek(json)) {
	case '{':
		return sequence(json, '}', member);
	case '[':
		return sequence(json, ']', value);
	case '"':
		return string(json);
	case 'n':
		return literal(json, "null");
	case 't':
		return literal(json, "true");
	case 'f':
		return literal(json, "false");
	default:
		return number(json);
	}
}

bool
json_check(const char *text, size_t length, size_t *where)
{
	struct json json = {.text = (const unsigned char *)text, .length = length};
	bool good = value(&json) && json.at == length;

	*where = json.at;
	return good;
}
