/* SPDX-License-Identifier: BSD-2-Clause */
/* IP reassembly: fragments in every order, and every kind of invalid fragment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <pcap/pcap.h>

#include "flow/reassembly/reassembly.h"
#include "tests/flow/reassembly/packet_buffer.h"

#define SECOND 1000000000ull

enum { MF = 0x2000, UDP = 17, TCP = 6 };

struct loss {
	enum anomaly why;
	uint64_t ts;
	uint32_t id, held;
	unsigned fragments;
	uint8_t version;
	uint16_t offset;
};

struct bench {
	struct reassembly *r;
	struct reassembly_result result;
	struct packet_buffer raw;
	struct frame frame;
	struct packet packet;
	struct loss losses[64];
	unsigned lost;
	uint64_t now;
	uint8_t source[65536]; /* payload of the datagrams */
};

static void
note_loss(void *context, const struct packet *lost, unsigned fragments)
{
	struct bench *b = context;

	assert_ptr_equal(lost->frame->data, lost->ip.header.at);
	assert_true(lost->frame->caplen >= 20 && lost->frame->len >= lost->frame->caplen);
	assert_string_equal(lost->frame->interface->name, "test");
	assert_int_equal(lost->transport, TRANSPORT_NONE);
	assert_true(anomaly_has(&lost->anomalies, lost->worst_anomaly));
	if (b->lost < 64)
		b->losses[b->lost] = (struct loss){
			.why = lost->worst_anomaly,
			.ts = lost->frame->ts,
			.id = lost->ip.fragment_id,
			.held = lost->frame->len - lost->frame->caplen,
			.fragments = fragments,
			.version = lost->ip.version,
			.offset = lost->ip.fragment_offset,
		};
	b->lost++;
}

static struct bench *
fixture_new(const struct reassembly_limits *limits)
{
	struct bench *b = calloc(1, sizeof *b);

	assert_non_null(b);
	b->r = reassembly_new(limits, 42, note_loss, b);
	assert_non_null(b->r);
	b->now = 1000 * SECOND;
	for (uint32_t i = 0; i < sizeof b->source; i++)
		b->source[i] = (uint8_t)(i * 7 + (i >> 8));
	return b;
}

static int
setup(void **state)
{
	struct reassembly_limits limits = reassembly_limits_default();

	*state = fixture_new(&limits);
	return 0;
}

static int
setup_small(void **state)
{
	struct reassembly_limits limits = reassembly_limits_default();

	limits.datagrams = 8;
	limits.bytes = 64 << 10;
	limits.fragments = 16;
	*state = fixture_new(&limits);
	return 0;
}

static int
teardown(void **state)
{
	struct bench *b = *state;

	reassembly_free(b->r);
	free(b);
	return 0;
}

static enum reassembly_verdict
take(struct bench *b, uint32_t caplen)
{
	packet_dissect_truncated(&b->raw, caplen, b->now, &b->frame, &b->packet);
	assert_true(b->packet.ip.fragment);
	return reassembly_add(b->r, &b->packet, 0, b->now, &b->result);
}

/* Bytes [from, to) of datagram `id`, of which the capture holds `have`. */
static enum reassembly_verdict
give4_cut(struct bench *b, unsigned id, uint32_t from, uint32_t to, bool more, uint32_t have)
{
	b->raw.len = 0;
	packet_put_ipv4(&b->raw, 1, 2, UDP, id, (more ? MF : 0) | from / 8, to - from);
	packet_put_bytes(&b->raw, b->source + from, to - from);
	return take(b, 20 + have);
}

static enum reassembly_verdict
give4(struct bench *b, unsigned id, uint32_t from, uint32_t to, bool more)
{
	return give4_cut(b, id, from, to, more, to - from);
}

static enum reassembly_verdict
give6(struct bench *b, unsigned next, uint32_t id, uint32_t from, uint32_t to, bool more)
{
	b->raw.len = 0;
	packet_put_ipv6(&b->raw, 1, 2, 44, 8 + to - from);
	packet_put_ipv6_fragment(&b->raw, next, from / 8, more, id);
	packet_put_bytes(&b->raw, b->source + from, to - from);
	return take(b, b->raw.len);
}

