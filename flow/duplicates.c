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

/* A duplicate is evidence for others of its sender at its place for this time, times the number of duplicates there. */
#define DUPLICATE_EVIDENCE  DUPLICATE_MS(10000)
#define DUPLICATE_COUNT_MAX 6u

/* Duplicates of several senders are evidence for all at their place for this time. */
#define DUPLICATE_PLACE_EVIDENCE DUPLICATE_MS(10000)

static uint32_t
print_segment(uint64_t flow, const struct packet *packet)
{
	const struct tcp_layer *t = &packet->tcp;
	bool stamped = (t->options & TCP_OPTION_TIMESTAMPS) != 0;
	uint64_t rest = print_tcp_rest(t->flags, t->window, packet->payload_wire);

	if ((t->options & TCP_OPTION_SACK) != 0)
		for (unsigned i = 0; i < t->sack_count; i++)
			rest = print_mix(rest, (uint64_t)t->sack[i][0] << 32 | t->sack[i][1]);
	return print_tcp(flow, t->seq, t->ack, stamped ? print_timestamps(t->tsval, t->tsecr) : 0, rest);
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

static void
print_sender(struct packet_print *print, const uint8_t address[16])
{
	uint8_t network[16] = {0};

	memcpy(network, address, 8);
	print->sender = (uint32_t)(print_mix(print_address(address), 0) >> 32);
	print->network = (uint16_t)(print_mix(print_address(network), 0) >> 32);
}

void
print_complete(struct packet_print *print, const struct flow_key *key, unsigned sender, uint32_t length)
{
	uint64_t sum = (uint64_t)key->protocol + length;

	for (unsigned end = 0; end < 2; end++)
		for (uint32_t at = 0; at < 16; at += 4)
			sum += slice_u32((struct slice){key->addr[end], 16}, at);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	print->partial = (uint16_t)sum;
	print_sender(print, key->addr[sender]);
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
					  key, print.sum, cursor_captured_slice(&packet->payload),
					  packet->payload_wire);
	} else {
		print.content = print_payload(packet);
		print_sender(&print, ip->src);
		return print;
	}
	print_complete(&print, key, sender, packet->datagram.wire);
	return print;
}

/* --- evidence --- */

/* Time between two packets, whichever was captured first. */
static uint64_t
duplicates_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static struct duplicate_witness *
duplicates_witness(struct duplicates *duplicates, const struct packet_print *print, bool moved)
{
	return &duplicates->witnesses[((print->sender ^ print->place) * 2 + moved) % DUPLICATE_WITNESSES];
}

static bool
duplicate_witness_is_of(const struct duplicate_witness *w, const struct packet_print *print, bool moved)
{
	return w->sender == print->sender && w->place == print->place && w->moved == moved;
}

static bool
duplicate_witness_is_valid(const struct duplicate_witness *w, uint64_t now)
{
	return w->count != 0 && duplicates_distance(w->last, now >> 10) <= DUPLICATE_EVIDENCE * w->count;
}

static struct duplicate_place *
duplicates_place(struct duplicates *duplicates, const struct packet_print *print, bool moved)
{
	return &duplicates->places[(print->place * 2u + moved) % DUPLICATE_PLACES];
}

static bool
duplicate_place_is_of(const struct duplicate_place *p, const struct packet_print *print, bool moved)
{
	return p->place == print->place && p->moved == moved;
}

static bool
duplicate_place_is_valid(const struct duplicate_place *p, uint64_t now)
{
	for (unsigned i = 0; i < DUPLICATE_SENDERS; i++)
		if (p->last[i] == 0 || duplicates_distance(p->last[i], now >> 10) > DUPLICATE_PLACE_EVIDENCE)
			return false;
	return true;
}

/* Whether packets of this sender, or of several others, are captured twice at the place: one other proves nothing. */
static bool
duplicates_are_likely(struct duplicates *duplicates, const struct packet_print *print, bool moved, uint64_t now)
{
	const struct duplicate_witness *w = duplicates_witness(duplicates, print, moved);
	const struct duplicate_place *p = duplicates_place(duplicates, print, moved);

	return (duplicate_witness_is_of(w, print, moved) && duplicate_witness_is_valid(w, now)) ||
	       (duplicate_place_is_of(p, print, moved) && duplicate_place_is_valid(p, now));
}

bool
duplicates_are_moved(struct duplicates *duplicates, const struct packet_print *print, uint64_t now)
{
	return duplicates_are_likely(duplicates, print, true, now);
}

/* The sender's own entry, or the oldest one. */
static unsigned
duplicate_place_entry(const struct duplicate_place *p, const struct packet_print *print)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < DUPLICATE_SENDERS; i++) {
		if (p->last[i] != 0 && p->network[i] == print->network)
			return i;
		if (p->last[i] < p->last[oldest])
			oldest = i;
	}
	return oldest;
}

