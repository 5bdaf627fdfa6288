/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/file/decompress.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

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

/* Skips zeros after a member: tapes and block devices fill the last block with them, and gzip(1) ignores them.
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

/* -------------------------------------------------------------------------------------------------- decompress zstd */

#define MAGIC_LENGTH 4u

struct zstd {
	ZSTD_DStream *stream;
	size_t frame_offset; /* bytes of the present frame that are read, as far as its magic number */
};

static void
zstd_finish(void *state)
{
	struct zstd *zstd = state;

	ZSTD_freeDStream(zstd->stream);
	free(zstd);
}

static void *
zstd_start(void)
{
	struct zstd *zstd = calloc(1, sizeof *zstd);

	if (zstd == NULL)
		return NULL;
	zstd->stream = ZSTD_createDStream();
	if (zstd->stream != NULL &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(zstd->stream, ZSTD_d_windowLogMax, DECOMPRESS_WINDOW_LOG_MAX)))
		return zstd;
	zstd_finish(zstd);
	return NULL;
}

/* Whether a byte of a magic number is that of a frame, or of a skippable one (RFC 8878 section 3.1).  libzstd also
 * reads frames of versions before 1.0, for whose windows it has no limit. */
static bool
zstd_is_magic(size_t offset, uint8_t byte)
{
	static const uint8_t frame[MAGIC_LENGTH] = ZSTD_MAGIC, skippable[MAGIC_LENGTH] = {0x50, 0x2a, 0x4d, 0x18};

	return byte == frame[offset] || (offset == 0 ? byte & 0xf0 : byte) == skippable[offset];
}

/* A frame that is given as a whole is decompressed by another function of libzstd, which refuses some damaged blocks
 * that the one for pieces accepts: whether a file is damaged would depend on how a pipe cuts it.  So the first byte of
 * a frame is given alone. */
static size_t
zstd_decompress(const struct zstd *zstd, ZSTD_outBuffer *out, ZSTD_inBuffer *in)
{
	size_t size = in->size, result = 0;

	if (zstd->frame_offset == 0 && size > 0) {
		in->size = 1;
		result = ZSTD_decompressStream(zstd->stream, out, in);
		in->size = size;
	}
	return ZSTD_isError(result) ? result : ZSTD_decompressStream(zstd->stream, out, in);
}

static enum decompress_result
zstd_step(void *state, struct decompress_buffers *buffers)
{
	struct zstd *zstd = state;
	ZSTD_inBuffer in = {.src = buffers->in, .size = buffers->in_left};
	ZSTD_outBuffer out = {.dst = buffers->out, .size = buffers->out_left};
	size_t result;

	for (size_t i = 0; zstd->frame_offset + i < MAGIC_LENGTH && i < in.size; i++)
		if (!zstd_is_magic(zstd->frame_offset + i, buffers->in[i]))
			return DECOMPRESS_ERROR;
	/* 0 at the end of a frame; the next call begins the next frame (RFC 8878 section 3). */
	result = zstd_decompress(zstd, &out, &in);
	if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
		return DECOMPRESS_TOO_LARGE;
	/* After an error the positions have no meaning. */
	if (ZSTD_isError(result))
		return DECOMPRESS_ERROR;
	zstd->frame_offset += in.pos;
	if (zstd->frame_offset > MAGIC_LENGTH)
		zstd->frame_offset = MAGIC_LENGTH;
	if (result == 0)
		zstd->frame_offset = 0;
	buffers->in += in.pos;
	buffers->in_left -= in.pos;
	buffers->out += out.pos;
	buffers->out_left -= out.pos;
	return result == 0 ? DECOMPRESS_END : DECOMPRESS_MORE;
}

const struct decompressor decompress_zstd = {
    .name = ZSTD_NAME,
    .magic = ZSTD_MAGIC,
    .magic_length = 4,
    .start = zstd_start,
    .step = zstd_step,
    .finish = zstd_finish,
};
