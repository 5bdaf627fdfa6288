/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a byte stream into TLS records and handshake messages. */
#include "apps/tls/tls.h"

#include <string.h>

struct tls_ctx {
	struct app_context *app;
	struct tls_connection *connection;
	struct tls_stream *stream;
	unsigned sender;
	bool from_server;
};

static struct tls_ctx
tls_ctx_init(struct app_context *app, unsigned sender)
{
	struct tls_connection *connection = app->state;

	return (struct tls_ctx){.app = app,
				.connection = connection,
				.stream = &connection->stream[sender],
				.sender = sender,
				.from_server = sender == app->server_endpoint};
}

static void
tls_stop(struct tls_ctx *ctx, enum anomaly anomaly)
{
	if (anomaly != ANOMALY_NONE && ctx->stream->midstream)
		anomaly = ANOMALY_TLS_LOST;
	if (anomaly != ANOMALY_NONE)
		ctx->app->on_anomaly(ctx->app->context, anomaly);
	ctx->connection->done = true;
}

static void
tls_report(struct tls_ctx *ctx, enum tls_event event, int16_t level, int16_t description)
{
	struct tls_message message = {.event = event,
				      .from_server = ctx->from_server,
				      .alert_level = level,
				      .alert_description = description,
				      .connection = ctx->connection};

	app_flow_report(ctx->app, ctx->sender, &message);
}

/* Time since the first ClientHello, us; -1 unknown. */
static int64_t
tls_elapsed_us(const struct tls_ctx *ctx)
{
	return app_elapsed_us(ctx->connection->hello_at, app_bytes_time(ctx->app));
}

static void
tls_establish(struct tls_ctx *ctx)
{
	struct tls_connection *connection = ctx->connection;

	/* A server may return any session id; only an abbreviated handshake resumes (RFC 5246 section 7.3). */
	if (connection->server.version != TLS_1_3)
		connection->resumed = !connection->hello_done;
	connection->handshake_us = connection->asked ? connection->flight_us : tls_elapsed_us(ctx);
	tls_report(ctx, TLS_EVENT_ESTABLISHED, -1, -1);
	connection->done = true;
}

/* --- handshake messages --- */

static void
tls_client_hello_end(struct tls_ctx *ctx)
{
	struct tls_connection *connection = ctx->connection;

	connection->client.complete = true;
	if (!connection->client_greeted)
		connection->hello_at = app_bytes_time(ctx->app);
	connection->client_greeted = true;
	if (connection->client.too_many)
		ctx->app->on_anomaly(ctx->app->context, ANOMALY_TLS_JA4_LIMIT);
	if (connection->client.name_length > 0)
		app_flow_name(ctx->app, connection->client.name);
	tls_report(ctx, TLS_EVENT_CLIENT_HELLO, -1, -1);
}

static void
tls_server_hello_end(struct tls_ctx *ctx)
{
	struct tls_connection *connection = ctx->connection;
	struct tls_server *server = &connection->server;

	connection->version_13 |= server->version == TLS_1_3;
	if (server->retry) {
		connection->retry = connection->retried = true;
		return;
	}
	connection->negotiated = true;
	connection->resumed = server->version == TLS_1_3 ? server->psk : server->same_id;
	connection->hello_us = tls_elapsed_us(ctx);
	tls_report(ctx, TLS_EVENT_SERVER_HELLO, -1, -1);
}

static void
tls_hello_end(struct tls_ctx *ctx)
{
	const struct tls_hello *hello = &ctx->stream->hello;

	ctx->stream->midstream = false;
	if (hello->extension_odd)
		ctx->app->on_anomaly(ctx->app->context, ANOMALY_TLS_EXTENSION);
	if (hello->name_long)
		ctx->app->on_anomaly(ctx->app->context, ANOMALY_TLS_NAME_LENGTH);
	if (!ctx->from_server)
		tls_client_hello_end(ctx);
	else if (ctx->connection->server.retry && ctx->connection->retried)
		tls_stop(ctx, ANOMALY_TLS_UNEXPECTED); /* RFC 8446 section 4.1.4 */
	else
		tls_server_hello_end(ctx);
}

/* The named group of a ServerKeyExchange (RFC 8422 section 5.4), which has it first if there is no PSK hint. */
static void
tls_read_group(struct tls_ctx *ctx)
{
	struct tls_server *server = &ctx->connection->server;
	const char *cipher = tls_cipher_name(server->cipher);
	const uint8_t *head = ctx->stream->head;

	if (ctx->stream->head_have == 3 && head[0] == 3 && cipher != NULL && strstr(cipher, "_ECDH") != NULL &&
	    strstr(cipher, "_PSK_") == NULL)
		server->group = (uint16_t)(head[1] << 8 | head[2]);
}

