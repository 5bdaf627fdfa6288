/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv6 (RFC 8200), jumbograms (RFC 2675), and BIG TCP, Linux's use of them. */
#include "dissect/header_fields.h"

/* --- IPv6 extension headers, RFC 8200 section 4 and RFC 6564. --- */

enum { ADDRESS = 16 };
enum { OPTION_PAD1 = 0, OPTION_JUMBO = 0xc2, OPTION_HOME_ADDRESS = 0xc9 };
enum { ROUTING_SOURCE = 0 };

/* Takes a header whose second byte is its length after the first 8 bytes, in units of `unit` bytes. */
static bool
extension_take_header(struct ipv6_extension_walk *walk, struct cursor *c, uint32_t unit, struct slice *header)
{
	struct slice head;

	if (!cursor_peek(c, 2, &head))
		return cursor_take(c, 8, header); /* fails and sets the cursor's error */
	if (!cursor_take(c, 8 + slice_u8(head, 1) * unit, header))
		return false;
	walk->next = slice_u8(*header, 0);
	return true;
}

/* Options of hop-by-hop and destination headers (RFC 8200 section 4.2).  False if an option does not fit. */
static bool
extension_walk_options(struct ipv6_extension_walk *walk, struct slice options, bool hop_by_hop)
{
	struct cursor c = cursor_init(options.at, options.len, options.len);
	struct slice head, data;
	uint8_t kind;

	while (cursor_take(&c, 1, &head)) {
		kind = slice_u8(head, 0);
		if (kind == OPTION_PAD1)
			continue;
		if (!cursor_take(&c, 1, &head) || !cursor_take(&c, slice_u8(head, 0), &data))
			return false;
		if (kind == OPTION_JUMBO && hop_by_hop) {
			if (data.len != 4)
				return false;
			walk->has_jumbo = true;
			walk->jumbo = slice_u32(data, 0);
		} else if (kind == OPTION_HOME_ADDRESS && !hop_by_hop) {
			if (data.len != ADDRESS)
				return false;
			walk->home_address = data;
		}
	}
	return true;
}

static enum ipv6_extension_result
extension_take_options(struct ipv6_extension_walk *walk, struct cursor *c, enum anomaly *why)
{
	bool hop_by_hop = walk->next == PROTOCOL_HOP_BY_HOP;
	struct slice header;

	if (hop_by_hop && walk->count > 0) { /* section 4.1: only immediately after the fixed header */
		*why = ANOMALY_IPV6_EXTENSION_ORDER;
		return EXTENSION_FAILED;
	}
	if (!extension_take_header(walk, c, 8, &header))
		return EXTENSION_FAILED;
	if (!extension_walk_options(walk, slice_sub(header, 2, header.len), hop_by_hop)) {
		*why = ANOMALY_IPV6_OPTIONS;
		return EXTENSION_FAILED;
	}
	return EXTENSION_TAKEN;
}

/* Routing header (section 4.4).  Length and segments are checked for type 0 only (RFC 5095): the other types have more
 * than one format. */
static enum ipv6_extension_result
extension_take_routing(struct ipv6_extension_walk *walk, struct cursor *c, enum anomaly *why)
{
	struct slice header;
	uint8_t segments;

	if (!extension_take_header(walk, c, 8, &header))
		return EXTENSION_FAILED;
	segments = slice_u8(header, 3);
	if (slice_u8(header, 2) == ROUTING_SOURCE) {
		walk->has_routing_type0 = true;
		if (header.len % ADDRESS != 8 || segments > header.len / ADDRESS) {
			*why = ANOMALY_IPV6_EXTENSION;
			return EXTENSION_FAILED;
		}
	}
	if (segments > 0)
		walk->routing_header = header;
	return EXTENSION_TAKEN;
}

/* Section 4.5.  A fragment header with neither offset nor more fragments is an atomic fragment, a whole datagram
 * (RFC 6946). */
