/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits the byte streams of a connection into HTTP messages. */
#include "apps/http/http.h"

/* Arguments of the reader's functions, for one direction. */
struct http_reader_ctx {
	struct app_context *app_ctx;
	struct http_connection *connection;
	struct http_stream *stream; /* the direction of `sender` */
	unsigned sender;
	bool from_server;
};

static void http_drop_request(struct http_connection *connection);
static void http_drop_waiting(struct http_connection *connection);
static void http_finish_response(struct http_reader_ctx *ctx);
static void http_lose_response(struct http_reader_ctx *ctx);
static bool http_may_lack_body(const struct http_reader_ctx *ctx);
static void http_note_unasked(struct http_connection *connection);
static uint32_t http_skip_body(struct http_reader_ctx *ctx, uint32_t length);

static void
http_report_anomaly(const struct http_reader_ctx *ctx, enum anomaly a)
{
	ctx->app_ctx->on_anomaly(ctx->app_ctx->context, a);
}

static struct http_reader_ctx
http_reader_ctx_init(struct app_context *app_ctx, unsigned sender)
{
	struct http_connection *connection = app_ctx->state;
	bool from_server = sender == app_ctx->server_endpoint;

	return (struct http_reader_ctx){.app_ctx = app_ctx,
					.connection = connection,
					.stream = from_server ? &connection->server : &connection->client,
					.sender = sender,
					.from_server = from_server};
}

/* --- states --- */

/* The direction is not read again; both directions are not. */
static void
http_stop_stream(struct http_stream *stream)
{
	stream->read_state = HTTP_READ_NOTHING;
}

static void
http_stop(struct http_reader_ctx *ctx)
{
	http_stop_stream(&ctx->connection->client);
	http_stop_stream(&ctx->connection->server);
	http_queue_clear(&ctx->connection->queue);
	ctx->connection->sending = false;
}

/* The next message of this direction follows. */
static void
http_expect_message(struct http_stream *stream)
{
	stream->read_state = HTTP_READ_FIRST_LINE;
	stream->searched = stream->skipped = stream->limited = stream->foreign = false;
	stream->expects = stream->instead = false;
	stream->hosts = 0;
	stream->status = 0;
	stream->part_bytes = 0;
	stream->framing = (struct http_framing){0};
	http_line_reset(&stream->line);
}

/* Whether pipelined requests cannot be paired with their responses; the connection is then stopped. */
static bool
http_check_pipelining(struct http_reader_ctx *ctx)
{
	if (!ctx->connection->pipelined || !ctx->connection->lost)
		return false;
	http_report_anomaly(ctx, ANOMALY_HTTP_PIPELINE_GAP);
	http_stop(ctx);
	return true;
}

/* Bytes of the client are missing or skipped.  While a request waits they are its body: a client that does not pipeline
 * sends no other one. */
static void
http_skip_request(struct http_connection *connection)
{
	if (connection->queue.count > 0)
		return;
	connection->owed = !connection->unasked;
	connection->unasked = false; /* that response was the one owed */
}

/* The boundary of requests is lost. */
static void
http_lose_request(struct http_connection *connection)
{
	http_drop_request(connection);
	http_skip_request(connection);
}

/* The boundary of a direction is lost; its beginning of a message is searched. */
static void
http_lose_sync(struct http_reader_ctx *ctx)
{
	/* A first line that a search found may have been no first line. */
	if (!ctx->stream->searched)
		http_report_anomaly(ctx, ANOMALY_HTTP_LOST);
	if (ctx->from_server)
		http_lose_response(ctx);
	else
		http_lose_request(ctx->connection);
	ctx->connection->lost = true;
	if (ctx->connection->upgraded || http_check_pipelining(ctx))
		return;
	http_expect_message(ctx->stream);
	ctx->stream->read_state = HTTP_READ_SEARCH;
}

/* Counts bytes of the message being read. */
static void
http_count_bytes(struct http_reader_ctx *ctx, uint64_t n)
{
	struct http_connection *connection = ctx->connection;

	if (!ctx->from_server) {
		if (connection->sending)
			http_queue_last(&connection->queue)->bytes += n;
	} else if (ctx->stream->status != 0) {
		connection->response_bytes += n;
		connection->response_last = app_bytes_time(ctx->app_ctx);
	}
}

