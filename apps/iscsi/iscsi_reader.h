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
#define ISCSI_RESYNC_MAX (1u << 20)

/* Most data accepted in a login PDU: eight times the length that a receiver must accept. */
#define ISCSI_LOGIN_DATA_MAX 65536u

/* Whether PDUs carry a digest of a kind. */
enum iscsi_digest_use {
	ISCSI_DIGEST_UNKNOWN, /* decided by the next PDU */
	ISCSI_DIGEST_OFF,
	ISCSI_DIGEST_ON,
};

enum iscsi_digest_kind {
	ISCSI_HEADER_DIGEST,
	ISCSI_DATA_DIGEST,
};

/* Part of the PDU that is read next. */
enum iscsi_read_state {
	ISCSI_READ_NOTHING, /* not begun, or not iSCSI */
	ISCSI_READ_RESYNC,
	ISCSI_READ_HEADER,
	ISCSI_READ_HEADER_DIGEST,
	ISCSI_READ_DATA,    /* data and padding */
	ISCSI_READ_DATA_DIGEST,
};

/* How certain it is that the bytes being read are a PDU.  Each valid header moves this one up the list
 * (iscsi_confirm_candidate). */
enum iscsi_sync {
	ISCSI_SYNC_KNOWN,
	ISCSI_SYNC_UNCONFIRMED, /* a candidate was read: the next header confirms it or not */
	ISCSI_SYNC_CANDIDATE,	/* a candidate found by the search is being read */
};

/* State of one direction. */
struct iscsi_stream {
	uint8_t read_state;   /* enum iscsi_read_state */
	bool expect_login;    /* only a login PDU is valid */
	uint8_t sync;	      /* enum iscsi_sync */
	bool suppress;	      /* do not report this PDU */
	bool data_missing;    /* part of its data was not captured */
	uint16_t header_have; /* bytes in `header` so far */
	uint32_t data_left;   /* bytes of data and padding left */
	uint32_t text_left;   /* of `data_left`, the bytes that are text */
	uint32_t crc;
	uint32_t resync_bytes; /* bytes searched since the boundary was lost */
	uint32_t data_max;     /* most data that a PDU of this direction may have */
	struct iscsi_pdu pdu;
	struct iscsi_text text;
	uint8_t header[ISCSI_BHS_LEN + ISCSI_AHS_MAX];
	uint8_t digest[ISCSI_DIGEST_LEN];
	uint8_t digest_have;
};

/* State of an app flow: both directions.  Zero at the beginning. */
struct iscsi_connection {
	char target[ISCSI_NAME_MAX + 1], initiator[ISCSI_NAME_MAX + 1]; /* "" if unknown */
	uint8_t isid[6];
	uint16_t tsih;
	bool from_start;	       /* captured from its beginning */
	bool full_feature;	       /* full feature phase: the login is over */
	bool login_unseen;	       /* login not fully captured: digest use is inferred */
	bool not_iscsi;		       /* not an iSCSI connection */
	uint8_t digest_offer[2];       /* enum iscsi_digest_use by enum iscsi_digest_kind: the last value in the
				        * login */
	uint8_t digest_use[2];	       /* digest use in the full feature phase */
	uint32_t max_recv_data[2];     /* by endpoint: MaxRecvDataSegmentLength that it declared, 0 none */
	struct iscsi_stream stream[2]; /* by sender */
};

/* A PDU as the reader reports it. */
struct iscsi_message {
	const struct iscsi_pdu *pdu;
	const struct iscsi_connection *connection;
};

extern const struct app_reader iscsi_reader;

/* --- shared by the files of the reader --- */

/* Arguments of the reader's functions, for one direction. */
struct iscsi_reader_ctx {
	struct app_context *app_ctx;
	struct iscsi_connection *connection;
	struct iscsi_stream *stream; /* the direction of `sender` */
	unsigned sender;
	bool from_target;
	unsigned effort, effort_max; /* of the search for a boundary in these bytes (iscsi_resync.c) */
};

static inline void
iscsi_report_anomaly(const struct iscsi_reader_ctx *ctx, enum anomaly a)
{
	ctx->app_ctx->on_anomaly(ctx->app_ctx->context, a);
}

/* iscsi_reader.c: the boundary is lost; start a search. */
void iscsi_lose_sync(struct iscsi_reader_ctx *ctx);

/* iscsi_reader.c: parses the next bytes. */
void iscsi_parse_bytes(struct iscsi_reader_ctx *ctx, struct slice bytes);

/*
 * Most effort of the searches in `length` bytes: a header that is examined is 1, and so are 16 bytes whose digest is
 * computed.  Arbitrary data has a possible header in about 200 bytes; where an attacker puts more, the rest is not
 * searched.
 */
static inline unsigned
iscsi_search_effort_max(uint32_t length)
{
	return 64 + length / 16;
}

/* iscsi_resync.c: searches for a boundary.  Returns the number of bytes before it, or of all bytes if there is none. */
uint32_t iscsi_resync(struct iscsi_reader_ctx *ctx, struct slice bytes);

/* iscsi_login.c: text of a login or text PDU; the end of such a PDU. */
void iscsi_feed_text(struct iscsi_reader_ctx *ctx, struct slice bytes);
void iscsi_finish_text(struct iscsi_reader_ctx *ctx);

/* iscsi_login.c: a complete login PDU. */
void iscsi_process_login_pdu(struct iscsi_reader_ctx *ctx);

/* iscsi_login.c: a PDU that is valid only after the login, whose end was not captured. */
void iscsi_assume_full_feature(struct iscsi_connection *connection);

/* iscsi_login.c: the most data that a PDU to endpoint `receiver` may have. */
uint32_t iscsi_max_data_len(const struct iscsi_connection *connection, unsigned receiver);

static inline bool
iscsi_opcode_is_login(uint8_t opcode)
{
	return (opcode & 0x1f) == ISCSI_LOGIN_REQUEST;
}

/* Whether this kind of PDU carries a digest.  Login PDUs never do (section 6.2.1). */
static inline enum iscsi_digest_use
iscsi_digest_use_for(const struct iscsi_connection *connection, uint8_t opcode, enum iscsi_digest_kind kind)
{
	if (!connection->full_feature || iscsi_opcode_is_login(opcode))
		return ISCSI_DIGEST_OFF;
	return (enum iscsi_digest_use)connection->digest_use[kind];
}

/* Whether digest use is known from the login. */
static inline bool
iscsi_login_is_known(const struct iscsi_connection *connection)
{
	return connection->from_start && !connection->login_unseen;
}

#endif
