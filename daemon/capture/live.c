/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/capture/live.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/log.h"
#include "daemon/capture/fanout.h"
#include "daemon/capture/live_internal.h"
#include "daemon/capture/live_pcap_open.h"
#include "daemon/capture/live_pcap_suspend.h"
#include "daemon/capture/pcap_common.h"
#include "daemon/observe/batch.h"
#include "dissect/cursor.h"
#include "flow/flow.h"
#include "probes/site/semaphores.h"

/* Frames read from one interface before the others have their turn. */
#define FRAMES_PER_TURN 4096

/* Largest expected delay of a frame.  The packet clock stays this far behind the wall clock, so that late frames do not
 * make it go back. */
#define CLOCK_LAG_NS (100 * 1000000u)
#define TICK_NS	     (100 * 1000000u)

/* With --on-demand: polling interval while capture sleeps, and number of ticks without a tracer before it sleeps.  A
 * tracer gets its first event within one interval; connections survive a short pause between two tracers. */
#define LOOK_NS	      (50 * 1000000u)
#define TICKS_UNHEARD 10

/* Longest time that frames delivered to every thread, before the interface was shared, may still be in the kernel's
 * buffers. */
#define UNSHARED_NS (1 * NANOSECONDS)

static uint64_t
wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/* --------------------------------------------------------------------------------------------------------- counters */

/* libpcap's counters are 32 bits wide and wrap; differences are correct. */
void
live_count(struct port *port)
{
	struct input_counters *counters = &port->live->counters;
	uint32_t received, dropped, interface_dropped;
	struct pcap_stat now;

	if (port->pcap == NULL || pcap_stats(port->pcap, &now) < 0)
		return;
	received = now.ps_recv - port->counted.ps_recv;
	dropped = now.ps_drop - port->counted.ps_drop;
	interface_dropped = now.ps_ifdrop - port->counted.ps_ifdrop;
	counters->received += received;
	counters->dropped += dropped;
	counters->interface_dropped += interface_dropped;
	port->told.received += received;
	port->told.dropped += dropped;
	port->told.interface_dropped += interface_dropped;
	port->counted = now;
}

static const struct input_counters *
live_counters(struct input *input)
{
	struct live *live = (struct live *)input;

	for (size_t i = 0; i < live->count; i++)
		live_count(&live->ports[i]);
	return &live->counters;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

void
live_close(struct port *port)
{
	watch_free(port->readable);
	watch_free(port->timer);
	port->readable = port->timer = NULL;
	if (port->pcap != NULL && port->live->share.fanout != NULL)
		fanout_leave(port->live->share.fanout, (size_t)(port - port->live->ports), port->group);
	if (port->pcap != NULL)
		pcap_close(port->pcap);
	port->pcap = NULL;
}

/* A frame of "any" has the index of its interface in the link header (LINKTYPE_LINUX_SLL2). */
static const struct interface *
real_interface(const struct port *port, const struct pcap_pkthdr *header, const u_char *data)
{
	struct cursor cursor = cursor_over(data, header->caplen, header->len);
	const struct interface *real;
	struct view sll2;

	if (!port->indexed || !cursor_take(&cursor, 8, &sll2))
		return &port->interface;
	real = interfaces_find(port->live->interfaces, view_u32(sll2, 4));
	return real != NULL ? real : &port->interface;
}

/* libpcap's callback. */
static void
take_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	const struct port *port = (const struct port *)user;
	struct batch *batch = port->live->batch;

	*batch_slot(batch) = capture_frame(real_interface(port, header, data), port->dlt, header, data);
	batch_commit(batch);
}

/* Like take_frame() while frames from before the interface was shared may arrive: every thread receives those.  They
 * are dropped and not counted. */
static void
take_shared_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	struct port *port = (struct port *)user;
	/* The precision is that of live_open.c. */
	uint64_t ts = (uint64_t)header->ts.tv_sec * NANOSECONDS + (uint64_t)header->ts.tv_usec;

	if (ts >= port->shared_since) {
		take_frame(user, header, data);
		return;
	}
	port->live->counters.received--;
	port->told.received--;
}

