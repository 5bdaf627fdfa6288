/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "daemon/capture_file/decompress.h"

struct zstd {
	ZSTD_DStream *stream;
	bool in_frame; /* bytes of the present frame were given */
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

/* A frame that is given as a whole is decompressed by another function of libzstd, which refuses some damaged blocks
 * that the one for pieces accepts: whether a file is damaged would depend on how a pipe cuts it.  So the first byte of
 * a frame is given alone. */
static size_t
zstd_decompress(struct zstd *zstd, ZSTD_outBuffer *out, ZSTD_inBuffer *in)
{
	size_t size = in->size, result = 0;

	if (!zstd->in_frame && size > 0) {
		in->size = 1;
		result = ZSTD_decompressStream(zstd->stream, out, in);
		in->size = size;
	}
	if (!ZSTD_isError(result))
		result = ZSTD_decompressStream(zstd->stream, out, in);
	zstd->in_frame = result != 0;
	return result;
}

static enum decompress_result
zstd_step(void *state, struct decompress_buffers *buffers)
{
	ZSTD_inBuffer in = {.src = buffers->in, .size = buffers->in_left};
	ZSTD_outBuffer out = {.dst = buffers->out, .size = buffers->out_left};
	/* 0 at the end of a frame; the next call begins the next frame (RFC 8878 section 3). */
	size_t result = zstd_decompress(state, &out, &in);

	if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
		return DECOMPRESS_TOO_LARGE;
	/* After an error the positions have no meaning: in a frame of a version before 1.0, libzstd counts bytes that
	 * it has not written. */
	if (ZSTD_isError(result))
		return DECOMPRESS_ERROR;
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
