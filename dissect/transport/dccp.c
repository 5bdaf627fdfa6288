/* SPDX-License-Identifier: BSD-2-Clause */
/* DCCP, RFC 4340. */
#include "dissect/layers.h"

/* Section 5.1: lengths of the generic header with 24-bit and with 48-bit sequence numbers. */
enum { DCCP_HEADER_SHORT = 12, DCCP_HEADER_LONG = 16 };
enum { DCCP_BIT_X = 0x01, DCCP_RESERVED_BITS = 0xe0 };
enum {
	DCCP_OPTION_MANDATORY = 1,
	DCCP_OPTION_LENGTHS_BEGIN = 32, /* options of lower types are one byte long */
	DCCP_OPTION_CHANGE_L = 32,
	DCCP_OPTION_CONFIRM_R = 35,
	DCCP_OPTION_INIT_COOKIE = 36,
	DCCP_OPTION_NDP_COUNT = 37,
	DCCP_OPTION_ACK_VECTOR_0 = 38,
	DCCP_OPTION_ACK_VECTOR_1 = 39,
	DCCP_OPTION_DATA_DROPPED = 40,
	DCCP_OPTION_TIMESTAMP = 41,
	DCCP_OPTION_TIMESTAMP_ECHO = 42,
	DCCP_OPTION_ELAPSED_TIME = 43,
	DCCP_OPTION_DATA_CHECKSUM = 44,
};

static uint64_t
dccp_u48(struct slice bytes, uint32_t offset)
{
	return (uint64_t)slice_u16(bytes, offset) << 32 | slice_u32(bytes, offset + 2);
}

/* Section 5.1: only these types may have 24-bit sequence numbers. */
static bool
dccp_type_may_be_short(uint8_t type)
{
	return type == DCCP_DATA || type == DCCP_ACK || type == DCCP_DATA_ACK;
}

/* Whether the fields after the generic header are defined: not those of a reserved type, nor those of a type with
 * sequence numbers that are too short for it. */
static bool
dccp_layout_is_known(const struct dccp_layer *dccp)
{
	return dccp->type <= DCCP_SYNC_ACK && (dccp->extended || dccp_type_may_be_short(dccp->type));
}

/* Length of the header without options (sections 5.2 to 5.6); of the generic header if the layout is unknown. */
static uint32_t
dccp_fixed_length(const struct dccp_layer *dccp)
{
	uint32_t generic = dccp->extended ? DCCP_HEADER_LONG : DCCP_HEADER_SHORT;
	uint32_t acknowledgement = dccp->extended ? 8 : 4;

	if (!dccp_layout_is_known(dccp))
		return generic;
	switch ((enum dccp_type)dccp->type) {
	case DCCP_REQUEST:
		return generic + 4;
	case DCCP_DATA:
		return generic;
	case DCCP_RESPONSE:
	case DCCP_RESET:
		return generic + acknowledgement + 4;
	case DCCP_ACK:
	case DCCP_DATA_ACK:
	case DCCP_CLOSE_REQ:
	case DCCP_CLOSE:
	case DCCP_SYNC:
	case DCCP_SYNC_ACK:
		break;
	}
	return generic + acknowledgement;
}

/* Records the sequence number; the first 12 bytes of the header are recorded before. */
static void
dccp_record_sequence(struct dccp_layer *dccp, struct slice fixed)
{
	dccp->seq = dccp->extended ? dccp_u48(fixed, 10) : slice_u32(fixed, 8) & 0xffffff;
}

/* Records the fields after the generic header. */
static void
dccp_record_subheader(struct dccp_layer *dccp, struct slice fixed)
{
	uint32_t at = dccp->extended ? DCCP_HEADER_LONG : DCCP_HEADER_SHORT;

	if (dccp->type != DCCP_REQUEST && dccp->type != DCCP_DATA) {
		dccp->has_ack = true;
		dccp->ack = dccp->extended ? dccp_u48(fixed, at + 2) : slice_u32(fixed, at) & 0xffffff;
		at += dccp->extended ? 8 : 4;
	}
	if (dccp->type == DCCP_REQUEST || dccp->type == DCCP_RESPONSE)
		dccp->service = slice_u32(fixed, at);
	if (dccp->type == DCCP_RESET)
		dccp->reset_code = slice_u8(fixed, at);
}

