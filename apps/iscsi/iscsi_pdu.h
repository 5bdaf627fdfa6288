/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iSCSI (RFC 7143): parsing of a single PDU.  A PDU is a basic header segment of 48 bytes, additional header segments,
 * an optional header digest, the data, padding to four bytes, and an optional data digest; digests are present if both
 * sides agreed on them.  Boundaries depend on the whole stream and are found in apps/iscsi/iscsi_reader.h; this file
 * turns bytes into fields.
 */
#ifndef NETOBS_APPS_ISCSI_ISCSI_PDU_H
#define NETOBS_APPS_ISCSI_ISCSI_PDU_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"

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

/* Length of a CDB by the group of its operation code (SPC-4 section 4.2.5.1); `available` if the group does not define
 * one. */
uint32_t iscsi_cdb_length(uint8_t operation, uint32_t available);

/* CRC32C of header and data digests (section 13.1): start with ISCSI_DIGEST_BEGIN, update, and compare with the four
 * bytes on the wire. */
#define ISCSI_DIGEST_BEGIN 0xffffffffu
uint32_t iscsi_digest_update(uint32_t crc, struct slice bytes);
bool iscsi_digest_is_valid(uint32_t crc, struct slice digest);

#endif