static enum ipv6_extension_result
extension_take_fragment(struct ipv6_extension_walk *walk, struct cursor *c)
{
	if (!cursor_take(c, IPV6_FRAGMENT_HEADER_LEN, &walk->fragment_header))
		return EXTENSION_FAILED;
	walk->next = slice_u8(walk->fragment_header, 0);
	walk->fragment = (slice_u16(walk->fragment_header, 2) & 0xfff9) != 0;
	return EXTENSION_TAKEN;
}

/* Authentication header, RFC 4302 section 2.2: the length field is the number of 4-byte units minus 2. */
static enum ipv6_extension_result
extension_take_ah(struct ipv6_extension_walk *walk, struct cursor *c)
{
	struct slice header;

	return extension_take_header(walk, c, 4, &header) ? EXTENSION_TAKEN : EXTENSION_FAILED;
}

enum ipv6_extension_result
ipv6_extension_next(struct ipv6_extension_walk *walk, struct cursor *c, enum anomaly *why)
{
	enum ipv6_extension_result result;
	struct slice header;

	if (walk->fragment)
		return EXTENSION_END;
	switch (walk->next) {
	case PROTOCOL_HOP_BY_HOP:
	case PROTOCOL_DESTINATION:
		result = extension_take_options(walk, c, why);
		break;
	case PROTOCOL_ROUTING:
		result = extension_take_routing(walk, c, why);
		break;
	case PROTOCOL_FRAGMENT:
		result = extension_take_fragment(walk, c);
		break;
	case PROTOCOL_AH:
		result = extension_take_ah(walk, c);
		break;
	case PROTOCOL_MOBILITY: /* RFC 6275 section 6.1.1 */
	case PROTOCOL_HIP:	/* RFC 7401 section 5.1 */
	case PROTOCOL_SHIM6:	/* RFC 5533 section 5.1 */
		result = extension_take_header(walk, c, 8, &header) ? EXTENSION_TAKEN : EXTENSION_FAILED;
		break;
	default:
		return EXTENSION_END;
	}
	if (result == EXTENSION_TAKEN && walk->count < UINT8_MAX)
		walk->count++;
	return result;
}

enum { TRANSPORT_HEADER_MIN = 8, IPV6_PAYLOAD_MAX = 65535 };

static void
ipv6_set_super_packet(struct packet *packet, uint32_t payload)
{
	packet->ip.super_packet = true;
	packet->ip.payload_len = payload;
	packet->ip.length = payload + IPV6_HEADER_LEN;
	packet_add_anomaly(packet, ANOMALY_SUPER_PACKET);
}

/* Payload length 0 has three meanings: no payload (the link may have added padding); a jumbogram, whose hop-by-hop
 * header holds the length; or a BIG TCP packet from a kernel that omits that header.  The third is assumed if a
 * transport header fits. */
static void
ipv6_apply_payload_length(struct packet *packet, struct cursor *c)
{
	const struct ip_layer *ip = &packet->ip;

	if (ip->payload_length > c->wire && !ip_extend_cut_record(packet, c, ip->payload_length))
		packet_add_anomaly(packet, ANOMALY_IPV6_LENGTH);
	else if (ip->payload_length > 0)
		cursor_limit(c, ip->payload_length);
	else if (ip->next_header == PROTOCOL_HOP_BY_HOP)
		return;
	else if (ip->next_header != PROTOCOL_NO_NEXT && ip->next_header != PROTOCOL_FRAGMENT &&
		 c->wire >= TRANSPORT_HEADER_MIN)
		ipv6_set_super_packet(packet, c->wire);
	else
		cursor_limit(c, 0);
}

/* Checks the jumbo payload option (RFC 2675 section 3) after the hop-by-hop header has been taken; `start` is the
 * cursor before it. */
static void
ipv6_apply_jumbo_length(struct packet *packet, const struct ipv6_extension_walk *walk, const struct cursor *start,
			struct cursor *c)
{
	uint32_t taken = start->wire - c->wire;