static void
assert_whole(struct bench *b, enum reassembly_verdict verdict, uint32_t length, unsigned fragments)
{
	assert_int_equal(verdict, REASSEMBLY_COMPLETE);
	assert_int_equal(b->result.anomaly, ANOMALY_NONE);
	assert_int_equal(b->result.wire, length);
	assert_int_equal(b->result.captured, length);
	assert_int_equal(b->result.fragments, fragments);
	assert_memory_equal(b->result.bytes, b->source, length);
	assert_int_equal(b->result.first->fragment_offset, 0);
}

static void
assert_dropped(const struct bench *b, enum reassembly_verdict verdict, enum anomaly why)
{
	assert_int_equal(verdict, REASSEMBLY_DROPPED);
	assert_string_equal(anomaly_name(b->result.anomaly), anomaly_name(why));
}

static void
assert_empty(const struct bench *b)
{
	assert_int_equal(reassembly_counters(b->r)->datagrams, 0);
	assert_int_equal(reassembly_counters(b->r)->bytes, 0);
}

/* --- what should happen --- */

static void
in_order(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(give4(b, 7, i * 1480, (i + 1) * 1480, true), REASSEMBLY_HELD);
	assert_whole(b, give4(b, 7, 7 * 1480, 7 * 1480 + 333, false), 7 * 1480 + 333, 8);
	assert_empty(b);
	assert_int_equal(reassembly_counters(b->r)->completed, 1);
	assert_int_equal(reassembly_counters(b->r)->fragments, 8);
	assert_int_equal(b->lost, 0);
}

/* Five fragments in all 120 orders. */
static void
any_order(void **state)
{
	struct bench *b = *state;
	static const uint32_t edge[6] = {0, 8, 520, 1024, 4000, 4003};

	for (unsigned order = 0; order < 120; order++) {
		unsigned left[5] = {0, 1, 2, 3, 4}, code = order;

		for (unsigned n = 5; n > 0; n--) {
			unsigned pick = code % n, piece = left[pick];
			enum reassembly_verdict verdict;

			code /= n;
			memmove(left + pick, left + pick + 1, (n - pick - 1) * sizeof *left);
			verdict = give4(b, order, edge[piece], edge[piece + 1], piece < 4);
			if (n > 1)
				assert_int_equal(verdict, REASSEMBLY_HELD);
			else
				assert_whole(b, verdict, 4003, 5);
		}
	}
	assert_empty(b);
	assert_int_equal(reassembly_counters(b->r)->completed, 120);
}

static void
largest(void **state)
{
	struct bench *b = *state;

	for (uint32_t at = 0; at < 65000; at += 1000)
		assert_int_equal(give4(b, 1, at, at + 1000, true), REASSEMBLY_HELD);
	assert_whole(b, give4(b, 1, 65000, 65515, false), 65515, 66);
	for (uint32_t at = 0; at < 65000; at += 1000)
		assert_int_equal(give6(b, UDP, 1, at, at + 1000, true), REASSEMBLY_HELD);
	assert_whole(b, give6(b, UDP, 1, 65000, 65535, false), 65535, 66);
	assert_empty(b);
}

/* 256 fragments of 256 bytes, the last first. */
static void
most_fragments(void **state)
{
	struct bench *b = *state;

	for (uint32_t at = 255; at > 0; at--)
		assert_int_equal(give4(b, 1, at * 240, (at + 1) * 240, at < 255), REASSEMBLY_HELD);
	assert_whole(b, give4(b, 1, 0, 240, true), 256 * 240, 256);
	assert_empty(b);
}

/* One key differs from the other in one thing only. */
static void
keys_differ(void **state)
{
	struct bench *b = *state;
	struct packet first;

	assert_int_equal(give4(b, 1, 0, 80, true), REASSEMBLY_HELD);
	first = b->packet;
	assert_int_equal(give4(b, 2, 0, 80, true), REASSEMBLY_HELD);
	first.ip.protocol = TCP;
	assert_int_equal(reassembly_add(b->r, &first, 0, b->now, &b->result), REASSEMBLY_HELD);
	first.ip.protocol = UDP;
	assert_int_equal(reassembly_add(b->r, &first, 5, b->now, &b->result), REASSEMBLY_HELD);
	first.ip.src[0]++;
	assert_int_equal(reassembly_add(b->r, &first, 0, b->now, &b->result), REASSEMBLY_HELD);
	first.ip.src[0]--;
	first.ip.dst[3]++;
	assert_int_equal(reassembly_add(b->r, &first, 0, b->now, &b->result), REASSEMBLY_HELD);
	assert_int_equal(give6(b, UDP, 1, 0, 80, true), REASSEMBLY_HELD);
	assert_int_equal(reassembly_counters(b->r)->datagrams, 7);
	assert_int_equal(reassembly_counters(b->r)->duplicates, 0);
	assert_whole(b, give4(b, 1, 80, 99, false), 99, 2);
	assert_int_equal(reassembly_counters(b->r)->datagrams, 6);
}

