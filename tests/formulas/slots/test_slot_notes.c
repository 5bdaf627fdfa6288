/* SPDX-License-Identifier: BSD-2-Clause */
/* The names in the notes of formulas.so: every length, every word size and byte order; damaged files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/slots/slot_notes.h"
#include "tests/formulas/slots/elf_sample.h"

static struct elf_sample sample;
static struct slot_notes notes;
static char error[SLOT_ERROR_MAX];

static const char *const operands[] = {"8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9", "4@%eax", "", "8@x0 8@x1"};

static void
make_sample(unsigned which)
{
	sample.wide = (which & 1) != 0;
	sample.big_endian = (which & 2) != 0;
	sample.sites = (which & 4) != 0 ? 2 : 1;
	sample.operands = operands[which >> 3 & 3];
	elf_sample_make(&sample);
	if (!slot_notes_parse(&notes, sample.image, sample.size, error))
		fail_msg("sample %u is refused: %s", which, error);
}

/* ---------------------------------------------------------------------------------------------- a reader of its own */

/* Reads the section as a tracer does, and compares the notes: for each site the name `wanted[slot]`. */
static void
read_notes(const struct slot_names *wanted)
{
	size_t word = sample.wide ? 8 : 4, at = sample.notes;
	unsigned sites = 0;

	while (at < sample.notes_end) {
		size_t owner = elf_sample_load(&sample, at, 4), size = elf_sample_load(&sample, at + 4, 4);
		uint64_t type = elf_sample_load(&sample, at + 8, 4);
		const char *text = (const char *)sample.image + at + 20;
		unsigned slot = sites / sample.sites;
		char expected[2 * FORMULA_NAME_MAX + 1] = "";

		assert_int_equal(owner, type == 3 ? sizeof "stapsdt" : sizeof "netobs");
		at += 20 + ((size + 3) & ~(size_t)3);
		assert_true(at <= sample.notes_end);
		if (type != 3) {
			assert_string_equal(text - 8, "netobs");
			continue;
		}
		assert_string_equal(text - 8, "stapsdt");
		assert_int_equal(elf_sample_load(&sample, (size_t)((const uint8_t *)text - sample.image), word),
				 0x1000 + 32 * (slot + 1) + sites % sample.sites);
		assert_int_equal(
		    elf_sample_load(&sample, (size_t)((const uint8_t *)text - sample.image) + 2 * word, word),
		    0x4000 + 2 * (slot + 1));
		text += 3 * word;
		assert_string_equal(text, "netobs");
		text += sizeof "netobs";
		if (wanted->of[slot][0] == '\0')
			snprintf(expected, sizeof expected, "formula__%02u", slot + 1);
		for (size_t i = 0, to = 0; wanted->of[slot][i] != '\0'; i++) {
			to += (size_t)snprintf(expected + to, sizeof expected - to, "%s",
					       wanted->of[slot][i] == '-' ? "__" : (char[]){wanted->of[slot][i], '\0'});
		}
		assert_string_equal(text, expected);
		text += strlen(expected) + 1;
		assert_string_equal(text, sample.operands);
		/* bcc requires that the strings end where the note does. */
		assert_int_equal(3 * word + 7 + strlen(expected) + 1 + strlen(sample.operands) + 1, size);
		sites++;
	}
	assert_int_equal(at, sample.notes_end);
	assert_int_equal(sites, SLOTS_COUNT * sample.sites);
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static void
fill_name(char *name, size_t length, char second)
{
	memset(name, second, length);
	name[0] = 'a';
	name[length] = '\0';
}

/* Names of every length, with and without hyphens, in two slots. */
static void
test_every_length(void **state)
{
	static uint8_t before[ELF_SAMPLE_MAX];

	(void)state;
	for (unsigned which = 0; which < 32; which++) {
		struct slot_names names = {0}, read;

		make_sample(which);
		read_notes(&names);
		memcpy(before, sample.image, sample.size);
		for (size_t length = 1; length <= FORMULA_NAME_MAX; length++) {
			for (unsigned hyphens = 0; hyphens < 2; hyphens++) {
				fill_name(names.of[0], length, hyphens ? '-' : 'b');
				fill_name(names.of[63], FORMULA_NAME_MAX + 1 - length, hyphens ? 'c' : '-');
				if (strcmp(names.of[0], names.of[63]) == 0)
					continue;
				assert_true(slot_notes_write(&notes, &names, error));
				read_notes(&names);
				assert_true(slot_notes_parse(&notes, sample.image, sample.size, error));
				slot_notes_read(&notes, &read);
				assert_memory_equal(&read, &names, sizeof names);
			}
		}
		memset(&names, 0, sizeof names);
		assert_true(slot_notes_write(&notes, &names, error));
		/* The build id is another: this one was not one of a writer. */
		assert_memory_not_equal(before + sample.build_id, sample.image + sample.build_id, 20);
		memcpy(before + sample.build_id, sample.image + sample.build_id, 20);
		assert_memory_equal(before, sample.image, sample.size);
	}
}

/* All slots have the longest names. */
static void
test_all_slots(void **state)
{
	struct slot_names names;

	(void)state;
	memset(&names, 0, sizeof names);
	for (unsigned i = 0; i < SLOTS_COUNT; i++) {
		fill_name(names.of[i], FORMULA_NAME_MAX, '-');
		names.of[i][1 + i % 39] = (char)('a' + i / 39);
	}
	for (unsigned which = 0; which < 8; which++) {
		make_sample(which);
		assert_true(slot_notes_write(&notes, &names, error));
		read_notes(&names);
	}
}

/* The build id depends on the names alone, not on earlier ones. */
static void
test_build_id(void **state)
{
	struct slot_names names = {0};
	uint8_t first[20], second[20];

	(void)state;
	make_sample(5);
	memcpy(names.of[3], "slow", 5);
	assert_true(slot_notes_write(&notes, &names, error));
	memcpy(first, sample.image + sample.build_id, sizeof first);
	memcpy(names.of[3], "slower-than-before", sizeof "slower-than-before");
	memcpy(names.of[9], "b", 2);
	assert_true(slot_notes_write(&notes, &names, error));
	memcpy(second, sample.image + sample.build_id, sizeof second);
	assert_memory_not_equal(first, second, sizeof first);
	memset(&names, 0, sizeof names);
	memcpy(names.of[3], "slow", 5);
	assert_true(slot_notes_write(&notes, &names, error));
	assert_memory_equal(first, sample.image + sample.build_id, sizeof first);
}

static void
test_bad_names(void **state)
{
	static const char *const bad[] = {"A",	 "1a",	       "-a",	     "a_b",	 "a b",
					  "a:b", "formula-01", "formula-64", "\xc3\xa4", "a\n"};
	static uint8_t before[ELF_SAMPLE_MAX];
	struct slot_names names = {0};

	(void)state;
	make_sample(5);
	memcpy(before, sample.image, sample.size);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		snprintf(names.of[7], sizeof names.of[7], "%s", bad[i]);
		assert_false(slot_notes_write(&notes, &names, error));
		assert_non_null(strstr(error, bad[i]));
		assert_memory_equal(before, sample.image, sample.size);
	}
	memset(names.of[7], 'a', sizeof names.of[7]); /* not terminated */
	assert_false(slot_notes_write(&notes, &names, error));
	memcpy(names.of[7], "same", 5);
	memcpy(names.of[8], "same", 5);
	assert_false(slot_notes_write(&notes, &names, error));
	assert_string_equal(error, "two slots would have the name \"same\"");
	assert_memory_equal(before, sample.image, sample.size);
	memcpy(names.of[8], "formula-a", sizeof "formula-a");
	assert_true(slot_notes_write(&notes, &names, error));
}

