/* SPDX-License-Identifier: BSD-2-Clause */
/* iSCSI PDU headers (RFC 7143 section 11). */
#include "apps/iscsi/iscsi.h"

#include "dissect/crc32c.h"

/* Fields that a kind of PDU has in its basic header, each with its offset. */
enum iscsi_field {
	HAS_DATA = 0x001,     /* may have a data segment */
	HAS_LUN = 0x002,      /* 8 */
	HAS_TTT = 0x004,      /* 20 */
	HAS_CMDSN = 0x008,    /* 24 */
	HAS_STATSN = 0x010,   /* 24 */
	HAS_WINDOW = 0x020,   /* 28, 32: ExpCmdSN and MaxCmdSN */
	HAS_DATASN = 0x040,   /* 36: DataSN or R2TSN */
	HAS_OFFSET = 0x080,   /* 40 */
	HAS_RESPONSE = 0x100, /* 2 */
	HAS_LOGIN = 0x200,    /* 8: ISID, 14: TSIH */
	HAS_AHS = 0x400,      /* additional header segments are defined for it */
};

#define BYTE(n)	       (1ull << (n))
#define BYTES(from, n) (((1ull << (n)) - 1) << (from))
#define NO_FIELD       0xff

/*
 * One row per kind of PDU, by opcode.  `one` and `zero` are the fixed bits of the second byte; `reserved` lists the
 * bytes that must be zero.  Receivers ignore reserved bytes, so only the boundary search checks them.  `status` and
 * `transfer` are the offsets of those fields.
 */
static const struct iscsi_pdu_format {
	uint8_t one, zero;
	uint8_t status, transfer;
	uint16_t has;
	uint64_t reserved;
} iscsi_pdu_formats[64] = {
	/* clang-format off */
	[ISCSI_NOP_OUT] = {0x80, 0x7f, NO_FIELD, NO_FIELD,
	 HAS_DATA | HAS_LUN | HAS_TTT | HAS_CMDSN,
	 BYTES(2, 3) | BYTES(32, 16)},
	[ISCSI_SCSI_COMMAND] = {0x00, 0x18, NO_FIELD, 20,
	 HAS_DATA | HAS_LUN | HAS_CMDSN | HAS_AHS,
	 BYTE(3)},
	[ISCSI_TASK_REQUEST] = {0x80, 0x00, NO_FIELD, NO_FIELD,
	 HAS_LUN | HAS_CMDSN,
	 BYTES(2, 6) | BYTES(40, 8)},
	[ISCSI_LOGIN_REQUEST] = {0x00, 0x30, NO_FIELD, NO_FIELD,
	 HAS_DATA | HAS_LOGIN | HAS_CMDSN,
	 BYTE(4) | BYTES(22, 2) | BYTES(32, 16)},
	[ISCSI_TEXT_REQUEST] = {0x00, 0x3f, NO_FIELD, NO_FIELD,
	 HAS_DATA | HAS_LUN | HAS_TTT | HAS_CMDSN,
	 BYTES(2, 3) | BYTES(32, 16)},
	[ISCSI_DATA_OUT] = {0x00, 0x7f, NO_FIELD, NO_FIELD,
	 HAS_DATA | HAS_LUN | HAS_TTT | HAS_DATASN | HAS_OFFSET,
	 BYTES(2, 3) | BYTES(24, 4) | BYTES(32, 4) | BYTES(44, 4)},
	[ISCSI_LOGOUT_REQUEST] = {0x80, 0x7c, NO_FIELD, NO_FIELD,
	 HAS_CMDSN,
	 BYTES(2, 14) | BYTES(22, 2) | BYTES(32, 16)},
	[ISCSI_SNACK] = {0x80, 0x70, NO_FIELD, NO_FIELD,
	 HAS_LUN | HAS_TTT,
	 BYTES(2, 6) | BYTES(24, 4) | BYTES(32, 8)},
	[ISCSI_NOP_IN] = {0x80, 0x7f, NO_FIELD, NO_FIELD,
	 HAS_DATA | HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW,
	 BYTES(2, 3) | BYTES(36, 12)},
	[ISCSI_SCSI_RESPONSE] = {0x80, 0x61, 3, NO_FIELD,
	 HAS_DATA | HAS_STATSN | HAS_WINDOW | HAS_RESPONSE,
	 BYTE(4) | BYTES(8, 8)},
	[ISCSI_TASK_RESPONSE] = {0x80, 0x7f, NO_FIELD, NO_FIELD,
	 HAS_STATSN | HAS_WINDOW | HAS_RESPONSE,
	 BYTES(3, 13) | BYTES(20, 4) | BYTES(36, 12)},
	[ISCSI_LOGIN_RESPONSE] = {0x00, 0x30, 36, NO_FIELD,
	 HAS_DATA | HAS_LOGIN | HAS_STATSN | HAS_WINDOW,
	 BYTE(4) | BYTES(20, 4) | BYTES(38, 10)},
	[ISCSI_TEXT_RESPONSE] = {0x00, 0x3f, NO_FIELD, NO_FIELD,
	 HAS_DATA | HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW,
	 BYTES(2, 3) | BYTES(36, 12)},
	[ISCSI_DATA_IN] = {0x00, 0x38, 3, NO_FIELD,
	 HAS_DATA | HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW | HAS_DATASN | HAS_OFFSET,
	 BYTE(2) | BYTE(4)},
	[ISCSI_LOGOUT_RESPONSE] = {0x80, 0x7f, NO_FIELD, NO_FIELD,
	 HAS_STATSN | HAS_WINDOW | HAS_RESPONSE,
	 BYTES(3, 13) | BYTES(20, 4) | BYTES(36, 4) | BYTES(44, 4)},
	[ISCSI_R2T] = {0x80, 0x7f, NO_FIELD, 44,
	 HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW | HAS_DATASN | HAS_OFFSET,
	 BYTES(2, 6)},
	[ISCSI_ASYNC] = {0x80, 0x7f, 36, NO_FIELD,
	 HAS_DATA | HAS_LUN | HAS_STATSN | HAS_WINDOW,
	 BYTES(2, 3) | BYTES(20, 4) | BYTES(44, 4)},
	[ISCSI_REJECT] = {0x80, 0x7f, NO_FIELD, NO_FIELD,
	 HAS_DATA | HAS_STATSN | HAS_WINDOW | HAS_DATASN | HAS_RESPONSE,
	 BYTES(3, 2) | BYTES(8, 8) | BYTES(20, 4) | BYTES(40, 8)},
	/* clang-format on */
};

