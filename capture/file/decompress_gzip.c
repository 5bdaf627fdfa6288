/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "capture/file/decompress.h"

struct gzip {
	z_stream stream;
	int last; /* last result of inflate() */
};

static void *
gzip_start(void)
{
	struct gzip *gzip = calloc(1, sizeof *gzip);

	/* 15: largest window; + 16: gzip header instead of zlib's. */
	if (gzip != NULL && inflateInit2(&gzip->stream, 15 + 16) != Z_OK) {
		free(gzip);
		return NULL;
	}
	return gzip;
}

static uInt
gzip_clamp_to_uint(size_t n)
{
	return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

/* Skips zeros behind a member: tapes and block devices fill the last block with them, and gzip(1) ignores them.
 * Whether nothing else is left in the buffer. */
static bool
gzip_skip_zeros(struct decompress_buffers *buffers)
{
	while (buffers->in_left > 0 && *buffers->in == 0) {
		buffers->in++;
		buffers->in_left--;
	}
	return buffers->in_left == 0;
}

static enum decompress_result
gzip_step(void *state, struct decompress_buffers *buffers)
{
	struct gzip *gzip = state;
	uInt in, out = gzip_clamp_to_uint(buffers->out_left);

	if (gzip->last == Z_STREAM_END && gzip_skip_zeros(buffers))
		return DECOMPRESS_END;
	in = gzip_clamp_to_uint(buffers->in_left);
	/* A file may consist of several gzip members (RFC 1952 section 2.2). */
	if (gzip->last == Z_STREAM_END && inflateReset(&gzip->stream) != Z_OK)
		return DECOMPRESS_ERROR;
	/* zlib only reads through this pointer; it is not const for compatibility with old callers. */
	gzip->stream.next_in = (Bytef *)(uintptr_t)buffers->in;
	gzip->stream.avail_in = in;
	gzip->stream.next_out = buffers->out;
	gzip->stream.avail_out = out;
	gzip->last = inflate(&gzip->stream, Z_NO_FLUSH);
	buffers->in += in - gzip->stream.avail_in;
	buffers->in_left -= in - gzip->stream.avail_in;
	buffers->out += out - gzip->stream.avail_out;
	buffers->out_left -= out - gzip->stream.avail_out;
	if (gzip->last == Z_STREAM_END)
		return DECOMPRESS_END;
	return gzip->last == Z_OK || gzip->last == Z_BUF_ERROR ? DECOMPRESS_MORE : DECOMPRESS_ERROR;
}

static void
gzip_finish(void *state)
{
	struct gzip *gzip = state;

	inflateEnd(&gzip->stream);
	free(gzip);
}

const struct decompressor decompress_gzip = {
    .name = GZIP_NAME,
    .magic = GZIP_MAGIC,
    .magic_length = 2,
    .start = gzip_start,
    .step = gzip_step,
    .finish = gzip_finish,
};
