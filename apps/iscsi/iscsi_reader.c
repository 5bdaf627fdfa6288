/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a byte stream into iSCSI PDUs. */
#include "apps/iscsi/iscsi_reader.h"

#include <string.h>

static struct slice
iscsi_header_view(const struct iscsi_stream *stream)
{
	return (struct slice){stream->header, stream->header_have};
}

static void
iscsi_expect_header(struct iscsi_stream *stream)
{
	stream->read_state = ISCSI_READ_HEADER;
	stream->header_have = 0;
	stream->suppress = stream->data_missing = false;
}

void
iscsi_lose_sync(struct iscsi_reader_ctx *w)
{
	struct iscsi_connection *connection = w->session;
	struct iscsi_stream *stream = w->side;

	/* Losing a mere candidate is no anomaly: the boundary was never found. */
	if (stream->sync == ISCSI_SYNC_KNOWN)
		iscsi_report_anomaly(w, ANOMALY_ISCSI_SYNC_LOST);
	stream->read_state = ISCSI_READ_RESYNC;
	stream->sync = ISCSI_SYNC_KNOWN;
	stream->expect_login = false;
	memset(&stream->text, 0, sizeof stream->text);
	connection->login_unseen |= !connection->full_feature;
	/* Digest use that was inferred may have been inferred wrongly. */
	if (!iscsi_login_is_known(connection))
		connection->digest_use[0] = connection->digest_use[1] = ISCSI_DIGEST_UNKNOWN;
}

/* --- the end of a PDU --- */

static bool
iscsi_pdu_has_text(const struct iscsi_pdu *pdu)
{
	uint8_t kind = pdu->opcode & 0x1f;

	return kind == ISCSI_LOGIN_REQUEST || kind == ISCSI_TEXT_REQUEST;
}

static void
iscsi_finish_pdu(struct iscsi_reader_ctx *w)
{
	struct iscsi_stream *stream = w->side;
	struct iscsi_message message = {.pdu = &stream->pdu, .session = w->session};

	/* A candidate is not reported: only the header behind it can prove it. */
	if (!stream->suppress && stream->sync == ISCSI_SYNC_KNOWN) {
		stream->resync_bytes = 0;
		if (iscsi_pdu_has_text(&stream->pdu))
			iscsi_finish_text(w);
		if (iscsi_opcode_is_login(stream->pdu.opcode))
			iscsi_process_login_pdu(w);
		w->app_ctx->on_message(w->app_ctx->context, w->sender, &message);
	}
	iscsi_expect_header(stream);
}

/* --- digests --- */

static enum iscsi_digest_use
iscsi_current_digest_use(const struct iscsi_reader_ctx *w, enum iscsi_digest_kind kind)
{
	return iscsi_digest_use_for(w->session, w->side->header[0] & 0x3f, kind);
}

/* Four digest bytes are complete.  Checks them; if digest use is unknown, this decides it.  True if the digest
 * matches. */
static bool
iscsi_verify_digest(struct iscsi_reader_ctx *w, enum iscsi_digest_kind kind)
{
	struct iscsi_stream *stream = w->side;
	bool holds = iscsi_digest_is_valid(stream->crc, (struct slice){stream->digest, stream->digest_have});

	if (w->session->digest_use[kind] == ISCSI_DIGEST_UNKNOWN)
		w->session->digest_use[kind] = holds ? ISCSI_DIGEST_ON : ISCSI_DIGEST_OFF;
	return holds;
}

/* Takes the next bytes of a digest; true when all four are there. */
static bool
iscsi_collect_digest(struct iscsi_stream *stream, struct slice bytes, uint32_t *taken)
{
	uint32_t n = ISCSI_DIGEST_LEN - stream->digest_have;

	*taken = n < bytes.len ? n : bytes.len;
	slice_copy(bytes, 0, stream->digest + stream->digest_have, *taken);
	stream->digest_have = (uint8_t)(stream->digest_have + *taken);
	return stream->digest_have == ISCSI_DIGEST_LEN;
}

/* The four bytes were not a digest: parse them as what follows. */
static void
iscsi_reparse_digest(struct iscsi_reader_ctx *w)
{
	uint8_t bytes[ISCSI_DIGEST_LEN];

	memcpy(bytes, w->side->digest, sizeof bytes);
	iscsi_parse_bytes(w, (struct slice){bytes, sizeof bytes});
}

/* --- data --- */

