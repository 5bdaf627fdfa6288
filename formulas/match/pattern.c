/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/pattern.h"

#include <assert.h>
#include <stdint.h>
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

/* --------------------------------------------------------------------------------------------------------- matching */

/* State number n of the match: the first n characters of the pattern have been matched, '*' not counted.  Several
 * states are possible at a time. */
struct pattern {
	size_t words; /* of a set of states */
	size_t last;  /* state in which the whole pattern is matched */
	uint64_t sets[]; /* `words` for each byte: states that it leads to the next one; then those with a '*' */
};

/* Most words of a set of states. */
#define WORDS_MAX (PATTERN_MAX / 64 + 1)

static size_t
pattern_words(size_t length)
{
	return length / 64 + 1;
}

size_t
pattern_size(size_t length)
{
	return sizeof(struct pattern) + 257 * pattern_words(length) * sizeof(uint64_t);
}

/* The states that a byte leads to the next one; those with a '*' for STAR. */
#define STAR 256u

static uint64_t *
pattern_states(struct pattern *pattern, unsigned byte)
{
	return pattern->sets + byte * pattern->words;
}

/* Bytes from `low` to `high` lead from the last state to the next one; or no longer do. */
static void
pattern_set_bytes(struct pattern *pattern, unsigned low, unsigned high, bool lead)
{
	uint64_t bit = UINT64_C(1) << pattern->last % 64;

	for (unsigned byte = low; byte <= high; byte++) {
		uint64_t *states = pattern_states(pattern, byte) + pattern->last / 64;

		*states = lead ? *states | bit : *states & ~bit;
	}
}

/* The set text[at..end). */
static void
pattern_add_set(struct pattern *pattern, const char *text, size_t at, size_t end)
{
	bool negated = text[at + 1] == '!' || text[at + 1] == '^';

	if (negated)
		pattern_set_bytes(pattern, 0, 255, true);
	for (size_t i = at + 1 + negated; i < end - 1; i++) {
		unsigned char low = (unsigned char)text[i], high = low;

		if (i + 2 < end - 1 && text[i + 1] == '-') {
			high = (unsigned char)text[i + 2];
			i += 2;
		}
		pattern_set_bytes(pattern, low, high, !negated);
	}
}

/* Adds what begins at `at`, no '*'.  Returns the offset after it. */
static size_t
pattern_add_one(struct pattern *pattern, const char *text, size_t length, size_t at)
{
	size_t end = at + 1;
	unsigned char byte;

	if (text[at] == '?') {
		pattern_set_bytes(pattern, 0, 255, true);
	} else if (text[at] == '[') {
		end = pattern_find_set_end(text, length, at);
		pattern_add_set(pattern, text, at, end);
	} else {
		end += text[at] == '\\';
		byte = (unsigned char)text[end - 1];
		pattern_set_bytes(pattern, byte, byte, true);
	}
	pattern->last++;
	return end;
}

struct pattern *
pattern_prepare(void *memory, const char *text, size_t length)
{
	struct pattern *pattern = memory;

	assert(length <= PATTERN_MAX);
	memset(memory, 0, pattern_size(length));
	pattern->words = pattern_words(length);
	for (size_t at = 0; at < length;) {
		if (text[at] == '*') {
			pattern_set_bytes(pattern, STAR, STAR, true);
			at++;
		} else
			at = pattern_add_one(pattern, text, length, at);
	}
	return pattern;
}

static inline __attribute__((always_inline)) bool
pattern_match_words(const struct pattern *pattern, size_t words, const char *text, size_t length)
{
	const uint64_t *stars = pattern->sets + STAR * words;
	uint64_t states[WORDS_MAX], some = 1;

	memset(states, 0, words * sizeof states[0]);
	states[0] = 1;
	for (size_t i = 0; i < length && some != 0; i++) {
		const uint64_t *lead = pattern->sets + (unsigned char)text[i] * words;
		uint64_t carry = 0;

		some = 0;
		for (size_t word = 0; word < words; word++) {
			uint64_t led = states[word] & lead[word];

			states[word] = (states[word] & stars[word]) | led << 1 | carry;
			some |= states[word];
			carry = led >> 63;
		}
	}
	return (states[pattern->last / 64] >> pattern->last % 64 & 1) != 0;
}

bool
pattern_match(const struct pattern *pattern, const char *text, size_t length)
{
	/* With a constant the states of the usual pattern stay in a register. */
	return pattern->words == 1 ? pattern_match_words(pattern, 1, text, length) :
				     pattern_match_words(pattern, pattern->words, text, length);
}