/* RFC 8200 section 4.5: next headers may differ, and that of the first fragment counts. */
static void
ipv6_next_header(void **state)
{
	struct bench *b = *state;

	assert_int_equal(give6(b, 60, 9, 1000, 1500, false), REASSEMBLY_HELD);
	assert_whole(b, give6(b, UDP, 9, 0, 1000, true), 1500, 2);
	assert_int_equal(b->result.first->protocol, UDP);
	assert_int_equal(b->result.first->version, 6);
}

/* The first fragment's header is kept, whichever came first. */
static void
first_header(void **state)
{
	struct bench *b = *state;

	give4(b, 3, 800, 900, false);
	b->raw.len = 0;
	packet_put_ipv4(&b->raw, 1, 2, UDP, 3, MF, 800);
	b->raw.bytes[8] = 33; /* time to live */
	packet_put_bytes(&b->raw, b->source, 800);
	assert_whole(b, take(b, b->raw.len), 900, 2);
	assert_int_equal(b->result.first->ttl, 33);
	memset(b->raw.bytes, 0, 40);
	assert_int_equal(slice_u8(b->result.first->header, 8), 33);
}

/* --- duplicates, overlaps, ends --- */

static void
duplicate(void **state)
{
	struct bench *b = *state;

	assert_int_equal(give4(b, 1, 0, 800, true), REASSEMBLY_HELD);
	assert_int_equal(give4(b, 1, 0, 800, true), REASSEMBLY_HELD);
	assert_int_equal(give4(b, 1, 1600, 1700, false), REASSEMBLY_HELD);
	assert_int_equal(give4(b, 1, 1600, 1700, false), REASSEMBLY_HELD);
	assert_int_equal(give4(b, 1, 0, 800, true), REASSEMBLY_HELD);
	assert_int_equal(reassembly_counters(b->r)->duplicates, 3);
	assert_whole(b, give4(b, 1, 800, 1600, true), 1700, 3);
}

/* A discarded datagram stays discarded until its timeout, whatever arrives; then the identification is free again. */
static void
assert_stays_discarded(struct bench *b, unsigned id, enum anomaly why)
{
	assert_int_equal(reassembly_counters(b->r)->bytes, 0);
	assert_int_equal(reassembly_counters(b->r)->datagrams, 1);
	assert_dropped(b, give4(b, id, 0, 8000, true), why);
	assert_dropped(b, give4(b, id, 8000, 8100, false), why);
	assert_int_equal(reassembly_counters(b->r)->discarded, 2);
	b->now += 30 * SECOND - 1;
	assert_dropped(b, give4(b, id, 0, 8, true), why);
	b->now++;
	assert_int_equal(give4(b, id, 0, 80, true), REASSEMBLY_HELD);
	assert_whole(b, give4(b, id, 80, 100, false), 100, 2);
	assert_int_equal(b->lost, 0); /* it was reported when it was discarded */
	assert_int_equal(reassembly_counters(b->r)->timeouts, 0);
}

static void
overlap_before(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 800, 1600, true);
	assert_dropped(b, give4(b, 1, 0, 808, true), ANOMALY_FRAGMENT_OVERLAP);
	assert_int_equal(reassembly_counters(b->r)->overlaps, 1);
	assert_stays_discarded(b, 1, ANOMALY_FRAGMENT_OVERLAP);
}

static void
overlap_after(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 0, 808, true);
	assert_dropped(b, give4(b, 1, 800, 1600, true), ANOMALY_FRAGMENT_OVERLAP);
	assert_stays_discarded(b, 1, ANOMALY_FRAGMENT_OVERLAP);
}

static void
overlap_inside(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 0, 800, true);
	assert_dropped(b, give4(b, 1, 80, 160, true), ANOMALY_FRAGMENT_OVERLAP);
	give4(b, 2, 80, 160, true);
	assert_dropped(b, give4(b, 2, 0, 800, true), ANOMALY_FRAGMENT_OVERLAP);
	give4(b, 3, 80, 160, true);
	assert_dropped(b, give4(b, 3, 80, 168, true), ANOMALY_FRAGMENT_OVERLAP);
	give6(b, UDP, 3, 80, 160, true);
	assert_dropped(b, give6(b, UDP, 3, 80, 168, true), ANOMALY_FRAGMENT_OVERLAP);
	assert_int_equal(reassembly_counters(b->r)->overlaps, 4);
	assert_int_equal(reassembly_counters(b->r)->bytes, 0);
}

