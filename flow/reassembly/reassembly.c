/* SPDX-License-Identifier: BSD-2-Clause */
/* Matches fragments with datagrams, and applies the policy to fragments that overlap or disagree. */
#include "flow/reassembly/reassembly.h"

#include <pcap/dlt.h>

#include "engine/engine.h"
#include "flow/reassembly/reassembly_internal.h"

/* Datagrams, blocks and fragments in memory, and the lookup of a datagram by its key. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdlib.h>

/* Indices are 16 bits wide; 0 means none. */
#define INDEX_MAX 65534u

/* Entries of the arrays that such an index selects from. */
#define FRAGMENT_INDEX_SPACE ((size_t)FRAGMENTS_MAX + 1)

static void datagram_clear(struct reassembly *r, struct datagram *d);

static size_t
datagram_index_space(const struct reassembly_limits *limits)
{
	return (size_t)limits->datagrams + 1;
}

static uint32_t
reassembly_blocks_for(const struct reassembly_limits *limits)
{
	return limits->bytes / BLOCK_SIZE;
}

static size_t
block_index_space(const struct reassembly_limits *limits)
{
	return (size_t)reassembly_blocks_for(limits) + 1;
}

/* Number of hash buckets: a power of two, at least the number of datagrams. */
static uint32_t
reassembly_buckets_for(const struct reassembly_limits *limits)
{
	uint32_t buckets = 16;

	while (buckets < limits->datagrams)
		buckets *= 2;
	return buckets;
}

size_t
reassembly_memory_size(const struct reassembly_limits *limits)
{
	return sizeof(struct reassembly) + datagram_index_space(limits) * sizeof(struct datagram) +
	       block_index_space(limits) * (BLOCK_SIZE + sizeof(uint16_t)) +
	       FRAGMENT_INDEX_SPACE * sizeof(struct stored_fragment) +
	       reassembly_buckets_for(limits) * sizeof(uint16_t);
}

static bool
reassembly_limits_are_valid(const struct reassembly_limits *limits)
{
	return limits->datagrams >= 1 && limits->datagrams <= INDEX_MAX &&
	       reassembly_blocks_for(limits) >= DATAGRAM_BLOCKS &&
	       reassembly_blocks_for(limits) <= INDEX_MAX &&
	       limits->fragments >= 2 && limits->fragments <= (DATAGRAM_MAX + 1) / 8;
}

static void
reassembly_reset(struct reassembly *r)
{
	memset(r->buckets, 0, (r->bucket_mask + 1) * sizeof *r->buckets);
	r->datagrams_free = r->limits.datagrams;
	r->blocks_free = reassembly_blocks_for(&r->limits);
	r->fragments_free = FRAGMENTS_MAX;
	r->datagram_high_water = r->block_high_water = r->fragment_high_water = 0;
	r->datagram_free_head = r->block_free_head = r->fragment_free_head = 0;
	r->fifo[0] = r->fifo[1] = (struct datagram_fifo){0, 0};
	r->next_due = UINT64_MAX;
	r->counters.datagrams = r->counters.bytes = 0;
}

struct reassembly *
reassembly_new(const struct reassembly_limits *limits, uint64_t seed, reassembly_report *report, void *context)
{
	struct reassembly *r;

	if (!reassembly_limits_are_valid(limits)) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	r->limits = *limits;
	r->seed = seed;
	r->report = report;
	r->context = context;
	r->bucket_mask = reassembly_buckets_for(limits) - 1;
	r->datagrams = calloc(datagram_index_space(limits), sizeof *r->datagrams);
	r->bytes = calloc(block_index_space(limits), BLOCK_SIZE);
	r->block_next = calloc(block_index_space(limits), sizeof *r->block_next);
	r->fragments = calloc(FRAGMENT_INDEX_SPACE, sizeof *r->fragments);
	r->buckets = calloc(r->bucket_mask + 1, sizeof *r->buckets);
	if (r->datagrams == NULL || r->bytes == NULL || r->block_next == NULL || r->fragments == NULL ||
	    r->buckets == NULL) {
		reassembly_free(r);
		errno = ENOMEM;
		return NULL;
	}
	reassembly_reset(r);
	return r;
}

void
reassembly_free(struct reassembly *r)
{
	if (r == NULL)
		return;
	free(r->datagrams);
	free(r->bytes);
	free(r->block_next);
	free(r->fragments);
	free(r->buckets);
	free(r);
}