static int
read_frames(struct port *port)
{
	return pcap_dispatch(port->pcap, FRAMES_PER_TURN, port->shared_since != 0 ? take_shared_frame : take_frame,
			     (u_char *)port);
}

/* Sets the timer by which the interface is read without an event; libpcap's interval changes when the interface goes
 * down or up. */
static void
arm_timer(struct port *port, bool more)
{
	const struct timeval *timeout = pcap_get_required_select_timeout(port->pcap);

	if (more)
		timer_arm(port->timer, 0);
	else if (timeout != NULL)
		timer_arm(port->timer, (uint64_t)timeout->tv_sec * NANOSECONDS + (uint64_t)timeout->tv_usec * 1000);
	else
		timer_disarm(port->timer);
}

/* If output has failed, stops the run, unless it also serves control or metrics requests. */
static void
settle(struct live *live)
{
	const struct config *config = live->config;

	if (batch_settle(live->batch))
		return;
	if (config->control == NULL && config->metrics == NULL) {
		loop_stop(live->loop);
		return;
	}
	if (live_speaks(live))
		log_warning("cannot write to standard output: printing is disabled; everything else continues");
	batch_stop_printing(live->batch);
}

/* Callback of both watches of an interface. */
static void
read_port(void *context)
{
	struct port *port = context;
	struct live *live = port->live;
	int read = read_frames(port);

	port->behind = read == FRAMES_PER_TURN;
	settle(live);
	if (read < 0)
		live_broke(port, pcap_geterr(port->pcap));
	else
		arm_timer(port, port->behind);
}

/* Reads all interfaces.  False if frames are left. */
static bool
catch_up(struct live *live)
{
	bool all = true;

	for (size_t i = 0; i < live->count; i++) {
		struct port *port = &live->ports[i];

		if (port->pcap == NULL || port->readable == NULL || port->down)
			continue;
		read_port(port);
		all = all && !port->behind;
	}
	return all;
}

/* Puts all interfaces to sleep, or wakes them.  Connections are dropped before sleep, because their packets are not
 * captured then. */
static void
set_asleep(struct live *live, bool asleep)
{
	if (asleep)
		batch_forget(live->batch);
	live->asleep = asleep;
	live->unheard = 0;
	for (size_t i = 0; i < live->count; i++) {
		struct port *port = &live->ports[i];

		if (port->pcap == NULL)
			continue;
		if (asleep)
			live_sleep(port->pcap, port->interface.name, live->share.fanout != NULL);
		else if (!live_wake(live->config, port->pcap, port->interface.name, live->share.fanout != NULL))
			live_broke(port, "it cannot be woken");
	}
}

/* Sleeps and wakes as tracers detach and attach.  Polled: the kernel changes semaphores without a notification. */
static void
follow_demand(struct live *live)
{
	if (probes_raised() != 0) {
		live->unheard = 0;
		if (live->asleep)
			set_asleep(live, false);
	} else if (!live->asleep && ++live->unheard >= TICKS_UNHEARD) {
		set_asleep(live, true);
	}
}

/* All frames that had arrived by `now` have been read: ends the sharing phase of an interface when it is over. */
static void
end_sharing(struct live *live, uint64_t now)
{
	for (size_t i = 0; i < live->count; i++)
		if (now - live->ports[i].shared_since > UNSHARED_NS) /* also true if the clock was set back */
			live->ports[i].shared_since = 0;
}

static void
tick(void *context)
{
	struct live *live = context;
	uint64_t now;

	if (live->config->on_demand)
		follow_demand(live);
	if (live->asleep) {
		timer_arm(live->tick, LOOK_NS);
		return;
	}
	/* If the process was not scheduled for a while, unread frames may be older than the lag: read them before the
	 * packet clock advances. */
	now = wall_clock();
	if (catch_up(live)) {
		end_sharing(live, now);
		batch_advance(live->batch, now - CLOCK_LAG_NS);
	}
	settle(live);
	live_counters(&live->input);
	timer_arm(live->tick, TICK_NS);
}