/* Whether a reserved field is not 0: after the sequence number's flag, and before the acknowledgement number. */
static bool
dccp_reserved_is_set(const struct dccp_layer *dccp, struct slice fixed)
{
	if ((slice_u8(fixed, 8) & DCCP_RESERVED_BITS) != 0 || (dccp->extended && slice_u8(fixed, 9) != 0))
		return true;
	if (!dccp->has_ack)
		return false;
	return dccp->extended ? slice_u16(fixed, DCCP_HEADER_LONG) != 0 : slice_u8(fixed, DCCP_HEADER_SHORT) != 0;
}

static void
dccp_validate(struct packet *packet, struct slice fixed)
{
	const struct dccp_layer *dccp = &packet->dccp;

	if (dccp->type > DCCP_SYNC_ACK)
		packet_add_anomaly(packet, ANOMALY_DCCP_TYPE);
	else if (!dccp_layout_is_known(dccp))
		packet_add_anomaly(packet, ANOMALY_DCCP_SHORT_SEQUENCE);
	if (dccp_reserved_is_set(dccp, fixed))
		packet_add_anomaly(packet, ANOMALY_DCCP_RESERVED);
	if (dccp->sport == 0 || dccp->dport == 0)
		packet_add_anomaly(packet, ANOMALY_DCCP_PORT_ZERO);
	if (dccp->coverage != 0 && (dccp->coverage - 1u) * 4 > packet->payload_wire)
		packet_add_anomaly(packet, ANOMALY_DCCP_COVERAGE);
	if (dccp->service == UINT32_MAX) /* section 8.1.2 */
		packet_add_anomaly(packet, ANOMALY_DCCP_SERVICE);
}

/* Section 5.8.  Takes the next option: one byte, or a type and a length that counts both.  False if it is not in the
 * packet or not in the capture. */
static bool
dccp_take_option(struct cursor *c, struct slice *option)
{
	struct slice head;

	if (!cursor_peek(c, 1, &head) || slice_u8(head, 0) < DCCP_OPTION_LENGTHS_BEGIN)
		return cursor_take(c, 1, option);
	if (!cursor_peek(c, 2, &head))
		return cursor_take(c, 2, option); /* fails and sets the cursor's error */
	return slice_u8(head, 1) >= 2 && cursor_take(c, slice_u8(head, 1), option);
}

/* Whether the length of an option is one of its type (section 5.8, table 3). */
static bool
dccp_option_length_is_valid(struct slice option)
{
	uint8_t type = slice_u8(option, 0);

	if (type >= DCCP_OPTION_CHANGE_L && type <= DCCP_OPTION_CONFIRM_R)
		return option.len >= 3; /* section 6.1: the feature number is never missing */
	switch (type) {
	case DCCP_OPTION_NDP_COUNT:
		return option.len >= 3 && option.len <= 8;
	case DCCP_OPTION_TIMESTAMP:
	case DCCP_OPTION_DATA_CHECKSUM:
		return option.len == 6;
	case DCCP_OPTION_TIMESTAMP_ECHO:
		return option.len == 6 || option.len == 8 || option.len == 10;
	case DCCP_OPTION_ELAPSED_TIME:
		return option.len == 4 || option.len == 6;
	default:
		return true;
	}
}

