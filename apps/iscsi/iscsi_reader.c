/* SPDX-License-Identifier: BSD-2-Clause */
/* The byte streams of an iSCSI connection to PDUs. */
#include "apps/iscsi/iscsi.h"

#include <string.h>

/* Arguments of the reader's functions, for one direction. */
struct iscsi_reader_ctx {
	struct app_context *app_ctx;
	struct iscsi_connection *connection;
	struct iscsi_stream *stream; /* the direction of `sender` */
	unsigned sender;
	bool from_target;
	unsigned effort, effort_max; /* of the search for a boundary in these bytes (iscsi_resync()) */
};

static void
iscsi_report_anomaly(const struct iscsi_reader_ctx *ctx, enum anomaly a)
{
	ctx->app_ctx->on_anomaly(ctx->app_ctx->context, a);
}

/*
 * Most effort of the searches in `length` bytes: a header that is examined is 1, and so are 16 bytes whose digest is
 * computed.  Arbitrary data has a possible header in about 200 bytes; where an attacker puts more, the rest is not
 * searched.
 */
static unsigned
iscsi_search_effort_max(uint32_t length)
{
	return 64 + length / 16;
}

static bool
iscsi_opcode_is_login(uint8_t opcode)
{
	return (opcode & 0x1f) == ISCSI_LOGIN_REQUEST;
}

/* Whether this kind of PDU carries a digest.  Login PDUs never do (section 6.2.1). */
static enum iscsi_digest_use
iscsi_digest_use_for(const struct iscsi_connection *connection, uint8_t opcode, enum iscsi_digest_kind kind)
{
	if (!connection->full_feature || iscsi_opcode_is_login(opcode))
		return ISCSI_DIGEST_OFF;
	return (enum iscsi_digest_use)connection->digest_use[kind];
}

/* Whether digest use is known from the login. */
static bool
iscsi_login_is_known(const struct iscsi_connection *connection)
{
	return connection->from_start && !connection->login_unseen;
}

/* --- Results of a login (RFC 7143 sections 6 and 13): names, digests, lengths. --- */

/* Records a digest key: the first value of an offer, or the value chosen in the answer.  The answer comes last and
 * overwrites the offer (section 6.2.1). */
static void
iscsi_login_set_digest(struct iscsi_connection *connection, enum iscsi_digest_kind kind, const char *value)
{
	if (strncmp(value, "CRC32C", 6) == 0)
		connection->digest_offer[kind] = ISCSI_DIGEST_ON;
	else if (strncmp(value, "None", 4) == 0)
		connection->digest_offer[kind] = ISCSI_DIGEST_OFF;
}

/* A number in decimal or hexadecimal (section 6.1); 0 if it is malformed or too large. */
static uint32_t
iscsi_parse_number(const char *value)
{
	unsigned base = value[0] == '0' && (value[1] | 0x20) == 'x' ? 16 : 10;
	uint32_t number = 0;

	for (const char *at = base == 16 ? value + 2 : value; *at != '\0'; at++) {
		unsigned digit = *at >= '0' && *at <= '9' ? (unsigned)(*at - '0') : (unsigned)((*at | 0x20) - 'a') + 10;

		if (digit >= base || number > ISCSI_DATA_MAX)
			return 0;
		number = number * base + digit;
	}
	return number <= ISCSI_DATA_MAX ? number : 0;
}

static void
iscsi_login_set_name(struct iscsi_reader_ctx *ctx, char name[ISCSI_NAME_MAX + 1], const char *value)
{
	size_t length = strlen(value);

	if (length == 0 || length > ISCSI_NAME_MAX) {
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_TEXT);
		return;
	}
	memcpy(name, value, length);
	memset(name + length, 0, ISCSI_NAME_MAX + 1 - length);
}

