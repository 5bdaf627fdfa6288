/* SPDX-License-Identifier: BSD-2-Clause */
#include <zstd.h>

#include "daemon/capture/decompress.h"

static void *
zstd_start(void)
{
	return ZSTD_createDStream();
}

static enum unpack_result
zstd_step(void *state, struct unpack_window *window)
{
	ZSTD_inBuffer in = {.src = window->in, .size = window->in_left};
	ZSTD_outBuffer out = {.dst = window->out, .size = window->out_left};
	/* 0 at the end of a frame; the next call begins the next frame (RFC 8878 section 3). */
	size_t result = ZSTD_decompressStream(state, &out, &in);

	window->in += in.pos;
	window->in_left -= in.pos;
	window->out += out.pos;
	window->out_left -= out.pos;
	if (ZSTD_isError(result))
		return UNPACK_BAD;
	return result == 0 ? UNPACK_WHOLE : UNPACK_MORE;
}

static void
zstd_finish(void *state)
{
	ZSTD_freeDStream(state);
}

const struct unpack_format unpack_zstd = {
    .name = ZSTD_NAME,
    .magic = ZSTD_MAGIC,
    .magic_length = 4,
    .start = zstd_start,
    .step = zstd_step,
    .finish = zstd_finish,
};
