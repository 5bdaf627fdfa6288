/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/fire.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/dissect.h"
#include "probes/args/args.h"
#include "probes/print/print.h"

/* The kernel's data about a connection is ignored when it is older than this: no probe has used it for a while. */
#define OWNER_TCP_AGE_NS NANOSECONDS

/* Structs that depend on the packet only, as bits of prober.built. */
enum shared {
	SHARED_PKT = 1,
	SHARED_IP = 2,
	SHARED_ILL = 4,
	SHARED_ETHER = 8,
	SHARED_IPV4 = 16,
	SHARED_IPV6 = 32,
	SHARED_TCP = 64,
};

/* One cache line each, so that threads that fire different probes do not contend. */
struct sequences {
	struct {
		_Alignas(64) _Atomic uint64_t fired; /* since the probe was enabled */
	} of[PROBE_COUNT];
};

struct prober {
	struct printer *printer;
	const struct flow_table *flows;
	const struct packet *packet;	/* NULL: a timer, no packet */
	const struct packet *suspended; /* packet being processed when the timer ran */
	uint64_t id;
	unsigned id_first, id_stride; /* packet id of the first prober and stride, if there are several */
	uint64_t now;
	unsigned built; /* enum shared */
	bool wanted;	/* a probe was enabled at the last prober_refresh() */

	prober_find_owner *find_owner; /* NULL: owners are unknown */
	void *owners;
	const struct flow *owned; /* flow whose owners were looked up for this packet, NULL none */
	struct {
		bool asked, found;
		struct owner owner;
	} owner[2]; /* of the two ends of `owned` */

	/* Arguments read by tracers.  Filled anew for each packet, so the pages are resident when a tracer reads
	 * them. */
	struct pktinfo pkt;
	struct ipinfo ip;
	struct illinfo ill;
	struct etherinfo ether;
	struct ipv4info ipv4;
	struct ipv6info ipv6;
	struct tcpinfo tcp;
	/* Filled anew for each firing. */
	struct csinfo cs;
	struct tcpsinfo tcps;
	struct tcpnsinfo tcpns;
	struct tcplsinfo tcpls;
	struct tcprinfo tcpr;
	struct tcpfinfo tcpf;
	struct udpinfo udp;
	struct sctpinfo sctp;
	struct sctpsinfo sctps;
	struct sctplsinfo sctpls;
	struct sockinfo so;
	struct icmpinfo icmp;
	struct arpinfo arp;
	struct conninfo ci;

	struct sequences *sequences;	/* NULL: this is the only prober */
	uint64_t sequence[PROBE_COUNT]; /* if so: firings since the probe was enabled */
	uint64_t fired[PROBE_COUNT];	/* since the start */
	uint64_t checksums[CHECKSUM_PARTIAL + 1];
};

_Static_assert(sizeof(struct tcpsinfo) == sizeof(struct tcpnsinfo), "tcpnsinfo_t has the layout of tcpsinfo_t");

struct prober *
prober_new(struct printer *printer, const struct flow_table *flows)
{
	struct prober *p = calloc(1, sizeof *p);

	if (p != NULL) {
		p->printer = printer;
		p->flows = flows;
		p->id_stride = 1;
	}
	return p;
}

void
prober_free(struct prober *p)
{
	free(p);
}

struct sequences *
sequences_new(void)
{
	struct sequences *sequences = aligned_alloc(_Alignof(struct sequences), sizeof *sequences);

	for (unsigned id = 0; sequences != NULL && id < PROBE_COUNT; id++)
		atomic_init(&sequences->of[id].fired, 0);
	return sequences;
}

void
sequences_free(struct sequences *sequences)
{
	free(sequences);
}

void
prober_share_ids(struct prober *p, unsigned number, unsigned of, struct sequences *sequences)
{
	p->id_first = number;
	p->id_stride = of;
	p->sequences = sequences;
}

static uint64_t
packet_id(const struct prober *p)
{
	return (p->id - 1) * p->id_stride + p->id_first + 1;
}

static uint64_t
next_in_sequence(struct prober *p, enum probe_id id)
{
	if (p->sequences == NULL)
		return ++p->sequence[id];
	return atomic_fetch_add_explicit(&p->sequences->of[id].fired, 1, memory_order_relaxed) + 1;
}

