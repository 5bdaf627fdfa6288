/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gentrace: writes a capture file of artificial, well-formed traffic.
 *
 *	gentrace [-n packets] [-c concurrent] [-l payload] [-f frame] [-a] [-r rounds] [-4 percent] [-t percent]
 *		[-u percent] [-s seed] [-k packets[-most]] [-S] FILE
 *
 * The same options and seed give the same bytes.  TCP connections are complete (handshake, request and response
 * rounds with timestamps, FIN both ways); `concurrent` of them are under way at any time, each packet belonging to
 * one chosen at random.  -t is the share of TCP, -u of UDP, the rest is ICMP echo; -4 the share of IPv4.  -k stops
 * each connection after so many packets and begins another one: a TCP connection is established after three,
 * and -S, which is -k 1, makes a SYN-only trace.  With -k packets-most the lengths vary between these two, with as
 * many connections from 2 to 3 packets as from 4 to 7, from 8 to 15 and so on, and TCP connections of at least seven
 * packets close.  -f sets the length of frames with payload instead of that of the payload; with -a both ends of a TCP
 * connection send data in turn, without segments that only acknowledge.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gen_connection {
	uint32_t client, server; /* host numbers */
	uint32_t seq[2];	 /* next to send, client first */
	uint16_t sport, dport;
	uint16_t step;
	uint16_t packets; /* after which it is stopped; 0: it is not stopped */
	uint8_t protocol;
	uint8_t version;
};

struct options {
	unsigned long packets, concurrent, payload, rounds, ipv4, tcp, udp;
	unsigned long frame;	     /* length of frames with payload; 0: `payload` applies */
	unsigned long packets_least; /* packets after which a connection is stopped; 0: when it closes */
	unsigned long packets_most;  /* 0: exactly `packets_least` */
	bool only_data;		     /* no pure acknowledgements */
	uint64_t seed;
	const char *file;
};

static uint64_t random_state;

/* splitmix64 (Steele, Lea, Flood 2014): any seed will do. */
static uint64_t
gen_random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint32_t
gen_random_below(uint64_t n)
{
	return (uint32_t)(gen_random_u64() % n);
}

static void
gen_put_u16(uint8_t *to, uint32_t v)
{
	to[0] = (uint8_t)(v >> 8);
	to[1] = (uint8_t)v;
}

static void
gen_put_u32(uint8_t *to, uint32_t v)
{
	gen_put_u16(to, v >> 16);
	gen_put_u16(to + 2, v & 0xffff);
}

static uint32_t
gen_checksum_sum(const uint8_t *bytes, size_t n, uint32_t start)
{
	uint32_t s = start;

	for (size_t i = 0; i + 1 < n; i += 2)
		s += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	if (n % 2 != 0)
		s += (uint32_t)bytes[n - 1] << 8;
	return s;
}

