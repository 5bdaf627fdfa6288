/* SPDX-License-Identifier: BSD-2-Clause */
/* Matches fragments with datagrams, and applies the policy to fragments that overlap or disagree. */
#include "flow/reassembly/reassembly.h"

#include <pcap/dlt.h>

#include "flow/reassembly/reassembly_pool.h"

#define SECOND_NS 1000000000ull

enum { FRAGMENT_HEADER = 8 };

struct reassembly_limits
reassembly_limits_default(void)
{
	return (struct reassembly_limits){
		.datagrams = 4096,
		.bytes = 4 << 20,
		.fragments = 256,
		.ipv4_ns = 30 * SECOND_NS,
		.ipv6_ns = 60 * SECOND_NS,
	};
}

const struct reassembly_counters *
reassembly_counters(const struct reassembly *r)
{
	return &r->counters;
}

/* --- keeping a header --- */

/* Copies an IP layer and the bytes its views point to.  Extension headers that do not fit are omitted. */
static void
copy_ip(const struct ip_layer *from, struct ip_layer *to, uint8_t header[HEADER_MAX])
{
	uint32_t fixed = from->header.len, behind = from->version == 6 ? from->options.len : 0;

	*to = *from;
	if (behind > HEADER_MAX - fixed)
		behind = 0;
	view_copy(from->header, 0, header, fixed);
	to->header = (struct view){header, fixed};
	to->options = (struct view){NULL, 0};
	if (behind > 0) {
		view_copy(from->options, 0, header + fixed, behind);
		to->options = (struct view){header + fixed, behind};
	} else if (from->version == 4 && from->options.len > 0) {
		to->options = view_part(to->header, fixed - from->options.len, from->options.len);
	}
}

static void
keep_header(struct datagram *d, const struct packet *fragment)
{
	copy_ip(&fragment->ip, &d->ip, d->header);
	d->interface = fragment->frame->interface;
	d->direction = fragment->direction;
	d->loopback = fragment->loopback;
}

/* --- giving up --- */

static uint64_t
due(const struct reassembly *r, const struct datagram *d)
{
	uint64_t patience = d->key.version == 6 ? r->limits.ipv6_ns : r->limits.ipv4_ns;

	return patience < UINT64_MAX - d->since ? d->since + patience : UINT64_MAX;
}

/* The datagram that expires first, NULL if there is none. */
static struct datagram *
first_due(struct reassembly *r)
{
	struct datagram *a = datagram_at(r, r->ages[0].head), *b = datagram_at(r, r->ages[1].head);

	if (r->ages[0].head == 0)
		return r->ages[1].head == 0 ? NULL : b;
	return r->ages[1].head == 0 || due(r, a) <= due(r, b) ? a : b;
}

static struct datagram *
oldest(struct reassembly *r)
{
	struct datagram *a = datagram_at(r, r->ages[0].head), *b = datagram_at(r, r->ages[1].head);

	if (r->ages[0].head == 0)
		return b;
	return r->ages[1].head == 0 || a->since <= b->since ? a : b;
}

static void
settle(struct reassembly *r)
{
	const struct datagram *first = first_due(r);

	r->next_due = first == NULL ? UINT64_MAX : due(r, first);
}

/* Reports a datagram that is given up.  A discarded one has been reported before. */
static void
tell_lost(struct reassembly *r, const struct datagram *d, enum anomaly why, uint64_t now)
{
	struct packet *lost = &r->lost;

	if (d->why != ANOMALY_NONE || r->report == NULL)
		return;
	r->lost_frame = (struct frame){
		.data = d->header,
		.interface = d->interface,
		.ts = now,
		.caplen = d->ip.header.len,
		.len = d->ip.header.len + d->held,
		.dlt = DLT_RAW,
	};
	*lost = (struct packet){
		.frame = &r->lost_frame,
		.direction = d->direction,
		.loopback = d->loopback,
		.network = d->key.version == 6 ? NETWORK_IPV6 : NETWORK_IPV4,
		.reason = why,
		.ip = d->ip,
	};
	anomaly_add(&lost->anomalies, why);
	r->report(r->context, lost, d->count);
}

static void
evict_oldest(struct reassembly *r, uint64_t now)
{
	struct datagram *d = oldest(r);

	r->counters.evicted += d->why == ANOMALY_NONE;
	tell_lost(r, d, ANOMALY_FRAGMENT_LIMIT, now);
	pool_remove(r, d);
}

