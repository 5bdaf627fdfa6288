/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fires probes: from packets and flows to probe arguments.  A fire_*() function costs one load and one compare while
 * its probe is not enabled.  If it is, an out-of-line function builds the argument structs in the prober's memory and
 * runs the probe's single site.  Structs shared by the probes of a packet are built once, by the first probe that needs
 * them.
 */
#ifndef NETOBS_PROBES_FIRE_H
#define NETOBS_PROBES_FIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/packet.h"
#include "flow/event.h"
#include "flow/flow.h"
#include "probes/owner.h"
#include "probes/sites.h"

struct printer;
struct prober;
struct sequences; /* counts the firings of each probe over several probers */

/* Creates a prober, one per thread.  `printer` (NULL: none) receives every firing too; `flows` is the table of the
 * endpoints; both are borrowed.  NULL if out of memory. */
struct prober *prober_new(struct printer *printer, const struct flow_table *flows);
void prober_free(struct prober *prober);

/* Shares ids between several probers of a run, each in its own thread: this is prober `number` (from 0) of `of`.
 * Packet ids are unique in the run, and sequence numbers (pkt_seq, cs_seq) count the firings of all probers;
 * `sequences` is borrowed. */
void prober_share_ids(struct prober *prober, unsigned number, unsigned of, struct sequences *sequences);

/* NULL if out of memory. */
struct sequences *sequences_new(void);
void sequences_free(struct sequences *sequences);

/* Sets the packet of the next firings and its id; `now` is packet time. */
void prober_packet(struct prober *prober, const struct packet *packet, uint64_t id, uint64_t now);

/* Firings between these two calls have no packet: a timer expired or a connection was evicted, possibly while a packet
 * is being processed. */
void prober_timer_begin(struct prober *prober, uint64_t now);
void prober_timer_end(struct prober *prober);

/* Resets the sequence numbers (pkt_seq, cs_seq) of probes that no tracer has enabled any more.  The main loop calls it
 * periodically. */
void prober_refresh(struct prober *prober);

/* Whether any probe was enabled at the last prober_refresh(). */
bool prober_is_wanted(const struct prober *prober);

/* Looks up the owner of a local endpoint: returns at once, false if it is not known.  By default, and for files, owners
 * are unknown.  `context` is borrowed. */
typedef bool prober_find_owner(void *context, const struct owner_key *key, uint32_t ifindex, struct owner *owner);
void prober_set_owners(struct prober *prober, prober_find_owner *find, void *context);

/* Firings of a probe since the start; verdicts on transport checksums of packets for which a probe fired. */
uint64_t prober_fired(const struct prober *prober, enum probe_id probe);
uint64_t prober_checksums(const struct prober *prober, enum checksum_verdict verdict);

/* Out-of-line parts of the fire_*() functions below, for enabled probes. */
void tell_frame(struct prober *prober, enum probe_id probe);
void tell_arp(struct prober *prober, enum probe_id probe);
void tell_ip(struct prober *prober, enum probe_id probe, const struct flow *flow, unsigned end);
void tell_icmp(struct prober *prober, enum probe_id probe, const struct flow *quoted, unsigned end);
void tell_udp(struct prober *prober, enum probe_id probe, const struct flow *flow, unsigned end);
void tell_tcp(struct prober *prober, enum probe_id probe, const struct flow *flow, unsigned end);
void tell_tcpf(struct prober *prober, enum probe_id probe, const struct flow *flow, unsigned end);
void tell_sctp(struct prober *prober, enum probe_id probe, const struct flow *flow, unsigned end);
void tell_free(struct prober *prober);
void tell_socket(struct prober *prober, enum probe_id probe, const struct flow *flow, unsigned end, uint32_t bytes,
		 uint64_t offset);

/* A probe of an application provider: its first argument is the connection as endpoint `end` sees it, `info` and `more`
 * (NULL: none) are the next two, filled by the caller. */
void emit_app(struct prober *prober, enum probe_id probe, const struct flow *flow, unsigned end, const void *info,
	      const void *more);

static inline void
fire_gld_send(struct prober *prober)
{
	if (PROBE_ENABLED(gld__send))
		tell_frame(prober, PROBE_GLD_SEND);
}

static inline void
fire_gld_receive(struct prober *prober)
{
	if (PROBE_ENABLED(gld__receive))
		tell_frame(prober, PROBE_GLD_RECEIVE);
}

