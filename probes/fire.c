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

/* Structs that depend on the packet only, as bits of emitter.built. */
enum built_args {
	BUILT_PKT = 1,
	SHARED_IP = 2,
	SHARED_ILL = 4,
	SHARED_ETHER = 8,
	SHARED_IPV4 = 16,
	SHARED_IPV6 = 32,
	SHARED_TCP = 64,
};

/* One cache line each, so that threads that fire different probes do not contend. */
struct firing_sequences {
	struct {
		_Alignas(64) _Atomic uint64_t fired; /* since the probe was enabled */
	} of[PROBE_COUNT];
};

struct emitter {
	struct printer *printer;
	const struct flow_table *flows;
	const struct packet *packet;		 /* NULL: a timer, no packet */
	const struct packet *interrupted_packet; /* packet being processed when the timer ran */
	uint64_t id;
	unsigned partition_index, partition_count; /* packet id of the first prober and stride, if there are several */
	uint64_t now;
	unsigned built; /* enum built_args */
	bool traced;	/* a probe was enabled at the last emitter_poll_semaphores() */

	emitter_find_owner *find_owner; /* NULL: owners are unknown */
	void *owner_context;
	const struct flow *owner_flow; /* flow whose owners were looked up for this packet, NULL none */
	struct {
		bool asked, found;
		struct owner owner;
	} owner[2]; /* of the two ends of `owner_flow` */

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
	struct dccpinfo dccp;
	struct sockinfo so;
	struct icmpinfo icmp;
	struct arpinfo arp;
	struct conninfo ci;

	struct firing_sequences *sequences; /* NULL: this is the only prober */
	uint64_t own_sequence[PROBE_COUNT]; /* if so: firings since the probe was enabled */
	uint64_t fired[PROBE_COUNT];	    /* since the start */
	uint64_t checksums[CHECKSUM_PARTIAL + 1];
};

_Static_assert(sizeof(struct tcpsinfo) == sizeof(struct tcpnsinfo), "tcpnsinfo_t has the layout of tcpsinfo_t");

struct emitter *
emitter_new(struct printer *printer, const struct flow_table *flows)
{
	struct emitter *p = calloc(1, sizeof *p);

	if (p != NULL) {
		p->printer = printer;
		p->flows = flows;
		p->partition_count = 1;
	}
	return p;
}

void
emitter_free(struct emitter *p)
{
	free(p);
}

struct firing_sequences *
firing_sequences_new(void)
{
	struct firing_sequences *sequences = aligned_alloc(_Alignof(struct firing_sequences), sizeof *sequences);

	for (unsigned id = 0; sequences != NULL && id < PROBE_COUNT; id++)
		atomic_init(&sequences->of[id].fired, 0);
	return sequences;
}

void
firing_sequences_free(struct firing_sequences *sequences)
{
	free(sequences);
}

void
emitter_set_partition(struct emitter *p, unsigned number, unsigned of, struct firing_sequences *sequences)
{
	p->partition_index = number;
	p->partition_count = of;
	p->sequences = sequences;
}

static uint64_t
emitter_packet_id(const struct emitter *p)
{
	return (p->id - 1) * p->partition_count + p->partition_index + 1;
}

static uint64_t
emitter_next_sequence(struct emitter *p, enum probe_id id)
{
	if (p->sequences == NULL)
		return ++p->own_sequence[id];
	return atomic_fetch_add_explicit(&p->sequences->of[id].fired, 1, memory_order_relaxed) + 1;
}

/* No tracer is attached to the probe: its sequence starts again at 1 with the next tracer. */
static void
emitter_reset_sequence(struct emitter *p, enum probe_id id)
{
	_Atomic uint64_t *fired;
	uint64_t before;

	p->own_sequence[id] = 0;
	if (p->sequences == NULL)
		return;
	/* A tracer may have attached since, and another thread may have fired for it: keep that count. */
	fired = &p->sequences->of[id].fired;
	before = atomic_load_explicit(fired, memory_order_acquire);
	if (before != 0 && SEMAPHORE_READ(probe_semaphores[id]) == 0)
		atomic_compare_exchange_strong_explicit(fired, &before, 0, memory_order_relaxed, memory_order_relaxed);
}

void
emitter_set_packet(struct emitter *p, const struct packet *packet, uint64_t id, uint64_t now)
{
	p->packet = packet;
	p->id = id;
	p->now = now;
	p->built = 0;
	p->owner_flow = NULL;
}

