/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a byte stream into transport messages, and these into the messages of a chain. */
#include "apps/smb/smb.h"

#include <string.h>

/* Types of the session service of NetBIOS (RFC 1002 section 4.3.1); SMB on port 445 has the first one only. */
#define NETBIOS_MESSAGE	  0x00
#define NETBIOS_REQUEST	  0x81
#define NETBIOS_KEEPALIVE 0x85

struct smb_ctx {
	struct app_context *app;
	struct smb_connection *connection;
	struct smb_stream *stream;
	unsigned sender;
};

static struct smb_ctx
smb_ctx_init(struct app_context *app, unsigned sender)
{
	struct smb_connection *connection = app->state;

	return (struct smb_ctx){app, connection, &connection->stream[sender], sender};
}

static void
smb_anomaly(const struct smb_ctx *ctx, enum anomaly anomaly)
{
	ctx->app->on_anomaly(ctx->app->context, anomaly);
}

/* --- messages of a chain --- */

static void
smb_message_begin(struct smb_stream *stream)
{
	stream->parsed = stream->cut = false;
	stream->length = stream->place = stream->kept = 0;
}

/* The anomaly of a message that is not reported. */
static enum anomaly
smb_kind_anomaly(enum smb_kind kind)
{
	switch (kind) {
	case SMB_KIND_PLAIN:
	case SMB_KIND_ENCRYPTED: return ANOMALY_NONE;
	case SMB_KIND_SMB1: return ANOMALY_SMB_VERSION_1;
	case SMB_KIND_COMPRESSED: return ANOMALY_SMB_COMPRESSED;
	case SMB_KIND_SHORT:
	case SMB_KIND_UNKNOWN:
	case SMB_KIND_BAD_SIZE:
	case SMB_KIND_BAD_NEXT: return ANOMALY_SMB_HEADER;
	}
	return ANOMALY_SMB_HEADER;
}

static void
smb_message_parsed(struct smb_ctx *ctx)
{
	struct smb_stream *stream = ctx->stream;
	struct slice bytes = {stream->bytes, stream->kept};
	uint32_t rest = stream->kept + stream->left;
	enum anomaly anomaly;

	stream->parsed = true;
	stream->kind = smb_message_parse(&stream->message, bytes, rest);
	stream->length = stream->message.next != 0 ? stream->message.next : rest;
	anomaly = smb_kind_anomaly(stream->kind);
	if (anomaly == ANOMALY_NONE && stream->chained == SMB_CHAIN_MAX)
		anomaly = ANOMALY_SMB_CHAIN;
	if (anomaly == ANOMALY_SMB_HEADER && !ctx->connection->confirmed) {
		smb_anomaly(ctx, ANOMALY_SMB_ALIEN);
		ctx->connection->done = true;
	} else if (anomaly != ANOMALY_NONE) {
		smb_anomaly(ctx, anomaly);
		stream->skipping = true;
	}
	ctx->connection->confirmed = true;
}

static void
smb_message_end(struct smb_ctx *ctx)
{
	struct smb_stream *stream = ctx->stream;

	smb_operation_read(ctx->app, ctx->sender);
	stream->chained++;
	smb_message_begin(stream);
}

/* Keeps bytes up to `most` in total; returns the number of those that it adds. */
static uint32_t
smb_keep(struct smb_stream *stream, struct slice bytes, uint32_t most)
{
	struct slice part = slice_sub(bytes, 0, most - stream->kept);

	slice_copy(part, 0, stream->bytes + stream->kept, part.len);
	stream->kept += part.len;
	return part.len;
}

/* Reads bytes of the transport message; returns how many. */
static uint32_t
smb_read_message(struct smb_ctx *ctx, struct slice bytes)
{
	struct smb_stream *stream = ctx->stream;
	uint32_t n;

	if (stream->skipping)
		return bytes.len;
	if (!stream->parsed)
		return smb_keep(stream, bytes, SMB_HEADER_BYTES);
	n = slice_sub(bytes, 0, stream->length - stream->place).len;
	if (!stream->cut && stream->kept < SMB_KEPT_MAX)
		smb_keep(stream, slice_sub(bytes, 0, n), SMB_KEPT_MAX);
	return n;
}

/* Moves on by `n` bytes that were read or are missing. */
static void
smb_advance(struct smb_ctx *ctx, uint32_t n)
{
	struct smb_stream *stream = ctx->stream;

	stream->left -= n;
	stream->place += n;
	if (!stream->skipping && !stream->parsed && (stream->kept == SMB_HEADER_BYTES || stream->left == 0))
		smb_message_parsed(ctx);
	if (!stream->skipping && !ctx->connection->done && stream->parsed && stream->place == stream->length)
		smb_message_end(ctx);
	if (stream->left == 0)
		stream->transport_have = 0;
}