static void
time_out(struct reassembly *r, uint64_t now)
{
	struct datagram *d;

	while ((d = first_due(r)) != NULL && due(r, d) <= now) {
		r->counters.timeouts += d->why == ANOMALY_NONE;
		tell_lost(r, d, ANOMALY_FRAGMENT_TIMEOUT, due(r, d));
		pool_remove(r, d);
	}
	settle(r);
}

void
reassembly_run_timers(struct reassembly *r, uint64_t now)
{
	if (__builtin_expect(now >= r->next_due, 0))
		time_out(r, now);
}

/* --- checking a fragment --- */

struct fragment {
	uint32_t start, length, end;
	bool more;
	struct view captured;
};

static struct fragment
measure(const struct packet *packet)
{
	uint32_t start = packet->ip.fragment_offset * 8u, length = packet->datagram.wire;

	return (struct fragment){
		.start = start,
		.length = length,
		.end = start + length,
		.more = packet->ip.more_fragments,
		.captured = cursor_rest(&packet->datagram),
	};
}

/* Bytes of the reassembled header that count towards the 65535 of the length field. */
static uint32_t
header_share(const struct ip_layer *ip)
{
	if (ip->version == 4)
		return ip->header.len;
	return ip->options.len > FRAGMENT_HEADER ? ip->options.len - FRAGMENT_HEADER : 0;
}

/* Why a fragment cannot belong to any datagram, ANOMALY_NONE if it can. */
static enum anomaly
judge_alone(const struct packet *packet, const struct fragment *f)
{
	if (f->length == 0)
		return ANOMALY_FRAGMENT_EMPTY;
	if (f->length > DATAGRAM_MAX || f->end + header_share(&packet->ip) > DATAGRAM_MAX)
		return ANOMALY_FRAGMENT_TOO_LONG;
	if (f->more && f->length % 8 != 0)
		return ANOMALY_FRAGMENT_UNALIGNED;
	return ANOMALY_NONE;
}

/* Whether the fragment fits the known end of the datagram. */
static bool
ends_agree(const struct datagram *d, const struct fragment *f)
{
	if (f->more)
		return d->total == 0 || f->end < d->total;
	return d->total == 0 ? f->end >= d->end : f->end == d->total;
}

/* The last piece that starts at or before `start`, 0 if there is none.  Fragments usually come in order, so the tail is
 * tried first. */
static uint16_t
piece_before(const struct reassembly *r, const struct datagram *d, uint32_t start)
{
	uint16_t before = 0, at = d->head;

	if (d->tail != 0 && r->pieces[d->tail].start * 8u <= start)
		return d->tail;
	while (at != 0 && r->pieces[at].start * 8u <= start) {
		before = at;
		at = r->pieces[at].next;
	}
	return before;
}

static bool
is_duplicate(const struct reassembly *r, const struct datagram *d, const struct fragment *f, uint16_t before)
{
	const struct piece *piece = &r->pieces[before];

	if (before == 0 || piece->start * 8u != f->start || piece->length != f->length)
		return false;
	return pool_same(r, d, f->start, view_part(f->captured, 0, piece->have));
}

static bool
overlaps(const struct reassembly *r, const struct datagram *d, const struct fragment *f, uint16_t before)
{
	const struct piece *piece = &r->pieces[before];
	uint16_t after = before == 0 ? d->head : piece->next;

	if (before != 0 && piece->start * 8u + piece->length > f->start)
		return true;
	return after != 0 && r->pieces[after].start * 8u < f->end;
}

/* --- adding a fragment --- */

static enum reassembly_verdict
discard(struct reassembly *r, struct datagram *d, enum anomaly why, struct reassembly_result *result)
{
	pool_empty(r, d);
	d->why = result->why = why;
	return REASSEMBLY_DROPPED;
}

/* Makes room for one more piece and its bytes by giving up older datagrams.  False if this datagram would have to
 * go. */
static bool
make_room(struct reassembly *r, const struct datagram *d, const struct fragment *f, uint64_t now)
{
	uint32_t blocks = pool_blocks_missing(d, f->start, f->captured.len);
	bool gave_up = false;

	while (r->pieces_free == 0 || r->blocks_free < blocks) {
		if (oldest(r) == d)
			return false;
		evict_oldest(r, now);
		gave_up = true;
	}
	if (gave_up)
		settle(r);
	return true;
}

