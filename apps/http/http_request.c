/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests: from their first line to the end of their header. */
#include "apps/http/http_reader.h"

/* The number of the first request: 1 at the beginning of a connection; in mid-stream a number that an earlier app flow
 * of the connection has not used: milliseconds, in the upper half. */
static void
http_number_requests(struct http_reader_ctx *ctx)
{
	struct http_connection *connection = ctx->connection;

	if (connection->numbered)
		return;
	connection->numbered = true;
	connection->queue.front_number =
	    ctx->stream->searched ? 0x80000000u | (uint32_t)(ctx->app_ctx->now / 1000000) : 1;
}

static void
http_set_text(struct http_reader_ctx *ctx, enum http_text kind, struct slice text)
{
	if (!http_queue_set_text(&ctx->connection->queue, kind, text))
		http_report_anomaly(ctx, ANOMALY_HTTP_TEXT_LIMIT);
}

static bool
http_equals(struct slice s, const char *text)
{
	return s.len == strlen(text) && slice_equal(s, 0, text, s.len);
}

/* "PRI * HTTP/2.0" (RFC 9113 section 3.4). */
static bool
http_is_preface(const struct http_line *line)
{
	return line->length == 14 && slice_equal(line->head, 0, "PRI * HTTP/2.0", 14);
}

static void
http_store_request(struct http_reader_ctx *ctx, struct http_request *request, const struct http_request_line *line)
{
	request->minor = ctx->stream->minor = line->minor;
	request->target_length = line->target_length;
	request->head = http_equals(line->method, "HEAD");
	request->connect = http_equals(line->method, "CONNECT");
	if (!http_queue_set_method(&ctx->connection->queue, line->method))
		http_report_anomaly(ctx, ANOMALY_HTTP_TEXT_LIMIT);
	http_set_text(ctx, HTTP_TEXT_URI, line->target);
	if (line->odd_target)
		http_report_anomaly(ctx, ANOMALY_HTTP_TARGET);
}

bool
http_begin_request(struct http_reader_ctx *ctx, const struct http_line *line)
{
	struct http_connection *connection = ctx->connection;
	struct http_request_line parsed;
	struct http_request *request;

	if (http_is_preface(line)) {
		http_report_anomaly(ctx, ANOMALY_HTTP_PREFACE);
		http_stop(ctx);
		return true;
	}
	if (!http_parse_request_line(line, &parsed))
		return false;
	connection->proven = true;
	connection->pipelined |= connection->queue.count > 0 && !ctx->app_ctx->peer_bytes_missing;
	if (http_check_pipelining(ctx))
		return true;
	if (connection->owed) {
		http_lose_sync(ctx);
		return true;
	}
	http_number_requests(ctx);
	connection->unasked = false;
	request = http_queue_add(&connection->queue, ctx->stream->first);
	if (request == NULL) {
		/* Later responses could not be paired: the requests in the queue are the last ones. */
		http_report_anomaly(ctx, ANOMALY_HTTP_PIPELINE_LIMIT);
		http_stop_stream(ctx->stream);
		return true;
	}
	connection->sending = true;
	http_count_bytes(ctx, ctx->stream->part_bytes);
	http_store_request(ctx, request, &parsed);
	return true;
}

void
http_add_request_field(struct http_reader_ctx *ctx, const struct http_field_line *field)
{
	struct http_queue *queue = &ctx->connection->queue;
	struct http_request *request = http_queue_last(queue);

	if (field->field == HTTP_FIELD_HOST) {
		if (ctx->stream->hosts == 0)
			http_set_text(ctx, HTTP_TEXT_HOST, field->value);
		if (ctx->stream->hosts < 2)
			ctx->stream->hosts++;
	} else if (field->field == HTTP_FIELD_AGENT && request->texts[HTTP_TEXT_AGENT] == 0) {
		http_set_text(ctx, HTTP_TEXT_AGENT, field->value);
	}
}

/* What follows a request's header (section 6.3, items 3 to 7). */
static void
http_begin_request_body(struct http_reader_ctx *ctx)
{
	struct http_stream *stream = ctx->stream;
	const struct http_framing *framing = &stream->framing;

	stream->body_left = framing->length;
	stream->part_bytes = 0;
	if (http_queue_last(&ctx->connection->queue)->connect)
		stream->read_state = HTTP_READ_TUNNEL; /* its content has no meaning (RFC 9110 section 9.3.6) */
	else if (framing->chunked)
		stream->read_state = HTTP_READ_CHUNK_SIZE;
	else if (framing->encoded || framing->bad_length)
		http_lose_sync(ctx); /* the server cannot determine the length either, and rejects the request */
	else if (framing->length > 0)
		stream->read_state = HTTP_READ_BODY;
	else
		http_finish_body(ctx);
}

static void
http_name_connection(struct http_reader_ctx *ctx)
{
	struct slice host = http_queue_text(&ctx->connection->queue, ctx->connection->queue.count - 1u, HTTP_TEXT_HOST);
	char name[HTTP_HOST_MAX + 1] = "";

	if (host.len == 0 || ctx->app_ctx->on_name == NULL)
		return;
	slice_copy(host, 0, name, host.len);
	app_flow_name(ctx->app_ctx, name);
}

void
http_finish_request_header(struct http_reader_ctx *ctx)
{
	struct http_queue *queue = &ctx->connection->queue;
	struct http_request *request = http_queue_last(queue);

	request->complete = true;
	/* RFC 9112 section 3.2 */
	if (ctx->stream->hosts > 1 || (ctx->stream->hosts == 0 && request->minor > 0))
		http_report_anomaly(ctx, ANOMALY_HTTP_HOST);
	http_name_connection(ctx);
	http_report_request(ctx, queue->count - 1u, false);
	http_begin_request_body(ctx);
	/* A request that crosses the FIN of its server has no response. */
	if (ctx->connection->server.ended)
		http_end_responses(ctx);
}

void
http_drop_request(struct http_connection *connection)
{
	struct http_request *request = http_queue_last(&connection->queue);

	if (connection->sending && request != NULL && !request->complete)
		http_queue_remove_last(&connection->queue);
	connection->sending = false;
}

void
http_drop_waiting(struct http_connection *connection)
{
	struct http_queue *queue = &connection->queue;

	while (queue->count > 0 && queue->requests[0].complete)
		http_queue_remove_front(queue);
	if (queue->count == 0)
		connection->sending = false;
}