/* No tracer is attached to the probe: its sequence starts again at 1 with the next tracer. */
static void
end_sequence(struct prober *p, enum probe_id id)
{
	_Atomic uint64_t *fired;
	uint64_t before;

	p->sequence[id] = 0;
	if (p->sequences == NULL)
		return;
	/* A tracer may have attached since, and another thread may have fired for it: keep that count. */
	fired = &p->sequences->of[id].fired;
	before = atomic_load_explicit(fired, memory_order_acquire);
	if (before != 0 && SEMAPHORE_NOW(probe_semaphores[id]) == 0)
		atomic_compare_exchange_strong_explicit(fired, &before, 0, memory_order_relaxed, memory_order_relaxed);
}

void
prober_packet(struct prober *p, const struct packet *packet, uint64_t id, uint64_t now)
{
	p->packet = packet;
	p->id = id;
	p->now = now;
	p->built = 0;
	p->owned = NULL;
}

void
prober_set_owners(struct prober *p, prober_find_owner *find, void *context)
{
	p->find_owner = find;
	p->owners = context;
}

void
prober_timer_begin(struct prober *p, uint64_t now)
{
	p->suspended = p->packet;
	p->packet = NULL;
	p->now = now;
	p->owned = NULL;
}

void
prober_timer_end(struct prober *p)
{
	p->packet = p->suspended;
}

void
prober_refresh(struct prober *p)
{
	p->wanted = false;
	if (p->id_first == 0) /* site_ask_dtrace() keeps a count, so only one thread calls it */
		site_ask_dtrace();
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		if (SEMAPHORE_NOW(probe_semaphores[id]) == 0)
			end_sequence(p, (enum probe_id)id);
		else
			p->wanted = true;
}

bool
prober_is_wanted(const struct prober *p)
{
	return p->wanted;
}

uint64_t
prober_fired(const struct prober *p, enum probe_id probe)
{
	return p->fired[probe];
}

uint64_t
prober_checksums(const struct prober *p, enum checksum_verdict verdict)
{
	return p->checksums[verdict];
}

/* ------------------------------------------------------------------------------------ arguments shared by a packet */

static bool
build(struct prober *p, enum shared what)
{
	bool missing = (p->built & (unsigned)what) == 0;

	p->built |= (unsigned)what;
	return missing;
}

static const struct pktinfo *
pkt_of(struct prober *p)
{
	if (p->packet == NULL)
		return NULL;
	if (build(p, SHARED_PKT)) {
		enum checksum_verdict verdict = dissect_checksum(p->packet);

		p->checksums[verdict]++;
		args_pktinfo(&p->pkt, p->packet, packet_id(p), verdict);
	}
	return &p->pkt;
}

static bool
is_ip(const struct packet *packet)
{
	return packet->network == NETWORK_IPV4 || packet->network == NETWORK_IPV6;
}

static const struct ipinfo *
ip_of(struct prober *p)
{
	if (p->packet == NULL || !is_ip(p->packet))
		return NULL;
	if (build(p, SHARED_IP))
		args_ipinfo(&p->ip, &p->packet->ip);
	return &p->ip;
}

static const struct ipv4info *
ipv4_of(struct prober *p)
{
	if (p->packet->network != NETWORK_IPV4)
		return NULL;
	if (build(p, SHARED_IPV4))
		args_ipv4info(&p->ipv4, &p->packet->ip);
	return &p->ipv4;
}

static const struct ipv6info *
ipv6_of(struct prober *p)
{
	if (p->packet->network != NETWORK_IPV6)
		return NULL;
	if (build(p, SHARED_IPV6))
		args_ipv6info(&p->ipv6, &p->packet->ip);
	return &p->ipv6;
}

static const struct illinfo *
ill_of(struct prober *p)
{
	if (build(p, SHARED_ILL))
		args_illinfo(&p->ill, p->packet->frame->interface, p->packet->loopback);
	return &p->ill;
}

static const struct etherinfo *
ether_of(struct prober *p)
{
	if (build(p, SHARED_ETHER))
		args_etherinfo(&p->ether, p->packet);
	return &p->ether;
}

static const struct tcpinfo *
tcp_of(struct prober *p)
{
	if (p->packet == NULL || p->packet->transport != TRANSPORT_TCP)
		return NULL;
	if (build(p, SHARED_TCP))
		args_tcpinfo(&p->tcp, p->packet);
	return &p->tcp;
}

