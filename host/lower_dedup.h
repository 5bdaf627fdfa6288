/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Duplicates of lower devices: on "any" the kernel delivers some frames twice.  A frame to this host that arrives at
 * the port of a bridge, bond or team, or that belongs to a VLAN, macvlan or ipvlan device, is captured on the lower
 * device and again on the upper one; a frame from this host in reverse order.  The host's addresses are on the upper
 * interface, so the frame on the lower one is the duplicate.  Forwarded frames, for example of a bridge, appear on
 * lower interfaces only and are not duplicates.
 *
 * "any" does not deliver VLAN tags.  On an interface with VLAN, macvlan or ipvlan devices a frame belongs to one of
 * them if its local address belongs to an interface above and not to the interface itself.  If the address does not
 * decide (multicast, broadcast, an IPv6 link-local address on both), the frame is reported on both.
 *
 * Three more duplicates: a PPPoE frame whose local address is on a PPP interface, a frame on an ifb device, and the
 * packet inside a tunnel whose device is up (interfaces.h).
 */
#ifndef NETOBS_HOST_LOWER_DEDUP_H
#define NETOBS_HOST_LOWER_DEDUP_H

#include <stdbool.h>
#include <stdint.h>

#include "host/interfaces.h"
#include "host/locality.h"
#include "dissect/packet.h"

struct lower_dedup;

/* `interfaces` is borrowed, and its changes are subscribed to.  NULL if out of memory. */
struct lower_dedup *lower_dedup_new(struct interfaces *interfaces);
void lower_dedup_free(struct lower_dedup *dedup);

/* An interface has gained or lost an address.  False if out of memory.  `dedup` may be NULL. */
bool lower_dedup_add_address(struct lower_dedup *dedup, uint32_t ifindex, uint8_t version, const uint8_t addr[16]);
void lower_dedup_remove_address(struct lower_dedup *dedup, uint32_t ifindex, uint8_t version, const uint8_t addr[16]);

/* Whether any packet can be a duplicate. */
bool lower_dedup_is_active(struct lower_dedup *dedup);

/* Bloom filter of the lower devices: bit n is set if the interface index of one is n modulo 64.  0 if there is none. */
uint64_t lower_dedup_hint(struct lower_dedup *dedup);

/* Whether the packet's interface or link header allows that it is a duplicate: a check before its addresses. */
bool lower_dedup_is_candidate(struct lower_dedup *dedup, const struct packet *packet);

/* Whether the packet is captured on an upper interface too.  `locality` is that of locality_ignoring_direction(). */
bool lower_dedup_is_duplicate(struct lower_dedup *dedup, const struct packet *packet, struct locality locality);

/* Whether the device of a tunnel delivers what the outer packet carries.  `locality` is that of the host view. */
bool lower_dedup_is_inner_duplicate(struct lower_dedup *dedup, const struct packet *outer, struct locality locality);

#endif
