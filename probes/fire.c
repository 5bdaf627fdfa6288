/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/fire.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/dissect.h"
#include "probes/args/args.h"
#include "probes/print/print.h"

/* Most age of the kernel's data about a connection (OWNER_TCP): older data is ignored.  It is refreshed only while a
 * probe uses it. */
#define OWNER_TCP_AGE_NS NANOSECONDS

/* Structs that depend on the packet only, as bits of emitter.built. */
enum built_args {
	BUILT_PKT = 1,
	BUILT_IP = 2,
	BUILT_ILL = 4,
	BUILT_ETHER = 8,
	BUILT_IPV4 = 16,
	BUILT_IPV6 = 32,
	BUILT_TCP = 64,
};

/* One cache line each, so that threads that fire different probes do not contend. */
struct firing_sequences {
	struct {
		_Alignas(64) _Atomic uint64_t fired; /* since the probe was enabled */
	} of[PROBE_COUNT];
};

/* Slots for headers of SYN,ACKs; a SYN,ACK whose slot is taken by another is reported with the headers of the segment
 * that accepts it. */
#define SYN_ACK_SLOTS 1024u

#define TCP_HEADER_MAX 60u

/* Headers of a SYN,ACK that its receiver has not accepted yet. */
struct syn_ack {
	uint64_t cid; /* the receiver's connection id, 0 not in use */
	uint64_t ts;  /* when it was captured, ns */
	struct ipinfo ip;
	struct tcpinfo tcp;
	uint8_t header[TCP_HEADER_MAX]; /* tcp.tcp_hdr points to it */
};

struct emitter {
	struct printer *printer;
	const struct flow_table *flows;
	const struct packet *packet;		 /* NULL: a timer, no packet */
	const struct packet *interrupted_packet; /* packet being processed when the timer ran */
	uint64_t id;
	unsigned partition_index, partition_count; /* of the emitters of a run: see emitter_set_partition() */
	uint64_t now;
	unsigned built; /* enum built_args */
	bool traced;	/* a probe was enabled at the last emitter_poll_semaphores() */

	emitter_find_owner *find_owner; /* NULL: owners are unknown */
	void *owner_context;
	const struct flow *owner_flow; /* flow whose owners were looked up for this packet, NULL none */
	struct {
		bool looked_up, found;
		struct owner owner;
	} owner[2]; /* of the two ends of `owner_flow` */

	/* Arguments read by tracers.  They are filled for each packet, so their pages are resident at each firing. */
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

	struct syn_ack *syn_acks; /* SYN_ACK_SLOTS, by connection id */
	struct firing_sequences *sequences; /* NULL: this is the only emitter */
	uint64_t own_sequence[PROBE_COUNT]; /* without `sequences`: firings since the probe was enabled */
	uint64_t fired[PROBE_COUNT];	    /* since the start */
	uint64_t checksums[CHECKSUM_PARTIAL + 1];
};

_Static_assert(sizeof(struct tcpsinfo) == sizeof(struct tcpnsinfo), "tcpnsinfo_t has the layout of tcpsinfo_t");

struct emitter *
emitter_new(struct printer *printer, const struct flow_table *flows)
{
	struct emitter *e = calloc(1, sizeof *e);

	if (e == NULL)
		return NULL;
	e->printer = printer;
	e->flows = flows;
	e->partition_count = 1;
	e->syn_acks = calloc(SYN_ACK_SLOTS, sizeof *e->syn_acks);
	if (e->syn_acks != NULL)
		return e;
	free(e);
	return NULL;
}

