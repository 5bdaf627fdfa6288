/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies of HTTP messages (RFC 9112 sections 6 and 7). */
#include "apps/http/http_reader.h"

static void
http_reject_chunk(struct http_reader_ctx *ctx, enum anomaly a)
{
	http_report_anomaly(ctx, a);
	http_lose_sync(ctx);
}

static void
http_begin_chunk(struct http_reader_ctx *ctx, const struct http_line *line)
{
	struct http_stream *stream = ctx->stream;

	stream->part_bytes = 0;
	if (!http_parse_chunk_size(line, &stream->body_left))
		http_reject_chunk(ctx, ANOMALY_HTTP_CHUNK);
	else
		stream->read_state = stream->body_left > 0 ? HTTP_READ_CHUNK_DATA : HTTP_READ_TRAILERS;
}

/* The line with a chunk's size, or the line end behind its data. */
static uint32_t
http_read_chunk_line(struct http_reader_ctx *ctx, struct slice bytes)
{
	struct http_stream *stream = ctx->stream;
	struct http_line_input input = http_line_input(ctx, false);
	struct http_line line;
	bool folded, whole;
	uint32_t n = http_line_take(&input, bytes, &line, &folded, &whole);

	stream->part_bytes = n > HTTP_CHUNK_LINE_MAX ? n : stream->part_bytes + n;
	http_count_bytes(ctx, n);
	if (stream->part_bytes > HTTP_CHUNK_LINE_MAX) {
		http_reject_chunk(ctx, ANOMALY_HTTP_CHUNK_LIMIT);
	} else if (stream->read_state == HTTP_READ_CHUNK_SIZE) {
		if (whole)
			http_begin_chunk(ctx, &line);
	} else if (whole ? line.length > 0 : stream->line.length > 1) {
		http_reject_chunk(ctx, ANOMALY_HTTP_CHUNK);
	} else if (whole) {
		stream->part_bytes = 0;
		stream->read_state = HTTP_READ_CHUNK_SIZE;
	}
	return n;
}

/* Bytes of a body or a chunk, captured or not. */
static uint32_t
http_take_data(struct http_reader_ctx *ctx, uint32_t available)
{
	struct http_stream *stream = ctx->stream;
	uint32_t n = available < stream->body_left ? available : (uint32_t)stream->body_left;

	http_count_bytes(ctx, n);
	stream->body_left -= n;
	if (stream->body_left > 0)
		return n;
	if (stream->read_state == HTTP_READ_CHUNK_DATA)
		stream->read_state = HTTP_READ_CHUNK_END;
	else
		http_finish_body(ctx);
	return n;
}

bool
http_may_lack_body(const struct http_reader_ctx *ctx)
{
	const struct http_connection *connection = ctx->connection;
	bool answered = !connection->sending || (connection->queue.count == 1 && connection->server.status >= 200);

	return answered || ctx->app_ctx->peer_bytes_missing;
}

uint32_t
http_read_body(struct http_reader_ctx *ctx, struct slice bytes)
{
	switch ((enum http_read_state)ctx->stream->read_state) {
	case HTTP_READ_BODY:
	case HTTP_READ_CHUNK_DATA:
		return http_take_data(ctx, bytes.len);
	case HTTP_READ_CHUNK_SIZE:
	case HTTP_READ_CHUNK_END:
		return http_read_chunk_line(ctx, bytes);
	case HTTP_READ_TRAILERS:
		return http_read_fields(ctx, bytes);
	case HTTP_READ_UNTIL_END:
		http_count_bytes(ctx, bytes.len);
		break;
	case HTTP_READ_NOTHING:
	case HTTP_READ_SEARCH:
	case HTTP_READ_FIRST_LINE:
	case HTTP_READ_FIELDS:
	case HTTP_READ_TUNNEL:
		break;
	}
	return bytes.len;
}

uint32_t
http_skip_body(struct http_reader_ctx *ctx, uint32_t length)
{
	switch ((enum http_read_state)ctx->stream->read_state) {
	case HTTP_READ_BODY:
	case HTTP_READ_CHUNK_DATA:
		return http_take_data(ctx, length);
	case HTTP_READ_UNTIL_END:
		http_count_bytes(ctx, length);
		return length;
	case HTTP_READ_TUNNEL:
	case HTTP_READ_NOTHING:
	case HTTP_READ_SEARCH:
		return length;
	case HTTP_READ_FIRST_LINE:
	case HTTP_READ_FIELDS:
	case HTTP_READ_CHUNK_SIZE:
	case HTTP_READ_CHUNK_END:
	case HTTP_READ_TRAILERS:
		break;
	}
	return 0;
}