void
emitter_set_owner_lookup(struct emitter *p, emitter_find_owner *find, void *context)
{
	p->find_owner = find;
	p->owner_context = context;
}

void
emitter_begin_timer(struct emitter *p, uint64_t now)
{
	p->interrupted_packet = p->packet;
	p->packet = NULL;
	p->now = now;
	p->owner_flow = NULL;
}

void
emitter_end_timer(struct emitter *p)
{
	p->packet = p->interrupted_packet;
}

void
emitter_poll_semaphores(struct emitter *p)
{
	p->traced = false;
	if (p->partition_index == 0) /* site_sync_dtrace() keeps a count, so only one thread calls it */
		site_sync_dtrace();
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		if (SEMAPHORE_READ(probe_semaphores[id]) == 0)
			emitter_reset_sequence(p, (enum probe_id)id);
		else
			p->traced = true;
}

bool
emitter_is_traced(const struct emitter *p)
{
	return p->traced;
}

uint64_t
emitter_firings(const struct emitter *p, enum probe_id probe)
{
	return p->fired[probe];
}

uint64_t
emitter_checksum_verdicts(const struct emitter *p, enum checksum_verdict verdict)
{
	return p->checksums[verdict];
}

/* ------------------------------------------------------------------------------------ arguments shared by a packet */

static bool
emitter_needs_build(struct emitter *p, enum built_args what)
{
	bool missing = (p->built & (unsigned)what) == 0;

	p->built |= (unsigned)what;
	return missing;
}

static const struct pktinfo *
emitter_pktinfo(struct emitter *p)
{
	if (p->packet == NULL)
		return NULL;
	if (emitter_needs_build(p, BUILT_PKT)) {
		enum checksum_verdict verdict = checksum_verify(p->packet);

		p->checksums[verdict]++;
		args_pktinfo(&p->pkt, p->packet, emitter_packet_id(p), verdict);
	}
	return &p->pkt;
}

static bool
emitter_packet_is_ip(const struct packet *packet)
{
	return packet->network == NETWORK_IPV4 || packet->network == NETWORK_IPV6;
}

static const struct ipinfo *
emitter_ipinfo(struct emitter *p)
{
	if (p->packet == NULL || !emitter_packet_is_ip(p->packet))
		return NULL;
	if (emitter_needs_build(p, SHARED_IP))
		args_ipinfo(&p->ip, &p->packet->ip);
	return &p->ip;
}

static const struct ipv4info *
emitter_ipv4info(struct emitter *p)
{
	if (p->packet->network != NETWORK_IPV4)
		return NULL;
	if (emitter_needs_build(p, SHARED_IPV4))
		args_ipv4info(&p->ipv4, &p->packet->ip);
	return &p->ipv4;
}

static const struct ipv6info *
emitter_ipv6info(struct emitter *p)
{
	if (p->packet->network != NETWORK_IPV6)
		return NULL;
	if (emitter_needs_build(p, SHARED_IPV6))
		args_ipv6info(&p->ipv6, &p->packet->ip);
	return &p->ipv6;
}

static const struct illinfo *
emitter_illinfo(struct emitter *p)
{
	if (emitter_needs_build(p, SHARED_ILL))
		args_illinfo(&p->ill, p->packet->frame->interface, p->packet->loopback);
	return &p->ill;
}

static const struct etherinfo *
emitter_etherinfo(struct emitter *p)
{
	if (emitter_needs_build(p, SHARED_ETHER))
		args_etherinfo(&p->ether, p->packet);
	return &p->ether;
}

static const struct tcpinfo *
emitter_tcpinfo(struct emitter *p)
{
	if (p->packet == NULL || p->packet->transport != TRANSPORT_TCP)
		return NULL;
	if (emitter_needs_build(p, SHARED_TCP))
		args_tcpinfo(&p->tcp, p->packet);
	return &p->tcp;
}

/* --------------------------------------------------------------------------------------------- arguments of an end */

/* Whether a packet has proved that the endpoint exists; otherwise there is no connection to report. */
static bool
emitter_endpoint_known(const struct flow *flow, unsigned endpoint)
{
	if (flow == NULL)
		return false;
	switch ((enum flow_kind)flow->kind) {
	case FLOW_TCP:
		return flow->tcp[endpoint].state != TCP_STATE_NONE;
	case FLOW_SCTP:
		return flow->sctp[endpoint].state != SCTP_STATE_NONE;
	case FLOW_UDP:
		break;
	}
	return true;
}