	if (!walk->has_jumbo && packet->ip.payload_length > 0)
		return;
	if (!walk->has_jumbo || packet->ip.payload_length > 0 || walk->jumbo <= IPV6_PAYLOAD_MAX) {
		packet_add_anomaly(packet, ANOMALY_IPV6_JUMBO);
	} else if (walk->jumbo > start->wire) {
		packet_add_anomaly(packet, ANOMALY_IPV6_LENGTH);
	} else {
		ipv6_set_super_packet(packet, walk->jumbo);
		cursor_limit(c, walk->jumbo - taken);
	}
}

static void
ipv6_validate_header(struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;

	if (ip->src[0] == 0xff) /* RFC 4291 section 2.7 */
		packet_add_anomaly(packet, ANOMALY_IPV6_SOURCE);
	if (ip->ttl == 0)
		packet_add_anomaly(packet, ANOMALY_IPV6_HOP_LIMIT_ZERO);
}

static void
ipv6_record_fragment(struct packet *packet, const struct ipv6_extension_walk *walk, const struct cursor *c)
{
	struct ip_layer *ip = &packet->ip;

	ip->fragment = walk->fragment;
	ip->fragment_id = slice_u32(walk->fragment_header, 4);
	ip->fragment_offset = slice_u16(walk->fragment_header, 2) >> 3;
	ip->more_fragments = slice_u16(walk->fragment_header, 2) & 1;
	if (walk->fragment)
		ip_validate_fragment(packet, c->wire);
	else
		packet_add_anomaly(packet, ANOMALY_IPV6_ATOMIC_FRAGMENT);
}

/* Takes the chain of extension headers.  False if one of them is malformed or truncated. */
static bool
ipv6_take_extensions(struct packet *packet, struct cursor *c)
{
	struct cursor start = *c;
	struct ip_layer *ip = &packet->ip;
	struct ipv6_extension_walk walk = {.next = ip->next_header};
	enum anomaly why = ANOMALY_NONE;
	enum ipv6_extension_result result;

	while ((result = ipv6_extension_next(&walk, c, &why)) == EXTENSION_TAKEN) {
		if (!packet_enter_layer(packet)) {
			result = EXTENSION_FAILED;
			why = ANOMALY_LAYER_BUDGET; /* what the headers so far say is recorded below */
			break;
		}
		if (walk.count == 1 && ip->next_header == PROTOCOL_HOP_BY_HOP)
			ipv6_apply_jumbo_length(packet, &walk, &start, c);
		ip->options = cursor_slice_between(&start, c);
		ip->protocol = walk.next;
		packet_advance(packet, c);
	}
	if (walk.has_routing_type0)
		packet_add_anomaly(packet, ANOMALY_IPV6_ROUTING_ZERO);
	if (result == EXTENSION_FAILED && why != ANOMALY_NONE)
		packet_add_anomaly(packet, why);
	else if (result == EXTENSION_FAILED)
		packet_add_cursor_anomaly(packet, c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_EXTENSION);
	if (result != EXTENSION_FAILED && walk.fragment_header.len > 0)
		ipv6_record_fragment(packet, &walk, c);
	return result != EXTENSION_FAILED;
}

void
dissect_ipv6(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice fixed;
	bool whole;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, IPV6_HEADER_LEN, &fixed)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_SHORT);
		return;
	}
	if (slice_u8(fixed, 0) >> 4 != 6) {
		packet_add_anomaly(packet, ANOMALY_IP_VERSION);
		return;
	}
	ipv6_record(packet, fixed);
	ipv6_validate_header(packet);
	ipv6_apply_payload_length(packet, &c);
	packet_advance(packet, &c);
	whole = ipv6_take_extensions(packet, &c);
	packet->datagram = packet->payload;
	if (whole && !packet->ip.fragment && !packet_is_dropped(packet))
		dissect_transport(packet, packet->ip.protocol);
}
