/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an interface whose ring is mapped (packet_ring.h). */
#include <linux/filter.h>
#include <sys/socket.h>

#include "base/log_debug.h"
#include "capture/live_internal.h"
#include "capture/packet_ring.h"
#include "capture/pcap_common.h"
#include "capture/batch.h"

void
live_ring_map(struct live_interface *interface)
{
	struct live *live = interface->live;

	/* With a filter at the start libpcap reads: it also filters frames that arrived before the filter was set. */
	if (live->config->filter == NULL)
		interface->ring = packet_ring_map(interface->pcap, &live->ring_geometry);
	log_debug(DEBUG_LIVE, "interface %s is read %s", interface->identity.name,
		  interface->ring != NULL ? "in place" : "by libpcap");
}

void
live_ring_unmap(struct live_interface *interface)
{
	packet_ring_unmap(interface->ring);
	interface->ring = NULL;
	pcap_freecode(&interface->filter);
}

/* Whether libpcap could give its filter to the kernel.  A filter that the kernel refuses is detached again. */
static bool
live_ring_kernel_filters(const struct live_interface *interface)
{
	socklen_t instructions = 0; /* with room for none the kernel returns only their number */

	return getsockopt(pcap_get_selectable_fd(interface->pcap), SOL_SOCKET, SO_GET_FILTER, NULL, &instructions) ==
		   0 &&
	       instructions > 0;
}

/* Compiled as for a file: tests of VLAN tags then read them in the frame.  For an interface libpcap compiles
 * instructions that only the kernel can run. */
static bool
live_ring_compile_filter(struct live_interface *interface, const struct config *config)
{
	pcap_t *file = pcap_open_dead(interface->dlt, config->snaplen);
	bool good = file != NULL && capture_compile_filter(config, file, interface->identity.name, &interface->filter);

	if (file != NULL)
		pcap_close(file);
	return good;
}

bool
live_ring_set_filter(struct live_interface *interface, const struct config *config)
{
	pcap_freecode(&interface->filter);
	return interface->ring == NULL || config->filter == NULL || live_ring_kernel_filters(interface) ||
	       live_ring_compile_filter(interface, config);
}

/* Whether the frame passes the filter and the joining phase of a fanout group (live_handle_fanout_frame()). */
static bool
live_ring_wants_frame(struct live_interface *interface, const struct frame *frame)
{
	struct pcap_pkthdr header = {.caplen = frame->caplen, .len = frame->len};

	if (frame->ts < interface->fanout_since) {
		interface->live->counters.received--;
		interface->stats.received--;
		return false;
	}
	return interface->filter.bf_insns == NULL || pcap_offline_filter(&interface->filter, &header, frame->data) != 0;
}

/* Removes unwanted frames.  Returns how many are left. */
static unsigned
live_ring_select_frames(struct live_interface *interface, struct frame *frames, unsigned count)
{
	unsigned wanted = 0;

	if (interface->fanout_since == 0 && interface->filter.bf_insns == NULL)
		return count;
	for (unsigned i = 0; i < count; i++)
		if (live_ring_wants_frame(interface, &frames[i]))
			frames[wanted++] = frames[i];
	return wanted;
}

/* Frames of "any" have the index of their interface in the link header. */
static void
live_ring_set_interfaces(const struct live_interface *interface, struct frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		frames[i].interface = interface->has_ifindex
					  ? live_frame_interface(interface, frames[i].data, frames[i].caplen)
					  : &interface->identity;
}

int
live_ring_dispatch(struct live_interface *interface, unsigned most)
{
	struct frame frames[BATCH_FRAMES];
	unsigned read = 0;

	/* Frames from before the suspension belong to connections that were dropped. */
	if (interface->live->suspended)
		packet_ring_discard(interface->ring);
	while (!interface->live->suspended && read < most && packet_ring_is_ready(interface->ring)) {
		unsigned taken = packet_ring_take(interface->ring, frames, BATCH_FRAMES), count;

		live_ring_set_interfaces(interface, frames, taken);
		count = live_ring_select_frames(interface, frames, taken);
		batch_take_in_place(interface->live->batch, frames, count);
		packet_ring_release(interface->ring);
		read += taken;
	}
	if (read == 0 && !packet_ring_check(interface->ring))
		return PCAP_ERROR;
	return read < most ? (int)read : (int)most;
}
