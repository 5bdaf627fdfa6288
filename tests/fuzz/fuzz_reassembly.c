/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any fragments in any order.  The first byte chooses how the rest is read: odd, as fragments of four datagrams of each
 * IP version, 5 bytes each, whose bytes follow from their offset, so that a complete datagram can be checked; even, as
 * raw IP frames, each after one byte of length.
 */
#include "flow/reassembly/reassembly_internal.h"
#include "tests/flow/reassembly/packet_buffer.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECOND 1000000000ull

static uint64_t clock_ns, last_loss;
static bool known; /* every byte so far followed from its place */

static void
note_loss(void *context, const struct packet *lost, unsigned fragments)
{
	(void)context;
	must(fragments >= 1 && lost->frame->caplen == lost->ip.header.len);
	must(lost->worst_anomaly == ANOMALY_FRAGMENT_TIMEOUT || lost->worst_anomaly == ANOMALY_FRAGMENT_LIMIT);
	must(lost->frame->ts <= clock_ns);
	if (lost->worst_anomaly == ANOMALY_FRAGMENT_TIMEOUT) {
		must(lost->frame->ts >= last_loss);
		last_loss = lost->frame->ts;
	}
}

/* The fragments are in order, do not overlap and add up. */
static void
check_fragments(const struct reassembly *r, const struct datagram *d)
{
	uint32_t end = 0, held = 0, count = 0;

	for (uint16_t at = d->head; at != 0; at = r->fragments[at].next) {
		const struct stored_fragment *fragment = &r->fragments[at];

		must(fragment->start * 8u >= end && fragment->captured <= fragment->length && fragment->length > 0);
		end = fragment->start * 8u + fragment->length;
		held += fragment->length;
		count++;
		if (at == d->tail)
			break;
	}
	must(end == d->end && held == d->bytes_held && count == d->count);
	must(end <= DATAGRAM_MAX && (d->total == 0 || end <= d->total));
	must(count <= r->limits.fragments);
	must(d->total == 0 || held < d->total);
}

static void
check_all(const struct reassembly *r)
{
	uint32_t slots = 0, blocks = 0, pieces = 0;

	for (unsigned version = 0; version < 2; version++) {
		uint64_t since = 0;

		for (uint16_t at = r->fifo[version].head; at != 0; at = r->datagrams[at].next) {
			const struct datagram *d = &r->datagrams[at];
			uint32_t used = 0;

			must(d->first_seen >= since && d->first_seen <= clock_ns);
			since = d->first_seen;
			for (unsigned i = 0; i < DATAGRAM_BLOCKS; i++)
				used += d->block[i] != 0;
			must(used == d->blocks);
			if (d->anomaly == ANOMALY_NONE)
				check_fragments(r, d);
			else
				must(used == 0 && d->count == 0);
			slots++;
			blocks += used;
			pieces += d->count;
		}
	}
	must(slots == r->counters.datagrams && slots + r->datagrams_free == r->limits.datagrams);
	must(blocks * BLOCK_SIZE == r->counters.bytes && blocks + r->blocks_free == r->limits.bytes / BLOCK_SIZE);
	must(pieces + r->fragments_free == FRAGMENTS_MAX);
}

static uint8_t
byte_at(uint32_t id, uint32_t place)
{
	return (uint8_t)(place * 31 + (place >> 7) + id);
}

static void
fuzz_reassembly_feed(struct reassembly *r, const struct packet *packet)
{
	struct reassembly_result result;
	enum reassembly_verdict verdict = reassembly_add(r, packet, 0, clock_ns, &result);

	must((verdict == REASSEMBLY_DROPPED) == (result.anomaly != ANOMALY_NONE));
	if (verdict == REASSEMBLY_COMPLETE) {
		struct packet whole;

		must(result.captured <= result.wire && result.wire <= DATAGRAM_MAX && result.fragments >= 2);
		must(result.fragments <= r->limits.fragments && result.first->fragment_offset == 0);
		for (uint32_t i = 0; known && i < result.captured; i++)
			must(result.bytes[i] == byte_at(packet->ip.fragment_id, i));
		dissect_reassembled(packet, result.first, result.bytes, result.captured, result.wire, &whole);
		must(!whole.ip.fragment && whole.datagram.wire <= result.wire);
		(void)checksum_verify(&whole);
	}
	check_all(r);
}

/* Version, identification, more, other bytes and time; offset; length; how much is captured. */
static void
take_made(struct reassembly *r, const uint8_t *record)
{
	static struct packet_buffer raw;
	struct frame frame;
	struct packet packet;
	uint32_t id = record[0] >> 1 & 3, offset = (uint32_t)(record[1] | (record[2] & 31) << 8);
	uint32_t length = record[3] * (record[2] >> 5 & 1 ? 160u : 8u) + (record[2] >> 6);
	bool more = record[0] >> 3 & 1;

	clock_ns += (record[0] >> 5) * 2 * SECOND;
	if (record[0] >> 5 == 0)
		reassembly_run_timers(r, clock_ns);
	raw.len = 0;
	if (record[0] & 1) {
		packet_put_ipv6(&raw, 1, 2, 44, 8 + length);
		packet_put_ipv6_fragment(&raw, 17, offset, more, id);
	} else {
		packet_put_ipv4(&raw, 1, 2, 17, id, (more ? 0x2000u : 0) | offset, length);
	}
	for (uint32_t i = 0; i < length; i++)
		packet_put_u8(&raw, byte_at(id, offset * 8 + i));
	if (length > 0 && (record[0] >> 4 & 1) != 0) {
		raw.bytes[raw.len - 1] ^= 1;
		known = false;
	}
	packet_dissect_truncated(&raw, raw.len - (record[4] > 128 ? length * record[4] / 256 : 0), clock_ns, &frame,
				 &packet);
	if (packet.ip.fragment)
		fuzz_reassembly_feed(r, &packet);
}

static size_t
take_frame(struct reassembly *r, const uint8_t *data, size_t size)
{
	static struct packet_buffer raw;
	struct frame frame;
	struct packet packet;
	size_t length = data[0] < size - 1 ? data[0] : size - 1;

	raw.len = 0;
	packet_put_bytes(&raw, data + 1, (uint32_t)length);
	clock_ns += SECOND / 10;
	packet_dissect(&raw, clock_ns, &frame, &packet);
	if ((packet.network == NETWORK_IPV4 || packet.network == NETWORK_IPV6) && packet.ip.fragment)
		fuzz_reassembly_feed(r, &packet);
	return length + 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reassembly_limits limits = reassembly_limits_default();
	static struct reassembly *r;

	if (size < 2)
		return 0;
	limits.datagrams = 6;
	limits.bytes = 72 << 10;
	limits.fragments = 7;
	clock_ns = last_loss = 0;
	known = (data[0] & 1) != 0;
	if (r == NULL)
		r = reassembly_new(&limits, 1, note_loss, NULL);
	must(r != NULL);
	reassembly_clear(r);
	if (data[0] & 1) {
		for (size_t at = 1; at + 5 <= size; at += 5)
			take_made(r, data + at);
	} else {
		for (size_t at = 1; at < size;)
			at += take_frame(r, data + at, size - at);
	}
	clock_ns += 100 * SECOND;
	reassembly_run_timers(r, clock_ns);
	must(r->counters.datagrams == 0);
	check_all(r);
	return 0;
}
