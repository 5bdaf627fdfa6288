/* SPDX-License-Identifier: BSD-2-Clause */
/* The content of a file in memory: for slot_file.c and slot_install.c. */
#ifndef NETOBS_FORMULAS_SLOTS_SLOT_IMAGE_H
#define NETOBS_FORMULAS_SLOTS_SLOT_IMAGE_H

#include "formulas/slots/slot_notes.h"

struct slot_image {
	uint8_t *bytes; /* NULL: none */
	struct slot_notes notes;
};

/* Makes the reason "PATH: REASON"; false. */
bool slot_image_fail(char error[SLOT_ERROR_MAX], const char *path, const char *reason);

/* A copy of the bytes in the program. */
bool slot_image_copy_template(struct slot_image *image, char error[SLOT_ERROR_MAX]);

/* Reads a file that is the template but for the names. */
bool slot_image_read(struct slot_image *image, int fd, char error[SLOT_ERROR_MAX]);

void slot_image_free(struct slot_image *image);

/* Waits until no other process edits an open file, or, to edit it, uses it; false with errno on failure, EBUSY if that
 * takes too long. */
bool slot_image_lock(int fd, bool edit);

/* Opens a file and locks it; -1 with errno on failure. */
int slot_image_open_locked(const char *path, bool edit);

/* Writes a range of the image to the file. */
bool slot_image_write_bytes(const struct slot_image *image, int fd, size_t at, size_t size);

/* Changes the names in the image and in the file that it was read from. */
bool slot_image_write_names(struct slot_image *image, int fd, const struct slot_names *names,
			    char error[SLOT_ERROR_MAX]);

#endif