/* The same offset and length, but other bytes. */
static void
duplicate_differs(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 0, 808, true);
	b->source[807] ^= 1;
	assert_dropped(b, give4(b, 1, 0, 808, true), ANOMALY_FRAGMENT_OVERLAP);
	assert_stays_discarded(b, 1, ANOMALY_FRAGMENT_OVERLAP);
}

static void
two_ends(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 800, 900, false);
	assert_dropped(b, give4(b, 1, 1600, 1700, false), ANOMALY_FRAGMENT_END);
	assert_int_equal(reassembly_counters(b->r)->end_conflicts, 1);
	assert_stays_discarded(b, 1, ANOMALY_FRAGMENT_END);
}

static void
after_the_end(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 800, 904, false);
	assert_dropped(b, give4(b, 1, 904, 912, true), ANOMALY_FRAGMENT_END);
	give4(b, 2, 1600, 1608, true);
	assert_dropped(b, give4(b, 2, 800, 900, false), ANOMALY_FRAGMENT_END);
	give4(b, 3, 800, 904, false);
	assert_dropped(b, give4(b, 3, 800, 904, true), ANOMALY_FRAGMENT_END);
	assert_int_equal(reassembly_counters(b->r)->end_conflicts, 3);
}

/* --- fragments of no datagram --- */

static void
refused(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 0, 80, true);
	assert_dropped(b, give4(b, 1, 80, 80, true), ANOMALY_FRAGMENT_EMPTY);
	assert_dropped(b, give4(b, 1, 80, 80, false), ANOMALY_FRAGMENT_EMPTY);
	assert_dropped(b, give6(b, UDP, 1, 80, 80, true), ANOMALY_FRAGMENT_EMPTY);
	assert_dropped(b, give4(b, 1, 80, 87, true), ANOMALY_FRAGMENT_UNALIGNED);
	assert_dropped(b, give6(b, UDP, 1, 80, 87, true), ANOMALY_FRAGMENT_UNALIGNED);
	assert_dropped(b, give4(b, 1, 65512, 65516, false), ANOMALY_FRAGMENT_TOO_LONG); /* with its header, 65536 */
	assert_dropped(b, give6(b, UDP, 1, 65528, 65536, false), ANOMALY_FRAGMENT_TOO_LONG);
	assert_int_equal(reassembly_counters(b->r)->refused, 7);
	assert_int_equal(reassembly_counters(b->r)->datagrams, 1);
	assert_whole(b, give4(b, 1, 80, 90, false), 90, 2);
}

/* RFC 8200 section 4.5 counts the extension headers in front of the fragment header, too. */
static void
too_long_with_extensions(void **state)
{
	struct bench *b = *state;

	for (unsigned endpoint = 65527; endpoint <= 65528; endpoint++) {
		b->raw.len = 0;
		packet_put_ipv6(&b->raw, 1, 2, 60, 8 + 8 + endpoint - 65520);
		packet_put_u32(&b->raw, 0x2c000104); /* destination options: PadN; a fragment header is next */
		packet_put_u32(&b->raw, 0);
		packet_put_ipv6_fragment(&b->raw, UDP, 65520 / 8, false, 1);
		packet_put_bytes(&b->raw, b->source, endpoint - 65520);
		if (endpoint == 65527)
			assert_int_equal(take(b, b->raw.len), REASSEMBLY_HELD);
		else
			assert_dropped(b, take(b, b->raw.len), ANOMALY_FRAGMENT_TOO_LONG);
	}
}

/* A packet that IP drops for another reason is not a fragment. */
static void
dropped_before(void **state)
{
	struct bench *b = *state;

	b->raw.len = 0;
	packet_put_ipv4(&b->raw, 1, 2, UDP, 1, MF, 80);
	b->raw.bytes[12] = 224;
	packet_put_bytes(&b->raw, b->source, 80);
	assert_dropped(b, take(b, b->raw.len), ANOMALY_IPV4_SOURCE);
	assert_empty(b);
}

/* --- time --- */

