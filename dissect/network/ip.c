/* SPDX-License-Identifier: BSD-2-Clause */
/* What IPv4 and IPv6 share: telling them apart, and what both judge alike. */
#include "dissect/layers.h"

enum { LARGEST_DATAGRAM = 65535, TCP_FIXED = 20 };

/* Where nothing below names the version: raw captures, tunnels. */
void
dissect_ip(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	struct view first;

	if (!cursor_take(&c, 1, &first)) {
		packet_note_failed(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IP_SHORT);
		return;
	}
	if (view_u8(first, 0) >> 4 == 4)
		dissect_ipv4(packet);
	else if (view_u8(first, 0) >> 4 == 6)
		dissect_ipv6(packet);
	else
		packet_note(packet, ANOMALY_IP_VERSION);
}

/* `length` is what the fragment carries.  RFC 791 section 3.2, RFC 8200 section 4.5; tiny fragments are RFC 1858's and
 * RFC 3128's. */
void
ip_judge_fragment(struct packet *packet, uint32_t length)
{
	const struct ip_layer *ip = &packet->ip;
	uint64_t offset = ip->fragment_offset * 8u;

	if (ip->more_fragments && length % 8 != 0)
		packet_note(packet, ANOMALY_FRAGMENT_UNALIGNED);
	if (offset + length > LARGEST_DATAGRAM)
		packet_note(packet, ANOMALY_FRAGMENT_TOO_LONG);
	if (ip->protocol == PROTOCOL_TCP && ((offset == 0 && length < TCP_FIXED) || ip->fragment_offset == 1))
		packet_note(packet, ANOMALY_FRAGMENT_TINY);
}
