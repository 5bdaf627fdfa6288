/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/first_bytes_pool.h"

#include <stdlib.h>
#include <string.h>

#include "flow/memory.h"
#include "flow/stream/stream.h"
#include "flow/tcp/tcp.h"

_Static_assert(FIRST_BYTES_MAX <= UINT16_MAX, "offsets have 16 bits");

/* Entries that are looked at to displace one. */
#define FIRST_BYTES_TRIES 16u

struct first_bytes_pool {
	struct first_bytes *entries;
	uint8_t *bytes;		     /* FIRST_BYTES_MAX of each entry */
	struct stream_pool *streams; /* borrowed */
	uint32_t count, high_water;
	uint32_t newest, oldest; /* index + 1; 0 none */
	uint32_t free_head;	 /* linked by bucket_next */
	uint32_t bucket[FIRST_BYTES_CONNECTIONS]; /* by connection id */
};

#define ENTRIES_SIZE (FIRST_BYTES_CONNECTIONS * sizeof(struct first_bytes))
#define BYTES_SIZE   ((size_t)FIRST_BYTES_CONNECTIONS * FIRST_BYTES_MAX)

struct first_bytes_pool *
first_bytes_pool_new(struct stream_pool *streams)
{
	struct first_bytes_pool *pool = calloc(1, sizeof *pool);

	if (pool == NULL)
		return NULL;
	pool->streams = streams;
	pool->entries = memory_reserve(ENTRIES_SIZE);
	pool->bytes = memory_reserve(BYTES_SIZE);
	if (pool->entries == NULL || pool->bytes == NULL) {
		first_bytes_pool_free(pool);
		return NULL;
	}
	return pool;
}

void
first_bytes_pool_free(struct first_bytes_pool *pool)
{
	if (pool == NULL)
		return;
	memory_release(pool->entries, ENTRIES_SIZE);
	memory_release(pool->bytes, BYTES_SIZE);
	free(pool);
}

size_t
first_bytes_pool_memory_size(void)
{
	return sizeof(struct first_bytes_pool) + ENTRIES_SIZE + BYTES_SIZE;
}

uint32_t
first_bytes_pool_count(const struct first_bytes_pool *pool)
{
	return pool->count;
}

/* --- connections --- */

static uint32_t
first_bytes_index(const struct first_bytes_pool *pool, const struct first_bytes *first)
{
	return (uint32_t)(first - pool->entries);
}

/* Ids are consecutive, so their low bits are a good hash. */
static uint32_t *
first_bytes_bucket(struct first_bytes_pool *pool, uint64_t cid)
{
	return &pool->bucket[cid / 2 % FIRST_BYTES_CONNECTIONS];
}

static void
first_bytes_link(struct first_bytes_pool *pool, struct first_bytes *first)
{
	uint32_t number = first_bytes_index(pool, first) + 1, *bucket = first_bytes_bucket(pool, first->cid);

	first->bucket_next = *bucket;
	*bucket = number;
	first->newer = 0;
	first->older = pool->newest;
	if (pool->newest != 0)
		pool->entries[pool->newest - 1].newer = number;
	else
		pool->oldest = number;
	pool->newest = number;
	pool->count++;
}

static void
first_bytes_unlink(struct first_bytes_pool *pool, struct first_bytes *first)
{
	uint32_t *link = first_bytes_bucket(pool, first->cid);

	while (*link != first_bytes_index(pool, first) + 1)
		link = &pool->entries[*link - 1].bucket_next;
	*link = first->bucket_next;
	if (first->newer != 0)
		pool->entries[first->newer - 1].older = first->older;
	else
		pool->newest = first->older;
	if (first->older != 0)
		pool->entries[first->older - 1].newer = first->newer;
	else
		pool->oldest = first->newer;
	pool->count--;
}

void
first_bytes_drop(struct first_bytes_pool *pool, struct first_bytes *first)
{
	first_bytes_unlink(pool, first);
	first->flow = NULL;
	first->bucket_next = pool->free_head;
	pool->free_head = first_bytes_index(pool, first) + 1;
}

void
first_bytes_pool_clear(struct first_bytes_pool *pool)
{
	while (pool->oldest != 0)
		first_bytes_drop(pool, &pool->entries[pool->oldest - 1]);
}

struct first_bytes *
first_bytes_find(struct first_bytes_pool *pool, const struct flow *flow, uint64_t cid)
{
	if (pool->count == 0)
		return NULL;
	for (uint32_t number = *first_bytes_bucket(pool, cid); number != 0;) {
		struct first_bytes *first = &pool->entries[number - 1];

		if (first->cid == cid && first->flow == flow)
			return first;
		number = first->bucket_next;
	}
	return NULL;
}

