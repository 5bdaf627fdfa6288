/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/tunnel_device.h"

#include <netinet/in.h>
#include <string.h>

static bool
tunnel_device_matches_protocol(const struct tunnel_device *device, const struct packet *outer)
{
	uint8_t protocol = outer->ip.protocol;

	if (device->version != 0 && device->version != outer->ip.version)
		return false;
	if (device->protocol == 0)
		return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6;
	if (protocol != device->protocol)
		return false;
	return protocol != IPPROTO_UDP || (outer->transport == TRANSPORT_UDP && outer->udp.dport == device->port);
}

static bool
tunnel_device_matches_address(const uint8_t configured[16], const uint8_t addr[16])
{
	static const uint8_t any[16];

	return memcmp(configured, addr, sizeof any) == 0 || memcmp(configured, any, sizeof any) == 0;
}

bool
tunnel_device_is_group(const struct ip_layer *ip)
{
	return ip->version == 4 ? (ip->dst[0] & 0xf0) == 0xe0 : ip->dst[0] == 0xff;
}

bool
tunnel_device_matches(const struct tunnel_device *device, const struct packet *outer)
{
	bool sent = outer->direction == DIRECTION_OUT;
	const uint8_t *local = sent ? outer->ip.src : outer->ip.dst, *remote = sent ? outer->ip.dst : outer->ip.src;

	if ((!sent && outer->direction != DIRECTION_IN) || device->inner != outer->inner ||
	    !tunnel_device_matches_protocol(device, outer))
		return false;
	if (!device->every_id && outer->inner_id != (sent ? device->id_out : device->id_in))
		return false;
	return tunnel_device_is_group(&outer->ip) || (tunnel_device_matches_address(device->local, local) &&
						      tunnel_device_matches_address(device->remote, remote));
}