static void
take_in(struct reassembly *r, struct datagram *d, const struct fragment *f, uint16_t before)
{
	uint16_t index = pool_take_piece(r);
	struct piece *piece = &r->pieces[index];

	*piece = (struct piece){
		.start = (uint16_t)(f->start / 8),
		.next = before == 0 ? d->head : r->pieces[before].next,
		.length = (uint16_t)f->length,
		.have = (uint16_t)f->captured.len,
	};
	if (before == 0)
		d->head = index;
	else
		r->pieces[before].next = index;
	if (before == d->tail)
		d->tail = index;
	d->count++;
	d->held += f->length;
	if (f->end > d->end)
		d->end = f->end;
	if (!f->more)
		d->total = f->end;
	pool_write(r, d, f->start, f->captured);
}

/* Length of the captured prefix: bytes up to the first one that is not captured. */
static uint32_t
captured_run(const struct reassembly *r, const struct datagram *d)
{
	for (uint16_t at = d->head; at != 0; at = r->pieces[at].next)
		if (r->pieces[at].have < r->pieces[at].length)
			return r->pieces[at].start * 8u + r->pieces[at].have;
	return d->total;
}

static enum reassembly_verdict
finish(struct reassembly *r, struct datagram *d, struct reassembly_result *result)
{
	struct whole *whole = &r->whole[r->latest ^= 1];
	uint32_t have = captured_run(r, d);

	copy_ip(&d->ip, &whole->ip, whole->header);
	pool_read(r, d, whole->bytes, have);
	*result = (struct reassembly_result){
		.why = ANOMALY_NONE,
		.first = &whole->ip,
		.bytes = whole->bytes,
		.have = have,
		.wire = d->total,
		.fragments = d->count,
	};
	r->counters.whole++;
	r->counters.incomplete += have < d->total;
	pool_remove(r, d);
	settle(r);
	return REASSEMBLY_WHOLE;
}

static struct datagram *
find_or_create(struct reassembly *r, const struct packet *fragment, uint16_t space, uint64_t now)
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
	d = pool_find(r, &key);
	if (d != NULL)
		return d;
	if (r->slots_free == 0)
		evict_oldest(r, now);
	d = pool_create(r, &key, now);
	keep_header(d, fragment);
	settle(r);
	return d;
}

static enum reassembly_verdict
add(struct reassembly *r, struct datagram *d, const struct fragment *f, uint64_t now, struct reassembly_result *result)
{
	uint16_t before;

	if (d->why != ANOMALY_NONE) {
		r->counters.discarded++;
		result->why = d->why;
		return REASSEMBLY_DROPPED;
	}
	before = piece_before(r, d, f->start);
	if (!ends_agree(d, f)) {
		r->counters.ends++;
		return discard(r, d, ANOMALY_FRAGMENT_END, result);
	}
	if (is_duplicate(r, d, f, before)) {
		r->counters.duplicates++;
		return REASSEMBLY_HELD;
	}
	if (overlaps(r, d, f, before)) {
		r->counters.overlaps++;
		return discard(r, d, ANOMALY_FRAGMENT_OVERLAP, result);
	}
	if (d->count == r->limits.fragments) {
		r->counters.crowded++;
		return discard(r, d, ANOMALY_FRAGMENT_LIMIT, result);
	}
	if (!make_room(r, d, f, now)) {
		r->counters.evicted++;
		return discard(r, d, ANOMALY_FRAGMENT_LIMIT, result);
	}
	take_in(r, d, f, before);
	return d->held == d->total ? finish(r, d, result) : REASSEMBLY_HELD;
}

enum reassembly_verdict
reassembly_add(struct reassembly *r, const struct packet *fragment, uint16_t space, uint64_t now,
	       struct reassembly_result *result)
{
	struct fragment f;
	struct datagram *d;

	*result = (struct reassembly_result){.why = ANOMALY_NONE};
	reassembly_run_timers(r, now);
	r->counters.fragments++;
	if (fragment->reason != ANOMALY_NONE && anomaly_gravity(fragment->reason) >= GRAVITY_DROP) {
		result->why = fragment->reason;
	} else {
		f = measure(fragment);
		result->why = judge_alone(fragment, &f);
	}
	if (result->why != ANOMALY_NONE) {
		r->counters.refused++;
		return REASSEMBLY_DROPPED;
	}
	d = find_or_create(r, fragment, space, now);
	if (f.start == 0 && d->why == ANOMALY_NONE && d->ip.fragment_offset != 0)
		keep_header(d, fragment);
	return add(r, d, &f, now, result);
}
