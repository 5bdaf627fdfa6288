/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traffic of attacks and overload, as a capture on standard output:
 *
 *	overload_traffic fragments COUNT	fragments of datagrams that are never complete
 *	overload_traffic collisions COUNT	SYNs whose addresses and ports have one sum and one exclusive or
 *	overload_traffic random COUNT		frames of random bytes, 1000 each
 *	overload_traffic mixed SECONDS		a steady load: connections that come and go, streams, fragments, garbage
 *	overload_traffic syn COUNT		SYNs, each with its own tuple
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ETHERNET 14u
#define IPV4	 20u
#define TCP	 20u

static uint64_t state = 1;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t
overload_random_u64(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void
overload_put_u16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void
overload_put_u32(uint8_t *to, uint32_t value)
{
	overload_put_u16(to, value >> 16);
	overload_put_u16(to + 2, value);
}

static void
write_header(void)
{
	const uint32_t header[6] = {0xa1b23c4d, 2 | 4u << 16, 0, 0, 65535, 1}; /* nanoseconds, Ethernet */

	fwrite(header, sizeof header, 1, stdout);
}

static void
write_frame(uint64_t ns, const uint8_t *frame, uint32_t length)
{
	const uint32_t record[4] = {1700000000u + (uint32_t)(ns / 1000000000u), (uint32_t)(ns % 1000000000u), length,
				    length};

	if (fwrite(record, sizeof record, 1, stdout) != 1 || fwrite(frame, length, 1, stdout) != 1)
		exit(EXIT_FAILURE); /* the reader has gone */
}

/* Ethernet and IPv4 in front of `payload` bytes that are there already. */
static uint32_t
put_ipv4(uint8_t *frame, uint32_t from, uint32_t to, uint8_t protocol, uint32_t payload)
{
	uint8_t *ip = frame + ETHERNET;

	memset(frame, 0, ETHERNET + IPV4);
	frame[0] = frame[6] = 2;
	overload_put_u16(frame + 12, 0x0800);
	ip[0] = 0x45;
	overload_put_u16(ip + 2, IPV4 + payload);
	ip[8] = 64;
	ip[9] = protocol;
	overload_put_u32(ip + 12, from);
	overload_put_u32(ip + 16, to);
	return ETHERNET + IPV4 + payload;
}

static void
set_checksum(uint8_t *frame)
{
	uint8_t *ip = frame + ETHERNET;
	uint32_t sum = 0;

	for (unsigned i = 0; i < IPV4; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum >> 16) + (sum & 0xffff);
	overload_put_u16(ip + 10, ~(sum + (sum >> 16)) & 0xffff);
}

static uint32_t
overload_write_tcp(uint8_t *frame, uint32_t from, uint32_t to, uint16_t sport, uint16_t dport, uint8_t flags)
{
	uint8_t *segment = frame + ETHERNET + IPV4;

	memset(segment, 0, TCP);
	overload_put_u16(segment, sport);
	overload_put_u16(segment + 2, dport);
	overload_put_u32(segment + 4, (uint32_t)overload_random_u64());
	segment[12] = 0x50;
	segment[13] = flags;
	overload_put_u16(segment + 14, 65535);
	(void)put_ipv4(frame, from, to, 6, TCP);
	set_checksum(frame);
	return ETHERNET + IPV4 + TCP;
}

static uint32_t
overload_write_fragment(uint8_t *frame)
{
	uint64_t dice = overload_random_u64();
	uint32_t length = put_ipv4(frame, 0x0a000000u | (uint32_t)(dice & 0xffff), 0x0a010001u, 17, 1024);

	overload_put_u16(frame + ETHERNET + 4, (uint32_t)(dice >> 16));
	/* More fragments; anywhere but at the end. */
	overload_put_u16(frame + ETHERNET + 6, 0x2000u | ((uint32_t)(dice >> 32) % 50u * 128u));
	set_checksum(frame);
	return length;
}

static void
overload_write_fragments(unsigned long count)
{
	static uint8_t frame[2048];

	for (unsigned long i = 0; i < count; i++)
		write_frame(i * 1000, frame, overload_write_fragment(frame));
}

/* A hash that adds or mixes without a secret maps all of these to one slot. */
static void
overload_write_collisions(unsigned long count)
{
	uint8_t frame[128];

	for (unsigned long i = 0; i < count; i++) {
		uint32_t bits = (uint32_t)i;
		uint16_t port = (uint16_t)(bits & 0x7fff), other = (uint16_t)(0x7fff - port);

		write_frame(
		    i * 1000, frame,
		    overload_write_tcp(frame, 0x0a000000u + (bits >> 15), 0x0affffffu - (bits >> 15), port, other, 2));
	}
}

static void
random_bytes(unsigned long count)
{
	static uint8_t frame[1000];

	for (unsigned long i = 0; i < count; i++) {
		for (size_t at = 0; at < sizeof frame; at += 8) {
			uint64_t bits = overload_random_u64();

			memcpy(frame + at, &bits, 8);
		}
		/* Half of them have the header of a known protocol, so that they are parsed. */
		if (i % 2 == 0) {
			static const uint16_t types[] = {0x0800, 0x86dd, 0x0806, 0x8100, 0x8847, 0x8864};

			overload_put_u16(frame + 12, types[i / 2 % (sizeof types / sizeof types[0])]);
			if (i % 4 == 0)
				frame[14] = frame[13] == 0xdd ? 0x60 : 0x45;
		}
		write_frame(i * 1000, frame, sizeof frame);
	}
}

static void
overload_write_syns(unsigned long count)
{
	uint8_t frame[128];

	for (unsigned long i = 0; i < count; i++)
		write_frame(i * 1000, frame,
			    overload_write_tcp(frame, 0x0b000000u | (uint32_t)(i & 0xffffff), 0x0a000001u,
					       (uint16_t)(1024 + (i >> 24)), 80, 2));
}

/* 10,000 frames a second of capture time. */
static void
overload_write_mixed(unsigned long seconds)
{
	static uint8_t frame[2048];

	for (unsigned long i = 0; i < seconds * 10000; i++) {
		uint32_t host = 0x0a000000u | (uint32_t)(i / 5 % 100000);
		uint16_t port = (uint16_t)(1024 + i / 5 % 60000);
		uint32_t length = 0;

		switch (i % 5) {
		case 0:
			length = overload_write_tcp(frame, host, 0x0a010001u, port, 80, 0x02);
			break;
		case 1:
			length = overload_write_tcp(frame, 0x0a010001u, host, 80, port, 0x12);
			break;
		case 2:
			length = overload_write_tcp(frame, host, 0x0a010001u, port, 80, 0x11);
			break;
		case 3:
			length = overload_write_fragment(frame);
			break;
		default:
			length =
			    put_ipv4(frame, host, (uint32_t)overload_random_u64(), (uint8_t)(i % 3 == 0 ? 17 : i), 100);
			break;
		}
		write_frame(i * 100000, frame, length);
	}
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *what;
		void (*write)(unsigned long count);
	} kinds[] = {{"fragments", overload_write_fragments},
		     {"collisions", overload_write_collisions},
		     {"random", random_bytes},
		     {"syn", overload_write_syns},
		     {"mixed", overload_write_mixed}};

	for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strcmp(argv[1], kinds[i].what) == 0) {
			write_header();
			kinds[i].write(strtoul(argv[2], NULL, 10));
			return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
		}
	}
	fputs("usage: overload_traffic fragments|collisions|random|syn|mixed COUNT\n", stderr);
	return EXIT_FAILURE;
}