/* The entry to displace: one with data of a SYN if there is one among the oldest, because anybody can send SYNs; else
 * the oldest. */
static struct first_bytes *
first_bytes_least(const struct first_bytes_pool *pool)
{
	uint32_t number = pool->oldest;

	for (unsigned tries = 0; number != 0 && tries < FIRST_BYTES_TRIES; tries++) {
		if (first_bytes_has_syn_data(&pool->entries[number - 1]))
			return &pool->entries[number - 1];
		number = pool->entries[number - 1].newer;
	}
	return &pool->entries[pool->oldest - 1];
}

static struct first_bytes *
first_bytes_take_entry(struct first_bytes_pool *pool)
{
	struct first_bytes *first;

	if (pool->free_head == 0 && pool->high_water < FIRST_BYTES_CONNECTIONS)
		return &pool->entries[pool->high_water++];
	if (pool->free_head == 0) {
		first = first_bytes_least(pool);
		stream_count_unkept(pool->streams, first->count);
		first_bytes_drop(pool, first);
	}
	first = &pool->entries[pool->free_head - 1];
	pool->free_head = first->bucket_next;
	return first;
}

struct first_bytes *
first_bytes_oldest(const struct first_bytes_pool *pool)
{
	return pool->oldest != 0 ? &pool->entries[pool->oldest - 1] : NULL;
}

struct first_bytes *
first_bytes_begin(struct first_bytes_pool *pool, const struct flow *flow, uint64_t cid, unsigned client)
{
	struct first_bytes *first = first_bytes_take_entry(pool);

	first->flow = flow;
	first->cid = cid;
	first->iss = flow->tcp[client].iss;
	first->from_syn = (flow->tcp[client].flags & TCP_EP_ISS_KNOWN) != 0;
	first->client = (uint8_t)client;
	first->count = 0;
	first->used = 0;
	first->settled = false;
	first_bytes_link(pool, first);
	return first;
}

/* --- segments --- */

/* The segment that a segment of the client continues, so that both are one; NULL if it has to be one of its own. */
static struct first_segment *
first_bytes_continued(struct first_bytes *first, const struct packet *packet, unsigned sender)
{
	struct first_segment *last = first->count > 0 ? &first->segments[first->count - 1] : NULL;

	if (last == NULL || sender != first->client || last->sender != sender || last->captured != last->wire ||
	    ((last->flags | packet->tcp.flags) & TCP_SYN) != 0 || packet->tcp.seq != last->seq + last->wire ||
	    packet->tcp.ack != last->ack)
		return NULL;
	return last;
}

bool
first_bytes_has_room(const struct first_bytes *first, const struct packet *packet)
{
	uint32_t captured = cursor_captured_slice(&packet->payload).len;

	return first == NULL ? captured <= FIRST_BYTES_MAX
			     : captured <= FIRST_BYTES_MAX - first->used && first->count < FIRST_BYTES_SEGMENTS;
}

bool
first_bytes_add(struct first_bytes_pool *pool, struct first_bytes *first, const struct packet *packet,
		uint64_t packet_id, unsigned sender, uint64_t now, bool late)
{
	struct slice bytes = cursor_captured_slice(&packet->payload);
	uint8_t *memory = pool->bytes + (size_t)first_bytes_index(pool, first) * FIRST_BYTES_MAX;
	struct first_segment *segment = first_bytes_continued(first, packet, sender);
	uint32_t room = FIRST_BYTES_MAX - first->used, captured;

	/* A repeated SYN: what of its data is part of the stream is known, and kept. */
	if (first->settled && sender == first->client && (packet->tcp.flags & TCP_SYN) != 0)
		return true;
	captured = bytes.len < packet->payload_wire ? bytes.len : packet->payload_wire;
	if (room == 0 || (segment == NULL && first->count == FIRST_BYTES_SEGMENTS)) {
		stream_count_unkept(pool->streams, 1);
		return false;
	}
	if (segment == NULL) {
		segment = &first->segments[first->count++];
		*segment = (struct first_segment){.time = now,
						  .packet_id = packet_id,
						  .seq = packet->tcp.seq + ((packet->tcp.flags & TCP_SYN) != 0),
						  .offset = (uint16_t)first->used,
						  .ack = packet->tcp.ack,
						  .flags = packet->tcp.flags,
						  .sender = (uint8_t)sender};
	}
	stream_count_unkept(pool->streams, captured > room);
	segment->late |= late;
	segment->wire += packet->payload_wire;
	slice_copy(bytes, 0, memory + first->used, captured < room ? captured : room);
	segment->captured = (uint16_t)(segment->captured + (captured < room ? captured : room));
	first->used += captured < room ? captured : room;
	return captured <= room;
}