static const struct iscsi_pdu_format *
iscsi_pdu_format_find(uint8_t opcode)
{
	const struct iscsi_pdu_format *format = &iscsi_pdu_formats[opcode & 0x3f];

	return format->has != 0 ? format : NULL;
}

/* Opcodes 0x1c to 0x1e and 0x3c to 0x3e are vendor specific: their boundaries follow the common layout; their fields
 * are unknown. */
static bool
iscsi_opcode_is_vendor(uint8_t opcode)
{
	return (opcode & 0x1f) >= 0x1c && (opcode & 0x1f) <= 0x1e;
}

enum anomaly
iscsi_validate_bhs(struct slice bhs, bool from_target, uint32_t limit)
{
	uint8_t first = slice_u8(bhs, 0), opcode = first & 0x3f;
	const struct iscsi_pdu_format *format = iscsi_pdu_format_find(opcode);

	if ((first & 0x80) != 0 || iscsi_opcode_is_target(opcode) != from_target ||
	    (format == NULL && !iscsi_opcode_is_vendor(opcode)))
		return ANOMALY_ISCSI_OPCODE;
	if (iscsi_data_length(bhs) > limit)
		return ANOMALY_ISCSI_LENGTH;
	if (format == NULL)
		return ANOMALY_NONE;
	if ((iscsi_data_length(bhs) > 0 && (format->has & HAS_DATA) == 0) ||
	    (iscsi_ahs_length(bhs) > 0 && (format->has & HAS_AHS) == 0))
		return ANOMALY_ISCSI_LENGTH;
	return ANOMALY_NONE;
}

/* --- fixed bits --- */

static bool
iscsi_reserved_is_zero(struct slice bhs, uint64_t reserved)
{
	for (uint32_t i = 0; i < ISCSI_BHS_LEN; i++)
		if ((reserved >> i & 1) != 0 && slice_u8(bhs, i) != 0)
			return false;
	return true;
}

/* Command window of a target: MaxCmdSN is ExpCmdSN - 1 if the window is closed, otherwise not far ahead of ExpCmdSN
 * (section 4.2.2.1). */
