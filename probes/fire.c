/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/fire.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/dissect.h"
#include "probes/args/args.h"
#include "probes/feed/feed.h"
#include "probes/firing.h"
#include "probes/manifest.h"
#include "probes/print/print.h"
#include "probes/site/semaphores.h"
#include "probes/site/tracer_watch.h"
#include "usdt/site_table.h"

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

/* Slots for headers of SYN,ACKs, and as many for those of their ACKs; a segment whose slot is taken by another is
 * reported with the headers of the segment that proves its arrival. */
#define HANDSHAKE_SLOTS 4096u

#define TCP_HEADER_MAX 60u

/* Most probes that emitter_rejects_packet() is about. */
#define SCREENED_MAX 9u

/* Headers of a SYN,ACK or the ACK of one that its receiver has not accepted yet. */
struct handshake_headers {
	uint64_t cid;  /* the receiver's connection id, 0 not in use */
	uint64_t time; /* packet time at which it was captured, ns */
	struct pktinfo pkt; /* without pkt_addr and pkt_data */
	struct ipinfo ip;
	struct tcpinfo tcp;
	uint8_t header[TCP_HEADER_MAX]; /* tcp.tcp_hdr points to it */
	const struct tcp_endpoint *established; /* during a firing: the endpoint of its arguments, NULL that of the
						 * flow */
};

struct emitter {
	struct printer *printer;
	struct feed_part *feed; /* NULL: there are no feeds */
	const struct flow_table *flows;
	const struct packet *packet;		 /* NULL: a timer, no packet */
	uint64_t id;
	struct {
		const struct packet *packet;
		uint64_t id, now;
	} interrupted; /* what was being processed when the timer ran */
	unsigned partition_index, partition_count; /* of the emitters of a run: see emitter_set_partition() */
	uint64_t now;
	unsigned built; /* enum built_args */
	bool muted;	/* no probe fires */
	bool traced;	/* a probe was enabled at the last emitter_poll_semaphores() */
	struct tracer_watch tracers;

	const struct emitter_listener *listener; /* NULL: no formula reads firings */
	void *listener_context;
	uint64_t due; /* packet time of the listener's next expiry, UINT64_MAX never */
	struct record_sink record_sink; /* take is NULL: none */
	struct {
		const struct frame_peek *peek;
		bool insufficient; /* an argument was read that the peek does not give */
		struct ipinfo ip;
		struct tcpinfo tcp;
		struct packet packet; /* only the frame is set */
	} fast; /* of emitter_rejects_packet() */
	const struct screened_probe *screened[SCREENED_MAX];
	unsigned screened_count;
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
	struct connrec cr;

	struct handshake_headers *syn_acks, *acks; /* HANDSHAKE_SLOTS of each, by connection id */
	struct handshake_headers lost;		   /* of a segment that is in no handshake */
	struct firing_sequences *sequences; /* NULL: this is the only emitter */
	uint64_t own_sequence[PROBE_COUNT]; /* without `sequences`: firings since the probe was enabled */
	uint64_t fired[PROBE_COUNT];	    /* since the start */
	uint64_t checksums[CHECKSUM_PARTIAL + 1];
};

/* The probes of a packet of the fast path that are screened.  Those of TCP come first: the fifth argument of the others
 * is another struct. */
static const struct screened_probe {
	enum probe_id probe;
	bool tcp;	      /* of segments only */
	bool sent, delivered; /* for the sender, for the receiver if it is local */
	bool received;	      /* for the receiver or, if neither end is local, for the host that captures */
} screened_probes[] = {
	{.probe = PROBE_TCP_SEND, .tcp = true, .sent = true},
	{.probe = PROBE_TCP_RECEIVE, .tcp = true, .delivered = true},
	{.probe = PROBE_IP_REQUEST, .sent = true},
	{.probe = PROBE_IP_SEND, .sent = true},
	{.probe = PROBE_GLD_SEND, .sent = true},
	{.probe = PROBE_GLD_RECEIVE, .received = true},
	{.probe = PROBE_IP_RECEIVE, .received = true},
	{.probe = PROBE_IP_DELIVER, .delivered = true},
	{.probe = PROBE_IP_PACKET_FREE},
};

