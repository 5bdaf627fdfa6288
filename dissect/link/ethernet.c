/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet II and IEEE 802.3, with 802.1Q and 802.1ad tags, 802.2 LLC and SNAP. */
#include "dissect/header_fields.h"

enum { VLAN_TAG = 4, LLC_HEADER = 3, SNAP_HEADER = 5 };
enum { LARGEST_LENGTH = 1500, SMALLEST_TYPE = 0x600 }; /* IEEE 802.3 clause 3.2.6 */
enum { SAP_IP = 0x06, SAP_SNAP = 0xaa, LLC_UNNUMBERED = 0x03 };

static bool
is_tag(uint16_t type)
{
	return type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD;
}

/* Sets the link header: everything up to the position of `c`. */
static void
ether_extend(struct packet *packet, const struct cursor *c)
{
	packet->ether.header.len += packet->payload.have - c->have;
	packet_advance(packet, c);
}

/* IEEE 802.2; SNAP as in RFC 1042.  `*type` is 0 where another protocol follows. */
static bool
take_llc(struct cursor *c, uint16_t *type)
{
	struct view llc, snap;
	uint32_t oui;

	*type = 0;
	if (!cursor_take(c, LLC_HEADER, &llc))
		return false;
	if (view_u8(llc, 2) != LLC_UNNUMBERED || view_u8(llc, 0) != view_u8(llc, 1))
		return true;
	if (view_u8(llc, 0) == SAP_IP)
		*type = ETHER_IPV4;
	if (view_u8(llc, 0) != SAP_SNAP)
		return true;
	if (!cursor_take(c, SNAP_HEADER, &snap))
		return false;
	/* An EtherType follows the OUI of RFC 1042 and that of bridged frames (802.1H); other OUIs define their own
	 * numbers. */
	oui = view_u32(snap, 0) >> 8;
	if (oui == 0x000000 || oui == 0x0000f8)
		*type = view_u16(snap, 3);
	return true;
}

void
dissect_llc(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	uint16_t type;

	if (!packet_enter(packet))
		return;
	if (!take_llc(&c, &type)) {
		packet_note_failed(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_LLC_SHORT);
		return;
	}
	packet->ether.type = type;
	ether_extend(packet, &c);
	dissect_ethertype(packet, type);
}

/* An 802.3 frame: the length field delimits the data; the rest is padding. */
static void
dissect_802_3(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	uint16_t length = packet->ether.type;

	packet->ether.type = 0;
	if (length > LARGEST_LENGTH) {
		packet_note(packet, ANOMALY_ETHER_TYPE_UNDEFINED);
		return;
	}
	if (length > c.wire)
		packet_note(packet, ANOMALY_LLC_LENGTH);
	cursor_limit(&c, length);
	packet_advance(packet, &c);
	dissect_llc(packet);
}

/* Dispatches on ether->type: tags (IEEE 802.1Q clause 9) first, then the protocol behind them. */
void
dissect_tags(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	struct ether_layer *ether = &packet->ether;
	struct view tag;
	uint16_t control;

	while (is_tag(ether->type)) {
		if (!packet_enter(packet))
			return;
		if (!cursor_take(&c, VLAN_TAG, &tag)) {
			packet_note_failed(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_VLAN_SHORT);
			return;
		}
		control = view_u16(tag, 0);
		if (!ether->tagged) {
			ether->tagged = true;
			ether->priority = (uint8_t)(control >> 13);
			ether->dei = control >> 12 & 1;
			ether->vlan = control & 0x0fff;
		}
		ether->type = view_u16(tag, 2);
		ether_extend(packet, &c);
	}
	if (ether->type >= SMALLEST_TYPE)
		dissect_ethertype(packet, ether->type);
	else
		dissect_802_3(packet);
}

void
dissect_ethernet(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	struct view header;

	if (!packet_enter(packet))
		return;
	if (!cursor_take(&c, ETHER_HEADER, &header)) {
		packet_note_failed(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT);
		return;
	}
	ethernet_record(packet, header);
	packet_advance(packet, &c);
	dissect_tags(packet);
}
