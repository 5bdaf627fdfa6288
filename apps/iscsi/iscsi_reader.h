/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of an iSCSI connection (RFC 7143): both byte streams, split into PDUs, and the results of the login.
 *
 * Only headers are stored.  Data is skipped as it arrives; it runs through the digest if there is one and through the
 * text parser if it is text.  A PDU is reported when its last byte has arrived.
 *
 * If the connection is captured from its beginning, all boundaries are known.  In mid-stream, and after a missing or
 * invalid header, the stream is searched for a header with every fixed bit right.  It is accepted if its digest
 * matches, if it ends with its segment, or if another header follows it (apps/iscsi/iscsi_resync.c).
 */
#ifndef NETOBS_APPS_ISCSI_ISCSI_READER_H
#define NETOBS_APPS_ISCSI_ISCSI_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/iscsi/iscsi_pdu.h"
#include "apps/iscsi/iscsi_text.h"
#include "flow/stream/app_flow.h"

/* Bytes searched for a header before the search is given up: several of the largest common PDUs. */
#define ISCSI_SEARCH_MAX (1u << 20)

/* Most data accepted in a login PDU: eight times the length that a receiver must accept. */
#define ISCSI_LOGIN_LIMIT 65536u

/* Whether PDUs carry a digest of a kind. */
enum iscsi_use {
	ISCSI_USE_UNKNOWN, /* decided by the next PDU */
	ISCSI_USE_NO,
	ISCSI_USE_YES,
};

enum iscsi_digest_kind {
	ISCSI_HEADER_DIGEST,
	ISCSI_DATA_DIGEST,
};

/* Part of the PDU that is read next. */
enum iscsi_phase {
	ISCSI_READ_NOTHING, /* not begun, or not iSCSI */
	ISCSI_READ_SEARCH,
	ISCSI_READ_HEADER,
	ISCSI_READ_HEADER_DIGEST,
	ISCSI_READ_DATA,    /* data and padding */
	ISCSI_READ_DATA_DIGEST,
};

/* How certain it is that the bytes being read are a PDU. */
enum iscsi_doubt {
	ISCSI_SURE,
	ISCSI_FOLLOWS,	 /* a candidate was read: the next header decides */
	ISCSI_CANDIDATE, /* a candidate found by the search is being read */
};

/* State of one direction. */
struct iscsi_side {
	uint8_t phase;	  /* enum iscsi_phase */
	bool first;	  /* only a login PDU is valid */
	uint8_t doubt;	  /* enum iscsi_doubt */
	bool skip;	  /* do not report this PDU */
	bool missing;	  /* part of its data was not captured */
	uint16_t have;	  /* bytes in `header` */
	uint32_t left;	  /* bytes of data and padding left */
	uint32_t text_left; /* of `left`, the bytes that are text */
	uint32_t crc;
	uint32_t searched; /* bytes searched since the boundary was lost */
	uint32_t limit;	  /* most data that it may send in a PDU */
	struct iscsi_pdu pdu;
	struct iscsi_text text;
	uint8_t header[ISCSI_BHS + ISCSI_AHS_MAX];
	uint8_t digest[ISCSI_DIGEST];
	uint8_t digest_have;
};

/* State of both directions; zero at the beginning of a conversation. */
struct iscsi_session {
	char target[ISCSI_NAME_MAX + 1], initiator[ISCSI_NAME_MAX + 1]; /* "" if unknown */
	uint8_t isid[6];
	uint16_t tsih;
	bool begun;	  /* captured from the beginning: the login is complete */
	bool full;	  /* full feature phase: the login is over */
	bool blind;	  /* login not fully captured: digest use is inferred */
	bool alien;	  /* not an iSCSI connection */
	uint8_t offer[2]; /* enum iscsi_use by enum iscsi_digest_kind: the last value in the login */
	uint8_t use[2];	  /* digest use in the full feature phase */
	uint32_t takes[2]; /* by end: MaxRecvDataSegmentLength that it declared, 0 none */
	struct iscsi_side side[2]; /* by sending end */
};

/* A PDU as the reader reports it. */
struct iscsi_message {
	const struct iscsi_pdu *pdu;
	const struct iscsi_session *session;
};

extern const struct app_reader iscsi_reader;

/* --- shared by the files of the reader --- */

/* Arguments of the reader's functions, for one direction. */
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

/* iscsi_reader.c: the boundary is lost; start a search. */
void iscsi_lose(struct iscsi_work *w);

/* iscsi_reader.c: parses the next bytes. */
void iscsi_read_on(struct iscsi_work *w, struct view bytes);

/* iscsi_search.c: looks for a boundary.  Returns the number of bytes before it, or all of them. */
uint32_t iscsi_search(struct iscsi_work *w, struct view bytes);

/* iscsi_login.c: text of a login or text PDU; the end of such a PDU; a PDU that is valid only after the login. */
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

/* Whether this kind of PDU carries a digest.  Login PDUs never do (section 6.2.1). */
static inline enum iscsi_use
iscsi_use_of(const struct iscsi_session *session, uint8_t opcode, enum iscsi_digest_kind kind)
{
	if (!session->full || iscsi_is_login(opcode))
		return ISCSI_USE_NO;
	return (enum iscsi_use)session->use[kind];
}

/* Whether digest use is known from the login. */
static inline bool
iscsi_is_settled(const struct iscsi_session *session)
{
	return session->begun && !session->blind;
}

#endif