void
emitter_free(struct emitter *e)
{
	if (e != NULL)
		free(e->syn_acks);
	free(e);
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
emitter_set_partition(struct emitter *e, unsigned index, unsigned count, struct firing_sequences *sequences)
{
	e->partition_index = index;
	e->partition_count = count;
	e->sequences = sequences;
}

static uint64_t
emitter_packet_id(const struct emitter *e)
{
	return (e->id - 1) * e->partition_count + e->partition_index + 1;
}

static uint64_t
emitter_next_sequence(struct emitter *e, enum probe_id id)
{
	if (e->sequences == NULL)
		return ++e->own_sequence[id];
	return atomic_fetch_add_explicit(&e->sequences->of[id].fired, 1, memory_order_relaxed) + 1;
}

/* No tracer is attached to the probe: its sequence starts again at 1 with the next tracer. */
static void
emitter_reset_sequence(struct emitter *e, enum probe_id id)
{
	_Atomic uint64_t *fired;
	uint64_t before;

	e->own_sequence[id] = 0;
	if (e->sequences == NULL)
		return;
	/* A tracer may have attached since, and another thread may have fired for it: keep that count. */
	fired = &e->sequences->of[id].fired;
	before = atomic_load_explicit(fired, memory_order_acquire);
	if (before != 0 && SEMAPHORE_READ(probe_semaphores[id]) == 0)
		atomic_compare_exchange_strong_explicit(fired, &before, 0, memory_order_relaxed, memory_order_relaxed);
}

void
emitter_set_packet(struct emitter *e, const struct packet *packet, uint64_t id, uint64_t now)
{
	e->packet = packet;
	e->id = id;
	e->now = now;
	e->built = 0;
	e->owner_flow = NULL;
}

void
emitter_set_owner_lookup(struct emitter *e, emitter_find_owner *find, void *context)
{
	e->find_owner = find;
	e->owner_context = context;
}

void
emitter_begin_timer(struct emitter *e, uint64_t now)
{
	e->interrupted_packet = e->packet;
	e->packet = NULL;
	e->now = now;
	e->owner_flow = NULL;
}

void
emitter_end_timer(struct emitter *e)
{
	e->packet = e->interrupted_packet;
}

void
emitter_poll_semaphores(struct emitter *e)
{
	e->traced = false;
	if (e->partition_index == 0) /* site_sync_dtrace() keeps a count, so only one thread calls it */
		site_sync_dtrace();
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		if (SEMAPHORE_READ(probe_semaphores[id]) == 0)
			emitter_reset_sequence(e, (enum probe_id)id);
		else
			e->traced = true;
}

bool
emitter_is_traced(const struct emitter *e)
{
	return e->traced;
}

uint64_t
emitter_firings(const struct emitter *e, enum probe_id probe)
{
	return e->fired[probe];
}

uint64_t
emitter_checksum_verdicts(const struct emitter *e, enum checksum_verdict verdict)
{
	return e->checksums[verdict];
}

/* ------------------------------------------------------------------------------------ arguments shared by a packet */

static bool
emitter_needs_build(struct emitter *e, enum built_args what)
{
	bool missing = (e->built & (unsigned)what) == 0;

	e->built |= (unsigned)what;
	return missing;
}

static const struct pktinfo *
emitter_pktinfo(struct emitter *e)
{
	if (e->packet == NULL)
		return NULL;
	if (emitter_needs_build(e, BUILT_PKT)) {
		enum checksum_verdict verdict = checksum_verify(e->packet);

		e->checksums[verdict]++;
		args_pktinfo(&e->pkt, e->packet, emitter_packet_id(e), verdict);
	}
	return &e->pkt;
}

static bool
emitter_packet_is_ip(const struct packet *packet)
{
	return packet->network == NETWORK_IPV4 || packet->network == NETWORK_IPV6;
}

static const struct ipinfo *
emitter_ipinfo(struct emitter *e)
{
	if (e->packet == NULL || !emitter_packet_is_ip(e->packet))
		return NULL;
	if (emitter_needs_build(e, BUILT_IP))
		args_ipinfo(&e->ip, &e->packet->ip);
	return &e->ip;
}

static const struct ipv4info *
emitter_ipv4info(struct emitter *e)
{
	if (e->packet->network != NETWORK_IPV4)
		return NULL;
	if (emitter_needs_build(e, BUILT_IPV4))
		args_ipv4info(&e->ipv4, &e->packet->ip);
	return &e->ipv4;
}

static const struct ipv6info *
emitter_ipv6info(struct emitter *e)
{
	if (e->packet->network != NETWORK_IPV6)
		return NULL;
	if (emitter_needs_build(e, BUILT_IPV6))
		args_ipv6info(&e->ipv6, &e->packet->ip);
	return &e->ipv6;
}

static const struct illinfo *
emitter_illinfo(struct emitter *e)
{
	if (emitter_needs_build(e, BUILT_ILL))
		args_illinfo(&e->ill, e->packet->frame->interface, e->packet->loopback);
	return &e->ill;
}

static const struct etherinfo *
emitter_etherinfo(struct emitter *e)
{
	if (emitter_needs_build(e, BUILT_ETHER))
		args_etherinfo(&e->ether, e->packet);
	return &e->ether;
}

static const struct tcpinfo *
emitter_tcpinfo(struct emitter *e)
{
	if (e->packet == NULL || e->packet->transport != TRANSPORT_TCP)
		return NULL;
	if (emitter_needs_build(e, BUILT_TCP))
		args_tcpinfo(&e->tcp, e->packet);
	return &e->tcp;
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
emitter_lookup_owner(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	struct owner_key key;

	if (e->find_owner == NULL || (flow->local >> endpoint & 1) == 0 || flow->kind == FLOW_SCTP)
		return NULL;
	if (e->owner_flow != flow) {
		e->owner_flow = flow;
		e->owner[0].looked_up = e->owner[1].looked_up = false;
	}
	if (!e->owner[endpoint].looked_up) {
		owner_key_from_flow(&key, &flow->key, endpoint);
		e->owner[endpoint].found =
		    e->find_owner(e->owner_context, &key, e->packet != NULL ? e->packet->frame->interface->ifindex : 0,
				  flow_first_seen(e->flows, flow), &e->owner[endpoint].owner);
		e->owner[endpoint].looked_up = true;
		if (flow_table_time_stamp(e->flows, e->now) > e->owner[endpoint].owner.queried_ns + OWNER_TCP_AGE_NS)
			e->owner[endpoint].owner.flags &= ~(uint32_t)OWNER_TCP;
	}
	return e->owner[endpoint].found ? &e->owner[endpoint].owner : NULL;
}

static struct probe_endpoint
emitter_make_endpoint(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	return (struct probe_endpoint){.table = e->flows,
				       .flow = flow,
				       .end = endpoint,
				       .tcp = &flow->tcp[endpoint],
				       .owner = emitter_lookup_owner(e, flow, endpoint)};
}

/* The csinfo of an endpoint at a time that may differ from the packet's: a timer fires at its deadline. */
static const struct csinfo *
emitter_csinfo_at(struct emitter *e, const struct flow *flow, unsigned endpoint, uint64_t ts)
{
	struct probe_endpoint of = emitter_make_endpoint(e, flow, endpoint);

	args_csinfo(&e->cs, &of, flow_table_time_stamp(e->flows, ts));
	return &e->cs;
}

static const struct csinfo *
emitter_csinfo(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	return emitter_endpoint_known(flow, endpoint) ? emitter_csinfo_at(e, flow, endpoint, e->now) : NULL;
}

static const struct tcpsinfo *
emitter_tcpsinfo(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	struct probe_endpoint of;

	if (!emitter_endpoint_known(flow, endpoint))
		return NULL;
	of = emitter_make_endpoint(e, flow, endpoint);
	args_tcpsinfo(&e->tcps, &of);
	return &e->tcps;
}

/* ------------------------------------------------------------------------------------------------------ the firing */

/* Numbers the firing and passes it to the probe's site, then to the built-in printer. */
static void
emit_firing(struct emitter *e, enum probe_id id, const void *const args[6])
{
	uint64_t sequence = emitter_next_sequence(e, id);

	e->fired[id]++;
	e->pkt.pkt_seq = sequence;
	e->cs.cs_seq = sequence;
	e->ci.ci_seq = sequence;
	site_fire(id, args);
	if (e->printer != NULL)
		printer_print_firing(e->printer, id, args);
}

void
emit_gld(struct emitter *e, enum probe_id probe)
{
	emit_firing(
	    e, probe,
	    (const void *[6]){emitter_pktinfo(e), NULL, emitter_ipinfo(e), emitter_illinfo(e), emitter_etherinfo(e)});
}

void
emit_arp(struct emitter *e, enum probe_id probe)
{
	args_arpinfo(&e->arp, &e->packet->arp);
	emit_firing(e, probe, (const void *[6]){emitter_pktinfo(e), NULL, NULL, emitter_illinfo(e), &e->arp});
}

void
emit_ip(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo(e, flow, endpoint), emitter_ipinfo(e),
				      emitter_illinfo(e), emitter_ipv4info(e), emitter_ipv6info(e)});
}

