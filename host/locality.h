/* SPDX-License-Identifier: BSD-2-Clause */
/* Locality of a packet: which of its ends are local and thus reported (--view in netobsd(8)). */
#ifndef NETOBS_HOST_LOCALITY_H
#define NETOBS_HOST_LOCALITY_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "dissect/packet.h"
#include "host/local_addrs.h"

struct locality {
	bool fire_send;		/* the send probes fire */
	bool fire_receive;	/* the receive probes fire */
	bool foreign;		/* neither end is local: only gld and ip receive probes fire */
	bool source_local;	/* connection events of the source endpoint fire */
	bool destination_local; /* connection events of the destination endpoint fire */
};

struct locality locality_of_packet(const struct packet *packet, enum view_mode view,
				   const struct local_addrs *local_addrs);

/* Like locality_of_packet() in the host view, except that a unicast address counts whatever the direction: the link
 * header of a lower interface marks a frame for an upper interface with another MAC address as one for another host. */
struct locality locality_ignoring_direction(const struct packet *packet, const struct local_addrs *local_addrs);

/* --- Selects the view if the user has not. --- */

/* Determines the view of a run; never VIEW_AUTO.  A view chosen by the user counts.  Otherwise a live run has the host
 * view.  So does a replay with local prefixes, and one whose files all record directions, which their link types show
 * before the first frame is read: standard input cannot be read twice.  Every other replay has both ends. */
enum view_mode view_resolve(const struct config *config, const int *dlts, size_t count);

/* Whether a replay in the host view can know local endpoints: by local prefixes, or by a file that records
 * directions. */
bool view_knows_local_endpoints(const struct config *config, const int *dlts, size_t count);

#endif
