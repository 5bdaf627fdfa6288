/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a PDU boundary in mid-stream.
 *
 * Of the 384 bits of a basic header, 30 to 200 are fixed, depending on the kind.  A run of bytes in which all of them
 * are right is a candidate.  It is accepted at once if the digest behind it matches, if the PDU ends where its segment
 * ends, or if another valid header follows in the same segment.  If its data continues in later segments it is
 * tentative: the PDU is not reported, and the search continues unless a valid header follows.
 */
#include "apps/iscsi/iscsi_reader.h"

enum belief {
	BELIEF_NONE,
	BELIEF_TENTATIVE,
	BELIEF_SURE,
};

/* Whether the header at `at` is followed by its CRC. */
static bool
digest_follows(struct view bytes, uint32_t at, uint32_t length)
{
	uint32_t crc = iscsi_digest_update(ISCSI_DIGEST_BEGIN, view_part(bytes, at, length));

	return iscsi_digest_holds(crc, view_part(bytes, at + length, ISCSI_DIGEST));
}

/* Judges what follows the PDU in this segment: nothing, another valid header, or something else. */
/* Whether a valid header is at `at`.  A header with more data than ISCSI_SEARCH_MAX is not accepted. */
static bool
is_header(const struct iscsi_work *w, struct view bytes, uint32_t at)
{
	uint32_t limit = w->side->limit < ISCSI_SEARCH_MAX ? w->side->limit : ISCSI_SEARCH_MAX;

	return iscsi_plausible(view_part(bytes, at, ISCSI_BHS), w->from_target, limit);
}

static enum belief
judge_end(const struct iscsi_work *w, struct view bytes, uint32_t end)
{
	if (end == bytes.len)
		return BELIEF_SURE;
	if (end > bytes.len)
		return BELIEF_TENTATIVE;
	if (bytes.len - end < ISCSI_BHS)
		return BELIEF_NONE;
	return is_header(w, bytes, end) ? BELIEF_SURE : BELIEF_NONE;
}

static enum belief
judge(const struct iscsi_work *w, struct view bytes, uint32_t at)
{
	struct view bhs = view_part(bytes, at, ISCSI_BHS);
	const struct iscsi_session *session = w->session;
	uint8_t opcode = view_u8(bhs, 0) & 0x3f;
	enum iscsi_use use = iscsi_use_of(session, opcode, ISCSI_HEADER_DIGEST);
	uint32_t header, data;
	enum belief best, other;

	if (!is_header(w, bytes, at))
		return BELIEF_NONE;
	header = ISCSI_BHS + iscsi_ahs_length(bhs);
	data = iscsi_padded(iscsi_data_length(bhs));
	if (use != ISCSI_USE_NO && digest_follows(bytes, at, header))
		return BELIEF_SURE;
	if (use == ISCSI_USE_YES)
		return BELIEF_NONE;
	best = judge_end(w, bytes, at + header + data);
	if (best != BELIEF_SURE && data > 0 && iscsi_use_of(session, opcode, ISCSI_DATA_DIGEST) != ISCSI_USE_NO) {
		other = judge_end(w, bytes, at + header + data + ISCSI_DIGEST);
		best = other > best ? other : best;
	}
	return best;
}

uint32_t
iscsi_search(struct iscsi_work *w, struct view bytes)
{
	struct iscsi_side *side = w->side;

	for (uint32_t at = 0; at < bytes.len; at++) {
		enum belief belief = bytes.len - at >= ISCSI_BHS ? judge(w, bytes, at) : BELIEF_NONE;

		if (belief == BELIEF_NONE)
			continue;
		side->doubt = belief == BELIEF_TENTATIVE ? ISCSI_CANDIDATE : ISCSI_SURE;
		side->skip = false;
		side->missing = false;
		side->phase = ISCSI_READ_HEADER;
		side->have = 0;
		if (belief == BELIEF_SURE)
			iscsi_odd(w, ANOMALY_ISCSI_FOUND);
		return at;
	}
	side->searched += bytes.len;
	if (side->searched > ISCSI_SEARCH_MAX) {
		iscsi_odd(w, ANOMALY_ISCSI_UNFOUND);
		side->phase = ISCSI_READ_NOTHING;
	}
	return bytes.len;
}