void
reassembly_clear(struct reassembly *r)
{
	reassembly_reset(r);
}

/* --- keys and lists by age --- */

static uint32_t
datagram_bucket(const struct reassembly *r, const struct datagram_key *key)
{
	return (uint32_t)(XXH3_64bits_withSeed(key, sizeof *key, r->seed) >> 32) & r->bucket_mask;
}

static struct datagram *
datagram_lookup(struct reassembly *r, const struct datagram_key *key)
{
	uint16_t index = r->buckets[datagram_bucket(r, key)];

	while (index != 0 && memcmp(&r->datagrams[index].key, key, sizeof *key) != 0)
		index = r->datagrams[index].bucket_next;
	return index == 0 ? NULL : datagram_at(r, index);
}

static struct datagram_fifo *
datagram_fifo_of(struct reassembly *r, const struct datagram *d)
{
	return &r->fifo[d->key.version == 6];
}

static void
datagram_fifo_append(struct reassembly *r, struct datagram *d)
{
	struct datagram_fifo *fifo = datagram_fifo_of(r, d);
	uint16_t index = datagram_index(r, d);

	d->next = 0;
	d->prev = fifo->tail;
	if (fifo->tail != 0)
		r->datagrams[fifo->tail].next = index;
	else
		fifo->head = index;
	fifo->tail = index;
}

static void
datagram_fifo_remove(struct reassembly *r, const struct datagram *d)
{
	struct datagram_fifo *fifo = datagram_fifo_of(r, d);

	if (d->prev != 0)
		r->datagrams[d->prev].next = d->next;
	else
		fifo->head = d->next;
	if (d->next != 0)
		r->datagrams[d->next].prev = d->prev;
	else
		fifo->tail = d->prev;
}

/* Creates a datagram; one must be free. */
static struct datagram *
datagram_create(struct reassembly *r, const struct datagram_key *key, uint64_t now)
{
	uint16_t index = r->datagram_free_head != 0 ? r->datagram_free_head : (uint16_t)++r->datagram_high_water;
	struct datagram *d = datagram_at(r, index);
	uint32_t bucket = datagram_bucket(r, key);

	if (index == r->datagram_free_head)
		r->datagram_free_head = d->bucket_next;
	*d = (struct datagram){.key = *key, .first_seen = now, .bucket = bucket, .bucket_next = r->buckets[bucket]};
	r->buckets[bucket] = index;
	r->datagrams_free--;
	datagram_fifo_append(r, d);
	r->counters.datagrams++;
	return d;
}

/* Removes a datagram and frees its blocks and fragments. */
static void
datagram_free(struct reassembly *r, struct datagram *d)
{
	uint16_t index = datagram_index(r, d);
	uint16_t *link = &r->buckets[d->bucket];

	datagram_clear(r, d);
	while (*link != index)
		link = &r->datagrams[*link].bucket_next;
	*link = d->bucket_next;
	datagram_fifo_remove(r, d);
	d->bucket_next = r->datagram_free_head;
	r->datagram_free_head = index;
	r->datagrams_free++;
	r->counters.datagrams--;
}

/* Frees the blocks and fragments of a datagram, which stays. */
static void
datagram_clear(struct reassembly *r, struct datagram *d)
{
	for (unsigned i = 0; i < DATAGRAM_BLOCKS && d->blocks > 0; i++) {
		if (d->block[i] == 0)
			continue;
		r->block_next[d->block[i]] = r->block_free_head;
		r->block_free_head = d->block[i];
		d->block[i] = 0;
		d->blocks--;
		r->blocks_free++;
		r->counters.bytes -= BLOCK_SIZE;
	}
	if (d->tail != 0) {
		r->fragments[d->tail].next = r->fragment_free_head;
		r->fragment_free_head = d->head;
		r->fragments_free += d->count;
	}
	d->head = d->tail = d->count = 0;
}

/* Allocates a stored fragment; one must be free. */
static uint16_t
fragment_alloc(struct reassembly *r)
{
	uint16_t index = r->fragment_free_head;

	r->fragments_free--;
	if (index == 0)
		return (uint16_t)++r->fragment_high_water;
	r->fragment_free_head = r->fragments[index].next;
	return index;
}

/* --- bytes --- */