/* --------------------------------------------------------------------------------------------- arguments of an end */

/* Whether a packet has proved that the endpoint exists; otherwise there is no connection to report. */
static bool
is_proved(const struct flow *flow, unsigned end)
{
	if (flow == NULL)
		return false;
	switch ((enum flow_kind)flow->kind) {
	case FLOW_TCP:
		return flow->tcp[end].state != TCP_STATE_NONE;
	case FLOW_SCTP:
		return flow->sctp[end].state != SCTP_STATE_NONE;
	case FLOW_UDP:
		break;
	}
	return true;
}

static const struct owner *
owner_of(struct prober *p, const struct flow *flow, unsigned end)
{
	struct owner_key key;

	if (p->find_owner == NULL || (flow->local >> end & 1) == 0 || flow->kind == FLOW_SCTP)
		return NULL;
	if (p->owned != flow) {
		p->owned = flow;
		p->owner[0].asked = p->owner[1].asked = false;
	}
	if (!p->owner[end].asked) {
		owner_key_of(&key, &flow->key, end);
		p->owner[end].found =
		    p->find_owner(p->owners, &key, p->packet != NULL ? p->packet->frame->interface->ifindex : 0,
				  &p->owner[end].owner);
		p->owner[end].asked = true;
		if (p->now > p->owner[end].owner.asked_ns + OWNER_TCP_AGE_NS)
			p->owner[end].owner.flags &= ~(uint32_t)OWNER_TCP;
	}
	return p->owner[end].found ? &p->owner[end].owner : NULL;
}

static struct viewpoint
view_from(struct prober *p, const struct flow *flow, unsigned end)
{
	return (struct viewpoint){
	    .table = p->flows, .flow = flow, .end = end, .tcp = &flow->tcp[end], .owner = owner_of(p, flow, end)};
}

/* Connection state of an endpoint at a time other than the packet's: the deadline of a timer. */
static const struct csinfo *
cs_at(struct prober *p, const struct flow *flow, unsigned end, uint64_t ts)
{
	struct viewpoint of = view_from(p, flow, end);

	args_csinfo(&p->cs, &of, ts);
	return &p->cs;
}

static const struct csinfo *
cs_of(struct prober *p, const struct flow *flow, unsigned end)
{
	return is_proved(flow, end) ? cs_at(p, flow, end, p->now) : NULL;
}

static const struct tcpsinfo *
tcps_of(struct prober *p, const struct flow *flow, unsigned end)
{
	struct viewpoint of;

	if (!is_proved(flow, end))
		return NULL;
	of = view_from(p, flow, end);
	args_tcpsinfo(&p->tcps, &of);
	return &p->tcps;
}

/* ------------------------------------------------------------------------------------------------------ the firing */

/* Numbers the firing and passes it to the probe's site, then to the built-in printer. */
static void
fire(struct prober *p, enum probe_id id, const void *const args[6])
{
	uint64_t sequence = next_in_sequence(p, id);

	p->fired[id]++;
	p->pkt.pkt_seq = sequence;
	p->cs.cs_seq = sequence;
	p->ci.ci_seq = sequence;
	site_fire(id, args);
	if (p->printer != NULL)
		print_firing(p->printer, id, args);
}

void
tell_frame(struct prober *p, enum probe_id probe)
{
	fire(p, probe, (const void *[6]){pkt_of(p), NULL, ip_of(p), ill_of(p), ether_of(p)});
}

void
tell_arp(struct prober *p, enum probe_id probe)
{
	args_arpinfo(&p->arp, &p->packet->arp);
	fire(p, probe, (const void *[6]){pkt_of(p), NULL, NULL, ill_of(p), &p->arp});
}

void
tell_ip(struct prober *p, enum probe_id probe, const struct flow *flow, unsigned end)
{
	fire(p, probe, (const void *[6]){pkt_of(p), cs_of(p, flow, end), ip_of(p), ill_of(p), ipv4_of(p), ipv6_of(p)});
}

void
tell_icmp(struct prober *p, enum probe_id probe, const struct flow *quoted, unsigned end)
{
	args_icmpinfo(&p->icmp, p->packet);
	fire(p, probe, (const void *[6]){pkt_of(p), cs_of(p, quoted, end), ip_of(p), ill_of(p), &p->icmp});
}

