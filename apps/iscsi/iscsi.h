/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iSCSI (RFC 7143): parsing of a single PDU.  A PDU is a basic header segment of 48 bytes, additional header segments,
 * an optional header digest, the data, padding to four bytes, and an optional data digest; digests are present if both
 * sides agreed on them.  Boundaries depend on the whole stream and are found by apps/iscsi/iscsi_reader.c; this part
 * turns bytes into fields.
 */
#ifndef NETOBS_APPS_ISCSI_ISCSI_H
#define NETOBS_APPS_ISCSI_ISCSI_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"
#include "flow/stream/app_flow.h"

#define ISCSI_BHS_LEN	 48u
#define ISCSI_AHS_MAX	 1020u /* TotalAHSLength is one byte, in units of four */
#define ISCSI_DIGEST_LEN	 4u
#define ISCSI_DATA_MAX	 0xffffffu /* DataSegmentLength has 24 bits */
#define ISCSI_CDB_LEN	 16u	   /* CDB bytes in the basic header */
#define ISCSI_CDB_MAX	 (ISCSI_CDB_LEN + ISCSI_AHS_MAX)
#define ISCSI_NAME_MAX	 223u /* RFC 7143 section 4.2.7.1 */
#define ISCSI_RESERVED_TAG	 0xffffffffu

/* RFC 7143 section 11.2.1.2.  Opcodes from 0x20 on are sent by the target. */
enum iscsi_opcode {
	ISCSI_NOP_OUT = 0x00,
	ISCSI_SCSI_COMMAND = 0x01,
	ISCSI_TASK_REQUEST = 0x02,
	ISCSI_LOGIN_REQUEST = 0x03,
	ISCSI_TEXT_REQUEST = 0x04,
	ISCSI_DATA_OUT = 0x05,
	ISCSI_LOGOUT_REQUEST = 0x06,
	ISCSI_SNACK = 0x10,
	ISCSI_NOP_IN = 0x20,
	ISCSI_SCSI_RESPONSE = 0x21,
	ISCSI_TASK_RESPONSE = 0x22,
	ISCSI_LOGIN_RESPONSE = 0x23,
	ISCSI_TEXT_RESPONSE = 0x24,
	ISCSI_DATA_IN = 0x25,
	ISCSI_LOGOUT_RESPONSE = 0x26,
	ISCSI_R2T = 0x31,
	ISCSI_ASYNC = 0x32,
	ISCSI_REJECT = 0x3f,
};

/* Flags in the second byte that boundaries and the login depend on. */
enum iscsi_flag {
	ISCSI_LOGIN_TRANSIT = 0x80,
	ISCSI_CONTINUE = 0x40,	  /* C bit of login and text PDUs: the text continues in the next PDU */
	ISCSI_DATA_STATUS = 0x01, /* S bit of Data-In: the PDU carries the SCSI status */
};

/* The stages of a login (section 6.3), as in the lower two bits of a login PDU's second byte. */
#define ISCSI_FULL_FEATURE 3u

/* One PDU.  Fields that its kind does not have are 0; slices point into the header that was parsed. */
struct iscsi_pdu {
	uint8_t opcode;	   /* enum iscsi_opcode */
	bool immediate;
	uint8_t flags;	   /* the second byte, as on the wire */
	uint8_t response;  /* response or reason code */
	uint16_t status;   /* SCSI status; login: status class << 8 | detail; asynchronous message: its event */
	uint64_t lun;	   /* see iscsi_decode_lun() */
	uint32_t itt, ttt;
	uint32_t cmdsn, statsn, datasn;
	uint32_t buffer_offset;	    /* offset of the data in the buffer of the task */
	uint32_t transfer_length;   /* expected or desired data transfer length */
	uint32_t data_length;	    /* bytes of the data segment, without padding */
	uint8_t isid[6];	    /* login */
	uint16_t tsih;		    /* login */
	struct slice cdb;	    /* SCSI command: the part of the CDB in the basic header; a shorter CDB ends
				     * earlier */
	struct slice cdb_extension; /* the part of an extended CDB beyond the basic header */
};

static inline bool
iscsi_opcode_is_target(uint8_t opcode)
{
	return (opcode & 0x20) != 0;
}

/* Lengths that the first bytes of a header declare. */
static inline uint32_t
iscsi_ahs_length(struct slice bhs)
{
	return slice_u8(bhs, 4) * 4u;
}

