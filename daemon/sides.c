/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/sides.h"

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

static struct sides
sides_by_address(const struct packet *p, const struct locals *locals)
{
	bool source, destination;

	switch (p->network) {
	case NETWORK_IPV4:
	case NETWORK_IPV6:
		source = locals_has(locals, p->ip.version, p->ip.src);
		destination = locals_has(locals, p->ip.version, p->ip.dst) || (!source && is_group(&p->ip));
		return sides_local(source, destination);
	case NETWORK_ARP: {
		uint8_t sender[16] = {0};

		view_copy(p->arp.spa, 0, sender, p->arp.spa.len < 16 ? p->arp.spa.len : 16);
		source = locals_has(locals, 4, sender);
		return sides_local(source, !source); /* requests are broadcast: everybody hears them */
	}
	case NETWORK_NONE:
		break;
	}
	return sides_local(false, true); /* no address to judge by: the interface delivered it */
}

struct sides
sides_of(const struct packet *p, enum view_kind view, const struct locals *locals)
{
	if (view == VIEW_MONITOR)
		return (struct sides){.receive = true, .source_local = true, .destination_local = true};
	if (view == VIEW_BOTH || is_loopback(p))
		return sides_local(true, true);
	switch (p->direction) {
	case DIRECTION_IN:
		return sides_local(false, true);
	case DIRECTION_OUT:
		return sides_local(true, false);
	case DIRECTION_OTHER:
		return sides_local(false, false);
	case DIRECTION_UNKNOWN:
		break;
	}
	return sides_by_address(p, locals);
}

bool
sides_is_loopback_copy(const struct packet *p)
{
	return p->direction == DIRECTION_OUT && is_loopback(p);
}
