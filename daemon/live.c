/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/live.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/batch.h"
#include "daemon/capture.h"
#include "daemon/live_open.h"
#include "daemon/log.h"
#include "dissect/cursor.h"
#include "flow/flow.h"

/* Frames read from one interface before the others have their turn. */
#define FRAMES_PER_TURN 4096

/* Frames may be this old when they arrive: the packet clock never runs closer to the wall's, so that it does not have
 * to go back. */
#define CLOCK_LAG_NS (100 * 1000000u)
#define TICK_NS	     (100 * 1000000u)

struct port {
	struct live *live;
	pcap_t *pcap; /* NULL once the interface is lost */
	struct interface interface;
	int dlt;
	bool indexed;		 /* the link header has the index of the real interface ("any") */
	struct watch *readable;
	struct watch *timer;	 /* for when the descriptor alone does not tell */
	struct pcap_stat counted; /* as libpcap last said */
};

struct live {
	struct input input;
	struct loop *loop;
	const struct interfaces *interfaces;
	struct batch *batch; /* NULL until the input runs */
	struct watch *tick;
	bool waited; /* for a tracer, between opening and running */
	struct input_counters counters;
	size_t alive; /* interfaces that are not lost */
	int *link_types;
	size_t count;
	struct port ports[];
};

/* -------------------------------------------------------------------------------------------------------- counters */

/* libpcap's counters are 32 bits wide and wrap; the difference does not. */
static void
count_port(struct port *port)
{
	struct input_counters *counters = &port->live->counters;
	struct pcap_stat now;

	if (port->pcap == NULL || pcap_stats(port->pcap, &now) < 0)
		return;
	counters->received += now.ps_recv - port->counted.ps_recv;
	counters->dropped += now.ps_drop - port->counted.ps_drop;
	counters->interface_dropped += now.ps_ifdrop - port->counted.ps_ifdrop;
	port->counted = now;
}

static const struct input_counters *
live_counters(struct input *input)
{
	struct live *live = (struct live *)input;

	for (size_t i = 0; i < live->count; i++)
		count_port(&live->ports[i]);
	return &live->counters;
}

/* --------------------------------------------------------------------------------------------------------- reading */

static void
close_port(struct port *port)
{
	watch_free(port->readable);
	watch_free(port->timer);
	port->readable = port->timer = NULL;
	if (port->pcap != NULL)
		pcap_close(port->pcap);
	port->pcap = NULL;
}

/* The interface is gone for good: one message, and the others go on. */
static void
lose_port(struct port *port)
{
	struct live *live = port->live;
	const char *why = pcap_geterr(port->pcap);

	live->alive--;
	if (live->alive > 0) {
		log_warning("interface %s is lost: %s; going on with the others", port->interface.name, why);
	} else {
		log_error("interface %s is lost: %s; no interface is left to observe", port->interface.name, why);
		loop_stop(live->loop);
	}
	count_port(port);
	close_port(port);
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

/* Whether to look again without the descriptor's word changes as the interface goes down and up. */
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

/* Both watches of an interface end up here. */
static void
read_port(void *context)
{
	struct port *port = context;
	struct live *live = port->live;
	int read = pcap_dispatch(port->pcap, FRAMES_PER_TURN, take_frame, (u_char *)port);

	if (!batch_settle(live->batch))
		loop_stop(live->loop);
	if (read < 0)
		lose_port(port);
	else
		arm_timer(port, read == FRAMES_PER_TURN);
}

static void
tick(void *context)
{
	struct live *live = context;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	batch_advance(live->batch, (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec - CLOCK_LAG_NS);
	if (!batch_settle(live->batch))
		loop_stop(live->loop);
	live_counters(&live->input);
	timer_arm(live->tick, TICK_NS);
}

static bool
watch_port(struct port *port)
{
	struct loop *loop = port->live->loop;

	port->readable = loop_watch_fd(loop, pcap_get_selectable_fd(port->pcap), read_port, port);
	port->timer = loop_timer(loop, read_port, port);
	if (port->readable == NULL || port->timer == NULL) {
		log_error("cannot watch interface %s: out of memory", port->interface.name);
		return false;
	}
	arm_timer(port, false);
	return true;
}

static void
ignore_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	(void)user;
	(void)header;
	(void)data;
}

/* What came while a tracer was waited for is neither observed nor counted.  A buffer that fills as fast as it is
 * emptied is left after some turns. */
static void
skip_backlog(struct port *port)
{
	for (unsigned turns = 0; turns < 64; turns++)
		if (pcap_dispatch(port->pcap, FRAMES_PER_TURN, ignore_frame, NULL) <= 0)
			break;
	if (pcap_stats(port->pcap, &port->counted) < 0)
		port->counted = (struct pcap_stat){0};
}

/* What had been captured when the loop was stopped. */
static void
drain(struct live *live)
{
	for (size_t i = 0; i < live->count; i++)
		if (live->ports[i].pcap != NULL)
			pcap_dispatch(live->ports[i].pcap, FRAMES_PER_TURN, take_frame, (u_char *)&live->ports[i]);
	batch_settle(live->batch); /* too late to do anything about it */
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
		if (!watch_port(&live->ports[i]))
			return INPUT_FAILED;
	}
	loop_run(live->loop);
	drain(live);
	return live->alive > 0 ? INPUT_DONE : INPUT_FAILED;
}