bool
live_watch(struct port *port)
{
	struct loop *loop = port->live->loop;

	port->readable = loop_watch_fd(loop, pcap_get_selectable_fd(port->pcap), read_port, port);
	port->timer = loop_timer(loop, read_port, port);
	if (port->readable == NULL || port->timer == NULL) {
		log_error("cannot watch interface %s: out of memory", port->interface.name);
		return false;
	}
	arm_timer(port, false);
	if (port->live->asleep)
		live_sleep(port->pcap, port->interface.name, port->live->share.fanout != NULL);
	return true;
}

static void
ignore_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	(void)user;
	(void)header;
	(void)data;
}

/* Discards, without counting, the frames that arrived while netobsd waited for a tracer.  Gives up after some turns if
 * the buffer fills as fast as it is emptied. */
static void
skip_backlog(struct port *port)
{
	for (unsigned turns = 0; turns < 64 && port->pcap != NULL; turns++)
		if (pcap_dispatch(port->pcap, FRAMES_PER_TURN, ignore_frame, NULL) <= 0)
			break;
	if (port->pcap == NULL || pcap_stats(port->pcap, &port->counted) < 0)
		port->counted = (struct pcap_stat){0};
}

void
live_drain(struct port *port)
{
	if (port->pcap == NULL || port->live->batch == NULL)
		return;
	read_frames(port);
	batch_settle(port->live->batch); /* the run ends: an output failure no longer matters */
}

