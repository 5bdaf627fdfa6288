/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The captures that netobs-split writes: PREFIX-0001-of-0007.pcapng and so on, then PREFIX.json, which lists them.
 * They are written under temporary names in the same directory.  All of them get their names when all are complete,
 * PREFIX.json last; or no file does.
 */
#ifndef NETOBS_TOOLS_SPLIT_SPLIT_FILES_H
#define NETOBS_TOOLS_SPLIT_SPLIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/frame.h"

/* Most captures: PREFIX-9999-of-9999.pcapng. */
#define SPLIT_FILES_MAX 9999u

/* Counters of one capture. */
struct split_file_counters {
	uint64_t frames; /* without the empty frame at the end */
	uint64_t bytes;	 /* of the file */
	uint64_t last;	 /* packet time of its last frame */
};

struct split_files;

/* Creates the captures, empty, under their temporary names.  `counters` has `count` elements and is borrowed.  NULL,
 * with a message logged, if one exists already or cannot be created. */
struct split_files *split_files_create(const char *prefix, unsigned count, struct split_file_counters *counters);

/* Writes the headers; `link_type`: of the interface that a capture without frames has.  False, with a message logged,
 * on failure. */
bool split_files_begin(struct split_files *files, int link_type);

/* Writes a frame to capture `index`; its time is `now`.  The capture has the interfaces of its frames, by name and link
 * type.  False on failure: call split_files_log_error(). */
bool split_files_write(struct split_files *files, unsigned index, const struct frame *frame, uint64_t now);

/* Ends each capture with an empty frame at `now`, the packet time at which the input ends, if its last frame is older;
 * then writes what is buffered.  False, with a message logged, on failure. */
bool split_files_end(struct split_files *files, uint64_t now);

/* Logs why split_files_write() has failed; no effect if it has not. */
void split_files_log_error(const struct split_files *files);

/* Writes PREFIX.json, gives all files their names and frees `files`.  False, with a message logged, on failure: then
 * no file is left. */
bool split_files_publish(struct split_files *files);

/* Removes what split_files_create() has created, and frees `files`.  NULL is allowed. */
void split_files_discard(struct split_files *files);

#endif
