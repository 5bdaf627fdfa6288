/* SPDX-License-Identifier: BSD-2-Clause */
/* A small image of formulas.so, of any word size and byte order; what is in it besides the notes has no meaning. */
#ifndef NETOBS_TESTS_FORMULAS_SLOTS_ELF_SAMPLE_H
#define NETOBS_TESTS_FORMULAS_SLOTS_ELF_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_SAMPLE_MAX 65536

struct elf_sample {
	bool wide, big_endian;
	unsigned sites; /* of each slot */
	const char *operands;
	size_t size;
	size_t notes, notes_end;	    /* the section .note.stapsdt */
	size_t build_id;		    /* its 20 bytes */
	size_t sections;		    /* headers: an empty one, .text, .note.stapsdt, .note.gnu.build-id, names */
	uint8_t image[ELF_SAMPLE_MAX];
};

/* Makes the image, by the four fields that come first. */
void elf_sample_make(struct elf_sample *sample);

/* A number of `bytes` bytes at `at`. */
uint64_t elf_sample_load(const struct elf_sample *sample, size_t at, size_t bytes);
void elf_sample_store(struct elf_sample *sample, size_t at, size_t bytes, uint64_t value);

/* The bytes of a section header. */
size_t elf_sample_row_size(const struct elf_sample *sample);

#endif
