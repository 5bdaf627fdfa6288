/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture file as a stream of bytes for libpcap: plain or unpacked on the way, as its first bytes say.
 *
 * Where bytes come from a pipe, the event loop runs while none are there, so that signals are heard; a stopped loop
 * ends the stream.
 */
#ifndef NETOBS_DAEMON_CAPTURE_FILE_STREAM_H
#define NETOBS_DAEMON_CAPTURE_FILE_STREAM_H

#include <stdio.h>

#include "daemon/base/loop.h"

struct source;

/* Opens a file, "-" is standard input, without reading from it.  `idle` is called before the stream waits for bytes.
 * NULL, with a message logged, if it cannot be opened. */
struct source *source_open(const char *path, struct loop *loop, loop_callback *idle, void *context);

/* Reads the first bytes to see how they are packed.  False, with a message logged unless the loop was stopped, if there
 * is nothing to read. */
bool source_begin(struct source *source);
void source_free(struct source *source);

/* The stream, to be read and closed by libpcap; closing it leaves the source alone.  ftello() works and counts bytes
 * as libpcap sees them; fseeko() works in a plain file that is not compressed.  NULL if memory cannot be had.  To be
 * called once. */
FILE *source_stream(struct source *source);

/* The descriptor of a plain file that is not compressed, whose bytes may be read by pread() as well; else -1. */
int source_plain_file(const struct source *source);

/* The path, or "standard input". */
const char *source_name(const struct source *source);

/* What kept bytes from being read ("the gzip data break off"), or NULL if nothing did. */
const char *source_trouble(const struct source *source);

/* The name of the compression that is undone, or NULL if there is none. */
const char *source_packing(const struct source *source);

#endif
