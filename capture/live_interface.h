/* SPDX-License-Identifier: BSD-2-Clause */
/* An interface of live capture: it is opened, read by libpcap or in place (packet_ring.h), and closed. */
#ifndef NETOBS_CAPTURE_LIVE_INTERFACE_H
#define NETOBS_CAPTURE_LIVE_INTERFACE_H

#include <pcap/pcap.h>

#include "base/clock.h"
#include "base/loop.h"
#include "capture/input.h"
#include "capture/live_pcap.h"
#include "capture/packet_ring.h"
#include "config/config.h"
#include "host/interfaces.h"

/* Frames read from one interface before the next one is read. */
#define FRAMES_PER_DISPATCH 4096

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

/* Whether this input logs changes of interfaces: only the first one does. */
static inline bool
live_logs_interfaces(const struct live *live)
{
	return live->partition.number == 0;
}

/* Opens it as live_pcap.h describes and joins its fanout group. */
pcap_t *live_interface_open_pcap(const struct live_interface *interface, const char *name, enum live_open_mode mode,
				 int *status, int *group);

/* Fills in the properties of the opened interface, and maps its ring if libpcap need not read it. */
void live_interface_set_info(struct live_interface *interface, const char *name);

void live_interface_close(struct live_interface *interface);

/* Applies the configured filter to the frames of the ring unless the kernel does.  Call it when libpcap has set it.
 * False with a message if it is invalid. */
bool live_interface_filter_ring(struct live_interface *interface, const struct config *config);

/* Reads frames until FRAMES_PER_DISPATCH are read or no frame is left, and returns their number, at most
 * FRAMES_PER_DISPATCH, or an error of libpcap: in place PCAP_ERROR if the interface was removed. */
int live_interface_dispatch(struct live_interface *interface);

/* Reads all frames that are waiting. */
void live_interface_drain(struct live_interface *interface);

/* Discards, without counting, the frames that arrived while netobsd waited for a tracer. */
void live_interface_discard_backlog(struct live_interface *interface);

void live_interface_update_stats(struct live_interface *interface);

#endif