static void
timeouts(void **state)
{
	struct bench *b = *state;
	uint64_t start = b->now;

	give6(b, UDP, 6, 0, 80, true); /* due at +60 */
	b->now = start + 10 * SECOND;
	give4(b, 4, 80, 160, true); /* due at +40 */
	b->now = start + 20 * SECOND;
	give4(b, 5, 0, 80, true); /* due at +50 */
	give4(b, 4, 0, 80, true); /* no reprieve */
	b->now = start + 30 * SECOND;
	give4(b, 7, 80, 160, true); /* due at +60 */

	reassembly_run_timers(b->r, start + 40 * SECOND - 1);
	assert_int_equal(b->lost, 0);
	reassembly_run_timers(b->r, start + 40 * SECOND);
	assert_int_equal(b->lost, 1);
	assert_int_equal(b->losses[0].why, ANOMALY_FRAGMENT_TIMEOUT);
	assert_int_equal(b->losses[0].id, 4);
	assert_int_equal(b->losses[0].fragments, 2);
	assert_int_equal(b->losses[0].held, 160);
	assert_int_equal(b->losses[0].offset, 0); /* the fragment at offset 0, though it came second */
	assert_true(b->losses[0].ts == start + 40 * SECOND);

	reassembly_run_timers(b->r, start + 1000 * SECOND);
	assert_int_equal(b->lost, 4);
	assert_int_equal(b->losses[1].id, 5);
	assert_true(b->losses[1].ts == start + 50 * SECOND);
	assert_true(b->losses[2].ts == start + 60 * SECOND && b->losses[3].ts == start + 60 * SECOND);
	assert_int_equal(b->losses[2].version, 4);
	assert_int_equal(b->losses[2].offset, 10);
	assert_int_equal(b->losses[3].version, 6);
	assert_int_equal(reassembly_counters(b->r)->timeouts, 4);
	assert_empty(b);
}

/* Timers that are due run before a fragment is processed. */
static void
too_late(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 0, 80, true);
	b->now += 30 * SECOND;
	assert_int_equal(give4(b, 1, 80, 100, false), REASSEMBLY_HELD);
	assert_int_equal(b->lost, 1);
	assert_whole(b, give4(b, 1, 0, 80, true), 100, 2);
}

static void
end_of_time(void **state)
{
	struct bench *b = *state;

	b->now = UINT64_MAX - 5;
	give4(b, 1, 0, 80, true);
	reassembly_run_timers(b->r, UINT64_MAX - 1);
	assert_int_equal(b->lost, 0);
	assert_whole(b, give4(b, 1, 80, 100, false), 100, 2);
}

/* --- bounds --- */

static void
too_many_datagrams(void **state)
{
	struct bench *b = *state;

	for (unsigned id = 0; id < 8; id++) {
		b->now++;
		if (id % 2 == 0)
			give4(b, id, 0, 80, true);
		else
			give6(b, UDP, id, 0, 80, true);
	}
	assert_int_equal(b->lost, 0);
	give4(b, 100, 0, 80, true);
	give4(b, 101, 0, 80, true);
	assert_int_equal(b->lost, 2);
	assert_int_equal(b->losses[0].id, 0);
	assert_int_equal(b->losses[1].id, 1);
	assert_int_equal(b->losses[0].why, ANOMALY_FRAGMENT_LIMIT);
	assert_int_equal(reassembly_counters(b->r)->datagrams, 8);
	assert_int_equal(reassembly_counters(b->r)->evicted, 2);
	assert_whole(b, give4(b, 2, 80, 100, false), 100, 2);
}

/* 64 KiB for all: the third datagram of 30000 bytes evicts the first, and then is complete. */
static void
too_many_bytes(void **state)
{
	struct bench *b = *state;

	for (unsigned id = 1; id <= 3; id++)
		for (unsigned part = 0; part < 3; part++)
			assert_int_equal(give4(b, id, part * 10000, part * 10000 + 10000, true), REASSEMBLY_HELD);
	assert_int_equal(b->lost, 1);
	assert_int_equal(b->losses[0].id, 1);
	assert_int_equal(b->losses[0].held, 30000);
	assert_true(reassembly_counters(b->r)->bytes <= 64 << 10);
	assert_whole(b, give4(b, 3, 30000, 30100, false), 30100, 4);
	assert_whole(b, give4(b, 2, 30000, 30100, false), 30100, 4);
}

