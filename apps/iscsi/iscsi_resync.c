/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a PDU boundary in mid-stream and after a gap.
 *
 * Of the 384 bits of a basic header, 30 to 200 are fixed, depending on the kind.  A run of bytes in which all of them
 * are right is a candidate.  It is accepted at once if the digest behind it matches, if the PDU ends where its segment
 * ends, or if another valid header follows in the same segment.  If its data continues in later segments it is
 * tentative: the PDU is not reported, and the search continues unless a valid header follows.
 */
#include "apps/iscsi/iscsi_reader.h"

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

uint32_t
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
