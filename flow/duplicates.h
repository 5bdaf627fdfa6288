/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Duplicates: packets that the capture has twice, because a mirror port copies both directions of a link, a router is
 * captured on both sides, or several interfaces of one host are.  One rule for all transports: a packet is a duplicate
 * if an earlier one has the same transport header, length, identification and, of a datagram, the same words of its
 * payload, and its sender cannot have sent it again in the time between.
 *
 * An identification counts only if the sender changes it from packet to packet: some use one for all.  What a sender
 * may send twice at once is a duplicate only if other packets of the same sender, or of several, are proved to be
 * captured twice at that place, and none since is sent again of which no duplicate was captured.
 *
 * The trace of a packet is 16 bytes in a table of fixed size, written for every packet and read for those that may be
 * duplicates.  A trace is overwritten by that of a later packet with the same slot: then its duplicate is not noticed.
 */
#ifndef NETOBS_FLOW_DUPLICATES_H
#define NETOBS_FLOW_DUPLICATES_H

#include <pcap/dlt.h>
#include <stddef.h>

#include "dissect/peek.h"
#include "flow/flow.h"

#define DUPLICATE_TRACES    4096u
#define DUPLICATE_PLACES    64u
#define DUPLICATE_PAIRS	    4096u
#define DUPLICATE_WITNESSES 256u
#define DUPLICATE_SENDERS   3u

/* What tells packets apart, and where one was captured. */
struct packet_print {
	uint32_t content; /* hash of identification, connection, direction, length, transport header and the beginning
			   * of a datagram; of a segment or datagram without the checksum */
	uint16_t sum;	  /* checksum of a segment or datagram; 0 of others, whose content has it */
	uint16_t partial; /* what an interface replaces by the right checksum; set by print_complete() */
	uint16_t network; /* hash of the sender's address, of IPv6 of its first 64 bits; set by print_complete() */
	uint32_t sender;  /* hash of the sender's address; set by print_complete() */
	uint32_t pair;	  /* hash of the addresses of sender and receiver */
	uint16_t ident;	  /* IPv4 identification, 0 if there is none */
	uint16_t place;	  /* hash of interface, direction, link addresses and VLANs */
	uint8_t ttl;	  /* time to live or hop limit */
	bool fragment;	  /* of a datagram: reassembly needs its identification */
};

struct packet_trace {
	uint32_t content;
	uint16_t place;
	uint16_t sum;  /* as in packet_print */
	uint64_t when; /* from the low bits up: enum packet_trace_flag, 8 bits; time to live, 8; time in units of
			* 1,024 ns */
};

enum packet_trace_flag {
	PACKET_TRACED = 1,
	PACKET_DUPLICATED = 2, /* a duplicate was captured at the same place */
	PACKET_REPEATED = 4,   /* the packet is sent again, and no duplicate was captured */
};

/* Duplicates of one sender at one place that more than time proves. */
struct duplicate_witness {
	uint64_t last;	 /* latest one, in units of 1,024 ns */
	uint32_t sender; /* as in packet_print */
	uint16_t place;	 /* likewise */
	uint8_t count;	 /* duplicates so far, at most DUPLICATE_COUNT_MAX; 0: not in use */
	bool moved;	 /* their originals were captured elsewhere */
};

/* A place at which packets of several senders are captured twice. */
struct duplicate_place {
	uint64_t last[DUPLICATE_SENDERS];    /* latest duplicate of each, in units of 1,024 ns; 0: none */
	uint16_t network[DUPLICATE_SENDERS]; /* of the senders, as in packet_print; different ones */
	uint16_t place;			     /* as in packet_print */
	bool moved;			     /* their originals were captured elsewhere */
};

/* The latest packet with an identification from one host to another.  Duplicates do not count. */
struct ident_trace {
	uint16_t tag; /* bits of the pair << 2 | enum ident_use */
	uint16_t ident;
};

struct duplicates {
	struct packet_trace traces[DUPLICATE_TRACES];		 /* by content */
	struct ident_trace idents[DUPLICATE_PAIRS];		 /* by pair */
	struct duplicate_witness witnesses[DUPLICATE_WITNESSES]; /* by sender, place and `moved` */
	struct duplicate_place places[DUPLICATE_PLACES];
};

/* What makes a sender send the same bytes again. */
enum duplicate_rule {
	DUPLICATE_RULE_TIMER, /* a timer, with which requests are repeated */
	DUPLICATE_RULE_TCP,   /* sequence space of TCP without identification: also an ACK; if only the time between two
			       * can tell, the TCP machine decides (flow/tcp/tcp_order.c) */
	DUPLICATE_RULE_ANY,   /* anything: bare ACKs, RSTs, datagrams of unknown protocols */
};

static inline uint64_t
print_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* A part of a print, which is the sum of its parts: the processor computes them side by side. */
static inline uint64_t
print_part(uint64_t value, uint64_t number)
{
	return print_mix(value, (number + 1) * 0xd6e8feb86659fd93u);
}