static const struct owner *
emitter_lookup_owner(struct emitter *p, const struct flow *flow, unsigned endpoint)
{
	struct owner_key key;

	if (p->find_owner == NULL || (flow->local >> endpoint & 1) == 0 || flow->kind == FLOW_SCTP)
		return NULL;
	if (p->owner_flow != flow) {
		p->owner_flow = flow;
		p->owner[0].asked = p->owner[1].asked = false;
	}
	if (!p->owner[endpoint].asked) {
		owner_key_from_flow(&key, &flow->key, endpoint);
		p->owner[endpoint].found =
		    p->find_owner(p->owner_context, &key, p->packet != NULL ? p->packet->frame->interface->ifindex : 0,
				  &p->owner[endpoint].owner);
		p->owner[endpoint].asked = true;
		if (p->now > p->owner[endpoint].owner.queried_ns + OWNER_TCP_AGE_NS)
			p->owner[endpoint].owner.flags &= ~(uint32_t)OWNER_TCP;
	}
	return p->owner[endpoint].found ? &p->owner[endpoint].owner : NULL;
}

static struct probe_endpoint
emitter_make_endpoint(struct emitter *p, const struct flow *flow, unsigned endpoint)
{
	return (struct probe_endpoint){.table = p->flows,
				       .flow = flow,
				       .end = endpoint,
				       .tcp = &flow->tcp[endpoint],
				       .owner = emitter_lookup_owner(p, flow, endpoint)};
}

/* Connection state of an endpoint at a time other than the packet's: the deadline of a timer. */
static const struct csinfo *
emitter_csinfo_at(struct emitter *p, const struct flow *flow, unsigned endpoint, uint64_t ts)
{
	struct probe_endpoint of = emitter_make_endpoint(p, flow, endpoint);

	args_csinfo(&p->cs, &of, ts);
	return &p->cs;
}

static const struct csinfo *
emitter_csinfo(struct emitter *p, const struct flow *flow, unsigned endpoint)
{
	return emitter_endpoint_known(flow, endpoint) ? emitter_csinfo_at(p, flow, endpoint, p->now) : NULL;
}

static const struct tcpsinfo *
emitter_tcpsinfo(struct emitter *p, const struct flow *flow, unsigned endpoint)
{
	struct probe_endpoint of;

	if (!emitter_endpoint_known(flow, endpoint))
		return NULL;
	of = emitter_make_endpoint(p, flow, endpoint);
	args_tcpsinfo(&p->tcps, &of);
	return &p->tcps;
}

/* ------------------------------------------------------------------------------------------------------ the firing */

/* Numbers the firing and passes it to the probe's site, then to the built-in printer. */
static void
emit_firing(struct emitter *p, enum probe_id id, const void *const args[6])
{
	uint64_t sequence = emitter_next_sequence(p, id);

	p->fired[id]++;
	p->pkt.pkt_seq = sequence;
	p->cs.cs_seq = sequence;
	p->ci.ci_seq = sequence;
	site_fire(id, args);
	if (p->printer != NULL)
		printer_print_firing(p->printer, id, args);
}

void
emit_gld(struct emitter *p, enum probe_id probe)
{
	emit_firing(
	    p, probe,
	    (const void *[6]){emitter_pktinfo(p), NULL, emitter_ipinfo(p), emitter_illinfo(p), emitter_etherinfo(p)});
}

void
emit_arp(struct emitter *p, enum probe_id probe)
{
	args_arpinfo(&p->arp, &p->packet->arp);
	emit_firing(p, probe, (const void *[6]){emitter_pktinfo(p), NULL, NULL, emitter_illinfo(p), &p->arp});
}

void
emit_ip(struct emitter *p, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo(p, flow, endpoint), emitter_ipinfo(p),
				      emitter_illinfo(p), emitter_ipv4info(p), emitter_ipv6info(p)});
}

void
emit_icmp(struct emitter *p, enum probe_id probe, const struct flow *quoted, unsigned endpoint)
{
	args_icmpinfo(&p->icmp, p->packet);
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo(p, quoted, endpoint), emitter_ipinfo(p),
				      emitter_illinfo(p), &p->icmp});
}

void
emit_udp(struct emitter *p, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct probe_endpoint of = emitter_make_endpoint(p, flow, endpoint);

	args_udpinfo(&p->udp, p->packet, &of);
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo(p, flow, endpoint), emitter_ipinfo(p), &p->udp,
				      &p->udp});
}