/* Whether a Data packet may have the option (section 5.8, table 3); in one, other options are ignored. */
static bool
dccp_option_suits_data(struct slice option)
{
	switch (slice_u8(option, 0)) {
	case DCCP_OPTION_MANDATORY:
	case DCCP_OPTION_INIT_COOKIE:
	case DCCP_OPTION_ACK_VECTOR_0:
	case DCCP_OPTION_ACK_VECTOR_1:
	case DCCP_OPTION_DATA_DROPPED:
	case DCCP_OPTION_ELAPSED_TIME:
		return false;
	default:
		return slice_u8(option, 0) < DCCP_OPTION_CHANGE_L || slice_u8(option, 0) > DCCP_OPTION_CONFIRM_R;
	}
}

/* Validates `wire` bytes of options, of which `options` are captured. */
static void
dccp_validate_options(struct packet *packet, struct slice options, uint32_t wire)
{
	struct cursor c = cursor_init(options.at, options.len, wire);
	struct slice option;
	bool mandatory = false;

	while (c.wire > 0) {
		if (!dccp_take_option(&c, &option)) {
			if (c.error != CURSOR_TRUNCATED)
				packet_add_anomaly(packet, ANOMALY_DCCP_OPTIONS);
			return;
		}
		/* Section 5.8.2: another option must follow. */
		if (mandatory && slice_u8(option, 0) == DCCP_OPTION_MANDATORY)
			packet_add_anomaly(packet, ANOMALY_DCCP_MANDATORY);
		mandatory = slice_u8(option, 0) == DCCP_OPTION_MANDATORY;
		if (!dccp_option_length_is_valid(option))
			packet_add_anomaly(packet, ANOMALY_DCCP_OPTION_LENGTH);
		if (packet->dccp.type == DCCP_DATA && !dccp_option_suits_data(option))
			packet_add_anomaly(packet, ANOMALY_DCCP_DATA_OPTION);
	}
	if (mandatory)
		packet_add_anomaly(packet, ANOMALY_DCCP_MANDATORY);
}

/* Records the first 12 bytes, which do not depend on the type. */
static void
dccp_record_generic(struct dccp_layer *dccp, struct slice generic)
{
	*dccp = (struct dccp_layer){
		.sport = slice_u16(generic, 0),
		.dport = slice_u16(generic, 2),
		.header_len = (uint16_t)(slice_u8(generic, 4) * 4),
		.ccval = slice_u8(generic, 5) >> 4,
		.coverage = slice_u8(generic, 5) & 15,
		.checksum = slice_u16(generic, 6),
		.type = slice_u8(generic, 8) >> 1 & 15,
		.extended = (slice_u8(generic, 8) & DCCP_BIT_X) != 0,
	};
}

void
dissect_dccp(struct packet *packet)
{
	struct cursor start = packet_cursor(packet), c = start;
	struct dccp_layer *dccp = &packet->dccp;
	struct slice generic, fixed, options;
	uint32_t length;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_peek(&c, DCCP_HEADER_SHORT, &generic)) {
		cursor_skip(&c, DCCP_HEADER_SHORT); /* fails and sets the cursor's error */
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_DCCP_SHORT);
		return;
	}
	dccp_record_generic(dccp, generic);
	length = dccp_fixed_length(dccp);
	if (dccp->header_len < length || dccp->header_len > c.wire) {
		packet_add_anomaly(packet, ANOMALY_DCCP_DATA_OFFSET);
		return;
	}
	if (!cursor_take(&c, length, &fixed)) {
		packet_add_anomaly(packet, ANOMALY_TRUNCATED_TRANSPORT);
		return;
	}
	cursor_take_captured(&c, dccp->header_len - length, &options);
	dccp->header = cursor_slice_between(&start, &c);
	packet->transport = TRANSPORT_DCCP;
	packet_advance(packet, &c);
	packet->payload_wire = c.wire;
	dccp_record_sequence(dccp, fixed);
	if (dccp_layout_is_known(dccp)) {
		dccp_record_subheader(dccp, fixed);
		dccp_validate_options(packet, options, dccp->header_len - length);
	}
	if (dccp->header.len < dccp->header_len)
		packet_add_anomaly(packet, ANOMALY_TRUNCATED_OPTIONS);
	dccp_validate(packet, fixed);
}
