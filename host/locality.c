/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/locality.h"

#include <pcap/pcap.h>
#include <string.h>

static bool
locality_is_loopback(const struct packet *p)
{
	return p->loopback || p->frame->interface->loopback;
}

static struct locality
locality_from_endpoints(bool source, bool destination)
{
	bool foreign = !source && !destination;

	return (struct locality){
	    .fire_send = source,
	    .fire_receive = destination || foreign,
	    .foreign = foreign,
	    .source_local = source,
	    .destination_local = destination,
	};
}

/* 224.0.0.0/4, 255.255.255.255 (RFC 1112, 919), ff00::/8 (RFC 4291). */
static bool
locality_is_group_address(const struct ip_layer *ip)
{
	if (ip->version == 6)
		return ip->dst[0] == 0xff;
	return ip->dst[0] >= 224 && (ip->dst[0] < 240 || memcmp(ip->dst, "\xff\xff\xff\xff", 4) == 0);
}

/* 0.0.0.0 and ::, the source addresses of a host that has no address yet (RFC 1122, 4861, 4862). */
static bool
locality_is_unspecified(const uint8_t addr[16])
{
	static const uint8_t zero[16];

	return memcmp(addr, zero, sizeof zero) == 0;
}

/* Whether this host sent the frame according to the link layer; used if the addresses do not decide. */
static bool
locality_is_sent_by_host(const struct packet *p)
{
	const struct interface *interface = p->frame->interface;

	if (p->direction != DIRECTION_UNKNOWN || !p->ether.present || !interface->has_mac)
		return p->direction == DIRECTION_OUT;
	return memcmp(p->ether.src, interface->mac, sizeof interface->mac) == 0;
}

/* The ends that can be local according to the link layer: an incoming frame was not sent by this host. */
static struct locality
locality_from_direction(enum direction direction)
{
	return locality_from_endpoints(direction != DIRECTION_IN && direction != DIRECTION_OTHER,
				       direction != DIRECTION_OUT && direction != DIRECTION_OTHER);
}

static struct locality
locality_from_addresses(const struct packet *p, const struct local_addrs *local_addrs)
{
	struct locality possible = locality_from_direction(p->direction);
	bool source, destination;

	switch (p->network) {
	case NETWORK_IPV4:
	case NETWORK_IPV6:
		source = local_addrs_contains(local_addrs, p->ip.version, p->ip.src) ||
			 (locality_is_unspecified(p->ip.src) && locality_is_sent_by_host(p));
		destination = local_addrs_contains(local_addrs, p->ip.version, p->ip.dst) ||
			      (!source && locality_is_group_address(&p->ip));
		return locality_from_endpoints(source && possible.source_local,
					       destination && possible.destination_local);
	case NETWORK_ARP: {
		uint8_t sender[16] = {0};

		slice_copy(p->arp.spa, 0, sender, p->arp.spa.len < 16 ? p->arp.spa.len : 16);
		source = locality_is_sent_by_host(p) || local_addrs_contains(local_addrs, 4, sender);
		return locality_from_endpoints(source && possible.source_local, !source && possible.destination_local);
	}
	case NETWORK_NONE:
		break;
	}
	/* No IP or ARP address: decided by the interface's own address or the direction. */
	source = locality_is_sent_by_host(p);
	return locality_from_endpoints(source, !source && possible.destination_local);
}

struct locality
locality_of_packet(const struct packet *p, enum view_mode view, const struct local_addrs *local_addrs)
{
	if (view == VIEW_MONITOR)
		return (struct locality){.fire_receive = true, .source_local = true, .destination_local = true};
	if (view == VIEW_BOTH || locality_is_loopback(p))
		return locality_from_endpoints(true, true);
	/* In a capture file the recorded directions are all that is known, unless prefixes are configured. */
	if (p->direction != DIRECTION_UNKNOWN && !local_addrs_any_known(local_addrs))
		return locality_from_direction(p->direction);
	return locality_from_addresses(p, local_addrs);
}

struct locality
locality_ignoring_direction(const struct packet *p, const struct local_addrs *local_addrs)
{
	struct locality locality = locality_of_packet(p, VIEW_HOST, local_addrs);

	if (p->network == NETWORK_IPV4 || p->network == NETWORK_IPV6) {
		locality.source_local |= local_addrs_contains(local_addrs, p->ip.version, p->ip.src);
		locality.destination_local |= local_addrs_contains(local_addrs, p->ip.version, p->ip.dst);
	}
	return locality;
}

/* Whether frames of this link type record their direction (for example, the packet type of cooked captures). */
static bool
view_link_has_direction(int dlt)
{
	switch (dlt) {
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
	case DLT_PPP_PPPD:
	case DLT_PPP_WITH_DIR:
	case DLT_C_HDLC_WITH_DIR:
	case DLT_FRELAY_WITH_DIR:
	case DLT_NFLOG:
	case DLT_IPNET:
		return true;
	default:
		return false;
	}
}

enum view_mode
view_resolve(const struct config *config, const int *dlts, size_t count)
{
	if (config->view != VIEW_AUTO)
		return config->view;
	if (config->interface_names[0] != NULL || config->local_prefix_count > 0)
		return VIEW_HOST;
	for (size_t i = 0; i < count; i++)
		if (!view_link_has_direction(dlts[i]))
			return VIEW_BOTH;
	return VIEW_HOST;
}

bool
view_knows_local_endpoints(const struct config *config, const int *dlts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (view_link_has_direction(dlts[i]))
			return true;
	return config->local_prefix_count > 0;
}