void
emit_tcp(struct emitter *p, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo(p, flow, endpoint), emitter_ipinfo(p),
				      emitter_tcpsinfo(p, flow, endpoint), emitter_tcpinfo(p)});
}

void
emit_tcpf(struct emitter *p, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct probe_endpoint of = emitter_make_endpoint(p, flow, endpoint);

	args_tcpfinfo(&p->tcpf, p->packet, &of, emitter_lookup_owner(p, flow, 1 - endpoint));
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo(p, flow, endpoint), emitter_ipinfo(p),
				      emitter_tcpsinfo(p, flow, endpoint), &p->tcpf});
}

void
emit_sctp(struct emitter *p, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	const struct sctpsinfo *sctps = NULL;

	args_sctpinfo(&p->sctp, p->packet);
	if (emitter_endpoint_known(flow, endpoint)) {
		struct probe_endpoint of = emitter_make_endpoint(p, flow, endpoint);

		args_sctpsinfo(&p->sctps, &of, (enum sctp_state)flow->sctp[endpoint].state);
		sctps = &p->sctps;
	}
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo(p, flow, endpoint), emitter_ipinfo(p), sctps,
				      &p->sctp});
}

void
emit_dccp(struct emitter *p, enum probe_id probe)
{
	args_dccpinfo(&p->dccp, p->packet);
	emit_firing(p, probe, (const void *[6]){emitter_pktinfo(p), NULL, emitter_ipinfo(p), NULL, &p->dccp});
}

void
emit_ip_packet_free(struct emitter *p)
{
	emit_firing(p, PROBE_IP_PACKET_FREE, (const void *[6]){emitter_pktinfo(p)});
}

void
emit_socket(struct emitter *p, enum probe_id probe, const struct flow *flow, unsigned endpoint, uint32_t bytes,
	    uint64_t offset)
{
	struct probe_endpoint of = emitter_make_endpoint(p, flow, endpoint);

	args_sockinfo(&p->so, &of, bytes, offset);
	emit_firing(
	    p, probe,
	    (const void *[6]){emitter_pktinfo(p), emitter_csinfo(p, flow, endpoint), emitter_ipinfo(p), &p->so});
}

void
emit_app(struct emitter *p, enum probe_id probe, const struct flow *flow, unsigned endpoint, const void *info,
	 const void *more)
{
	args_conninfo(&p->ci, &(struct probe_endpoint){.table = p->flows, .flow = flow, .end = endpoint},
		      emitter_packet_id(p), p->now);
	emit_firing(p, probe, (const void *[6]){&p->ci, info, more});
}

/* ------------------------------------------------------------------------------------------------------ the events */

static void
emit_tcp_state_change(struct emitter *p, const struct flow *flow, const struct flow_event *event)
{
	struct probe_endpoint before = emitter_make_endpoint(p, flow, event->endpoint), after = before;
	struct tcpsinfo now;

	before.tcp = &event->tcp_before;
	after.tcp = &event->tcp_after;
	args_tcpsinfo(&p->tcps, &before);
	args_tcpsinfo(&now, &after);
	memcpy(&p->tcpns, &now, sizeof p->tcpns);
	args_tcplsinfo(&p->tcpls, (enum tcp_state)event->tcp_before.state);
	emit_firing(p, PROBE_TCP_STATE_CHANGE,
		    (const void *[6]){NULL, emitter_csinfo_at(p, flow, event->endpoint, event->ts), &p->tcps, &p->tcpns,
				      NULL, &p->tcpls});
}

static void
emit_sctp_state_change(struct emitter *p, const struct flow *flow, const struct flow_event *event)
{
	struct probe_endpoint of = emitter_make_endpoint(p, flow, event->endpoint);

	args_sctpsinfo(&p->sctps, &of, (enum sctp_state)event->sctp_after.state);
	p->sctpls.sctps_state = event->sctp_before.state;
	emit_firing(p, PROBE_SCTP_STATE_CHANGE,
		    (const void *[6]){NULL, emitter_csinfo_at(p, flow, event->endpoint, event->ts), NULL, &p->sctps,
				      NULL, &p->sctpls});
}

/* A retransmission or timeout of endpoint `event->end`, with the segment that shows it, if there is one. */
static void
emit_tcp_retransmit(struct emitter *p, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	args_tcprinfo(&p->tcpr, &event->retransmission);
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo_at(p, flow, event->endpoint, event->ts),
				      emitter_ipinfo(p), emitter_tcpsinfo(p, flow, event->endpoint), emitter_tcpinfo(p),
				      &p->tcpr});
}

