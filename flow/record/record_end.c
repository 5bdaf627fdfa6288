/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection records: the end of a connection and why, reports of open connections. */
#include <string.h>

#include "flow/table/table_internal.h"
#include "flow/tcp/tcp.h"
#include "flow/tcp/tcp_pools.h"

const char *
record_reason_name(enum record_reason reason)
{
	static const char *const names[RECORD_REASON_COUNT] = {
	    [RECORD_OPEN] = "open",
	    [RECORD_FIN] = "fin",
	    [RECORD_RESET_BY_CLIENT] = "reset-by-client",
	    [RECORD_RESET_BY_SERVER] = "reset-by-server",
	    [RECORD_REFUSED] = "refused",
	    [RECORD_UNREACHABLE] = "unreachable",
	    [RECORD_NO_ANSWER] = "no-answer",
	    [RECORD_IDLE] = "idle",
	    [RECORD_EVICTED] = "evicted",
	    [RECORD_CAPTURE_END] = "capture-end",
	};

	return names[reason];
}

/* --- the reason --- */

/* An attempt has no answer once it was repeated twice, or is so old, ns: a host that is there answers the first packet,
 * or one that is sent again after a second. */
#define ATTEMPT_PACKETS 3u
#define ATTEMPT_NS	(3 * NANOSECONDS)

/* Whether nothing was captured of the server, and nothing that the client sent proves an answer. */
static bool
record_attempt_is_unanswered(const struct flow *flow, const struct flow_record *record)
{
	unsigned client = flow_record_client(record), server = 1 - client;

	if ((record->bits & RECORD_FROM_START) == 0 && flow_record_role(record) != RECORD_ROLE_SEEN)
		return false;
	if (flow->kind == FLOW_TCP)
		return flow->tcp[server].segments_sent == 0 && (record->flags[client] & TCP_ACK) == 0;
	return flow->sctp[server].packets == 0;
}

/* Whether the attempt has waited for an answer for long enough at `now`. */
static bool
record_attempt_has_failed(const struct flow_table *table, const struct flow *flow, const struct flow_record *record,
			  uint64_t now)
{
	unsigned client = flow_record_client(record);
	uint64_t packets;

	if (flow->kind == FLOW_UDP || !record_attempt_is_unanswered(flow, record))
		return false;
	packets = flow->kind == FLOW_TCP ? flow->tcp[client].segments_sent : flow->sctp[client].packets;
	return packets >= ATTEMPT_PACKETS || now >= table->cold[flow_index_of(table, flow)].first_seen + ATTEMPT_NS;
}

/* Replaces the reason by a more exact one: a reset, the FINs of both ends, an attempt without an answer. */
static enum record_reason
record_refine_reason(const struct flow_table *table, const struct flow *flow, const struct flow_record *record,
		     enum record_reason reason, uint64_t now)
{
	unsigned client = flow_record_client(record), resets = record->bits / RECORD_RESET & 3;

	if (flow->kind == FLOW_UDP)
		return reason;
	if ((reason == RECORD_EVICTED || reason == RECORD_CAPTURE_END) && !record_flow_is_closed(flow, record))
		return record_attempt_has_failed(table, flow, record, now) ? RECORD_NO_ANSWER : reason;
	if ((record->bits & RECORD_REFUSED_ATTEMPT) != 0)
		return RECORD_REFUSED;
	if (flow->kind == FLOW_TCP && (record->bits & RECORD_UNREACHED) != 0)
		return RECORD_UNREACHABLE;
	if (resets != 0)
		return (resets >> client & 1) != 0 ? RECORD_RESET_BY_CLIENT : RECORD_RESET_BY_SERVER;
	if (flow->kind == FLOW_TCP && (flow->tcp[0].flags & flow->tcp[1].flags & TCP_EP_FIN_SENT) != 0)
		return RECORD_FIN;
	if (reason == RECORD_IDLE)
		return record_attempt_is_unanswered(flow, record) ? RECORD_NO_ANSWER : RECORD_IDLE;
	return record_flow_is_closed(flow, record) ? RECORD_FIN : reason;
}

