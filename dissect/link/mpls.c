/* SPDX-License-Identifier: BSD-2-Clause */
/* MPLS label stack, RFC 3032. */
#include "dissect/layers.h"

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
