/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet II and IEEE 802.3, with 802.1Q and 802.1ad tags, 802.2 LLC and SNAP. */
#include "dissect/header_fields.h"

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

/* Dispatches on ether->type: tags (IEEE 802.1Q clause 9) first, then the protocol behind them. */
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
