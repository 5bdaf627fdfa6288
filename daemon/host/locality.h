/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose point of view: which sides of a packet are local (probes.md, section 2). */
#ifndef NETOBS_DAEMON_HOST_LOCALITY_H
#define NETOBS_DAEMON_HOST_LOCALITY_H

#include <stdbool.h>

#include "daemon/config/config.h"
#include "daemon/host/local_addrs.h"
#include "dissect/packet.h"

struct sides {
	bool send;		/* the send probes fire */
	bool receive;		/* the receive probes fire */
	bool overheard;		/* neither end is local: of the receive probes only gld and ip */
	bool source_local;	/* connection events of the source endpoint are told */
	bool destination_local; /* and of the destination's */
};

struct sides sides_of(const struct packet *packet, enum view_kind view, const struct locals *locals);

/* A loopback frame passes the capture twice, going out and coming in; the incoming copy stands for both. */
bool sides_is_loopback_copy(const struct packet *packet);

#endif