/* --- transport messages --- */

static void
smb_lose(struct smb_ctx *ctx)
{
	ctx->stream->lost = true;
	ctx->stream->transport_have = 0;
}

static void
smb_transport_begin(struct smb_ctx *ctx)
{
	struct smb_stream *stream = ctx->stream;
	uint32_t header = slice_u32((struct slice){stream->transport, SMB_TRANSPORT_BYTES}, 0);
	uint8_t type = (uint8_t)(header >> 24);

	stream->left = header & 0xffffff;
	stream->chained = 0;
	stream->file = 0;
	stream->skipping = type != NETBIOS_MESSAGE;
	smb_message_begin(stream);
	if (type != NETBIOS_MESSAGE && (type < NETBIOS_REQUEST || type > NETBIOS_KEEPALIVE)) {
		smb_anomaly(ctx, ctx->connection->confirmed ? ANOMALY_SMB_HEADER : ANOMALY_SMB_ALIEN);
		ctx->connection->done |= !ctx->connection->confirmed;
		smb_lose(ctx);
	} else if (stream->left == 0) {
		stream->transport_have = 0;
	}
}

/* Whether a segment with these bytes certainly begins a transport message. */
static bool
smb_is_start(struct slice bytes)
{
	return bytes.len >= SMB_TRANSPORT_BYTES && slice_u8(bytes, 0) == NETBIOS_MESSAGE &&
	       (slice_u32(bytes, 0) & 0xffffff) >= SMB_TRANSFORM_BYTES &&
	       smb_message_is_certain(slice_sub(bytes, SMB_TRANSPORT_BYTES, bytes.len));
}

/* --- the reader --- */

static void
smb_on_start(struct app_context *app, unsigned sender, bool beginning)
{
	struct smb_ctx ctx = smb_ctx_init(app, sender);

	memset(ctx.stream, 0, sizeof *ctx.stream);
	ctx.stream->lost = !beginning;
	ctx.connection->cid = app->cid;
	ctx.connection->midstream |= !beginning;
}

static void
smb_on_bytes(struct app_context *app, unsigned sender, struct slice bytes)
{
	struct smb_ctx ctx = smb_ctx_init(app, sender);
	struct smb_stream *stream = ctx.stream;
	uint32_t done = 0;

	/* A message usually begins a segment. */
	if (stream->lost && smb_is_start(bytes))
		stream->lost = false;
	while (done < bytes.len && !stream->lost && !ctx.connection->done) {
		if (stream->transport_have < SMB_TRANSPORT_BYTES) {
			stream->transport[stream->transport_have++] = slice_u8(bytes, done++);
			if (stream->transport_have == SMB_TRANSPORT_BYTES)
				smb_transport_begin(&ctx);
		} else {
			uint32_t n = smb_read_message(&ctx, slice_sub(bytes, done, stream->left));

			done += n;
			smb_advance(&ctx, n);
		}
	}
}

static void
smb_on_gap(struct app_context *app, unsigned sender, uint32_t length)
{
	struct smb_ctx ctx = smb_ctx_init(app, sender);
	struct smb_stream *stream = ctx.stream;

	if (stream->lost || ctx.connection->done)
		return;
	if (stream->transport_have < SMB_TRANSPORT_BYTES || length > stream->left) {
		smb_anomaly(&ctx, ANOMALY_SMB_LOST);
		smb_lose(&ctx);
		return;
	}
	/* Data that is read or written is not needed. */
	if (stream->parsed && !stream->skipping && length <= stream->length - stream->place) {
		stream->cut |= stream->kept < SMB_KEPT_MAX;
	} else if (!stream->skipping) {
		smb_anomaly(&ctx, ANOMALY_SMB_LOST);
		stream->skipping = true;
	}
	smb_advance(&ctx, length);
}

static void
smb_on_end(struct app_context *app, unsigned sender)
{
	struct smb_connection *connection = app->state;

	connection->ended |= (uint8_t)(1u << sender);
}

static bool
smb_is_reading(const void *state, unsigned sender)
{
	const struct smb_connection *connection = state;

	(void)sender;
	return !connection->done;
}

const struct app_reader smb_reader = {
    .state_size = sizeof(struct smb_connection),
    .connections_max = 1024,
    .open = smb_sessions_open,
    .close = smb_sessions_close,
    .clear = smb_sessions_clear,
    .shared_size = smb_sessions_size,
    .on_start = smb_on_start,
    .on_bytes = smb_on_bytes,
    .on_gap = smb_on_gap,
    .on_end = smb_on_end,
    .is_reading = smb_is_reading,
};
