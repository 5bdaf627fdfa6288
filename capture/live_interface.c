/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/live_interface.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "capture/batch.h"
#include "capture/link_filters.h"
#include "dissect/cursor.h"
#include "engine/engine.h"
#include "flow/flow.h"

/* Bytes of the kernel's buffer that the smallest frame takes, with its header and the space in front of it. */
#define FRAME_BYTES_LEAST 112u

/* --------------------------------------------------------------------------------------------------------- counters */

/* libpcap's counters are 32 bits wide and wrap; differences are correct. */
void
live_interface_update_stats(struct live_interface *interface)
{
	struct input_counters *counters = &interface->live->counters;
	uint32_t received, dropped, interface_dropped;
	struct pcap_stat now;

	if (interface->pcap == NULL || pcap_stats(interface->pcap, &now) < 0)
		return;
	received = now.ps_recv - interface->last_pcap_stat.ps_recv;
	dropped = now.ps_drop - interface->last_pcap_stat.ps_drop;
	interface_dropped = now.ps_ifdrop - interface->last_pcap_stat.ps_ifdrop;
	counters->received += received;
	counters->dropped += dropped;
	counters->interface_dropped += interface_dropped;
	interface->stats.received += received;
	interface->stats.dropped += dropped;
	interface->stats.interface_dropped += interface_dropped;
	if (dropped != 0)
		engine_ring_drop(interface->identity.ifindex, dropped, received);
	interface->last_pcap_stat = now;
}

/* ----------------------------------------------------------------------------------------------- reading by libpcap */

/* A frame of "any" has the index of its interface in the link header (LINKTYPE_LINUX_SLL2). */
static const struct interface *
live_frame_interface(const struct live_interface *interface, const uint8_t *data, uint32_t caplen)
{
	struct cursor cursor = cursor_init(data, caplen, caplen);
	const struct interface *real;
	struct slice sll2;

	if (!interface->has_ifindex || !cursor_take(&cursor, 8, &sll2))
		return &interface->identity;
	real = interfaces_find(interface->live->host_interfaces, slice_u32(sll2, 4));
	return real != NULL ? real : &interface->identity;
}

/* libpcap's callback. */
static void
live_handle_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	const struct live_interface *interface = (const struct live_interface *)user;
	struct batch *batch = interface->live->batch;

	*batch_next_frame(batch) =
	    capture_make_frame(live_frame_interface(interface, data, header->caplen), interface->dlt, header, data);
	batch_commit_frame(batch);
}

/* Like live_handle_frame() while frames from before the fanout group was complete may arrive: every worker receives
 * those.  They are ignored and not counted. */
static void
live_handle_fanout_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	struct live_interface *interface = (struct live_interface *)user;
	/* Nanoseconds: live_pcap.c sets the precision. */
	uint64_t ts = (uint64_t)header->ts.tv_sec * NANOSECONDS + (uint64_t)header->ts.tv_usec;

	if (ts >= interface->fanout_since) {
		live_handle_frame(user, header, data);
		return;
	}
	interface->live->counters.received--;
	interface->stats.received--;
}

/* ------------------------------------------------------------------------------------------------- reading in place */

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

static int
live_ring_dispatch(struct live_interface *interface)
{
	struct frame frames[BATCH_FRAMES];
	unsigned read = 0;

	/* Frames from before the suspension belong to connections that were dropped. */
	if (interface->live->suspended)
		packet_ring_discard(interface->ring);
	while (!interface->live->suspended && read < FRAMES_PER_DISPATCH && packet_ring_is_ready(interface->ring)) {
		unsigned taken = packet_ring_take(interface->ring, frames, BATCH_FRAMES), count;

		live_ring_set_interfaces(interface, frames, taken);
		count = live_ring_select_frames(interface, frames, taken);
		batch_take_in_place(interface->live->batch, frames, count);
		packet_ring_release(interface->ring);
		read += taken;
	}
	if (read == 0 && !packet_ring_check(interface->ring))
		return PCAP_ERROR;
	return read < FRAMES_PER_DISPATCH ? (int)read : FRAMES_PER_DISPATCH;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

int
live_interface_dispatch(struct live_interface *interface)
{
	if (interface->ring != NULL)
		return live_ring_dispatch(interface);
	return pcap_dispatch(interface->pcap, FRAMES_PER_DISPATCH,
			     interface->fanout_since != 0 ? live_handle_fanout_frame : live_handle_frame,
			     (u_char *)interface);
}

static void
live_discard_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	(void)user;
	(void)header;
	(void)data;
}

