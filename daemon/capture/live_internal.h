/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two halves of live capture: reading (live.c), and interfaces that change (live_links.c). */
#ifndef NETOBS_DAEMON_CAPTURE_LIVE_INTERNAL_H
#define NETOBS_DAEMON_CAPTURE_LIVE_INTERNAL_H

#include <pcap/pcap.h>

#include "daemon/base/loop.h"
#include "daemon/capture/input.h"
#include "daemon/capture/live.h"
#include "daemon/capture/live_pcap_open.h"
#include "daemon/config/config.h"
#include "daemon/host/interfaces.h"

struct port {
	struct live *live;
	pcap_t *pcap;	    /* NULL while the interface cannot be observed */
	int group;	    /* fanout group */
	uint64_t shared_since; /* older frames were delivered to every thread; 0: no such frames can arrive any more */
	const char *wanted; /* its name in the configuration */
	struct interface interface;
	int dlt;
	bool indexed; /* the link header has the index of the real interface ("any") */
	bool down, said_down;
	bool behind;  /* the last turn did not read all frames */
	bool lost;    /* the interface has disappeared, or its state is unknown */
	bool refused; /* reopening it failed for a reason that does not go away by waiting */
	uint32_t refused_index; /* the interface that was refused */
	uint32_t mtu;	      /* MTU when it was opened, 0 if unknown */
	uint64_t patience;    /* delay before the next attempt, ns */
	struct watch *readable;
	struct watch *timer;  /* for captures whose descriptor alone is not enough for polling */
	struct watch *retry;  /* while the interface cannot be observed */
	struct watch *news;   /* delays the log message about up and down; NULL until needed */
	struct pcap_stat counted; /* last statistics of libpcap */
	struct input_interface told; /* counters of this interface, for visitors */
};

struct live {
	struct input input;
	const struct config *config;
	struct loop *loop;
	struct live_share share;
	struct interfaces *interfaces;
	struct interfaces_follower follower;
	struct batch *batch; /* NULL until the input runs */
	struct watch *tick;
	bool waited; /* there was a wait for a tracer between opening and running */
	bool asleep; /* capture is suspended because no tracer is attached (--on-demand) */
	unsigned unheard; /* ticks since a tracer was last attached */
	bool failed; /* no interface is left, and none can return */
	struct input_counters counters;
	int *link_types;
	size_t count;
	struct port ports[];
};

/* live.c: opens an interface as live_open.h says and joins its fanout group; fills in its properties; starts to read
 * its frames; reads the frames that are waiting; closes it; updates its counters. */
pcap_t *live_open_shared(const struct port *port, const char *name, enum live_open_mode mode, int *status, int *group);
void live_describe(struct port *port, const char *name);
bool live_watch(struct port *port);
void live_drain(struct port *port);
void live_close(struct port *port);
void live_count(struct port *port);

/* Whether this input logs changes of interfaces: only the first one does. */
static inline bool
live_speaks(const struct live *live)
{
	return live->share.number == 0;
}

/* live_links.c: an interface can no longer be read, for the reason `why`; the interfaces of this namespace have
 * changed. */
void live_broke(struct port *port, const char *why);
void live_links_changed(void *live);

#endif