/* The most data that a PDU to endpoint `receiver` may have.  The default limit is 8192 bytes (section 13.12). */
static uint32_t
iscsi_max_data_len(const struct iscsi_connection *connection, unsigned receiver)
{
	uint32_t declared = connection->max_recv_data[receiver];

	if (!iscsi_login_is_known(connection))
		return ISCSI_DATA_MAX;
	return declared > 8192 ? declared : 8192;
}

/* An attacker can send a pair in every 4 bytes: most keys are told apart by their first letter. */
static void
iscsi_handle_text_pair(void *context, const char *key, const char *value)
{
	struct iscsi_reader_ctx *ctx = context;
	struct iscsi_connection *connection = ctx->connection;
	bool login = iscsi_opcode_is_login(ctx->stream->pdu.opcode);

	switch (key[0]) {
	case 'M': /* the only relevant key that a text PDU may change too */
		if (strcmp(key, "MaxRecvDataSegmentLength") != 0)
			return;
		connection->max_recv_data[ctx->sender] = iscsi_parse_number(value);
		if (connection->full_feature)
			connection->stream[1 - ctx->sender].data_max = iscsi_max_data_len(connection, ctx->sender);
		return;
	case 'I':
		if (login && !ctx->from_target && strcmp(key, "InitiatorName") == 0)
			iscsi_login_set_name(ctx, connection->initiator, value);
		return;
	case 'T':
		if (login && !ctx->from_target && strcmp(key, "TargetName") == 0)
			iscsi_login_set_name(ctx, connection->target, value);
		return;
	case 'H':
		if (login && strcmp(key, "HeaderDigest") == 0)
			iscsi_login_set_digest(connection, ISCSI_HEADER_DIGEST, value);
		return;
	case 'D':
		if (login && strcmp(key, "DataDigest") == 0)
			iscsi_login_set_digest(connection, ISCSI_DATA_DIGEST, value);
		return;
	default:
		return;
	}
}

/* Text of a login or text PDU; the end of such a PDU. */
static void
iscsi_feed_text(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	if (!iscsi_text_feed(&ctx->stream->text, bytes, iscsi_handle_text_pair, ctx))
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_TEXT);
}

/* --- additional connections of a session --- */

/* Key of a session in the index: ISID and TSIH, which is not 0. */
static uint64_t
iscsi_session_key(const struct iscsi_connection *connection)
{
	uint64_t key = connection->tsih;

	for (unsigned i = 0; i < sizeof connection->isid; i++)
		key |= (uint64_t)connection->isid[i] << (16 + 8 * i);
	return key;
}

/* A login PDU of an additional connection does not repeat the names. */
static void
iscsi_copy_session_names(const struct app_context *ctx, struct iscsi_connection *connection)
{
	const struct iscsi_connection *other = app_flow_index_find(ctx, iscsi_session_key(connection));

	if (other == NULL)
		return;
	memcpy(connection->target, other->target, sizeof connection->target);
	memcpy(connection->initiator, other->initiator, sizeof connection->initiator);
}

/* --- the end of the login --- */

static void
iscsi_enter_full_feature(struct iscsi_connection *connection)
{
	connection->full_feature = true;
	for (unsigned kind = 0; kind < 2; kind++) {
		if (connection->digest_use[kind] != ISCSI_DIGEST_UNKNOWN)
			continue;
		if (iscsi_login_is_known(connection))
			connection->digest_use[kind] =
			    connection->digest_offer[kind] == ISCSI_DIGEST_ON ? ISCSI_DIGEST_ON : ISCSI_DIGEST_OFF;
	}
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		connection->stream[endpoint].data_max = iscsi_max_data_len(connection, 1 - endpoint);
}

/* A PDU that is valid only after the login, whose end was not captured. */
static void
iscsi_assume_full_feature(struct iscsi_connection *connection)
{
	if (connection->full_feature)
		return;
	/* The answer was not captured, so it is unknown whether the offer was accepted. */
	connection->login_unseen |=
	    connection->digest_offer[0] == ISCSI_DIGEST_ON || connection->digest_offer[1] == ISCSI_DIGEST_ON;
	iscsi_enter_full_feature(connection);
}

