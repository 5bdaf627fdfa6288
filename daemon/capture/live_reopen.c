/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces that go down, disappear and return.  Kernel events announce changes (rtnl.h); without them a timer with
 * exponential backoff polls.  Each change of state is logged once.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/capture/live_internal.h"
#include "daemon/capture/live_pcap_open.h"
#include "daemon/host/rtnl.h"
#include "flow/flow.h"

#define PATIENCE_FIRST (1 * NANOSECONDS)
#define PATIENCE_MOST  (64 * NANOSECONDS)

/* Delay of the up and down messages: an interface that is removed goes down first, and only the removal is logged. */
#define NEWS_NS (250 * 1000000u)

static void try_again(void *port);

/* ------------------------------------------------------------------------------------------------------- it is lost */

/* Kernel's view of the interface that was opened last; NULL if it is gone, or if changes are not followed. */
static const struct link_facts *
facts_of(const struct port *port)
{
	return interfaces_facts(port->live->interfaces, port->interface.ifindex);
}

static void
start_waiting(struct port *port)
{
	port->patience = PATIENCE_FIRST;
	if (port->retry == NULL)
		port->retry = loop_timer(port->live->loop, try_again, port);
	if (port->retry == NULL || !timer_arm(port->retry, port->patience))
		log_warning("out of memory: interface %s will not be observed again", port->wanted);
}

static void
lose(struct port *port, const char *why)
{
	port->told.losses++;
	port->lost = true;
	port->said_down = false;
	if (live_speaks(port->live))
		log_warning("interface %s was removed: %s; %s until it returns", port->interface.name, why,
			    port->live->count > 1 ? "continuing with the others" : "waiting");
	live_close(port); /* after the message, because `why` may belong to the handle */
	start_waiting(port);
}

void
live_broke(struct port *port, const char *why)
{
	live_count(port);
	if (facts_of(port) == NULL) {
		lose(port, why);
		return;
	}
	/* libpcap identifies an interface by name: one that was renamed and went down looks removed to it. */
	live_close(port);
	start_waiting(port);
}

/* ------------------------------------------------------------------------------------------------------- it is back */

/* The permission to open it was dropped for good: waiting does not help. */
static void
refused(struct port *port, unsigned index, int status)
{
	struct live *live = port->live;

	port->refused = true;
	port->refused_index = index;
	if (status != PCAP_ERROR && live_speaks(live)) /* otherwise a message was logged already */
		log_warning("interface %s has returned, but netobsd has dropped the capability needed to open it "
			    "(CAP_NET_RAW): restart netobsd to observe it",
			    port->wanted);
	for (size_t i = 0; i < live->count; i++)
		if (!live->ports[i].refused)
			return;
	if (live_speaks(live))
		log_error("no interface is left to observe");
	live->failed = true;
	loop_stop(live->loop);
}

static void
is_open(struct port *port, const char *name)
{
	bool lost = port->lost;

	live_describe(port, name);
	port->lost = false;
	timer_disarm(port->retry);
	if (port->live->batch != NULL && !live_watch(port))
		live_broke(port, "out of memory");
	else if (lost && live_speaks(port->live))
		log_notice("interface %s has returned and is observed again", name);
}

/* A renamed interface is reopened under its new name, a lost one under its configured name. */
static void
open_again(struct port *port)
{
	const struct link_facts *facts = port->lost ? NULL : facts_of(port);
	const char *name = facts != NULL ? facts->name : port->wanted;
	unsigned index = if_nametoindex(name);
	int status;

	if (index == 0 || (port->refused && port->refused_index == index))
		return;
	port->pcap = live_open_shared(port, name, OPEN_AGAIN, &status, &port->group);
	if (port->pcap != NULL)
		is_open(port, name);
	else if (status != PCAP_ERROR_NO_SUCH_DEVICE && status != PCAP_ERROR_IFACE_NOT_UP)
		refused(port, index, status);
}

static void
try_again(void *context)
{
	struct port *port = context;

	if (port->pcap != NULL)
		return;
	open_again(port);
	if (port->pcap != NULL)
		return;
	port->patience = port->patience < PATIENCE_MOST ? 2 * port->patience : PATIENCE_MOST;
	timer_arm(port->retry, port->patience);
}

/* --------------------------------------------------------------------------------------------------- it has changed */

/* In immediate mode the buffer's pieces have the length of the longest frame at opening, so a larger MTU requires
 * reopening. */
static void
open_larger(struct port *port, const struct link_facts *facts)
{
	int group = 0;
	pcap_t *larger = live_open_shared(port, facts->name, OPEN_AGAIN, NULL, &group);

	port->mtu = facts->mtu;
	if (larger == NULL)
		return; /* longer frames are truncated, and counted as such */
	live_drain(port);
	live_count(port);
	live_close(port);
	port->pcap = larger;
	port->group = group;
	live_describe(port, facts->name);
	if (port->live->batch != NULL && !live_watch(port))
		live_broke(port, "out of memory");
}

static void
tell(void *context)
{
	struct port *port = context;

	if (port->lost || port->down == port->said_down)
		return;
	port->said_down = port->down;
	if (live_speaks(port->live))
		log_notice("interface %s is %s", port->interface.name, port->down ? "down" : "up again");
}

static void
tell_soon(struct port *port)
{
	if (port->news == NULL)
		port->news = loop_timer(port->live->loop, tell, port);
	if (port->news == NULL || !timer_arm(port->news, NEWS_NS))
		tell(port);
}

/* Compares an observed interface with the kernel's present view of it. */
static void
compare(struct port *port, const struct link_facts *facts)
{
	struct interface *interface = &port->interface;

	if (strcmp(interface->name, facts->name) != 0) {
		if (live_speaks(port->live))
			log_notice("interface %s was renamed to %s", interface->name, facts->name);
		memcpy(interface->name, facts->name, sizeof interface->name);
	}
	interface->has_mac = facts->has_mac;
	memcpy(interface->mac, facts->mac, sizeof interface->mac);
	port->down = !facts->up;
	if (port->down != port->said_down)
		tell_soon(port);
	if (port->pcap == NULL)
		open_again(port);
	else if (port->live->config->immediate && facts->up && port->mtu != 0 && facts->mtu > port->mtu)
		open_larger(port, facts);
}

/* Frames may be left in the buffer: read them first. */
static void
remove_port(struct port *port)
{
	live_drain(port);
	live_count(port);
	lose(port, "it was removed");
}

void
live_links_changed(void *context)
{
	struct live *live = context;

	for (size_t i = 0; i < live->count && !loop_stopped(live->loop); i++) {
		struct port *port = &live->ports[i];
		const struct link_facts *facts = facts_of(port);

		if (port->lost)
			open_again(port);
		else if (facts != NULL)
			compare(port, facts);
		else if (port->interface.ifindex != 0) /* "any" is never removed */
			remove_port(port);
	}
}
