/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fires probes: from packets and flows to probe arguments.  A fire_*() function costs one load and one compare while
 * its probe is not enabled.  If it is, an out-of-line function builds the argument structs in the emitter's memory and
 * calls the probe's site function.  Structs shared by the probes of a packet are built once, by the first probe that
 * needs them.
 */
#ifndef NETOBS_PROBES_FIRE_H
#define NETOBS_PROBES_FIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/packet.h"
#include "flow/event.h"
#include "flow/flow.h"
#include "flow/record/flow_record.h"
#include "probes/owner.h"
#include "probes/sites.h"

struct printer;
struct feed_part;
struct emitter;
struct firing;
struct frame_peek;
struct firing_sequences; /* counts the firings of each probe over all emitters of a run */

/* Creates an emitter, one per thread.  `printer` (NULL: none) receives every firing too; `flows` is the table of the
 * endpoints; both are borrowed.  NULL if out of memory. */
struct emitter *emitter_new(struct printer *printer, const struct flow_table *flows);
void emitter_free(struct emitter *emitter);

/* Sets the part of the feeds that receives every firing for tracers, NULL for none.  `feed` is borrowed. */
void emitter_set_feed(struct emitter *emitter, struct feed_part *feed);

/* Makes this emitter number `index` (from 0) of the `count` emitters of a run, each in its own thread.  Packet ids are
 * then unique in the run, and sequence numbers (pkt_seq, cs_seq, ci_seq, cr_seq) count the firings of all emitters;
 * `sequences` is borrowed. */
void emitter_set_partition(struct emitter *emitter, unsigned index, unsigned count, struct firing_sequences *sequences);

/* NULL if out of memory. */
struct firing_sequences *firing_sequences_new(void);
void firing_sequences_free(struct firing_sequences *sequences);

/* Sets the packet of the next firings and its id; `now` is packet time. */
void emitter_set_packet(struct emitter *emitter, const struct packet *packet, uint64_t id, uint64_t now);

/* Packet id and time of the connection probes that follow, if they are not those of the packet in progress. */
void emitter_set_moment(struct emitter *emitter, uint64_t id, uint64_t now);

/* Firings between these two calls have no packet: a timer expired or a connection was evicted, possibly while a packet
 * is being processed. */
void emitter_begin_timer(struct emitter *emitter, uint64_t now);
void emitter_end_timer(struct emitter *emitter);

/* From now on no probe fires, for tracers nor for the listener; or again. */
void emitter_mute(struct emitter *emitter, bool mute);

/* Flushes the part of the feeds, polls the listener, checks which probes are enabled, and resets the sequence numbers
 * of those without a tracer, so that they begin at 1 for the next.  The main loop calls it periodically. */
void emitter_poll_semaphores(struct emitter *emitter);

/* Whether any probe was enabled at the last emitter_poll_semaphores(). */
bool emitter_is_traced(const struct emitter *emitter);

/* Looks up the owner of a local endpoint: returns at once, false if it is not known.  The kernel must have been queried
 * at `since_ns` or later, the time stamp of the connection's first packet.  By default, and for files, owners are
 * unknown.  `context` is borrowed. */
typedef bool emitter_find_owner(void *context, const struct owner_key *key, uint32_t ifindex, uint64_t since_ns,
				struct owner *owner);
void emitter_set_owner_lookup(struct emitter *emitter, emitter_find_owner *find, void *context);

/* Sets the packet time from which on the listener has to expire something, UINT64_MAX for never. */
void emitter_set_due(struct emitter *emitter, uint64_t due);

/* Lets the listener expire what is due at packet time `now`.  Packets and timers for which probes fire do so, too. */
void emitter_advance(struct emitter *emitter, uint64_t now);

/* What receives the firings of the probes that formulas read (semaphores_add_formula()), after their tracers. */
struct emitter_listener {
	void (*fire)(void *context, struct firing *firing); /* the arguments are built when they are first read */
	/* Called by emitter_poll_semaphores(), after site_watch_poll(), and by emitter_set_listener(). */
	void (*poll)(void *context);
	/* Whether a firing has no effect but to be counted; it is not counted yet.  NULL: never. */
	bool (*rejects)(void *context, struct firing *firing);
	void (*count_rejected)(void *context, enum probe_id probe); /* counts it */
	/* Expires what is due at packet time `now`, before anything fires then; calls emitter_set_due(). */
	void (*expire)(void *context, struct emitter *emitter, uint64_t now);
};

/* Sets the listener, NULL for none.  `listener` and `context` are borrowed. */
void emitter_set_listener(struct emitter *emitter, const struct emitter_listener *listener, void *context);