/* The input of a line of this direction. */
static struct http_line_input
http_line_input(struct http_reader_ctx *ctx, bool foldable)
{
	struct http_connection *connection = ctx->connection;

	return (struct http_line_input){
	    .buffer = &ctx->stream->line,
	    .head = ctx->from_server ? connection->response_head : connection->request_head,
	    .head_max = ctx->from_server ? HTTP_RESPONSE_LINE_MAX : HTTP_REQUEST_LINE_MAX,
	    .foldable = foldable,
	};
}

/* The body of the message is complete. */
static void
http_finish_body(struct http_reader_ctx *ctx)
{
	if (ctx->from_server) {
		http_finish_response(ctx);
		return;
	}
	ctx->connection->sending = false;
	http_expect_message(ctx->stream);
}

/* Responses: from their first line to the end of their body, and the reports of requests. */

/* --- responses: reports --- */

/* Reports the oldest or the last request of the queue. */
static void
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

/* --- responses: the header --- */

static bool
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

/* A final response has come that no request waits for. */
static void
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

static void
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

/* --- responses: the end --- */

static void
http_finish_response(struct http_reader_ctx *ctx)
{
	http_finish_front(ctx);
	http_expect_message(ctx->stream);
	/* The pipeline limit was reached: the last request that can be paired is done. */
	if (ctx->connection->queue.count == 0 && ctx->connection->client.read_state == HTTP_READ_NOTHING &&
	    !ctx->connection->client.ended)
		http_stop_stream(ctx->stream);
}

/* The boundary of the responses is lost: requests that wait for one do not get one. */
static void
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

/* No response follows: every request whose header is complete is done. */
static void
http_finish_waiting(struct http_reader_ctx *ctx)
{
	while (ctx->connection->queue.count > 0 && ctx->connection->queue.requests[0].complete)
		http_finish_front(ctx);
}

/* The server has ended its direction: every request that waits is done. */
static void
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

/* Requests: from their first line to the end of their header. */

/* --- requests --- */

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

/* A first line is complete.  False if it is invalid. */
static bool
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

static void
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

static void
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

/* The request being read is dropped, unless its header is complete. */
static void
http_drop_request(struct http_connection *connection)
{
	struct http_request *request = http_queue_last(&connection->queue);

	if (connection->sending && request != NULL && !request->complete)
		http_queue_remove_last(&connection->queue);
	connection->sending = false;
}

/* All requests whose header is complete are dropped. */
static void
http_drop_waiting(struct http_connection *connection)
{
	struct http_queue *queue = &connection->queue;

	while (queue->count > 0 && queue->requests[0].complete)
		http_queue_remove_front(queue);
	if (queue->count == 0)
		connection->sending = false;
}

/* --- the first line --- */

/* A first line is invalid. */
static void
http_reject_first_line(struct http_reader_ctx *ctx)
{
	bool foreign = ctx->from_server && !ctx->stream->searched;

	if (ctx->connection->proven || ctx->stream->searched) {
		if (foreign)
			http_finish_waiting(ctx);
		http_lose_sync(ctx);
		ctx->stream->foreign = foreign;
		return;
	}
	http_report_anomaly(ctx, ANOMALY_HTTP_ALIEN);
	http_stop(ctx);
}

static void
http_accept_first_line(struct http_reader_ctx *ctx)
{
	struct http_stream *stream = ctx->stream;

	if (stream->searched)
		http_report_anomaly(ctx, ANOMALY_HTTP_FOUND);
	stream->searched = false;
	stream->read_state = HTTP_READ_FIELDS;
}

/* At the beginning of a body: whether what follows is read as a request as long as it may be one. */
static bool
http_begins_instead(struct http_reader_ctx *ctx)
{
	struct http_stream *stream = ctx->stream;
	bool instead = stream->expects && http_may_lack_body(ctx);

	stream->expects = false;
	if (instead) {
		stream->instead_of = stream->read_state;
		stream->read_state = HTTP_READ_FIRST_LINE;
		stream->instead = true;
		stream->part_bytes = 0;
	}
	return instead;
}

static void http_read_bytes(struct http_reader_ctx *ctx, struct slice bytes);

/* What was read as a request is the beginning of the body: `length` bytes of earlier segments, of which the first ones
 * are in the buffer of the line. */