_Static_assert(sizeof screened_probes / sizeof screened_probes[0] == SCREENED_MAX, "an emitter selects from all");

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
	e->due = UINT64_MAX;
	e->syn_acks = calloc(HANDSHAKE_SLOTS, sizeof *e->syn_acks);
	e->acks = calloc(HANDSHAKE_SLOTS, sizeof *e->acks);
	if (e->syn_acks != NULL && e->acks != NULL)
		return e;
	emitter_free(e);
	return NULL;
}

void
emitter_free(struct emitter *e)
{
	if (e != NULL) {
		free(e->syn_acks);
		free(e->acks);
	}
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
	if (before != 0 && semaphores_read(id) == 0)
		atomic_compare_exchange_strong_explicit(fired, &before, 0, memory_order_relaxed, memory_order_relaxed);
}

void
emitter_set_due(struct emitter *e, uint64_t due)
{
	e->due = due;
}

void
emitter_advance(struct emitter *e, uint64_t now)
{
	if (__builtin_expect(now < e->due, 1) || e->muted)
		return;
	e->due = UINT64_MAX;
	if (e->listener != NULL && e->listener->expire != NULL)
		e->listener->expire(e->listener_context, e, now);
}

void
emitter_set_packet(struct emitter *e, const struct packet *packet, uint64_t id, uint64_t now)
{
	emitter_advance(e, now);
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
emitter_set_listener(struct emitter *e, const struct emitter_listener *listener, void *context)
{
	e->listener = listener;
	e->listener_context = context;
	if (listener != NULL)
		listener->poll(context);
}

void
emitter_set_record_sink(struct emitter *e, const struct record_sink *sink)
{
	e->record_sink = *sink;
}

bool
emitter_passes_records(const struct emitter *e)
{
	return e->record_sink.take != NULL;
}

bool
emitter_flush_records(struct emitter *e)
{
	return e->record_sink.flush == NULL || e->record_sink.flush(e->record_sink.context);
}

void
emitter_set_feed(struct emitter *e, struct feed_part *feed)
{
	e->feed = feed;
}

void
emitter_mute(struct emitter *e, bool mute)
{
	e->muted = mute;
}

void
emitter_set_moment(struct emitter *e, uint64_t id, uint64_t now)
{
	e->id = id;
	e->now = now;
}

void
emitter_begin_timer(struct emitter *e, uint64_t now)
{
	emitter_advance(e, now);
	e->interrupted.packet = e->packet;
	e->interrupted.id = e->id;
	e->interrupted.now = e->now;
	e->packet = NULL;
	e->now = now;
	e->owner_flow = NULL;
}

void
emitter_end_timer(struct emitter *e)
{
	emitter_set_moment(e, e->interrupted.id, e->interrupted.now);
	e->packet = e->interrupted.packet;
}

void
emitter_poll_semaphores(struct emitter *e)
{
	e->traced = false;
	if (e->feed != NULL)
		feed_part_flush(e->feed);
	if (e->partition_index == 0) { /* both keep what they saw, so only one thread calls them */
		site_watch_poll();
		tracer_watch_poll(&e->tracers);
	}
	if (e->listener != NULL)
		e->listener->poll(e->listener_context); /* reads the semaphores of formulas */
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		e->traced |= semaphores_enabled(id);
		if (semaphores_read(id) == 0)
			emitter_reset_sequence(e, (enum probe_id)id);
	}
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

static bool
emitter_packet_is_icmp(const struct packet *packet)
{
	return packet->transport == TRANSPORT_ICMP || packet->transport == TRANSPORT_ICMPV6;
}

static const struct tcpinfo *
emitter_tcpinfo(struct emitter *e)
{
	if (e->packet == NULL || (e->packet->transport != TRANSPORT_TCP && !emitter_packet_is_icmp(e->packet)))
		return NULL;
	if (!emitter_needs_build(e, BUILT_TCP))
		return &e->tcp;
	if (e->packet->transport == TRANSPORT_TCP)
		args_tcpinfo(&e->tcp, e->packet);
	else
		args_tcpinfo_of_error(&e->tcp, &e->packet->icmp);
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

/* The csinfo of the endpoint at the time of the firing, which may differ from the packet's: a timer fires at its
 * deadline. */
static const struct csinfo *
emitter_event_csinfo(const struct firing *f)
{
	struct emitter *e = f->emitter;
	struct probe_endpoint of = emitter_make_endpoint(e, f->flow, f->endpoint);

	args_csinfo(&e->cs, &of, flow_table_time_stamp(e->flows, f->ts));
	return &e->cs;
}

static const struct csinfo *
emitter_csinfo(const struct firing *f)
{
	return emitter_endpoint_known(f->flow, f->endpoint) ? emitter_event_csinfo(f) : NULL;
}

static const struct tcpsinfo *
emitter_tcpsinfo(const struct firing *f)
{
	struct emitter *e = f->emitter;
	struct probe_endpoint of;

	if (!emitter_endpoint_known(f->flow, f->endpoint))
		return NULL;
	of = emitter_make_endpoint(e, f->flow, f->endpoint);
	args_tcpsinfo(&e->tcps, &of);
	return &e->tcps;
}

/* ------------------------------------------------------------------------------------------------------ the firing */

static void
emitter_set_sequence(struct emitter *e, uint64_t sequence)
{
	e->pkt.pkt_seq = sequence;
	e->cs.cs_seq = sequence;
	e->ci.ci_seq = sequence;
	e->cr.cr_seq = sequence;
}

/* Numbers the firing and passes it to the probe's site, then to the built-in printer and to feeds. */
static void
emit_to_site(struct emitter *e, enum probe_id id, const void *const args[6])
{
	emitter_set_sequence(e, emitter_next_sequence(e, id));
	e->fired[id]++;
	site_fire(id, args);
	if (e->printer != NULL)
		printer_print_firing(e->printer, id, args);
	if (e->feed != NULL)
		feed_add_firing(e->feed, id, args);
}

void
firing_complete(struct firing *f, uint64_t sequence)
{
	for (unsigned position = 0; position < 6; position++)
		firing_argument(f, position);
	if (f->emitter != NULL)
		emitter_set_sequence(f->emitter, sequence);
}

uint64_t
firing_cid(const struct firing *f)
{
	return f->flow != NULL ? flow_cid(f->emitter->flows, f->flow, f->endpoint) : 0;
}

bool
firing_is_of_packet(const struct firing *f)
{
	return f->emitter != NULL && f->emitter->packet != NULL;
}

/* A builder is inlined in the function that fires for tracers, which need all arguments, and not inlined for formulas,
 * which need few of them. */
#define BUILDER static inline __attribute__((always_inline)) const void *

/* Begins a firing with the packet of the emitter and an endpoint of a flow, at packet time.  Arguments that are not
 * built are not set: clearing them would cost every firing. */
static inline __attribute__((always_inline)) void
emitter_begin_firing(struct emitter *e, struct firing *f, enum probe_id probe, const struct flow *flow,
		     unsigned endpoint)
{
	f->probe = probe;
	f->built = 0;
	f->ts = e->now;
	f->packet = e->packet;
	f->emitter = e;
	f->flow = flow;
	f->endpoint = endpoint;
}

/* Fires the probe for tracers and for the listener; each of them only if it needs the probe. */
static inline __attribute__((always_inline)) void
emit_firing(struct firing *f, firing_builder *build)
{
	struct emitter *e = f->emitter;

	f->build = build;
	if (__builtin_expect(e->muted, 0))
		return;
	if (semaphores_read(f->probe) != 0) {
		f->args[0] = build(f, 0);
		f->args[1] = build(f, 1);
		f->args[2] = build(f, 2);
		f->args[3] = build(f, 3);
		f->built |= 1u << 3; /* others may point to the same struct */
		f->args[4] = build(f, 4);
		f->args[5] = build(f, 5);
		f->built = 0x3f;
		emit_to_site(e, f->probe, f->args);
	}
	if (__builtin_expect(e->listener != NULL, 0) && semaphores_formulas(f->probe) != 0)
		e->listener->fire(e->listener_context, f);
}

BUILDER
build_gld(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_illinfo(f->emitter);
	case 4: return emitter_etherinfo(f->emitter);
	}
	return NULL;
}

void
emit_gld(struct emitter *e, enum probe_id probe)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, NULL, 0);
	emit_firing(&f, build_gld);
}