static void
iscsi_finish_text(struct iscsi_reader_ctx *ctx)
{
	if ((ctx->stream->pdu.flags & ISCSI_CONTINUE) != 0)
		return;
	if (!iscsi_text_end(&ctx->stream->text) && !ctx->stream->data_missing)
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_TEXT);
}

/* A complete login PDU. */
static void
iscsi_process_login_pdu(struct iscsi_reader_ctx *ctx)
{
	struct iscsi_connection *connection = ctx->connection;
	const struct iscsi_pdu *pdu = &ctx->stream->pdu;
	bool continues = (pdu->flags & ISCSI_CONTINUE) != 0;

	if (ctx->stream->data_missing)
		connection->login_unseen = true;
	memcpy(connection->isid, pdu->isid, sizeof connection->isid);
	if (pdu->tsih != 0)
		connection->tsih = pdu->tsih;
	if (connection->initiator[0] == '\0' && connection->tsih != 0 && !continues)
		iscsi_copy_session_names(ctx->app_ctx, connection);
	if (ctx->from_target && pdu->status < 0x100 && (pdu->flags & ISCSI_LOGIN_TRANSIT) != 0 &&
	    (pdu->flags & 3) == ISCSI_FULL_FEATURE)
		iscsi_enter_full_feature(connection);
	if (connection->full_feature && connection->tsih != 0 && connection->initiator[0] != '\0')
		app_flow_index_set(ctx->app_ctx, iscsi_session_key(connection));
}

/*
 * Finds a PDU boundary in mid-stream and after a gap.
 *
 * Of the 384 bits of a basic header, 30 to 200 are fixed, depending on the kind.  A run of bytes in which all of them
 * are right is a candidate.  It is accepted at once if the digest after it matches, if the PDU ends where its segment
 * ends, or if another valid header follows in the same segment.  If its data continues in later segments it is
 * tentative: the PDU is not reported, and the search continues unless a valid header follows.
 */

enum iscsi_confidence {
	CONFIDENCE_NONE,
	CONFIDENCE_TENTATIVE,
	CONFIDENCE_SURE,
};

/* Whether the header at offset `at` is followed by its digest. */
static bool
iscsi_header_digest_follows(struct slice bytes, uint32_t at, uint32_t length)
{
	uint32_t crc = iscsi_digest_update(ISCSI_DIGEST_BEGIN, slice_sub(bytes, at, length));

	return iscsi_digest_is_valid(crc, slice_sub(bytes, at + length, ISCSI_DIGEST_LEN));
}

/* Whether a plausible header is at offset `at`.  A header with more data than ISCSI_RESYNC_MAX is not accepted. */
static bool
iscsi_is_plausible_header(const struct iscsi_reader_ctx *ctx, struct slice bytes, uint32_t at)
{
	uint32_t limit = ctx->stream->data_max < ISCSI_RESYNC_MAX ? ctx->stream->data_max : ISCSI_RESYNC_MAX;

	return iscsi_bhs_is_plausible(slice_sub(bytes, at, ISCSI_BHS_LEN), ctx->from_target, limit);
}

/* Decides by what follows the PDU in this segment: nothing, another valid header, or something else. */
static enum iscsi_confidence
iscsi_check_candidate_end(const struct iscsi_reader_ctx *ctx, struct slice bytes, uint32_t end)
{
	if (end == bytes.len)
		return CONFIDENCE_SURE;
	if (end > bytes.len)
		return CONFIDENCE_TENTATIVE;
	if (bytes.len - end < ISCSI_BHS_LEN)
		return CONFIDENCE_NONE;
	return iscsi_is_plausible_header(ctx, bytes, end) ? CONFIDENCE_SURE : CONFIDENCE_NONE;
}

