/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet II and IEEE 802.3, with 802.1Q and 802.1ad tags, 802.2 LLC and SNAP. */
#include "dissect/header_fields.h"
#include "dissect/layers.h"

/* --- MPLS label stack, RFC 3032. --- */

enum { MPLS_ENTRY = 4, BOTTOM_OF_STACK = 0x100 };

/* The label stack does not name the payload protocol.  The first nibble tells IP from other payloads; pseudowires start
 * with a different one for that reason (RFC 4385, RFC 4928). */
static void
mpls_dissect_payload(struct packet *packet)
{
	struct slice first;

	if (!cursor_peek(&packet->payload, 1, &first))
		return;
	if (slice_u8(first, 0) >> 4 == 4)
		dissect_ipv4(packet);
	else if (slice_u8(first, 0) >> 4 == 6)
		dissect_ipv6(packet);
}

void
dissect_mpls(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice entry;

	do {
		if (!packet_enter_layer(packet))
			return;
		if (!cursor_take(&c, MPLS_ENTRY, &entry)) {
			packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_MPLS_SHORT);
			return;
		}
		packet_advance(packet, &c);
	} while ((slice_u32(entry, 0) & BOTTOM_OF_STACK) == 0);
	mpls_dissect_payload(packet);
}

/* --- PPPoE session stage, RFC 2516, and the PPP protocol field, RFC 1661. --- */

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

enum { LLC_HEADER = 3, SNAP_HEADER = 5 };
enum { IEEE802_3_LENGTH_MAX = 1500 }; /* IEEE 802.3 clause 3.2.6 */
enum { SAP_IP = 0x06, SAP_SNAP = 0xaa, LLC_UNNUMBERED = 0x03 };

/* IEEE 802.2; SNAP as in RFC 1042.  `*type` is 0 if another protocol follows. */
static bool
llc_parse(struct cursor *c, uint16_t *type)
{
	struct slice llc, snap;
	uint32_t oui;

	*type = 0;
	if (!cursor_take(c, LLC_HEADER, &llc))
		return false;
	if (slice_u8(llc, 2) != LLC_UNNUMBERED || slice_u8(llc, 0) != slice_u8(llc, 1))
		return true;
	if (slice_u8(llc, 0) == SAP_IP)
		*type = ETHER_IPV4;
	if (slice_u8(llc, 0) != SAP_SNAP)
		return true;
	if (!cursor_take(c, SNAP_HEADER, &snap))
		return false;
	/* An EtherType follows the OUI of RFC 1042 and that of bridged frames (802.1H); other OUIs define their own
	 * numbers. */
	oui = slice_u32(snap, 0) >> 8;
	if (oui == 0x000000 || oui == 0x0000f8)
		*type = slice_u16(snap, 3);
	return true;
}

void
dissect_llc(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	uint16_t type;

	if (!packet_enter_layer(packet))
		return;
	if (!llc_parse(&c, &type)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_LLC_SHORT);
		return;
	}
	packet->ether.type = type;
	packet_extend_link(packet, &c);
	dissect_ethertype(packet, type);
}

/* An 802.3 frame: the length field delimits the data; the rest is padding. */
static void
dissect_802_3(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	uint16_t length = packet->ether.type;

	packet->ether.type = 0;
	if (length > IEEE802_3_LENGTH_MAX) {
		packet_add_anomaly(packet, ANOMALY_ETHER_TYPE_UNDEFINED);
		return;
	}
	if (length > c.wire)
		packet_add_anomaly(packet, ANOMALY_LLC_LENGTH);
	cursor_limit(&c, length);
	packet_advance(packet, &c);
	dissect_llc(packet);
}

/* Dispatches on ether->type: tags (IEEE 802.1Q clause 9) first, then the protocol after them. */
void
dissect_vlan_tags(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct ether_layer *ether = &packet->ether;
	struct slice tag;
	uint16_t control;

	while (ether_type_is_tag(ether->type)) {
		if (!packet_enter_layer(packet))
			return;
		if (!cursor_take(&c, VLAN_TAG, &tag)) {
			packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_VLAN_SHORT);
			return;
		}
		control = slice_u16(tag, 0);
		if (!ether->tagged) {
			ether->tagged = true;
			ether->priority = (uint8_t)(control >> 13);
			ether->dei = control >> 12 & 1;
			ether->vlan = control & 0x0fff;
		}
		ether->type = slice_u16(tag, 2);
		packet_extend_link(packet, &c);
	}
	if (ether->type >= ETHER_TYPE_MIN)
		dissect_ethertype(packet, ether->type);
	else
		dissect_802_3(packet);
}

void
dissect_ethernet(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, ETHER_HEADER_LEN, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT);
		return;
	}
	ether_record(packet, header);
	packet_advance(packet, &c);
	dissect_vlan_tags(packet);
}