/* --- reports --- */

static void
record_report(struct flow_table *table, const struct flow *flow, enum record_reason reason)
{
	struct record_table *records = &table->records;
	struct flow_record *record = &records->entries[flow_index_of(table, flow)];
	uint32_t answer_max_us = record->answer_max_us;

	record_measure_window(record, 0, flow->last_seen);
	record_measure_window(record, 1, flow->last_seen);
	records->totals.ended[flow->kind][reason]++;
	if (record->exchanges == 0)
		record->answer_max_us = 0;
	if (records->handler != NULL)
		records->handler(records->context, flow, record, reason);
	record->answer_max_us = answer_max_us;
}

static void
record_report_end(struct flow_table *table, const struct flow *flow, enum record_reason reason, uint64_t now)
{
	struct record_table *records = &table->records;
	struct flow_record *record = &records->entries[flow_index_of(table, flow)];

	if (records->ended == flow)
		records->ended = NULL;
	if ((record->bits & (RECORD_BEGUN | RECORD_ENDED)) != RECORD_BEGUN)
		return;
	reason = record_refine_reason(table, flow, record, reason, now);
	if (flow->kind == FLOW_TCP && reason == RECORD_NO_ANSWER && record->resent_syn < ATTEMPT_PACKETS - 1)
		records->totals.unanswered++;
	record_report(table, flow, reason);
	record->bits |= RECORD_ENDED;
}

void
record_report_removal(struct flow_table *table, const struct flow *flow, enum record_reason reason)
{
	if (table->records.entries != NULL)
		record_report_end(table, flow, reason, flow->last_seen);
}

/* --- connections that go on --- */

static struct record_excess
record_counts(const struct flow_table *table, const struct flow *flow)
{
	struct record_excess counts;

	for (unsigned end = 0; end < 2; end++) {
		counts.bytes[end] = tcp_captured_bytes(&flow->tcp[end]);
		counts.wire[end] = 0; /* the flow does not count it */
		counts.segments[end] = flow->tcp[end].segments_sent;
		counts.resent[end] = tcp_retransmits(table, flow, end);
	}
	return counts;
}

void
record_expect_more(struct flow_table *table, struct flow *flow)
{
	struct record_table *records = &table->records;
	struct flow_record *record;
	struct record_origin origin;
	unsigned named;

	if (records->entries == NULL)
		return;
	record = &records->entries[flow_index_of(table, flow)];
	if ((record->bits & (RECORD_BEGUN | RECORD_ENDED)) != (RECORD_BEGUN | RECORD_ENDED) || record->waiting ||
	    flow->tcp[0].state == TCP_STATE_TIME_WAIT || flow->tcp[1].state == TCP_STATE_TIME_WAIT)
		return;
	records->rare[flow_index_of(table, flow)].earlier = record_counts(table, flow);
	origin = record_origin(table, flow);
	named = record->named;
	flow_record_from_now(flow, record);
	record_set_origin(table, flow, origin);
	record->bits |= RECORD_ENDED;
	record->named = named & 1u;
	record->follows = record->waiting = 1;
}

static bool
record_end_goes_on(const struct tcp_endpoint *e)
{
	return tcp_state_is_synchronized((enum tcp_state)e->state) && e->state != TCP_STATE_TIME_WAIT;
}

static bool
record_flow_goes_on(const struct flow *flow)
{
	return flow->kind == FLOW_TCP && (record_end_goes_on(&flow->tcp[0]) || record_end_goes_on(&flow->tcp[1]));
}

/* An ICMP error ends the attempt of one end.  In a simultaneous open the other end keeps the record open, and the first
 * may go on: its system ignores the error, or it was forged. */
static void
record_forget_error(const struct record_table *records, struct flow_record *record, const struct flow *flow,
		    flow_index index)
{
	if (flow->kind == FLOW_TCP && (record->bits & RECORD_UNREACHED) != 0 &&
	    record_end_goes_on(&flow->tcp[records->rare[index].icmp.endpoint]))
		record->bits &= (uint16_t)~RECORD_UNREACHED;
}

