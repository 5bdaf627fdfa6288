/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned
nearest_min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Names have no capital letters, but titles of tables have. */
static bool
nearest_is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Insertions, deletions, substitutions and swaps of neighbours that make one word of the other (optimal string
 * alignment distance).  Only the last three rows of the table exist. */
static unsigned
nearest_count_edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][NEAREST_WORD_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before_last = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = nearest_min(last[j], row[j - 1]) + 1;
			row[j] = nearest_min(row[j], last[j - 1] + !nearest_is_same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && nearest_is_same(a[i - 1], b[j - 2]) &&
			    nearest_is_same(a[i - 2], b[j - 1]))
				row[j] = nearest_min(row[j], before_last[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

void
nearest_begin(struct nearest *nearest, const char *word, size_t length)
{
	unsigned most = (unsigned)length / 3 + 1;

	*nearest = (struct nearest){.word = word, .length = length, .most_edits = -1};
	/* At least one letter must be right. */
	if (length > 1)
		nearest->most_edits = (int)nearest_min(most, (unsigned)length - 1);
}

void
nearest_consider(struct nearest *nearest, const char *candidate)
{
	size_t length = strlen(candidate);
	int edits;

	if (nearest->most_edits < 0 || nearest->length > NEAREST_WORD_MAX || length > NEAREST_WORD_MAX)
		return;
	edits = (int)nearest_count_edits(nearest->word, nearest->length, candidate, length);
	if (edits > nearest->most_edits)
		return;
	nearest->found = candidate;
	nearest->most_edits = edits - 1;
}

const char *
nearest_hint(const struct nearest *nearest, const char *prefix, char hint[NEAREST_HINT_MAX])
{
	hint[0] = '\0';
	if (nearest->found != NULL)
		snprintf(hint, NEAREST_HINT_MAX, " (did you mean %s%s?)", prefix, nearest->found);
	return hint;
}