/* If the oldest datagram itself needs memory, it is evicted. */
static void
no_room_for_the_oldest(void **state)
{
	struct bench *b = *state;

	give4(b, 1, 0, 10000, true);
	for (unsigned part = 0; part < 5; part++)
		give4(b, 2, part * 10000, part * 10000 + 10000, true);
	assert_dropped(b, give4(b, 1, 10000, 20000, true), ANOMALY_FRAGMENT_LIMIT);
	assert_int_equal(reassembly_counters(b->r)->evicted, 1);
	assert_int_equal(b->lost, 0); /* the fragment itself is the reason */
	assert_whole(b, give4(b, 2, 50000, 50100, false), 50100, 6);
	assert_dropped(b, give4(b, 1, 20000, 30000, true), ANOMALY_FRAGMENT_LIMIT);
}

static void
too_many_fragments(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(give4(b, 1, i * 16, i * 16 + 8, true), REASSEMBLY_HELD);
	assert_dropped(b, give4(b, 1, 1600, 1608, true), ANOMALY_FRAGMENT_LIMIT);
	assert_int_equal(reassembly_counters(b->r)->too_many_fragments, 1);
	assert_stays_discarded(b, 1, ANOMALY_FRAGMENT_LIMIT);
}

/* A hundred thousand fragments of datagrams that are never complete, and a datagram after them. */
static void
flood(void **state)
{
	struct bench *b = *state;
	const struct reassembly_counters *c = reassembly_counters(b->r);

	for (unsigned i = 0; i < 100000; i++) {
		b->now += 1000;
		assert_int_equal(give4(b, i & 0xffff, i % 61 * 8 + 8, i % 61 * 8 + 16, true), REASSEMBLY_HELD);
		assert_true(c->datagrams <= 4096 && c->bytes <= 4 << 20);
	}
	assert_int_equal(c->evicted, 100000 - 4096);
	assert_int_equal(b->lost, 100000 - 4096);
	for (unsigned i = 0; i < 7; i++)
		give6(b, UDP, 7, i * 1480, (i + 1) * 1480, true);
	assert_whole(b, give6(b, UDP, 7, 7 * 1480, 7 * 1480 + 333, false), 7 * 1480 + 333, 8);
	reassembly_clear(b->r);
	assert_empty(b);
	give4(b, 1, 0, 80, true);
	assert_whole(b, give4(b, 1, 80, 100, false), 100, 2);
}

static void
limits_are_checked(void **state)
{
	struct reassembly_limits limits;
	struct reassembly *r;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		limits = reassembly_limits_default();
		switch (i) {
		case 0:
			limits.datagrams = 0;
			break;
		case 1:
			limits.datagrams = 65535;
			break;
		case 2:
			limits.bytes = 65535;
			break;
		case 3:
			limits.bytes = 64 << 20;
			break;
		case 4:
			limits.fragments = 1;
			break;
		default:
			limits.fragments = 8193;
			break;
		}
		errno = 0;
		assert_null(reassembly_new(&limits, 1, note_loss, NULL));
		assert_int_equal(errno, EINVAL);
	}
	limits = reassembly_limits_default();
	assert_true(reassembly_memory_size(&limits) > 4 << 20 && reassembly_memory_size(&limits) < 10 << 20);
	r = reassembly_new(&limits, 1, NULL, NULL);
	assert_non_null(r);
	reassembly_free(r);
	reassembly_free(NULL);
}

/* --- cut by the capture --- */

static void
cut_fragments(void **state)
{
	struct bench *b = *state;

	give4_cut(b, 1, 0, 800, true, 800);
	give4_cut(b, 1, 1600, 1700, false, 10);
	assert_int_equal(give4_cut(b, 1, 800, 1600, true, 76), REASSEMBLY_COMPLETE);
	assert_int_equal(b->result.wire, 1700);
	assert_int_equal(b->result.captured, 876);
	assert_memory_equal(b->result.bytes, b->source, 876);
	give4_cut(b, 2, 0, 800, true, 0);
	assert_int_equal(give4(b, 2, 800, 900, false), REASSEMBLY_COMPLETE);
	assert_int_equal(b->result.captured, 0);
	assert_int_equal(reassembly_counters(b->r)->incomplete, 2);
	/* A duplicate agrees in the bytes that both have captured. */
	give4_cut(b, 3, 0, 800, true, 80);
	assert_int_equal(give4(b, 3, 0, 800, true), REASSEMBLY_HELD);
	b->source[81] ^= 1;
	assert_int_equal(give4_cut(b, 3, 0, 800, true, 800), REASSEMBLY_HELD);
	b->source[79] ^= 1;
	assert_dropped(b, give4_cut(b, 3, 0, 800, true, 800), ANOMALY_FRAGMENT_OVERLAP);
}

