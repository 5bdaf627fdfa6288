/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output of a run: standard output, or a file.  The file of a replay is complete or absent: it has another name in
 * its directory until output_file_complete().  A live run appends to it.  A device or a FIFO is written as it is.
 */
#ifndef NETOBS_DAEMON_FILE_OUTPUT_FILE_H
#define NETOBS_DAEMON_FILE_OUTPUT_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/path.h"

struct output_file;

/* Opens the file; `path` NULL: standard output.  NULL, with the reason, on failure. */
struct output_file *output_file_open(const char *path, bool append, char error[OUTPUT_PATH_ERROR_MAX]);

/* Whether the path is one of the files that are read, which must not be replaced; `inputs` ends with NULL. */
bool output_file_is_input(const char *path, const char *const *inputs);

/* Whether two paths stand for one file of one directory. */
bool output_file_is_same(const char *path, const char *other);

/* For writing. */
int output_file_fd(const struct output_file *file);

/* Whether the file has no content, so that a table begins. */
bool output_file_is_empty(const struct output_file *file);

/* Whether a file to which is appended ends within a line, which a run before has left on a full disk. */
bool output_file_is_cut(const struct output_file *file);

/* "standard output", or the path. */
const char *output_file_name(const struct output_file *file);

/* Gives the file its name.  Returns 0 or an errno; then there is no file. */
int output_file_complete(struct output_file *file);

/* Closes the file, and removes it if it is not complete.  NULL is allowed. */
void output_file_free(struct output_file *file);

/* Opens a temporary file without a name: in the directory of a file that is to get its name there, else in that of
 * temporary files.  -1, with a message logged, on failure. */
int output_file_open_temporary(const struct output_file *file);

#endif