static enum iscsi_confidence
iscsi_check_candidate(struct iscsi_reader_ctx *ctx, struct slice bytes, uint32_t at)
{
	struct slice bhs = slice_sub(bytes, at, ISCSI_BHS_LEN);
	const struct iscsi_connection *connection = ctx->connection;
	uint8_t opcode = slice_u8(bhs, 0) & 0x3f;
	enum iscsi_digest_use use = iscsi_digest_use_for(connection, opcode, ISCSI_HEADER_DIGEST);
	uint32_t header, data;
	enum iscsi_confidence best, other;

	if (!iscsi_is_plausible_header(ctx, bytes, at))
		return CONFIDENCE_NONE;
	header = ISCSI_BHS_LEN + iscsi_ahs_length(bhs);
	data = iscsi_pad_length(iscsi_data_length(bhs));
	if (use != ISCSI_DIGEST_OFF) {
		ctx->effort += header / 16;
		if (iscsi_header_digest_follows(bytes, at, header))
			return CONFIDENCE_SURE;
	}
	if (use == ISCSI_DIGEST_ON)
		return CONFIDENCE_NONE;
	best = iscsi_check_candidate_end(ctx, bytes, at + header + data);
	if (best != CONFIDENCE_SURE && data > 0 &&
	    iscsi_digest_use_for(connection, opcode, ISCSI_DATA_DIGEST) != ISCSI_DIGEST_OFF) {
		other = iscsi_check_candidate_end(ctx, bytes, at + header + data + ISCSI_DIGEST_LEN);
		best = other > best ? other : best;
	}
	return best;
}

static void
iscsi_accept_candidate(struct iscsi_reader_ctx *ctx, enum iscsi_confidence confidence)
{
	struct iscsi_stream *stream = ctx->stream;

	stream->sync = confidence == CONFIDENCE_TENTATIVE ? ISCSI_SYNC_CANDIDATE : ISCSI_SYNC_KNOWN;
	stream->suppress = false;
	stream->data_missing = false;
	stream->read_state = ISCSI_READ_HEADER;
	stream->header_have = 0;
	if (confidence == CONFIDENCE_SURE)
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_SYNC_FOUND);
}

/* Searches for a boundary.  Returns the number of bytes before it, or of all bytes if there is none. */
static uint32_t
iscsi_resync(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	struct iscsi_stream *stream = ctx->stream;
	uint32_t at = 0;

	while (ctx->effort < ctx->effort_max && (at = iscsi_bhs_search(bytes, at, ctx->from_target)) < bytes.len) {
		enum iscsi_confidence confidence = iscsi_check_candidate(ctx, bytes, at);

		if (confidence != CONFIDENCE_NONE) {
			iscsi_accept_candidate(ctx, confidence);
			return at;
		}
		at++;
		if (++ctx->effort >= ctx->effort_max)
			iscsi_report_anomaly(ctx, ANOMALY_ISCSI_SEARCH_LIMIT);
	}
	stream->resync_bytes += bytes.len;
	if (stream->resync_bytes > ISCSI_RESYNC_MAX) {
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_SYNC_GIVEN_UP);
		stream->read_state = ISCSI_READ_NOTHING;
	}
	return bytes.len;
}

/* Splits a byte stream into iSCSI PDUs. */

static struct slice
iscsi_header_slice(const struct iscsi_stream *stream)
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

/* The boundary is lost; start a search. */
static void
iscsi_lose_sync(struct iscsi_reader_ctx *ctx)
{
	struct iscsi_connection *connection = ctx->connection;
	struct iscsi_stream *stream = ctx->stream;

	/* Losing a mere candidate is not an anomaly: the boundary was never found. */
	if (stream->sync == ISCSI_SYNC_KNOWN)
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_SYNC_LOST);
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
iscsi_finish_pdu(struct iscsi_reader_ctx *ctx)
{
	struct iscsi_stream *stream = ctx->stream;
	struct iscsi_message message = {.pdu = &stream->pdu, .connection = ctx->connection};

	/* A candidate is not reported: only the header after it can prove it. */
	if (!stream->suppress && stream->sync == ISCSI_SYNC_KNOWN) {
		stream->resync_bytes = 0;
		if (iscsi_pdu_has_text(&stream->pdu))
			iscsi_finish_text(ctx);
		if (iscsi_opcode_is_login(stream->pdu.opcode))
			iscsi_process_login_pdu(ctx);
		app_flow_report(ctx->app_ctx, ctx->sender, &message);
	}
	iscsi_expect_header(stream);
}