/* ---------------------------------------------------------------------------------------------------- damaged files */

/* The image is parsed at its exact size, so that a sanitizer finds a read past its end. */
static bool
parses(size_t size)
{
	uint8_t *copy = malloc(size + 1);
	bool parsed;

	assert_non_null(copy);
	memcpy(copy, sample.image, size);
	copy = realloc(copy, size > 0 ? size : 1);
	parsed = slot_notes_parse(&notes, copy, size, error);
	if (!parsed)
		assert_true(error[0] != '\0');
	free(copy);
	return parsed;
}

static void
test_cut_files(void **state)
{
	(void)state;
	for (unsigned which = 0; which < 8; which++) {
		make_sample(which);
		assert_true(parses(sample.size));
		for (size_t size = 0; size < sample.size; size++)
			assert_false(parses(size));
	}
}

/* Every byte of the notes counts, except the addresses, the operands, and the zeros of a filler. */
static void
test_changed_bytes(void **state)
{
	(void)state;
	for (unsigned which = 0; which < 8; which++) {
		size_t pair, word;

		make_sample(which);
		word = sample.wide ? 8 : 4;
		pair = (sample.notes_end - sample.notes) / SLOTS_COUNT / sample.sites;
		for (size_t i = 0; i < pair; i++) {
			bool strings = i >= 20 + 3 * word && i < 20 + 3 * word + 7 + sizeof "formula__01";
			bool headers = i < 20 || (i >= 20 + 3 * word + 7 + 12 + strlen(sample.operands) + 1 + 3 &&
						  i < pair - SLOTS_FILLER_SPARE);

			sample.image[sample.notes + pair + i] ^= 0x20;
			if (headers || strings)
				assert_false(parses(sample.size));
			else
				parses(sample.size);
			sample.image[sample.notes + pair + i] ^= 0x20;
		}
		assert_true(parses(sample.size));
	}
}

