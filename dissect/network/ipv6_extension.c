/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv6 extension headers, RFC 8200 section 4 and RFC 6564. */
#include "dissect/layers.h"

enum { FRAGMENT_HEADER = 8, ADDRESS = 16 };
enum { OPTION_PAD1 = 0, OPTION_JUMBO = 0xc2, OPTION_HOME_ADDRESS = 0xc9 };
enum { ROUTING_SOURCE = 0 };

/* Takes a header whose second byte is its length behind the first 8 bytes, in units of `unit` bytes. */
static bool
take_sized(struct extension_walk *walk, struct cursor *c, uint32_t unit, struct view *header)
{
	struct view head;

	if (!cursor_peek(c, 2, &head))
		return cursor_take(c, 8, header); /* fails and sets the cursor's error */
	if (!cursor_take(c, 8 + view_u8(head, 1) * unit, header))
		return false;
	walk->next = view_u8(*header, 0);
	return true;
}

/* Options of hop-by-hop and destination headers (RFC 8200 section 4.2).  False if an option does not fit. */
static bool
walk_options(struct extension_walk *walk, struct view options, bool hop_by_hop)
{
	struct cursor c = cursor_over(options.at, options.len, options.len);
	struct view head, data;
	uint8_t kind;

	while (cursor_take(&c, 1, &head)) {
		kind = view_u8(head, 0);
		if (kind == OPTION_PAD1)
			continue;
		if (!cursor_take(&c, 1, &head) || !cursor_take(&c, view_u8(head, 0), &data))
			return false;
		if (kind == OPTION_JUMBO && hop_by_hop) {
			if (data.len != 4)
				return false;
			walk->has_jumbo = true;
			walk->jumbo = view_u32(data, 0);
		} else if (kind == OPTION_HOME_ADDRESS && !hop_by_hop) {
			if (data.len != ADDRESS)
				return false;
			walk->home = data;
		}
	}
	return true;
}

static enum extension_step
take_options(struct extension_walk *walk, struct cursor *c, enum anomaly *why)
{
	bool hop_by_hop = walk->next == PROTOCOL_HOP_BY_HOP;
	struct view header;

	if (hop_by_hop && walk->count > 0) { /* section 4.1: only immediately behind the fixed header */
		*why = ANOMALY_IPV6_EXTENSION_ORDER;
		return EXTENSION_FAILED;
	}
	if (!take_sized(walk, c, 8, &header))
		return EXTENSION_FAILED;
	if (!walk_options(walk, view_part(header, 2, header.len), hop_by_hop)) {
		*why = ANOMALY_IPV6_OPTIONS;
		return EXTENSION_FAILED;
	}
	return EXTENSION_TAKEN;
}

/* Routing header (section 4.4).  Length and segments are checked for type 0 only (RFC 5095): the other types have more
 * than one format. */
static enum extension_step
take_routing(struct extension_walk *walk, struct cursor *c, enum anomaly *why)
{
	struct view header;
	uint8_t segments;

	if (!take_sized(walk, c, 8, &header))
		return EXTENSION_FAILED;
	segments = view_u8(header, 3);
	if (view_u8(header, 2) == ROUTING_SOURCE) {
		walk->routing_zero = true;
		if (header.len % ADDRESS != 8 || segments > header.len / ADDRESS) {
			*why = ANOMALY_IPV6_EXTENSION;
			return EXTENSION_FAILED;
		}
	}
	if (segments > 0)
		walk->routing = header;
	return EXTENSION_TAKEN;
}

/* Section 4.5.  A fragment header with neither offset nor more fragments is an atomic fragment, a whole datagram
 * (RFC 6946). */
static enum extension_step
take_fragment(struct extension_walk *walk, struct cursor *c)
{
	if (!cursor_take(c, FRAGMENT_HEADER, &walk->piece))
		return EXTENSION_FAILED;
	walk->next = view_u8(walk->piece, 0);
	walk->fragment = (view_u16(walk->piece, 2) & 0xfff9) != 0;
	return EXTENSION_TAKEN;
}

/* Authentication header, RFC 4302 section 2.2: the length counts units of 4 bytes, less 2. */
static enum extension_step
take_authentication(struct extension_walk *walk, struct cursor *c)
{
	struct view header;

	return take_sized(walk, c, 4, &header) ? EXTENSION_TAKEN : EXTENSION_FAILED;
}

enum extension_step
extension_step(struct extension_walk *walk, struct cursor *c, enum anomaly *why)
{
	enum extension_step step;
	struct view header;

	if (walk->fragment)
		return EXTENSION_END;
	switch (walk->next) {
	case PROTOCOL_HOP_BY_HOP:
	case PROTOCOL_DESTINATION:
		step = take_options(walk, c, why);
		break;
	case PROTOCOL_ROUTING:
		step = take_routing(walk, c, why);
		break;
	case PROTOCOL_FRAGMENT:
		step = take_fragment(walk, c);
		break;
	case PROTOCOL_AH:
		step = take_authentication(walk, c);
		break;
	case PROTOCOL_MOBILITY: /* RFC 6275 section 6.1.1 */
	case PROTOCOL_HIP:	/* RFC 7401 section 5.1 */
	case PROTOCOL_SHIM6:	/* RFC 5533 section 5.1 */
		step = take_sized(walk, c, 8, &header) ? EXTENSION_TAKEN : EXTENSION_FAILED;
		break;
	default:
		return EXTENSION_END;
	}
	if (step == EXTENSION_TAKEN && walk->count < UINT8_MAX)
		walk->count++;
	return step;
}
