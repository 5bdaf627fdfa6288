/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/formulas/slots/elf_sample.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "formulas/slots/slots_object.h"

uint64_t
elf_sample_load(const struct elf_sample *sample, size_t at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)sample->image[at + i] << 8 * (sample->big_endian ? bytes - 1 - i : i);
	return value;
}

void
elf_sample_store(struct elf_sample *sample, size_t at, size_t bytes, uint64_t value)
{
	for (size_t i = 0; i < bytes; i++)
		sample->image[at + i] = (uint8_t)(value >> 8 * (sample->big_endian ? bytes - 1 - i : i));
}

static void
elf_sample_add_number(struct elf_sample *sample, size_t bytes, uint64_t value)
{
	elf_sample_store(sample, sample->size, bytes, value);
	sample->size += bytes;
}

static void
elf_sample_add_word(struct elf_sample *sample, uint64_t value)
{
	elf_sample_add_number(sample, sample->wide ? 8 : 4, value);
}

static void
elf_sample_add_text(struct elf_sample *sample, const char *text)
{
	memcpy(sample->image + sample->size, text, strlen(text) + 1);
	sample->size += strlen(text) + 1;
}

static void
elf_sample_pad(struct elf_sample *sample)
{
	sample->size = (sample->size + 3) & ~(size_t)3;
}

static void
elf_sample_add_note(struct elf_sample *sample, const char *owner, size_t size, uint64_t type)
{
	elf_sample_add_number(sample, 4, strlen(owner) + 1);
	elf_sample_add_number(sample, 4, size);
	elf_sample_add_number(sample, 4, type);
	elf_sample_add_text(sample, owner);
	elf_sample_pad(sample);
}

static void
elf_sample_add_slot(struct elf_sample *sample, unsigned number)
{
	size_t word = sample->wide ? 8 : 4;
	char name[16];

	snprintf(name, sizeof name, "formula__%02u", number);
	for (unsigned i = 0; i < sample->sites; i++) {
		elf_sample_add_note(sample, "stapsdt", 3 * word + 7 + strlen(name) + 1 + strlen(sample->operands) + 1,
				    3);
		elf_sample_add_word(sample, 0x1000 + 32 * number + i);
		elf_sample_add_word(sample, 0x2000);
		elf_sample_add_word(sample, 0x4000 + 2 * number);
		elf_sample_add_text(sample, "netobs");
		elf_sample_add_text(sample, name);
		elf_sample_add_text(sample, sample->operands);
		elf_sample_pad(sample);
		elf_sample_add_note(sample, "netobs", strlen(name) + 1 + SLOTS_FILLER_SPARE, SLOTS_FILLER_TYPE);
		elf_sample_add_text(sample, name);
		sample->size += SLOTS_FILLER_SPARE;
		elf_sample_pad(sample);
	}
}

size_t
elf_sample_row_size(const struct elf_sample *sample)
{
	return sample->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static void
elf_sample_add_row(struct elf_sample *sample, size_t name, uint64_t type, size_t at, size_t size)
{
	size_t row = sample->size;

	elf_sample_add_number(sample, 4, name);
	elf_sample_add_number(sample, 4, type);
	elf_sample_add_word(sample, 0); /* flags */
	elf_sample_add_word(sample, 0); /* address */
	elf_sample_add_word(sample, at);
	elf_sample_add_word(sample, size);
	sample->size = row + elf_sample_row_size(sample);
}

static void
elf_sample_put_header(struct elf_sample *sample)
{
	const uint8_t ident[] = {0x7f,
				 'E',
				 'L',
				 'F',
				 sample->wide ? ELFCLASS64 : ELFCLASS32,
				 sample->big_endian ? ELFDATA2MSB : ELFDATA2LSB,
				 EV_CURRENT};

	memcpy(sample->image, ident, sizeof ident);
	elf_sample_store(sample, offsetof(Elf64_Ehdr, e_type), 2, ET_DYN);
	if (sample->wide) {
		elf_sample_store(sample, offsetof(Elf64_Ehdr, e_shoff), 8, sample->sections);
		elf_sample_store(sample, offsetof(Elf64_Ehdr, e_shentsize), 2, sizeof(Elf64_Shdr));
		elf_sample_store(sample, offsetof(Elf64_Ehdr, e_shnum), 2, 5);
		elf_sample_store(sample, offsetof(Elf64_Ehdr, e_shstrndx), 2, 4);
	} else {
		elf_sample_store(sample, offsetof(Elf32_Ehdr, e_shoff), 4, sample->sections);
		elf_sample_store(sample, offsetof(Elf32_Ehdr, e_shentsize), 2, sizeof(Elf32_Shdr));
		elf_sample_store(sample, offsetof(Elf32_Ehdr, e_shnum), 2, 5);
		elf_sample_store(sample, offsetof(Elf32_Ehdr, e_shstrndx), 2, 4);
	}
}

void
elf_sample_make(struct elf_sample *sample)
{
	static const char names[] = "\0.text\0.note.stapsdt\0.note.gnu.build-id\0.shstrtab";
	size_t text, names_at, build_note;

	memset(sample->image, 0, sizeof sample->image);
	sample->size = text = sizeof(Elf64_Ehdr);
	sample->size += 64;
	sample->notes = sample->size;
	for (unsigned i = 1; i <= SLOTS_COUNT; i++)
		elf_sample_add_slot(sample, i);
	sample->notes_end = build_note = sample->size;
	elf_sample_add_note(sample, "GNU", 20, NT_GNU_BUILD_ID);
	sample->build_id = sample->size;
	sample->size += 20;
	names_at = sample->size;
	memcpy(sample->image + names_at, names, sizeof names);
	sample->size += sizeof names;
	sample->size = (sample->size + 7) & ~(size_t)7;
	sample->sections = sample->size;
	elf_sample_add_row(sample, 0, SHT_NULL, 0, 0);
	elf_sample_add_row(sample, 1, SHT_PROGBITS, text, 64);
	elf_sample_add_row(sample, 7, SHT_NOTE, sample->notes, sample->notes_end - sample->notes);
	elf_sample_add_row(sample, 21, SHT_NOTE, build_note, sample->build_id + 20 - build_note);
	elf_sample_add_row(sample, 40, SHT_STRTAB, names_at, sizeof names);
	elf_sample_put_header(sample);
}
