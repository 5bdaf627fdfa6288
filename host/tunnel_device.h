/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunnel devices.  On "any" the kernel delivers a packet inside a tunnel twice: inside the tunnel's frame, on the
 * interface that the tunnel uses, and on the tunnel's own device.  The second is the packet as this host sends or
 * receives it, so the one inside the frame is the duplicate.  Without a device that is up, for example if the tunnel
 * ends on another host or in another namespace, there is only the packet inside the frame.
 */
#ifndef NETOBS_HOST_TUNNEL_DEVICE_H
#define NETOBS_HOST_TUNNEL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/packet.h"

/* Outer packets of a tunnel device, according to the kernel. */
struct tunnel_device {
	enum inner_layer inner; /* what the tunnel carries; INNER_NONE if the interface is not a tunnel device */
	uint8_t version;	/* IP version of the outer packets, 0 if both */
	uint8_t protocol;	/* their IP protocol; 0: 4 and 41, IP in IP */
	uint16_t port;		/* their UDP destination port, in both directions */
	bool every_id;		/* the device is for every VNI or key (an "external" device) */
	uint32_t id_in, id_out; /* VNI or GRE key of received and of sent packets, 0 without a key */
	uint8_t local[16], remote[16]; /* their addresses, IPv4 in the first four bytes; zero if any */
};

/* Whether the device delivers what this outer packet carries: it was received from the device's tunnel or sent into
 * it.  The packet's local address must be known to be local. */
bool tunnel_device_matches(const struct tunnel_device *device, const struct packet *outer);

/* Whether the packet is sent to a group: a tunnel over multicast, whose packets do not go to the address of one end. */
bool tunnel_device_is_group(const struct ip_layer *ip);

#endif
