/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is complete or absent: its content is written to a file without a name or with a hidden one, and renamed
 * when all of it is on disk.  Until then a file of that name stays as it is.  A killed program leaves at most a hidden
 * file, which complete_file_open() removes when the same file is written again.
 */
#ifndef NETOBS_TOOLS_COMPLETE_FILE_H
#define NETOBS_TOOLS_COMPLETE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct complete_file;

/* Begins a file.  `unnamed`: without a name until it is complete, if the file system supports it.  NULL with
 * `error`. */
struct complete_file *complete_file_open(const char *path, bool unnamed, char *error, size_t size);

/* False with `error`. */
bool complete_file_write(struct complete_file *file, const void *bytes, size_t length, char *error, size_t size);

/* Makes the content durable, and gives the file its name, in place of a file that has it.  Releases `file`.  False with
 * `error`; then the file is absent, or as it was before. */
bool complete_file_publish(struct complete_file *file, char *error, size_t size);

/* Removes what was written, and releases `file`.  NULL is allowed. */
void complete_file_discard(struct complete_file *file);

#endif
