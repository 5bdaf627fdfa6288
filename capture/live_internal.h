/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of live capture: reading (live.c, live_ring.c), and interfaces that change (live_reopen.c). */
#ifndef NETOBS_CAPTURE_LIVE_INTERNAL_H
#define NETOBS_CAPTURE_LIVE_INTERNAL_H

#include <pcap/pcap.h>

#include "base/clock.h"
#include "base/loop.h"
#include "capture/input.h"
#include "capture/live_pcap.h"
#include "capture/packet_ring.h"
#include "config/config.h"
#include "host/interfaces.h"

struct live_interface {
	struct live *live;
	pcap_t *pcap;		   /* NULL while the interface cannot be observed */
	struct packet_ring *ring;  /* NULL: libpcap reads */
	struct bpf_program filter; /* the configured one, if the kernel has refused it; all zero: none */
	int fanout_group;	   /* number of the fanout group */
	uint64_t fanout_since; /* older frames were delivered to every worker; 0: no such frames can arrive any more */
	const char *config_name; /* its name in the configuration */
	struct interface identity;
	int dlt;
	bool has_ifindex; /* the link header has the index of the real interface ("any") */
	bool down, logged_down;
	bool has_backlog;	  /* the last read left frames in the buffer */
	bool seen;		  /* it has been opened before */
	bool removed;		  /* the interface was removed, or is absent since the start */
	bool refused;		  /* reopening it failed because the permission is missing, which does not come back */
	uint32_t refused_ifindex; /* the interface that was refused */
	uint32_t mtu;		  /* MTU when it was opened, 0 if unknown */
	uint64_t retry_delay;	  /* delay before the next attempt, ns */
	struct watch *read_watch;
	struct watch *poll_timer;	 /* for captures whose descriptor alone is not enough for polling */
	struct watch *retry_timer;	 /* while the interface cannot be observed */
	struct watch *state_log_timer;	 /* delays the log message about up and down; NULL until needed */
	struct pcap_stat last_pcap_stat; /* last statistics of libpcap */
	struct input_interface stats;	 /* counters of this interface, for visitors */
};

struct live {
	struct input input;
	const struct config *config;
	struct loop *loop;
	struct live_partition partition;
	struct interfaces *host_interfaces;
	struct interfaces_subscriber subscriber;
	struct batch *batch;	 /* NULL until the input runs */
	struct frame_sink *sink; /* that of the batch */
	struct watch *tick;
	struct host_clock host_clock;
	bool waited_for_tracer;	 /* there was a wait for a tracer between opening and running */
	bool suspended;		 /* capture is suspended because no tracer is attached (--on-demand) */
	unsigned idle_ticks;	 /* ticks since a tracer was last attached */
	uint64_t output_dropped; /* lines, when that was logged last */
	bool failed;		 /* no interface is left, and no interface can return */
	struct input_counters counters;
	struct ring_geometry ring_geometry; /* of all interfaces; block_size 0: unknown */
	int *link_types;
	size_t count;
	struct live_interface interfaces[];
};

/* live.c: opens an interface as live_pcap.h describes and joins its fanout group; fills in its properties; starts
 * to read its frames; reads all frames that are waiting; closes it; updates its counters. */
pcap_t *live_interface_open_pcap(const struct live_interface *interface, const char *name, enum live_open_mode mode,
				 int *status, int *group);
void live_interface_set_info(struct live_interface *interface, const char *name);
bool live_interface_watch(struct live_interface *interface);
void live_interface_drain(struct live_interface *interface);
void live_interface_close(struct live_interface *interface);
void live_interface_update_stats(struct live_interface *interface);

/* Whether this input logs changes of interfaces: only the first one does. */
static inline bool
live_logs_interfaces(const struct live *live)
{
	return live->partition.number == 0;
}

/* live.c: the interface of a frame: the real one of a frame of "any". */
const struct interface *live_frame_interface(const struct live_interface *interface, const uint8_t *data,
					     uint32_t caplen);

/* live_ring.c: maps the ring of an interface that was just opened, if libpcap need not read it; unmaps it; applies the
 * configured filter to its frames unless the kernel does (called when libpcap has set it), false with a message if it
 * is invalid; reads frames until `most` are read or no frame is left, and returns their number, at most `most`, or
 * PCAP_ERROR if the interface was removed. */
void live_ring_map(struct live_interface *interface);
void live_ring_unmap(struct live_interface *interface);
bool live_ring_set_filter(struct live_interface *interface, const struct config *config);
int live_ring_dispatch(struct live_interface *interface, unsigned most);

/* live_reopen.c: an interface can no longer be read, because of `error`; the interfaces of this namespace have changed.
 */
void live_interface_fail(struct live_interface *interface, const char *error);

/* live_reopen.c: the interface cannot be opened at the start: waits for it. */
void live_interface_await(struct live_interface *interface);
void live_on_interfaces_changed(void *live);

#endif
