/* SPDX-License-Identifier: BSD-2-Clause */
/* Live capture: reading interfaces in an event loop. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/batch.h"
#include "capture/link_filters.h"
#include "capture/live_internal.h"
#include "capture/live_pcap.h"
#include "dissect/cursor.h"
#include "engine/engine.h"
#include "flow/flow.h"
#include "probes/site/semaphores.h"

/* Frames read from one interface before the next one is read. */
#define FRAMES_PER_DISPATCH 4096

/* Bytes of the kernel's buffer that the smallest frame takes, with its header and the space in front of it. */
#define FRAME_BYTES_LEAST 112u

/* Largest expected delay of a frame.  The packet clock stays this far behind the wall clock, so that late frames do not
 * make it go back. */
#define CLOCK_LAG_NS (100 * 1000000u)
#define TICK_NS	     (100 * 1000000u)

/* Interval of ticks while output waits for its reader. */
#define OUTPUT_TICK_NS (10 * 1000000u)

/* With --on-demand: polling interval while capture is suspended, and ticks without a tracer before it is.  A
 * tracer gets its first event within one interval; connections survive a short pause between two tracers. */
#define DEMAND_POLL_NS	    (50 * 1000000u)
#define TICKS_UNTIL_SUSPEND 10

/* Longest time that frames delivered to every worker, before the fanout group was complete, may still be in the
 * kernel's buffers. */
#define FANOUT_JOIN_NS (1 * NANOSECONDS)

/* The memory of so many connections, 16 MB for all workers together, is present from the start: cleared then, it costs
 * nothing when traffic comes.  A connection that is removed leaves its memory to the next one, so that more is cleared
 * only while more connections are open than ever before. */
#define FLOWS_POPULATED 65536u

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

