/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live capture: reading interfaces in an event loop.
 *
 * Interfaces may be absent at the start, go down, be removed and return.  Kernel events announce changes (rtnl.h);
 * without them a timer with exponential backoff polls.  Each change of state is logged once.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/batch.h"
#include "capture/live_interface.h"
#include "engine/engine.h"
#include "flow/flow.h"
#include "probes/site/semaphores.h"

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

#define RETRY_DELAY_FIRST (1 * NANOSECONDS)
#define RETRY_DELAY_MAX	  (64 * NANOSECONDS)

/* Delay of the up and down messages: an interface that is removed goes down first, and only the removal is logged. */
#define STATE_LOG_DELAY_NS (250 * 1000000u)

/* --------------------------------------------------------------------------------------------------------- counters */

static const struct input_counters *
live_counters(struct input *input)
{
	struct live *live = (struct live *)input;

	for (size_t i = 0; i < live->count; i++)
		live_interface_update_stats(&live->interfaces[i]);
	return &live->counters;
}

/* ----------------------------------------------------------------------------------------------- interfaces that go */

static void live_interface_retry(void *context);

/* Properties of the interface that was opened last; NULL if it was removed, or for "any". */
static const struct interface_info *
live_interface_find_info(const struct live_interface *interface)
{
	return interfaces_find_info(interface->live->host_interfaces, interface->identity.ifindex);
}

static void
live_interface_schedule_retry(struct live_interface *interface)
{
	interface->retry_delay = RETRY_DELAY_FIRST;
	if (interface->retry_timer == NULL)
		interface->retry_timer = loop_watch_timer(interface->live->loop, live_interface_retry, interface);
	if (interface->retry_timer == NULL || !watch_arm_timer(interface->retry_timer, interface->retry_delay))
		log_warning("out of memory: interface %s will not be observed again", interface->config_name);
}

static void
live_interface_set_removed(struct live_interface *interface, const char *error)
{
	log_debug(DEBUG_LIVE, "worker %u: interface %s was removed: %s", interface->live->partition.number,
		  interface->identity.name, error);
	interface->stats.times_removed++;
	interface->removed = true;
	interface->logged_down = false;
	if (live_logs_interfaces(interface->live))
		log_warning("interface %s was removed: %s; %s until it returns", interface->identity.name, error,
			    interface->live->count > 1 ? "continuing with the others" : "waiting");
	live_interface_close(interface); /* after the message, because `error` may belong to the handle */
	live_interface_schedule_retry(interface);
}

static void
live_interface_await(struct live_interface *interface)
{
	snprintf(interface->identity.name, sizeof interface->identity.name, "%s", interface->config_name);
	interface->dlt = -1;
	interface->removed = true;
	live_interface_schedule_retry(interface);
}