static const int *
live_link_types(const struct input *input, size_t *count)
{
	const struct live *live = (const struct live *)input;

	*count = live->count;
	return live->link_types;
}

static void
live_free(struct input *input)
{
	struct live *live = (struct live *)input;

	for (size_t i = 0; i < live->count; i++)
		close_port(&live->ports[i]);
	watch_free(live->tick);
	free(live->link_types);
	free(live);
}

/* --------------------------------------------------------------------------------------------------------- opening */

/* The kernel has filled the buffers meanwhile, but nobody has looked into them yet. */
static bool
live_begin(struct input *input)
{
	(void)input;
	return true;
}

/* Of all interfaces, or of none: filters are compiled before any is set. */
static bool
live_filter(struct input *input, const struct config *config)
{
	struct live *live = (struct live *)input;
	bool good = true;

	for (size_t i = 0; i < live->count && good; i++)
		if (live->ports[i].pcap != NULL)
			good = live_check_filter(config, live->ports[i].pcap, live->ports[i].interface.name);
	for (size_t i = 0; i < live->count && good; i++)
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
    .free = live_free,
};

/* What is known of the interface itself. */
static void
describe(struct live *live, struct interface *interface, const char *name)
{
	const struct interface *known;

	snprintf(interface->name, sizeof interface->name, "%s", name);
	interface->netns = interfaces_namespace();
	interface->ifindex = if_nametoindex(name); /* 0 for "any" */
	known = interfaces_find(live->interfaces, interface->ifindex);
	interface->loopback = known != NULL && known->loopback;
}

static bool
open_port(struct live *live, const struct config *config, struct port *port, const char *name)
{
	port->live = live;
	port->pcap = live_open_interface(config, name);
	if (port->pcap == NULL)
		return false;
	describe(live, &port->interface, name);
	port->dlt = pcap_datalink(port->pcap);
	port->indexed = port->dlt == DLT_LINUX_SLL2;
	return true;
}

struct input *
live_open(const struct config *config, struct loop *loop, const struct interfaces *interfaces)
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
	live->loop = loop;
	live->interfaces = interfaces;
	live->waited = config->wait_tracer;
	live->link_types = calloc(count, sizeof *live->link_types);
	for (; live->link_types != NULL && live->count < count; live->count++) {
		if (!open_port(live, config, &live->ports[live->count], config->interfaces[live->count]))
			break;
		live->link_types[live->count] = live->ports[live->count].dlt;
	}
	if (live->count < count) {
		live->count = count; /* the ports that were not reached are all zeros, which is fine to close */
		live_free(&live->input);
		return NULL;
	}
	live->alive = count;
	return &live->input;
}
