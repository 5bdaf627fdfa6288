/* SPDX-License-Identifier: BSD-2-Clause */
/* iSCSI PDU headers (RFC 7143 section 11). */
#include "apps/iscsi/iscsi_pdu.h"

#include "dissect/crc32c.h"

/* Fields that a kind of PDU has in its basic header, each with its offset. */
enum has {
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
#define NOT_HERE       0xff

/*
 * One row per kind of PDU.  `one` and `zero` are the fixed bits of the second byte; `reserved` lists the bytes that
 * must be zero.  Receivers ignore reserved bytes, so only the boundary search checks them.  `status` and `transfer` are
 * the offsets of those fields.
 */
static const struct shape {
	uint8_t opcode, one, zero;
	uint8_t status, transfer;
	uint16_t has;
	uint64_t reserved;
} shapes[] = {
	/* clang-format off */
	{ISCSI_NOP_OUT,		0x80, 0x7f, NOT_HERE, NOT_HERE, HAS_DATA | HAS_LUN | HAS_TTT | HAS_CMDSN,
	 BYTES(2, 3) | BYTES(32, 16)},
	{ISCSI_SCSI_COMMAND,	0x00, 0x18, NOT_HERE, 20, HAS_DATA | HAS_LUN | HAS_CMDSN | HAS_AHS,
	 BYTE(3)},
	{ISCSI_TASK_REQUEST,	0x80, 0x00, NOT_HERE, NOT_HERE, HAS_LUN | HAS_CMDSN,
	 BYTES(2, 6) | BYTES(40, 8)},
	{ISCSI_LOGIN_REQUEST,	0x00, 0x30, NOT_HERE, NOT_HERE, HAS_DATA | HAS_LOGIN | HAS_CMDSN,
	 BYTE(4) | BYTES(22, 2) | BYTES(32, 16)},
	{ISCSI_TEXT_REQUEST,	0x00, 0x3f, NOT_HERE, NOT_HERE, HAS_DATA | HAS_LUN | HAS_TTT | HAS_CMDSN,
	 BYTES(2, 3) | BYTES(32, 16)},
	{ISCSI_DATA_OUT,	0x00, 0x7f, NOT_HERE, NOT_HERE, HAS_DATA | HAS_LUN | HAS_TTT | HAS_DATASN | HAS_OFFSET,
	 BYTES(2, 3) | BYTES(24, 4) | BYTES(32, 4) | BYTES(44, 4)},
	{ISCSI_LOGOUT_REQUEST,	0x80, 0x7c, NOT_HERE, NOT_HERE, HAS_CMDSN,
	 BYTES(2, 14) | BYTES(22, 2) | BYTES(32, 16)},
	{ISCSI_SNACK,		0x80, 0x70, NOT_HERE, NOT_HERE, HAS_LUN | HAS_TTT,
	 BYTES(2, 6) | BYTES(24, 4) | BYTES(32, 8)},
	{ISCSI_NOP_IN,		0x80, 0x7f, NOT_HERE, NOT_HERE, HAS_DATA | HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW,
	 BYTES(2, 3) | BYTES(36, 12)},
	{ISCSI_SCSI_RESPONSE,	0x80, 0x61, 3, NOT_HERE, HAS_DATA | HAS_STATSN | HAS_WINDOW | HAS_RESPONSE,
	 BYTE(4) | BYTES(8, 8)},
	{ISCSI_TASK_RESPONSE,	0x80, 0x7f, NOT_HERE, NOT_HERE, HAS_STATSN | HAS_WINDOW | HAS_RESPONSE,
	 BYTES(3, 13) | BYTES(20, 4) | BYTES(36, 12)},
	{ISCSI_LOGIN_RESPONSE,	0x00, 0x30, 36, NOT_HERE, HAS_DATA | HAS_LOGIN | HAS_STATSN | HAS_WINDOW,
	 BYTE(4) | BYTES(20, 4) | BYTES(38, 10)},
	{ISCSI_TEXT_RESPONSE,	0x00, 0x3f, NOT_HERE, NOT_HERE, HAS_DATA | HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW,
	 BYTES(2, 3) | BYTES(36, 12)},
	{ISCSI_DATA_IN,		0x00, 0x38, 3, NOT_HERE,
	 HAS_DATA | HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW | HAS_DATASN | HAS_OFFSET,
	 BYTE(2) | BYTE(4)},
	{ISCSI_LOGOUT_RESPONSE,	0x80, 0x7f, NOT_HERE, NOT_HERE, HAS_STATSN | HAS_WINDOW | HAS_RESPONSE,
	 BYTES(3, 13) | BYTES(20, 4) | BYTES(36, 4) | BYTES(44, 4)},
	{ISCSI_R2T,		0x80, 0x7f, NOT_HERE, 44,
	 HAS_LUN | HAS_TTT | HAS_STATSN | HAS_WINDOW | HAS_DATASN | HAS_OFFSET,
	 BYTES(2, 6)},
	{ISCSI_ASYNC,		0x80, 0x7f, 36, NOT_HERE, HAS_DATA | HAS_LUN | HAS_STATSN | HAS_WINDOW,
	 BYTES(2, 3) | BYTES(20, 4) | BYTES(44, 4)},
	{ISCSI_REJECT,		0x80, 0x7f, NOT_HERE, NOT_HERE,
	 HAS_DATA | HAS_STATSN | HAS_WINDOW | HAS_DATASN | HAS_RESPONSE,
	 BYTES(3, 2) | BYTES(8, 8) | BYTES(20, 4) | BYTES(40, 8)},
	/* clang-format on */
};

static const struct shape *
shape_of(uint8_t opcode)
{
	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		if (shapes[i].opcode == opcode)
			return &shapes[i];
	return NULL;
}

/* Opcodes 0x1c to 0x1e and 0x3c to 0x3e are vendor specific: their boundaries follow the common layout; their fields
 * are unknown. */
static bool
is_vendors(uint8_t opcode)
{
	return (opcode & 0x1f) >= 0x1c && (opcode & 0x1f) <= 0x1e;
}

enum anomaly
iscsi_check(struct view bhs, bool from_target, uint32_t limit)
{
	uint8_t first = view_u8(bhs, 0), opcode = first & 0x3f;
	const struct shape *shape = shape_of(opcode);

	if ((first & 0x80) != 0 || iscsi_is_targets(opcode) != from_target || (shape == NULL && !is_vendors(opcode)))
		return ANOMALY_ISCSI_OPCODE;
	if (iscsi_data_length(bhs) > limit)
		return ANOMALY_ISCSI_LENGTH;
	if (shape == NULL)
		return ANOMALY_NONE;
	if ((iscsi_data_length(bhs) > 0 && (shape->has & HAS_DATA) == 0) ||
	    (iscsi_ahs_length(bhs) > 0 && (shape->has & HAS_AHS) == 0))
		return ANOMALY_ISCSI_LENGTH;
	return ANOMALY_NONE;
}

/* --- fixed bits --- */

static bool
reserved_are_zero(struct view bhs, uint64_t reserved)
{
	for (uint32_t i = 0; i < ISCSI_BHS; i++)
		if ((reserved >> i & 1) != 0 && view_u8(bhs, i) != 0)
			return false;
	return true;
}

/* Command window of a target: MaxCmdSN is ExpCmdSN - 1 if the window is closed, otherwise not far ahead of ExpCmdSN
 * (section 4.2.2.1). */
static bool
window_is_sane(struct view bhs)
{
	return view_u32(bhs, 32) - view_u32(bhs, 28) + 1 <= 0xffff;
}

/* Rules that a row of the table cannot express. */
static bool
is_like(struct view bhs, const struct shape *shape)
{
	uint8_t flags = view_u8(bhs, 1);
	uint32_t itt = view_u32(bhs, 16), data = iscsi_data_length(bhs);

	switch ((enum iscsi_opcode)shape->opcode) {
	case ISCSI_SCSI_COMMAND:
		/* Without R and W no data is expected.  Without F unsolicited data follows, which requires W. */
		return itt != ISCSI_NO_TAG && ((flags & 0x60) != 0 || view_u32(bhs, 20) == 0) &&
		       (flags & 0x07) <= 4 && (flags & 0xa0) != 0;
	case ISCSI_TASK_REQUEST:
		return (flags & 0x7f) >= 1 && (flags & 0x7f) <= 14 && itt != ISCSI_NO_TAG;
	case ISCSI_LOGIN_REQUEST:
		return (view_u8(bhs, 0) & 0x40) != 0 && view_u8(bhs, 2) == 0 && view_u8(bhs, 3) == 0;
	case ISCSI_LOGIN_RESPONSE:
		return view_u8(bhs, 2) == 0 && view_u8(bhs, 3) == 0;
	case ISCSI_DATA_OUT:
	case ISCSI_DATA_IN:
		return data > 0 && itt != ISCSI_NO_TAG && view_u32(bhs, 40) + data >= data &&
		       ((flags & ISCSI_DATA_STATUS) != 0 || view_u8(bhs, 3) == 0);
	case ISCSI_R2T:
		return itt != ISCSI_NO_TAG && view_u32(bhs, 20) != ISCSI_NO_TAG && view_u32(bhs, 44) != 0;
	case ISCSI_ASYNC:
	case ISCSI_REJECT:
		return itt == ISCSI_NO_TAG;
	case ISCSI_NOP_OUT:
	case ISCSI_NOP_IN:
		/* A NOP carries an initiator task tag (it requests a reply) or a target transfer tag (it is one). */
		return itt != ISCSI_NO_TAG || view_u32(bhs, 20) != ISCSI_NO_TAG;
	default:
		return true;
	}
}

bool
iscsi_plausible(struct view bhs, bool from_target, uint32_t limit)
{
	const struct shape *shape = shape_of(view_u8(bhs, 0) & 0x3f);
	uint8_t flags = view_u8(bhs, 1);

	if (shape == NULL || bhs.len < ISCSI_BHS || iscsi_check(bhs, from_target, limit) != ANOMALY_NONE)
		return false;
	if (from_target && (view_u8(bhs, 0) & 0x40) != 0)
		return false;
	if ((flags & shape->one) != shape->one || (flags & shape->zero) != 0 ||
	    !reserved_are_zero(bhs, shape->reserved))
		return false;
	return ((shape->has & HAS_WINDOW) == 0 || window_is_sane(bhs)) && is_like(bhs, shape);
}

/* --- the fields --- */

uint64_t
iscsi_lun(uint64_t raw)
{
	if ((raw & 0xffffffffffffu) != 0)
		return raw;
	/* Peripheral device addressing on bus 0, or flat space addressing. */
	if (raw >> 56 == 0 || raw >> 62 == 1)
		return raw >> 48 & 0x3fff;
	return raw;
}

uint32_t
iscsi_cdb_length(uint8_t operation, uint32_t held)
{
	static const uint8_t by_group[8] = {6, 10, 10, 0, 16, 12, 0, 0};
	uint32_t length = by_group[operation >> 5];

	return length != 0 && held == ISCSI_CDB ? length : held;
}

/* Takes one additional header segment; false if it does not fit. */
static bool
read_ahs(struct cursor *rest, struct iscsi_pdu *pdu)
{
	struct view head, body;
	uint32_t length;
	uint8_t type;

	if (!cursor_take(rest, 3, &head))
		return false;
	length = view_u16(head, 0);
	type = view_u8(head, 2) & 0x3f;
	/* AHSLength counts what follows these three bytes, without the padding to four (section 11.2.2). */
	if (!cursor_take(rest, length, &body) || !cursor_skip(rest, iscsi_padded(3 + length) - (3 + length)))
		return false;
	if (type != 1)
		return type != 0;
	/* Extended CDB, at most once: one reserved byte, then the bytes beyond the 16th. */
	if (length < 2 || pdu->more.len != 0)
		return false;
	pdu->more = view_part(body, 1, length - 1);
	return true;
}

static enum anomaly
read_command(struct view header, struct iscsi_pdu *pdu)
{
	struct cursor rest = cursor_over(header.at, header.len, header.len);
	struct view bhs;

	if (!cursor_take(&rest, ISCSI_BHS, &bhs))
		return ANOMALY_ISCSI_AHS;
	while (rest.have > 0)
		if (!read_ahs(&rest, pdu))
			return ANOMALY_ISCSI_AHS;
	pdu->cdb = view_part(bhs, 32, ISCSI_CDB);
	if (pdu->more.len == 0)
		pdu->cdb = view_part(pdu->cdb, 0, iscsi_cdb_length(view_u8(pdu->cdb, 0), ISCSI_CDB));
	return ANOMALY_NONE;
}

static uint32_t
field(struct view bhs, const struct shape *shape, enum has what, uint32_t at)
{
	return (shape->has & (unsigned)what) != 0 ? view_u32(bhs, at) : 0;
}

enum anomaly
iscsi_read(struct view header, struct iscsi_pdu *pdu)
{
	uint8_t first = view_u8(header, 0);
	const struct shape *shape = shape_of(first & 0x3f);

	*pdu = (struct iscsi_pdu){.opcode = first & 0x3f,
				  .immediate = (first & 0x40) != 0,
				  .flags = view_u8(header, 1),
				  .data = iscsi_data_length(header)};
	if (shape == NULL)
		return ANOMALY_NONE;
	pdu->itt = view_u32(header, 16);
	pdu->ttt = field(header, shape, HAS_TTT, 20);
	pdu->cmdsn = field(header, shape, HAS_CMDSN, 24);
	pdu->statsn = field(header, shape, HAS_STATSN, 24);
	pdu->datasn = field(header, shape, HAS_DATASN, 36);
	pdu->offset = field(header, shape, HAS_OFFSET, 40);
	pdu->transfer = shape->transfer != NOT_HERE ? view_u32(header, shape->transfer) : 0;
	pdu->response = (shape->has & HAS_RESPONSE) != 0 ? view_u8(header, 2) : 0;
	pdu->status = shape->status != NOT_HERE ? view_u8(header, shape->status) : 0;
	if ((shape->has & HAS_LUN) != 0)
		pdu->lun = iscsi_lun(view_u64(header, 8));
	if ((shape->has & HAS_LOGIN) != 0) {
		view_copy(header, 8, pdu->isid, sizeof pdu->isid);
		pdu->tsih = view_u16(header, 14);
	}
	switch (pdu->opcode) {
	case ISCSI_SCSI_COMMAND:
		return read_command(header, pdu);
	case ISCSI_LOGIN_RESPONSE:
		pdu->status = view_u16(header, 36);
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
iscsi_digest_update(uint32_t crc, struct view bytes)
{
	return crc32c_update(crc, bytes);
}

bool
iscsi_digest_holds(uint32_t crc, struct view digest)
{
	/* The CRC is sent least significant byte first (RFC 3720 appendix B.4). */
	return digest.len == ISCSI_DIGEST && __builtin_bswap32(view_u32(digest, 0)) == ~crc;
}