/* A connection that had ended goes on: an attempt that was refused, repeated with the same numbers, or whose RST was
 * forged, so that the server answers it after all; or a connection whose RST was forged. */
static void
record_take_up(struct flow_table *table, const struct flow *flow, struct flow_record *record)
{
	uint16_t ended = RECORD_ENDED | RECORD_RESET | RECORD_RESET << 1 | RECORD_REFUSED_ATTEMPT | RECORD_UNREACHED;
	flow_index index = flow_index_of(table, flow);

	record->bits &= (uint16_t)~ended;
	record->waiting = 0;
	record_set_role(flow, record);
	if (table->records.active_interval_ns == 0)
		return;
	record->active_count = record_multiples(table, index, flow->last_seen) & RECORD_ACTIVE_MAX;
	wheel_requeue(table, index);
}

void
record_check_end(struct flow_table *table, struct flow *flow)
{
	struct record_table *records = &table->records;
	struct flow_record *record;

	if (records->entries == NULL)
		return;
	record = &records->entries[flow_index_of(table, flow)];
	if (record->waiting && record_flow_goes_on(flow))
		record_take_up(table, flow, record);
	if ((record->bits & RECORD_ENDED) != 0)
		return;
	record_forget_error(records, record, flow, flow_index_of(table, flow));
	if (!record_flow_is_closed(flow, record))
		return;
	if (records->ended != flow)
		flow_table_report_ended(table);
	records->ended = flow;
}

void
record_restart_bytes(struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	const struct flow_record *record = flow_table_record(table, flow);

	if (record != NULL && record->follows)
		table->records.rare[flow_index_of(table, flow)].earlier.bytes[endpoint] = 0;
}

void
flow_table_report_ended(struct flow_table *table)
{
	struct flow *flow = table->records.ended;

	if (__builtin_expect(flow == NULL, 1))
		return;
	record_report_end(table, flow, RECORD_FIN, flow->last_seen);
	if (table->records.active_interval_ns != 0)
		wheel_requeue(table, flow_index_of(table, flow));
}

void
flow_table_end_records(struct flow_table *table, uint64_t now)
{
	for (flow_index index = 1; table->records.entries != NULL && index <= table->high_water; index++) {
		if (flow_cold_serial(&table->cold[index]) == 0)
			continue;
		record_prepare(table, &table->hot[index]);
		record_report_end(table, &table->hot[index], RECORD_CAPTURE_END, now);
	}
}

/* --- open connections --- */

/* Time may jump: multiples in which the connection was idle cost nothing. */
void
record_run_active(struct flow_table *table, const struct flow *flow, uint64_t now)
{
	flow_index index = flow_index_of(table, flow);
	struct flow_record *record = &table->records.entries[index];
	uint64_t previous = table->cold[index].first_seen + record->active_count * table->records.active_interval_ns;

	if (flow->last_seen < previous) {
		record->active_count = record_multiples(table, index, now) & RECORD_ACTIVE_MAX;
		return;
	}
	record->active_count++;
	record_report(table, flow, RECORD_OPEN);
}

void
flow_table_set_active_interval(struct flow_table *table, uint64_t interval_ns, uint64_t now)
{
	struct record_table *records = &table->records;

	if (interval_ns == records->active_interval_ns)
		return;
	records->active_interval_ns = interval_ns;
	if (records->entries == NULL)
		return;
	for (flow_index index = 1; interval_ns != 0 && index <= table->high_water; index++) {
		if ((records->entries[index].bits & RECORD_BEGUN) == 0)
			continue; /* its memory may be untouched */
		records->entries[index].active_count = record_multiples(table, index, now) & RECORD_ACTIVE_MAX;
	}
	wheel_requeue_all(table);
}

