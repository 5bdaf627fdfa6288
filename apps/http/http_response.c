/* SPDX-License-Identifier: BSD-2-Clause */
/* Responses: from their first line to the end of their body, and the reports of requests. */
#include "apps/http/http_reader.h"

/* --- reports --- */

void
http_report_request(struct http_reader_ctx *ctx, unsigned number, bool done)
{
	const struct http_connection *connection = ctx->connection;
	const struct http_request *request = &connection->queue.requests[number];
	struct http_message message = {
	    .done = done,
	    .minor = request->minor,
	    .target_length = request->target_length,
	    .id = ctx->app_ctx->cid << 32 | (connection->queue.front_number + number),
	    .request_bytes = request->bytes,
	    .first_byte_us = -1,
	    .total_us = -1,
	};

	if (done && (connection->server.status >= 200 || connection->upgraded)) {
		message.upgraded = connection->upgraded;
		message.status = connection->server.status;
		message.response_bytes = connection->response_bytes;
		message.first_byte_us = app_elapsed_us(request->started, connection->server.first);
		message.total_us = app_elapsed_us(request->started, connection->response_last);
	}
	for (unsigned i = 0; i < HTTP_TEXTS; i++)
		message.texts[i] = http_queue_text(&connection->queue, number, (enum http_text)i);
	app_flow_report(ctx->app_ctx, done ? ctx->app_ctx->server_endpoint : 1 - ctx->app_ctx->server_endpoint,
			&message);
}

/* The oldest request is done. */
static void
http_finish_front(struct http_reader_ctx *ctx)
{
	struct http_connection *connection = ctx->connection;

	http_report_request(ctx, 0, true);
	/* A response may be complete before its request is. */
	if (connection->queue.count == 1)
		connection->sending = false;
	http_queue_remove_front(&connection->queue);
	connection->server.status = 0;
}

/* --- the header --- */

bool
http_begin_response(struct http_reader_ctx *ctx, const struct http_line *line)
{
	struct http_connection *connection = ctx->connection;
	const struct http_request *request = http_queue_front(&connection->queue);
	struct http_status_line status;

	if (!http_parse_status_line(line, &status))
		return false;
	if (request == NULL || !request->complete || !ctx->stream->asked) {
		/* Its request was not captured, or the server did not wait for one: 408 and 400 may be. */
		http_report_anomaly(ctx, ANOMALY_HTTP_UNASKED);
		if (status.status >= 200)
			http_note_unasked(connection);
		ctx->stream->read_state = HTTP_READ_SEARCH;
		return true;
	}
	ctx->stream->status = status.status;
	ctx->stream->minor = status.minor;
	connection->response_bytes = 0;
	http_count_bytes(ctx, ctx->stream->part_bytes);
	return true;
}

void
http_note_unasked(struct http_connection *connection)
{
	connection->unasked = true;
	connection->owed = false;
}

/* Whether another protocol follows the response. */
static bool
http_is_upgrade(const struct http_request *request, uint16_t status)
{
	return status == 101 || (request->connect && status >= 200 && status < 300);
}

/* Another protocol follows on both directions. */
static void
http_upgrade(struct http_reader_ctx *ctx)
{
	ctx->connection->upgraded = true;
	http_finish_front(ctx);
	http_stop(ctx);
}

/* The response to CONNECT was not positive: what the client sends is a request again.  Bytes that were skipped since
 * may be part of one. */
static void
http_close_tunnel(struct http_connection *connection)
{
	struct http_stream *client = &connection->client;
	bool skipped = client->skipped;

	if (client->read_state != HTTP_READ_TUNNEL)
		return;
	http_expect_message(client);
	if (skipped)
		client->read_state = HTTP_READ_SEARCH;
}

/* What follows a final response's header (section 6.3, items 1 to 8). */
static void
http_begin_response_body(struct http_reader_ctx *ctx, const struct http_request *request)
{
	struct http_stream *stream = ctx->stream;
	const struct http_framing *framing = &stream->framing;

	stream->body_left = framing->length;
	stream->part_bytes = 0;
	if (request->head || stream->status == 204 || stream->status == 304)
		http_finish_body(ctx);
	else if (framing->chunked)
		stream->read_state = HTTP_READ_CHUNK_SIZE;
	else if (framing->encoded || framing->bad_length || !framing->has_length)
		stream->read_state = HTTP_READ_UNTIL_END;
	else if (framing->length > 0)
		stream->read_state = HTTP_READ_BODY;
	else
		http_finish_body(ctx);
}

void
http_finish_response_header(struct http_reader_ctx *ctx)
{
	struct http_connection *connection = ctx->connection;
	const struct http_request *request = http_queue_front(&connection->queue);
	uint16_t status = ctx->stream->status;

	if (http_is_upgrade(request, status)) {
		http_upgrade(ctx);
		return;
	}
	if (status < 200) {
		/* An interim response: the final one follows. */
		ctx->stream->status = 0;
		http_expect_message(ctx->stream);
		return;
	}
	if (request->connect)
		http_close_tunnel(connection);
	http_begin_response_body(ctx, request);
}

/* --- the end --- */

void
http_finish_response(struct http_reader_ctx *ctx)
{
	http_finish_front(ctx);
	http_expect_message(ctx->stream);
	/* The pipeline limit was reached: the last request that can be paired is done. */
	if (ctx->connection->queue.count == 0 && ctx->connection->client.read_state == HTTP_READ_NOTHING &&
	    !ctx->connection->client.ended)
		http_stop_stream(ctx->stream);
}

void
http_lose_response(struct http_reader_ctx *ctx)
{
	struct http_connection *connection = ctx->connection;
	const struct http_request *request = http_queue_front(&connection->queue);
	uint16_t status = connection->server.status;

	/* The status is known; the end of the response is not. */
	if (request != NULL && status != 0 && http_is_upgrade(request, status)) {
		connection->response_last = 0;
		http_upgrade(ctx);
	} else if (request != NULL && status >= 200) {
		connection->response_last = 0;
		http_finish_front(ctx);
	}
	http_drop_waiting(connection);
}

void
http_finish_waiting(struct http_reader_ctx *ctx)
{
	while (ctx->connection->queue.count > 0 && ctx->connection->queue.requests[0].complete)
		http_finish_front(ctx);
}

void
http_end_responses(struct http_reader_ctx *ctx)
{
	struct http_connection *connection = ctx->connection;
	struct http_stream *server = &connection->server;
	bool searching = server->read_state == HTTP_READ_SEARCH && !server->foreign;

	if (server->status != 0 && server->read_state != HTTP_READ_UNTIL_END)
		http_report_anomaly(ctx, ANOMALY_HTTP_CUT);
	if (!searching)
		http_finish_waiting(ctx);
	http_drop_waiting(connection);
}
