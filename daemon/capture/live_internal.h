/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two halves of live capture share: reading (live.c), and interfaces that come and go (live_links.c). */
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
	int group;	    /* with which others it shares the frames */
	uint64_t shared_since; /* older frames were given to all of them; 0: none such can come any more */
	const char *wanted; /* its name in the configuration */
	struct interface interface;
	int dlt;
	bool indexed; /* the link header has the index of the real interface ("any") */
	bool down, said_down;
	bool behind;  /* more frames were there than one turn reads */
	bool lost;    /* it is no longer there, or not known to be */
	bool refused; /* opening it again failed for a reason that waiting does not mend */
	uint32_t refused_index; /* the interface that was refused */
	uint32_t mtu;	      /* when it was opened, 0 if unknown */
	uint64_t patience;    /* until the next attempt, ns */
	struct watch *readable;
	struct watch *timer;  /* for when the descriptor alone does not tell */
	struct watch *retry;  /* while it cannot be observed */
	struct watch *news;   /* that it went down or up are told when this runs out; NULL until needed */
	struct pcap_stat counted; /* as libpcap last said */
	struct input_interface told; /* counters for visitors */
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
	bool waited; /* for a tracer, between opening and running */
	bool asleep; /* nothing is captured because nobody listens (--on-demand) */
	unsigned unheard; /* ticks since somebody last did */
	bool failed; /* no interface is left, and none can come back */
	struct input_counters counters;
	int *link_types;
	size_t count;
	struct port ports[];
};

/* live.c: an interface is opened as live_open.h says, and its frames are shared with the other threads, in a group; one
 * that has just been opened is described; its frames are read from now on; those that are waiting are read; it is
 * closed; its counters are brought up to date. */
pcap_t *live_open_shared(const struct port *port, const char *name, enum live_open_mode mode, int *status, int *group);
void live_describe(struct port *port, const char *name);
bool live_watch(struct port *port);
void live_drain(struct port *port);
void live_close(struct port *port);
void live_count(struct port *port);

/* Whether what becomes of interfaces is this input's to tell. */
static inline bool
live_speaks(const struct live *live)
{
	return live->share.number == 0;
}

/* live_links.c: an interface cannot be read any more, as `why` says; something about the interfaces of this namespace
 * has changed. */
void live_broke(struct port *port, const char *why);
void live_links_changed(void *live);

#endif
