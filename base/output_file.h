/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that are complete or absent: the content is written to a file without a name, or with a hidden one where the
 * file system has no such files, and gets its name when all of it is on the disk.  Until then a file of that name stays
 * as it is.  A killed program leaves at most a hidden file, which is removed when the same file is written again.
 */
#ifndef NETOBS_BASE_OUTPUT_FILE_H
#define NETOBS_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/path.h"

struct complete_file;

/* A symbolic link is replaced like a regular file. */
#define COMPLETE_FILE_LINKS 1u

/* The file has its hidden name from the beginning, where its user sees it grow. */
#define COMPLETE_FILE_HIDDEN 2u

/* Begins a file.  NULL with the reason. */
struct complete_file *complete_file_open(const char *path, unsigned flags, char error[OUTPUT_PATH_ERROR_MAX]);

/* For writing. */
int complete_file_fd(const struct complete_file *file);

/* Writes all to a descriptor that blocks.  False with errno. */
bool output_write_all(int fd, const void *from, size_t size);

/* Makes the content durable, and gives the file its name, in place of a file that has it.  Releases `file`.  Returns 0
 * or an errno; then the file is absent, or as it was before. */
int complete_file_publish(struct complete_file *file);

/* Removes what was written, and releases `file`.  NULL is allowed.  errno stays. */
void complete_file_discard(struct complete_file *file);

/*
 * An output of netobsd: standard output, or a file.  The file of a replay is complete or absent, by a process that
 * keeps it while netobsd is confined.  A live run appends to it.  A device or a FIFO is written as it is.
 */
struct output_file;

/* Opens the file before there are other threads and before the process is confined; `path` NULL: standard output.
 * NULL, with the reason, on failure. */
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

/* Opens a new file without a name in $TMPDIR, or in `fallback` if that is not set or empty, for reading and writing.
 * -1 with the directory and the reason. */
int output_file_open_unnamed(const char *fallback, char error[OUTPUT_PATH_ERROR_MAX]);

/* Opens a temporary file without a name: in the directory of a file that is to get its name there, else in that of
 * temporary files.  -1, with a message logged, on failure. */
int output_file_open_temporary(const struct output_file *file);

#endif
