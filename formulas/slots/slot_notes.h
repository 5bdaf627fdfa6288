/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and changes the names of slots in an image of formulas.so (slots_object.h), of any word size and byte order.
 * The image keeps its size, and all other bytes except the build id their values: a tracer that is attached stays
 * attached.  The build id becomes a hash of the image, because tracers cache the names by it.
 *
 * Names are those of formulas ("slow-handshake"); the notes have those of sites ("slow__handshake").
 */
#ifndef NETOBS_FORMULAS_SLOTS_SLOT_NOTES_H
#define NETOBS_FORMULAS_SLOTS_SLOT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formulas/formula.h"
#include "formulas/slots/slots_object.h"

#define SLOT_ERROR_MAX	  384	    /* bytes of a reason */
#define SLOT_IMAGE_MAX	  (1 << 20) /* bytes of an image */
#define SLOT_NOTES_MAX	  2	    /* notes of a slot, one for each site */
#define SLOT_BUILD_ID_MIN 8	    /* bytes */

/* The names of all slots; an empty one is the default name. */
struct slot_names {
	char of[SLOTS_COUNT][FORMULA_NAME_MAX + 1];
};

/* A range of bytes of the image. */
struct slot_range {
	size_t at, size;
};

struct slot_notes {
	uint8_t *image; /* borrowed */
	size_t size;
	bool big_endian;
	size_t word;		    /* bytes of an address */
	struct slot_range names;    /* the section with the notes of the sites */
	struct slot_range build_id; /* its bytes */
	/* Each with the filler after it. */
	struct slot_range notes[SLOTS_COUNT][SLOT_NOTES_MAX];
	unsigned note_count[SLOTS_COUNT];
};

/* Finds the notes in an image of `size` bytes.  False, with a reason, if it is not an image of formulas.so. */
bool slot_notes_parse(struct slot_notes *notes, uint8_t *image, size_t size, char error[SLOT_ERROR_MAX]);

void slot_notes_read(const struct slot_notes *notes, struct slot_names *names);

/* Gives all slots these names and the image its build id.  False, with a reason, if a name is not that of a formula or
 * appears twice; the image is then unchanged. */
bool slot_notes_write(struct slot_notes *notes, const struct slot_names *names, char error[SLOT_ERROR_MAX]);

#endif
