/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/words.h"

#include <stdio.h>
#include <string.h>

/* Longer than every word. */
#define WORD_LENGTH_MAX 48u

/* In upper case, '-' as '_'. */
static char
word_fold(char c)
{
	if (c >= 'a' && c <= 'z')
		return (char)(c - 'a' + 'A');
	return c == '-' ? '_' : c;
}

static bool
word_equals(const char *text, size_t length, const char *name)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (word_fold(text[i]) != word_fold(name[i]))
			return false;
	return true;
}

/* Skips what precedes a state: in tcps_statestr, in D on Solaris and on FreeBSD. */
static void
word_skip_state(const struct enum_info *info, const char **text, size_t *length)
{
	static const char *const prefixes[] = {"state-", "tcp-state-", "tcps-"};
	size_t field_length = strlen(info->field);

	if (field_length <= 6 || strcmp(info->field + field_length - 6, "_state") != 0)
		return;
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		size_t skipped = strlen(prefixes[i]);

		if (*length > skipped && word_equals(*text, skipped, prefixes[i])) {
			*text += skipped;
			*length -= skipped;
			return;
		}
	}
}

const struct word_info *
words_find(const struct enum_info *info, const char *text, size_t length)
{
	static const char netobs[] = "NETOBS_";

	word_skip_state(info, &text, &length);
	for (size_t i = 0; i < info->word_count; i++) {
		const struct word_info *word = &info->words[i];

		if (word_equals(text, length, word->word) || word_equals(text, length, word->name) ||
		    word_equals(text, length, word->name + sizeof netobs - 1))
			return word;
	}
	return NULL;
}

bool
words_are_known(const char *text, size_t length)
{
	for (size_t i = 0; i < manifest_enum_count; i++)
		if (words_find(manifest_enums[i], text, length) != NULL)
			return true;
	return false;
}

size_t
words_measure_hyphenated(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	if (length > WORD_LENGTH_MAX)
		length = WORD_LENGTH_MAX;
	while (length > 0) {
		if (memchr(text, '-', length) == NULL)
			return 0;
		if (words_are_known(text, length))
			return length;
		do /* try the text before the last hyphen */
			length--;
		while (length > 0 && text[length] != '-');
	}
	return 0;
}

const char *
words_spell(const struct enum_info *info, const char *word, char *spelling, size_t size)
{
	bool flags = strstr(info->field, "_flags") != NULL;

	snprintf(spelling, size, "%s", word);
	for (size_t i = 0; flags && spelling[i] != '\0'; i++)
		spelling[i] = word_fold(spelling[i]);
	return spelling;
}