static bool
iscsi_cmdsn_window_is_valid(struct slice bhs)
{
	return slice_u32(bhs, 32) - slice_u32(bhs, 28) + 1 <= 0xffff;
}

/* Rules that a row of the table cannot express. */
static bool
iscsi_bhs_matches_opcode(struct slice bhs)
{
	uint8_t flags = slice_u8(bhs, 1);
	uint32_t itt = slice_u32(bhs, 16), data = iscsi_data_length(bhs);

	switch ((enum iscsi_opcode)(slice_u8(bhs, 0) & 0x3f)) {
	case ISCSI_SCSI_COMMAND:
		/* Without R and W no data is expected.  Without F unsolicited data follows, which requires W. */
		return itt != ISCSI_RESERVED_TAG && ((flags & 0x60) != 0 || slice_u32(bhs, 20) == 0) &&
		       (flags & 0x07) <= 4 && (flags & 0xa0) != 0;
	case ISCSI_TASK_REQUEST:
		return (flags & 0x7f) >= 1 && (flags & 0x7f) <= 14 && itt != ISCSI_RESERVED_TAG;
	case ISCSI_LOGIN_REQUEST:
		return (slice_u8(bhs, 0) & 0x40) != 0 && slice_u8(bhs, 2) == 0 && slice_u8(bhs, 3) == 0;
	case ISCSI_LOGIN_RESPONSE:
		return slice_u8(bhs, 2) == 0 && slice_u8(bhs, 3) == 0;
	case ISCSI_DATA_OUT:
	case ISCSI_DATA_IN:
		return data > 0 && itt != ISCSI_RESERVED_TAG && slice_u32(bhs, 40) + data >= data &&
		       ((flags & ISCSI_DATA_STATUS) != 0 || slice_u8(bhs, 3) == 0);
	case ISCSI_R2T:
		return itt != ISCSI_RESERVED_TAG && slice_u32(bhs, 20) != ISCSI_RESERVED_TAG && slice_u32(bhs, 44) != 0;
	case ISCSI_ASYNC:
	case ISCSI_REJECT:
		return itt == ISCSI_RESERVED_TAG;
	case ISCSI_NOP_OUT:
	case ISCSI_NOP_IN:
		/* A NOP carries an initiator task tag (it requests a reply) or a target transfer tag (it is one). */
		return itt != ISCSI_RESERVED_TAG || slice_u32(bhs, 20) != ISCSI_RESERVED_TAG;
	default:
		return true;
	}
}

/* First bytes of headers, one bit each: operation codes of the table; those of an initiator with and without the bit
 * for immediate delivery. */
static const uint64_t iscsi_initiator_opcodes = 0x1007f, iscsi_target_opcodes = 0x8006007f00000000;

_Static_assert(ISCSI_SNACK == 0x10 && ISCSI_R2T == 0x31 && ISCSI_ASYNC == 0x32 && ISCSI_REJECT == 0x3f,
	       "the masks have the operation codes of the table");

static inline bool
iscsi_bhs_may_begin(const uint64_t opcodes[4], uint8_t first, uint8_t flags)
{
	const struct iscsi_pdu_format *format = &iscsi_pdu_formats[first & 0x3f];

	return (opcodes[first >> 6] >> (first & 0x3f) & 1) != 0 &&
	       ((flags ^ format->one) & (format->one | format->zero)) == 0;
}

uint32_t
iscsi_bhs_search(struct slice bytes, uint32_t at, bool from_target)
{
	const uint64_t opcodes[4] = {from_target ? iscsi_target_opcodes : iscsi_initiator_opcodes,
				     from_target ? 0 : iscsi_initiator_opcodes};

	for (; at + ISCSI_BHS_LEN <= bytes.len; at++)
		if (iscsi_bhs_may_begin(opcodes, slice_u8(bytes, at), slice_u8(bytes, at + 1)))
			return at;
	return bytes.len;
}