/* Number of blocks that must be allocated to store `length` bytes from `offset` on. */
static uint32_t
datagram_blocks_needed(const struct datagram *d, uint32_t offset, uint32_t length)
{
	uint32_t missing = 0;

	if (length == 0)
		return 0;
	for (uint32_t i = offset / BLOCK_SIZE; i <= (offset + length - 1) / BLOCK_SIZE; i++)
		missing += d->block[i] == 0;
	return missing;
}

static uint16_t
datagram_alloc_block(struct reassembly *r, struct datagram *d)
{
	uint16_t index = r->block_free_head;

	if (index == 0)
		index = (uint16_t)++r->block_high_water;
	else
		r->block_free_head = r->block_next[index];
	r->blocks_free--;
	r->counters.bytes += BLOCK_SIZE;
	d->blocks++;
	return index;
}

/* Length of the part of a run that lies in one block. */
static uint32_t
datagram_block_run(uint32_t offset, uint32_t left)
{
	uint32_t room = BLOCK_SIZE - offset % BLOCK_SIZE;

	return left < room ? left : room;
}

/* Copies bytes into the datagram.  Blocks that it lacks must be free. */
static void
datagram_write(struct reassembly *r, struct datagram *d, uint32_t offset, struct slice bytes)
{
	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		uint32_t position = offset + done;
		uint16_t *block = &d->block[position / BLOCK_SIZE];

		n = datagram_block_run(position, bytes.len - done);
		if (*block == 0)
			*block = datagram_alloc_block(r, d);
		slice_copy(bytes, done, r->bytes + (size_t)*block * BLOCK_SIZE + position % BLOCK_SIZE, n);
	}
}

/* Whether the datagram holds exactly these bytes at the offset.  They must have been written. */
static bool
datagram_bytes_equal(const struct reassembly *r, const struct datagram *d, uint32_t offset, struct slice bytes)
{
	uint8_t other[BLOCK_SIZE];

	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		uint32_t position = offset + done;

		n = datagram_block_run(position, bytes.len - done);
		slice_copy(bytes, done, other, n);
		if (memcmp(r->bytes + (size_t)d->block[position / BLOCK_SIZE] * BLOCK_SIZE + position % BLOCK_SIZE,
			   other, n) != 0)
			return false;
	}
	return true;
}

/* Copies the first `length` bytes out.  They must have been written. */
static void
datagram_read(const struct reassembly *r, const struct datagram *d, uint8_t *to, uint32_t length)
{
	for (uint32_t done = 0, n; done < length; done += n) {
		n = datagram_block_run(done, length - done);
		memcpy(to + done, r->bytes + (size_t)d->block[done / BLOCK_SIZE] * BLOCK_SIZE, n);
	}
}

#define NANOSECONDS 1000000000ull

enum { IPV6_FRAGMENT_HEADER_LEN = 8 };

struct reassembly_limits
reassembly_limits_default(void)
{
	return (struct reassembly_limits){
		.datagrams = 4096,
		.bytes = 4 << 20,
		.fragments = 256,
		.ipv4_timeout_ns = 30 * NANOSECONDS,
		.ipv6_timeout_ns = 60 * NANOSECONDS,
	};
}

const struct reassembly_counters *
reassembly_counters(const struct reassembly *r)
{
	return &r->counters;
}

/* --- storing a header --- */

/* Copies an IP layer and the bytes its slices point to.  Extension headers that do not fit are omitted. */
static void
datagram_copy_ip_layer(const struct ip_layer *from, struct ip_layer *to, uint8_t header[HEADER_MAX])
{
	uint32_t fixed = from->header.len, after = from->version == 6 ? from->options.len : 0;

	*to = *from;
	if (after > HEADER_MAX - fixed)
		after = 0;
	slice_copy(from->header, 0, header, fixed);
	to->header = (struct slice){header, fixed};
	to->options = (struct slice){NULL, 0};
	if (after > 0) {
		slice_copy(from->options, 0, header + fixed, after);
		to->options = (struct slice){header + fixed, after};
	} else if (from->version == 4 && from->options.len > 0) {
		to->options = slice_sub(to->header, fixed - from->options.len, from->options.len);
	}
}

static void
datagram_save_header(struct datagram *d, const struct packet *fragment)
{
	datagram_copy_ip_layer(&fragment->ip, &d->ip, d->header);
	d->interface = fragment->frame->interface;
	d->direction = fragment->direction;
	d->loopback = fragment->loopback;
}

/* --- giving up --- */

