/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names in the notes of formulas.so.  The first two bytes choose a slot and a name, the rest is an ELF file.  A
 * file that is accepted keeps every byte but those of the notes and of the build id, whatever is written; the names
 * that were written are read; and what was there before can be written again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/slots/slot_notes.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A name of 1 to FORMULA_NAME_MAX bytes. */
static void
make_name(char name[FORMULA_NAME_MAX + 1], unsigned choice)
{
	size_t length = choice % FORMULA_NAME_MAX + 1;

	memset(name, 0, FORMULA_NAME_MAX + 1);
	memset(name, (choice & 0x80) != 0 ? '-' : 'z', length);
	name[0] = 'f';
	name[length] = '\0';
}

/* Compares an image with the one before, outside of the notes and the build id. */
static void
compare_rest(const struct slot_notes *notes, const uint8_t *before)
{
	const struct slot_range *first = &notes->names, *second = &notes->build_id;

	if (first->at > second->at) {
		first = &notes->build_id;
		second = &notes->names;
	}
	must(first->at + first->size <= second->at && second->at + second->size <= notes->size);
	must(memcmp(notes->image, before, first->at) == 0);
	must(memcmp(notes->image + first->at + first->size, before + first->at + first->size,
		    second->at - first->at - first->size) == 0);
	must(memcmp(notes->image + second->at + second->size, before + second->at + second->size,
		    notes->size - second->at - second->size) == 0);
}

static void
write_names(struct slot_notes *notes, const struct slot_names *names, const uint8_t *before)
{
	char error[SLOT_ERROR_MAX];
	struct slot_notes again;
	struct slot_names read;

	must(slot_notes_write(notes, names, error));
	compare_rest(notes, before);
	must(slot_notes_parse(&again, notes->image, notes->size, error));
	must(memcmp(again.notes, notes->notes, sizeof again.notes) == 0);
	slot_notes_read(&again, &read);
	must(memcmp(&read, names, sizeof read) == 0);
}

static bool
has_duplicates(const struct slot_names *names)
{
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		for (unsigned j = 0; j < i; j++)
			if (names->of[i][0] != '\0' && strcmp(names->of[i], names->of[j]) == 0)
				return true;
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[SLOT_ERROR_MAX] = "";
	uint8_t *image, *before, *first;
	struct slot_names names, changed;
	struct slot_notes notes;

	if (size < 3)
		return 0;
	image = malloc(3 * (size - 2));
	must(image != NULL);
	memcpy(image, data + 2, size - 2);
	before = image + size - 2;
	first = before + size - 2;
	memcpy(before, image, size - 2);
	if (!slot_notes_parse(&notes, image, size - 2, error)) {
		must(error[0] != '\0' && memcmp(image, before, size - 2) == 0);
	} else {
		slot_notes_read(&notes, &names);
		changed = names;
		make_name(changed.of[data[0] % SLOTS_COUNT], data[1]);
		if (has_duplicates(&names) || has_duplicates(&changed)) {
			must(!has_duplicates(&names) || !slot_notes_write(&notes, &names, error));
		} else {
			write_names(&notes, &names, before);
			memcpy(first, image, size - 2);
			write_names(&notes, &changed, before);
			write_names(&notes, &names, before);
			must(memcmp(first, image, size - 2) == 0);
		}
	}
	free(image);
	return 0;
}