BUILDER
build_arp(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 3: return emitter_illinfo(f->emitter);
	case 4: args_arpinfo(&f->emitter->arp, &f->packet->arp); return &f->emitter->arp;
	}
	return NULL;
}

void
emit_arp(struct emitter *e, enum probe_id probe)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, NULL, 0);
	emit_firing(&f, build_arp);
}

BUILDER
build_ip(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_illinfo(f->emitter);
	case 4: return emitter_ipv4info(f->emitter);
	case 5: return emitter_ipv6info(f->emitter);
	}
	return NULL;
}

void
emit_ip(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, flow, endpoint);
	emit_firing(&f, build_ip);
}

BUILDER
build_icmp(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_illinfo(f->emitter);
	case 4: args_icmpinfo(&f->emitter->icmp, f->packet); return &f->emitter->icmp;
	}
	return NULL;
}

void
emit_icmp(struct emitter *e, enum probe_id probe, const struct flow *quoted, unsigned endpoint)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, quoted, endpoint);
	emit_firing(&f, build_icmp);
}

static const struct udpinfo *
emitter_udpinfo(const struct firing *f)
{
	struct emitter *e = f->emitter;
	struct probe_endpoint of = emitter_make_endpoint(e, f->flow, f->endpoint);

	args_udpinfo(&e->udp, f->packet, &of);
	return &e->udp;
}