/* --- digests --- */

static enum iscsi_digest_use
iscsi_current_digest_use(const struct iscsi_reader_ctx *ctx, enum iscsi_digest_kind kind)
{
	return iscsi_digest_use_for(ctx->connection, ctx->stream->header[0] & 0x3f, kind);
}

/* Four digest bytes are complete.  Checks them; if digest use is unknown, this decides it.  True if the digest
 * matches. */
static bool
iscsi_verify_digest(struct iscsi_reader_ctx *ctx, enum iscsi_digest_kind kind)
{
	struct iscsi_stream *stream = ctx->stream;
	bool valid = iscsi_digest_is_valid(stream->crc, (struct slice){stream->digest, stream->digest_have});

	if (ctx->connection->digest_use[kind] == ISCSI_DIGEST_UNKNOWN)
		ctx->connection->digest_use[kind] = valid ? ISCSI_DIGEST_ON : ISCSI_DIGEST_OFF;
	return valid;
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

static void iscsi_parse_bytes(struct iscsi_reader_ctx *ctx, struct slice bytes);

/* The four bytes were not a digest: parse them as what follows. */
static void
iscsi_reparse_digest(struct iscsi_reader_ctx *ctx)
{
	uint8_t bytes[ISCSI_DIGEST_LEN];

	memcpy(bytes, ctx->stream->digest, sizeof bytes);
	iscsi_parse_bytes(ctx, (struct slice){bytes, sizeof bytes});
}

/* --- data --- */

/* `more`: the TCP segment continues after the data. */
static void
iscsi_begin_data_digest(struct iscsi_reader_ctx *ctx, bool more)
{
	struct iscsi_stream *stream = ctx->stream;
	enum iscsi_digest_use use = iscsi_current_digest_use(ctx, ISCSI_DATA_DIGEST);

	/* A data digest exists only if there is data (section 11.2.1.5). */
	if (stream->pdu.data_length == 0)
		use = ISCSI_DIGEST_OFF;
	/* A sender that uses digests passes the whole PDU to TCP in one piece, so a PDU whose data ends with the
	 * segment has no digest. */
	if (use == ISCSI_DIGEST_UNKNOWN && !more && !stream->data_missing)
		use = ctx->connection->digest_use[ISCSI_DATA_DIGEST] = ISCSI_DIGEST_OFF;
	if (use == ISCSI_DIGEST_OFF) {
		iscsi_finish_pdu(ctx);
		return;
	}
	stream->digest_have = 0;
	stream->read_state = ISCSI_READ_DATA_DIGEST;
	if (use == ISCSI_DIGEST_ON || !stream->data_missing)
		return;
	/* Part of the data is missing, so the digest cannot be checked and the next boundary is unknown. */
	iscsi_finish_pdu(ctx);
	iscsi_lose_sync(ctx);
}

static uint32_t
iscsi_read_data(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	struct iscsi_stream *stream = ctx->stream;
	struct slice part = slice_sub(bytes, 0, stream->data_left);

	if (iscsi_current_digest_use(ctx, ISCSI_DATA_DIGEST) != ISCSI_DIGEST_OFF && !stream->data_missing)
		stream->crc = iscsi_digest_update(stream->crc, part);
	if (stream->text_left > 0) {
		struct slice text = slice_sub(part, 0, stream->text_left);

		if (!stream->suppress && !stream->data_missing && stream->sync == ISCSI_SYNC_KNOWN)
			iscsi_feed_text(ctx, text);
		stream->text_left -= text.len;
	}
	stream->data_left -= part.len;
	if (stream->data_left == 0)
		iscsi_begin_data_digest(ctx, bytes.len > part.len);
	return part.len;
}

static uint32_t
iscsi_read_data_digest(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	struct iscsi_stream *stream = ctx->stream;
	bool known = iscsi_current_digest_use(ctx, ISCSI_DATA_DIGEST) == ISCSI_DIGEST_ON;
	uint32_t taken;

	if (!iscsi_collect_digest(stream, bytes, &taken))
		return taken;
	if (stream->data_missing || iscsi_verify_digest(ctx, ISCSI_DATA_DIGEST)) {
		iscsi_finish_pdu(ctx);
		return taken;
	}
	if (known) {
		/* The receiver rejects a PDU with a wrong data digest and ignores its content (section 7.8). */
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_DATA_DIGEST);
		stream->suppress = true;
	}
	iscsi_finish_pdu(ctx);
	if (!known)
		iscsi_reparse_digest(ctx);
	return taken;
}

