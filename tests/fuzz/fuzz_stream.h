/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the fuzz targets of readers of streams: any bytes, in parts, with gaps.
 *
 * Records: a byte of flags, two of length, and as many bytes.  Flags: bit 0 the server sends; bit 2 the bytes are
 * missing; 3 they come in two parts; 5 the clock goes backwards; 6 they are of another connection; 7 the stream ends.
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
	OTHER = 0x40,
	LAST = 0x80,
};

/* One of the two connections. */
struct fuzz_stream {
	struct flow flow;
	struct app_context ctx;
	bool ended[2]; /* by sender */
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

static void
fuzz_stream_begin(struct fuzz_stream *stream, const struct app_reader *reader, const struct app_context *ctx,
		  uint16_t port, uint64_t cid)
{
	*stream = (struct fuzz_stream){.flow = {.kind = FLOW_TCP, .key = {.port = {40000, port}}}, .ctx = *ctx};
	stream->ctx.flow = &stream->flow;
	stream->ctx.cid = cid;
	stream->ctx.context = &stream->ctx;
	stream->ctx.state = calloc(1, reader->state_size);
	must(stream->ctx.state != NULL);
	reader->on_start(&stream->ctx, 0, true);
	reader->on_start(&stream->ctx, 1, true);
}

/* The stream of the sender ends. */
static void
fuzz_stream_end(struct fuzz_stream *stream, const struct app_reader *reader, unsigned sender)
{
	stream->ended[sender] = true;
	if (reader->on_end != NULL)
		reader->on_end(&stream->ctx, sender);
}

/* Reads the records of `data` as connections to `port`.  The context of `on_message` is the struct app_context. */
static void
fuzz_stream_read(const struct app_reader *reader, uint16_t port,
		 void (*on_message)(void *context, unsigned sender, const void *message), const uint8_t *data,
		 size_t size)
{
	const struct app_settings settings = {.workers = 1};
	const struct app_context begin = {.shared = reader->open != NULL ? reader->open(&settings) : NULL,
					  .now = UINT64_C(1000000000),
					  .server_endpoint = 1,
					  .traced = true,
					  .on_message = on_message,
					  .on_anomaly = fuzz_stream_on_anomaly};
	struct fuzz_stream streams[2];
	uint64_t now = begin.now;

	must(reader->open == NULL || begin.shared != NULL);
	fuzz_stream_begin(&streams[0], reader, &begin, port, 7);
	fuzz_stream_begin(&streams[1], reader, &begin, port, 9);
	while (size > 3) {
		struct fuzz_stream *stream = &streams[(data[0] & OTHER) != 0];
		unsigned flags = data[0], sender = flags & FROM_SERVER;
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]), first;

		data += 3;
		size -= 3;
		length = length < size ? length : (uint32_t)size;
		first = (flags & IN_PARTS) != 0 ? length / 2 : 0;
		stream->ctx.now = now;
		if (!stream->ended[sender]) {
			fuzz_stream_feed(reader, &stream->ctx, flags & ~(unsigned)MISSED, data, first);
			fuzz_stream_feed(reader, &stream->ctx, flags, data + first, length - first);
			if ((flags & LAST) != 0)
				fuzz_stream_end(stream, reader, sender);
		}
		data += length;
		size -= length;
		now = (flags & EARLIER) != 0 ? now - 1000 : now + 2000;
	}
	free(streams[0].ctx.state);
	free(streams[1].ctx.state);
	if (reader->close != NULL)
		reader->close(begin.shared);
}

#endif
