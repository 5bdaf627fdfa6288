/* SPDX-License-Identifier: BSD-2-Clause */
/* Network interfaces of this namespace by index.  A frame captured on "any" carries the index in its cooked header and
 * is reported with its real interface; live capture is also notified here when an interface changes. */
#ifndef NETOBS_HOST_INTERFACES_H
#define NETOBS_HOST_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/frame.h"
#include "dissect/packet.h"

/*
 * Tunnel devices.  On "any" the kernel delivers a packet inside a tunnel twice: inside the tunnel's frame, on the
 * interface that the tunnel uses, and on the tunnel's own device.  The second is the packet as this host sends or
 * receives it, so the one inside the frame is the duplicate.  Without a device that is up, for example if the tunnel
 * ends on another host or in another namespace, there is only the packet inside the frame.
 */

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

struct interfaces;

/* Properties of an interface according to the kernel. */
struct interface_info {
	uint32_t ifindex;
	char name[16];
	bool loopback;
	bool up;      /* administratively up */
	bool has_mac; /* mac is set: it is an Ethernet */
	uint8_t mac[6];
	uint32_t mtu;	  /* 0 if unknown */
	uint32_t master;  /* index of the bridge, bond or team that it is a port of, 0 if it is not a port */
	uint32_t carrier; /* index of the interface that this VLAN, macvlan or ipvlan device is on, 0 for others */
	bool sends_only;  /* ipvlan in mode l3s: what the device receives is delivered on its carrier only */
	bool redirects;	  /* an ifb device: its frames return to the interface from which they were redirected */
	bool ppp;	  /* carries the packets of PPPoE frames, among others */
	struct tunnel_device tunnel;
};

/* Callback for changes; the memory belongs to the subscriber. */
struct interfaces_subscriber {
	void (*changed)(void *context);
	void *context;
	struct interfaces_subscriber *next;
};

/* Creates an empty collection.  NULL if out of memory. */
struct interfaces *interfaces_new(void);
void interfaces_free(struct interfaces *interfaces);

/* Adds an interface or updates it.  False if out of memory. */
bool interfaces_update(struct interfaces *interfaces, const struct interface_info *info);

/* Removes an interface.  No batch may still contain a frame of it. */
void interfaces_remove(struct interfaces *interfaces, uint32_t index);

/* Calls the subscribers in order of registration, if anything has changed since the last call. */
void interfaces_notify(struct interfaces *interfaces);
void interfaces_subscribe(struct interfaces *interfaces, struct interfaces_subscriber *subscriber);
void interfaces_unsubscribe(struct interfaces *interfaces, struct interfaces_subscriber *subscriber);

/* NULL if the index is unknown.  A result is valid until the interface is removed; changes update it in place. */
const struct interface *interfaces_find(const struct interfaces *interfaces, uint32_t index);
const struct interface_info *interfaces_find_info(const struct interfaces *interfaces, uint32_t index);

/* Calls `visit` for every interface, in no particular order. */
typedef void interfaces_visitor(void *context, const struct interface_info *info);
void interfaces_visit(const struct interfaces *interfaces, interfaces_visitor *visit, void *context);

/* Inode of this process's network namespace, 0 if unknown. */
uint64_t interfaces_netns_inode(void);

#endif