static inline void
fire_arp_send(struct prober *prober)
{
	if (PROBE_ENABLED(arp__send))
		tell_arp(prober, PROBE_ARP_SEND);
}

static inline void
fire_arp_receive(struct prober *prober)
{
	if (PROBE_ENABLED(arp__receive))
		tell_arp(prober, PROBE_ARP_RECEIVE);
}

/* For packets of a connection: `flow` may be NULL (no connection), `end` is the reported endpoint. */
#define FIRE_FOR_ENDPOINT(fire, c_name, id, tell)                                                                      \
	static inline void fire(struct prober *prober, const struct flow *flow, unsigned end)                          \
	{                                                                                                              \
		if (PROBE_ENABLED(c_name))                                                                             \
			tell(prober, id, flow, end);                                                                   \
	}

FIRE_FOR_ENDPOINT(fire_ip_send, ip__send, PROBE_IP_SEND, tell_ip)
FIRE_FOR_ENDPOINT(fire_ip_receive, ip__receive, PROBE_IP_RECEIVE, tell_ip)
FIRE_FOR_ENDPOINT(fire_ip_drop_in, ip__drop__in, PROBE_IP_DROP_IN, tell_ip)
FIRE_FOR_ENDPOINT(fire_ip_drop_out, ip__drop__out, PROBE_IP_DROP_OUT, tell_ip)
FIRE_FOR_ENDPOINT(fire_ip_request, ip__request, PROBE_IP_REQUEST, tell_ip)
FIRE_FOR_ENDPOINT(fire_ip_deliver, ip__deliver, PROBE_IP_DELIVER, tell_ip)
FIRE_FOR_ENDPOINT(fire_icmp_send, icmp__send, PROBE_ICMP_SEND, tell_icmp)
FIRE_FOR_ENDPOINT(fire_icmp_receive, icmp__receive, PROBE_ICMP_RECEIVE, tell_icmp)
FIRE_FOR_ENDPOINT(fire_udp_send, udp__send, PROBE_UDP_SEND, tell_udp)
FIRE_FOR_ENDPOINT(fire_udp_receive, udp__receive, PROBE_UDP_RECEIVE, tell_udp)
FIRE_FOR_ENDPOINT(fire_tcp_send, tcp__send, PROBE_TCP_SEND, tell_tcp)
FIRE_FOR_ENDPOINT(fire_tcp_receive, tcp__receive, PROBE_TCP_RECEIVE, tell_tcp)
FIRE_FOR_ENDPOINT(fire_tcpf_send, tcpf__send, PROBE_TCPF_SEND, tell_tcpf)
FIRE_FOR_ENDPOINT(fire_tcpf_receive, tcpf__receive, PROBE_TCPF_RECEIVE, tell_tcpf)
FIRE_FOR_ENDPOINT(fire_sctp_send, sctp__send, PROBE_SCTP_SEND, tell_sctp)
FIRE_FOR_ENDPOINT(fire_sctp_receive, sctp__receive, PROBE_SCTP_RECEIVE, tell_sctp)

static inline void
fire_ip_packet_free(struct prober *prober)
{
	if (PROBE_ENABLED(ip__packet__free))
		tell_free(prober);
}

/* Application bytes at a socket: `bytes` of them, from stream offset `offset` on.  Test whether the probe is enabled
 * first, because tracking the bytes has a cost. */
static inline bool
wants_sockets(void)
{
	return PROBE_ENABLED(socket__send) || PROBE_ENABLED(socket__receive);
}

static inline void
fire_socket_send(struct prober *prober, const struct flow *flow, unsigned end, uint32_t bytes, uint64_t offset)
{
	if (PROBE_ENABLED(socket__send))
		tell_socket(prober, PROBE_SOCKET_SEND, flow, end, bytes, offset);
}

static inline void
fire_socket_receive(struct prober *prober, const struct flow *flow, unsigned end, uint32_t bytes, uint64_t offset)
{
	if (PROBE_ENABLED(socket__receive))
		tell_socket(prober, PROBE_SOCKET_RECEIVE, flow, end, bytes, offset);
}

/* Fires the probe of an event, if its kind has one and the probe is enabled. */
void fire_event(struct prober *prober, const struct flow *flow, const struct flow_event *event);

#endif