static enum input_result
live_run(struct input *input, struct batch *batch)
{
	struct live *live = (struct live *)input;

	live->batch = batch;
	live->tick = loop_timer(live->loop, tick, live);
	if (live->tick == NULL || !timer_arm(live->tick, TICK_NS)) {
		log_error("out of memory");
		return INPUT_FAILED;
	}
	for (size_t i = 0; i < live->count; i++) {
		if (live->waited)
			skip_backlog(&live->ports[i]);
		if (live->ports[i].pcap != NULL && !live_watch(&live->ports[i]))
			return INPUT_FAILED;
	}
	if (live->config->on_demand && probes_raised() == 0)
		set_asleep(live, true);
	loop_run(live->loop);
	for (size_t i = 0; i < live->count; i++)
		live_drain(&live->ports[i]);
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
live_visit(struct input *input, input_visitor *visit, void *context)
{
	struct live *live = (struct live *)input;

	live_counters(input);
	for (size_t i = 0; i < live->count; i++) {
		struct port *port = &live->ports[i];

		port->told.interface = &port->interface;
		port->told.link_type = port->dlt;
		if (port->pcap == NULL && port->refused)
			port->told.state = INTERFACE_REFUSED;
		else if (port->lost)
			port->told.state = INTERFACE_LOST;
		else
			port->told.state = port->down || port->pcap == NULL ? INTERFACE_DOWN : INTERFACE_UP;
		visit(context, &port->told);
	}
}

static void
live_free(struct input *input)
{
	struct live *live = (struct live *)input;

	interfaces_unfollow(live->interfaces, &live->follower);
	for (size_t i = 0; i < live->count; i++) {
		live_close(&live->ports[i]);
		watch_free(live->ports[i].retry);
		watch_free(live->ports[i].news);
	}
	watch_free(live->tick);
	free(live->link_types);
	free(live);
}

/* ---------------------------------------------------------------------------------------------------------- opening */

/* All threads have opened their interfaces by now: shared frames start here.  The kernel has been filling the buffers,
 * which are unread. */
static bool
live_begin(struct input *input)
{
	struct live *live = (struct live *)input;

	for (size_t i = 0; i < live->count; i++)
		if (live->share.fanout != NULL)
			live->ports[i].shared_since = wall_clock();
	return true;
}

/* Sets the filter on all interfaces or on none: every filter is compiled before the first is set.  Sleeping interfaces
 * get it when they wake. */
static bool
live_filter(struct input *input, const struct config *config)
{
	struct live *live = (struct live *)input;
	bool good = true;

	for (size_t i = 0; i < live->count && good; i++)
		if (live->ports[i].pcap != NULL)
			good = live_check_filter(config, live->ports[i].pcap, live->ports[i].interface.name);
	for (size_t i = 0; i < live->count && good && !live->asleep; i++)
		if (live->ports[i].pcap != NULL)
			good = live_set_filter(config, live->ports[i].pcap, live->ports[i].interface.name);
	return good;
}

static const struct input_class live_class = {
    .begin = live_begin,
    .link_types = live_link_types,
    .run = live_run,
    .filter = live_filter,
    .counters = live_counters,
    .visit = live_visit,
    .free = live_free,
};

/* An interface that went down in the meantime cannot join the group; it is reported as not up, so that opening is
 * retried. */
pcap_t *
live_open_shared(const struct port *port, const char *name, enum live_open_mode mode, int *status, int *group)
{
	struct live *live = port->live;
	pcap_t *pcap = live_open_interface(live->config, name, mode, status);

	if (pcap == NULL || live->share.fanout == NULL)
		return pcap;
	*group = fanout_join(live->share.fanout, (size_t)(port - live->ports), if_nametoindex(name),
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
live_describe(struct port *port, const char *name)
{
	struct interface *interface = &port->interface;
	const struct link_facts *facts;
	const struct interface *known;

	port->dlt = pcap_datalink(port->pcap);
	port->indexed = port->dlt == DLT_LINUX_SLL2;
	port->counted = (struct pcap_stat){0};
	port->down = port->refused = false;
	port->shared_since = port->live->share.fanout != NULL ? wall_clock() : 0;
	*interface = (struct interface){
	    .netns = interfaces_namespace(),
	    .ifindex = if_nametoindex(name), /* 0 for "any" */
	};
	known = interfaces_find(port->live->interfaces, interface->ifindex);
	if (known != NULL)
		*interface = *known;
	snprintf(interface->name, sizeof interface->name, "%s", name);
	facts = interfaces_facts(port->live->interfaces, interface->ifindex);
	port->mtu = facts != NULL ? facts->mtu : 0;
}

static bool
open_port(struct live *live, struct port *port, const char *name)
{
	port->live = live;
	port->wanted = name;
	port->pcap = live_open_shared(port, name, OPEN_FIRST, NULL, &port->group);
	if (port->pcap == NULL)
		return false;
	live_describe(port, name);
	return true;
}

struct input *
live_open(const struct config *config, struct loop *loop, struct interfaces *interfaces, const struct live_share *share)
{
	struct live *live;
	size_t count = 0;

	while (config->interfaces[count] != NULL)
		count++;
	live = calloc(1, sizeof *live + count * sizeof live->ports[0]);
	if (live == NULL) {
		log_error("out of memory");
		return NULL;
	}
	live->input.class = &live_class;
	live->config = config;
	live->loop = loop;
	live->share = *share;
	live->interfaces = interfaces;
	live->follower = (struct interfaces_follower){.changed = live_links_changed, .context = live};
	interfaces_follow(interfaces, &live->follower);
	live->waited = config->wait_tracer || config->on_demand;
	live->link_types = calloc(count, sizeof *live->link_types);
	for (; live->link_types != NULL && live->count < count; live->count++) {
		if (!open_port(live, &live->ports[live->count], config->interfaces[live->count]))
			break;
		live->link_types[live->count] = live->ports[live->count].dlt;
	}
	if (live->count < count) {
		live->count = count; /* close all ports: those not opened yet are zero, which is safe to close */
		live_free(&live->input);
		return NULL;
	}
	return &live->input;
}