static inline uint64_t
print_address(const uint8_t address[16])
{
	struct slice bytes = {address, 16};

	return slice_word(bytes, 0) * 0xbf58476d1ce4e5b9u + slice_word(bytes, 8) * 0x94d049bb133111ebu;
}

static inline uint64_t
print_ends(const uint8_t sender[16], const uint8_t receiver[16])
{
	return print_address(sender) + print_address(receiver) * 3;
}

static inline uint32_t
print_pair(uint64_t ends)
{
	return (uint32_t)(ends * 0x9e3779b97f4a7c15u >> 32);
}

/* Connection, direction and identification; `ends`: print_ends().  Not the hash of the flow table, which has a random
 * seed: which trace takes the slot of another must not differ between two replays. */
static inline uint64_t
print_flow(uint64_t ends, const struct flow_key *key, unsigned sender, uint16_t ident)
{
	uint64_t ports = (uint64_t)ident << 48 | (uint64_t)key->port[sender] << 32 |
			 (uint64_t)key->port[1 - sender] << 16 | key->address_space;

	return ends + print_part(ports, 0);
}

static inline uint32_t
print_tcp(uint64_t flow, uint32_t seq, uint32_t ack, uint64_t timestamps, uint64_t rest)
{
	uint64_t numbers = (uint64_t)seq << 32 | ack;

	return (uint32_t)print_mix(flow + print_part(numbers, 1) + print_part(timestamps, 2), print_part(rest, 3));
}

static inline uint64_t
print_timestamps(uint32_t tsval, uint32_t tsecr)
{
	return (uint64_t)tsval << 32 | tsecr;
}

/* Fields of a segment besides its numbers. */
static inline uint64_t
print_tcp_rest(uint8_t flags, uint16_t window, uint32_t payload)
{
	return (uint64_t)window << 48 | (uint64_t)flags << 40 | payload;
}

/* A datagram whose checksum does not tell its payload: it has no checksum, or it is of DNS and the interface of its
 * sender has not computed it yet.  A sender of DNS has many messages of one length, and of mDNS of one id. */
static inline bool
print_needs_payload(const struct flow_key *key, uint16_t sum)
{
	enum { DNS = 53, MDNS = 5353, LLMNR = 5355 };
	unsigned a = key->port[0], b = key->port[1];

	return sum == 0 || a == DNS || b == DNS || a == MDNS || b == MDNS || a == LLMNR || b == LLMNR;
}

#define PRINT_PAYLOAD_BYTES 512u

/* Length, and four words of the payload, from its beginning to its end: the end tells two apart that are encrypted.
 * The rest is in the checksum; if that does not tell, the beginning is hashed. */
static inline uint32_t
print_udp(uint64_t flow, const struct flow_key *key, uint16_t sum, struct slice payload, uint32_t payload_wire)
{
	enum { WORD = 8 };
	uint64_t word = 0;
	uint32_t last;

	if (payload.len < WORD) {
		slice_copy(payload, 0, &word, payload.len);
		return (uint32_t)print_mix(flow + print_part(word, 1), payload_wire);
	}
	last = payload.len - WORD;
	if (print_needs_payload(key, sum))
		flow += slice_hash(payload, payload.len < PRINT_PAYLOAD_BYTES ? payload.len : PRINT_PAYLOAD_BYTES);
	return (uint32_t)print_mix(flow + print_part(slice_word(payload, 0), 1) +
					   print_part(slice_word(payload, last / 3), 2) +
					   print_part(slice_word(payload, last - last / 3), 3) +
					   print_part(slice_word(payload, last), 4),
				   payload_wire);
}

/* The VLANs of a tagged frame: the ids of its first two tags.  Of another frame 0. */
static inline uint32_t
print_vlans(struct slice frame)
{
	enum { TYPE = 12, ID = 0xfff };
	uint32_t outer, inner = 0;

	if (__builtin_expect(!ether_type_is_tag(slice_u16(frame, TYPE)), 1))
		return 0;
	outer = slice_u16(frame, TYPE + 2) & ID;
	if (ether_type_is_tag(slice_u16(frame, TYPE + 4)))
		inner = (slice_u16(frame, TYPE + 6) & ID) + 1u;
	return inner << 16 | outer;
}

/* Both addresses of an Ethernet frame and its VLANs, or a cooked header without VLANs; other link headers may have
 * fields that differ for each frame. */
static inline uint16_t
print_place(const struct frame *frame)
{
	const struct interface *interface = frame->interface;
	struct slice name = {(const uint8_t *)interface->name, sizeof interface->name};
	struct slice bytes = {frame->data, frame->caplen};
	uint64_t where = interface->ifindex + slice_word(name, 0) * 3;

	if (__builtin_expect(frame->dlt == DLT_EN10MB, 1))
		where += print_mix(slice_word(bytes, 0), slice_word(bytes, 4)) + print_vlans(bytes);
	else if (frame->dlt == DLT_LINUX_SLL2)
		where += print_mix(slice_word(bytes, 0), slice_word(bytes, 8)) + slice_u32(bytes, 16);
	else if (frame->dlt == DLT_LINUX_SLL)
		where += print_mix(slice_word(bytes, 0), slice_word(bytes, 8));
	return (uint16_t)(where * 0x9e3779b97f4a7c15u >> 48);
}