/* Data of the SYN from `seq` on are not part of the stream. */
static void
first_bytes_cut_syn(struct first_bytes *first, uint32_t seq)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < first->count; i++) {
		struct first_segment segment = first->segments[i];
		uint32_t left = tcp_seq_before(segment.seq, seq) ? seq - segment.seq : 0;

		if ((segment.flags & TCP_SYN) != 0 && segment.sender == first->client && segment.wire > left) {
			if (left == 0)
				continue;
			segment.wire = left;
			segment.captured = (uint16_t)(segment.captured < left ? segment.captured : left);
		}
		first->segments[kept++] = segment;
	}
	first->count = (uint16_t)kept;
}

void
first_bytes_settle(struct first_bytes *first, const struct packet *packet, unsigned sender)
{
	const struct tcp_layer *t = &packet->tcp;

	if (first->settled)
		return;
	if (sender != first->client && (t->flags & (TCP_ACK | TCP_RST)) == TCP_ACK) {
		first_bytes_cut_syn(first, t->ack);
		first->settled = true;
	} else if (sender == first->client && (t->flags & (TCP_SYN | TCP_RST)) == 0 && packet->payload_wire > 0) {
		first_bytes_cut_syn(first, t->seq);
		first->settled = true;
	}
}

bool
first_bytes_are_current(const struct first_bytes *first)
{
	return first->count > 0 && (!first->from_syn || first->flow->tcp[first->client].iss == first->iss);
}

bool
first_bytes_has_syn_data(const struct first_bytes *first)
{
	for (unsigned i = 0; i < first->count; i++)
		if ((first->segments[i].flags & TCP_SYN) != 0 && first->segments[i].sender == first->client)
			return true;
	return false;
}

/* Appends the bytes of a segment after the `have` bytes that begin at `base`.  Returns how many there are then. */
static uint32_t
first_bytes_append(uint8_t *buffer, uint32_t size, uint32_t base, uint32_t have, uint32_t seq, struct slice bytes)
{
	uint32_t skip = base + have - seq, n;

	if (tcp_seq_before(base + have, seq) || skip >= bytes.len)
		return have;
	n = bytes.len - skip < size - have ? bytes.len - skip : size - have;
	slice_copy(bytes, skip, buffer + have, n);
	return have + n;
}

struct slice
first_bytes_head(const struct first_bytes_pool *pool, const struct first_bytes *first, const struct packet *packet,
		 unsigned sender, uint8_t *buffer, uint32_t size)
{
	const uint8_t *memory = pool->bytes + (size_t)first_bytes_index(pool, first) * FIRST_BYTES_MAX;
	uint32_t have = 0, before, base = first->flow->tcp[first->client].iss + 1;

	do {
		before = have;
		for (unsigned i = 0; i < first->count; i++) {
			const struct first_segment *segment = &first->segments[i];

			if (segment->sender == first->client)
				have = first_bytes_append(buffer, size, base, have, segment->seq,
							  (struct slice){memory + segment->offset, segment->captured});
		}
		if (sender == first->client)
			have = first_bytes_append(buffer, size, base, have,
						  packet->tcp.seq + ((packet->tcp.flags & TCP_SYN) != 0),
						  cursor_captured_slice(&packet->payload));
	} while (have > before);
	return (struct slice){buffer, have};
}

bool
first_bytes_get_first(const struct first_bytes *first, unsigned sender, uint32_t *seq)
{
	bool found = false;

	for (unsigned i = 0; i < first->count; i++) {
		const struct first_segment *segment = &first->segments[i];

		if (segment->sender != sender || (found && !tcp_seq_before(segment->seq, *seq)))
			continue;
		*seq = segment->seq;
		found = true;
	}
	return found;
}

void
first_bytes_get_packet(const struct first_bytes_pool *pool, const struct first_bytes *first, unsigned i,
		       struct packet *packet)
{
	const struct first_segment *segment = &first->segments[i];
	const uint8_t *memory = pool->bytes + (size_t)first_bytes_index(pool, first) * FIRST_BYTES_MAX;

	*packet = (struct packet){.transport = TRANSPORT_TCP, .payload_wire = segment->wire};
	packet->tcp = (struct tcp_layer){.seq = segment->seq - ((segment->flags & TCP_SYN) != 0),
					 .ack = segment->ack,
					 .flags = segment->flags};
	packet->payload = cursor_init(memory + segment->offset, segment->captured, segment->wire);
}
