/* SPDX-License-Identifier: BSD-2-Clause */
/* What a packet changes in the record of its connection: inline what the fast path needs. */
#ifndef NETOBS_FLOW_RECORD_RECORD_COUNT_H
#define NETOBS_FLOW_RECORD_RECORD_COUNT_H

#include "flow/record/record_internal.h"

/* Functions of the fast path: gcc considers them too large. */
#define RECORD_INLINE static __attribute__((always_inline)) inline void

/* One direction of a UDP stream may be captured late: interval, in microseconds, in which a datagram of the client
 * after one of the server may be the request that the latter has answered. */
#define RECORD_EARLY_US 1000000u

/* The rare cases of a packet. */
void record_set_window(struct record_table *records, struct flow_record *record, unsigned sender, bool closed,
		       uint64_t now);
void record_take_answer(struct record_table *records, struct flow_record *record, const struct record_packet *p);

/* Microseconds between two packet times, 0 if they decrease. */
static inline uint32_t
record_us_between(uint64_t from, uint64_t to)
{
	uint64_t us = to > from ? (to - from) / 1000 : 0;

	return us < RECORD_UNKNOWN_US ? (uint32_t)us : RECORD_UNKNOWN_US - 1;
}

/* Whether the record has begun and a packet is counted in it. */
static inline bool
record_has_packets(const struct flow_record *record)
{
	return (record->bits & RECORD_BEGUN) != 0 && (record->wire[0] | record->wire[1]) != 0;
}

static inline void
record_set_time(uint32_t *low, uint16_t *high, uint64_t now)
{
	uint64_t us = now / 1000;

	*low = (uint32_t)us;
	*high = (uint16_t)(us >> 32);
}

/* Microseconds since a time in two fields; 0 if the time stamps decrease. */
static inline uint32_t
record_us_since(uint32_t low, uint16_t high, uint64_t now)
{
	uint64_t then = (uint64_t)high << 32 | low, us = (now / 1000 - then) & 0xffffffffffffull;

	if (us >> 47 != 0)
		return 0;
	return us < RECORD_UNKNOWN_US ? (uint32_t)us : RECORD_UNKNOWN_US - 1;
}

/* By the highest bit of a time in microseconds: its bucket, or the one before. */
extern const uint8_t record_buckets_by_bit[32];

static inline void
record_add_sample(struct record_histogram *histogram, uint32_t us)
{
	unsigned bucket = record_buckets_by_bit[31 - __builtin_clz(us | 1)];

	bucket += us > record_bucket_bounds_us[bucket];
	histogram->count[bucket]++;
	histogram->sum_us += us;
}

RECORD_INLINE
record_add_round_trip(struct record_table *records, struct flow_time *time, unsigned end, uint32_t us)
{
	time_add_round_trip(time, end, us);
	record_add_sample(&records->totals.rtt, us);
}

/* Before the server's first payload: microseconds from the first packet to `now`. */
static inline uint32_t
record_us_since_first(const struct flow_record *record, uint64_t now)
{
	uint32_t us = record_us_since(record->request_us, record->request_high, now);

	return us < RECORD_UNKNOWN_US - 1 - record->answer_max_us ? record->answer_max_us + us : RECORD_UNKNOWN_US - 1;
}

/* Fresh payload: part of a request, or an answer. */
RECORD_INLINE
record_take_payload(struct record_table *records, struct flow_record *record, struct record_packet p)
{
	uint16_t early = p.udp ? RECORD_EARLY : 0;

	if (p.sender == flow_record_client(record)) {
		if (record_unlikely((record->bits & (RECORD_SERVER_SENT | early)) != RECORD_SERVER_SENT)) {
			if ((record->bits & RECORD_SERVER_SENT) == 0)
				record->answer_max_us = record_us_since_first(record, p.now);
			else if (record_us_since(record->request_us, record->request_high, p.now) <= RECORD_EARLY_US)
				return;
			else
				record->bits &= (uint16_t)~RECORD_EARLY;
		}
		record_set_time(&record->request_us, &record->request_high, p.now);
		record->bits |= RECORD_WAITS;
		if (record_unlikely(p.unordered))
			record->bits &= (uint16_t)~RECORD_WAITS;
	} else if (record_unlikely((record->bits & (RECORD_WAITS | RECORD_SERVER_SENT | early)) !=
				   RECORD_SERVER_SENT)) {
		record_take_answer(records, record, &p);
	}
}

/* Counts a packet.  The record has begun. */
RECORD_INLINE
record_apply_packet(struct record_table *records, struct flow_record *record, struct flow_time *time,
		    struct record_packet p)
{
	time_take_packet(time, &(struct time_packet){
				   .now = p.now,
				   .from = p.from,
				   .to = p.to,
				   .sender = p.sender,
				   .fresh = p.fresh,
				   .flags = p.flags,
				   .closed = {(record->bits & RECORD_WINDOW_CLOSED) != 0,
					      (record->bits & RECORD_WINDOW_CLOSED << 1) != 0},
				   .hole = p.hole,
				   .resent = p.resent,
				   .needless = p.needless,
				   .ambiguous = p.fresh != 0 && !p.answers && p.sender != flow_record_client(record),
			       });
	record->wire[p.sender] += p.wire;
	record->flags[p.sender] |= p.flags;
	if (record_unlikely(p.window_closed || (record->bits & 3 * RECORD_WINDOW_CLOSED) != 0))
		record_set_window(records, record, p.sender, p.window_closed, p.now);
	if (p.fresh != 0)
		record_take_payload(records, record, p);
}

#endif