bool
iscsi_bhs_is_plausible(struct slice bhs, bool from_target, uint32_t limit)
{
	const struct iscsi_pdu_format *format = iscsi_pdu_format_find(slice_u8(bhs, 0) & 0x3f);
	uint8_t flags = slice_u8(bhs, 1);

	if (format == NULL || bhs.len < ISCSI_BHS_LEN || iscsi_validate_bhs(bhs, from_target, limit) != ANOMALY_NONE)
		return false;
	if (from_target && (slice_u8(bhs, 0) & 0x40) != 0)
		return false;
	if ((flags & format->one) != format->one || (flags & format->zero) != 0 ||
	    !iscsi_reserved_is_zero(bhs, format->reserved))
		return false;
	return ((format->has & HAS_WINDOW) == 0 || iscsi_cmdsn_window_is_valid(bhs)) &&
	       iscsi_bhs_matches_opcode(bhs);
}

/* --- the fields --- */

uint64_t
iscsi_decode_lun(uint64_t raw)
{
	if ((raw & 0xffffffffffffu) != 0)
		return raw;
	/* Peripheral device addressing on bus 0, or flat space addressing. */
	if (raw >> 56 == 0 || raw >> 62 == 1)
		return raw >> 48 & 0x3fff;
	return raw;
}

/* Length of a CDB by the group of its operation code (SPC-4 section 4.2.5.1); `available` if the group does not define
 * one. */
static uint32_t
iscsi_cdb_length(uint8_t operation, uint32_t available)
{
	static const uint8_t by_group[8] = {6, 10, 10, 0, 16, 12, 0, 0};
	uint32_t length = by_group[operation >> 5];

	return length != 0 && available == ISCSI_CDB_LEN ? length : available;
}

/* Takes one additional header segment; false if it does not fit. */
static bool
iscsi_parse_ahs(struct cursor *rest, struct iscsi_pdu *pdu)
{
	struct slice head, body;
	uint32_t length;
	uint8_t type;

	if (!cursor_take(rest, 3, &head))
		return false;
	length = slice_u16(head, 0);
	type = slice_u8(head, 2) & 0x3f;
	/* AHSLength counts what follows these three bytes, without the padding to four (section 11.2.2). */
	if (!cursor_take(rest, length, &body) || !cursor_skip(rest, iscsi_pad_length(3 + length) - (3 + length)))
		return false;
	if (type != 1)
		return type != 0;
	/* Extended CDB, at most once: one reserved byte, then the bytes beyond the 16th. */
	if (length < 2 || pdu->cdb_extension.len != 0)
		return false;
	pdu->cdb_extension = slice_sub(body, 1, length - 1);
	return true;
}

static enum anomaly
iscsi_parse_command(struct slice header, struct iscsi_pdu *pdu)
{
	struct cursor rest = cursor_init(header.at, header.len, header.len);
	struct slice bhs;

	if (!cursor_take(&rest, ISCSI_BHS_LEN, &bhs))
		return ANOMALY_ISCSI_AHS;
	while (rest.captured > 0)
		if (!iscsi_parse_ahs(&rest, pdu))
			return ANOMALY_ISCSI_AHS;
	pdu->cdb = slice_sub(bhs, 32, ISCSI_CDB_LEN);
	if (pdu->cdb_extension.len == 0)
		pdu->cdb = slice_sub(pdu->cdb, 0, iscsi_cdb_length(slice_u8(pdu->cdb, 0), ISCSI_CDB_LEN));
	return ANOMALY_NONE;
}

static uint32_t
iscsi_field_u32(struct slice bhs, const struct iscsi_pdu_format *format, enum iscsi_field what, uint32_t at)
{
	return (format->has & (unsigned)what) != 0 ? slice_u32(bhs, at) : 0;
}

