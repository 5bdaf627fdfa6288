/* SPDX-License-Identifier: BSD-2-Clause */
/* IP: version detection, and the checks that IPv4 and IPv6 share. */
#include "dissect/header_fields.h"

enum { IP_DATAGRAM_MAX = 65535 };

/* Detects the version by the first nibble, for raw captures and tunnels that do not name it. */
void
dissect_ip(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice first;

	if (!cursor_take(&c, 1, &first)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IP_SHORT);
		return;
	}
	if (slice_u8(first, 0) >> 4 == 4)
		dissect_ipv4(packet);
	else if (slice_u8(first, 0) >> 4 == 6)
		dissect_ipv6(packet);
	else
		packet_add_anomaly(packet, ANOMALY_IP_VERSION);
}

/* Extends the cursor to `length` bytes on the wire if the record claims to be whole but ends before its IP packet does:
 * old captures were cut without a note.  Inside a tunnel, or in front of other bytes of the frame, the length is wrong.
 */
bool
ip_extend_cut_record(struct packet *packet, struct cursor *c, uint32_t length)
{
	const struct frame *frame = packet->frame;

	if (packet->tunnelled || frame->caplen != frame->len || !cursor_is_whole_until(c, frame->data + frame->caplen))
		return false;
	c->wire = length;
	packet_add_anomaly(packet, ANOMALY_TRUNCATED_RECORD);
	return true;
}

/* Checks fragment offset and size; `length` is the payload of the fragment.  RFC 791 section 3.2, RFC 8200 section 4.5;
 * tiny fragments: RFC 1858 and RFC 3128. */
void
ip_validate_fragment(struct packet *packet, uint32_t length)
{
	const struct ip_layer *ip = &packet->ip;
	uint64_t offset = ip->fragment_offset * 8u;

	if (ip->more_fragments && length % 8 != 0)
		packet_add_anomaly(packet, ANOMALY_FRAGMENT_UNALIGNED);
	if (offset + length > IP_DATAGRAM_MAX)
		packet_add_anomaly(packet, ANOMALY_FRAGMENT_TOO_LONG);
	if (ip->protocol == PROTOCOL_TCP && ((offset == 0 && length < TCP_HEADER_MIN) || ip->fragment_offset == 1))
		packet_add_anomaly(packet, ANOMALY_FRAGMENT_TINY);
}