static uint64_t
datagram_deadline(const struct reassembly *r, const struct datagram *d)
{
	uint64_t timeout = d->key.version == 6 ? r->limits.ipv6_timeout_ns : r->limits.ipv4_timeout_ns;

	return timeout < UINT64_MAX - d->first_seen ? d->first_seen + timeout : UINT64_MAX;
}

/* The datagram that expires first, NULL if there is none. */
static struct datagram *
reassembly_first_due(struct reassembly *r)
{
	struct datagram *a = datagram_at(r, r->fifo[0].head), *b = datagram_at(r, r->fifo[1].head);

	if (r->fifo[0].head == 0)
		return r->fifo[1].head == 0 ? NULL : b;
	return r->fifo[1].head == 0 || datagram_deadline(r, a) <= datagram_deadline(r, b) ? a : b;
}

static struct datagram *
reassembly_oldest(struct reassembly *r)
{
	struct datagram *a = datagram_at(r, r->fifo[0].head), *b = datagram_at(r, r->fifo[1].head);

	if (r->fifo[0].head == 0)
		return b;
	return r->fifo[1].head == 0 || a->first_seen <= b->first_seen ? a : b;
}

static void
reassembly_update_next_due(struct reassembly *r)
{
	const struct datagram *first = reassembly_first_due(r);

	r->next_due = first == NULL ? UINT64_MAX : datagram_deadline(r, first);
}

/* Reports a datagram that is given up.  A discarded one has been reported before. */
static void
reassembly_report_lost(struct reassembly *r, const struct datagram *d, enum anomaly why, uint64_t now)
{
	struct packet *lost = &r->lost;

	if (d->anomaly != ANOMALY_NONE)
		return;
	engine_reassembly_expire(d->key.version, d->count, d->bytes_held);
	if (r->report == NULL)
		return;
	r->lost_frame = (struct frame){
		.data = d->header,
		.interface = d->interface,
		.ts = now,
		.caplen = d->ip.header.len,
		.len = d->ip.header.len + d->bytes_held,
		.dlt = DLT_RAW,
	};
	*lost = (struct packet){
		.frame = &r->lost_frame,
		.direction = d->direction,
		.loopback = d->loopback,
		.network = d->key.version == 6 ? NETWORK_IPV6 : NETWORK_IPV4,
		.worst_anomaly = why,
		.ip = d->ip,
	};
	anomaly_add(&lost->anomalies, why);
	r->report(r->context, lost, d->count);
}

static void
reassembly_evict_oldest(struct reassembly *r, uint64_t now)
{
	struct datagram *d = reassembly_oldest(r);

	r->counters.evicted += d->anomaly == ANOMALY_NONE;
	reassembly_report_lost(r, d, ANOMALY_FRAGMENT_LIMIT, now);
	datagram_free(r, d);
}

static void
reassembly_expire(struct reassembly *r, uint64_t now)
{
	struct datagram *d;

	while ((d = reassembly_first_due(r)) != NULL && datagram_deadline(r, d) <= now) {
		r->counters.timeouts += d->anomaly == ANOMALY_NONE;
		reassembly_report_lost(r, d, ANOMALY_FRAGMENT_TIMEOUT, datagram_deadline(r, d));
		datagram_free(r, d);
	}
	reassembly_update_next_due(r);
}

void
reassembly_run_timers(struct reassembly *r, uint64_t now)
{
	if (__builtin_expect(now >= r->next_due, 0))
		reassembly_expire(r, now);
}

const uint64_t *
reassembly_next_due(const struct reassembly *r)
{
	return &r->next_due;
}

/* --- checking a fragment --- */

struct fragment {
	uint32_t start, length, end;
	bool more;
	struct slice captured;
};

static struct fragment
fragment_from_packet(const struct packet *packet)
{
	uint32_t start = packet->ip.fragment_offset * 8u, length = packet->datagram.wire;

	return (struct fragment){
		.start = start,
		.length = length,
		.end = start + length,
		.more = packet->ip.more_fragments,
		.captured = cursor_captured_slice(&packet->datagram),
	};
}

/* Bytes of the reassembled header that count towards the 65535 of the length field. */
static uint32_t
fragment_header_len(const struct ip_layer *ip)
{
	if (ip->version == 4)
		return ip->header.len;
	return ip->options.len > IPV6_FRAGMENT_HEADER_LEN ? ip->options.len - IPV6_FRAGMENT_HEADER_LEN : 0;
}

