/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces below others, whose frames the kernel shows twice on "any".
 *
 * A frame for this host that comes in through the port of a bridge, bond or team, or with the tag of a VLAN device, is
 * captured on the lower interface and again on the upper one; a frame from this host the other way round.  The upper
 * one is where the host's addresses are, so the lower one's is the copy.  What is only passed on, by a bridge for
 * instance, is seen on lower interfaces alone and is no copy.
 *
 * "any" does not tell the VLAN tag.  On an interface that carries VLAN devices a frame is taken for tagged if its
 * address here belongs to something above that interface and not to the interface itself; where an address does not
 * decide (multicast, broadcast, an IPv6 link-local address that both have) it is told on both.
 */
#ifndef NETOBS_DAEMON_HOST_LOWER_DEDUP_H
#define NETOBS_DAEMON_HOST_LOWER_DEDUP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/host/interfaces.h"
#include "daemon/host/locality.h"
#include "dissect/packet.h"

struct uppers;

/* `interfaces` is borrowed and followed.  NULL if memory cannot be had. */
struct uppers *uppers_new(struct interfaces *interfaces);
void uppers_free(struct uppers *uppers);

/* An interface has an address, or has it no longer.  False if memory cannot be had.  NULL for `uppers` is fine. */
bool uppers_add_address(struct uppers *uppers, uint32_t ifindex, uint8_t version, const uint8_t addr[16]);
void uppers_remove_address(struct uppers *uppers, uint32_t ifindex, uint8_t version, const uint8_t addr[16]);

/* Whether any interface is below another. */
bool uppers_any(struct uppers *uppers);

/* Whether the packet, whose sides these are in the host's view, is seen on an upper interface too. */
bool uppers_has_copy(struct uppers *uppers, const struct packet *packet, struct sides sides);

#endif