enum anomaly
iscsi_parse_header(struct slice header, struct iscsi_pdu *pdu)
{
	uint8_t first = slice_u8(header, 0);
	const struct iscsi_pdu_format *format = iscsi_pdu_format_find(first & 0x3f);

	*pdu = (struct iscsi_pdu){.opcode = first & 0x3f,
				  .immediate = (first & 0x40) != 0,
				  .flags = slice_u8(header, 1),
				  .data_length = iscsi_data_length(header)};
	if (format == NULL)
		return ANOMALY_NONE;
	pdu->itt = slice_u32(header, 16);
	pdu->ttt = iscsi_field_u32(header, format, HAS_TTT, 20);
	pdu->cmdsn = iscsi_field_u32(header, format, HAS_CMDSN, 24);
	pdu->statsn = iscsi_field_u32(header, format, HAS_STATSN, 24);
	pdu->datasn = iscsi_field_u32(header, format, HAS_DATASN, 36);
	pdu->buffer_offset = iscsi_field_u32(header, format, HAS_OFFSET, 40);
	pdu->transfer_length = format->transfer != NO_FIELD ? slice_u32(header, format->transfer) : 0;
	pdu->response = (format->has & HAS_RESPONSE) != 0 ? slice_u8(header, 2) : 0;
	pdu->status = format->status != NO_FIELD ? slice_u8(header, format->status) : 0;
	if ((format->has & HAS_LUN) != 0)
		pdu->lun = iscsi_decode_lun(slice_u64(header, 8));
	if ((format->has & HAS_LOGIN) != 0) {
		slice_copy(header, 8, pdu->isid, sizeof pdu->isid);
		pdu->tsih = slice_u16(header, 14);
	}
	switch (pdu->opcode) {
	case ISCSI_SCSI_COMMAND:
		return iscsi_parse_command(header, pdu);
	case ISCSI_LOGIN_RESPONSE:
		pdu->status = slice_u16(header, 36);
		break;
	case ISCSI_DATA_IN:
		/* Reserved unless the PDU carries the status (section 11.7.4). */
		if ((pdu->flags & ISCSI_DATA_STATUS) == 0)
			pdu->statsn = pdu->status = 0;
		break;
	default:
		break;
	}
	return ANOMALY_NONE;
}

/* --- digests --- */

uint32_t
iscsi_digest_update(uint32_t crc, struct slice bytes)
{
	return crc32c_update(crc, bytes);
}

bool
iscsi_digest_is_valid(uint32_t crc, struct slice digest)
{
	/* The CRC is sent least significant byte first (RFC 3720 appendix B.4). */
	return digest.len == ISCSI_DIGEST_LEN && __builtin_bswap32(slice_u32(digest, 0)) == ~crc;
}

static void
iscsi_text_begin_pair(struct iscsi_text *text)
{
	text->key_length = text->value_length = 0;
	text->in_value = text->malformed = false;
}

/* Ends a pair at its NUL.  False if the pair is invalid; an empty pair is padding, which is valid. */
static bool
iscsi_text_end_pair(struct iscsi_text *text, iscsi_pair *pair, void *context)
{
	bool good = !text->malformed && text->in_value, empty = text->key_length == 0 && !text->malformed;

	if (good) {
		text->key[text->key_length] = '\0';
		text->value[text->value_length <= ISCSI_VALUE_MAX ? text->value_length : 0] = '\0';
		pair(context, text->key, text->value);
	}
	iscsi_text_begin_pair(text);
	return good || empty;
}

/* Keys are letters, digits and . - + @ _ (section 6.1); # occurs in extension keys (X#), and / is accepted as well. */
static bool
iscsi_text_is_key_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
	       c == '+' || c == '@' || c == '_' || c == '/' || c == '#';
}

static void
iscsi_text_add_key_char(struct iscsi_text *text, uint8_t c)
{
	if (c == '=' && text->key_length > 0)
		text->in_value = true;
	else if (iscsi_text_is_key_char(c) && text->key_length < ISCSI_KEY_MAX)
		text->key[text->key_length++] = (char)c;
	else
		text->malformed = true;
}

/* A length of ISCSI_VALUE_MAX + 1 marks a value that is too long to keep. */
static void
iscsi_text_add_value_char(struct iscsi_text *text, uint8_t c)
{
	if (text->value_length < ISCSI_VALUE_MAX)
		text->value[text->value_length] = (char)c;
	if (text->value_length <= ISCSI_VALUE_MAX)
		text->value_length++;
}

bool
iscsi_text_feed(struct iscsi_text *text, struct slice bytes, iscsi_pair *pair, void *context)
{
	bool good = true;

	for (uint32_t i = 0; i < bytes.len; i++) {
		uint8_t c = slice_u8(bytes, i);

		if (c == '\0') {
			good &= iscsi_text_end_pair(text, pair, context);
		} else if (text->malformed) {
			continue;
		} else if (!text->in_value) {
			iscsi_text_add_key_char(text, c);
		} else {
			iscsi_text_add_value_char(text, c);
		}
	}
	return good;
}

bool
iscsi_text_end(struct iscsi_text *text)
{
	bool complete = text->key_length == 0 && !text->malformed;

	iscsi_text_begin_pair(text);
	return complete;
}