/* Why a fragment cannot belong to any datagram, ANOMALY_NONE if it can. */
static enum anomaly
fragment_validate(const struct packet *packet, const struct fragment *f)
{
	if (f->length == 0)
		return ANOMALY_FRAGMENT_EMPTY;
	if (f->length > DATAGRAM_MAX || f->end + fragment_header_len(&packet->ip) > DATAGRAM_MAX)
		return ANOMALY_FRAGMENT_TOO_LONG;
	if (f->more && f->length % 8 != 0)
		return ANOMALY_FRAGMENT_UNALIGNED;
	return ANOMALY_NONE;
}

/* Whether the fragment fits the known end of the datagram. */
static bool
fragment_end_agrees(const struct datagram *d, const struct fragment *f)
{
	if (f->more)
		return d->total == 0 || f->end < d->total;
	return d->total == 0 ? f->end >= d->end : f->end == d->total;
}

/* The last fragment that starts at or before `start`, 0 if there is none.  Fragments usually come in order, so the tail
 * is tried first. */
static uint16_t
datagram_fragment_before(const struct reassembly *r, const struct datagram *d, uint32_t start)
{
	uint16_t before = 0, at = d->head;

	if (d->tail != 0 && r->fragments[d->tail].start * 8u <= start)
		return d->tail;
	while (at != 0 && r->fragments[at].start * 8u <= start) {
		before = at;
		at = r->fragments[at].next;
	}
	return before;
}

static bool
fragment_is_duplicate(const struct reassembly *r, const struct datagram *d, const struct fragment *f, uint16_t before)
{
	const struct stored_fragment *fragment = &r->fragments[before];

	if (before == 0 || fragment->start * 8u != f->start || fragment->length != f->length)
		return false;
	return datagram_bytes_equal(r, d, f->start, slice_sub(f->captured, 0, fragment->captured));
}

static bool
fragment_overlaps(const struct reassembly *r, const struct datagram *d, const struct fragment *f, uint16_t before)
{
	const struct stored_fragment *fragment = &r->fragments[before];
	uint16_t after = before == 0 ? d->head : fragment->next;

	if (before != 0 && fragment->start * 8u + fragment->length > f->start)
		return true;
	return after != 0 && r->fragments[after].start * 8u < f->end;
}

/* --- adding a fragment --- */

static enum reassembly_verdict
datagram_discard(struct reassembly *r, struct datagram *d, enum anomaly why, struct reassembly_result *result)
{
	datagram_clear(r, d);
	d->anomaly = result->anomaly = why;
	return REASSEMBLY_DROPPED;
}

/* Makes room for one more fragment and its bytes by evicting older datagrams.  False if this datagram is the oldest and
 * would be evicted itself. */
static bool
reassembly_make_room(struct reassembly *r, const struct datagram *d, const struct fragment *f, uint64_t now)
{
	uint32_t blocks = datagram_blocks_needed(d, f->start, f->captured.len);
	bool evicted = false;

	while (r->fragments_free == 0 || r->blocks_free < blocks) {
		if (reassembly_oldest(r) == d)
			return false;
		reassembly_evict_oldest(r, now);
		evicted = true;
	}
	if (evicted)
		reassembly_update_next_due(r);
	return true;
}

static void
datagram_insert_fragment(struct reassembly *r, struct datagram *d, const struct fragment *f, uint16_t before)
{
	uint16_t index = fragment_alloc(r);
	struct stored_fragment *fragment = &r->fragments[index];

	*fragment = (struct stored_fragment){
		.start = (uint16_t)(f->start / 8),
		.next = before == 0 ? d->head : r->fragments[before].next,
		.length = (uint16_t)f->length,
		.captured = (uint16_t)f->captured.len,
	};
	if (before == 0)
		d->head = index;
	else
		r->fragments[before].next = index;
	if (before == d->tail)
		d->tail = index;
	d->count++;
	d->bytes_held += f->length;
	if (f->end > d->end)
		d->end = f->end;
	if (!f->more)
		d->total = f->end;
	datagram_write(r, d, f->start, f->captured);
}

/* Length of the captured prefix: bytes up to the first one that is not captured. */
static uint32_t
datagram_captured_prefix(const struct reassembly *r, const struct datagram *d)
{
	for (uint16_t at = d->head; at != 0; at = r->fragments[at].next)
		if (r->fragments[at].captured < r->fragments[at].length)
			return r->fragments[at].start * 8u + r->fragments[at].captured;
	return d->total;
}

