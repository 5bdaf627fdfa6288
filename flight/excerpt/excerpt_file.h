/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture that --write writes. */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_FILE_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "dissect/frame.h"
#include "flight/format/capture_writer.h"

struct excerpt_file;

/* A frame of an excerpt. */
struct excerpt_frame {
	const struct interface *interface;
	int dlt;
	uint64_t ts;
	const uint8_t *data;
	uint32_t caplen, len;
	unsigned direction; /* DIRECTION_ value */
	uint64_t packet_id;
	const char *const *comments;
	size_t comment_count;
};

/* Opens the file; call it before there are threads and before the process is confined.  `path` is borrowed.  NULL, with
 * a message logged, on failure. */
struct excerpt_file *excerpt_file_open(const char *path, const struct config *config);

/* Opens a temporary file without a name.  -1, with a message logged, on failure. */
int excerpt_file_open_temporary(const struct excerpt_file *file);

/* Writes a frame.  False on failure, then and from then on: call excerpt_file_log_error(). */
bool excerpt_file_add(struct excerpt_file *file, const struct excerpt_frame *frame);

/* Whether the file cannot be written because its reader has closed it, which needs no more. */
bool excerpt_file_is_closed(const struct excerpt_file *file);

/* Logs, once, why the file cannot be written; no effect if it can, or if its reader has closed it. */
void excerpt_file_log_error(struct excerpt_file *file);

/* Frames written so far. */
uint64_t excerpt_file_frames(const struct excerpt_file *file);

/* Of these, frames whose length on the wire the format cannot hold. */
uint64_t excerpt_file_shortened(const struct excerpt_file *file);

/* Writes the end of the file and gives it its name.  `dlt`: link type of an empty file.  False on failure, like
 * excerpt_file_add(); then there is no file. */
bool excerpt_file_complete(struct excerpt_file *file, int dlt, const struct written_statistics *statistics);

/* Removes the file unless it is complete.  NULL is allowed. */
void excerpt_file_free(struct excerpt_file *file);

#endif