void
emit_icmp(struct emitter *e, enum probe_id probe, const struct flow *quoted, unsigned endpoint)
{
	args_icmpinfo(&e->icmp, e->packet);
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo(e, quoted, endpoint), emitter_ipinfo(e),
				      emitter_illinfo(e), &e->icmp});
}

void
emit_udp(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct probe_endpoint of = emitter_make_endpoint(e, flow, endpoint);

	args_udpinfo(&e->udp, e->packet, &of);
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo(e, flow, endpoint), emitter_ipinfo(e), &e->udp,
				      &e->udp});
}

void
emit_tcp(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo(e, flow, endpoint), emitter_ipinfo(e),
				      emitter_tcpsinfo(e, flow, endpoint), emitter_tcpinfo(e)});
}

static struct syn_ack *
emitter_syn_ack(struct emitter *e, uint64_t cid)
{
	return &e->syn_acks[cid % SYN_ACK_SLOTS];
}

void
emitter_save_syn_ack(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	uint64_t cid = flow_cid(e->flows, flow, endpoint);
	struct syn_ack *saved = emitter_syn_ack(e, cid);
	const struct slice *header = &e->packet->tcp.header;

	if (!PROBE_ENABLED(tcp__connect__established))
		return;
	saved->cid = cid;
	saved->ts = e->packet->frame->ts;
	saved->ip = *emitter_ipinfo(e);
	saved->tcp = *emitter_tcpinfo(e);
	memset(saved->header, 0, sizeof saved->header);
	slice_copy(*header, 0, saved->header, header->len < TCP_HEADER_MAX ? header->len : TCP_HEADER_MAX);
	saved->tcp.tcp_hdr = args_pointer(saved->header);
}

