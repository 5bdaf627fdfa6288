/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a byte stream into iSCSI PDUs. */
#include "apps/iscsi/iscsi_reader.h"

#include <string.h>

static struct view
header_of(const struct iscsi_side *side)
{
	return (struct view){side->header, side->have};
}

static void
expect_header(struct iscsi_side *side)
{
	side->phase = ISCSI_READ_HEADER;
	side->have = 0;
	side->skip = side->missing = false;
}

void
iscsi_lose(struct iscsi_work *w)
{
	struct iscsi_session *session = w->session;
	struct iscsi_side *side = w->side;

	/* Losing a mere candidate is no anomaly: the boundary was never found. */
	if (side->doubt == ISCSI_SURE)
		iscsi_odd(w, ANOMALY_ISCSI_LOST);
	side->phase = ISCSI_READ_SEARCH;
	side->doubt = ISCSI_SURE;
	side->first = false;
	memset(&side->text, 0, sizeof side->text);
	session->blind |= !session->full;
	/* Digest use that was inferred may have been inferred wrongly. */
	if (!iscsi_is_settled(session))
		session->use[0] = session->use[1] = ISCSI_USE_UNKNOWN;
}

/* --- the end of a PDU --- */

static bool
is_text(const struct iscsi_pdu *pdu)
{
	uint8_t kind = pdu->opcode & 0x1f;

	return kind == ISCSI_LOGIN_REQUEST || kind == ISCSI_TEXT_REQUEST;
}

static void
finish_pdu(struct iscsi_work *w)
{
	struct iscsi_side *side = w->side;
	struct iscsi_message message = {.pdu = &side->pdu, .session = w->session};

	/* A candidate is not reported: only the header behind it can prove it. */
	if (!side->skip && side->doubt == ISCSI_SURE) {
		side->searched = 0;
		if (is_text(&side->pdu))
			iscsi_end_text(w);
		if (iscsi_is_login(side->pdu.opcode))
			iscsi_login_pdu(w);
		w->reading->message(w->reading->context, w->sender, &message);
	}
	expect_header(side);
}

/* --- digests --- */

static enum iscsi_use
digest_use(const struct iscsi_work *w, enum iscsi_digest_kind kind)
{
	return iscsi_use_of(w->session, w->side->header[0] & 0x3f, kind);
}

/* Four digest bytes are complete.  Checks them; if digest use is unknown, this decides it.  True if the digest
 * matches. */
static bool
judge_digest(struct iscsi_work *w, enum iscsi_digest_kind kind)
{
	struct iscsi_side *side = w->side;
	bool holds = iscsi_digest_holds(side->crc, (struct view){side->digest, side->digest_have});

	if (w->session->use[kind] == ISCSI_USE_UNKNOWN)
		w->session->use[kind] = holds ? ISCSI_USE_YES : ISCSI_USE_NO;
	return holds;
}

/* Takes the next bytes of a digest; true when all four are there. */
static bool
take_digest(struct iscsi_side *side, struct view bytes, uint32_t *taken)
{
	uint32_t n = ISCSI_DIGEST - side->digest_have;

	*taken = n < bytes.len ? n : bytes.len;
	view_copy(bytes, 0, side->digest + side->digest_have, *taken);
	side->digest_have = (uint8_t)(side->digest_have + *taken);
	return side->digest_have == ISCSI_DIGEST;
}

/* The four bytes were not a digest: parse them as what follows. */
static void
give_back(struct iscsi_work *w)
{
	uint8_t bytes[ISCSI_DIGEST];

	memcpy(bytes, w->side->digest, sizeof bytes);
	iscsi_read_on(w, (struct view){bytes, sizeof bytes});
}

/* --- data --- */

/* `more`: the TCP segment continues behind the data. */
static void
begin_data_digest(struct iscsi_work *w, bool more)
{
	struct iscsi_side *side = w->side;
	enum iscsi_use use = digest_use(w, ISCSI_DATA_DIGEST);

	/* A data digest exists only if there is data (section 11.2.1.5). */
	if (side->pdu.data == 0)
		use = ISCSI_USE_NO;
	/* A sender that uses digests passes the whole PDU to TCP in one piece, so a PDU whose data ends with the
	 * segment has no digest. */
	if (use == ISCSI_USE_UNKNOWN && !more && !side->missing)
		use = w->session->use[ISCSI_DATA_DIGEST] = ISCSI_USE_NO;
	if (use == ISCSI_USE_NO) {
		finish_pdu(w);
		return;
	}
	side->digest_have = 0;
	side->phase = ISCSI_READ_DATA_DIGEST;
	if (use == ISCSI_USE_YES || !side->missing)
		return;
	/* Part of the data is missing, so the digest cannot be checked and the next boundary is unknown. */
	finish_pdu(w);
	iscsi_lose(w);
}

