/* SPDX-License-Identifier: BSD-2-Clause */
/* Checksums of whole datagrams: RFC 1071, RFC 8200 section 8.1, RFC 9260 section 6.8. */
#include "dissect/crc32c.h"
#include "dissect/layers.h"

enum { IPV6_ADDRESS = 16, ROUTING_SOURCE = 0, ROUTING_HOME = 2, ROUTING_SEGMENT = 4, SCTP_CHECKSUM_AT = 8 };

static uint16_t
fold(uint64_t sum)
{
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Final destination of a packet that has routing segments left: the last address of the list (RFC 8200 section 8.1);
 * segment routing stores the list in reverse (RFC 8754 section 2).  Empty for routing types that compress addresses
 * (RFC 6554). */
static struct view
final_destination(struct view routing)
{
	switch (view_u8(routing, 2)) {
	case ROUTING_SEGMENT:
		return view_part(routing, 8, IPV6_ADDRESS);
	case ROUTING_SOURCE:
	case ROUTING_HOME:
		return view_part(routing, routing.len - IPV6_ADDRESS, IPV6_ADDRESS);
	default:
		return (struct view){NULL, 0};
	}
}

/* Sums the addresses of the IPv6 pseudo header: the home address option replaces the source (RFC 6275 section 6.3), the
 * final address of a routing header the destination.  False if an address is unknown. */
static bool
sum_ipv6_addresses(const struct ip_layer *ip, uint64_t *sum)
{
	struct cursor c = cursor_over(ip->options.at, ip->options.len, ip->options.len);
	struct extension_walk walk = {.next = ip->next_header};
	struct view src = view_part(ip->header, 8, IPV6_ADDRESS), dst = view_part(ip->header, 24, IPV6_ADDRESS);
	enum anomaly why;

	while (extension_step(&walk, &c, &why) == EXTENSION_TAKEN)
		continue;
	if (walk.home.len == IPV6_ADDRESS)
		src = walk.home;
	if (walk.routing.len > 0)
		dst = walk.routing.len >= 8 + IPV6_ADDRESS ? final_destination(walk.routing) : (struct view){NULL, 0};
	*sum = (uint64_t)view_sum(src) + view_sum(dst);
	return dst.len == IPV6_ADDRESS;
}

/* Sum of the pseudo header without its length field. */
static bool
sum_pseudo(const struct packet *packet, uint8_t protocol, uint64_t *sum)
{
	const struct ip_layer *ip = &packet->ip;

	if (packet->network == NETWORK_IPV4)
		*sum = view_sum(view_part(ip->header, 12, 8));
	else if (!sum_ipv6_addresses(ip, sum))
		return false;
	*sum += protocol;
	return true;
}

/* With checksum offload the field holds the folded sum of the pseudo header, not complemented.  Linux includes the
 * length, for a super-packet too; other systems leave it out because every segment has its own. */
static enum checksum_verdict
verdict_with_pseudo(const struct packet *packet, uint8_t protocol, struct view bytes, uint16_t field)
{
	uint64_t pseudo, length = bytes.len;

	if (!sum_pseudo(packet, protocol, &pseudo))
		return CHECKSUM_UNVERIFIED;
	if (fold(pseudo + length + view_sum(bytes)) == 0xffff)
		return CHECKSUM_OK;
	if (field == fold(pseudo + length) || field == fold(pseudo))
		return CHECKSUM_PARTIAL;
	return CHECKSUM_BAD;
}

/* A checksum of zero is left to the interface (offload) or omitted (RFC 9653). */
static enum checksum_verdict
verdict_sctp(struct view bytes, uint32_t field)
{
	static const uint8_t zero[4];
	uint32_t crc = 0xffffffff;

	crc = crc32c_update(crc, view_part(bytes, 0, SCTP_CHECKSUM_AT));
	crc = crc32c_update(crc, (struct view){zero, sizeof zero});
	crc = crc32c_update(crc, view_part(bytes, SCTP_CHECKSUM_AT + 4, bytes.len));
	if (__builtin_bswap32(~crc) == field) /* the CRC is sent least significant byte first */
		return CHECKSUM_OK;
	return field == 0 ? CHECKSUM_PARTIAL : CHECKSUM_BAD;
}

static enum checksum_verdict
verdict_ipv4_header(const struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;

	if (packet->network != NETWORK_IPV4 || ip->header.len != (view_u8(ip->header, 0) & 15u) * 4)
		return CHECKSUM_UNVERIFIED;
	if (view_sum(ip->header) == 0xffff)
		return CHECKSUM_OK;
	return ip->checksum == 0 || ip->super ? CHECKSUM_PARTIAL : CHECKSUM_BAD;
}

enum checksum_verdict
dissect_checksum(const struct packet *packet)
{
	const struct cursor *datagram = &packet->datagram;
	struct view bytes;

	if (packet->transport == TRANSPORT_NONE)
		return verdict_ipv4_header(packet);
	bytes = cursor_rest(datagram);
	if (packet->transport == TRANSPORT_UDP && !packet->ip.super)
		bytes = view_part(bytes, 0, packet->udp.length);
	if (packet->transport == TRANSPORT_UDP && packet->udp.checksum == 0)
		return CHECKSUM_UNVERIFIED; /* RFC 768: 0 means that the sender computed no checksum */
	if (packet->transport == TRANSPORT_UDP ? bytes.len < packet->udp.header.len + packet->segment
					       : datagram->have < datagram->wire)
		return CHECKSUM_UNVERIFIED;
	switch (packet->transport) {
	case TRANSPORT_TCP:
		return verdict_with_pseudo(packet, PROTOCOL_TCP, bytes, packet->tcp.checksum);
	case TRANSPORT_UDP:
		return verdict_with_pseudo(packet, PROTOCOL_UDP, bytes, packet->udp.checksum);
	case TRANSPORT_ICMPV6:
		return verdict_with_pseudo(packet, PROTOCOL_ICMPV6, bytes, packet->icmp.checksum);
	case TRANSPORT_ICMP:
		return view_sum(bytes) == 0xffff ? CHECKSUM_OK : CHECKSUM_BAD;
	case TRANSPORT_SCTP:
		return verdict_sctp(bytes, packet->sctp.checksum);
	case TRANSPORT_NONE:
		break;
	}
	return CHECKSUM_UNVERIFIED;
}