/* Whether the print of a segment is needed: not for sequence space with an identification or timestamps, because the
 * TCP machine has both (flow/tcp/tcp_order.c). */
static inline bool
print_is_needed(bool sequence_space, uint16_t ident, bool timestamps)
{
	return !sequence_space || (ident == 0 && !timestamps);
}

/* Sets the print of a PEEK_TCP, PEEK_FIN or PEEK_UDP, which is not complete.  `sender`: the end of the key.  Not a
 * result, which would be copied. */
static inline void
print_from_peek(struct packet_print *print, const struct frame *frame, const struct frame_peek *peek,
		enum peek_kind kind, const struct flow_key *key, unsigned sender)
{
	uint64_t ends = print_ends(key->addr[sender], key->addr[1 - sender]);
	uint64_t flow = print_flow(ends, key, sender, peek->fragment_id), rest;

	print->pair = print_pair(ends);
	print->ident = peek->fragment_id;
	print->place = print_place(frame);
	print->ttl = peek->ttl;
	print->fragment = false;
	if (kind == PEEK_UDP) {
		print->sum = peek->checksum;
		print->content = print_udp(flow, key, print->sum, peek->payload, peek->payload_wire);
	} else {
		print->sum = slice_u16(peek_tcp_header(peek), 16);
		rest = print_tcp_rest(slice_u8(peek_tcp_header(peek), 13), peek->window, peek->payload_wire);
		print->content =
		    print_tcp(flow, peek->seq, peek->ack, print_timestamps(peek_tsval(peek), peek_tsecr(peek)), rest);
	}
}

/* Sets what only the print of a packet that may be a duplicate needs.  `length`: of the IP payload. */
void print_complete(struct packet_print *print, const struct flow_key *key, unsigned sender, uint32_t length);

/* The print of an IP packet; of a PEEK_TCP, PEEK_FIN or PEEK_UDP that of print_from_peek(), completed. */
struct packet_print print_from_packet(const struct packet *packet, const struct flow_key *key, unsigned sender);

static inline struct packet_trace *
duplicates_trace(struct duplicates *duplicates, const struct packet_print *print)
{
	return &duplicates->traces[print->content % DUPLICATE_TRACES];
}

/* What is known of the identifications of a pair. */
static inline enum ident_use
duplicates_ident_use(const struct duplicates *duplicates, uint32_t pair)
{
	const struct ident_trace *trace = &duplicates->idents[pair % DUPLICATE_PAIRS];
	uint16_t tag = (uint16_t)(pair / DUPLICATE_PAIRS << 2);

	return (trace->tag ^ tag) < 4 ? (enum ident_use)(trace->tag & 3) : IDENT_UNKNOWN;
}

static inline void
duplicates_add_ident(struct duplicates *duplicates, uint32_t pair, uint16_t ident)
{
	struct ident_trace *trace = &duplicates->idents[pair % DUPLICATE_PAIRS];
	uint16_t tag = (uint16_t)(pair / DUPLICATE_PAIRS << 2);

	if ((trace->tag ^ tag) < 4 && trace->ident != 0)
		tag |= trace->ident != ident ? IDENT_CHANGES : IDENT_REPEATS;
	*trace = (struct ident_trace){tag, ident};
}

/* Records that a packet was captured at packet time `now`. */
static inline void
duplicates_add(struct duplicates *duplicates, const struct packet_print *print, uint64_t now)
{
	if (print->ident != 0 && !print->fragment)
		duplicates_add_ident(duplicates, print->pair, print->ident);
	*duplicates_trace(duplicates, print) = (struct packet_trace){
	    .content = print->content,
	    .place = print->place,
	    .sum = print->sum,
	    .when = now >> 10 << 16 | (uint64_t)print->ttl << 8 | PACKET_TRACED,
	};
}

/* Whether the trace of an earlier packet has this print; it may be old. */
static inline bool
duplicates_may_have(struct duplicates *duplicates, const struct packet_print *print)
{
	const struct packet_trace *trace = duplicates_trace(duplicates, print);

	return trace->content == print->content;
}

/* Whether a packet is a duplicate.  `use`: what else is known of its identification.  A packet that repeats one without
 * a duplicate is evidence against others at its place, once however often this is asked. */
bool duplicates_have(struct duplicates *duplicates, const struct packet_print *print, enum duplicate_rule rule,
		     enum ident_use use, uint64_t now);

/* The same, and records the packet or the evidence that it is. */
bool duplicates_find(struct duplicates *duplicates, const struct packet_print *print, enum duplicate_rule rule,
		     enum ident_use use, uint64_t now);

/* Records that the TCP machine has found a duplicate: others of its sender are likely at its place for a time. */
void duplicates_prove(struct duplicates *duplicates, const struct packet_print *print, uint64_t now);

/* Whether what this sender sends, and is captured at the place of this packet, is probably captured elsewhere, too. */
bool duplicates_are_moved(struct duplicates *duplicates, const struct packet_print *print, uint64_t now);

#endif
