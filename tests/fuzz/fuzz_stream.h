/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the fuzz targets of readers of streams: any bytes, in parts, with gaps.
 *
 * Records: a byte of flags, two of length, and as many bytes.  Flags: bit 0 the server sends; bit 2 the bytes are
 * missing; 3 they come in two parts; 5 the clock goes backwards.
 */
#ifndef NETOBS_TESTS_FUZZ_FUZZ_STREAM_H
#define NETOBS_TESTS_FUZZ_FUZZ_STREAM_H

#include <stdlib.h>
#include <string.h>

#include "flow/flow.h"
#include "flow/stream/app_flow.h"
#include "tests/fuzz/fuzz_must.h"

enum {
	FROM_SERVER = 0x01,
	MISSED = 0x04,
	IN_PARTS = 0x08,
	EARLIER = 0x20,
};

static void
fuzz_stream_on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	must(a > ANOMALY_NONE && a < ANOMALY_COUNT);
}

/* The memory of a part ends where the part does, for AddressSanitizer. */
static void
fuzz_stream_feed(const struct app_reader *reader, struct app_context *ctx, unsigned flags, const uint8_t *bytes,
		 uint32_t length)
{
	uint8_t *copy;

	if (length == 0 || !reader->is_reading(ctx->state, flags & FROM_SERVER))
		return;
	copy = malloc(length);
	must(copy != NULL);
	memcpy(copy, bytes, length);
	if ((flags & MISSED) != 0)
		reader->on_gap(ctx, flags & FROM_SERVER, length);
	else
		reader->on_bytes(ctx, flags & FROM_SERVER, (struct slice){copy, length});
	free(copy);
}

/* Reads the records of `data` as a connection to `port`.  The context of `on_message` is the struct app_context. */
static void
fuzz_stream_read(const struct app_reader *reader, uint16_t port,
		 void (*on_message)(void *context, unsigned sender, const void *message), const uint8_t *data,
		 size_t size)
{
	const struct flow flow = {.kind = FLOW_TCP, .key = {.port = {40000, port}}};
	struct app_context ctx = {.flow = &flow,
				  .cid = 7,
				  .now = UINT64_C(1000000000),
				  .server_endpoint = 1,
				  .traced = true,
				  .on_message = on_message,
				  .on_anomaly = fuzz_stream_on_anomaly};

	ctx.context = &ctx;
	ctx.state = calloc(1, reader->state_size);
	must(ctx.state != NULL);
	reader->on_start(&ctx, 0, true);
	reader->on_start(&ctx, 1, true);
	while (size > 3) {
		unsigned flags = data[0];
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]), first;

		data += 3;
		size -= 3;
		length = length < size ? length : (uint32_t)size;
		first = (flags & IN_PARTS) != 0 ? length / 2 : 0;
		fuzz_stream_feed(reader, &ctx, flags & ~(unsigned)MISSED, data, first);
		fuzz_stream_feed(reader, &ctx, flags, data + first, length - first);
		data += length;
		size -= length;
		ctx.now = (flags & EARLIER) != 0 ? ctx.now - 1000 : ctx.now + 2000;
	}
	free(ctx.state);
}

#endif
