/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits the byte streams of a connection into HTTP messages. */
#include "apps/http/http_reader.h"

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

void
http_stop_stream(struct http_stream *stream)
{
	stream->read_state = HTTP_READ_NOTHING;
}

void
http_stop(struct http_reader_ctx *ctx)
{
	http_stop_stream(&ctx->connection->client);
	http_stop_stream(&ctx->connection->server);
	http_queue_clear(&ctx->connection->queue);
	ctx->connection->sending = false;
}

void
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

bool
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

void
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

void
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

struct http_line_input
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

void
http_finish_body(struct http_reader_ctx *ctx)
{
	if (ctx->from_server) {
		http_finish_response(ctx);
		return;
	}
	ctx->connection->sending = false;
	http_expect_message(ctx->stream);
}

/* --- the first line --- */

/* A first line is none. */
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

/* The empty line behind the fields. */
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

uint32_t
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

/* What is skipped begins with a message: a request behind one that waits, or the response to one that was not read. */
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