BUILDER
build_udp(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_udpinfo(f);
	case 4: return firing_argument(f, 3);
	}
	return NULL;
}

void
emit_udp(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, flow, endpoint);
	emit_firing(&f, build_udp);
}

/* The ICMP error that has ended an attempt, for the text lines of tcp-connect-refused: no argument of the probe. */
static const struct icmpinfo *
firing_refusal(const struct firing *f)
{
	if (f->probe != PROBE_TCP_CONNECT_REFUSED || f->packet == NULL || !emitter_packet_is_icmp(f->packet))
		return NULL;
	args_icmpinfo(&f->emitter->icmp, f->packet);
	return &f->emitter->icmp;
}

BUILDER
build_tcp(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_tcpsinfo(f);
	case 4: return emitter_tcpinfo(f->emitter);
	case 5: return firing_refusal(f);
	}
	return NULL;
}

void
emit_tcp(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, flow, endpoint);
	emit_firing(&f, build_tcp);
}

bool
emitter_screens_probe(enum probe_id probe)
{
	for (unsigned i = 0; i < SCREENED_MAX; i++)
		if (screened_probes[i].probe == probe)
			return true;
	return false;
}

void
emitter_select_screened(struct emitter *e)
{
	e->screened_count = 0;
	for (unsigned i = 0; i < SCREENED_MAX; i++)
		if (semaphores_formulas(screened_probes[i].probe) != 0)
			e->screened[e->screened_count++] = &screened_probes[i];
}

static const void *
build_from_peek(struct firing *f, unsigned position)
{
	struct emitter *e = f->emitter;

	if (position == 2) {
		args_ipinfo_of_peek(&e->fast.ip, e->fast.peek);
		return &e->fast.ip;
	}
	if (position == 4 && (f->probe == PROBE_TCP_SEND || f->probe == PROBE_TCP_RECEIVE)) {
		args_tcpinfo_of_peek(&e->fast.tcp, e->fast.peek);
		return &e->fast.tcp;
	}
	e->fast.insufficient = true;
	return NULL;
}

static inline bool
screened_probe_fires(const struct screened_probe *screened, const struct fast_firings *firings)
{
	return (!screened->tcp || firings->tcp) && (!screened->sent || firings->send) &&
	       (!screened->delivered || firings->receive) &&
	       (!screened->received || firings->receive || !firings->send);
}