static void
iscsi_begin_data(struct iscsi_reader_ctx *ctx, bool more)
{
	struct iscsi_stream *stream = ctx->stream;

	stream->data_left = iscsi_pad_length(stream->pdu.data_length);
	stream->text_left = iscsi_pdu_has_text(&stream->pdu) ? stream->pdu.data_length : 0;
	stream->crc = ISCSI_DIGEST_BEGIN;
	stream->read_state = ISCSI_READ_DATA;
	if (stream->data_left == 0)
		iscsi_begin_data_digest(ctx, more);
}

/* --- the header --- */

/* Checks a complete basic header.  False if it cannot be one. */
static bool
iscsi_validate_header(struct iscsi_reader_ctx *ctx)
{
	struct iscsi_stream *stream = ctx->stream;
	uint8_t opcode = slice_u8(iscsi_header_slice(stream), 0) & 0x3f;
	enum anomaly anomaly;

	if (stream->expect_login && opcode != (ctx->from_target ? ISCSI_LOGIN_RESPONSE : ISCSI_LOGIN_REQUEST)) {
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_NOT_ISCSI);
		ctx->connection->not_iscsi = true;
		ctx->connection->stream[0].read_state = ctx->connection->stream[1].read_state = ISCSI_READ_NOTHING;
		return false;
	}
	anomaly = iscsi_validate_bhs(iscsi_header_slice(stream), ctx->from_target, stream->data_max);
	if (anomaly != ANOMALY_NONE && stream->sync == ISCSI_SYNC_KNOWN)
		iscsi_report_anomaly(ctx, anomaly);
	/* If the login does not say whether digests are used, require the reserved bits to be right as well. */
	if (anomaly == ANOMALY_NONE &&
	    ((stream->sync == ISCSI_SYNC_KNOWN && iscsi_login_is_known(ctx->connection)) || stream->expect_login ||
	     iscsi_bhs_is_plausible(iscsi_header_slice(stream), ctx->from_target, stream->data_max))) {
		stream->expect_login = false;
		if (!iscsi_opcode_is_login(opcode) && stream->sync == ISCSI_SYNC_KNOWN)
			iscsi_assume_full_feature(ctx->connection);
		return true;
	}
	iscsi_lose_sync(ctx);
	return false;
}

/* The whole header and its digest have been read. */
static void
iscsi_accept_header(struct iscsi_reader_ctx *ctx, bool more)
{
	struct iscsi_stream *stream = ctx->stream;
	enum anomaly anomaly = iscsi_parse_header(iscsi_header_slice(stream), &stream->pdu);

	if (anomaly != ANOMALY_NONE) {
		iscsi_report_anomaly(ctx, anomaly);
		stream->suppress = true;
	}
	iscsi_begin_data(ctx, more);
}

