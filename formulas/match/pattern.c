/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/pattern.h"

#include <string.h>

/* The offset after the ']' of the set that begins at `at`; 0 if there is none.  A ']' that comes first is a member. */
static size_t
pattern_find_set_end(const char *pattern, size_t length, size_t at)
{
	size_t i = at + 1;

	if (i < length && (pattern[i] == '!' || pattern[i] == '^'))
		i++;
	for (size_t first = i; i < length; i++)
		if (pattern[i] == ']' && i > first)
			return i + 1;
	return 0;
}

size_t
pattern_find_mistake(const char *pattern, size_t length)
{
	for (size_t i = 0; i < length;) {
		if (pattern[i] == '[') {
			size_t end = pattern_find_set_end(pattern, length, i);

			if (end == 0)
				return i;
			i = end;
		} else if (pattern[i] == '\\') {
			if (i + 1 == length)
				return i;
			i += 2;
		} else
			i++;
	}
	return length;
}

/* Whether a character is in the set pattern[at..end). */
static bool
pattern_set_contains(const char *pattern, size_t at, size_t end, unsigned char c)
{
	bool negated = pattern[at + 1] == '!' || pattern[at + 1] == '^', found = false;

	for (size_t i = at + 1 + negated; i < end - 1; i++) {
		unsigned char low = (unsigned char)pattern[i], high = low;

		if (i + 2 < end - 1 && pattern[i + 1] == '-') {
			high = (unsigned char)pattern[i + 2];
			i += 2;
		}
		found = found || (c >= low && c <= high);
	}
	return found != negated;
}

/* Compares one character; returns the offset after its part of the pattern, 0 if it does not match. */
static size_t
pattern_match_one(const char *pattern, size_t length, size_t at, char c)
{
	size_t end;

	switch (pattern[at]) {
	case '?':
		return at + 1;
	case '[':
		end = pattern_find_set_end(pattern, length, at);
		return pattern_set_contains(pattern, at, end, (unsigned char)c) ? end : 0;
	case '\\':
		return pattern[at + 1] == c ? at + 2 : 0;
	default:
		return pattern[at] == c ? at + 1 : 0;
	}
}

bool
pattern_match(const char *pattern, size_t pattern_length, const char *text, size_t text_length)
{
	size_t p = 0, t = 0, star = pattern_length, star_text = 0; /* the last '*', and where its text ends so far */

	while (t < text_length) {
		size_t after = 0;

		if (p < pattern_length && pattern[p] == '*') {
			star = p++;
			star_text = t;
			continue;
		}
		if (p < pattern_length)
			after = pattern_match_one(pattern, pattern_length, p, text[t]);
		if (after > 0) {
			p = after;
			t++;
		} else if (star < pattern_length) { /* the last '*' takes one character more; earlier ones need not */
			p = star + 1;
			t = ++star_text;
		} else
			return false;
	}
	while (p < pattern_length && pattern[p] == '*')
		p++;
	return p == pattern_length;
}