static void
tls_message_end(struct tls_ctx *ctx)
{
	struct tls_stream *stream = ctx->stream;
	uint8_t type = stream->message[0];

	stream->in_message = false;
	stream->message_have = 0;
	if (type == TLS_CLIENT_HELLO || type == TLS_SERVER_HELLO)
		tls_hello_end(ctx);
	else if (type == TLS_SERVER_KEY_EXCHANGE && ctx->from_server)
		tls_read_group(ctx);
	else if (type == TLS_SERVER_HELLO_DONE && ctx->from_server)
		ctx->connection->hello_done = true;
}

/* Whether the sender may send a message of this type now. */
static bool
tls_message_is_expected(const struct tls_ctx *ctx, uint8_t type)
{
	const struct tls_connection *connection = ctx->connection;

	if (ctx->from_server)
		return type == TLS_SERVER_HELLO ? !connection->negotiated
						: type == TLS_HELLO_REQUEST ||
							  (type != TLS_CLIENT_HELLO && connection->negotiated);
	if (type == TLS_CLIENT_HELLO)
		return !connection->client_greeted || connection->retry;
	return type != TLS_SERVER_HELLO && connection->client_greeted;
}

/* A ServerHello answers a ClientHello: without one, the client's bytes were not captured or not read. */
static void
tls_hello_message_begin(struct tls_ctx *ctx, uint8_t type)
{
	struct tls_connection *connection = ctx->connection;
	struct tls_server *server = type == TLS_SERVER_HELLO ? &connection->server : NULL;

	if (server != NULL && !connection->client.complete) {
		tls_stop(ctx, ANOMALY_TLS_LOST);
		return;
	}
	if (server == NULL)
		connection->retry = false;
	tls_hello_begin(&ctx->stream->hello, &connection->client, server, ctx->stream->message_left);
}

static void
tls_message_begin(struct tls_ctx *ctx)
{
	struct tls_stream *stream = ctx->stream;
	uint8_t type = stream->message[0];

	stream->in_message = true;
	stream->head_have = 0;
	stream->message_left = slice_u32((struct slice){stream->message, sizeof stream->message}, 0) & 0xffffff;
	if (!tls_message_is_expected(ctx, type))
		tls_stop(ctx, ANOMALY_TLS_UNEXPECTED);
	else if (type == TLS_CLIENT_HELLO || type == TLS_SERVER_HELLO)
		tls_hello_message_begin(ctx, type);
	if (!ctx->connection->done && stream->message_left == 0) {
		if (type == TLS_CLIENT_HELLO || type == TLS_SERVER_HELLO)
			tls_stop(ctx, ANOMALY_TLS_HELLO);
		else
			tls_message_end(ctx);
	}
}

/* Keeps the first bytes of what is read. */
static void
tls_keep_head(struct tls_stream *stream, struct slice bytes)
{
	for (uint32_t i = 0; i < bytes.len && stream->head_have < sizeof stream->head; i++)
		stream->head[stream->head_have++] = slice_u8(bytes, i);
}

static uint32_t
tls_read_message(struct tls_ctx *ctx, struct slice bytes)
{
	struct tls_stream *stream = ctx->stream;
	struct slice part = slice_sub(bytes, 0, stream->message_left);
	uint8_t type = stream->message[0];

	if (!stream->in_message) {
		stream->message[stream->message_have++] = slice_u8(bytes, 0);
		if (stream->message_have == TLS_MESSAGE_HEADER_LEN)
			tls_message_begin(ctx);
		return 1;
	}
	stream->message_left -= part.len;
	if (type != TLS_CLIENT_HELLO && type != TLS_SERVER_HELLO)
		tls_keep_head(stream, part);
	else if (!tls_hello_read(&stream->hello, part))
		tls_stop(ctx, ANOMALY_TLS_HELLO);
	if (!ctx->connection->done && stream->message_left == 0)
		tls_message_end(ctx);
	return part.len;
}

/* --- records --- */

/* Whether handshake messages and alerts of the sender are encrypted: TLS 1.2 and below, after ChangeCipherSpec. */
static bool
tls_is_encrypted(const struct tls_ctx *ctx)
{
	return ctx->stream->change_cipher && !ctx->connection->version_13;
}