/* `more`: the TCP segment continues behind the data. */
static void
iscsi_begin_data_digest(struct iscsi_reader_ctx *w, bool more)
{
	struct iscsi_stream *stream = w->side;
	enum iscsi_digest_use use = iscsi_current_digest_use(w, ISCSI_DATA_DIGEST);

	/* A data digest exists only if there is data (section 11.2.1.5). */
	if (stream->pdu.data_length == 0)
		use = ISCSI_DIGEST_OFF;
	/* A sender that uses digests passes the whole PDU to TCP in one piece, so a PDU whose data ends with the
	 * segment has no digest. */
	if (use == ISCSI_DIGEST_UNKNOWN && !more && !stream->data_missing)
		use = w->session->digest_use[ISCSI_DATA_DIGEST] = ISCSI_DIGEST_OFF;
	if (use == ISCSI_DIGEST_OFF) {
		iscsi_finish_pdu(w);
		return;
	}
	stream->digest_have = 0;
	stream->read_state = ISCSI_READ_DATA_DIGEST;
	if (use == ISCSI_DIGEST_ON || !stream->data_missing)
		return;
	/* Part of the data is missing, so the digest cannot be checked and the next boundary is unknown. */
	iscsi_finish_pdu(w);
	iscsi_lose_sync(w);
}

static uint32_t
iscsi_read_data(struct iscsi_reader_ctx *w, struct slice bytes)
{
	struct iscsi_stream *stream = w->side;
	struct slice part = slice_sub(bytes, 0, stream->data_left);

	if (iscsi_current_digest_use(w, ISCSI_DATA_DIGEST) != ISCSI_DIGEST_OFF && !stream->data_missing)
		stream->crc = iscsi_digest_update(stream->crc, part);
	if (stream->text_left > 0) {
		struct slice text = slice_sub(part, 0, stream->text_left);

		if (!stream->suppress && !stream->data_missing && stream->sync == ISCSI_SYNC_KNOWN)
			iscsi_feed_text(w, text);
		stream->text_left -= text.len;
	}
	stream->data_left -= part.len;
	if (stream->data_left == 0)
		iscsi_begin_data_digest(w, bytes.len > part.len);
	return part.len;
}

static uint32_t
iscsi_read_data_digest(struct iscsi_reader_ctx *w, struct slice bytes)
{
	struct iscsi_stream *stream = w->side;
	bool known = iscsi_current_digest_use(w, ISCSI_DATA_DIGEST) == ISCSI_DIGEST_ON;
	uint32_t taken;

	if (!iscsi_collect_digest(stream, bytes, &taken))
		return taken;
	if (stream->data_missing || iscsi_verify_digest(w, ISCSI_DATA_DIGEST)) {
		iscsi_finish_pdu(w);
		return taken;
	}
	if (known) {
		/* The receiver rejects a PDU with a wrong data digest and ignores its content (section 7.8). */
		iscsi_report_anomaly(w, ANOMALY_ISCSI_DATA_DIGEST);
		stream->suppress = true;
	}
	iscsi_finish_pdu(w);
	if (!known)
		iscsi_reparse_digest(w);
	return taken;
}

static void
iscsi_begin_data(struct iscsi_reader_ctx *w, bool more)
{
	struct iscsi_stream *stream = w->side;

	stream->data_left = iscsi_pad_length(stream->pdu.data_length);
	stream->text_left = iscsi_pdu_has_text(&stream->pdu) ? stream->pdu.data_length : 0;
	stream->crc = ISCSI_DIGEST_BEGIN;
	stream->read_state = ISCSI_READ_DATA;
	if (stream->data_left == 0)
		iscsi_begin_data_digest(w, more);
}

/* --- the header --- */

/* Checks a complete basic header.  False if it cannot be one. */
static bool
iscsi_validate_header(struct iscsi_reader_ctx *w)
{
	struct iscsi_stream *stream = w->side;
	uint8_t opcode = slice_u8(iscsi_header_view(stream), 0) & 0x3f;
	enum anomaly wrong;

	if (stream->expect_login && opcode != (w->from_target ? ISCSI_LOGIN_RESPONSE : ISCSI_LOGIN_REQUEST)) {
		iscsi_report_anomaly(w, ANOMALY_ISCSI_NOT_ISCSI);
		w->session->not_iscsi = true;
		w->session->stream[0].read_state = w->session->stream[1].read_state = ISCSI_READ_NOTHING;
		return false;
	}
	wrong = iscsi_validate_bhs(iscsi_header_view(stream), w->from_target, stream->data_max);
	if (wrong != ANOMALY_NONE && stream->sync == ISCSI_SYNC_KNOWN)
		iscsi_report_anomaly(w, wrong);
	/* If the login does not say whether digests are used, require the reserved bits to be right as well. */
	if (wrong == ANOMALY_NONE &&
	    ((stream->sync == ISCSI_SYNC_KNOWN && iscsi_login_is_known(w->session)) || stream->expect_login ||
	     iscsi_bhs_is_plausible(iscsi_header_view(stream), w->from_target, stream->data_max))) {
		stream->expect_login = false;
		if (!iscsi_opcode_is_login(opcode) && stream->sync == ISCSI_SYNC_KNOWN)
			iscsi_assume_full_feature(w->session);
		return true;
	}
	iscsi_lose_sync(w);
	return false;
}