struct connrec;

/* Receives the records of connections, after connection-end or connection-active has fired. */
struct record_sink {
	void (*take)(void *context, const struct connrec *record);
	bool (*flush)(void *context); /* there is nothing else to do; false: the output has failed */
	void *context;
};

/* Sets the receiver of records. */
void emitter_set_record_sink(struct emitter *emitter, const struct record_sink *sink);

/* Passes flush() on; true without a receiver. */
bool emitter_flush_records(struct emitter *emitter);

/* The firings of a packet of the fast path. */
struct fast_firings {
	bool tcp;	    /* tcp-send or tcp-receive are among them: it is a segment */
	bool send, receive; /* for its sender, for its receiver */
};

/* Whether the headers of a packet may show that firings of this probe have no effect on the listener. */
bool emitter_screens_probe(enum probe_id probe);

/* Selects the probes that emitter_rejects_packet() is about: those that formulas read now.  The others, and those that
 * a tracer has enabled, must not fire for packets of the fast path. */
void emitter_select_screened(struct emitter *emitter);

/* Whether the firings of a packet of the fast path have no effect on the listener: its headers alone show that.  False
 * if more is needed to know. */
bool emitter_rejects_packet(struct emitter *emitter, const struct frame *frame, const struct frame_peek *peek,
			    const struct fast_firings *firings);

/* Counts the firings of such a packet. */
void emitter_count_rejected(struct emitter *emitter, const struct fast_firings *firings);

/* Firings of a probe for its tracers since the start; verdicts on transport checksums of packets for which a probe
 * fired. */
uint64_t emitter_firings(const struct emitter *emitter, enum probe_id probe);
uint64_t emitter_checksum_verdicts(const struct emitter *emitter, enum checksum_verdict verdict);

/* Stores the headers of the SYN,ACK in progress until its receiver, endpoint `endpoint`, accepts it: they are those of
 * tcp-connect-established.  No effect while that is not enabled. */
void emitter_save_syn_ack(struct emitter *emitter, const struct flow *flow, unsigned endpoint);

/* Likewise the headers of the ACK of a SYN,ACK in progress: they are those of tcp-accept-established. */
void emitter_save_ack(struct emitter *emitter, const struct flow *flow, unsigned endpoint);

/* Out-of-line parts of the fire_*() functions below, for enabled probes. */
void emit_gld(struct emitter *emitter, enum probe_id probe);
void emit_arp(struct emitter *emitter, enum probe_id probe);
void emit_ip(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint);
void emit_icmp(struct emitter *emitter, enum probe_id probe, const struct flow *quoted, unsigned endpoint);
void emit_udp(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint);
void emit_tcp(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint);
void emit_tcpf(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint);
void emit_sctp(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint);
void emit_dccp(struct emitter *emitter, enum probe_id probe);
void emit_ip_packet_free(struct emitter *emitter);
void emit_socket(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint,
		 uint32_t bytes, uint64_t offset);

/* A probe of an application provider: its first argument is the connection as endpoint `endpoint` sees it, `info` and
 * `more` (NULL: none) are the next two, filled by the caller. */
void emit_app(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint,
	      const void *info, const void *more);

/* Whether records have a receiver. */
bool emitter_passes_records(const struct emitter *emitter);

/* connection-end, or connection-active if the reason is RECORD_OPEN. */
void emit_connection(struct emitter *emitter, enum probe_id probe, const struct flow *flow,
		     const struct flow_record *record, enum record_reason reason);

static inline void
fire_gld_send(struct emitter *emitter)
{
	if (PROBE_ENABLED(gld__send))
		emit_gld(emitter, PROBE_GLD_SEND);
}

static inline void
fire_gld_receive(struct emitter *emitter)
{
	if (PROBE_ENABLED(gld__receive))
		emit_gld(emitter, PROBE_GLD_RECEIVE);
}

static inline void
fire_arp_send(struct emitter *emitter)
{
	if (PROBE_ENABLED(arp__send))
		emit_arp(emitter, PROBE_ARP_SEND);
}

static inline void
fire_arp_receive(struct emitter *emitter)
{
	if (PROBE_ENABLED(arp__receive))
		emit_arp(emitter, PROBE_ARP_RECEIVE);
}

/* For packets of a connection: `flow` may be NULL (no connection), `endpoint` is the reported endpoint. */
#define FIRE_FOR_ENDPOINT(fire, c_name, id, emit)                                                                      \
	static inline void fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint)                   \
	{                                                                                                              \
		if (PROBE_ENABLED(c_name))                                                                             \
			emit(emitter, id, flow, endpoint);                                                             \
	}

