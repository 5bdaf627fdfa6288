/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A directory of zstd files with the lines of a stream: NAME-20261122T194000Z-000001.jsonl.zst, with the time (UTC) at
 * which the file was begun, and a number.
 *
 * A file is complete or absent: it is written under a temporary name, .NAME-...-000001.jsonl.zst.part, and gets its own
 * name when it is complete and on the disk.  Its zstd frames end with a line, so that after an error, such as a full
 * disk, the complete frames are kept; the number of lines behind them is printed.
 */
#ifndef NETOBS_TOOLS_STREAM_FILES_H
#define NETOBS_TOOLS_STREAM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a file is complete: one of the two, the other is 0. */
struct stream_rotation {
	uint64_t bytes;	  /* of its lines, before compression */
	uint64_t ns;	/* after its first line */
};

struct stream_files;

/* Parses a size such as 100M, or a time from a second on such as 1h.  False if it is neither. */
bool stream_rotation_parse(const char *word, struct stream_rotation *rotation);

/* Opens a directory for files NAME-...  Removes temporary files that killed runs with this name left behind, and prints
 * a message for each.  NULL, with a message printed, on failure. */
struct stream_files *stream_files_open(const char *directory, const char *name, const struct stream_rotation *rotation);

/* Adds complete lines.  False, with a message printed, on failure. */
bool stream_files_add(struct stream_files *files, const char *lines, size_t length);

/* Milliseconds until stream_files_rotate() has something to do, -1 for ever. */
int stream_files_wait_ms(const struct stream_files *files);

/* Completes the file whose time is over.  False, with a message printed, on failure. */
bool stream_files_rotate(struct stream_files *files);

/* Completes the last file.  False, with a message printed, on failure. */
bool stream_files_close(struct stream_files *files);

#endif
