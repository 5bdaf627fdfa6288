/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns.h"

#include "flow/flow.h"

#define MDNS_PORT  5353u
#define LLMNR_PORT 5355u

/* Bytes without the beginning of a message after which a direction is no longer read. */
#define DNS_SEARCH_MAX (1u << 20)

#define DNS_ZERO_FLAG 0x0040u

/* One direction of a TCP connection. */
struct dns_stream {
	uint8_t length[2];   /* length of the message, as far as it has come */
	uint8_t length_have; /* bytes of it */
	bool reading;
	bool searching; /* the place at which the next message begins is not known */
	bool confirmed; /* a message was read: damage in a later one does not make it another protocol */
	uint32_t have; /* bytes of the message that have come; some of them may be missing */
	uint32_t kept; /* of its first bytes, those in `bytes` */
	bool gap;      /* bytes after `kept` are missing or too many */
	uint32_t skipped; /* bytes of the search */
	uint8_t bytes[DNS_KEPT_MAX];
};

/* State of a connection, by sender.  Zero at first. */
struct dns_connection {
	struct dns_stream stream[2];
};

/* ------------------------------------------------------------------------------------------------------ a message */

static enum dns_transport
dns_transport_of(const struct app_context *ctx)
{
	const uint16_t *port = ctx->flow->key.port;

	if (port[0] == MDNS_PORT || port[1] == MDNS_PORT)
		return DNS_MDNS;
	if (port[0] == LLMNR_PORT || port[1] == LLMNR_PORT)
		return DNS_LLMNR;
	return ctx->flow->kind == FLOW_UDP ? DNS_UDP : DNS_TCP;
}

/* The names that mDNS and LLMNR ask for go to a group: no host, or several hosts answer, from addresses of their
 * own. */
static void
dns_follow_request(const struct app_context *ctx, struct dns_message *message)
{
	if (message->transport != DNS_UDP && message->transport != DNS_TCP)
		return;
	if ((message->flags & DNS_RESPONSE) == 0)
		dns_requests_begin(ctx, message);
	else
		dns_requests_answer(ctx, message);
}

/* False if the bytes are not a message. */
static bool
dns_read_message(struct app_context *ctx, unsigned sender, struct slice bytes, uint32_t wire)
{
	struct dns_message message;
	enum anomaly anomaly;
	bool complete = dns_parse(bytes, wire, &message, &anomaly);

	if (anomaly != ANOMALY_NONE)
		ctx->on_anomaly(ctx->context, anomaly);
	if (!complete)
		return anomaly == ANOMALY_NONE;
	message.sender = (uint8_t)sender;
	message.transport = (uint8_t)dns_transport_of(ctx);
	dns_follow_request(ctx, &message);
	if (message.qname[0] != '\0')
		app_flow_name(ctx, message.qname);
	app_flow_report(ctx, sender, &message);
	return true;
}

static void
dns_on_datagram(struct app_context *ctx, unsigned sender, struct slice bytes, uint32_t wire)
{
	if (wire > 0)
		dns_read_message(ctx, sender, bytes, wire);
}

/* ----------------------------------------------------------------------------------------------------- the stream */

static void
dns_begin_message(struct dns_stream *s)
{
	s->length_have = 0;
	s->have = s->kept = 0;
	s->gap = false;
}

/* The place at which the next message begins is not known. */
static void
dns_search(struct dns_stream *s)
{
	dns_begin_message(s);
	s->searching = true;
	s->skipped = 0;
}

/* Whether a segment with these bytes begins with a message: its length, its header and all records that the segment has
 * are right, and it ends with the segment or after it, or another message follows. */
static bool
dns_is_start(struct slice bytes, bool from_server)
{
	while (bytes.len > 2) {
		uint16_t wire = slice_u16(bytes, 0);
		struct dns_message message;
		enum anomaly anomaly;

		bytes = slice_sub(bytes, 2, bytes.len);
		if (!dns_parse(slice_sub(bytes, 0, wire), wire, &message, &anomaly) || anomaly != ANOMALY_NONE ||
		    message.questions != 1 || ((message.flags & DNS_RESPONSE) != 0) != from_server ||
		    (message.flags & DNS_ZERO_FLAG) != 0)
			return false;
		if (wire >= bytes.len)
			return true;
		bytes = slice_sub(bytes, wire, bytes.len);
	}
	return false;
}