/* Headers and time are those of the SYN,ACK, even if the segment that shows its acceptance comes later. */
static void
emit_tcp_connect_established(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	uint64_t cid = flow_cid(e->flows, flow, endpoint);
	struct syn_ack *saved = emitter_syn_ack(e, cid);
	const struct pktinfo *pkt;
	uint64_t own_ts;
	struct ipinfo ip;
	struct tcpinfo tcp;

	if (saved->cid != cid) {
		emit_tcp(e, PROBE_TCP_CONNECT_ESTABLISHED, flow, endpoint);
		return;
	}
	saved->cid = 0;
	ip = saved->ip;
	tcp = saved->tcp;
	pkt = emitter_pktinfo(e);
	own_ts = e->pkt.pkt_ts;
	e->pkt.pkt_ts = saved->ts;
	emit_firing(e, PROBE_TCP_CONNECT_ESTABLISHED,
		    (const void *[6]){pkt, emitter_csinfo_at(e, flow, endpoint, saved->ts), &ip,
				      emitter_tcpsinfo(e, flow, endpoint), &tcp});
	e->pkt.pkt_ts = own_ts;
}

void
emit_tcpf(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct probe_endpoint of = emitter_make_endpoint(e, flow, endpoint);

	args_tcpfinfo(&e->tcpf, e->packet, &of, emitter_lookup_owner(e, flow, 1 - endpoint));
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo(e, flow, endpoint), emitter_ipinfo(e),
				      emitter_tcpsinfo(e, flow, endpoint), &e->tcpf});
}

