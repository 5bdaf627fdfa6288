/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_duplicates.h"

#include <string.h>

/* The longest time from a packet to its duplicate, ns: with an identification, and without one. */
#define IDENTIFIED_NS 10000000u
#define PLAIN_NS      1000000u

/* More duplicates, or one that comes later, are packets of a sender that gives all of them one identification. */
#define COPIES_MAX 3u

/* FNV-1a, 64 bits. */
#define HASH_BEGIN 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

static uint64_t
report_duplicates_hash(uint64_t hash, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * HASH_PRIME;
	return hash;
}

static uint64_t
report_duplicates_mix(uint64_t hash, int64_t number)
{
	return report_duplicates_hash(hash, (const char *)&number, sizeof(number));
}

/* Hashes the text after the next field `from`, up to `until`. */
static uint64_t
report_duplicates_text(struct report_line *line, const char *from, const char *until, uint64_t hash)
{
	const char *end;

	if (!report_line_find(line, from))
		return hash;
	end = memmem(line->at, (size_t)(line->end - line->at), until, strlen(until));
	return report_duplicates_hash(hash, line->at, (size_t)((end != NULL ? end : line->end) - line->at));
}

/* Compares a packet with the latest one in its slot, and takes its place. */
static void
report_duplicates_compare(struct report_duplicates *duplicates, uint64_t hash, uint64_t time, uint64_t longest)
{
	struct report_latest *latest = &duplicates->latest[(hash ^ hash >> 32) % REPORT_LATEST];
	uint64_t distance = time > latest->time ? time - latest->time : latest->time - time;

	duplicates->packets++;
	if (latest->hash != hash) {
		latest->hash = hash;
		latest->copies = 0;
	} else if (latest->copies == COPIES_MAX || (latest->copies < COPIES_MAX && distance > longest)) {
		duplicates->copies -= latest->copies;
		latest->copies = COPIES_MAX + 1;
	} else if (latest->copies < COPIES_MAX) {
		latest->copies++;
		duplicates->copies++;
	}
	latest->time = time;
}

unsigned
report_duplicates_ip(struct report_duplicates *duplicates, struct report_line *line, uint64_t packet, uint64_t time)
{
	uint64_t hash = report_duplicates_text(line, "ip_ver", "\"ipv4_ident\"", HASH_BEGIN);
	int64_t identification = report_line_number(line, "ipv4_ident", -1);
	unsigned protocol;

	if (identification < 0)
		return (unsigned)report_line_number(line, "ipv6_nexthdr", 0);
	hash = report_duplicates_mix(hash, identification);
	hash = report_duplicates_mix(hash, report_line_number(line, "ipv4_offset", 0));
	protocol = (unsigned)report_line_number(line, "ipv4_protocol", 0);
	if (identification > 0) {
		duplicates->identified = packet;
		report_duplicates_compare(duplicates, report_duplicates_mix(hash, protocol), time, IDENTIFIED_NS);
	}
	return protocol;
}

/* Compares a packet by its addresses and the fields of its transport header, which begin with `from`. */
static void
report_duplicates_plain(struct report_duplicates *duplicates, struct report_line *line, const char *from)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	uint64_t time = (uint64_t)report_line_number(line, "pkt_ts", 0);
	uint64_t hash;

	if (packet == duplicates->identified)
		return;
	hash = report_duplicates_text(line, "ip_ver", "\"cs_cid\"", HASH_BEGIN);
	report_duplicates_compare(duplicates, report_duplicates_text(line, from, "}", hash), time, PLAIN_NS);
}

void
report_duplicates_segment(struct report_duplicates *duplicates, struct report_line *line)
{
	report_duplicates_plain(duplicates, line, "tcp_sport");
}

void
report_duplicates_datagram(struct report_duplicates *duplicates, struct report_line *line)
{
	report_duplicates_plain(duplicates, line, "udp_sport");
}