/* Sections that share bytes with the notes would be damaged by a write. */
static void
test_overlapping_sections(void **state)
{
	(void)state;
	for (unsigned which = 0; which < 8; which++) {
		for (unsigned other = 1; other < 5; other++) {
			for (unsigned section = 2; section < 4; section++) {
				size_t row, field;

				if (other == section)
					continue;
				make_sample(which);
				row = sample.sections + other * elf_sample_row_size(&sample);
				field = sample.wide ? offsetof(Elf64_Shdr, sh_offset) : offsetof(Elf32_Shdr, sh_offset);
				elf_sample_store(&sample, row + field, sample.wide ? 8 : 4,
						 section == 2 ? sample.notes_end - 4 : sample.build_id + 16);
				assert_false(parses(sample.size));
			}
		}
	}
}

/* A slot is missing, has one note more than another, or two names. */
static void
test_uneven_slots(void **state)
{
	size_t pair, at;

	(void)state;
	make_sample(5);
	pair = (sample.notes_end - sample.notes) / SLOTS_COUNT / sample.sites;
	at = sample.notes + 10 * pair;				       /* the first note of slot 6 */
	memcpy(sample.image + at, sample.image + at + 4 * pair, pair); /* now one of slot 8 */
	assert_false(parses(sample.size));

	make_sample(5);
	memcpy(sample.image + at + 20 + 24 + 7, "gormula__06", 11);
	assert_false(parses(sample.size));
	memcpy(sample.image + at + pair + 20 + 24 + 7, "gormula__06", 11);
	assert_true(parses(sample.size));
	memcpy(sample.image + at + 20 + 24 + 7, "formula__07", 11); /* of another slot */
	memcpy(sample.image + at + pair + 20 + 24 + 7, "formula__07", 11);
	assert_false(parses(sample.size));
}

static void
test_other_files(void **state)
{
	uint8_t text[4096] = "#!/bin/sh\n";

	(void)state;
	assert_false(slot_notes_parse(&notes, text, sizeof text, error));
	assert_string_equal(error, "not an ELF file of a size that is possible");
	make_sample(5);
	elf_sample_store(&sample, offsetof(Elf64_Ehdr, e_type), 2, ET_EXEC);
	assert_false(slot_notes_parse(&notes, sample.image, sample.size, error));
	assert_string_equal(error, "not a shared object with sections");
	make_sample(5);
	sample.image[sample.build_id - 4] = 'g';
	assert_false(slot_notes_parse(&notes, sample.image, sample.size, error));
	assert_string_equal(error, "it has no build id");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_length),
	    cmocka_unit_test(test_all_slots),
	    cmocka_unit_test(test_build_id),
	    cmocka_unit_test(test_bad_names),
	    cmocka_unit_test(test_cut_files),
	    cmocka_unit_test(test_changed_bytes),
	    cmocka_unit_test(test_overlapping_sections),
	    cmocka_unit_test(test_uneven_slots),
	    cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