static void
http_return_to_body(struct http_reader_ctx *ctx, uint32_t length)
{
	struct http_stream *stream = ctx->stream;
	uint32_t have = length < HTTP_REQUEST_LINE_MAX ? length : HTTP_REQUEST_LINE_MAX;
	uint8_t head[HTTP_REQUEST_LINE_MAX];

	memcpy(head, ctx->connection->request_head, have);
	http_line_reset(&stream->line);
	stream->instead = false;
	stream->part_bytes = 0;
	stream->read_state = stream->instead_of;
	http_read_bytes(ctx, (struct slice){head, have});
	if (length > have && http_skip_body(ctx, length - have) < length - have &&
	    stream->read_state != HTTP_READ_NOTHING)
		http_lose_sync(ctx);
}

/* The request that came instead of a body: nothing of the last header counts for it. */
static void
http_accept_instead(struct http_stream *stream)
{
	uint32_t line = stream->part_bytes;

	http_expect_message(stream);
	stream->part_bytes = line;
}

/* Whether an incomplete first line can be one. */
static bool
http_first_line_may_go_on(const struct http_reader_ctx *ctx, const struct http_line_input *input)
{
	uint32_t length = input->buffer->length, have = length < input->head_max ? length : input->head_max;
	struct slice head = {input->head, have};

	if (length > HTTP_HEADER_MAX)
		return false;
	if (ctx->from_server)
		return http_may_begin_status_line(head);
	return ctx->stream->instead ? http_may_begin_known_request(head) : http_may_begin_request_line(head);
}

static void
http_note_first_byte(struct http_reader_ctx *ctx)
{
	const struct http_queue *queue = &ctx->connection->queue;
	uint64_t asked = 0;

	for (unsigned i = 0; i < queue->count; i++)
		asked += queue->requests[i].bytes;
	ctx->stream->first = app_bytes_time(ctx->app_ctx);
	/* It answers a request that it acknowledges, at least in part. */
	ctx->stream->asked = queue->count > 0 && queue->requests[0].complete && ctx->app_ctx->unacked < asked;
}

static uint32_t
http_read_first_line(struct http_reader_ctx *ctx, struct slice bytes)
{
	struct http_stream *stream = ctx->stream;
	struct http_line_input input = http_line_input(ctx, false);
	struct http_line line;
	bool folded, whole;
	uint32_t n;

	if (stream->part_bytes == 0)
		http_note_first_byte(ctx);
	n = http_line_take(&input, bytes, &line, &folded, &whole);
	stream->part_bytes += n;
	if (stream->instead && !(whole ? http_is_request_line(&line) : http_first_line_may_go_on(ctx, &input))) {
		http_return_to_body(ctx, stream->part_bytes - n);
		return 0;
	}
	if (!whole) {
		if (!http_first_line_may_go_on(ctx, &input))
			http_reject_first_line(ctx);
		return n;
	}
	if (stream->instead)
		http_accept_instead(stream);
	if (line.length == 0 && !ctx->from_server) {
		stream->part_bytes = 0; /* section 2.2 */
		return n;
	}
	if (!(ctx->from_server ? http_begin_response : http_begin_request)(ctx, &line))
		http_reject_first_line(ctx);
	else if (stream->read_state == HTTP_READ_FIRST_LINE)
		http_accept_first_line(ctx);
	return n;
}

/* --- fields --- */

static void
http_report_framing(const struct http_reader_ctx *ctx)
{
	const struct http_framing *framing = &ctx->stream->framing;

	if (framing->bad_length)
		http_report_anomaly(ctx, ANOMALY_HTTP_LENGTH);
	/* RFC 9112 section 6.1 */
	if (framing->encoded && (framing->has_length || ctx->stream->minor == 0 ||
				 (!framing->chunked && !ctx->from_server)))
		http_report_anomaly(ctx, ANOMALY_HTTP_ENCODING);
}

static void
http_add_field(struct http_reader_ctx *ctx, const struct http_line *line, bool folded)
{
	struct http_stream *stream = ctx->stream;
	struct http_field_line field;

	http_parse_field(line, &field);
	if (folded)
		http_report_anomaly(ctx, ANOMALY_HTTP_FOLD);
	if (field.field == HTTP_FIELD_INVALID || field.odd)
		http_report_anomaly(ctx, ANOMALY_HTTP_FIELD);
	if (stream->read_state == HTTP_READ_TRAILERS)
		return;
	if (field.field == HTTP_FIELD_LENGTH)
		http_add_length(&stream->framing, &field);
	else if (field.field == HTTP_FIELD_ENCODING)
		http_add_encoding(&stream->framing, &field);
	else if (!ctx->from_server && field.field == HTTP_FIELD_EXPECT)
		stream->expects |= http_is_expectation(&field);
	else if (!ctx->from_server && !stream->limited)
		http_add_request_field(ctx, &field);
}

