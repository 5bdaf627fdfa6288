/* SPDX-License-Identifier: BSD-2-Clause */
/* The content of a file in memory, and safe paths to it: for slot_file.c and slots_open.c. */
#ifndef NETOBS_FORMULAS_SLOTS_SLOT_IMAGE_H
#define NETOBS_FORMULAS_SLOTS_SLOT_IMAGE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* --- The bytes of formulas.so, as built, in the program: whatever file is mapped later is compared with them. --- */

extern const uint8_t slots_template[];
extern const size_t slots_template_size;

/* --- Paths that no other user can redirect: what is checked by a path is then what is used by the same path. --- */

/* Finds the absolute path without symbolic links of what exists.  False, with errno and a reason, on failure, also if
 * another user can have prepared a link on the path; see base/path.h. */
bool slot_path_resolve(const char *path, char resolved[PATH_MAX], char error[SLOT_ERROR_MAX]);

/* Opens the last component of an absolute path without symbolic links, "." and "..", if only root and this user can
 * replace the entries of each directory before it.  Devices, FIFOs and sockets are not opened, nor a file with a
 * second name in a directory in which others can create names.  -1, with a reason, on failure. */
int slot_path_open(const char *path, int flags, char error[SLOT_ERROR_MAX]);

/* NULL if only this user can change an open file; otherwise what is wrong.  It may have several names
 * elsewhere: perf adds a file to its cache by a hard link. */
const char *slot_path_check_file(int fd);

/* The same for a directory, whose entries must be safe, too. */
bool slot_path_check_directory(const char *directory, char error[SLOT_ERROR_MAX]);

/*
 * A file of this process alone, in a directory of its own.
 *
 * A confined process cannot remove files, and one that is killed removes none.  A shell therefore waits for the end of
 * this process, which it notices by the end of file on a pipe, and removes both.
 */

#define PRIVATE_COPY_FILE "formulas.so"

struct private_copy {
	char directory[PATH_MAX];
	char path[PATH_MAX + sizeof PRIVATE_COPY_FILE];
	int alive; /* the shell waits for the end of file of this pipe; -1: there is no shell */
	int done;  /* end of file when the shell has removed the file */
	pid_t shell;
};

/* Writes formulas.so with the default names into a new directory below `parent`. */
bool private_copy_make(struct private_copy *copy, const char *parent, char error[SLOT_ERROR_MAX]);

/* Starts the shell.  Without it only private_copy_remove() removes the files. */
void private_copy_watch(struct private_copy *copy);

/* Removes the file and its directory, and returns when they are gone. */
void private_copy_remove(struct private_copy *copy);

#endif