static enum reassembly_verdict
datagram_complete(struct reassembly *r, struct datagram *d, struct reassembly_result *result)
{
	struct complete_datagram *complete = &r->completed[r->last_completed ^= 1];
	uint32_t captured = datagram_captured_prefix(r, d);

	datagram_copy_ip_layer(&d->ip, &complete->ip, complete->header);
	datagram_read(r, d, complete->bytes, captured);
	*result = (struct reassembly_result){
		.anomaly = ANOMALY_NONE,
		.first = &complete->ip,
		.bytes = complete->bytes,
		.captured = captured,
		.wire = d->total,
		.fragments = d->count,
	};
	r->counters.completed++;
	r->counters.incomplete += captured < d->total;
	datagram_free(r, d);
	reassembly_update_next_due(r);
	return REASSEMBLY_COMPLETE;
}

static struct datagram *
datagram_lookup_or_create(struct reassembly *r, const struct packet *fragment, uint16_t space, uint64_t now)
{
	const struct ip_layer *ip = &fragment->ip;
	struct datagram_key key = {
		.id = ip->fragment_id,
		.space = space,
		.protocol = ip->version == 6 ? 0 : ip->protocol,
		.version = ip->version,
	};
	struct datagram *d;

	memcpy(key.src, ip->src, sizeof key.src);
	memcpy(key.dst, ip->dst, sizeof key.dst);
	d = datagram_lookup(r, &key);
	if (d != NULL)
		return d;
	if (r->datagrams_free == 0)
		reassembly_evict_oldest(r, now);
	d = datagram_create(r, &key, now);
	datagram_save_header(d, fragment);
	reassembly_update_next_due(r);
	return d;
}

static enum reassembly_verdict
datagram_add_fragment(struct reassembly *r, struct datagram *d, const struct fragment *f, uint64_t now,
		      struct reassembly_result *result)
{
	uint16_t before;

	if (d->anomaly != ANOMALY_NONE) {
		r->counters.discarded++;
		result->anomaly = d->anomaly;
		return REASSEMBLY_DROPPED;
	}
	before = datagram_fragment_before(r, d, f->start);
	if (!fragment_end_agrees(d, f)) {
		r->counters.end_conflicts++;
		return datagram_discard(r, d, ANOMALY_FRAGMENT_END, result);
	}
	if (fragment_is_duplicate(r, d, f, before)) {
		r->counters.duplicates++;
		return REASSEMBLY_HELD;
	}
	if (fragment_overlaps(r, d, f, before)) {
		r->counters.overlaps++;
		return datagram_discard(r, d, ANOMALY_FRAGMENT_OVERLAP, result);
	}
	if (d->count == r->limits.fragments) {
		r->counters.too_many_fragments++;
		return datagram_discard(r, d, ANOMALY_FRAGMENT_LIMIT, result);
	}
	if (!reassembly_make_room(r, d, f, now)) {
		r->counters.evicted++;
		return datagram_discard(r, d, ANOMALY_FRAGMENT_LIMIT, result);
	}
	datagram_insert_fragment(r, d, f, before);
	return d->bytes_held == d->total ? datagram_complete(r, d, result) : REASSEMBLY_HELD;
}

enum reassembly_verdict
reassembly_add(struct reassembly *r, const struct packet *fragment, uint16_t space, uint64_t now,
	       struct reassembly_result *result)
{
	struct fragment f;
	struct datagram *d;

	*result = (struct reassembly_result){.anomaly = ANOMALY_NONE};
	reassembly_run_timers(r, now);
	r->counters.fragments++;
	if (fragment->worst_anomaly != ANOMALY_NONE && anomaly_severity(fragment->worst_anomaly) >= SEVERITY_DROP) {
		result->anomaly = fragment->worst_anomaly;
	} else {
		f = fragment_from_packet(fragment);
		result->anomaly = fragment_validate(fragment, &f);
	}
	if (result->anomaly != ANOMALY_NONE) {
		r->counters.refused++;
		return REASSEMBLY_DROPPED;
	}
	d = datagram_lookup_or_create(r, fragment, space, now);
	if (f.start == 0 && d->anomaly == ANOMALY_NONE && d->ip.fragment_offset != 0)
		datagram_save_header(d, fragment);
	return datagram_add_fragment(r, d, &f, now, result);
}