static const struct input_counters *
live_counters(struct input *input)
{
	struct live *live = (struct live *)input;

	for (size_t i = 0; i < live->count; i++)
		live_interface_update_stats(&live->interfaces[i]);
	return &live->counters;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

void
live_interface_close(struct live_interface *interface)
{
	watch_free(interface->read_watch);
	watch_free(interface->poll_timer);
	interface->read_watch = interface->poll_timer = NULL;
	if (interface->pcap != NULL && interface->live->partition.fanout != NULL)
		fanout_leave(interface->live->partition.fanout, (size_t)(interface - interface->live->interfaces),
			     interface->fanout_group);
	live_ring_unmap(interface);
	if (interface->pcap != NULL)
		pcap_close(interface->pcap);
	interface->pcap = NULL;
}

/* A frame of "any" has the index of its interface in the link header (LINKTYPE_LINUX_SLL2). */
const struct interface *
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

static int
live_interface_dispatch(struct live_interface *interface)
{
	if (interface->ring != NULL)
		return live_ring_dispatch(interface, FRAMES_PER_DISPATCH);
	return pcap_dispatch(interface->pcap, FRAMES_PER_DISPATCH,
			     interface->fanout_since != 0 ? live_handle_fanout_frame : live_handle_frame,
			     (u_char *)interface);
}

/* Sets the timer by which the interface is read without an event; libpcap's interval changes when the interface goes
 * down or up. */
static void
live_interface_arm_poll(struct live_interface *interface, bool more)
{
	const struct timeval *timeout = pcap_get_required_select_timeout(interface->pcap);

	if (more)
		watch_arm_timer(interface->poll_timer, 0);
	else if (timeout != NULL)
		watch_arm_timer(interface->poll_timer,
				(uint64_t)timeout->tv_sec * NANOSECONDS + (uint64_t)timeout->tv_usec * 1000);
	else
		watch_disarm_timer(interface->poll_timer);
}

static void
live_log_dropped_output(struct live *live)
{
	uint64_t dropped = live->sink->ops->output_dropped(live->sink);

	if (dropped <= live->output_dropped)
		return;
	log_warning("standard output is not read: %llu lines were dropped",
		    (unsigned long long)(dropped - live->output_dropped));
	live->output_dropped = dropped;
}

/* If output has failed, stops the run, unless it also serves control or metrics requests. */
static void
live_flush_output(struct live *live)
{
	const struct config *config = live->config;

	if (batch_flush_output(live->batch)) {
		live_log_dropped_output(live);
		return;
	}
	if (config->control_path == NULL && config->metrics_address == NULL) {
		loop_stop(live->loop);
		return;
	}
	if (live_logs_interfaces(live))
		log_warning("cannot write to standard output: printing is disabled; everything else continues");
	live->sink->ops->stop_printing(live->sink);
}

/* Callback of both watches of an interface. */
static void
live_interface_read(void *context)
{
	struct live_interface *interface = context;
	struct live *live = interface->live;
	int read;

	read = live_interface_dispatch(interface);
	interface->has_backlog = read == FRAMES_PER_DISPATCH;
	live_flush_output(live);
	if (read < 0)
		live_interface_fail(interface,
				    interface->ring != NULL ? "it no longer exists" : pcap_geterr(interface->pcap));
	else
		live_interface_arm_poll(interface, interface->has_backlog);
}

/* Reads all interfaces.  False if frames are left. */
static bool
live_read_all(struct live *live)
{
	bool all = true;

	for (size_t i = 0; i < live->count; i++) {
		struct live_interface *interface = &live->interfaces[i];

		if (interface->pcap == NULL || interface->read_watch == NULL || interface->down)
			continue;
		live_interface_read(interface);
		all = all && !interface->has_backlog;
	}
	return all;
}

/* Suspends or resumes all interfaces.  Connections are dropped before, because their packets are not captured while
 * capture is suspended. */
static void
live_set_suspended(struct live *live, bool suspend)
{
	log_debug(DEBUG_CAPTURE, "worker %u: capture on demand is %s", live->partition.number,
		  suspend ? "suspended: no probe is enabled" : "resumed: a probe is enabled");
	if (suspend)
		batch_clear_flows(live->batch);
	live->suspended = suspend;
	live->idle_ticks = 0;
	if (suspend)
		engine_sleep(live->partition.number);
	else
		engine_wake(live->partition.number);
	for (size_t i = 0; i < live->count; i++) {
		struct live_interface *interface = &live->interfaces[i];

		if (interface->pcap == NULL)
			continue;
		if (suspend)
			live_pcap_suspend(interface->pcap, interface->identity.name, live->partition.fanout != NULL);
		else if (!live_pcap_resume(live->config, interface->pcap, interface->identity.name,
					   live->partition.fanout != NULL))
			live_interface_fail(interface, "its capture cannot be resumed");
		else if (!live_ring_set_filter(interface, live->config))
			live_interface_fail(interface, "its filter cannot be set");
	}
}

/* Suspends and resumes capture as tracers detach and attach.  Polled: the kernel changes semaphores without a
 * notification. */
static void
live_check_demand(struct live *live)
{
	if (semaphores_sum() != 0) {
		live->idle_ticks = 0;
		if (live->suspended)
			live_set_suspended(live, false);
	} else if (!live->suspended && ++live->idle_ticks >= TICKS_UNTIL_SUSPEND) {
		live_set_suspended(live, true);
	}
}

/* All frames that had arrived by `now` have been read: ends the joining phase of a fanout group when it is over. */
static void
live_end_fanout_join(struct live *live, uint64_t now)
{
	for (size_t i = 0; i < live->count; i++)
		if (now - live->interfaces[i].fanout_since > FANOUT_JOIN_NS) /* also true if the clock was set back */
			live->interfaces[i].fanout_since = 0;
}

/* Reads all interfaces, then advances packet time.  If the process was not scheduled for a while, unread frames may be
 * older than the lag: they are read before.  If it is paused here, frames arrive meanwhile that are later than `now`.
 * They do not mean that the clock was set, so the clock is read again. */
static void
live_advance(struct live *live)
{
	unsigned steps;
	uint64_t now;

	batch_read_host_clock(live->batch, &live->host_clock);
	now = live->host_clock.now;
	steps = live->host_clock.steps;
	if (!live_read_all(live))
		return;
	batch_read_host_clock(live->batch, &live->host_clock);
	if (live->host_clock.steps != steps)
		return;
	live_end_fanout_join(live, now);
	batch_advance_clock(live->batch, now - CLOCK_LAG_NS);
}

static void
live_on_tick(void *context)
{
	struct live *live = context;

	if (live->suspended)
		live->sink->ops->poll_tracers(live->sink);
	if (live->config->on_demand)
		live_check_demand(live);
	if (live->suspended) {
		watch_arm_timer(live->tick, DEMAND_POLL_NS);
		return;
	}
	live_advance(live);
	live_flush_output(live);
	live_counters(&live->input);
	watch_arm_timer(live->tick, live->sink->ops->has_output(live->sink) ? OUTPUT_TICK_NS : TICK_NS);
}

bool
live_interface_watch(struct live_interface *interface)
{
	struct loop *loop = interface->live->loop;

	interface->read_watch =
	    loop_watch_readable(loop, pcap_get_selectable_fd(interface->pcap), live_interface_read, interface);
	interface->poll_timer = loop_watch_timer(loop, live_interface_read, interface);
	if (interface->read_watch == NULL || interface->poll_timer == NULL) {
		log_error("cannot watch interface %s: out of memory", interface->identity.name);
		return false;
	}
	live_interface_arm_poll(interface, false);
	if (interface->live->suspended)
		live_pcap_suspend(interface->pcap, interface->identity.name, interface->live->partition.fanout != NULL);
	return true;
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

/* Discards, without counting, the frames that arrived while netobsd waited for a tracer. */
static void
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

/* The run ends: every frame that the kernel has counted is read. */
static void
live_end(struct live *live)
{
	for (size_t i = 0; i < live->count; i++)
		if (live->interfaces[i].pcap != NULL)
			live_pcap_end(live->interfaces[i].pcap);
	/* Until the kernel has closed the last block.  Not until an event: that may be of a block without frames. */
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 2 * LIVE_DELIVERY_MS * 1000000L}, NULL);
	for (size_t i = 0; i < live->count; i++)
		live_interface_drain(&live->interfaces[i]);
}

