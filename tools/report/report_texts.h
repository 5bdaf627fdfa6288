/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of records, such as addresses and names, each kept once. */
#ifndef NETOBS_REPORT_TEXTS_H
#define NETOBS_REPORT_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct report_text_block;

/* Zero at first. */
struct report_texts {
	const char **slots; /* a hash table; NULL: the slot is free */
	size_t size, count; /* size is a power of two */
	struct report_text_block *blocks; /* the latest first */
	uint64_t seed; /* secret: a capture cannot choose texts whose probe sequences are long */
};

/* The kept copy of a text, which stays where it is; NULL if out of memory. */
const char *report_texts_keep(struct report_texts *texts, const char *text);

void report_texts_free(struct report_texts *texts);

#endif
