/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/example/example_reader.h"

#include "apps/example/example_message.h"

/* State of one direction. */
struct example_stream {
	struct example_message message; /* the line up to now */
	bool reading;			/* bytes are still needed */
	bool skipping;			/* up to the next end of a line, which begins a message */
};

/* State of a connection: both directions, by sender.  Zero at first. */
struct example_connection {
	struct example_stream stream[2];
};

static void
example_begin_message(struct example_stream *s)
{
	s->message = (struct example_message){.length = 0};
}

/* In mid-stream the next line is the first one whose beginning is known. */
static void
example_on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	struct example_connection *connection = ctx->state;
	struct example_stream *s = &connection->stream[sender];

	example_begin_message(s);
	s->reading = true;
	s->skipping = !beginning;
}

static void
example_end_line(struct app_context *ctx, struct example_stream *s, unsigned sender)
{
	if (!s->skipping) {
		s->message.from_server = sender == ctx->server_endpoint;
		app_flow_report(ctx, sender, &s->message);
	}
	s->skipping = false;
	example_begin_message(s);
}

static void
example_on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	struct example_connection *connection = ctx->state;
	struct example_stream *s = &connection->stream[sender];

	for (uint32_t i = 0; i < bytes.len && s->reading; i++) {
		uint8_t byte = slice_u8(bytes, i);

		if (byte == '\n') {
			example_end_line(ctx, s, sender);
			continue;
		}
		if (byte != '\r' && !s->skipping)
			example_message_add(&s->message, byte);
		if (s->message.length > EXAMPLE_LINE_MAX) {
			ctx->on_anomaly(ctx->context, ANOMALY_EXAMPLE_LINE);
			s->reading = false;
		}
	}
}

/* The line in progress is incomplete. */
static void
example_on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	struct example_connection *connection = ctx->state;
	struct example_stream *s = &connection->stream[sender];

	(void)length;
	s->skipping = true;
	example_begin_message(s);
}

static bool
example_is_reading(const void *state, unsigned sender)
{
	const struct example_connection *connection = state;

	return connection->stream[sender].reading;
}

const struct app_reader example_reader = {
    .state_size = sizeof(struct example_connection),
    .connections_max = 1024,
    .history_size = 8192,
    .on_start = example_on_start,
    .on_bytes = example_on_bytes,
    .on_gap = example_on_gap,
    .is_reading = example_is_reading,
};
