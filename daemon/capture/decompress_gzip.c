/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "daemon/capture/decompress.h"

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
at_most(size_t n)
{
	return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

static enum unpack_result
gzip_step(void *state, struct unpack_window *window)
{
	struct gzip *gzip = state;
	uInt in = at_most(window->in_left), out = at_most(window->out_left);

	/* A file may consist of several gzip members (RFC 1952 section 2.2). */
	if (gzip->last == Z_STREAM_END && inflateReset(&gzip->stream) != Z_OK)
		return UNPACK_BAD;
	/* zlib only reads through this pointer; it is not const for compatibility with old callers. */
	gzip->stream.next_in = (Bytef *)(uintptr_t)window->in;
	gzip->stream.avail_in = in;
	gzip->stream.next_out = window->out;
	gzip->stream.avail_out = out;
	gzip->last = inflate(&gzip->stream, Z_NO_FLUSH);
	window->in += in - gzip->stream.avail_in;
	window->in_left -= in - gzip->stream.avail_in;
	window->out += out - gzip->stream.avail_out;
	window->out_left -= out - gzip->stream.avail_out;
	if (gzip->last == Z_STREAM_END)
		return UNPACK_WHOLE;
	return gzip->last == Z_OK || gzip->last == Z_BUF_ERROR ? UNPACK_MORE : UNPACK_BAD;
}

static void
gzip_finish(void *state)
{
	struct gzip *gzip = state;

	inflateEnd(&gzip->stream);
	free(gzip);
}

const struct unpack_format unpack_gzip = {
    .name = GZIP_NAME,
    .magic = GZIP_MAGIC,
    .magic_length = 2,
    .start = gzip_start,
    .step = gzip_step,
    .finish = gzip_finish,
};
