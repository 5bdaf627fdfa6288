/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where records are written: standard output, or a file.  The file of a replay is complete or absent: it has another
 * name in its directory until record_file_complete().  A live run appends to it.  A device or a FIFO is written as it
 * is.
 */
#ifndef NETOBS_DAEMON_RECORD_RECORD_FILE_H
#define NETOBS_DAEMON_RECORD_RECORD_FILE_H

#include <stdbool.h>
#include <sys/types.h>

struct record_file;

/* Opens the file; `path` NULL: standard output.  NULL, with a message logged, on failure. */
struct record_file *record_file_open(const char *path, bool append);

/* For writing. */
int record_file_fd(const struct record_file *file);

/* Whether the file has no content, so that a table begins. */
bool record_file_is_empty(const struct record_file *file);

/* "standard output", or the path. */
const char *record_file_name(const struct record_file *file);

/* Gives the file its name.  Returns 0 or an errno; then there is no file. */
int record_file_complete(struct record_file *file);

/* Closes the file, and removes it if it is not complete.  NULL is allowed. */
void record_file_free(struct record_file *file);

/* Opens a temporary file without a name: in the directory of a file that is to get its name there, else in that of
 * temporary files.  -1, with a message logged, on failure. */
int record_file_open_temporary(const struct record_file *file);

#endif
