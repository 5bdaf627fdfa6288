/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Slots at first; twice as many whenever half of them are in use. */
#define SLOTS_FIRST 1024u

/* A text is shorter. */
#define BLOCK_BYTES 65536u

struct report_text_block {
	struct report_text_block *next;
	size_t used;
	char bytes[BLOCK_BYTES];
};

/* The slot of a text, or the free slot where it belongs. */
static const char **
report_texts_slot(const struct report_texts *texts, const char *text)
{
	size_t at = XXH3_64bits_withSeed(text, strlen(text), texts->seed) & (texts->size - 1);

	while (texts->slots[at] != NULL && strcmp(texts->slots[at], text) != 0)
		at = (at + 1) & (texts->size - 1);
	return &texts->slots[at];
}

static bool
report_texts_grow(struct report_texts *texts)
{
	struct report_texts larger = *texts;

	if (texts->size == 0 && getrandom(&larger.seed, sizeof(larger.seed), 0) != sizeof(larger.seed))
		return false;
	larger.size = texts->size == 0 ? SLOTS_FIRST : 2 * texts->size;
	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return false;
	for (size_t i = 0; i < texts->size; i++) {
		if (texts->slots[i] != NULL)
			*report_texts_slot(&larger, texts->slots[i]) = texts->slots[i];
	}
	free(texts->slots);
	*texts = larger;
	return true;
}

/* A copy at the end of the latest block, or in a new one. */
static const char *
report_texts_copy(struct report_texts *texts, const char *text)
{
	struct report_text_block *block = texts->blocks;
	size_t size = strlen(text) + 1;
	char *copy;

	if (block == NULL || size > BLOCK_BYTES - block->used) {
		block = malloc(sizeof(*block));
		if (block == NULL || size > BLOCK_BYTES) {
			free(block);
			return NULL;
		}
		block->next = texts->blocks;
		block->used = 0;
		texts->blocks = block;
	}
	copy = memcpy(block->bytes + block->used, text, size);
	block->used += size;
	return copy;
}

const char *
report_texts_keep(struct report_texts *texts, const char *text)
{
	const char **slot;

	if (2 * texts->count >= texts->size && !report_texts_grow(texts))
		return NULL;
	slot = report_texts_slot(texts, text);
	if (*slot == NULL) {
		*slot = report_texts_copy(texts, text);
		texts->count += *slot != NULL;
	}
	return *slot;
}

void
report_texts_free(struct report_texts *texts)
{
	struct report_text_block *next;

	for (struct report_text_block *block = texts->blocks; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	free(texts->slots);
}