FIRE_FOR_ENDPOINT(fire_ip_send, ip__send, PROBE_IP_SEND, emit_ip)
FIRE_FOR_ENDPOINT(fire_ip_receive, ip__receive, PROBE_IP_RECEIVE, emit_ip)
FIRE_FOR_ENDPOINT(fire_ip_drop_in, ip__drop__in, PROBE_IP_DROP_IN, emit_ip)
FIRE_FOR_ENDPOINT(fire_ip_drop_out, ip__drop__out, PROBE_IP_DROP_OUT, emit_ip)
FIRE_FOR_ENDPOINT(fire_ip_request, ip__request, PROBE_IP_REQUEST, emit_ip)
FIRE_FOR_ENDPOINT(fire_ip_deliver, ip__deliver, PROBE_IP_DELIVER, emit_ip)
FIRE_FOR_ENDPOINT(fire_icmp_send, icmp__send, PROBE_ICMP_SEND, emit_icmp)
FIRE_FOR_ENDPOINT(fire_icmp_receive, icmp__receive, PROBE_ICMP_RECEIVE, emit_icmp)
FIRE_FOR_ENDPOINT(fire_udp_send, udp__send, PROBE_UDP_SEND, emit_udp)
FIRE_FOR_ENDPOINT(fire_udp_receive, udp__receive, PROBE_UDP_RECEIVE, emit_udp)
FIRE_FOR_ENDPOINT(fire_tcp_send, tcp__send, PROBE_TCP_SEND, emit_tcp)
FIRE_FOR_ENDPOINT(fire_tcp_receive, tcp__receive, PROBE_TCP_RECEIVE, emit_tcp)
FIRE_FOR_ENDPOINT(fire_tcpf_send, tcpf__send, PROBE_TCPF_SEND, emit_tcpf)
FIRE_FOR_ENDPOINT(fire_tcpf_receive, tcpf__receive, PROBE_TCPF_RECEIVE, emit_tcpf)
FIRE_FOR_ENDPOINT(fire_sctp_send, sctp__send, PROBE_SCTP_SEND, emit_sctp)
FIRE_FOR_ENDPOINT(fire_sctp_receive, sctp__receive, PROBE_SCTP_RECEIVE, emit_sctp)

static inline void
fire_dccp_send(struct emitter *emitter)
{
	if (PROBE_ENABLED(dccp__send))
		emit_dccp(emitter, PROBE_DCCP_SEND);
}

static inline void
fire_dccp_receive(struct emitter *emitter)
{
	if (PROBE_ENABLED(dccp__receive))
		emit_dccp(emitter, PROBE_DCCP_RECEIVE);
}

static inline void
fire_ip_packet_free(struct emitter *emitter)
{
	if (PROBE_ENABLED(ip__packet__free))
		emit_ip_packet_free(emitter);
}

/* Application bytes at a socket: `bytes` of them, from stream offset `offset` on.  Test whether the probe is enabled
 * first, because tracking the bytes has a cost. */
static inline bool
socket_probes_enabled(void)
{
	return PROBE_ENABLED(socket__send) || PROBE_ENABLED(socket__receive);
}

static inline void
fire_socket_send(struct emitter *emitter, const struct flow *flow, unsigned endpoint, uint32_t bytes, uint64_t offset)
{
	if (PROBE_ENABLED(socket__send))
		emit_socket(emitter, PROBE_SOCKET_SEND, flow, endpoint, bytes, offset);
}

static inline void
fire_socket_receive(struct emitter *emitter, const struct flow *flow, unsigned endpoint, uint32_t bytes,
		    uint64_t offset)
{
	if (PROBE_ENABLED(socket__receive))
		emit_socket(emitter, PROBE_SOCKET_RECEIVE, flow, endpoint, bytes, offset);
}

/* Fires connection-end or, for RECORD_OPEN, connection-active. */
static inline void
fire_connection(struct emitter *emitter, const struct flow *flow, const struct flow_record *record,
		enum record_reason reason)
{
	bool passed = emitter_passes_records(emitter);

	if (reason != RECORD_OPEN && (PROBE_ENABLED(connection__end) || passed))
		emit_connection(emitter, PROBE_CONNECTION_END, flow, record, reason);
	if (reason == RECORD_OPEN && (PROBE_ENABLED(connection__active) || passed))
		emit_connection(emitter, PROBE_CONNECTION_ACTIVE, flow, record, reason);
}

/* Fires the probe of an event, if its kind has one and the probe is enabled. */
void fire_event(struct emitter *emitter, const struct flow *flow, const struct flow_event *event);

#endif
