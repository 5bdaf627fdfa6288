/* SPDX-License-Identifier: BSD-2-Clause */
/* Decompression of capture files.  Each format is a constant: an operations table. */
#ifndef NETOBS_CAPTURE_FILE_DECOMPRESS_H
#define NETOBS_CAPTURE_FILE_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

/* Largest window, 2^23 bytes: memory that a file may require, whatever its size.  All levels of zstd(1) need no more
 * without its options --long and --ultra, and RFC 8878 section 3.1.1.1.2 recommends to support as much. */
#define DECOMPRESS_WINDOW_LOG_MAX 23

enum decompress_result {
	DECOMPRESS_MORE,      /* progress was made, or more input is needed */
	DECOMPRESS_END,	      /* the data so far is complete: the file may end here, or another part may follow */
	DECOMPRESS_TOO_LARGE, /* valid, but decompression needs a window larger than DECOMPRESS_WINDOW_LOG_MAX allows */
	DECOMPRESS_ERROR,     /* invalid data */
};

/* Input left to read and space left to write; decompression advances both. */
struct decompress_buffers {
	const uint8_t *in;
	size_t in_left;
	uint8_t *out;
	size_t out_left;
};

struct decompressor {
	const char *name;
	uint8_t magic[4]; /* first bytes of such a file */
	size_t magic_length;
	void *(*start)(void); /* returns NULL if out of memory */
	enum decompress_result (*step)(void *state, struct decompress_buffers *buffers);
	void (*finish)(void *state);
};

#define GZIP_NAME "gzip"
#define GZIP_MAGIC {0x1f, 0x8b} /* RFC 1952 section 2.3.1 */
#define ZSTD_NAME "zstd"
#define ZSTD_MAGIC {0x28, 0xb5, 0x2f, 0xfd} /* RFC 8878 section 3.1.1 */

extern const struct decompressor decompress_gzip, decompress_zstd;

#endif