void
emit_sctp(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	const struct sctpsinfo *sctps = NULL;

	args_sctpinfo(&e->sctp, e->packet);
	if (emitter_endpoint_known(flow, endpoint)) {
		struct probe_endpoint of = emitter_make_endpoint(e, flow, endpoint);

		args_sctpsinfo(&e->sctps, &of, (enum sctp_state)flow->sctp[endpoint].state);
		sctps = &e->sctps;
	}
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo(e, flow, endpoint), emitter_ipinfo(e), sctps,
				      &e->sctp});
}

void
emit_dccp(struct emitter *e, enum probe_id probe)
{
	args_dccpinfo(&e->dccp, e->packet);
	emit_firing(e, probe, (const void *[6]){emitter_pktinfo(e), NULL, emitter_ipinfo(e), NULL, &e->dccp});
}

void
emit_ip_packet_free(struct emitter *e)
{
	emit_firing(e, PROBE_IP_PACKET_FREE, (const void *[6]){emitter_pktinfo(e)});
}

void
emit_socket(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint, uint32_t bytes,
	    uint64_t offset)
{
	struct probe_endpoint of = emitter_make_endpoint(e, flow, endpoint);

	args_sockinfo(&e->so, &of, bytes, offset);
	emit_firing(
	    e, probe,
	    (const void *[6]){emitter_pktinfo(e), emitter_csinfo(e, flow, endpoint), emitter_ipinfo(e), &e->so});
}

void
emit_app(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint, const void *info,
	 const void *more)
{
	args_conninfo(&e->ci, &(struct probe_endpoint){.table = e->flows, .flow = flow, .end = endpoint},
		      emitter_packet_id(e), flow_table_time_stamp(e->flows, e->now));
	emit_firing(e, probe, (const void *[6]){&e->ci, info, more});
}

/* ------------------------------------------------------------------------------------------------------ the events */

static void
emit_tcp_state_change(struct emitter *e, const struct flow *flow, const struct flow_event *event)
{
	struct probe_endpoint before = emitter_make_endpoint(e, flow, event->endpoint), after = before;
	struct tcpsinfo now;

	before.tcp = &event->tcp_before;
	after.tcp = &event->tcp_after;
	args_tcpsinfo(&e->tcps, &before);
	args_tcpsinfo(&now, &after);
	memcpy(&e->tcpns, &now, sizeof e->tcpns);
	args_tcplsinfo(&e->tcpls, (enum tcp_state)event->tcp_before.state);
	emit_firing(e, PROBE_TCP_STATE_CHANGE,
		    (const void *[6]){NULL, emitter_csinfo_at(e, flow, event->endpoint, event->ts), &e->tcps, &e->tcpns,
				      NULL, &e->tcpls});
}

static void
emit_sctp_state_change(struct emitter *e, const struct flow *flow, const struct flow_event *event)
{
	struct probe_endpoint of = emitter_make_endpoint(e, flow, event->endpoint);

	args_sctpsinfo(&e->sctps, &of, (enum sctp_state)event->sctp_after.state);
	e->sctpls.sctps_state = event->sctp_before.state;
	emit_firing(e, PROBE_SCTP_STATE_CHANGE,
		    (const void *[6]){NULL, emitter_csinfo_at(e, flow, event->endpoint, event->ts), NULL, &e->sctps,
				      NULL, &e->sctpls});
}

/* A retransmission or timeout of endpoint `event->endpoint`, with the segment that shows it, if there is one. */
static void
emit_tcp_retransmit(struct emitter *e, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	args_tcprinfo(&e->tcpr, &event->retransmission);
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo_at(e, flow, event->endpoint, event->ts),
				      emitter_ipinfo(e), emitter_tcpsinfo(e, flow, event->endpoint), emitter_tcpinfo(e),
				      &e->tcpr});
}

static void
emit_udp_stream(struct emitter *e, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	struct probe_endpoint of = emitter_make_endpoint(e, flow, event->endpoint);

	args_udpinfo(&e->udp, e->packet, &of);
	emit_firing(e, probe,
		    (const void *[6]){emitter_pktinfo(e), emitter_csinfo_at(e, flow, event->endpoint, event->ts),
				      emitter_ipinfo(e), &e->udp, &e->udp});
}

