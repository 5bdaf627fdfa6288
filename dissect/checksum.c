/* SPDX-License-Identifier: BSD-2-Clause */
/* Checksums of whole datagrams: RFC 1071, RFC 8200 section 8.1, RFC 9260 section 6.8, RFC 4340 section 9. */
#include "dissect/crc32c.h"
#include "dissect/layers.h"

enum { IPV6_ADDRESS = 16, IPV6_ROUTING_TYPE0 = 0, ROUTING_HOME = 2, ROUTING_SEGMENT = 4, SCTP_CHECKSUM_AT = 8 };

static uint16_t
checksum_fold(uint64_t sum)
{
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Final destination of a packet that has routing segments left: the last address of the list (RFC 8200 section 8.1);
 * segment routing stores the list in reverse (RFC 8754 section 2).  Empty for routing types that compress addresses
 * (RFC 6554). */
static struct slice
checksum_final_destination(struct slice routing)
{
	switch (slice_u8(routing, 2)) {
	case ROUTING_SEGMENT:
		return slice_sub(routing, 8, IPV6_ADDRESS);
	case IPV6_ROUTING_TYPE0:
	case ROUTING_HOME:
		return slice_sub(routing, routing.len - IPV6_ADDRESS, IPV6_ADDRESS);
	default:
		return (struct slice){NULL, 0};
	}
}

/* Sums the addresses of the IPv6 pseudo header: the home address option replaces the source (RFC 6275 section 6.3), the
 * final address of a routing header the destination.  False if an address is unknown. */
static bool
checksum_sum_ipv6_addresses(const struct ip_layer *ip, uint64_t *sum)
{
	struct cursor c = cursor_init(ip->options.at, ip->options.len, ip->options.len);
	struct ipv6_extension_walk walk = {.next = ip->next_header};
	struct slice src = slice_sub(ip->header, 8, IPV6_ADDRESS), dst = slice_sub(ip->header, 24, IPV6_ADDRESS);
	enum anomaly why;

	while (ipv6_extension_next(&walk, &c, &why) == EXTENSION_TAKEN)
		continue;
	if (walk.home_address.len == IPV6_ADDRESS)
		src = walk.home_address;
	if (walk.routing_header.len > 0)
		dst = walk.routing_header.len >= 8 + IPV6_ADDRESS ? checksum_final_destination(walk.routing_header)
								  : (struct slice){NULL, 0};
	*sum = (uint64_t)slice_checksum(src) + slice_checksum(dst);
	return dst.len == IPV6_ADDRESS;
}

/* Sum of the pseudo header without its length field. */
static bool
checksum_sum_pseudo_header(const struct packet *packet, uint8_t protocol, uint64_t *sum)
{
	const struct ip_layer *ip = &packet->ip;

	if (packet->network == NETWORK_IPV4)
		*sum = slice_checksum(slice_sub(ip->header, 12, 8));
	else if (!checksum_sum_ipv6_addresses(ip, sum))
		return false;
	*sum += protocol;
	return true;
}

/* Verifies a checksum of the pseudo header and of the first `bytes` of a datagram of `length` bytes.
 *
 * With checksum offload the field holds the folded sum of the pseudo header, not complemented.  Linux includes the
 * length, for a super-packet too; other systems leave it out because every segment has its own. */
static enum checksum_verdict
checksum_verify_covered(const struct packet *packet, uint8_t protocol, struct slice bytes, uint64_t length,
			uint16_t field)
{
	uint64_t pseudo;

	if (!checksum_sum_pseudo_header(packet, protocol, &pseudo))
		return CHECKSUM_UNVERIFIED;
	if (checksum_fold(pseudo + length + slice_checksum(bytes)) == 0xffff)
		return CHECKSUM_OK;
	if (field == checksum_fold(pseudo + length) || field == checksum_fold(pseudo))
		return CHECKSUM_PARTIAL;
	return CHECKSUM_BAD;
}

static enum checksum_verdict
checksum_verify_transport(const struct packet *packet, uint8_t protocol, struct slice bytes, uint16_t field)
{
	return checksum_verify_covered(packet, protocol, bytes, bytes.len, field);
}

/* RFC 4340 section 9.2: the checksum covers the header, and all data or only its first part. */
static enum checksum_verdict
checksum_verify_dccp(const struct packet *packet)
{
	const struct cursor *datagram = &packet->datagram;
	const struct dccp_layer *dccp = &packet->dccp;
	uint32_t covered = datagram->wire;
	struct slice bytes;

	if (dccp->coverage != 0)
		covered = dccp->header_len + (dccp->coverage - 1u) * 4;
	bytes = slice_sub(cursor_captured_slice(datagram), 0, covered);
	if (bytes.len < covered)
		return CHECKSUM_UNVERIFIED;
	return checksum_verify_covered(packet, PROTOCOL_DCCP, bytes, datagram->wire, dccp->checksum);
}

/* A checksum of zero is left to the interface (offload) or omitted (RFC 9653). */
static enum checksum_verdict
checksum_verify_sctp(struct slice bytes, uint32_t field)
{
	static const uint8_t zero[4];
	uint32_t crc = 0xffffffff;

	crc = crc32c_update(crc, slice_sub(bytes, 0, SCTP_CHECKSUM_AT));
	crc = crc32c_update(crc, (struct slice){zero, sizeof zero});
	crc = crc32c_update(crc, slice_sub(bytes, SCTP_CHECKSUM_AT + 4, bytes.len));
	if (__builtin_bswap32(~crc) == field) /* the CRC is sent least significant byte first */
		return CHECKSUM_OK;
	return field == 0 ? CHECKSUM_PARTIAL : CHECKSUM_BAD;
}

static enum checksum_verdict
checksum_verify_ipv4_header(const struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;

	if (packet->network != NETWORK_IPV4 || ip->header.len != (slice_u8(ip->header, 0) & 15u) * 4)
		return CHECKSUM_UNVERIFIED;
	if (slice_checksum(ip->header) == 0xffff)
		return CHECKSUM_OK;
	return ip->checksum == 0 || ip->super_packet ? CHECKSUM_PARTIAL : CHECKSUM_BAD;
}

enum checksum_verdict
checksum_verify(const struct packet *packet)
{
	const struct cursor *datagram = &packet->datagram;
	struct slice bytes;

	if (packet->transport == TRANSPORT_NONE)
		return checksum_verify_ipv4_header(packet);
	if (packet->transport == TRANSPORT_DCCP)
		return checksum_verify_dccp(packet);
	bytes = cursor_captured_slice(datagram);
	if (packet->transport == TRANSPORT_UDP && !packet->ip.super_packet)
		bytes = slice_sub(bytes, 0, packet->udp.length);
	if (packet->transport == TRANSPORT_UDP && packet->udp.checksum == 0)
		return CHECKSUM_UNVERIFIED; /* RFC 768: 0 means that the sender computed no checksum */
	if (packet->transport == TRANSPORT_UDP ? bytes.len < packet->udp.header.len + packet->payload_wire
					       : datagram->captured < datagram->wire)
		return CHECKSUM_UNVERIFIED;
	switch (packet->transport) {
	case TRANSPORT_TCP:
		return checksum_verify_transport(packet, PROTOCOL_TCP, bytes, packet->tcp.checksum);
	case TRANSPORT_UDP:
		return checksum_verify_transport(packet, PROTOCOL_UDP, bytes, packet->udp.checksum);
	case TRANSPORT_ICMPV6:
		return checksum_verify_transport(packet, PROTOCOL_ICMPV6, bytes, packet->icmp.checksum);
	case TRANSPORT_ICMP:
		return slice_checksum(bytes) == 0xffff ? CHECKSUM_OK : CHECKSUM_BAD;
	case TRANSPORT_SCTP:
		return checksum_verify_sctp(bytes, packet->sctp.checksum);
	case TRANSPORT_DCCP:
	case TRANSPORT_NONE:
		break;
	}
	return CHECKSUM_UNVERIFIED;
}