/* Dispatches that empty a full buffer; after as many, frames arrive as fast as they are read. */
static unsigned
live_dispatches_most(const struct live *live)
{
	return (unsigned)live_pcap_buffer_size(live->config) / (FRAME_BYTES_LEAST * FRAMES_PER_DISPATCH) + 1;
}

void
live_interface_discard_backlog(struct live_interface *interface)
{
	if (interface->ring != NULL)
		packet_ring_discard(interface->ring);
	else if (interface->pcap != NULL)
		for (unsigned left = live_dispatches_most(interface->live); left > 0; left--)
			if (pcap_dispatch(interface->pcap, FRAMES_PER_DISPATCH, live_discard_frame, NULL) <= 0)
				break;
	if (interface->pcap == NULL || pcap_stats(interface->pcap, &interface->last_pcap_stat) < 0)
		interface->last_pcap_stat = (struct pcap_stat){0};
}

void
live_interface_drain(struct live_interface *interface)
{
	if (interface->pcap == NULL || interface->live->batch == NULL)
		return;
	for (unsigned left = live_dispatches_most(interface->live); left > 0; left--)
		if (live_interface_dispatch(interface) < FRAMES_PER_DISPATCH)
			break;
	batch_flush_output(interface->live->batch); /* the run ends: an output failure no longer matters */
}

/* ------------------------------------------------------------------------------------------------------- the filter */

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
live_interface_filter_ring(struct live_interface *interface, const struct config *config)
{
	pcap_freecode(&interface->filter);
	return interface->ring == NULL || config->filter == NULL || live_ring_kernel_filters(interface) ||
	       live_ring_compile_filter(interface, config);
}

/* ---------------------------------------------------------------------------------------------- opening and closing */

/* An interface that went down in the meantime cannot join the group; it is reported as not up, so that opening is
 * retried. */
pcap_t *
live_interface_open_pcap(const struct live_interface *interface, const char *name, enum live_open_mode mode,
			 int *status, int *group)
{
	struct live *live = interface->live;
	pcap_t *pcap = live_pcap_open(live->config, name, mode, status);

	if (pcap == NULL || live->partition.fanout == NULL)
		return pcap;
	*group = fanout_join(live->partition.fanout, (size_t)(interface - live->interfaces), if_nametoindex(name),
			     pcap_get_selectable_fd(pcap));
	if (*group >= 0)
		return pcap;
	if (status != NULL)
		*status = errno == EINVAL || errno == ENETDOWN ? PCAP_ERROR_IFACE_NOT_UP : PCAP_ERROR;
	if (status == NULL || *status == PCAP_ERROR)
		log_error("workers cannot share the frames of %s: %s", name, strerror(errno));
	pcap_close(pcap);
	return NULL;
}

static void
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
live_interface_set_info(struct live_interface *live_interface, const char *name)
{
	struct interface *interface = &live_interface->identity;
	const struct interface_info *info;
	const struct interface *known;

	live_interface->dlt = pcap_datalink(live_interface->pcap);
	live_interface->has_ifindex = live_interface->dlt == DLT_LINUX_SLL2;
	live_interface->last_pcap_stat = (struct pcap_stat){0};
	live_interface->down = live_interface->refused = false;
	live_interface->seen = true;
	live_interface->fanout_since = live_interface->live->partition.fanout != NULL ? clock_realtime_ns() : 0;
	*interface = (struct interface){
	    .netns = interfaces_netns_inode(),
	    .ifindex = if_nametoindex(name), /* 0 for "any" */
	};
	known = interfaces_find(live_interface->live->host_interfaces, interface->ifindex);
	if (known != NULL)
		*interface = *known;
	snprintf(interface->name, sizeof interface->name, "%s", name);
	info = interfaces_find_info(live_interface->live->host_interfaces, interface->ifindex);
	live_interface->mtu = info != NULL ? info->mtu : 0;
	live_ring_map(live_interface);
}

void
live_interface_close(struct live_interface *interface)
{
	watch_free(interface->read_watch);
	watch_free(interface->poll_timer);
	interface->read_watch = interface->poll_timer = NULL;
	if (interface->pcap != NULL && interface->live->partition.fanout != NULL)
		fanout_leave(interface->live->partition.fanout, (size_t)(interface - interface->live->interfaces),
			     interface->fanout_group);
	packet_ring_unmap(interface->ring);
	interface->ring = NULL;
	pcap_freecode(&interface->filter);
	if (interface->pcap != NULL)
		pcap_close(interface->pcap);
	interface->pcap = NULL;
}