bool
emitter_rejects_packet(struct emitter *e, const struct frame *frame, const struct frame_peek *peek,
		       const struct fast_firings *firings)
{
	struct firing f;

	if (e->listener == NULL)
		return true;
	if (e->listener->rejects == NULL)
		return false;
	f.built = 0;
	f.ts = frame->ts;
	f.packet = &e->fast.packet;
	f.emitter = e;
	f.build = build_from_peek;
	f.flow = NULL;
	e->fast.peek = peek;
	e->fast.insufficient = false;
	e->fast.packet.frame = frame;
	for (unsigned i = 0; i < e->screened_count; i++) {
		const struct screened_probe *screened = e->screened[i];

		if (!screened_probe_fires(screened, firings))
			continue;
		f.probe = screened->probe;
		if (!screened->tcp)
			f.built &= 1u << 2;
		if (!e->listener->rejects(e->listener_context, &f) || e->fast.insufficient)
			return false;
	}
	return true;
}

void
emitter_count_rejected(struct emitter *e, const struct fast_firings *firings)
{
	if (e->listener == NULL)
		return;
	for (unsigned i = 0; i < e->screened_count; i++)
		if (screened_probe_fires(e->screened[i], firings))
			e->listener->count_rejected(e->listener_context, e->screened[i]->probe);
}

static void
emitter_save_headers(struct emitter *e, struct handshake_headers *saved, uint64_t cid)
{
	const struct slice *header = &e->packet->tcp.header;

	saved->cid = cid;
	saved->time = e->now;
	saved->pkt = *emitter_pktinfo(e);
	saved->pkt.pkt_addr = 0;
	saved->pkt.pkt_data = args_pointer(NULL);
	saved->ip = *emitter_ipinfo(e);
	saved->tcp = *emitter_tcpinfo(e);
	memset(saved->header, 0, sizeof saved->header);
	slice_copy(*header, 0, saved->header, header->len < TCP_HEADER_MAX ? header->len : TCP_HEADER_MAX);
	saved->tcp.tcp_hdr = args_pointer(saved->header);
}

void
emitter_save_syn_ack(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	uint64_t cid = flow_cid(e->flows, flow, endpoint);

	if (PROBE_ENABLED(tcp__connect__established))
		emitter_save_headers(e, &e->syn_acks[cid % HANDSHAKE_SLOTS], cid);
}

void
emitter_save_ack(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	uint64_t cid = flow_cid(e->flows, flow, endpoint);

	if (PROBE_ENABLED(tcp__accept__established))
		emitter_save_headers(e, &e->acks[cid % HANDSHAKE_SLOTS], cid);
}

/* The packet that shows that the segment was accepted, with the time stamp of the segment.  If no packet shows it, the
 * segment itself, without its id: the probes of that packet have all fired. */
static const struct pktinfo *
emitter_saved_pktinfo(struct emitter *e, const struct handshake_headers *saved)
{
	if (emitter_pktinfo(e) == NULL) {
		e->pkt = saved->pkt;
		e->built &= ~(unsigned)BUILT_PKT; /* that of a packet in progress is overwritten */
	}
	e->pkt.pkt_ts = saved->pkt.pkt_ts;
	return &e->pkt;
}

/* As it was established, although the segment that proves that may have changed it again. */
static const struct tcpsinfo *
emitter_tcpsinfo_established(const struct firing *f)
{
	const struct handshake_headers *saved = f->detail;
	struct probe_endpoint of = emitter_make_endpoint(f->emitter, f->flow, f->endpoint);

	if (saved->established == NULL)
		return emitter_tcpsinfo(f);
	of.tcp = saved->established;
	args_tcpsinfo(&f->emitter->tcps, &of);
	return &f->emitter->tcps;
}

BUILDER
build_established(struct firing *f, unsigned position)
{
	const struct handshake_headers *saved = f->detail;

	switch (position) {
	case 0: return emitter_saved_pktinfo(f->emitter, saved);
	case 1: return emitter_event_csinfo(f);
	case 2: return &saved->ip;
	case 3: return emitter_tcpsinfo_established(f);
	case 4: return &saved->tcp;
	}
	return NULL;
}