static void
duplicates_prove_at(struct duplicates *duplicates, const struct packet_print *print, bool moved, uint64_t now)
{
	struct duplicate_witness *w = duplicates_witness(duplicates, print, moved);
	struct duplicate_place *p = duplicates_place(duplicates, print, moved);
	unsigned entry;

	if (!duplicate_witness_is_of(w, print, moved) || !duplicate_witness_is_valid(w, now))
		*w = (struct duplicate_witness){.sender = print->sender, .place = print->place, .moved = moved};
	w->last = now >> 10;
	w->count = (uint8_t)(w->count + (w->count < DUPLICATE_COUNT_MAX));
	if (!duplicate_place_is_of(p, print, moved))
		*p = (struct duplicate_place){.place = print->place, .moved = moved};
	entry = duplicate_place_entry(p, print);
	p->network[entry] = print->network;
	p->last[entry] = now >> 10;
}

void
duplicates_prove(struct duplicates *duplicates, const struct packet_print *print, uint64_t now)
{
	duplicates_prove_at(duplicates, print, false, now);
}

/* Of a packet that is sent again no duplicate was captured: not all are captured twice at its place. */
static void
duplicates_deny(struct duplicates *duplicates, struct packet_trace *trace, const struct packet_print *print)
{
	struct duplicate_witness *w = duplicates_witness(duplicates, print, false);
	struct duplicate_place *p = duplicates_place(duplicates, print, false);

	if ((trace->when & (PACKET_DUPLICATED | PACKET_REPEATED)) != 0)
		return;
	trace->when |= PACKET_REPEATED;
	if (duplicate_witness_is_of(w, print, false))
		w->count /= 2;
	if (duplicate_place_is_of(p, print, false))
		p->last[duplicate_place_entry(p, print)] = 0;
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

enum duplicate_verdict {
	DUPLICATE_NOT,
	DUPLICATE_LIKELY, /* a duplicate, but no evidence for others */
	DUPLICATE_PROVED,
};

static enum duplicate_verdict
duplicates_judge_ident(const struct duplicates *duplicates, const struct packet_print *print, enum ident_use use,
		       uint64_t elapsed)
{
	if (print->ident == 0)
		return DUPLICATE_NOT;
	if (use == IDENT_UNKNOWN)
		use = duplicates_ident_use(duplicates, print->pair);
	if (print->fragment || use == IDENT_CHANGES)
		return elapsed < DUPLICATE_IDENT_MAX ? DUPLICATE_PROVED : DUPLICATE_NOT;
	/* The first two packets of a host do not show whether it changes its identification. */
	return use == IDENT_UNKNOWN && elapsed < DUPLICATE_MIRROR_MAX ? DUPLICATE_LIKELY : DUPLICATE_NOT;
}

/* Whether a packet that nothing else proves to be a duplicate is one, because others at its place are. */
static enum duplicate_verdict
duplicates_judge_place(struct duplicates *duplicates, struct packet_trace *trace, const struct packet_print *print,
		       uint64_t elapsed, uint64_t now)
{
	if (elapsed >= DUPLICATE_MIRROR_MAX) {
		duplicates_deny(duplicates, trace, print);
		return DUPLICATE_NOT;
	}
	/* A mirror port copies each frame once. */
	return (trace->when & PACKET_DUPLICATED) == 0 && duplicates_are_likely(duplicates, print, false, now)
		   ? DUPLICATE_LIKELY
		   : DUPLICATE_NOT;
}

static enum duplicate_verdict
duplicates_judge(struct duplicates *duplicates, struct packet_trace *trace, const struct packet_print *print,
		 enum duplicate_rule rule, enum ident_use use, uint64_t now)
{
	uint64_t elapsed = packet_trace_age(trace, now);
	enum duplicate_verdict verdict;

	if ((trace->when & PACKET_TRACED) == 0 || !duplicates_may_have(duplicates, print) ||
	    !duplicates_has_sum(trace, print))
		return DUPLICATE_NOT;
	if (duplicates_is_moved(trace, print))
		return elapsed < DUPLICATE_MOVED_MAX ? DUPLICATE_PROVED : DUPLICATE_NOT;
	if (rule == DUPLICATE_RULE_TCP)
		return DUPLICATE_NOT;
	verdict = duplicates_judge_ident(duplicates, print, use, elapsed);
	if (verdict == DUPLICATE_NOT && rule == DUPLICATE_RULE_TIMER && elapsed < DUPLICATE_TIMER_MIN)
		verdict = DUPLICATE_LIKELY;
	if (verdict == DUPLICATE_NOT && rule == DUPLICATE_RULE_ANY)
		verdict = duplicates_judge_place(duplicates, trace, print, elapsed, now);
	return verdict;
}

bool
duplicates_have(struct duplicates *duplicates, const struct packet_print *print, enum duplicate_rule rule,
		enum ident_use use, uint64_t now)
{
	return duplicates_judge(duplicates, duplicates_trace(duplicates, print), print, rule, use, now) !=
	       DUPLICATE_NOT;
}

bool
duplicates_find(struct duplicates *duplicates, const struct packet_print *print, enum duplicate_rule rule,
		enum ident_use use, uint64_t now)
{
	struct packet_trace *trace = duplicates_trace(duplicates, print);
	enum duplicate_verdict verdict = duplicates_judge(duplicates, trace, print, rule, use, now);
	bool moved = duplicates_is_moved(trace, print);

	if (verdict == DUPLICATE_NOT) {
		duplicates_add(duplicates, print, now);
		return false;
	}
	if (verdict == DUPLICATE_PROVED)
		duplicates_prove_at(duplicates, print, moved, now);
	if (!moved)
		trace->when |= PACKET_DUPLICATED;
	return true;
}
