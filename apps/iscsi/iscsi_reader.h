/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An iSCSI connection (RFC 7143): both its byte streams, read PDU by PDU, and what its login has settled.
 *
 * Only headers are kept; data is passed over as it comes, through a digest where there is one and through the text
 * parser where it is text.  A PDU is told when its last byte is there.
 *
 * Where PDUs begin is known from the beginning of a connection on.  In mid-stream, and after a header that is
 * missing or wrong, the stream is searched for a header that is right in every fixed bit, and it is believed when
 * its digest holds, when it ends with its segment, or when another one follows it (apps/iscsi/iscsi_resync.c).
 */
#ifndef NETOBS_APPS_ISCSI_ISCSI_READER_H
#define NETOBS_APPS_ISCSI_ISCSI_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/iscsi/iscsi_pdu.h"
#include "apps/iscsi/iscsi_text.h"
#include "flow/stream/app_flow.h"

/* Bytes that are searched for a header before the search is given up: several of the largest PDUs that are usual. */
#define ISCSI_SEARCH_MAX (1u << 20)

/* The most data that a login PDU may have: eight times what its receiver must take. */
#define ISCSI_LOGIN_LIMIT 65536u

/* Whether PDUs carry a digest. */
enum iscsi_use {
	ISCSI_USE_UNKNOWN, /* the next PDU will tell */
	ISCSI_USE_NO,
	ISCSI_USE_YES,
};

enum iscsi_digest_kind {
	ISCSI_HEADER_DIGEST,
	ISCSI_DATA_DIGEST,
};

/* What is expected next of a stream. */
enum iscsi_phase {
	ISCSI_READ_NOTHING, /* it has not begun, or is left alone */
	ISCSI_READ_SEARCH,
	ISCSI_READ_HEADER,
	ISCSI_READ_HEADER_DIGEST,
	ISCSI_READ_DATA,    /* and its padding */
	ISCSI_READ_DATA_DIGEST,
};

/* How sure it is that what is read as a PDU is one. */
enum iscsi_doubt {
	ISCSI_SURE,
	ISCSI_FOLLOWS,	 /* a candidate has been read: what follows it will tell */
	ISCSI_CANDIDATE, /* found by a search, and to be read */
};

/* One direction. */
struct iscsi_side {
	uint8_t phase;	  /* enum iscsi_phase */
	bool first;	  /* nothing but a login may come */
	uint8_t doubt;	  /* enum iscsi_doubt */
	bool skip;	  /* this PDU is not to be told */
	bool missing;	  /* some of its data is not in the capture */
	uint16_t have;	  /* bytes in `header` */
	uint32_t left;	  /* bytes of the data and its padding still to come */
	uint32_t text_left; /* of them those that are text */
	uint32_t crc;
	uint32_t searched; /* bytes, since it was lost */
	uint32_t limit;	  /* of the data segments it may send */
	struct iscsi_pdu pdu;
	struct iscsi_text text;
	uint8_t header[ISCSI_BHS + ISCSI_AHS_MAX];
	uint8_t digest[ISCSI_DIGEST];
	uint8_t digest_have;
};

/* Zero at the beginning of a conversation. */
struct iscsi_session {
	char target[ISCSI_NAME_MAX + 1], initiator[ISCSI_NAME_MAX + 1]; /* "" while not known */
	uint8_t isid[6];
	uint16_t tsih;
	bool begun;	  /* from its beginning: what the login says is known */
	bool full;	  /* full feature phase: the login is done */
	bool blind;	  /* not all of the login was seen: what it has settled must be found out */
	bool alien;	  /* no iSCSI at all */
	uint8_t offer[2]; /* enum iscsi_use by enum iscsi_digest_kind: what was said last */
	uint8_t use[2];	  /* what is in effect, once it is the full feature phase */
	uint32_t takes[2]; /* by end: bytes of data that it has declared to take in one PDU, 0 without */
	struct iscsi_side side[2]; /* by the end that sends */
};

/* A PDU as the reader tells it. */
struct iscsi_message {
	const struct iscsi_pdu *pdu;
	const struct iscsi_session *session;
};

extern const struct app_reader iscsi_reader;

/* --- between the files of the reader --- */

/* What a reader's functions work with: one direction. */
struct iscsi_work {
	struct reading *reading;
	struct iscsi_session *session;
	struct iscsi_side *side;
	unsigned sender;
	bool from_target;
};

static inline void
iscsi_odd(const struct iscsi_work *w, enum anomaly a)
{
	w->reading->odd(w->reading->context, a);
}

/* iscsi_reader.c: the boundaries are lost. */
void iscsi_lose(struct iscsi_work *w);

/* iscsi_reader.c: takes the next bytes. */
void iscsi_read_on(struct iscsi_work *w, struct view bytes);

/* iscsi_search.c: looks for a boundary; answers how many bytes lie before it, or all of them. */
uint32_t iscsi_search(struct iscsi_work *w, struct view bytes);

/* iscsi_login.c: text of a login or text PDU, such a PDU at its end, and a PDU that only comes when the login is
 * over. */
void iscsi_take_text(struct iscsi_work *w, struct view bytes);
void iscsi_end_text(struct iscsi_work *w);
void iscsi_login_pdu(struct iscsi_work *w);
void iscsi_login_over(struct iscsi_session *session);

/* iscsi_login.c: the most data that a PDU to end `receiver` may have. */
uint32_t iscsi_limit_of(const struct iscsi_session *session, unsigned receiver);

static inline bool
iscsi_is_login(uint8_t opcode)
{
	return (opcode & 0x1f) == ISCSI_LOGIN_REQUEST;
}

/* Whether a PDU of this kind carries a digest.  A login never does (section 6.2.1). */
static inline enum iscsi_use
iscsi_use_of(const struct iscsi_session *session, uint8_t opcode, enum iscsi_digest_kind kind)
{
	if (!session->full || iscsi_is_login(opcode))
		return ISCSI_USE_NO;
	return (enum iscsi_use)session->use[kind];
}

/* Whether what is in effect is known from the login. */
static inline bool
iscsi_is_settled(const struct iscsi_session *session)
{
	return session->begun && !session->blind;
}

#endif