/* The empty line after the fields. */
static void
http_finish_fields(struct http_reader_ctx *ctx)
{
	if (ctx->stream->read_state == HTTP_READ_TRAILERS) {
		http_finish_body(ctx);
		return;
	}
	http_report_framing(ctx);
	if (ctx->from_server)
		http_finish_response_header(ctx);
	else
		http_finish_request_header(ctx);
}

/* Reads a header of fields or trailers. */
static uint32_t
http_read_fields(struct http_reader_ctx *ctx, struct slice bytes)
{
	struct http_stream *stream = ctx->stream;
	struct http_line_input input = http_line_input(ctx, true);
	struct http_line line;
	bool folded, whole;
	uint32_t n = http_line_take(&input, bytes, &line, &folded, &whole);

	http_count_bytes(ctx, n);
	stream->part_bytes = n > UINT32_MAX - stream->part_bytes ? UINT32_MAX : stream->part_bytes + n;
	if (stream->part_bytes > HTTP_HEADER_MAX && !stream->limited) {
		http_report_anomaly(ctx, ANOMALY_HTTP_HEADER_LIMIT);
		stream->limited = true;
	}
	if (!whole)
		return n;
	if (line.length == 0)
		http_finish_fields(ctx);
	else
		http_add_field(ctx, &line, folded);
	return n;
}

/* --- bytes and gaps --- */

/* Bodies of HTTP messages (RFC 9112 sections 6 and 7). */

/* --- bodies (RFC 9112 sections 6 and 7) --- */

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

/* The line with a chunk's size, or the line end after its data. */
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

/* Whether the body of a request may never come: a final response has come instead of 100. */
static bool
http_may_lack_body(const struct http_reader_ctx *ctx)
{
	const struct http_connection *connection = ctx->connection;
	bool answered = !connection->sending || (connection->queue.count == 1 && connection->server.status >= 200);

	return answered || ctx->app_ctx->peer_bytes_missing;
}

/* Reads bytes after a header, in one of the states of a body.  Returns the number of bytes taken. */
static uint32_t
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

/* Skips missing bytes of a body of known length.  Returns how many of them are. */
static uint32_t
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

/* Bytes were skipped.  If the server sent them, they may be the responses that requests wait for. */
static void
http_note_skipped(struct http_reader_ctx *ctx)
{
	ctx->stream->skipped = true;
	ctx->connection->lost = true;
	if (ctx->from_server && ctx->stream->foreign)
		http_finish_waiting(ctx);
	else if (ctx->from_server)
		http_drop_waiting(ctx->connection);
	else
		http_skip_request(ctx->connection);
	http_check_pipelining(ctx);
}

/* What is skipped begins with a message: a request after one that waits, or the response to one that was not read. */
static void
http_note_skipped_message(struct http_reader_ctx *ctx, struct slice bytes)
{
	struct http_connection *connection = ctx->connection;

	if (!ctx->from_server && http_may_be_request(bytes))
		connection->owed = true;
	else if (ctx->from_server && connection->queue.count == 0 && http_may_be_response(bytes) &&
		 slice_u8(bytes, HTTP_STATUS_AT) > '1')
		http_note_unasked(connection);
}

/* Bytes in which the beginning of a message is searched; `at_start`: a segment begins here. */
static uint32_t
http_search(struct http_reader_ctx *ctx, struct slice bytes, bool at_start)
{
	struct http_queue *queue = &ctx->connection->queue;
	const struct http_request *front = http_queue_front(queue);
	bool found;

	if (ctx->from_server)
		found = front != NULL && front->complete && http_may_be_response(bytes);
	else
		found = front == NULL && !ctx->connection->owed && http_may_be_request(bytes);
	if (!found || !at_start) {
		http_note_skipped(ctx);
		if (at_start)
			http_note_skipped_message(ctx, bytes);
		return bytes.len;
	}
	http_expect_message(ctx->stream);
	ctx->stream->searched = true;
	return 0;
}