/* Fires with the headers and time of a segment that was saved; `at`: the endpoint then, NULL if it is as it was. */
static inline __attribute__((always_inline)) void
emit_established(struct firing *f, struct handshake_headers *saved, const struct tcp_endpoint *at)
{
	struct emitter *e = f->emitter;

	saved->cid = 0;
	saved->established = at;
	f->ts = saved->time;
	f->detail = saved;
	emit_firing(f, build_established);
	if (e->packet != NULL)
		e->pkt.pkt_ts = e->packet->frame->ts;
}

/* Another handshake has taken the place of the segment: nothing of it is known but the time. */
static struct handshake_headers *
emitter_lost_headers(struct emitter *e, uint64_t ts)
{
	memset(&e->lost, 0, sizeof e->lost);
	e->lost.time = e->lost.pkt.pkt_ts = ts;
	return &e->lost;
}

/* Headers and time are those of the SYN,ACK, even if the segment that shows its acceptance comes later. */
static void
emit_tcp_connect_established(struct emitter *e, const struct flow *flow, unsigned endpoint)
{
	uint64_t cid = flow_cid(e->flows, flow, endpoint);
	struct handshake_headers *saved = &e->syn_acks[cid % HANDSHAKE_SLOTS];
	struct firing f;

	emitter_begin_firing(e, &f, PROBE_TCP_CONNECT_ESTABLISHED, flow, endpoint);
	if (saved->cid == cid)
		emit_established(&f, saved, NULL);
	else if (e->packet == NULL)
		emit_established(&f, emitter_lost_headers(e, f.ts), NULL);
	else
		emit_firing(&f, build_tcp);
}

/* Likewise those of the ACK of the SYN,ACK, of which the event has the time. */
static void
emit_tcp_accept_established(struct emitter *e, const struct flow *flow, const struct flow_event *event)
{
	uint64_t cid = flow_cid(e->flows, flow, event->endpoint);
	struct handshake_headers *saved = &e->acks[cid % HANDSHAKE_SLOTS];
	struct firing f;

	emitter_begin_firing(e, &f, PROBE_TCP_ACCEPT_ESTABLISHED, flow, event->endpoint);
	f.ts = event->ts;
	if (saved->cid == cid && saved->time == event->ts)
		emit_established(&f, saved, &event->tcp_after);
	else if (e->packet == NULL)
		emit_established(&f, emitter_lost_headers(e, f.ts), &event->tcp_after);
	else
		emit_firing(&f, build_tcp);
}

static const struct tcpfinfo *
emitter_tcpfinfo(const struct firing *f)
{
	struct emitter *e = f->emitter;
	struct probe_endpoint of = emitter_make_endpoint(e, f->flow, f->endpoint);

	args_tcpfinfo(&e->tcpf, f->packet, &of, emitter_lookup_owner(e, f->flow, 1 - f->endpoint));
	return &e->tcpf;
}

BUILDER
build_tcpf(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_tcpsinfo(f);
	case 4: return emitter_tcpfinfo(f);
	}
	return NULL;
}

void
emit_tcpf(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, flow, endpoint);
	emit_firing(&f, build_tcpf);
}

static const struct sctpsinfo *
emitter_sctpsinfo(const struct firing *f)
{
	struct emitter *e = f->emitter;
	struct probe_endpoint of;

	if (!emitter_endpoint_known(f->flow, f->endpoint))
		return NULL;
	of = emitter_make_endpoint(e, f->flow, f->endpoint);
	args_sctpsinfo(&e->sctps, &of, (enum sctp_state)f->flow->sctp[f->endpoint].state);
	return &e->sctps;
}

BUILDER
build_sctp(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_sctpsinfo(f);
	case 4: args_sctpinfo(&f->emitter->sctp, f->packet); return &f->emitter->sctp;
	}
	return NULL;
}

void
emit_sctp(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, flow, endpoint);
	emit_firing(&f, build_sctp);
}

BUILDER
build_dccp(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 2: return emitter_ipinfo(f->emitter);
	case 4: args_dccpinfo(&f->emitter->dccp, f->packet); return &f->emitter->dccp;
	}
	return NULL;
}

void
emit_dccp(struct emitter *e, enum probe_id probe)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, NULL, 0);
	emit_firing(&f, build_dccp);
}

BUILDER
build_packet_only(struct firing *f, unsigned position)
{
	return position == 0 ? emitter_pktinfo(f->emitter) : NULL;
}

