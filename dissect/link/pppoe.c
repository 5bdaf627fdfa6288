/* SPDX-License-Identifier: BSD-2-Clause */
/* PPPoE session stage, RFC 2516, and the PPP protocol field, RFC 1661. */
#include "dissect/layers.h"

enum { PPPOE_HEADER = 6, PPPOE_VERSION_TYPE = 0x11, PPPOE_SESSION_DATA = 0 };

/* The protocol field may be compressed to one byte, whose value is then odd (RFC 1661 section 6.5). */
bool
dissect_ppp_protocol(struct cursor *c, uint16_t *type)
{
	struct slice high, low = {NULL, 0};
	uint32_t protocol;

	*type = 0;
	if (!cursor_take(c, 1, &high))
		return false;
	protocol = slice_u8(high, 0);
	if ((protocol & 1) == 0) {
		if (!cursor_take(c, 1, &low))
			return false;
		protocol = protocol << 8 | slice_u8(low, 0);
	}
	if (protocol == 0x0021)
		*type = ETHER_IPV4;
	else if (protocol == 0x0057)
		*type = ETHER_IPV6;
	else if (protocol == 0x0281)
		*type = ETHER_MPLS;
	else if (protocol == 0x0283)
		*type = ETHER_MPLS_UP;
	return true;
}

void
dissect_pppoe(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;
	uint16_t type;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, PPPOE_HEADER, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_PPPOE_SHORT);
		return;
	}
	if (slice_u8(header, 0) != PPPOE_VERSION_TYPE || slice_u8(header, 1) != PPPOE_SESSION_DATA) {
		packet_add_anomaly(packet, ANOMALY_PPPOE_VERSION);
		return;
	}
	if (slice_u16(header, 4) > c.wire) {
		packet_add_anomaly(packet, ANOMALY_PPPOE_LENGTH);
		return;
	}
	cursor_limit(&c, slice_u16(header, 4));
	if (!dissect_ppp_protocol(&c, &type)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_PPPOE_SHORT);
		return;
	}
	packet_advance(packet, &c);
	dissect_ethertype(packet, type);
}
