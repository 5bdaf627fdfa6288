/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of connection records: the TCP fixture with frames of known lengths on an interface, and the reports of
 * the table. */
#ifndef NETOBS_TESTS_FLOW_RECORD_RECORD_FIXTURE_H
#define NETOBS_TESTS_FLOW_RECORD_RECORD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flow/record/flow_record.h"
#include "tests/flow/tcp/tcp_fixture.h"

#define SECONDS NANOSECONDS
#define FRAME_HEADERS 54u /* Ethernet, IPv4, TCP */

/* The reports of a table, the latest with copies of what it had. */
static struct {
	struct flow_table *table;
	unsigned count;
	enum record_reason reason;
	struct flow flow;
	struct flow_record record;
	uint64_t end, active_time;
	char interface[16];
} reports;

static inline void
reports_take(void *context, const struct flow *flow, const struct flow_record *record, enum record_reason reason)
{
	struct flow_table *table = context;

	/* The flow is still intact. */
	assert_ptr_equal(flow_table_lookup(table, &flow->key, flow->hash), flow);
	assert_ptr_equal(flow_table_record(table, flow), record);
	reports.count++;
	reports.reason = reason;
	reports.flow = *flow;
	reports.record = *record;
	reports.end = flow_last_seen(table, flow);
	reports.active_time = flow_record_active_time(table, flow, record);
	memcpy(reports.interface, flow_record_interface(table, record), sizeof reports.interface);
}

static inline void
reports_begin(struct flow_table *table)
{
	memset(&reports, 0, sizeof reports);
	reports.table = table;
	flow_table_set_record_handler(table, reports_take, table);
}

/* Exactly one connection was reported since the last call, for this reason. */
static inline void
reports_expect(enum record_reason reason)
{
	assert_int_equal(reports.count, 1);
	assert_int_equal(reports.reason, reason);
	reports.count = 0;
}

static const struct interface fixture_interface = {.name = "eth0", .ifindex = 2};

/* One segment is captured `ns` after the one before. */
static inline void
record_fixture_feed(struct tcp_fixture *f, uint64_t ns, struct test_segment s)
{
	struct packet packet = tcp_fixture_packet(&s);
	struct frame frame = {.interface = &fixture_interface, .len = FRAME_HEADERS + s.len};
	struct flow_events events = {.count = 0};
	struct flow_key key;
	unsigned sender;

	f->now += ns;
	packet.frame = &frame;
	flow_table_run_timers(f->table, f->now);
	flow_key_from_packet(&packet, &key, &sender);
	f->flow = flow_table_lookup_tcp(f->table, &packet, &key, flow_key_hash(f->table, &key), sender, f->now);
	if (f->flow == NULL)
		return;
	tcp_segment_sent(f->table, f->flow, sender, &packet, f->now, &events);
	events.count = 0;
	(void)tcp_segment_received(f->table, f->flow, 1 - sender, &packet, f->now, &events);
	flow_table_report_ended(f->table);
}

static inline const struct flow_record *
record_fixture_record(const struct tcp_fixture *f)
{
	const struct flow_record *record = flow_table_record(f->table, f->flow);

	assert_non_null(record);
	return record;
}

#endif
