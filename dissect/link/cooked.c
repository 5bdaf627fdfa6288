/* SPDX-License-Identifier: BSD-2-Clause */
/* Linux cooked capture, LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2: what the "any" device delivers. */
#include "dissect/header_fields.h"

enum { SLL_PROTOCOL_LLC = 4 };

/* Fields common to both headers.  `address` is the sender's: 8 bytes, of which `length` are valid. */
struct cooked {
	struct slice header, address;
	uint16_t packet_type, hardware, length, protocol;
};

/* Whether the bytes of an IP or ARP packet start with a VLAN tag.  Linux 6.11, 6.1.103 and later give a received frame
 * with two tags the EtherType after both, although only the outer tag is taken off. */
static bool
cooked_has_inner_tag(const struct cursor *c, uint16_t protocol)
{
	unsigned version = protocol == ETHER_IPV4 ? 4 : 6;
	struct slice head;

	if (!cursor_peek(c, 5, &head) || slice_u16(head, 2) != protocol)
		return false;
	if (protocol == ETHER_ARP) /* there, an ARP packet has the EtherType of its addresses */
		return true;
	return (protocol == ETHER_IPV4 || protocol == ETHER_IPV6) && slice_u8(head, 0) >> 4 != version &&
	       slice_u8(head, 4) >> 4 == version;
}

static void
dissect_cooked(struct packet *packet, const struct cursor *c, const struct cooked *cooked)
{
	struct ether_layer *ether = &packet->ether;

	packet->direction = cooked_packet_direction(cooked->packet_type);
	packet->loopback = cooked->hardware == ARPHRD_LOOPBACK;
	ether->header = cooked->header;
	if (cooked->length == sizeof ether->src)
		slice_copy(cooked->address, 0, ether->src, sizeof ether->src);
	packet_advance(packet, c);
	if (cooked->hardware == ARPHRD_NETLINK) /* the protocol is a netlink family */
		return;
	if (cooked->protocol >= ETHER_TYPE_MIN) {
		ether->type = cooked_has_inner_tag(c, cooked->protocol) ? ETHER_VLAN : cooked->protocol;
		dissect_vlan_tags(packet);
	} else if (cooked->protocol == SLL_PROTOCOL_LLC) {
		dissect_llc(packet);
	}
}

void
dissect_sll(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, SLL_HEADER, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_COOKED_SHORT);
		return;
	}
	dissect_cooked(packet, &c,
		       &(struct cooked){.header = header,
					.address = slice_sub(header, 6, 8),
					.packet_type = slice_u16(header, 0),
					.hardware = slice_u16(header, 2),
					.length = slice_u16(header, 4),
					.protocol = slice_u16(header, 14)});
}

void
dissect_sll2(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, SLL2_HEADER, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_COOKED_SHORT);
		return;
	}
	packet->ifindex = slice_u32(header, 4);
	dissect_cooked(packet, &c,
		       &(struct cooked){.header = header,
					.address = slice_sub(header, 12, 8),
					.packet_type = slice_u8(header, 10),
					.hardware = slice_u16(header, 8),
					.length = slice_u8(header, 11),
					.protocol = slice_u16(header, 0)});
}