static void
live_interface_fail(struct live_interface *interface, const char *error)
{
	live_interface_update_stats(interface);
	if (live_interface_find_info(interface) == NULL) {
		live_interface_set_removed(interface, error);
		return;
	}
	/* libpcap identifies an interface by name: one that was renamed and went down looks removed to it. */
	log_debug(DEBUG_LIVE, "interface %s cannot be read: %s; it still exists and is opened again",
		  interface->identity.name, error);
	live_interface_close(interface);
	live_interface_schedule_retry(interface);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

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

static bool
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

/* ------------------------------------------------------------------------------------------- interfaces that return */

/* The permission to open it was dropped for good: waiting does not help.  Any other failure may pass: the interface may
 * be removed or renamed while it is opened. */
static void
live_interface_refuse(struct live_interface *interface, unsigned index)
{
	struct live *live = interface->live;

	interface->refused = true;
	interface->refused_ifindex = index;
	if (live_logs_interfaces(live))
		log_warning("interface %s has returned, but netobsd has dropped the capability needed to open it "
			    "(CAP_NET_RAW): restart netobsd to observe it",
			    interface->config_name);
	for (size_t i = 0; i < live->count; i++)
		if (!live->interfaces[i].refused)
			return;
	if (live_logs_interfaces(live))
		log_error("no interface is left to observe");
	live->failed = true;
	loop_stop(live->loop);
}

static void
live_interface_reopened(struct live_interface *interface, const char *name)
{
	bool removed = interface->removed, returned = interface->seen;

	live_interface_set_info(interface, name);
	interface->removed = false;
	if (interface->retry_timer != NULL)
		watch_disarm_timer(interface->retry_timer);
	if (interface->live->batch != NULL && !live_interface_watch(interface))
		live_interface_fail(interface, "out of memory");
	else if (removed && returned && live_logs_interfaces(interface->live))
		log_notice("interface %s has returned and is observed again", name);
	else if (removed && live_logs_interfaces(interface->live))
		log_notice("interface %s is observed", name);
}

/* A renamed interface is reopened under its new name, a removed one under its configured name. */
static void
live_interface_reopen(struct live_interface *interface)
{
	const struct interface_info *info = interface->removed ? NULL : live_interface_find_info(interface);
	const char *name = info != NULL ? info->name : interface->config_name;
	unsigned index = if_nametoindex(name);
	int status;

	if (index == 0 || (interface->refused && interface->refused_ifindex == index)) {
		log_debug(DEBUG_LIVE, "interface %s is not opened again yet: %s", name,
			  index == 0 ? "it does not exist" : "the capability to open it was dropped");
		return;
	}
	if (!interface->live->partition.may_reopen) { /* then the system-call filter refuses what libpcap calls first */
		log_debug(DEBUG_LIVE, "interface %s cannot be opened: the permission was dropped", name);
		live_interface_refuse(interface, index);
		return;
	}
	interface->pcap = live_interface_open_pcap(interface, name, LIVE_OPEN_RETRY, &status, &interface->fanout_group);
	if (interface->pcap != NULL)
		live_interface_reopened(interface, name);
	else if (live_is_permission_status(status))
		live_interface_refuse(interface, index);
}

static void
live_interface_retry(void *context)
{
	struct live_interface *interface = context;

	if (interface->pcap != NULL)
		return;
	live_interface_reopen(interface);
	if (interface->pcap != NULL)
		return;
	interface->retry_delay =
	    interface->retry_delay < RETRY_DELAY_MAX ? 2 * interface->retry_delay : RETRY_DELAY_MAX;
	log_debug(DEBUG_LIVE, "interface %s: next attempt in %u s, or as soon as the kernel announces a change",
		  interface->config_name, (unsigned)(interface->retry_delay / NANOSECONDS));
	watch_arm_timer(interface->retry_timer, interface->retry_delay);
}

/* ------------------------------------------------------------------------------------------- interfaces that change */

/* In immediate mode each frame takes as much of the buffer as the longest frame at opening, so a larger MTU requires
 * reopening. */
static void
live_interface_reopen_larger(struct live_interface *interface, const struct interface_info *info)
{
	int group = 0;
	pcap_t *larger = NULL;

	if (interface->live->partition.may_reopen)
		larger = live_interface_open_pcap(interface, info->name, LIVE_OPEN_RETRY, NULL, &group);
	log_debug(DEBUG_LIVE, "interface %s: the MTU grew from %u to %u, %s", info->name, (unsigned)interface->mtu,
		  (unsigned)info->mtu, larger != NULL ? "it is opened again" : "but it cannot be opened again");
	interface->mtu = info->mtu;
	if (larger == NULL)
		return; /* longer frames are truncated, and counted as such */
	live_interface_drain(interface);
	live_interface_update_stats(interface);
	live_interface_close(interface);
	interface->pcap = larger;
	interface->fanout_group = group;
	live_interface_set_info(interface, info->name);
	if (interface->live->batch != NULL && !live_interface_watch(interface))
		live_interface_fail(interface, "out of memory");
}

static void
live_interface_log_state(void *context)
{
	struct live_interface *interface = context;

	if (interface->removed || interface->down == interface->logged_down)
		return;
	interface->logged_down = interface->down;
	if (live_logs_interfaces(interface->live))
		log_notice("interface %s is %s", interface->identity.name, interface->down ? "down" : "up again");
}

static void
live_interface_log_state_soon(struct live_interface *interface)
{
	if (interface->state_log_timer == NULL)
		interface->state_log_timer =
		    loop_watch_timer(interface->live->loop, live_interface_log_state, interface);
	if (interface->state_log_timer == NULL || !watch_arm_timer(interface->state_log_timer, STATE_LOG_DELAY_NS))
		live_interface_log_state(interface);
}

/* Compares an observed interface with its present properties in the kernel. */
static void
live_interface_update(struct live_interface *live_interface, const struct interface_info *info)
{
	struct interface *interface = &live_interface->identity;

	if (strcmp(interface->name, info->name) != 0) {
		if (live_logs_interfaces(live_interface->live))
			log_notice("interface %s was renamed to %s", interface->name, info->name);
		memcpy(interface->name, info->name, sizeof interface->name);
	}
	interface->has_mac = info->has_mac;
	memcpy(interface->mac, info->mac, sizeof interface->mac);
	live_interface->down = !info->up;
	if (live_interface->down != live_interface->logged_down)
		live_interface_log_state_soon(live_interface);
	if (live_interface->pcap == NULL)
		live_interface_reopen(live_interface);
	else if (live_interface->live->config->immediate && info->up && live_interface->mtu != 0 &&
		 info->mtu > live_interface->mtu)
		live_interface_reopen_larger(live_interface, info);
}

/* Frames may be left in the buffer: read them first. */
static void
live_interface_remove(struct live_interface *interface)
{
	live_interface_drain(interface);
	live_interface_update_stats(interface);
	live_interface_set_removed(interface, "it no longer exists");
}

static void
live_on_interfaces_changed(void *context)
{
	struct live *live = context;

	for (size_t i = 0; i < live->count && !loop_is_stopped(live->loop); i++) {
		struct live_interface *interface = &live->interfaces[i];
		const struct interface_info *info = live_interface_find_info(interface);

		if (interface->removed)
			live_interface_reopen(interface);
		else if (info != NULL)
			live_interface_update(interface, info);
		else if (interface->identity.ifindex != 0) /* "any" is never removed */
			live_interface_remove(interface);
	}
}

/* --------------------------------------------------------------------------------------------------------- the loop */

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
		else if (!live_interface_filter_ring(interface, live->config))
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
		good = live_interface_filter_ring(&live->interfaces[i], config);
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
