/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces that are absent at the start, go down, are removed and return.  Kernel events announce changes (rtnl.h);
 * without them a timer with exponential backoff polls.  Each change of state is logged once.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "capture/live_internal.h"
#include "capture/live_pcap.h"
#include "flow/flow.h"
#include "host/rtnl.h"

#define RETRY_DELAY_FIRST (1 * NANOSECONDS)
#define RETRY_DELAY_MAX	  (64 * NANOSECONDS)

/* Delay of the up and down messages: an interface that is removed goes down first, and only the removal is logged. */
#define STATE_LOG_DELAY_NS (250 * 1000000u)

static void live_interface_retry(void *context);

/* ---------------------------------------------------------------------------------------------------------- removed */

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

void
live_interface_await(struct live_interface *interface)
{
	snprintf(interface->identity.name, sizeof interface->identity.name, "%s", interface->config_name);
	interface->dlt = -1;
	interface->removed = true;
	live_interface_schedule_retry(interface);
}

void
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

/* --------------------------------------------------------------------------------------------------------- returned */

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

/* ---------------------------------------------------------------------------------------------------------- changed */

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

void
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