void
emit_ip_packet_free(struct emitter *e)
{
	struct firing f;

	emitter_begin_firing(e, &f, PROBE_IP_PACKET_FREE, NULL, 0);
	emit_firing(&f, build_packet_only);
}

/* Application bytes of a socket. */
struct socket_bytes {
	uint32_t bytes;
	uint64_t offset; /* in the stream */
};

static const struct sockinfo *
emitter_sockinfo(const struct firing *f)
{
	struct emitter *e = f->emitter;
	const struct socket_bytes *data = f->detail;
	struct probe_endpoint of = emitter_make_endpoint(e, f->flow, f->endpoint);

	args_sockinfo(&e->so, &of, data->bytes, data->offset);
	return &e->so;
}

BUILDER
build_socket(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_sockinfo(f);
	}
	return NULL;
}

void
emit_socket(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint, uint32_t bytes,
	    uint64_t offset)
{
	const struct socket_bytes data = {bytes, offset};
	struct firing f;

	emitter_begin_firing(e, &f, probe, flow, endpoint);
	f.detail = &data;
	emit_firing(&f, build_socket);
}

static const struct conninfo *
emitter_conninfo(const struct firing *f)
{
	struct emitter *e = f->emitter;

	args_conninfo(&e->ci, &(struct probe_endpoint){.table = e->flows, .flow = f->flow, .end = f->endpoint},
		      e->packet != NULL ? emitter_packet_id(e) : 0, flow_table_time_stamp(e->flows, e->now));
	return &e->ci;
}

/* The caller has built the second and the third argument. */
BUILDER
build_app(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_conninfo(f);
	case 1:
	case 2: return f->args[position];
	}
	return NULL;
}

void
emit_app(struct emitter *e, enum probe_id probe, const struct flow *flow, unsigned endpoint, const void *info,
	 const void *more)
{
	struct firing f;

	emitter_begin_firing(e, &f, probe, flow, endpoint);
	f.args[1] = info;
	f.args[2] = more;
	emit_firing(&f, build_app);
}

/* ------------------------------------------------------------------------------------------------------ the events */

/* The endpoint of a firing whose detail is an event, with one of the control blocks of the event. */
static struct probe_endpoint
emitter_event_endpoint(const struct firing *f, const struct tcp_endpoint *tcp)
{
	struct probe_endpoint of = emitter_make_endpoint(f->emitter, f->flow, f->endpoint);

	of.tcp = tcp;
	return of;
}

static inline __attribute__((always_inline)) void
emitter_begin_event_firing(struct emitter *e, struct firing *f, enum probe_id probe, const struct flow *flow,
			   const struct flow_event *event)
{
	emitter_begin_firing(e, f, probe, flow, event->endpoint);
	f->ts = event->ts;
	f->detail = event;
}

static const struct tcpsinfo *
emitter_tcpsinfo_before(const struct firing *f)
{
	const struct flow_event *event = f->detail;
	struct probe_endpoint before = emitter_event_endpoint(f, &event->tcp_before);

	args_tcpsinfo(&f->emitter->tcps, &before);
	return &f->emitter->tcps;
}

static const struct tcpnsinfo *
emitter_tcpnsinfo(const struct firing *f)
{
	const struct flow_event *event = f->detail;
	struct probe_endpoint after = emitter_event_endpoint(f, &event->tcp_after);
	struct tcpsinfo now;

	args_tcpsinfo(&now, &after);
	memcpy(&f->emitter->tcpns, &now, sizeof f->emitter->tcpns);
	return &f->emitter->tcpns;
}

static const struct tcplsinfo *
emitter_tcplsinfo(const struct firing *f)
{
	const struct flow_event *event = f->detail;

	args_tcplsinfo(&f->emitter->tcpls, (enum tcp_state)event->tcp_before.state);
	return &f->emitter->tcpls;
}

BUILDER
build_tcp_state_change(struct firing *f, unsigned position)
{
	switch (position) {
	case 1: return emitter_event_csinfo(f);
	case 2: return emitter_tcpsinfo_before(f);
	case 3: return emitter_tcpnsinfo(f);
	case 5: return emitter_tcplsinfo(f);
	}
	return NULL;
}

