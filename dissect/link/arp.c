/* SPDX-License-Identifier: BSD-2-Clause */
/* ARP (RFC 826) and RARP (RFC 903). */
#include "dissect/layers.h"

enum { ARP_FIXED = 8, ARP_ETHERNET = 1, ETHERNET_LENGTH = 6, IPV4_LENGTH = 4 };

/* Operations assigned by IANA (arp-parameters): 1 to 25, and 0 and 65535 reserved. */
enum { LAST_OPERATION = 25 };

static void
arp_validate(struct packet *packet)
{
	const struct arp_layer *arp = &packet->arp;

	if ((arp->htype == ARP_ETHERNET && arp->hlen != ETHERNET_LENGTH) ||
	    (arp->ptype == ETHER_IPV4 && arp->plen != IPV4_LENGTH))
		packet_add_anomaly(packet, ANOMALY_ARP_ADDRESS_LENGTH);
	if (arp->op == 0 || arp->op > LAST_OPERATION)
		packet_add_anomaly(packet, ANOMALY_ARP_OPERATION);
}

void
dissect_arp(struct packet *packet, bool reverse)
{
	struct cursor c = packet_cursor(packet);
	struct arp_layer *arp = &packet->arp;
	struct slice fixed;

	if (!packet_enter_layer(packet))
		return;
	if (cursor_take(&c, ARP_FIXED, &fixed)) {
		*arp = (struct arp_layer){.htype = slice_u16(fixed, 0),
					  .ptype = slice_u16(fixed, 2),
					  .hlen = slice_u8(fixed, 4),
					  .plen = slice_u8(fixed, 5),
					  .op = slice_u16(fixed, 6),
					  .reverse = reverse};
		cursor_take(&c, arp->hlen, &arp->sha);
		cursor_take(&c, arp->plen, &arp->spa);
		cursor_take(&c, arp->hlen, &arp->tha);
		cursor_take(&c, arp->plen, &arp->tpa);
	}
	if (c.error != CURSOR_OK) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_ARP_SHORT);
		return;
	}
	packet->network = NETWORK_ARP;
	packet_advance(packet, &c);
	arp_validate(packet);
}