uint64_t
flow_record_active_time(const struct flow_table *table, const struct flow *flow, const struct flow_record *record)
{
	return flow_first_seen(table, flow) + record->active_count * table->records.active_interval_ns;
}

/* --- for readers --- */

void
flow_table_set_record_handler(struct flow_table *table, record_handler *handler, void *context)
{
	table->records.handler = handler;
	table->records.context = context;
}

bool
flow_table_keeps_records(const struct flow_table *table)
{
	return table->records.entries != NULL;
}

enum record_reason
flow_record_reason(const struct flow_table *table, const struct flow *flow, const struct flow_record *record,
		   uint64_t time)
{
	uint64_t now = time + table->clock_offset;

	if (record_flow_is_closed(flow, record))
		return record_refine_reason(table, flow, record, RECORD_FIN, now);
	return record_attempt_has_failed(table, flow, record, now) ? RECORD_NO_ANSWER : RECORD_OPEN;
}

void
record_check_attempt(struct flow_table *table, const struct flow *flow)
{
	const struct flow_record *record = &table->records.entries[flow_index_of(table, flow)];

	if (record->resent_syn == ATTEMPT_PACKETS - 1 && record_attempt_is_unanswered(flow, record))
		table->records.totals.unanswered++;
}

const struct flow_time *
flow_record_time(const struct flow_table *table, const struct flow *flow, uint64_t us[WAIT_CLASSES])
{
	static const struct flow_time unmeasured = {
	    .answer_min_us = {UINT32_MAX, UINT32_MAX}, .rtt = {{.min_us = UINT32_MAX}, {.min_us = UINT32_MAX}}};
	uint64_t first = table->cold[flow_index_of(table, flow)].first_seen, last = flow->last_seen;
	const struct flow_time *time;

	if (flow_table_record(table, flow) == NULL) {
		memset(us, 0, WAIT_CLASSES * sizeof us[0]);
		us[WAIT_UNKNOWN] = last > first ? (last - first) / 1000 : 0;
		return &unmeasured;
	}
	time = &table->records.times[flow_index_of(table, flow)];
	time_divide(time, flow->last_seen, us);
	return time;
}

/* An SCTP association without a record is assumed to have been one: both of its ends are closed. */
bool
flow_has_ended(const struct flow_table *table, const struct flow *flow)
{
	static const struct flow_record unkept = {.bits = RECORD_DOWN};
	const struct flow_record *record = flow_table_record(table, flow);

	return record_flow_is_closed(flow, record != NULL ? record : &unkept);
}

const struct record_totals *
flow_table_record_totals(const struct flow_table *table)
{
	return &table->records.totals;
}

uint64_t
flow_record_since(const struct flow_table *table, const struct flow *flow, const struct flow_record *record)
{
	if ((record->bits & RECORD_LATE) != 0)
		return flow_table_time_stamp(table, record->since);
	return flow_first_seen(table, flow);
}

struct record_excess
flow_record_excess(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_record *record = flow_table_record(table, flow);
	struct record_excess excess = {.bytes = {0, 0}};
	const struct pending_syn *syn;

	if (record == NULL || flow->kind != FLOW_TCP)
		return excess;
	if (record->follows)
		excess = table->records.rare[flow_index_of(table, flow)].earlier;
	syn = record_flow_is_closed(flow, record) ? pending_syn_find(table, flow) : NULL;
	if (syn != NULL && syn->ts >= flow->last_seen) {
		excess.segments[syn->sender]++;
		excess.wire[syn->sender] += syn->wire;
	}
	return excess;
}

const struct record_icmp *
flow_record_icmp(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_record *record = flow_table_record(table, flow);

	return record != NULL && flow->kind == FLOW_TCP && (record->bits & RECORD_UNREACHED) != 0
		   ? &table->records.rare[flow_index_of(table, flow)].icmp
		   : NULL;
}

const char *
flow_record_interface(const struct flow_table *table, const struct flow_record *record)
{
	return table->records.interfaces == NULL ? "" : table->records.interfaces[record->interface];
}
