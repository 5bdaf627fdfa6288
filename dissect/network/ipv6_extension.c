/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv6 extension headers, RFC 8200 section 4 and RFC 6564. */
#include "dissect/header_fields.h"

enum { ADDRESS = 16 };
enum { OPTION_PAD1 = 0, OPTION_JUMBO = 0xc2, OPTION_HOME_ADDRESS = 0xc9 };
enum { ROUTING_SOURCE = 0 };

/* Takes a header whose second byte is its length behind the first 8 bytes, in units of `unit` bytes. */
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

	if (hop_by_hop && walk->count > 0) { /* section 4.1: only immediately behind the fixed header */
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