static inline uint32_t
iscsi_data_length(struct slice bhs)
{
	return slice_u32(bhs, 4) & ISCSI_DATA_MAX;
}

static inline uint32_t
iscsi_pad_length(uint32_t length)
{
	return (length + 3) & ~3u;
}

/* Checks a basic header in a stream whose boundaries are known.  Returns ANOMALY_NONE, or what is wrong: an opcode that
 * this side does not send, a segment that this kind of PDU must not have, more data than `limit`.  Reserved bits are
 * not checked. */
enum anomaly iscsi_validate_bhs(struct slice bhs, bool from_target, uint32_t limit);

/* The next position from `at` on whose first two bytes may begin a basic header, or the length of the bytes. */
uint32_t iscsi_bhs_search(struct slice bytes, uint32_t at, bool from_target);

/* Whether 48 bytes at an arbitrary position have every fixed bit of a basic header right; used to find boundaries. */
bool iscsi_bhs_is_plausible(struct slice bhs, bool from_target, uint32_t limit);

/* Parses a whole header: the basic header, which has passed iscsi_validate_bhs(), and the additional segments.  Returns
 * ANOMALY_NONE, or what is wrong with an additional segment; the fields of the PDU are then unreliable. */
enum anomaly iscsi_parse_header(struct slice header, struct iscsi_pdu *pdu);

/* Logical unit number as tools show it: the plain number for a single level with simple addressing (SAM-5 section
 * 4.7), otherwise all eight bytes as one number. */
uint64_t iscsi_decode_lun(uint64_t raw);

/* CRC32C of header and data digests (section 13.1): start with ISCSI_DIGEST_BEGIN, update, and compare with the four
 * bytes on the wire. */
#define ISCSI_DIGEST_BEGIN 0xffffffffu
uint32_t iscsi_digest_update(uint32_t crc, struct slice bytes);
bool iscsi_digest_is_valid(uint32_t crc, struct slice digest);

/*
 * Text of login and text PDUs (RFC 7143 section 6.1): KEY=VALUE pairs, each ended by a NUL.  A pair may span segments
 * and, if the C bit is set, PDUs; so the parser is incremental and keeps only the pair in progress.
 */

#define ISCSI_KEY_MAX	63u  /* section 6.1 */
#define ISCSI_VALUE_MAX 255u /* longest value kept; only large binary values are longer, and they are not used */

struct iscsi_text {
	uint16_t key_length, value_length; /* lengths so far; value_length may exceed what is kept */
	bool in_value;
	bool malformed; /* not a valid pair: skip to its NUL */
	char key[ISCSI_KEY_MAX + 1], value[ISCSI_VALUE_MAX + 1];
};

/* Called for each complete pair.  The value is "" if it was too long to keep. */
typedef void iscsi_pair(void *context, const char *key, const char *value);

/* Parses the next bytes.  False if they hold an invalid pair: no '=', or an illegal key. */
bool iscsi_text_feed(struct iscsi_text *text, struct slice bytes, iscsi_pair *pair, void *context);

/* Ends the text.  False if a pair is incomplete. */
bool iscsi_text_end(struct iscsi_text *text);

/*
 * State of an iSCSI connection (RFC 7143): both byte streams, split into PDUs, and the results of the login.
 *
 * Only headers are stored.  Data is skipped as it arrives; it runs through the digest if there is one and through the
 * text parser if it is text.  A PDU is reported when its last byte has arrived.
 *
 * If the connection is captured from its beginning, all boundaries are known.  In mid-stream, and after a missing or
 * invalid header, the stream is searched for a header with every fixed bit right.  It is accepted if its digest
 * matches, if it ends with its segment, or if another header follows it (iscsi_resync()).
 */

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

/* Fills the argument structs of the iscsi probes.  Pure: every field is written each time. */
struct iscsiinfo;
struct iscsicmd;
void args_iscsiinfo(struct iscsiinfo *info, const struct iscsi_message *message);

/* `cdb` receives the command's bytes; tracers read them there. */
void args_iscsicmd(struct iscsicmd *info, uint8_t cdb[ISCSI_CDB_MAX], const struct iscsi_pdu *pdu);

struct emitter;

/* Fires the probe of a PDU, selected by its operation code.  `message` is a struct iscsi_message of `flow`, as endpoint
 * `endpoint` sees it. */
void iscsi_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);

#endif