/* --- the whole packet --- */

static void
put_udp(struct bench *b, uint32_t length, uint64_t pseudo)
{
	struct packet_buffer udp = {.len = 0};

	packet_put_u16(&udp, 1111);
	packet_put_u16(&udp, 2222);
	packet_put_u16(&udp, length);
	packet_put_u16(&udp, 0);
	memcpy(b->source, udp.bytes, 8);
	pseudo += slice_checksum((struct slice){b->source, length}) + length + UDP;
	while (pseudo > 0xffff)
		pseudo = (pseudo & 0xffff) + (pseudo >> 16);
	b->source[6] = (uint8_t)(~pseudo >> 8);
	b->source[7] = (uint8_t)~pseudo;
}

static void
whole_packet(struct bench *b, struct packet *whole)
{
	dissect_reassembled(&b->packet, b->result.first, b->result.bytes, b->result.captured, b->result.wire, whole);
}

static void
whole_udp(void **state)
{
	struct bench *b = *state;
	struct packet whole;

	put_udp(b, 2000, 0x0a00 + 1 + 0x0a00 + 2);
	give4(b, 1, 1600, 2000, false);
	assert_whole(b, give4(b, 1, 0, 1600, true), 2000, 2);
	whole_packet(b, &whole);
	assert_int_equal(whole.worst_anomaly, ANOMALY_NONE);
	assert_int_equal(whole.network, NETWORK_IPV4);
	assert_int_equal(whole.transport, TRANSPORT_UDP);
	assert_int_equal(whole.udp.dport, 2222);
	assert_int_equal(whole.payload_wire, 1992);
	assert_int_equal(whole.payload.captured, 1992);
	assert_int_equal(whole.ip.length, 2020);
	assert_int_equal(whole.ip.total_length, 2020);
	assert_int_equal(whole.ip.payload_len, 2000);
	assert_int_equal(whole.ip.flags, 0);
	assert_false(whole.ip.fragment || whole.ip.more_fragments);
	assert_ptr_equal(whole.frame, &b->frame);
	assert_int_equal(checksum_verify(&whole), CHECKSUM_OK);
}

/* Destination options after the fragment header are part of what was fragmented. */
static void
whole_ipv6_options(void **state)
{
	struct bench *b = *state;
	struct packet whole;

	put_udp(b, 1200, 0xfd00 + 1 + 0xfd00 + 2);
	memmove(b->source + 8, b->source, 1200);
	memcpy(b->source, "\x11\x00\x01\x04\x00\x00\x00\x00", 8); /* PadN, UDP is next */
	give6(b, 60, 1, 0, 8, true);
	give6(b, 60, 1, 8, 800, true);
	assert_whole(b, give6(b, 60, 1, 800, 1208, false), 1208, 3);
	whole_packet(b, &whole);
	assert_int_equal(whole.worst_anomaly, ANOMALY_NONE);
	assert_int_equal(whole.transport, TRANSPORT_UDP);
	assert_int_equal(whole.ip.protocol, UDP);
	assert_int_equal(whole.ip.payload_len, 1208);
	assert_int_equal(whole.ip.payload_length, 1208);
	assert_int_equal(whole.ip.length, 1248);
	assert_int_equal(checksum_verify(&whole), CHECKSUM_OK);
}

static void
whole_cut(void **state)
{
	struct bench *b = *state;
	struct packet whole;

	put_udp(b, 2000, 0);
	give4_cut(b, 1, 0, 1600, true, 6);
	give4(b, 1, 1600, 2000, false);
	whole_packet(b, &whole);
	assert_int_equal(whole.transport, TRANSPORT_NONE);
	assert_int_equal(whole.worst_anomaly, ANOMALY_TRUNCATED_TRANSPORT);
	give4_cut(b, 2, 0, 1600, true, 100);
	give4(b, 2, 1600, 2000, false);
	whole_packet(b, &whole);
	assert_int_equal(whole.transport, TRANSPORT_UDP);
	assert_int_equal(whole.payload_wire, 1992);
	assert_int_equal(whole.payload.captured, 92);
	assert_int_equal(checksum_verify(&whole), CHECKSUM_UNVERIFIED);
}