/* The whole header and its digest have been read. */
static void
iscsi_accept_header(struct iscsi_reader_ctx *w, bool more)
{
	struct iscsi_stream *stream = w->side;
	enum anomaly wrong = iscsi_parse_header(iscsi_header_view(stream), &stream->pdu);

	if (wrong != ANOMALY_NONE) {
		iscsi_report_anomaly(w, wrong);
		stream->suppress = true;
	}
	iscsi_begin_data(w, more);
}

static void
iscsi_finish_header(struct iscsi_reader_ctx *w, bool more)
{
	struct iscsi_stream *stream = w->side;
	enum iscsi_digest_use use = iscsi_current_digest_use(w, ISCSI_HEADER_DIGEST);

	/* As in iscsi_begin_data_digest(). */
	if (use == ISCSI_DIGEST_UNKNOWN && !more && iscsi_data_length(iscsi_header_view(stream)) == 0)
		use = w->session->digest_use[ISCSI_HEADER_DIGEST] = ISCSI_DIGEST_OFF;
	if (use == ISCSI_DIGEST_OFF) {
		iscsi_accept_header(w, more);
		return;
	}
	stream->crc = iscsi_digest_update(ISCSI_DIGEST_BEGIN, iscsi_header_view(stream));
	stream->digest_have = 0;
	stream->read_state = ISCSI_READ_HEADER_DIGEST;
}

static uint32_t
iscsi_read_header_digest(struct iscsi_reader_ctx *w, struct slice bytes)
{
	bool known = iscsi_current_digest_use(w, ISCSI_HEADER_DIGEST) == ISCSI_DIGEST_ON;
	uint32_t taken;

	if (!iscsi_collect_digest(w->side, bytes, &taken))
		return taken;
	if (iscsi_verify_digest(w, ISCSI_HEADER_DIGEST)) {
		if (!known || iscsi_validate_header(w))
			iscsi_accept_header(w, bytes.len > taken);
	} else if (known) {
		/* With a wrong header digest no field is reliable, not even the length (section 7.7). */
		iscsi_report_anomaly(w, ANOMALY_ISCSI_HEADER_DIGEST);
		iscsi_lose_sync(w);
	} else {
		iscsi_accept_header(w, true);
		iscsi_reparse_digest(w);
	}
	return taken;
}

/* The header behind a candidate proves it. */
static void
iscsi_confirm_candidate(struct iscsi_reader_ctx *w)
{
	struct iscsi_stream *stream = w->side;

	if (stream->sync == ISCSI_SYNC_KNOWN)
		return;
	stream->sync--;
	if (stream->sync == ISCSI_SYNC_KNOWN)
		iscsi_report_anomaly(w, ANOMALY_ISCSI_SYNC_FOUND);
}

static uint32_t
iscsi_read_header(struct iscsi_reader_ctx *w, struct slice bytes)
{
	struct iscsi_stream *stream = w->side;
	uint32_t whole = stream->header_have < ISCSI_BHS_LEN
			     ? ISCSI_BHS_LEN
			     : ISCSI_BHS_LEN + iscsi_ahs_length(iscsi_header_view(stream));
	uint32_t n = whole - stream->header_have < bytes.len ? whole - stream->header_have : bytes.len;

	slice_copy(bytes, 0, stream->header + stream->header_have, n);
	stream->header_have = (uint16_t)(stream->header_have + n);
	if (stream->header_have < whole)
		return n;
	if (whole == ISCSI_BHS_LEN) {
		/* With a digest, check the digest before the header. */
		if (iscsi_current_digest_use(w, ISCSI_HEADER_DIGEST) != ISCSI_DIGEST_ON && !iscsi_validate_header(w))
			return n;
		if (iscsi_ahs_length(iscsi_header_view(stream)) > 0)
			return n;
	}
	iscsi_confirm_candidate(w);
	iscsi_finish_header(w, bytes.len > n);
	return n;
}