static void
emit_tcp_state_change(struct emitter *e, const struct flow *flow, const struct flow_event *event)
{
	struct firing f;

	emitter_begin_event_firing(e, &f, PROBE_TCP_STATE_CHANGE, flow, event);
	emit_firing(&f, build_tcp_state_change);
}

static const struct sctpsinfo *
emitter_sctpsinfo_after(const struct firing *f)
{
	struct emitter *e = f->emitter;
	const struct flow_event *event = f->detail;
	struct probe_endpoint of = emitter_make_endpoint(e, f->flow, f->endpoint);

	args_sctpsinfo(&e->sctps, &of, (enum sctp_state)event->sctp_after.state);
	return &e->sctps;
}

static const struct sctplsinfo *
emitter_sctplsinfo(const struct firing *f)
{
	const struct flow_event *event = f->detail;

	f->emitter->sctpls.sctps_state = event->sctp_before.state;
	return &f->emitter->sctpls;
}

BUILDER
build_sctp_state_change(struct firing *f, unsigned position)
{
	switch (position) {
	case 1: return emitter_event_csinfo(f);
	case 3: return emitter_sctpsinfo_after(f);
	case 5: return emitter_sctplsinfo(f);
	}
	return NULL;
}

static void
emit_sctp_state_change(struct emitter *e, const struct flow *flow, const struct flow_event *event)
{
	struct firing f;

	emitter_begin_event_firing(e, &f, PROBE_SCTP_STATE_CHANGE, flow, event);
	emit_firing(&f, build_sctp_state_change);
}

static const struct tcprinfo *
emitter_tcprinfo(const struct firing *f)
{
	const struct flow_event *event = f->detail;

	args_tcprinfo(&f->emitter->tcpr, &event->retransmission);
	return &f->emitter->tcpr;
}

BUILDER
build_tcp_retransmit(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_event_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_tcpsinfo(f);
	case 4: return emitter_tcpinfo(f->emitter);
	case 5: return emitter_tcprinfo(f);
	}
	return NULL;
}

/* A retransmission or timeout of endpoint `event->endpoint`, with the segment that shows it, if there is one. */
static void
emit_tcp_retransmit(struct emitter *e, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	struct firing f;

	emitter_begin_event_firing(e, &f, probe, flow, event);
	emit_firing(&f, build_tcp_retransmit);
}

BUILDER
build_connection(struct firing *f, unsigned position)
{
	struct emitter *e = f->emitter;

	if (position != 0)
		return NULL;
	args_connrec(&e->cr, f->detail);
	return &e->cr;
}

/* No packet: the end of a connection is not an event of a packet, even if a packet causes it. */
void
emit_connection(struct emitter *e, enum probe_id probe, const struct flow *flow, const struct flow_record *record,
		enum record_reason reason)
{
	struct recorded_connection of = {.table = e->flows, .flow = flow, .record = record, .reason = reason};
	struct firing f;

	for (unsigned end = 0; end < 2; end++)
		of.owner[end] = emitter_lookup_owner(e, flow, end);
	emitter_begin_firing(e, &f, probe, flow, flow_record_client(record));
	f.packet = NULL;
	f.detail = &of;
	emit_firing(&f, build_connection);
	if (e->record_sink.take != NULL)
		e->record_sink.take(e->record_sink.context, firing_argument(&f, 0));
}

BUILDER
build_udp_stream(struct firing *f, unsigned position)
{
	switch (position) {
	case 0: return emitter_pktinfo(f->emitter);
	case 1: return emitter_event_csinfo(f);
	case 2: return emitter_ipinfo(f->emitter);
	case 3: return emitter_udpinfo(f);
	case 4: return firing_argument(f, 3);
	}
	return NULL;
}

static void
emit_udp_stream(struct emitter *e, enum probe_id probe, const struct flow *flow, const struct flow_event *event)
{
	struct firing f;

	emitter_begin_event_firing(e, &f, probe, flow, event);
	emit_firing(&f, build_udp_stream);
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
			emit_tcp_accept_established(e, flow, event);
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
