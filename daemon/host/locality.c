/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/host/locality.h"

#include <string.h>

static bool
is_loopback(const struct packet *p)
{
	return p->loopback || p->frame->interface->loopback;
}

static struct sides
sides_local(bool source, bool destination)
{
	bool overheard = !source && !destination;

	return (struct sides){
	    .send = source,
	    .receive = destination || overheard,
	    .overheard = overheard,
	    .source_local = source,
	    .destination_local = destination,
	};
}

/* 224.0.0.0/4, 255.255.255.255 (RFC 1112, 919), ff00::/8 (RFC 4291). */
static bool
is_group(const struct ip_layer *ip)
{
	if (ip->version == 6)
		return ip->dst[0] == 0xff;
	return ip->dst[0] >= 224 && (ip->dst[0] < 240 || memcmp(ip->dst, "\xff\xff\xff\xff", 4) == 0);
}

/* 0.0.0.0 and ::, the source addresses of a host that has none yet (RFC 1122, 4861, 4862). */
static bool
is_unspecified(const uint8_t addr[16])
{
	static const uint8_t zero[16];

	return memcmp(addr, zero, sizeof zero) == 0;
}

/* Whether this host sent the frame according to the link layer; used if the addresses do not tell. */
static bool
is_sent_here(const struct packet *p)
{
	const struct interface *interface = p->frame->interface;

	if (p->direction != DIRECTION_UNKNOWN || !p->ether.present || !interface->has_mac)
		return p->direction == DIRECTION_OUT;
	return memcmp(p->ether.src, interface->mac, sizeof interface->mac) == 0;
}

/* The sides that can be local according to the link layer: an incoming frame was not sent by this host. */
static struct sides
sides_by_direction(enum direction direction)
{
	return sides_local(direction != DIRECTION_IN && direction != DIRECTION_OTHER,
			   direction != DIRECTION_OUT && direction != DIRECTION_OTHER);
}

static struct sides
sides_by_address(const struct packet *p, const struct locals *locals)
{
	struct sides may = sides_by_direction(p->direction);
	bool source, destination;

	switch (p->network) {
	case NETWORK_IPV4:
	case NETWORK_IPV6:
		source = locals_has(locals, p->ip.version, p->ip.src) ||
			 (is_unspecified(p->ip.src) && is_sent_here(p));
		destination = locals_has(locals, p->ip.version, p->ip.dst) || (!source && is_group(&p->ip));
		return sides_local(source && may.source_local, destination && may.destination_local);
	case NETWORK_ARP: {
		uint8_t sender[16] = {0};

		view_copy(p->arp.spa, 0, sender, p->arp.spa.len < 16 ? p->arp.spa.len : 16);
		source = is_sent_here(p) || locals_has(locals, 4, sender);
		return sides_local(source && may.source_local, !source && may.destination_local);
	}
	case NETWORK_NONE:
		break;
	}
	/* No IP or ARP address: decided by the interface's own address or the direction. */
	source = is_sent_here(p);
	return sides_local(source, !source && may.destination_local);
}

struct sides
sides_of(const struct packet *p, enum view_kind view, const struct locals *locals)
{
	if (view == VIEW_MONITOR)
		return (struct sides){.receive = true, .source_local = true, .destination_local = true};
	if (view == VIEW_BOTH || is_loopback(p))
		return sides_local(true, true);
	/* In a capture file the recorded directions are all that is known, unless prefixes are configured. */
	if (p->direction != DIRECTION_UNKNOWN && !locals_known(locals))
		return sides_by_direction(p->direction);
	return sides_by_address(p, locals);
}

bool
sides_is_loopback_copy(const struct packet *p)
{
	return p->direction == DIRECTION_OUT && is_loopback(p);
}