static void
fire_tcp_timeout(struct emitter *e, const struct flow *flow, const struct flow_event *event)
{
	switch (event->timeout) {
	case TIMEOUT_RETRANSMIT:
		if (PROBE_ENABLED(tcp__timeout__retransmit))
			emit_tcp_retransmit(e, PROBE_TCP_TIMEOUT_RETRANSMIT, flow, event);
		break;
	case TIMEOUT_PERSIST:
		if (PROBE_ENABLED(tcp__timeout__persist))
			emit_tcp_retransmit(e, PROBE_TCP_TIMEOUT_PERSIST, flow, event);
		break;
	case TIMEOUT_KEEPALIVE:
		if (PROBE_ENABLED(tcp__timeout__keepalive))
			emit_tcp_retransmit(e, PROBE_TCP_TIMEOUT_KEEPALIVE, flow, event);
		break;
	case TIMEOUT_TIME_WAIT:
		if (PROBE_ENABLED(tcp__timeout__time__wait))
			emit_tcp_retransmit(e, PROBE_TCP_TIMEOUT_TIME_WAIT, flow, event);
		break;
	case TIMEOUT_CONNECT:
		if (PROBE_ENABLED(tcp__timeout__connect))
			emit_tcp_retransmit(e, PROBE_TCP_TIMEOUT_CONNECT, flow, event);
		break;
	case TIMEOUT_NONE:
		break;
	}
}

void
fire_event(struct emitter *e, const struct flow *flow, const struct flow_event *event)
{
	unsigned endpoint = event->endpoint;

	switch (event->kind) {
	case EVENT_TCP_STATE_CHANGE:
		if (PROBE_ENABLED(tcp__state__change))
			emit_tcp_state_change(e, flow, event);
		break;
	case EVENT_SCTP_STATE_CHANGE:
		if (PROBE_ENABLED(sctp__state__change))
			emit_sctp_state_change(e, flow, event);
		break;
	case EVENT_TCP_CONNECT_REQUEST:
		if (PROBE_ENABLED(tcp__connect__request))
			emit_tcp(e, PROBE_TCP_CONNECT_REQUEST, flow, endpoint);
		break;
	case EVENT_TCP_CONNECT_ESTABLISHED:
		if (PROBE_ENABLED(tcp__connect__established))
			emit_tcp_connect_established(e, flow, endpoint);
		break;
	case EVENT_TCP_CONNECT_REFUSED:
		if (PROBE_ENABLED(tcp__connect__refused))
			emit_tcp(e, PROBE_TCP_CONNECT_REFUSED, flow, endpoint);
		break;
	case EVENT_TCP_ACCEPT_ESTABLISHED:
		if (PROBE_ENABLED(tcp__accept__established))
			emit_tcp(e, PROBE_TCP_ACCEPT_ESTABLISHED, flow, endpoint);
		break;
	case EVENT_TCP_ACCEPT_REFUSED:
		if (PROBE_ENABLED(tcp__accept__refused))
			emit_tcp(e, PROBE_TCP_ACCEPT_REFUSED, flow, endpoint);
		break;
	case EVENT_TCP_RETRANSMIT:
		if (PROBE_ENABLED(tcp__retransmit))
			emit_tcp_retransmit(e, PROBE_TCP_RETRANSMIT, flow, event);
		break;
	case EVENT_TCP_TIMEOUT:
		fire_tcp_timeout(e, flow, event);
		break;
	case EVENT_UDP_STREAM_START:
		if (PROBE_ENABLED(udp__stream__start))
			emit_udp_stream(e, PROBE_UDP_STREAM_START, flow, event);
		break;
	case EVENT_UDP_STREAM_END:
		if (PROBE_ENABLED(udp__stream__end))
			emit_udp_stream(e, PROBE_UDP_STREAM_END, flow, event);
		break;
	}
}
