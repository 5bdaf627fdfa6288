/* SPDX-License-Identifier: BSD-2-Clause */
#include <zstd.h>
#include <zstd_errors.h>

#include "daemon/capture_file/decompress.h"

static void *
zstd_start(void)
{
	ZSTD_DStream *state = ZSTD_createDStream();

	if (state == NULL ||
	    !ZSTD_isError(ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, DECOMPRESS_WINDOW_LOG_MAX)))
		return state;
	ZSTD_freeDStream(state);
	return NULL;
}

static enum decompress_result
zstd_step(void *state, struct decompress_buffers *buffers)
{
	ZSTD_inBuffer in = {.src = buffers->in, .size = buffers->in_left};
	ZSTD_outBuffer out = {.dst = buffers->out, .size = buffers->out_left};
	/* 0 at the end of a frame; the next call begins the next frame (RFC 8878 section 3). */
	size_t result = ZSTD_decompressStream(state, &out, &in);

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

static void
zstd_finish(void *state)
{
	ZSTD_freeDStream(state);
}

const struct decompressor decompress_zstd = {
    .name = ZSTD_NAME,
    .magic = ZSTD_MAGIC,
    .magic_length = 4,
    .start = zstd_start,
    .step = zstd_step,
    .finish = zstd_finish,
};