static uint32_t
read_data(struct iscsi_work *w, struct view bytes)
{
	struct iscsi_side *side = w->side;
	struct view part = view_part(bytes, 0, side->left);

	if (digest_use(w, ISCSI_DATA_DIGEST) != ISCSI_USE_NO && !side->missing)
		side->crc = iscsi_digest_update(side->crc, part);
	if (side->text_left > 0) {
		struct view text = view_part(part, 0, side->text_left);

		if (!side->skip && !side->missing && side->doubt == ISCSI_SURE)
			iscsi_take_text(w, text);
		side->text_left -= text.len;
	}
	side->left -= part.len;
	if (side->left == 0)
		begin_data_digest(w, bytes.len > part.len);
	return part.len;
}

static uint32_t
read_data_digest(struct iscsi_work *w, struct view bytes)
{
	struct iscsi_side *side = w->side;
	bool known = digest_use(w, ISCSI_DATA_DIGEST) == ISCSI_USE_YES;
	uint32_t taken;

	if (!take_digest(side, bytes, &taken))
		return taken;
	if (side->missing || judge_digest(w, ISCSI_DATA_DIGEST)) {
		finish_pdu(w);
		return taken;
	}
	if (known) {
		/* The receiver rejects a PDU with a wrong data digest and ignores its content (section 7.8). */
		iscsi_odd(w, ANOMALY_ISCSI_DATA_DIGEST);
		side->skip = true;
	}
	finish_pdu(w);
	if (!known)
		give_back(w);
	return taken;
}

static void
begin_data(struct iscsi_work *w, bool more)
{
	struct iscsi_side *side = w->side;

	side->left = iscsi_padded(side->pdu.data);
	side->text_left = is_text(&side->pdu) ? side->pdu.data : 0;
	side->crc = ISCSI_DIGEST_BEGIN;
	side->phase = ISCSI_READ_DATA;
	if (side->left == 0)
		begin_data_digest(w, more);
}

/* --- the header --- */

/* Checks a complete basic header.  False if it cannot be one. */
static bool
check_header(struct iscsi_work *w)
{
	struct iscsi_side *side = w->side;
	uint8_t opcode = view_u8(header_of(side), 0) & 0x3f;
	enum anomaly wrong;

	if (side->first && opcode != (w->from_target ? ISCSI_LOGIN_RESPONSE : ISCSI_LOGIN_REQUEST)) {
		iscsi_odd(w, ANOMALY_ISCSI_ALIEN);
		w->session->alien = true;
		w->session->side[0].phase = w->session->side[1].phase = ISCSI_READ_NOTHING;
		return false;
	}
	wrong = iscsi_check(header_of(side), w->from_target, side->limit);
	if (wrong != ANOMALY_NONE && side->doubt == ISCSI_SURE)
		iscsi_odd(w, wrong);
	/* If the login does not say whether digests are used, require the reserved bits to be right as well. */
	if (wrong == ANOMALY_NONE && ((side->doubt == ISCSI_SURE && iscsi_is_settled(w->session)) || side->first ||
				      iscsi_plausible(header_of(side), w->from_target, side->limit))) {
		side->first = false;
		if (!iscsi_is_login(opcode) && side->doubt == ISCSI_SURE)
			iscsi_login_over(w->session);
		return true;
	}
	iscsi_lose(w);
	return false;
}

/* The whole header and its digest have been read. */
static void
accept_header(struct iscsi_work *w, bool more)
{
	struct iscsi_side *side = w->side;
	enum anomaly wrong = iscsi_read(header_of(side), &side->pdu);

	if (wrong != ANOMALY_NONE) {
		iscsi_odd(w, wrong);
		side->skip = true;
	}
	begin_data(w, more);
}

static void
end_header(struct iscsi_work *w, bool more)
{
	struct iscsi_side *side = w->side;
	enum iscsi_use use = digest_use(w, ISCSI_HEADER_DIGEST);

	/* As in begin_data_digest(). */
	if (use == ISCSI_USE_UNKNOWN && !more && iscsi_data_length(header_of(side)) == 0)
		use = w->session->use[ISCSI_HEADER_DIGEST] = ISCSI_USE_NO;
	if (use == ISCSI_USE_NO) {
		accept_header(w, more);
		return;
	}
	side->crc = iscsi_digest_update(ISCSI_DIGEST_BEGIN, header_of(side));
	side->digest_have = 0;
	side->phase = ISCSI_READ_HEADER_DIGEST;
}

static uint32_t
read_header_digest(struct iscsi_work *w, struct view bytes)
{
	bool known = digest_use(w, ISCSI_HEADER_DIGEST) == ISCSI_USE_YES;
	uint32_t taken;

	if (!take_digest(w->side, bytes, &taken))
		return taken;
	if (judge_digest(w, ISCSI_HEADER_DIGEST)) {
		if (!known || check_header(w))
			accept_header(w, bytes.len > taken);
	} else if (known) {
		/* With a wrong header digest no field is reliable, not even the length (section 7.7). */
		iscsi_odd(w, ANOMALY_ISCSI_HEADER_DIGEST);
		iscsi_lose(w);
	} else {
		accept_header(w, true);
		give_back(w);
	}
	return taken;
}