static void
iscsi_finish_header(struct iscsi_reader_ctx *ctx, bool more)
{
	struct iscsi_stream *stream = ctx->stream;
	enum iscsi_digest_use use = iscsi_current_digest_use(ctx, ISCSI_HEADER_DIGEST);

	/* As in iscsi_begin_data_digest(). */
	if (use == ISCSI_DIGEST_UNKNOWN && !more && iscsi_data_length(iscsi_header_slice(stream)) == 0)
		use = ctx->connection->digest_use[ISCSI_HEADER_DIGEST] = ISCSI_DIGEST_OFF;
	if (use == ISCSI_DIGEST_OFF) {
		iscsi_accept_header(ctx, more);
		return;
	}
	stream->crc = iscsi_digest_update(ISCSI_DIGEST_BEGIN, iscsi_header_slice(stream));
	stream->digest_have = 0;
	stream->read_state = ISCSI_READ_HEADER_DIGEST;
}

static uint32_t
iscsi_read_header_digest(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	bool known = iscsi_current_digest_use(ctx, ISCSI_HEADER_DIGEST) == ISCSI_DIGEST_ON;
	uint32_t taken;

	if (!iscsi_collect_digest(ctx->stream, bytes, &taken))
		return taken;
	if (iscsi_verify_digest(ctx, ISCSI_HEADER_DIGEST)) {
		if (!known || iscsi_validate_header(ctx))
			iscsi_accept_header(ctx, bytes.len > taken);
	} else if (known) {
		/* With a wrong header digest no field is reliable, not even the length (section 7.7). */
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_HEADER_DIGEST);
		iscsi_lose_sync(ctx);
	} else {
		iscsi_accept_header(ctx, true);
		iscsi_reparse_digest(ctx);
	}
	return taken;
}

/* A valid header was read: that of a candidate makes it unconfirmed, the one after it makes it known. */
static void
iscsi_confirm_candidate(struct iscsi_reader_ctx *ctx)
{
	struct iscsi_stream *stream = ctx->stream;

	if (stream->sync == ISCSI_SYNC_KNOWN)
		return;
	stream->sync--;
	if (stream->sync == ISCSI_SYNC_KNOWN)
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_SYNC_FOUND);
}

static uint32_t
iscsi_read_header(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	struct iscsi_stream *stream = ctx->stream;
	uint32_t whole = stream->header_have < ISCSI_BHS_LEN
			     ? ISCSI_BHS_LEN
			     : ISCSI_BHS_LEN + iscsi_ahs_length(iscsi_header_slice(stream));
	uint32_t n = whole - stream->header_have < bytes.len ? whole - stream->header_have : bytes.len;

	slice_copy(bytes, 0, stream->header + stream->header_have, n);
	stream->header_have = (uint16_t)(stream->header_have + n);
	if (stream->header_have < whole)
		return n;
	if (whole == ISCSI_BHS_LEN) {
		/* With a digest, check the digest before the header. */
		if (iscsi_current_digest_use(ctx, ISCSI_HEADER_DIGEST) != ISCSI_DIGEST_ON &&
		    !iscsi_validate_header(ctx))
			return n;
		if (iscsi_ahs_length(iscsi_header_slice(stream)) > 0)
			return n;
	}
	iscsi_confirm_candidate(ctx);
	iscsi_finish_header(ctx, bytes.len > n);
	return n;
}

/* Parses the next bytes. */
static void
iscsi_parse_bytes(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	uint32_t done = 0;

	while (done < bytes.len) {
		struct slice rest = slice_sub(bytes, done, bytes.len);

		switch ((enum iscsi_read_state)ctx->stream->read_state) {
		case ISCSI_READ_HEADER:
			done += iscsi_read_header(ctx, rest);
			break;
		case ISCSI_READ_HEADER_DIGEST:
			done += iscsi_read_header_digest(ctx, rest);
			break;
		case ISCSI_READ_DATA:
			done += iscsi_read_data(ctx, rest);
			break;
		case ISCSI_READ_DATA_DIGEST:
			done += iscsi_read_data_digest(ctx, rest);
			break;
		case ISCSI_READ_RESYNC:
			done += iscsi_resync(ctx, rest);
			break;
		case ISCSI_READ_NOTHING:
			return;
		}
	}
}

