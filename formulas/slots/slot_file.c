/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/slots/slot_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formulas/slots/slot_image.h"

bool
slot_file_read(int fd, struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	struct slot_image image;

	if (!slot_image_read(&image, fd, error))
		return false;
	slot_notes_read(&image.notes, names);
	slot_image_free(&image);
	return true;
}

bool
slots_read_names(const char *path, struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX];
	int fd = slot_image_open_locked(path, false);
	bool done;

	if (fd < 0)
		return slot_image_fail(error, path, strerror(errno));
	done = slot_file_read(fd, names, reason) || slot_image_fail(error, path, reason);
	close(fd);
	return done;
}

bool
slots_write_name(const char *path, unsigned index, const char *name, char error[SLOT_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX];
	struct slot_names names;
	struct slot_image image;
	int fd = slot_image_open_locked(path, true);
	bool done = false;

	if (fd < 0)
		return slot_image_fail(error, path, strerror(errno));
	if (index >= SLOTS_COUNT) {
		snprintf(reason, sizeof reason, "there is no slot %u", index + 1);
	} else if (slot_image_read(&image, fd, reason)) {
		slot_notes_read(&image.notes, &names);
		memset(names.of[index], 0, sizeof names.of[index]);
		if (name != NULL && (*name == '\0' || strlen(name) > FORMULA_NAME_MAX)) {
			snprintf(reason, sizeof reason, "a name has 1 to %d bytes", FORMULA_NAME_MAX);
		} else {
			if (name != NULL)
				memcpy(names.of[index], name, strlen(name));
			done = slot_image_write_names(&image, fd, &names, reason);
		}
		slot_image_free(&image);
	}
	close(fd);
	return done || slot_image_fail(error, path, reason);
}