static uint16_t
gen_checksum_fold(uint32_t s)
{
	while (s > 0xffff)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

/* Link and IP headers for `length` bytes of transport.  Returns their length. */
static size_t
gen_put_headers(uint8_t *frame, const struct gen_connection *t, bool reply, size_t length)
{
	uint32_t from = reply ? t->server : t->client, to = reply ? t->client : t->server;
	uint8_t *ip = frame + 14;

	memcpy(frame, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02", 12);
	gen_put_u16(frame + 12, t->version == 4 ? 0x0800 : 0x86dd);
	if (t->version == 4) {
		memset(ip, 0, 20);
		ip[0] = 0x45;
		gen_put_u16(ip + 2, (uint32_t)(20 + length));
		gen_put_u16(ip + 6, 0x4000);
		ip[8] = 64;
		ip[9] = t->protocol;
		gen_put_u32(ip + 12, 0x0a000000 | (from & 0xffffff));
		gen_put_u32(ip + 16, 0x0a000000 | (to & 0xffffff));
		gen_put_u16(ip + 10, gen_checksum_fold(gen_checksum_sum(ip, 20, 0)));
		return 34;
	}
	memset(ip, 0, 40);
	ip[0] = 0x60;
	gen_put_u16(ip + 4, (uint32_t)length);
	ip[6] = t->protocol == 1 ? 58 : t->protocol;
	ip[7] = 64;
	gen_put_u32(ip + 8, 0xfd000000);
	gen_put_u32(ip + 20, from);
	gen_put_u32(ip + 24, 0xfd000000);
	gen_put_u32(ip + 36, to);
	return 54;
}

static void
gen_put_checksum(uint8_t *frame, size_t headers, size_t length, size_t offset, uint8_t protocol)
{
	const uint8_t *ip = frame + 14;
	uint8_t *l4 = frame + headers;
	uint32_t s = 0;

	if (headers == 54)
		s = gen_checksum_sum(ip + 8, 32, (uint32_t)length + (protocol == 1 ? 58 : protocol));
	else if (protocol != 1)
		s = gen_checksum_sum(ip + 12, 8, (uint32_t)length + protocol);
	gen_put_u16(l4 + offset, gen_checksum_fold(gen_checksum_sum(l4, length, s)));
}

static size_t
gen_put_tcp(uint8_t *frame, struct gen_connection *t, bool reply, uint8_t flags, size_t payload, uint32_t clock)
{
	bool syn = (flags & 0x02) != 0;
	size_t options = syn ? 20 : 12, length = 20 + options + payload;
	size_t headers = gen_put_headers(frame, t, reply, length);
	uint8_t *l4 = frame + headers;

	memset(l4, 0, length);
	gen_put_u16(l4, reply ? t->dport : t->sport);
	gen_put_u16(l4 + 2, reply ? t->sport : t->dport);
	gen_put_u32(l4 + 4, t->seq[reply]);
	gen_put_u32(l4 + 8, (flags & 0x10) != 0 ? t->seq[!reply] : 0);
	l4[12] = (uint8_t)((20 + options) / 4 << 4);
	l4[13] = flags;
	gen_put_u16(l4 + 14, 502);
	if (syn) {
		memcpy(l4 + 20, "\x02\x04\x05\xb4\x04\x02\x08\x0a", 8);
		gen_put_u32(l4 + 28, clock);
		memcpy(l4 + 36, "\x01\x03\x03\x07", 4);
	} else {
		memcpy(l4 + 20, "\x01\x01\x08\x0a", 4);
		gen_put_u32(l4 + 24, clock);
		gen_put_u32(l4 + 28, clock - 1);
	}
	gen_put_checksum(frame, headers, length, 16, 6);
	t->seq[reply] += (uint32_t)payload + ((flags & 0x03) != 0);
	return headers + length;
}

static size_t
gen_put_udp(uint8_t *frame, const struct gen_connection *t, bool reply, size_t payload)
{
	size_t length = 8 + payload, headers = gen_put_headers(frame, t, reply, length);
	uint8_t *l4 = frame + headers;

	memset(l4, 0, length);
	gen_put_u16(l4, reply ? t->dport : t->sport);
	gen_put_u16(l4 + 2, reply ? t->sport : t->dport);
	gen_put_u16(l4 + 4, (uint32_t)length);
	gen_put_checksum(frame, headers, length, 6, 17);
	return headers + length;
}

static size_t
gen_put_icmp(uint8_t *frame, const struct gen_connection *t, bool reply, size_t payload)
{
	size_t length = 8 + payload, headers = gen_put_headers(frame, t, reply, length);
	uint8_t *l4 = frame + headers;

	memset(l4, 0, length);
	l4[0] = t->version == 4 ? (reply ? 0 : 8) : (reply ? 129 : 128);
	gen_put_u16(l4 + 4, t->sport);
	gen_put_u16(l4 + 6, t->step);
	gen_put_checksum(frame, headers, length, 2, 1);
	return headers + length;
}

/* Packets of a connection: each doubling of the least number, up to the most, is as likely. */
static uint16_t
gen_random_packets(const struct options *o)
{
	unsigned long least = o->packets_least, most = o->packets_most;
	unsigned doublings = 0;

	if (most <= least)
		return (uint16_t)least;
	while (least << (doublings + 1) <= most)
		doublings++;
	least <<= gen_random_below(doublings + 1);
	return (uint16_t)(least + gen_random_below((2 * least <= most ? 2 * least : most + 1) - least));
}

static void
gen_connection_begin(struct gen_connection *t, const struct options *o)
{
	uint32_t kind = gen_random_below(100);

	*t = (struct gen_connection){
	    .client = 0x10000 + gen_random_below(1u << 20),
	    .server = 1 + gen_random_below(1000),
	    .seq = {(uint32_t)gen_random_u64(), (uint32_t)gen_random_u64()},
	    .sport = (uint16_t)(1024 + gen_random_below(64000)),
	    .dport = (uint16_t)("\x50\x16\x19\x35"[gen_random_below(4)]),
	    .protocol = kind < o->tcp ? 6 : kind < o->tcp + o->udp ? 17 : 1,
	    .version = gen_random_below(100) < o->ipv4 ? 4 : 6,
	    .packets = gen_random_packets(o),
	};
}

/* Bytes of payload of a frame that carries any. */
static size_t
gen_payload(const struct gen_connection *t, const struct options *o)
{
	size_t headers = (t->version == 4 ? 34u : 54u) + (t->protocol == 6 ? 32u : 8u);

	return o->frame == 0 ? o->payload : o->frame > headers ? o->frame - headers : 0;
}

/* A segment between handshake and close, with or without data. */
static size_t
gen_put_segment(uint8_t *frame, struct gen_connection *t, const struct options *o, unsigned long step, uint32_t clock)
{
	if (o->only_data)
		return gen_put_tcp(frame, t, step % 2 != 0, 0x18, gen_payload(t, o), clock);
	/* request, ACK, response, ACK */
	return gen_put_tcp(frame, t, step % 4 == 1 || step % 4 == 2, step % 2 != 0 ? 0x10 : 0x18,
			   step % 2 != 0 ? 0 : gen_payload(t, o), clock);
}

/* Packets of a TCP connection between handshake and close. */
static unsigned long
gen_segments(const struct gen_connection *t, const struct options *o)
{
	return o->packets_most != 0 && t->packets >= 7 ? t->packets - 7u : 4 * o->rounds;
}

/* The next packet of a connection.  Returns its length; 0 when the connection has ended. */
static size_t
gen_connection_next(uint8_t *frame, struct gen_connection *t, const struct options *o, uint32_t clock)
{
	unsigned long step = t->step++, segments = gen_segments(t, o);

	if (t->packets != 0 && step >= t->packets)
		return 0;
	if (t->protocol != 6) {
		if (o->packets_most == 0 && step >= 2 * o->rounds)
			return 0;
		return t->protocol == 17 ? gen_put_udp(frame, t, step % 2 != 0, gen_payload(t, o))
					 : gen_put_icmp(frame, t, step % 2 != 0, gen_payload(t, o));
	}
	if (step < 3) {
		static const uint8_t opening[3] = {0x02, 0x12, 0x10};

		return gen_put_tcp(frame, t, step == 1, opening[step], 0, clock);
	}
	step -= 3;
	if (step < segments)
		return gen_put_segment(frame, t, o, step, clock);
	step -= segments;
	if (step < 4) {
		static const uint8_t closing[4] = {0x11, 0x10, 0x11, 0x10};

		return gen_put_tcp(frame, t, step == 1 || step == 2, closing[step], 0, clock);
	}
	return 0;
}

static void
gen_write_frame(FILE *out, const uint8_t *frame, size_t length, uint64_t us)
{
	uint32_t header[4] = {(uint32_t)(us / 1000000), (uint32_t)(us % 1000000), (uint32_t)length, (uint32_t)length};

	fwrite(header, sizeof header, 1, out);
	fwrite(frame, length, 1, out);
}

static int
gen_write_trace(const struct options *o, FILE *out)
{
	static const uint32_t header[6] = {0xa1b2c3d4, 4u << 16 | 2, 0, 0, 262144, 1};
	struct gen_connection *connections = calloc(o->concurrent, sizeof *connections);
	static uint8_t frame[65536];
	uint64_t us = 1700000000000000;

	if (connections == NULL)
		return 1;
	fwrite(header, sizeof header, 1, out);
	for (unsigned long i = 0; i < o->concurrent; i++) {
		gen_connection_begin(&connections[i], o);
		connections[i].step = 0;
	}
	for (unsigned long n = 0; n < o->packets; n++) {
		struct gen_connection *t = &connections[gen_random_below(o->concurrent)];
		size_t length = gen_connection_next(frame, t, o, (uint32_t)(us / 1000));

		if (length == 0) {
			gen_connection_begin(t, o);
			length = gen_connection_next(frame, t, o, (uint32_t)(us / 1000));
		}
		gen_write_frame(out, frame, length, us);
		us += 1 + gen_random_below(3);
	}
	free(connections);
	return fflush(out) != 0 || ferror(out) != 0;
}

int
main(int argc, char **argv)
{
	struct options o = {.packets = 1000000, .concurrent = 10000, .payload = 58, .rounds = 10,
			    .ipv4 = 80, .tcp = 85, .udp = 13, .seed = 1};
	FILE *out;

	for (int c; (c = getopt(argc, argv, "n:c:l:f:ar:4:t:u:s:k:S")) != -1;) {
		char *end = "";
		unsigned long v = optarg != NULL ? strtoul(optarg, &end, 0) : 0;

		switch (c) {
		case 'n': o.packets = v; break;
		case 'c': o.concurrent = v; break;
		case 'l': o.payload = v < 60000 ? v : 60000; break;
		case 'r': o.rounds = v; break;
		case '4': o.ipv4 = v; break;
		case 't': o.tcp = v; break;
		case 'u': o.udp = v; break;
		case 's': o.seed = v; break;
		case 'f': o.frame = v < 60000 ? v : 60000; break;
		case 'a': o.only_data = true; break;
		case 'k':
			o.packets_least = v < UINT16_MAX ? v : UINT16_MAX;
			v = *end == '-' ? strtoul(end + 1, NULL, 0) : 0;
			o.packets_most = v < UINT16_MAX ? v : UINT16_MAX;
			break;
		case 'S':
			o.packets_least = 1;
			o.packets_most = 0;
			break;
		default: return 2;
		}
	}
	if (optind + 1 != argc || o.concurrent == 0 ||
	    (o.packets_most != 0 && (o.packets_least == 0 || o.packets_most < o.packets_least))) {
		fputs("usage: gentrace [-n packets] [-c concurrent] [-l payload] [-f frame] [-a] [-r rounds] "
		      "[-4 percent] [-t percent] [-u percent] [-s seed] [-k packets[-most]] [-S] FILE\n", stderr);
		return 2;
	}
	random_state = o.seed;
	out = fopen(argv[optind], "wb");
	if (out == NULL || gen_write_trace(&o, out) != 0 || fclose(out) != 0) {
		perror(argv[optind]);
		return 1;
	}
	return 0;
}
