/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture file as a byte stream, for libpcap, pcap_reader.h or frame_reader.h, decompressed if its first bytes
 * require it.  While a pipe has no bytes the event loop runs, so that signals are handled; stopping the loop ends the
 * stream.
 */
#ifndef NETOBS_CAPTURE_FILE_FILE_STREAM_H
#define NETOBS_CAPTURE_FILE_FILE_STREAM_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/loop.h"
#include "capture/file/reader_threads.h"

/* Bytes of the header of a pcap file. */
#define FILE_STREAM_PCAP_HEADER 24

struct file_stream;

/* Opens a file ("-": standard input) without reading from it.  `on_wait` is called before the stream waits for bytes.
 * NULL, with a message logged, if it cannot be opened. */
struct file_stream *file_stream_open(const char *path, struct loop *loop, loop_callback *on_wait, void *context);

/* Reads the first bytes and detects the compression.  False, with a message logged unless the loop was stopped, if
 * there is nothing to read. */
bool file_stream_detect_format(struct file_stream *stream);
void file_stream_free(struct file_stream *stream);

/* Copies the first bytes, at most 8, after file_stream_detect_format(); they are read again.  Returns their number,
 * less than `size` at the end of the stream and after an error. */
size_t file_stream_peek(struct file_stream *stream, uint8_t *to, size_t size);

/* The next bytes; waits only if there are none.  0 at the end and if the loop was stopped, -1 with file_stream_error()
 * on an error. */
ssize_t file_stream_read(struct file_stream *stream, void *to, size_t size);

/* Bytes of the stream that were read. */
off_t file_stream_position(const struct file_stream *stream);

/* Gives back the last bytes: they are read again.  They are borrowed until then. */
void file_stream_unread(struct file_stream *stream, const void *bytes, size_t count);

/* Lets threads decompress the stream ahead, after file_stream_detect_format().  False, with nothing changed, if the
 * stream is not compressed or no file, or if out of memory.  Free the threads before the stream, and read nothing
 * between. */
bool file_stream_read_ahead(struct file_stream *stream, struct reader_threads *threads);

/* Returns the stream, to be read and closed by libpcap; closing it does not free `stream`.  ftello() counts
 * decompressed bytes.  After the header of a pcap file nothing is buffered, and file_stream_read() may go on there.
 * NULL if out of memory.  Call it once. */
FILE *file_stream_fopen(struct file_stream *stream);

/* Whether it is a file, perhaps compressed: reading never waits for a writer. */
bool file_stream_is_file(const struct file_stream *stream);

/* Bytes of the file, still compressed; 0 if it is not a regular file. */
uint64_t file_stream_size(const struct file_stream *stream);

/* Bytes of the file that contain the first `offset` bytes of the stream.  For a compressed file an estimate, by
 * the ratio so far. */
uint64_t file_stream_bytes_after(const struct file_stream *stream, uint64_t offset);

/* The path, or "standard input". */
const char *file_stream_name(const struct file_stream *stream);

/* The error with which file_stream_read() has failed, such as "the gzip data break off", or NULL. */
const char *file_stream_error(const struct file_stream *stream);

/* Name of the compression, or NULL. */
const char *file_stream_compression(const struct file_stream *stream);

#endif