/* The header behind a candidate proves it. */
static void
settle_doubt(struct iscsi_work *w)
{
	struct iscsi_side *side = w->side;

	if (side->doubt == ISCSI_SURE)
		return;
	side->doubt--;
	if (side->doubt == ISCSI_SURE)
		iscsi_odd(w, ANOMALY_ISCSI_FOUND);
}

static uint32_t
read_header(struct iscsi_work *w, struct view bytes)
{
	struct iscsi_side *side = w->side;
	uint32_t whole = side->have < ISCSI_BHS ? ISCSI_BHS : ISCSI_BHS + iscsi_ahs_length(header_of(side));
	uint32_t n = whole - side->have < bytes.len ? whole - side->have : bytes.len;

	view_copy(bytes, 0, side->header + side->have, n);
	side->have = (uint16_t)(side->have + n);
	if (side->have < whole)
		return n;
	if (whole == ISCSI_BHS) {
		/* With a digest, check the digest before the header. */
		if (digest_use(w, ISCSI_HEADER_DIGEST) != ISCSI_USE_YES && !check_header(w))
			return n;
		if (iscsi_ahs_length(header_of(side)) > 0)
			return n;
	}
	settle_doubt(w);
	end_header(w, bytes.len > n);
	return n;
}

void
iscsi_read_on(struct iscsi_work *w, struct view bytes)
{
	uint32_t done = 0;

	while (done < bytes.len) {
		struct view rest = view_part(bytes, done, bytes.len);

		switch ((enum iscsi_phase)w->side->phase) {
		case ISCSI_READ_HEADER:
			done += read_header(w, rest);
			break;
		case ISCSI_READ_HEADER_DIGEST:
			done += read_header_digest(w, rest);
			break;
		case ISCSI_READ_DATA:
			done += read_data(w, rest);
			break;
		case ISCSI_READ_DATA_DIGEST:
			done += read_data_digest(w, rest);
			break;
		case ISCSI_READ_SEARCH:
			done += iscsi_search(w, rest);
			break;
		case ISCSI_READ_NOTHING:
			return;
		}
	}
}

/* --- gaps --- */

/* Bytes missing from the data and its digest do no harm, as long as the end of the PDU is known. */
static void
read_gap(struct iscsi_work *w, uint32_t length)
{
	struct iscsi_side *side = w->side;
	uint32_t n;

	if (side->phase == ISCSI_READ_DATA) {
		n = length < side->left ? length : side->left;
		side->missing = true;
		side->left -= n;
		side->text_left -= n < side->text_left ? n : side->text_left;
		length -= n;
		if (side->left == 0)
			begin_data_digest(w, true);
	}
	if (length > 0 && side->phase == ISCSI_READ_DATA_DIGEST) {
		n = ISCSI_DIGEST - side->digest_have;
		n = length < n ? length : n;
		side->missing = true;
		side->digest_have = (uint8_t)(side->digest_have + n);
		length -= n;
		if (digest_use(w, ISCSI_DATA_DIGEST) == ISCSI_USE_UNKNOWN) {
			finish_pdu(w);
			iscsi_lose(w);
		} else if (side->digest_have == ISCSI_DIGEST) {
			finish_pdu(w);
		}
	}
	if (length > 0 && side->phase != ISCSI_READ_SEARCH && side->phase != ISCSI_READ_NOTHING)
		iscsi_lose(w);
}

/* --- the reader --- */

static struct iscsi_work
work_of(struct reading *reading, unsigned sender)
{
	struct iscsi_session *session = reading->state;

	return (struct iscsi_work){.reading = reading,
				   .session = session,
				   .side = &session->side[sender],
				   .sender = sender,
				   .from_target = sender == reading->server};
}

static void
on_start(struct reading *reading, unsigned sender, bool beginning)
{
	struct iscsi_work w = work_of(reading, sender);
	struct iscsi_session *session = w.session;

	if (session->alien)
		return;
	memset(w.side, 0, sizeof *w.side);
	if (beginning) {
		session->begun = true;
		w.side->phase = ISCSI_READ_HEADER;
		w.side->first = true;
		w.side->limit = ISCSI_LOGIN_LIMIT;
		return;
	}
	if (!session->full) {
		session->blind = true;
		iscsi_login_over(session);
	}
	w.side->limit = iscsi_limit_of(session, 1 - sender);
	w.side->phase = ISCSI_READ_SEARCH;
}

static void
on_bytes(struct reading *reading, unsigned sender, struct view bytes)
{
	struct iscsi_work w = work_of(reading, sender);

	iscsi_read_on(&w, bytes);
}

static void
on_gap(struct reading *reading, unsigned sender, uint32_t length)
{
	struct iscsi_work w = work_of(reading, sender);

	read_gap(&w, length);
}

static bool
needs(const void *state)
{
	const struct iscsi_session *session = state;

	return !session->full && !session->alien;
}

static bool
reads(const void *state, unsigned sender)
{
	const struct iscsi_session *session = state;

	return session->side[sender].phase != ISCSI_READ_NOTHING;
}

const struct app_reader iscsi_reader = {
    .state_size = sizeof(struct iscsi_session),
    .start = on_start,
    .bytes = on_bytes,
    .gap = on_gap,
    .needs = needs,
    .reads = reads,
};
