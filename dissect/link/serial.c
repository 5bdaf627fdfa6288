/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links between two points: PPP (RFC 1661, RFC 1662), Cisco HDLC and Frame Relay (RFC 2427, RFC 1973).  The types whose
 * names end in WITH_DIR have one byte in front, and PPP_PPPD has it instead of the address: whether the capturing host
 * sent the frame.
 */
#include "dissect/header_fields.h"

enum { HDLC_ALL_STATIONS = 0xff, CISCO_UNICAST = 0x0f, CISCO_MULTICAST = 0x8f };
enum { CISCO_HEADER = 4, CISCO_SLARP = 0x8035 }; /* keepalives; the number is RARP's on other links */
enum { Q922_ADDRESS_MAX = 4, Q922_LAST = 0x01, UNNUMBERED_INFORMATION = 0x03, SNAP_HEADER = 5 };

/* Network layer protocol identifiers, ISO/IEC TR 9577. */
enum { NLPID_PADDING = 0x00, NLPID_SNAP = 0x80, NLPID_IPV6 = 0x8e, NLPID_IPV4 = 0xcc, NLPID_PPP = 0xcf };

static void
serial_fail(struct packet *packet, const struct cursor *c)
{
	packet_add_cursor_anomaly(packet, c, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT);
}

/* Takes the byte that WITH_DIR types have in front of the frame. */
static bool
serial_take_direction(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice sent;

	if (!cursor_take(&c, 1, &sent)) {
		serial_fail(packet, &c);
		return false;
	}
	packet->direction = slice_u8(sent, 0) != 0 ? DIRECTION_OUT : DIRECTION_IN;
	packet_extend_link(packet, &c);
	return true;
}

/* The protocol field and what follows; `c` is past the address and the control field. */
static void
ppp_dissect_protocol(struct packet *packet, struct cursor *c)
{
	uint16_t type;

	if (!dissect_ppp_protocol(c, &type)) {
		serial_fail(packet, c);
		return;
	}
	packet_extend_link(packet, c);
	dissect_ethertype(packet, type);
}

/* Address and control are there or left out by agreement (RFC 1661 section 6.6): no protocol field begins with 0xff. */
void
dissect_ppp(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice first;

	if (!packet_enter_layer(packet))
		return;
	if (cursor_peek(&c, 1, &first) && slice_u8(first, 0) == HDLC_ALL_STATIONS && !cursor_skip(&c, 2)) {
		serial_fail(packet, &c);
		return;
	}
	ppp_dissect_protocol(packet, &c);
}

void
dissect_ppp_pppd(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, 2, &header)) {
		serial_fail(packet, &c);
		return;
	}
	packet->direction = slice_u8(header, 0) != 0 ? DIRECTION_OUT : DIRECTION_IN;
	ppp_dissect_protocol(packet, &c);
}

void
dissect_ppp_with_dir(struct packet *packet)
{
	if (serial_take_direction(packet))
		dissect_ppp(packet);
}

void
dissect_c_hdlc(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;
	uint16_t type;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, CISCO_HEADER, &header)) {
		serial_fail(packet, &c);
		return;
	}
	packet_extend_link(packet, &c);
	type = slice_u16(header, 2);
	if (type == CISCO_SLARP || type < ETHER_TYPE_MIN)
		return;
	packet->ether.type = type;
	dissect_ethertype(packet, type);
}

void
dissect_c_hdlc_with_dir(struct packet *packet)
{
	if (serial_take_direction(packet))
		dissect_c_hdlc(packet);
}

/* PPP and Cisco HDLC share this type: the address tells them apart. */
void
dissect_ppp_serial(struct packet *packet)
{
	struct slice first;
	uint8_t address = cursor_peek(&packet->payload, 1, &first) ? slice_u8(first, 0) : HDLC_ALL_STATIONS;

	if (address == CISCO_UNICAST || address == CISCO_MULTICAST)
		dissect_c_hdlc(packet);
	else
		dissect_ppp(packet);
}

/* Takes an address of 2 to 4 bytes; the lowest bit marks its last one (Q.922 section 3.2). */
static bool
frelay_take_address(struct packet *packet, struct cursor *c)
{
	struct slice byte;

	for (unsigned n = 1; n <= Q922_ADDRESS_MAX; n++) {
		if (!cursor_take(c, 1, &byte)) {
			serial_fail(packet, c);
			return false;
		}
		if ((slice_u8(byte, 0) & Q922_LAST) != 0 && n > 1)
			return true;
		if ((slice_u8(byte, 0) & Q922_LAST) != 0)
			break;
	}
	packet_add_anomaly(packet, ANOMALY_LINK_FIELD);
	return false;
}

/* Takes what names the payload, after the control field of RFC 2427.  `*type` is 0 for another protocol; `*coded`:
 * `*type` was in the frame. */
static bool
frelay_take_nlpid(struct cursor *c, uint16_t *type, bool *coded)
{
	struct slice id, snap;

	*type = 0;
	if (!cursor_take(c, 1, &id) || (slice_u8(id, 0) == NLPID_PADDING && !cursor_take(c, 1, &id)))
		return false;
	switch (slice_u8(id, 0)) {
	case NLPID_IPV4:
		*type = ETHER_IPV4;
		return true;
	case NLPID_IPV6:
		*type = ETHER_IPV6;
		return true;
	case NLPID_PPP:
		return dissect_ppp_protocol(c, type);
	case NLPID_SNAP:
		if (!cursor_take(c, SNAP_HEADER, &snap))
			return false;
		*coded = slice_u32(snap, 0) >> 8 == 0; /* other OUIs define their own numbers; 0x0080c2 is bridged */
		*type = *coded ? slice_u16(snap, 3) : 0;
		return true;
	default:
		return true;
	}
}

void
dissect_frelay(struct packet *packet)
{
	struct cursor c = packet_cursor(packet), after_address;
	struct slice control, ethertype;
	bool coded = false;
	uint16_t type;

	if (!packet_enter_layer(packet) || !frelay_take_address(packet, &c))
		return;
	after_address = c;
	if (!cursor_take(&c, 1, &control)) {
		serial_fail(packet, &c);
		return;
	}
	if (slice_u8(control, 0) == UNNUMBERED_INFORMATION) {
		if (!frelay_take_nlpid(&c, &type, &coded)) {
			serial_fail(packet, &c);
			return;
		}
	} else { /* an EtherType instead of the control field, as Cisco's encapsulation has it */
		c = after_address;
		if (!cursor_take(&c, 2, &ethertype)) {
			serial_fail(packet, &c);
			return;
		}
		type = slice_u16(ethertype, 0);
		coded = true;
	}
	packet_extend_link(packet, &c);
	if (coded && type >= ETHER_TYPE_MIN)
		packet->ether.type = type;
	dissect_ethertype(packet, type);
}

void
dissect_frelay_with_dir(struct packet *packet)
{
	if (serial_take_direction(packet))
		dissect_frelay(packet);
}