void
iscsi_parse_bytes(struct iscsi_reader_ctx *w, struct slice bytes)
{
	uint32_t done = 0;

	while (done < bytes.len) {
		struct slice rest = slice_sub(bytes, done, bytes.len);

		switch ((enum iscsi_read_state)w->side->read_state) {
		case ISCSI_READ_HEADER:
			done += iscsi_read_header(w, rest);
			break;
		case ISCSI_READ_HEADER_DIGEST:
			done += iscsi_read_header_digest(w, rest);
			break;
		case ISCSI_READ_DATA:
			done += iscsi_read_data(w, rest);
			break;
		case ISCSI_READ_DATA_DIGEST:
			done += iscsi_read_data_digest(w, rest);
			break;
		case ISCSI_READ_RESYNC:
			done += iscsi_resync(w, rest);
			break;
		case ISCSI_READ_NOTHING:
			return;
		}
	}
}

/* --- gaps --- */

/* Bytes missing from the data and its digest do no harm, as long as the end of the PDU is known. */
static void
iscsi_skip_gap(struct iscsi_reader_ctx *w, uint32_t length)
{
	struct iscsi_stream *stream = w->side;
	uint32_t n;

	if (stream->read_state == ISCSI_READ_DATA) {
		n = length < stream->data_left ? length : stream->data_left;
		stream->data_missing = true;
		stream->data_left -= n;
		stream->text_left -= n < stream->text_left ? n : stream->text_left;
		length -= n;
		if (stream->data_left == 0)
			iscsi_begin_data_digest(w, true);
	}
	if (length > 0 && stream->read_state == ISCSI_READ_DATA_DIGEST) {
		n = ISCSI_DIGEST_LEN - stream->digest_have;
		n = length < n ? length : n;
		stream->data_missing = true;
		stream->digest_have = (uint8_t)(stream->digest_have + n);
		length -= n;
		if (iscsi_current_digest_use(w, ISCSI_DATA_DIGEST) == ISCSI_DIGEST_UNKNOWN) {
			iscsi_finish_pdu(w);
			iscsi_lose_sync(w);
		} else if (stream->digest_have == ISCSI_DIGEST_LEN) {
			iscsi_finish_pdu(w);
		}
	}
	if (length > 0 && stream->read_state != ISCSI_READ_RESYNC && stream->read_state != ISCSI_READ_NOTHING)
		iscsi_lose_sync(w);
}

/* --- the reader --- */

static struct iscsi_reader_ctx
iscsi_reader_ctx_init(struct app_context *ctx, unsigned sender)
{
	struct iscsi_connection *connection = ctx->state;

	return (struct iscsi_reader_ctx){.app_ctx = ctx,
					 .session = connection,
					 .side = &connection->stream[sender],
					 .sender = sender,
					 .from_target = sender == ctx->server_endpoint};
}

static void
iscsi_on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	struct iscsi_reader_ctx w = iscsi_reader_ctx_init(ctx, sender);
	struct iscsi_connection *connection = w.session;

	if (connection->not_iscsi)
		return;
	memset(w.side, 0, sizeof *w.side);
	if (beginning) {
		connection->from_start = true;
		w.side->read_state = ISCSI_READ_HEADER;
		w.side->expect_login = true;
		w.side->data_max = ISCSI_LOGIN_DATA_MAX;
		return;
	}
	if (!connection->full_feature) {
		connection->login_unseen = true;
		iscsi_assume_full_feature(connection);
	}
	w.side->data_max = iscsi_max_data_len(connection, 1 - sender);
	w.side->read_state = ISCSI_READ_RESYNC;
}

static void
iscsi_on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	struct iscsi_reader_ctx w = iscsi_reader_ctx_init(ctx, sender);

	iscsi_parse_bytes(&w, bytes);
}

static void
iscsi_on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	struct iscsi_reader_ctx w = iscsi_reader_ctx_init(ctx, sender);

	iscsi_skip_gap(&w, length);
}

static bool
iscsi_needs_bytes(const void *state)
{
	const struct iscsi_connection *connection = state;

	return !connection->full_feature && !connection->not_iscsi;
}

static bool
iscsi_is_reading(const void *state, unsigned sender)
{
	const struct iscsi_connection *connection = state;

	return connection->stream[sender].read_state != ISCSI_READ_NOTHING;
}

const struct app_reader iscsi_reader = {
    .state_size = sizeof(struct iscsi_connection),
    .on_start = iscsi_on_start,
    .on_bytes = iscsi_on_bytes,
    .on_gap = iscsi_on_gap,
    .needs_bytes = iscsi_needs_bytes,
    .is_reading = iscsi_is_reading,
};
