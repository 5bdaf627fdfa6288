/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture file as a byte stream for libpcap, decompressed if its first bytes require it.  While a pipe has no bytes
 * the event loop runs, so that signals are handled; stopping the loop ends the stream.
 */
#ifndef NETOBS_DAEMON_CAPTURE_FILE_STREAM_H
#define NETOBS_DAEMON_CAPTURE_FILE_STREAM_H

#include <stdio.h>

#include "daemon/base/loop.h"

struct source;

/* Opens a file ("-": standard input) without reading from it.  `idle` is called before the stream waits for bytes.
 * NULL, with a message logged, if it cannot be opened. */
struct source *source_open(const char *path, struct loop *loop, loop_callback *idle, void *context);

/* Reads the first bytes and detects the compression.  False, with a message logged unless the loop was stopped, if
 * there is nothing to read. */
bool source_begin(struct source *source);
void source_free(struct source *source);

/* Returns the stream, to be read and closed by libpcap; closing it does not free the source.  ftello() counts bytes as
 * libpcap sees them; fseeko() works only in a plain, uncompressed file.  NULL if out of memory.  Call it once. */
FILE *source_stream(struct source *source);

/* The descriptor of a plain, uncompressed file, which may be read with pread() too; otherwise -1. */
int source_plain_file(const struct source *source);

/* The path, or "standard input". */
const char *source_name(const struct source *source);

/* The error that ended the stream, such as "the gzip data break off", or NULL. */
const char *source_trouble(const struct source *source);

/* Name of the compression, or NULL. */
const char *source_packing(const struct source *source);

#endif