void
tell_udp(struct prober *p, enum probe_id probe, const struct flow *flow, unsigned end)
{
	struct viewpoint of = view_from(p, flow, end);

	args_udpinfo(&p->udp, p->packet, &of);
	fire(p, probe, (const void *[6]){pkt_of(p), cs_of(p, flow, end), ip_of(p), &p->udp, &p->udp});
}

void
tell_tcp(struct prober *p, enum probe_id probe, const struct flow *flow, unsigned end)
{
	fire(p, probe, (const void *[6]){pkt_of(p), cs_of(p, flow, end), ip_of(p), tcps_of(p, flow, end), tcp_of(p)});
}

void
tell_tcpf(struct prober *p, enum probe_id probe, const struct flow *flow, unsigned end)
{
	struct viewpoint of = view_from(p, flow, end);

	args_tcpfinfo(&p->tcpf, p->packet, &of, owner_of(p, flow, 1 - end));
	fire(p, probe, (const void *[6]){pkt_of(p), cs_of(p, flow, end), ip_of(p), tcps_of(p, flow, end), &p->tcpf});
}

void
tell_sctp(struct prober *p, enum probe_id probe, const struct flow *flow, unsigned end)
{
	const struct sctpsinfo *sctps = NULL;

	args_sctpinfo(&p->sctp, p->packet);
	if (is_proved(flow, end)) {
		struct viewpoint of = view_from(p, flow, end);

		args_sctpsinfo(&p->sctps, &of, (enum sctp_state)flow->sctp[end].state);
		sctps = &p->sctps;
	}
	fire(p, probe, (const void *[6]){pkt_of(p), cs_of(p, flow, end), ip_of(p), sctps, &p->sctp});
}

void
tell_free(struct prober *p)
{
	fire(p, PROBE_IP_PACKET_FREE, (const void *[6]){pkt_of(p)});
}

void
tell_socket(struct prober *p, enum probe_id probe, const struct flow *flow, unsigned end, uint32_t bytes,
	    uint64_t offset)
{
	struct viewpoint of = view_from(p, flow, end);

	args_sockinfo(&p->so, &of, bytes, offset);
	fire(p, probe, (const void *[6]){pkt_of(p), cs_of(p, flow, end), ip_of(p), &p->so});
}

void
emit_app(struct prober *p, enum probe_id probe, const struct flow *flow, unsigned end, const void *info, const void *more)
{
	args_conninfo(&p->ci, &(struct viewpoint){.table = p->flows, .flow = flow, .end = end}, packet_id(p), p->now);
	fire(p, probe, (const void *[6]){&p->ci, info, more});
}

/* ------------------------------------------------------------------------------------------------------ the events */

static void
tell_state_change(struct prober *p, const struct flow *flow, const struct flow_event *event)
{
	struct viewpoint before = view_from(p, flow, event->end), after = before;
	struct tcpsinfo now;

	before.tcp = &event->before;
	after.tcp = &event->after;
	args_tcpsinfo(&p->tcps, &before);
	args_tcpsinfo(&now, &after);
	memcpy(&p->tcpns, &now, sizeof p->tcpns);
	args_tcplsinfo(&p->tcpls, (enum tcp_state)event->before.state);
	fire(p, PROBE_TCP_STATE_CHANGE,
	     (const void *[6]){NULL, cs_at(p, flow, event->end, event->ts), &p->tcps, &p->tcpns, NULL, &p->tcpls});
}

static void
tell_sctp_change(struct prober *p, const struct flow *flow, const struct flow_event *event)
{
	struct viewpoint of = view_from(p, flow, event->end);

	args_sctpsinfo(&p->sctps, &of, (enum sctp_state)event->sctp_after.state);
	p->sctpls.sctps_state = event->sctp_before.state;
	fire(p, PROBE_SCTP_STATE_CHANGE,
	     (const void *[6]){NULL, cs_at(p, flow, event->end, event->ts), NULL, &p->sctps, NULL, &p->sctpls});
}