static void
tls_alert_end(struct tls_ctx *ctx)
{
	const struct tls_stream *stream = ctx->stream;

	if (tls_is_encrypted(ctx)) {
		tls_report(ctx, TLS_EVENT_ALERT, -1, -1);
		return;
	}
	if (stream->record.length != TLS_ALERT_LEN) {
		tls_stop(ctx, ANOMALY_TLS_RECORD_LENGTH);
		return;
	}
	tls_report(ctx, TLS_EVENT_ALERT, stream->head[0], stream->head[1]);
	if (stream->head[0] == 2)
		ctx->connection->done = true;
}

/* Bytes of the tag of the cipher suites of TLS 1.3. */
static uint32_t
tls_tag_length(uint16_t cipher)
{
	return cipher == 0x1305 ? 8 : 16;
}

/* Bytes of an encrypted Finished without padding: header, digest, content type, tag. */
static uint32_t
tls_finished_length(uint16_t cipher)
{
	return 4u + (cipher == 0x1302 ? 48u : 32u) + 1u + tls_tag_length(cipher);
}

/* An encrypted record of the server.  Its first one is an alert if it is as long as one.  A later one may be two bytes
 * of data if the stream goes on: an alert in place of an answer is the last record (RFC 8446 section 6.2). */
static void
tls_encrypted_of_server(struct tls_ctx *ctx, bool alert_like)
{
	struct tls_connection *connection = ctx->connection;

	if (!connection->encrypted && alert_like) {
		tls_report(ctx, TLS_EVENT_ALERT, -1, -1);
		return;
	}
	/* A server that sends a ticket or data has accepted what the client has sent. */
	if (connection->asked && (!alert_like || connection->alert_like)) {
		tls_establish(ctx);
		return;
	}
	connection->alert_like = alert_like;
	connection->encrypted = true;
}

/* An encrypted record of the client.  A flight of Finished alone is known by its length, and has nothing that a server
 * refuses; another one may begin with a certificate, an empty one if the client has no certificate. */
static void
tls_encrypted_of_client(struct tls_ctx *ctx, bool alert_like)
{
	struct tls_connection *connection = ctx->connection;
	bool finished = ctx->stream->record.length == tls_finished_length(connection->server.cipher);
	bool early_data = connection->client.early_data;

	/* After 0-RTT data, which may have any length, only the length of Finished shows the end of the handshake. */
	if (alert_like && !early_data) {
		tls_report(ctx, TLS_EVENT_ALERT, -1, -1);
	} else if (!connection->encrypted || (early_data && !finished)) {
		return;
	} else if (finished && (!early_data || connection->server.psk)) {
		tls_establish(ctx);
	} else {
		/* Nothing that the client sends now shows whether the server accepts it. */
		connection->asked = ctx->stream->unread = true;
		connection->flight_us = tls_elapsed_us(ctx);
	}
}

/* An encrypted record of TLS 1.3. */
static void
tls_encrypted_end(struct tls_ctx *ctx)
{
	const struct tls_server *server = &ctx->connection->server;
	bool alert_like = ctx->stream->record.length == TLS_ALERT_LEN + 1u + tls_tag_length(server->cipher);

	if (!ctx->connection->negotiated || server->version != TLS_1_3)
		return;
	if (ctx->from_server)
		tls_encrypted_of_server(ctx, alert_like);
	else
		tls_encrypted_of_client(ctx, alert_like);
}

static void
tls_record_end(struct tls_ctx *ctx)
{
	struct tls_connection *connection = ctx->connection;
	struct tls_stream *stream = ctx->stream;

	stream->header_have = 0;
	switch ((enum tls_content)stream->record.type) {
	case TLS_CHANGE_CIPHER_SPEC: stream->change_cipher = true; break;
	case TLS_ALERT: tls_alert_end(ctx); break;
	case TLS_HANDSHAKE:
		stream->finished |= tls_is_encrypted(ctx);
		if (connection->negotiated && connection->stream[0].finished && connection->stream[1].finished)
			tls_establish(ctx);
		break;
	case TLS_APPLICATION_DATA: tls_encrypted_end(ctx); break;
	case TLS_HEARTBEAT: break;
	}
}

/* Whether the record may be the first one of its end: a hello, or the alert that answers one. */
static bool
tls_may_begin(const struct tls_ctx *ctx)
{
	return ctx->stream->record.type == TLS_HANDSHAKE ||
	       (ctx->stream->record.type == TLS_ALERT && ctx->from_server && ctx->connection->client.complete);
}

