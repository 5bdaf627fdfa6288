/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/duplicates.h"

/* All in units of 1,024 ns. */
#define DUPLICATE_MS(ms) ((ms) * 1000000ull / 1024)

/* Identifications do not repeat so soon, and what a stack with a single one sends again is later. */
#define DUPLICATE_IDENT_MAX DUPLICATE_MS(40)

/* A duplicate that was captured elsewhere: a router or switch between the two places keeps a packet less long. */
#define DUPLICATE_MOVED_MAX DUPLICATE_MS(10)

/* Shortest time after which a request is repeated: below the shortest timer of resolvers, which is 50 ms. */
#define DUPLICATE_TIMER_MIN DUPLICATE_MS(40)

/* A mirror port copies a frame this soon. */
#define DUPLICATE_MIRROR_MAX DUPLICATE_MS(1)

/* A duplicate is evidence for others at its place for this time, times the number of duplicates there. */
#define DUPLICATE_EVIDENCE DUPLICATE_MS(1000)
#define DUPLICATE_EVIDENCE_COUNT_MAX 60u

static uint32_t
print_segment(uint64_t flow, const struct packet *packet)
{
	const struct tcp_layer *t = &packet->tcp;
	bool stamped = (t->options & TCP_OPTION_TIMESTAMPS) != 0;
	uint64_t rest = print_tcp_rest(t->flags, t->window, packet->payload_wire);

	if ((t->options & TCP_OPTION_SACK) != 0)
		for (unsigned i = 0; i < t->sack_count; i++)
			rest = print_mix(rest, (uint64_t)t->sack[i][0] << 32 | t->sack[i][1]);
	return print_tcp(flow, t->seq, t->ack, stamped ? (uint64_t)t->tsval << 32 | t->tsecr : 0, rest);
}

enum { PRINT_WORDS = 16 };

static uint64_t
print_bytes(uint64_t hash, struct slice bytes)
{
	uint32_t at = 0;

	for (; at < 8 * PRINT_WORDS && slice_has(bytes, at, 8); at += 8)
		hash = print_mix(hash, slice_u64(bytes, at));
	for (; at < 8 * PRINT_WORDS && slice_has(bytes, at, 1); at++)
		hash = print_mix(hash, slice_u8(bytes, at));
	return hash;
}

/* The beginning of an IP packet's payload, with its addresses: of tunnels and what the peek does not read. */
static uint32_t
print_payload(const struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;
	struct slice src = {ip->src, sizeof ip->src}, dst = {ip->dst, sizeof ip->dst};
	uint64_t hash = print_bytes(print_bytes(packet->tunnels, src), dst);
	uint64_t fields = (uint64_t)(uint16_t)ip->fragment_id << 40 | (uint64_t)ip->protocol << 32 | ip->payload_len;

	hash = print_mix(hash, fields);
	if (ip->fragment)
		hash = print_mix(hash, (uint64_t)ip->fragment_offset << 32 | ip->fragment_id);
	return (uint32_t)print_bytes(hash, cursor_captured_slice(&packet->datagram));
}

void
print_complete(struct packet_print *print, const struct flow_key *key, uint32_t length)
{
	uint64_t sum = (uint64_t)key->protocol + length;

	for (unsigned end = 0; end < 2; end++)
		for (uint32_t at = 0; at < 16; at += 4)
			sum += slice_u32((struct slice){key->addr[end], 16}, at);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	print->partial = (uint16_t)sum;
}

struct packet_print
print_from_packet(const struct packet *packet, const struct flow_key *key, unsigned sender)
{
	const struct ip_layer *ip = &packet->ip;
	uint64_t ends = print_ends(ip->src, ip->dst);
	struct packet_print print = {.pair = print_pair(ends),
				     .ident = (uint16_t)ip->fragment_id,
				     .place = print_place(packet->frame),
				     .ttl = ip->ttl,
				     .fragment = ip->fragment};

	if (packet->transport == TRANSPORT_TCP) {
		print.sum = packet->tcp.checksum;
		print.content = print_segment(print_flow(ends, key, sender, print.ident), packet);
	} else if (packet->transport == TRANSPORT_UDP && packet->inner == INNER_NONE) {
		print.sum = packet->udp.checksum;
		print.content = print_udp(print_flow(ends, key, sender, print.ident),
					  cursor_captured_slice(&packet->payload), packet->payload_wire);
	} else {
		print.content = print_payload(packet);
		return print;
	}
	print_complete(&print, key, packet->datagram.wire);
	return print;
}

/* --- evidence --- */