/* A fragment header inside the fragmented part is not reassembled. */
static void
whole_of_fragments(void **state)
{
	struct bench *b = *state;
	struct packet whole;

	memcpy(b->source, "\x11\x00\x00\x01\x00\x00\x00\x07", 8);
	give6(b, 44, 1, 0, 80, true);
	assert_whole(b, give6(b, 44, 1, 80, 100, false), 100, 2);
	whole_packet(b, &whole);
	assert_int_equal(whole.transport, TRANSPORT_NONE);
}

/* --- captures --- */

struct totals {
	unsigned fragments, whole, transports, sound; /* the transport checksum is right */
	uint64_t bytes;
};

static bool
replay(const char *path, struct totals *totals)
{
	static const struct interface interface = {.name = "file"};
	struct reassembly_limits limits = reassembly_limits_default();
	struct reassembly *r = reassembly_new(&limits, 1, NULL, NULL);
	struct reassembly_result result;
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	pcap_t *capture = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);

	*totals = (struct totals){0};
	assert_non_null(r);
	while (capture != NULL && pcap_next_ex(capture, &header, &bytes) == 1) {
		struct frame frame = {
			.data = bytes,
			.interface = &interface,
			.ts = (uint64_t)header->ts.tv_sec * SECOND + (uint64_t)header->ts.tv_usec,
			.caplen = header->caplen,
			.len = header->len,
			.dlt = pcap_datalink(capture),
		};
		struct packet packet, whole;

		dissect_frame(&frame, &packet);
		if ((packet.network != NETWORK_IPV4 && packet.network != NETWORK_IPV6) || !packet.ip.fragment)
			continue;
		totals->fragments++;
		if (reassembly_add(r, &packet, 0, frame.ts, &result) != REASSEMBLY_COMPLETE)
			continue;
		totals->whole++;
		totals->bytes += result.wire;
		dissect_reassembled(&packet, result.first, result.bytes, result.captured, result.wire, &whole);
		totals->transports += whole.transport != TRANSPORT_NONE;
		totals->sound += whole.transport != TRANSPORT_NONE && checksum_verify(&whole) == CHECKSUM_OK;
	}
	if (capture != NULL)
		pcap_close(capture);
	reassembly_free(r);
	return capture != NULL;
}

static void
fragment_captures(void **state)
{
	static const struct {
		const char *name;
		struct totals want;
	} captures[] = {
		{"ipv4-fragments.pcap", {3, 1, 1, 1, 4060}},
		{"raw-ipv4-fragments.pcap", {3, 1, 1, 1, 24}},
		{"raw-ipv6-fragments.pcap", {3, 1, 1, 1, 1020}},
		{"PcapPlusPlus/ip6_fragments.pcap", {36, 4, 4, 4, 741 + 1452 + 1003 + 786}},
		{"PcapPlusPlus/ipv6-frag.pcap", {4, 1, 1, 1, 5387}},
		{"PcapPlusPlus/ipv6_opt_fragments.pcap", {4, 1, 1, 1, 5387}},
		{"suricata-verify/input-20.pcap", {2, 1, 0, 0, 32}},
	};
	const char *top = getenv("top_srcdir");
	char path[4096];

	(void)state;
	for (unsigned i = 0; i < sizeof captures / sizeof *captures; i++) {
		struct totals got;

		snprintf(path, sizeof path, "%s/tests/captures/%s", top != NULL ? top : ".", captures[i].name);
		assert_true(replay(path, &got));
		assert_memory_equal(&got, &captures[i].want, sizeof got);
	}
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
#define test_small(function) cmocka_unit_test_setup_teardown(function, setup_small, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		test(in_order),
		test(any_order),
		test(largest),
		test(most_fragments),
		test(keys_differ),
		test(ipv6_next_header),
		test(first_header),
		test(duplicate),
		test(overlap_before),
		test(overlap_after),
		test(overlap_inside),
		test(duplicate_differs),
		test(two_ends),
		test(after_the_end),
		test(refused),
		test(too_long_with_extensions),
		test(dropped_before),
		test(timeouts),
		test(too_late),
		test(end_of_time),
		test_small(too_many_datagrams),
		test_small(too_many_bytes),
		test_small(no_room_for_the_oldest),
		test_small(too_many_fragments),
		test(flood),
		cmocka_unit_test(limits_are_checked),
		test(cut_fragments),
		test(whole_udp),
		test(whole_ipv6_options),
		test(whole_cut),
		test(whole_of_fragments),
		cmocka_unit_test(fragment_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