/* The header of a record is complete. */
static void
tls_record_begin(struct tls_ctx *ctx)
{
	struct tls_stream *stream = ctx->stream;
	struct slice header = {stream->header, sizeof stream->header};
	enum anomaly anomaly = tls_parse_record(header, &stream->record);

	if (stream->midstream && anomaly == ANOMALY_NONE && !tls_may_begin(ctx))
		anomaly = ANOMALY_TLS_LOST;
	if (anomaly != ANOMALY_NONE && stream->bytes == TLS_RECORD_HEADER_LEN && !ctx->from_server)
		anomaly = tls_is_sslv2_hello(header) ? ANOMALY_TLS_SSLV2 : ANOMALY_TLS_NOT_TLS;
	if (anomaly != ANOMALY_NONE) {
		tls_stop(ctx, anomaly);
		return;
	}
	stream->record_left = stream->record.length;
	if (stream->record.type == TLS_ALERT)
		stream->head_have = 0;
	if (stream->record_left == 0)
		tls_record_end(ctx);
}

static uint32_t
tls_read_content(struct tls_ctx *ctx, struct slice bytes)
{
	struct tls_stream *stream = ctx->stream;
	struct slice part = slice_sub(bytes, 0, stream->record_left);
	uint32_t n = part.len;

	if (stream->record.type == TLS_ALERT)
		tls_keep_head(stream, part);
	else if (stream->record.type == TLS_HANDSHAKE && !tls_is_encrypted(ctx))
		n = tls_read_message(ctx, part);
	stream->record_left = (uint16_t)(stream->record_left - n);
	stream->bytes += n;
	if (stream->record_left == 0 && !ctx->connection->done)
		tls_record_end(ctx);
	return n;
}

/* --- the reader --- */

static void
tls_on_start(struct app_context *app, unsigned sender, bool beginning)
{
	struct tls_ctx ctx = tls_ctx_init(app, sender);

	memset(ctx.stream, 0, sizeof *ctx.stream);
	ctx.stream->midstream = !beginning;
	ctx.connection->hello_us = ctx.connection->handshake_us = -1;
}

static bool
tls_is_reading(const void *state, unsigned sender)
{
	const struct tls_connection *connection = state;

	return !connection->done && !connection->stream[sender].unread;
}

static void
tls_on_bytes(struct app_context *app, unsigned sender, struct slice bytes)
{
	struct tls_ctx ctx = tls_ctx_init(app, sender);
	struct tls_stream *stream = ctx.stream;
	uint32_t done = 0;

	while (done < bytes.len && tls_is_reading(ctx.connection, sender)) {
		if (stream->bytes >= TLS_BYTES_MAX) {
			tls_stop(&ctx, ANOMALY_TLS_LIMIT);
		} else if (stream->header_have < TLS_RECORD_HEADER_LEN) {
			stream->header[stream->header_have++] = slice_u8(bytes, done++);
			stream->bytes++;
			if (stream->header_have == TLS_RECORD_HEADER_LEN)
				tls_record_begin(&ctx);
		} else {
			done += tls_read_content(&ctx, slice_sub(bytes, done, bytes.len));
		}
	}
}

static void
tls_on_gap(struct app_context *app, unsigned sender, uint32_t length)
{
	struct tls_ctx ctx = tls_ctx_init(app, sender);

	(void)length;
	if (!ctx.connection->done)
		tls_stop(&ctx, ANOMALY_TLS_LOST);
}

/* The server's stream has ended: if its last record is as long as an alert it is one.  Otherwise it is not known
 * whether the server has accepted the client's last flight. */
static void
tls_on_end(struct app_context *app, unsigned sender)
{
	struct tls_ctx ctx = tls_ctx_init(app, sender);

	if (ctx.connection->done || !ctx.from_server || !ctx.connection->alert_like)
		return;
	tls_report(&ctx, TLS_EVENT_ALERT, -1, -1);
	ctx.connection->done = true;
}

const struct app_reader tls_reader = {
    .state_size = sizeof(struct tls_connection),
    .connections_max = 16384,
    .on_start = tls_on_start,
    .on_bytes = tls_on_bytes,
    .on_gap = tls_on_gap,
    .on_end = tls_on_end,
    .recognises = tls_recognise,
    .is_reading = tls_is_reading,
};