/* Time between two packets, whichever was captured first. */
static uint64_t
duplicates_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool
duplicates_are_likely(const struct duplicates *duplicates, const struct packet_print *print, uint64_t now)
{
	const struct duplicate_place *p = &duplicates->places[print->place % DUPLICATE_PLACES];

	return p->count != 0 && p->place == print->place &&
	       duplicates_distance(p->last, now >> 10) <= DUPLICATE_EVIDENCE * p->count;
}

bool
duplicates_are_moved(const struct duplicates *duplicates, const struct packet_print *print, uint64_t now)
{
	return duplicates_are_likely(duplicates, print, now) &&
	       duplicates->places[print->place % DUPLICATE_PLACES].moved;
}

void
duplicates_prove(struct duplicates *duplicates, const struct packet_print *print, uint64_t now)
{
	struct duplicate_place *p = &duplicates->places[print->place % DUPLICATE_PLACES];

	if (!duplicates_are_likely(duplicates, print, now))
		*p = (struct duplicate_place){.count = 0};
	p->place = print->place;
	p->last = now >> 10;
	p->count = (uint16_t)(p->count + (p->count < DUPLICATE_EVIDENCE_COUNT_MAX));
}

static uint64_t
packet_trace_age(const struct packet_trace *trace, uint64_t now)
{
	return duplicates_distance(trace->when >> 16, now >> 10 & UINT64_MAX >> 16);
}

/* Whether both packets have the same checksum, or one is captured before an interface has completed it. */
static bool
duplicates_has_sum(const struct packet_trace *trace, const struct packet_print *print)
{
	return trace->sum == print->sum || trace->sum == print->partial || print->sum == print->partial;
}

/* Another interface, direction, link address or VLAN, or behind a router. */
static bool
duplicates_is_moved(const struct packet_trace *trace, const struct packet_print *print)
{
	return trace->place != print->place || print->ttl < (uint8_t)(trace->when >> 8);
}

/* For how long an identification tells that two packets with the same bytes are one.  The first two packets of a host,
 * of which none shows yet whether it changes its identification, may have been sent one after the other. */
static uint64_t
duplicates_ident_time(const struct duplicates *duplicates, const struct packet_print *print, enum ident_use use)
{
	if (print->ident == 0)
		return 0;
	if (use == IDENT_UNKNOWN)
		use = duplicates_ident_use(duplicates, print->pair);
	if (print->fragment || use == IDENT_CHANGES)
		return DUPLICATE_IDENT_MAX;
	return use == IDENT_REPEATS ? 0 : DUPLICATE_MIRROR_MAX;
}

/* Whether a packet at the same place as its original is a duplicate. */
static bool
duplicates_is_copied(struct duplicates *duplicates, const struct packet_trace *trace, const struct packet_print *print,
		     enum duplicate_rule rule, enum ident_use use, uint64_t now)
{
	uint64_t elapsed = packet_trace_age(trace, now);

	if (rule == DUPLICATE_RULE_TCP)
		return false;
	if (rule == DUPLICATE_RULE_TIMER && elapsed < DUPLICATE_TIMER_MIN)
		return true;
	if (elapsed < duplicates_ident_time(duplicates, print, use))
		return true;
	/* A mirror port copies each frame once. */
	return elapsed < DUPLICATE_MIRROR_MAX && (trace->when & PACKET_DUPLICATED) == 0 &&
	       duplicates_are_likely(duplicates, print, now);
}

bool
duplicates_have(struct duplicates *duplicates, const struct packet_print *print, enum duplicate_rule rule,
		enum ident_use use, uint64_t now)
{
	const struct packet_trace *trace = duplicates_trace(duplicates, print);

	if ((trace->when & PACKET_TRACED) == 0 || !duplicates_may_have(duplicates, print) ||
	    !duplicates_has_sum(trace, print))
		return false;
	if (duplicates_is_moved(trace, print))
		return packet_trace_age(trace, now) < DUPLICATE_MOVED_MAX;
	return duplicates_is_copied(duplicates, trace, print, rule, use, now);
}

bool
duplicates_find(struct duplicates *duplicates, const struct packet_print *print, enum duplicate_rule rule,
		enum ident_use use, uint64_t now)
{
	struct packet_trace *trace = duplicates_trace(duplicates, print);

	if (!duplicates_have(duplicates, print, rule, use, now)) {
		duplicates_add(duplicates, print, now);
		return false;
	}
	duplicates_prove(duplicates, print, now);
	if (duplicates_is_moved(trace, print))
		duplicates->places[print->place % DUPLICATE_PLACES].moved = true;
	else
		trace->when |= PACKET_DUPLICATED;
	return true;
}