/* A retransmission or timeout of endpoint `event->end`, with the segment that shows it, if there is one. */
static void
tell_retransmission(struct prober *p, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	args_tcprinfo(&p->tcpr, &event->retransmission);
	fire(p, probe,
	     (const void *[6]){pkt_of(p), cs_at(p, flow, event->end, event->ts), ip_of(p), tcps_of(p, flow, event->end),
			       tcp_of(p), &p->tcpr});
}

static void
tell_stream(struct prober *p, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	struct viewpoint of = view_from(p, flow, event->end);

	args_udpinfo(&p->udp, p->packet, &of);
	fire(p, probe, (const void *[6]){pkt_of(p), cs_at(p, flow, event->end, event->ts), ip_of(p), &p->udp, &p->udp});
}

static void
fire_timeout(struct prober *p, const struct flow *flow, const struct flow_event *event)
{
	switch (event->timeout) {
	case TIMEOUT_RETRANSMIT:
		if (PROBE_ENABLED(tcp__timeout__retransmit))
			tell_retransmission(p, PROBE_TCP_TIMEOUT_RETRANSMIT, flow, event);
		break;
	case TIMEOUT_PERSIST:
		if (PROBE_ENABLED(tcp__timeout__persist))
			tell_retransmission(p, PROBE_TCP_TIMEOUT_PERSIST, flow, event);
		break;
	case TIMEOUT_KEEPALIVE:
		if (PROBE_ENABLED(tcp__timeout__keepalive))
			tell_retransmission(p, PROBE_TCP_TIMEOUT_KEEPALIVE, flow, event);
		break;
	case TIMEOUT_TIME_WAIT:
		if (PROBE_ENABLED(tcp__timeout__time__wait))
			tell_retransmission(p, PROBE_TCP_TIMEOUT_TIME_WAIT, flow, event);
		break;
	case TIMEOUT_CONNECT:
		if (PROBE_ENABLED(tcp__timeout__connect))
			tell_retransmission(p, PROBE_TCP_TIMEOUT_CONNECT, flow, event);
		break;
	case TIMEOUT_NONE:
		break;
	}
}

void
fire_event(struct prober *p, const struct flow *flow, const struct flow_event *event)
{
	unsigned end = event->end;

	switch (event->kind) {
	case EVENT_TCP_STATE_CHANGE:
		if (PROBE_ENABLED(tcp__state__change))
			tell_state_change(p, flow, event);
		break;
	case EVENT_SCTP_STATE_CHANGE:
		if (PROBE_ENABLED(sctp__state__change))
			tell_sctp_change(p, flow, event);
		break;
	case EVENT_TCP_CONNECT_REQUEST:
		if (PROBE_ENABLED(tcp__connect__request))
			tell_tcp(p, PROBE_TCP_CONNECT_REQUEST, flow, end);
		break;
	case EVENT_TCP_CONNECT_ESTABLISHED:
		if (PROBE_ENABLED(tcp__connect__established))
			tell_tcp(p, PROBE_TCP_CONNECT_ESTABLISHED, flow, end);
		break;
	case EVENT_TCP_CONNECT_REFUSED:
		if (PROBE_ENABLED(tcp__connect__refused))
			tell_tcp(p, PROBE_TCP_CONNECT_REFUSED, flow, end);
		break;
	case EVENT_TCP_ACCEPT_ESTABLISHED:
		if (PROBE_ENABLED(tcp__accept__established))
			tell_tcp(p, PROBE_TCP_ACCEPT_ESTABLISHED, flow, end);
		break;
	case EVENT_TCP_ACCEPT_REFUSED:
		if (PROBE_ENABLED(tcp__accept__refused))
			tell_tcp(p, PROBE_TCP_ACCEPT_REFUSED, flow, end);
		break;
	case EVENT_TCP_RETRANSMIT:
		if (PROBE_ENABLED(tcp__retransmit))
			tell_retransmission(p, PROBE_TCP_RETRANSMIT, flow, event);
		break;
	case EVENT_TCP_TIMEOUT:
		fire_timeout(p, flow, event);
		break;
	case EVENT_UDP_STREAM_START:
		if (PROBE_ENABLED(udp__stream__start))
			tell_stream(p, PROBE_UDP_STREAM_START, flow, event);
		break;
	case EVENT_UDP_STREAM_END:
		if (PROBE_ENABLED(udp__stream__end))
			tell_stream(p, PROBE_UDP_STREAM_END, flow, event);
		break;
	}
}