static void
emit_udp_stream(struct emitter *p, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	struct probe_endpoint of = emitter_make_endpoint(p, flow, event->endpoint);

	args_udpinfo(&p->udp, p->packet, &of);
	emit_firing(p, probe,
		    (const void *[6]){emitter_pktinfo(p), emitter_csinfo_at(p, flow, event->endpoint, event->ts),
				      emitter_ipinfo(p), &p->udp, &p->udp});
}

static void
fire_tcp_timeout(struct emitter *p, const struct flow *flow, const struct flow_event *event)
{
	switch (event->timeout) {
	case TIMEOUT_RETRANSMIT:
		if (PROBE_ENABLED(tcp__timeout__retransmit))
			emit_tcp_retransmit(p, PROBE_TCP_TIMEOUT_RETRANSMIT, flow, event);
		break;
	case TIMEOUT_PERSIST:
		if (PROBE_ENABLED(tcp__timeout__persist))
			emit_tcp_retransmit(p, PROBE_TCP_TIMEOUT_PERSIST, flow, event);
		break;
	case TIMEOUT_KEEPALIVE:
		if (PROBE_ENABLED(tcp__timeout__keepalive))
			emit_tcp_retransmit(p, PROBE_TCP_TIMEOUT_KEEPALIVE, flow, event);
		break;
	case TIMEOUT_TIME_WAIT:
		if (PROBE_ENABLED(tcp__timeout__time__wait))
			emit_tcp_retransmit(p, PROBE_TCP_TIMEOUT_TIME_WAIT, flow, event);
		break;
	case TIMEOUT_CONNECT:
		if (PROBE_ENABLED(tcp__timeout__connect))
			emit_tcp_retransmit(p, PROBE_TCP_TIMEOUT_CONNECT, flow, event);
		break;
	case TIMEOUT_NONE:
		break;
	}
}

void
fire_event(struct emitter *p, const struct flow *flow, const struct flow_event *event)
{
	unsigned endpoint = event->endpoint;

	switch (event->kind) {
	case EVENT_TCP_STATE_CHANGE:
		if (PROBE_ENABLED(tcp__state__change))
			emit_tcp_state_change(p, flow, event);
		break;
	case EVENT_SCTP_STATE_CHANGE:
		if (PROBE_ENABLED(sctp__state__change))
			emit_sctp_state_change(p, flow, event);
		break;
	case EVENT_TCP_CONNECT_REQUEST:
		if (PROBE_ENABLED(tcp__connect__request))
			emit_tcp(p, PROBE_TCP_CONNECT_REQUEST, flow, endpoint);
		break;
	case EVENT_TCP_CONNECT_ESTABLISHED:
		if (PROBE_ENABLED(tcp__connect__established))
			emit_tcp(p, PROBE_TCP_CONNECT_ESTABLISHED, flow, endpoint);
		break;
	case EVENT_TCP_CONNECT_REFUSED:
		if (PROBE_ENABLED(tcp__connect__refused))
			emit_tcp(p, PROBE_TCP_CONNECT_REFUSED, flow, endpoint);
		break;
	case EVENT_TCP_ACCEPT_ESTABLISHED:
		if (PROBE_ENABLED(tcp__accept__established))
			emit_tcp(p, PROBE_TCP_ACCEPT_ESTABLISHED, flow, endpoint);
		break;
	case EVENT_TCP_ACCEPT_REFUSED:
		if (PROBE_ENABLED(tcp__accept__refused))
			emit_tcp(p, PROBE_TCP_ACCEPT_REFUSED, flow, endpoint);
		break;
	case EVENT_TCP_RETRANSMIT:
		if (PROBE_ENABLED(tcp__retransmit))
			emit_tcp_retransmit(p, PROBE_TCP_RETRANSMIT, flow, event);
		break;
	case EVENT_TCP_TIMEOUT:
		fire_tcp_timeout(p, flow, event);
		break;
	case EVENT_UDP_STREAM_START:
		if (PROBE_ENABLED(udp__stream__start))
			emit_udp_stream(p, PROBE_UDP_STREAM_START, flow, event);
		break;
	case EVENT_UDP_STREAM_END:
		if (PROBE_ENABLED(udp__stream__end))
			emit_udp_stream(p, PROBE_UDP_STREAM_END, flow, event);
		break;
	}
}