static enum input_result
live_run(struct input *input, struct batch *batch)
{
	struct live *live = (struct live *)input;

	live->batch = batch;
	live->sink = batch_sink(batch);
	batch_read_host_clock(batch, &live->host_clock);
	live->sink->ops->populate_flows(live->sink, FLOWS_POPULATED / (unsigned)live->config->workers);
	live->tick = loop_watch_timer(live->loop, live_on_tick, live);
	if (live->tick == NULL || !watch_arm_timer(live->tick, TICK_NS)) {
		log_out_of_memory();
		return INPUT_FAILED;
	}
	for (size_t i = 0; i < live->count; i++) {
		if (live->waited_for_tracer)
			live_interface_discard_backlog(&live->interfaces[i]);
		if (live->interfaces[i].pcap != NULL && !live_interface_watch(&live->interfaces[i]))
			return INPUT_FAILED;
	}
	if (live->config->on_demand && semaphores_sum() == 0)
		live_set_suspended(live, true);
	loop_run(live->loop);
	live_end(live);
	return live->failed ? INPUT_FAILED : INPUT_DONE;
}

static const int *
live_link_types(const struct input *input, size_t *count)
{
	const struct live *live = (const struct live *)input;

	*count = live->count;
	return live->link_types;
}

static void
live_visit_interfaces(struct input *input, input_visitor *visit, void *context)
{
	struct live *live = (struct live *)input;

	live_counters(input);
	for (size_t i = 0; i < live->count; i++) {
		struct live_interface *interface = &live->interfaces[i];

		interface->stats.interface = &interface->identity;
		interface->stats.link_type = interface->dlt;
		if (interface->pcap == NULL && interface->refused)
			interface->stats.state = INTERFACE_REFUSED;
		else if (interface->removed)
			interface->stats.state = INTERFACE_REMOVED;
		else
			interface->stats.state =
			    interface->down || interface->pcap == NULL ? INTERFACE_DOWN : INTERFACE_UP;
		visit(context, &interface->stats);
	}
}

static void
live_free(struct input *input)
{
	struct live *live = (struct live *)input;

	interfaces_unsubscribe(live->host_interfaces, &live->subscriber);
	for (size_t i = 0; i < live->count; i++) {
		live_interface_close(&live->interfaces[i]);
		watch_free(live->interfaces[i].retry_timer);
		watch_free(live->interfaces[i].state_log_timer);
	}
	watch_free(live->tick);
	free(live->link_types);
	free(live);
}