/* False if the segment is skipped. */
static bool
dns_find_message(const struct app_context *ctx, struct dns_stream *s, bool from_server, struct slice bytes)
{
	if (dns_is_start(bytes, from_server)) {
		s->searching = false;
		return true;
	}
	if (s->skipped == 0)
		ctx->on_anomaly(ctx->context, ANOMALY_DNS_UNFOUND);
	s->skipped += bytes.len;
	s->reading = s->skipped < DNS_SEARCH_MAX;
	return false;
}

static void
dns_on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	struct dns_connection *connection = ctx->state;
	struct dns_stream *s = &connection->stream[sender];

	dns_begin_message(s);
	s->reading = true;
	s->searching = s->confirmed = false;
	if (!beginning)
		dns_search(s);
}

static uint32_t
dns_stream_message_size(const struct dns_stream *s)
{
	return (uint32_t)s->length[0] << 8 | s->length[1];
}

/* The message is complete: `whole` are its bytes if one segment has all of them, else they are kept. */
static void
dns_end_message(struct app_context *ctx, struct dns_stream *s, unsigned sender, struct slice whole)
{
	uint32_t size = dns_stream_message_size(s);
	struct slice bytes = whole.len == size ? whole : (struct slice){s->bytes, s->kept};

	if (s->kept == DNS_KEPT_MAX && bytes.len < size)
		ctx->on_anomaly(ctx->context, ANOMALY_DNS_MESSAGE_LIMIT);
	/* A first message that is not DNS: another protocol.  A later one leaves the boundaries known. */
	if (dns_read_message(ctx, sender, bytes, size))
		s->confirmed = true;
	else if (!s->confirmed)
		s->reading = false;
	dns_begin_message(s);
}

/* Takes bytes of the message, at most those that belong to it, and returns their number. */
static uint32_t
dns_take_bytes(struct dns_stream *s, struct slice bytes)
{
	uint32_t left = dns_stream_message_size(s) - s->have, n = bytes.len < left ? bytes.len : left;
	uint32_t room = s->gap ? 0 : DNS_KEPT_MAX - s->kept, kept = n < room ? n : room;

	slice_copy(bytes, 0, s->bytes + s->kept, kept);
	s->kept += kept;
	s->gap |= kept < n;
	s->have += n;
	return n;
}

static void
dns_on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	struct dns_connection *connection = ctx->state;
	struct dns_stream *s = &connection->stream[sender];

	/* A message usually begins a segment. */
	if (s->searching && !dns_find_message(ctx, s, sender == ctx->server_endpoint, bytes))
		return;
	for (uint32_t at = 0; at < bytes.len && s->reading;) {
		struct slice rest = slice_sub(bytes, at, bytes.len);
		bool begins = s->have == 0;
		uint32_t taken;

		if (s->length_have < 2) {
			s->length[s->length_have++] = slice_u8(rest, 0);
			at++;
			if (s->length_have == 2 && dns_stream_message_size(s) == 0)
				dns_end_message(ctx, s, sender, (struct slice){NULL, 0});
			continue;
		}
		taken = dns_take_bytes(s, rest);
		at += taken;
		if (s->have == dns_stream_message_size(s))
			dns_end_message(ctx, s, sender,
					begins ? slice_sub(rest, 0, taken) : (struct slice){NULL, 0});
	}
}

/* Missing bytes inside a message whose length is known leave the boundaries known. */
static void
dns_on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	struct dns_connection *connection = ctx->state;
	struct dns_stream *s = &connection->stream[sender];
	uint32_t size = dns_stream_message_size(s);

	if (!s->reading || s->searching)
		return;
	if (s->length_have < 2 || length > size - s->have) {
		dns_search(s);
		return;
	}
	s->gap = true;
	s->have += length;
	if (s->have == size)
		dns_end_message(ctx, s, sender, (struct slice){NULL, 0});
}

static bool
dns_is_reading(const void *state, unsigned sender)
{
	const struct dns_connection *connection = state;

	return connection->stream[sender].reading;
}

const struct app_reader dns_reader = {
    .state_size = sizeof(struct dns_connection),
    .connections_max = 1024,
    .open = dns_requests_open,
    .close = dns_requests_close,
    .clear = dns_requests_clear,
    .shared_size = dns_requests_size,
    .next_timeout = dns_requests_next_timeout,
    .on_time = dns_requests_on_time,
    .request_counters = dns_requests_counters,
    .on_start = dns_on_start,
    .on_bytes = dns_on_bytes,
    .on_gap = dns_on_gap,
    .on_datagram = dns_on_datagram,
    .is_reading = dns_is_reading,
};