static void
http_read_bytes(struct http_reader_ctx *ctx, struct slice bytes)
{
	uint32_t done = 0;

	while (done < bytes.len) {
		struct slice rest = slice_sub(bytes, done, bytes.len);

		switch ((enum http_read_state)ctx->stream->read_state) {
		case HTTP_READ_NOTHING:
			return;
		case HTTP_READ_SEARCH:
			done += http_search(ctx, rest, done == 0);
			break;
		case HTTP_READ_TUNNEL:
			ctx->stream->skipped = true;
			return;
		case HTTP_READ_FIRST_LINE:
			done += http_read_first_line(ctx, rest);
			break;
		case HTTP_READ_FIELDS:
			done += http_read_fields(ctx, rest);
			break;
		case HTTP_READ_BODY:
		case HTTP_READ_UNTIL_END:
		case HTTP_READ_CHUNK_SIZE:
		case HTTP_READ_CHUNK_DATA:
		case HTTP_READ_CHUNK_END:
		case HTTP_READ_TRAILERS:
			if (!http_begins_instead(ctx))
				done += http_read_body(ctx, rest);
			break;
		}
	}
}

static void
http_on_bytes(struct app_context *app_ctx, unsigned sender, struct slice bytes)
{
	struct http_reader_ctx ctx = http_reader_ctx_init(app_ctx, sender);

	http_read_bytes(&ctx, bytes);
}

static void
http_on_gap(struct app_context *app_ctx, unsigned sender, uint32_t length)
{
	struct http_reader_ctx ctx = http_reader_ctx_init(app_ctx, sender);

	ctx.stream->foreign = ctx.stream->expects = false;
	if (ctx.stream->read_state == HTTP_READ_SEARCH || ctx.stream->read_state == HTTP_READ_TUNNEL)
		http_note_skipped(&ctx);
	if (http_skip_body(&ctx, length) < length && ctx.stream->read_state != HTTP_READ_NOTHING)
		http_lose_sync(&ctx);
}

/* --- beginning and end --- */

static void
http_on_start(struct app_context *app_ctx, unsigned sender, bool beginning)
{
	struct http_reader_ctx ctx = http_reader_ctx_init(app_ctx, sender);
	struct http_stream *stream = ctx.stream;

	if (ctx.connection->upgraded)
		return; /* another protocol follows */
	ctx.connection->server_endpoint = (uint8_t)app_ctx->server_endpoint;
	memset(stream, 0, sizeof *stream);
	http_expect_message(stream);
	stream->started = true;
	if (!beginning)
		stream->read_state = HTTP_READ_SEARCH;
	/* Of several requests, some may have been answered before the stream of the server was read. */
	if (!beginning && ctx.from_server && ctx.connection->queue.count > 1)
		http_drop_waiting(ctx.connection);
	if (beginning)
		return;
	ctx.connection->lost = true;
	if (ctx.from_server)
		return;
	/* The stream begins again: requests and responses have passed.  A response that has begun is not that of a
	 * request that follows. */
	http_drop_waiting(ctx.connection);
	http_drop_request(ctx.connection);
	if (ctx.connection->server.started && !ctx.connection->server.ended) {
		http_expect_message(&ctx.connection->server);
		ctx.connection->server.read_state = HTTP_READ_SEARCH;
	}
}

static void
http_on_end(struct app_context *app_ctx, unsigned sender)
{
	struct http_reader_ctx ctx = http_reader_ctx_init(app_ctx, sender);
	enum http_read_state read_state = ctx.stream->read_state;

	ctx.stream->ended = true;
	if (ctx.from_server) {
		http_end_responses(&ctx);
	} else {
		if ((read_state == HTTP_READ_FIRST_LINE && ctx.stream->part_bytes > 0) || ctx.connection->sending)
			http_report_anomaly(&ctx, ANOMALY_HTTP_CUT);
		http_drop_request(ctx.connection);
	}
	http_stop_stream(ctx.stream);
}

static bool
http_is_reading(const void *state, unsigned sender)
{
	const struct http_connection *connection = state;

	return sender == connection->server_endpoint ? connection->server.read_state != HTTP_READ_NOTHING
						      : connection->client.read_state != HTTP_READ_NOTHING;
}

const struct app_reader http_reader = {
    .state_size = sizeof(struct http_connection),
    .connections_max = HTTP_CONNECTIONS_MAX,
    .on_start = http_on_start,
    .on_bytes = http_on_bytes,
    .on_gap = http_on_gap,
    .on_end = http_on_end,
    .recognises = http_recognise,
    .is_reading = http_is_reading,
};