/* ---------------------------------------------------------------------------------------------------------- opening */

/* All workers have opened their interfaces by now: frames are shared from here on.  The kernel has been filling the
 * buffers, which are unread. */
static bool
live_start(struct input *input)
{
	struct live *live = (struct live *)input;

	for (size_t i = 0; i < live->count; i++)
		if (live->partition.fanout != NULL)
			live->interfaces[i].fanout_since = clock_realtime_ns();
	return true;
}

/* Sets the filter on all interfaces or on none: every filter is compiled before the first is set.  Suspended interfaces
 * get it when they are resumed. */
static bool
live_set_filters(struct input *input, const struct config *config)
{
	struct live *live = (struct live *)input;
	bool good = true;

	for (size_t i = 0; i < live->count && good; i++)
		if (live->interfaces[i].pcap != NULL)
			good =
			    live_pcap_check_filter(config, live->interfaces[i].pcap, live->interfaces[i].identity.name);
	for (size_t i = 0; i < live->count && good && !live->suspended; i++)
		if (live->interfaces[i].pcap != NULL)
			good =
			    live_pcap_set_filter(config, live->interfaces[i].pcap, live->interfaces[i].identity.name);
	for (size_t i = 0; i < live->count && good && !live->suspended; i++)
		good = live_ring_set_filter(&live->interfaces[i], config);
	return good;
}

static const struct input_ops live_ops = {
    .start = live_start,
    .link_types = live_link_types,
    .run = live_run,
    .set_filter = live_set_filters,
    .counters = live_counters,
    .visit = live_visit_interfaces,
    .free = live_free,
};

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

/* Fills in the properties of the opened interface. */
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

/* Whether an interface that cannot be opened at the start is awaited. */
static bool
live_may_await(const struct live *live, const char *name, int status)
{
	return live->partition.may_reopen &&
	       (status == PCAP_ERROR_NO_SUCH_DEVICE || status == PCAP_ERROR_IFACE_NOT_UP) &&
	       live_pcap_check_filter_early(live->config, name);
}

static bool
live_interface_open(struct live *live, struct live_interface *interface, const char *name)
{
	enum live_open_mode mode = LIVE_OPEN_INITIAL;
	int status;

	interface->live = live;
	interface->config_name = name;
	if (live->partition.may_reopen)
		mode = live_logs_interfaces(live) ? LIVE_OPEN_AWAIT : LIVE_OPEN_RETRY;
	interface->pcap = live_interface_open_pcap(interface, name, mode, &status, &interface->fanout_group);
	if (interface->pcap != NULL)
		live_interface_set_info(interface, name);
	else if (live_may_await(live, name, status))
		live_interface_await(interface);
	else
		return false;
	return true;
}

struct input *
live_open(const struct config *config, struct loop *loop, struct interfaces *interfaces,
	  const struct live_partition *partition)
{
	struct live *live;
	size_t count = 0;

	while (config->interface_names[count] != NULL)
		count++;
	live = calloc(1, sizeof *live + count * sizeof live->interfaces[0]);
	if (live == NULL) {
		log_out_of_memory();
		return NULL;
	}
	live->input.ops = &live_ops;
	live->config = config;
	live->loop = loop;
	live->partition = *partition;
	live->host_interfaces = interfaces;
	live->subscriber = (struct interfaces_subscriber){.changed = live_on_interfaces_changed, .context = live};
	interfaces_subscribe(interfaces, &live->subscriber);
	live->waited_for_tracer = config->wait_tracer || config->on_demand;
	live->link_types = calloc(count, sizeof *live->link_types);
	for (; live->link_types != NULL && live->count < count; live->count++) {
		if (!live_interface_open(live, &live->interfaces[live->count], config->interface_names[live->count]))
			break;
		live->link_types[live->count] = live->interfaces[live->count].dlt;
	}
	if (live->count < count) {
		live->count = count; /* close all interfaces: those not opened yet are zero, which is safe to close */
		live_free(&live->input);
		return NULL;
	}
	return &live->input;
}