/* --- gaps --- */

/* Skips bytes missing from the data or its digest: the reader stays in step because the end of the PDU is known. */
static void
iscsi_skip_gap(struct iscsi_reader_ctx *ctx, uint32_t length)
{
	struct iscsi_stream *stream = ctx->stream;
	uint32_t n;

	if (stream->read_state == ISCSI_READ_DATA) {
		n = length < stream->data_left ? length : stream->data_left;
		stream->data_missing = true;
		stream->data_left -= n;
		stream->text_left -= n < stream->text_left ? n : stream->text_left;
		length -= n;
		if (stream->data_left == 0)
			iscsi_begin_data_digest(ctx, true);
	}
	if (length > 0 && stream->read_state == ISCSI_READ_DATA_DIGEST) {
		n = ISCSI_DIGEST_LEN - stream->digest_have;
		n = length < n ? length : n;
		stream->data_missing = true;
		stream->digest_have = (uint8_t)(stream->digest_have + n);
		length -= n;
		if (iscsi_current_digest_use(ctx, ISCSI_DATA_DIGEST) == ISCSI_DIGEST_UNKNOWN) {
			iscsi_finish_pdu(ctx);
			iscsi_lose_sync(ctx);
		} else if (stream->digest_have == ISCSI_DIGEST_LEN) {
			iscsi_finish_pdu(ctx);
		}
	}
	if (length > 0 && stream->read_state != ISCSI_READ_RESYNC && stream->read_state != ISCSI_READ_NOTHING)
		iscsi_lose_sync(ctx);
}

/* --- the reader --- */

static struct iscsi_reader_ctx
iscsi_reader_ctx_init(struct app_context *app_ctx, unsigned sender)
{
	struct iscsi_connection *connection = app_ctx->state;

	return (struct iscsi_reader_ctx){.app_ctx = app_ctx,
					 .connection = connection,
					 .stream = &connection->stream[sender],
					 .sender = sender,
					 .from_target = sender == app_ctx->server_endpoint};
}

static void
iscsi_on_start(struct app_context *app_ctx, unsigned sender, bool beginning)
{
	struct iscsi_reader_ctx ctx = iscsi_reader_ctx_init(app_ctx, sender);
	struct iscsi_connection *connection = ctx.connection;

	if (connection->not_iscsi)
		return;
	memset(ctx.stream, 0, sizeof *ctx.stream);
	if (beginning) {
		connection->from_start = true;
		ctx.stream->read_state = ISCSI_READ_HEADER;
		ctx.stream->expect_login = true;
		ctx.stream->data_max = ISCSI_LOGIN_DATA_MAX;
		return;
	}
	if (!connection->full_feature) {
		connection->login_unseen = true;
		iscsi_assume_full_feature(connection);
	}
	ctx.stream->data_max = iscsi_max_data_len(connection, 1 - sender);
	ctx.stream->read_state = ISCSI_READ_RESYNC;
}

static void
iscsi_on_bytes(struct app_context *app_ctx, unsigned sender, struct slice bytes)
{
	struct iscsi_reader_ctx ctx = iscsi_reader_ctx_init(app_ctx, sender);

	ctx.effort_max = iscsi_search_effort_max(bytes.len);
	iscsi_parse_bytes(&ctx, bytes);
}

static void
iscsi_on_gap(struct app_context *app_ctx, unsigned sender, uint32_t length)
{
	struct iscsi_reader_ctx ctx = iscsi_reader_ctx_init(app_ctx, sender);

	iscsi_skip_gap(&ctx, length);
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
    .connections_max = 1024,
    .history_size = 8192,
    .on_start = iscsi_on_start,
    .on_bytes = iscsi_on_bytes,
    .on_gap = iscsi_on_gap,
    .needs_bytes = iscsi_needs_bytes,
    .is_reading = iscsi_is_reading,
};
