/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection records of TCP: each field, each reason, once per connection. */
#include "tests/flow/record/record_fixture.h"

#define MS MILLISECONDS

static struct tcp_fixture t;

static int
begin(void **state)
{
	(void)state;
	tcp_fixture_setup(&t, NANOSECONDS / 1000);
	reports_begin(t.table);
	assert_true(flow_table_keep_records(t.table, true));
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	return 0;
}

static void
feed(uint64_t ns, struct test_segment s)
{
	record_fixture_feed(&t, ns, s);
}

static const struct flow_record *
record(void)
{
	return record_fixture_record(&t);
}

static const struct record_totals *
totals(void)
{
	return flow_table_record_totals(t.table);
}

/* SYN; 30 ms later SYN,ACK; 1 ms later the ACK. */
static void
open_connection(void)
{
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(30 * MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(1 * MS, segment_empty(A, TCP_ACK, 1001, 5001));
}

/* Both FINs and their ACKs; `a` and `b` are the next sequence numbers. */
static void
close_connection(uint32_t a, uint32_t b)
{
	feed(MS, segment_empty(A, TCP_FIN | TCP_ACK, a, b));
	feed(MS, segment_empty(B, TCP_FIN | TCP_ACK, b, a + 1));
	assert_int_equal(reports.count, 0);
	feed(MS, segment_empty(A, TCP_ACK, a + 1, b + 1));
}

/* --- counts --- */

static void
test_a_whole_connection(void **state)
{
	(void)state;
	open_connection();
	feed(10 * MS, segment_data(A, 1001, 5001, 100));
	feed(40 * MS, segment_data(B, 5001, 1101, 1000));
	feed(MS, (struct test_segment){.from = A, .flags = TCP_ACK | TCP_PSH, .seq = 1101, .ack = 6001, .len = 50});
	close_connection(1151, 6001);
	reports_expect(RECORD_FIN);
	assert_int_equal(reports.end, FIXTURE_BEGIN + 85 * MS);
	assert_int_equal(reports.record.wire[A], 6 * FRAME_HEADERS + 150);
	assert_int_equal(reports.record.wire[B], 3 * FRAME_HEADERS + 1000);
	assert_int_equal(reports.record.flags[A], TCP_SYN | TCP_ACK | TCP_PSH | TCP_FIN);
	assert_int_equal(reports.record.flags[B], TCP_SYN | TCP_ACK | TCP_FIN);
	assert_int_equal(flow_record_client(&reports.record), A);
	assert_int_equal(flow_record_role(&reports.record), RECORD_ROLE_SEEN);
	assert_int_equal(flow_record_handshake_us(&reports.record), 31000);
	assert_int_equal(flow_record_first_byte_us(&reports.record), 81000);
	assert_int_equal(reports.record.exchanges, 1);
	assert_int_equal(reports.record.answer_sum_us, 40000);
	assert_int_equal(reports.record.answer_max_us, 40000);
	assert_int_equal(reports.record.vlan, RECORD_NO_VLAN);
	assert_string_equal(reports.interface, "eth0");
	assert_int_equal(reports.record.anomalies, 0);
	/* Later packets are not in the record, and there is no other report. */
	feed(MS, segment_empty(A, TCP_ACK, 1152, 6002));
	t.now += 100 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	flow_table_end_records(t.table, t.now);
	flow_table_clear(t.table);
	assert_int_equal(reports.count, 0);
	assert_int_equal(totals()->ended[FLOW_TCP][RECORD_FIN], 1);
	assert_int_equal(record_histogram_samples(&totals()->handshake), 1);
	assert_int_equal(totals()->handshake.sum_us, 31000);
	assert_int_equal(totals()->handshake.count[8], 1); /* 25 to 50 ms */
	assert_int_equal(totals()->answer.sum_us, 40000);
}

/* SYN to SYN,ACK 30 ms, SYN,ACK to ACK 1 ms, then data and its ACK. */
static void
test_round_trips(void **state)
{
	const struct flow_time *time;
	uint64_t us[WAIT_CLASSES];

	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(5 * MS, segment_empty(B, TCP_ACK, 5001, 1101));
	time = flow_record_time(t.table, t.flow, us);
	assert_int_equal(time->rtt[A].samples, 1);
	assert_int_equal(time->rtt[A].max_us, 1000);
	assert_int_equal(time->rtt[B].samples, 2);
	assert_int_equal(time->rtt[B].min_us, 5000);
	assert_int_equal(time->rtt[B].max_us, 30000);
	assert_int_equal(time->rtt[B].sum_us, 35000);
	assert_int_equal(record_histogram_samples(&totals()->rtt), 3);
	assert_int_equal(totals()->rtt.sum_us, 36000);
	assert_int_equal(totals()->rtt.count[3], 1); /* 0.5 to 1 ms, inclusive */
}

static void
test_a_client_that_thinks_is_no_slow_server(void **state)
{
	(void)state;
	open_connection();
	feed(1300 * MS, segment_data(A, 1001, 5001, 100));
	feed(20 * MS, segment_data(B, 5001, 1101, 500));
	feed(5 * SECONDS, segment_data(A, 1101, 5501, 100));
	feed(60 * MS, segment_data(B, 5501, 1201, 500));
	feed(10 * MS, segment_data(B, 6001, 1201, 500)); /* more of the same answer */
	assert_int_equal(record()->exchanges, 2);
	assert_int_equal(record()->answer_sum_us, 80000);
	assert_int_equal(record()->answer_max_us, 60000);
	assert_int_equal(flow_record_first_byte_us(record()), 1351000);
}

/* The request ends with its last new byte: the retransmission is not one. */
static void
test_a_retransmitted_request(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(300 * MS, segment_data(A, 1001, 5001, 100));
	feed(20 * MS, segment_data(B, 5001, 1101, 500));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, 320000);
	feed(MS, segment_data(B, 5001, 1101, 500)); /* so is the answer's */
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->resent[RETRANSMIT_FAST - 1] + record()->resent[RETRANSMIT_TIMEOUT - 1] +
			     record()->resent[RETRANSMIT_TAIL_LOSS_PROBE - 1] +
			     record()->resent[RETRANSMIT_SPURIOUS - 1],
			 tcp_retransmits(t.table, t.flow, A) + tcp_retransmits(t.table, t.flow, B));
	assert_int_equal(tcp_retransmits(t.table, t.flow, A), 1);
}

/* Requests in a row are one; what the server sent before it received the last of them is not an answer to it. */
static void
test_pipelined_requests(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(MS, segment_data(A, 1101, 5001, 100));
	feed(10 * MS, segment_data(B, 5001, 1101, 500));
	assert_int_equal(record()->exchanges, 0);
	feed(15 * MS, segment_data(B, 5501, 1201, 500));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, 25000);
	feed(MS, segment_data(B, 6001, 1201, 500));
	assert_int_equal(record()->exchanges, 1);
}

/* A request with the client's FIN is answered, although the FIN is not acknowledged yet. */
static void
test_a_request_with_fin(void **state)
{
	(void)state;
	open_connection();
	feed(MS, (struct test_segment){.from = A, .flags = TCP_ACK | TCP_FIN, .seq = 1001, .ack = 5001, .len = 100});
	feed(10 * MS, segment_data(B, 5001, 1101, 500));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, 10000);
}

static void
test_a_server_that_speaks_first(void **state)
{
	(void)state;
	open_connection();
	feed(50 * MS, segment_data(B, 5001, 1001, 30));
	assert_int_equal(record()->exchanges, 0);
	assert_int_equal(flow_record_first_byte_us(record()), 81000);
	feed(MS, segment_data(A, 1001, 5031, 20));
	feed(2 * MS, segment_data(B, 5031, 1021, 20));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, 2000);
}

/* More than 71 minutes: 2^32 us. */
static void
test_a_very_late_answer(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(0, segment_empty(B, TCP_ACK, 5001, 1101));
	feed(5000 * SECONDS, segment_data(B, 5001, 1101, 500));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, RECORD_UNKNOWN_US - 1); /* saturated */
}

/* Requests captured after their answers, then one in front of its own. */
static void
test_requests_captured_late(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_data(B, 5001, 1101, 500));
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(MS, segment_data(B, 5501, 1201, 500));
	feed(MS, segment_data(A, 1101, 5501, 100));
	feed(MS, segment_empty(A, TCP_ACK, 1201, 6001));
	assert_int_equal(record()->exchanges, 0);
	feed(MS, segment_data(A, 1201, 6001, 100));
	feed(7 * MS, segment_data(B, 6001, 1301, 500));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, 7000);
}

/* An ACK of more than was sent, whether its receiver must refuse it or the window allows it: the next segment of its
 * sender denies it, and later requests and answers have their times. */
static void
test_a_stray_ack_delays_no_request(void **state)
{
	static const uint32_t beyond[] = {500, 5000, 100000};

	(void)state;
	for (unsigned from = A; from <= B; from++) {
		for (unsigned k = 0; k < sizeof beyond / sizeof beyond[0]; k++) {
			open_connection();
			feed(MS, segment_data(A, 1001, 5001, 100));
			feed(MS, segment_data(B, 5001, 1101, 500));
			feed(MS, segment_empty(A, TCP_ACK, 1101, 5501));
			feed(MS, from == A ? segment_empty(A, TCP_ACK, 1101, 5501 + beyond[k]) :
					     segment_empty(B, TCP_ACK, 5501, 1101 + beyond[k]));
			feed(MS, segment_empty(A, TCP_ACK, 1101, 5501));
			feed(MS, segment_empty(B, TCP_ACK, 5501, 1101));
			feed(MS, segment_data(A, 1101, 5501, 100));
			feed(7 * MS, segment_data(B, 5501, 1201, 500));
			assert_int_equal(record()->exchanges, 2);
			assert_int_equal(record()->answer_max_us, 7000);
			end(NULL);
			begin(NULL);
		}
	}
}

/* Answers captured after the ACK of them. */
static void
test_answers_captured_late(void **state)
{
	(void)state;
	open_connection();
	for (uint32_t k = 0; k < 3; k++) {
		feed(MS, segment_data(A, 1001 + 100 * k, 5001 + 500 * k, 100));
		feed(MS, segment_empty(A, TCP_ACK, 1101 + 100 * k, 5501 + 500 * k));
		feed(MS, segment_data(B, 5001 + 500 * k, 1101 + 100 * k, 500));
	}
	assert_int_equal(record()->exchanges, 0);
}

static void
test_time_stamps_that_decrease(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	t.now -= 20 * MS;
	feed(0, segment_data(B, 5001, 1101, 500));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, 0);
}

static void
test_zero_windows(void **state)
{
	struct test_segment closed = {.from = B, .flags = TCP_ACK, .seq = 5001, .ack = 1101, .window = -1};

	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(MS, closed);
	feed(100 * MS, closed); /* still */
	assert_int_equal(record()->zero_windows[B], 1);
	feed(100 * MS, segment_empty(B, TCP_ACK, 5001, 1101));
	assert_int_equal(record()->zero_window_us, 200000);
	feed(MS, segment_data(A, 1101, 5001, 100));
	closed.ack = 1201;
	feed(MS, closed);
	feed(50 * MS, segment_empty(B, TCP_ACK, 5001, 1201));
	assert_int_equal(record()->zero_windows[B], 2);
	assert_int_equal(record()->zero_windows[A], 0);
	assert_int_equal(record()->zero_window_us, 200000);
	assert_int_equal(totals()->zero_windows[1], 2);
	assert_int_equal(totals()->zero_windows[0], 0);
}

static void
test_a_window_that_is_never_opened_again(void **state)
{
	struct test_segment closed = {.from = B, .flags = TCP_ACK, .seq = 5001, .ack = 1101, .window = -1};

	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(MS, closed);
	feed(7 * SECONDS, closed);
	assert_int_equal(record()->zero_window_us, 0);
	flow_table_end_records(t.table, t.now);
	reports_expect(RECORD_CAPTURE_END);
	assert_int_equal(reports.record.zero_window_us, 7000000);
	assert_int_equal(reports.record.zero_windows[B], 1);
}

/* The window field of a RST says nothing. */
static void
test_a_reset_closes_no_window(void **state)
{
	(void)state;
	open_connection();
	feed(MS, (struct test_segment){.from = B, .flags = TCP_RST, .seq = 5001, .window = -1});
	assert_int_equal(record()->zero_windows[B], 0);
}

static void
test_resent_by_kind(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(SECONDS, segment_empty(A, TCP_SYN, 1000, 0));
	feed(30 * MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(SECONDS, segment_data(A, 1001, 5001, 100));
	feed(MS, segment_empty(B, TCP_ACK, 5001, 1101));
	assert_int_equal(flow_record_resent(record(), RETRANSMIT_SYN), 1);
	assert_int_equal(flow_record_resent(record(), RETRANSMIT_TIMEOUT), 1);
	assert_int_equal(flow_record_resent(record(), RETRANSMIT_FAST), 0);
	assert_int_equal(totals()->resent[RETRANSMIT_SYN], 1);
	assert_int_equal(totals()->resent[RETRANSMIT_TIMEOUT], 1);
	/* The handshake begins with the first SYN. */
	assert_int_equal(flow_record_handshake_us(record()), 1031000);
	assert_int_equal(record()->wire[A], 5 * FRAME_HEADERS + 200);
}

/* Identifications show that the second segment was sent first. */
static void
test_out_of_order(void **state)
{
	static const struct {
		uint32_t seq;
		uint16_t ident;
	} segments[] = {{1001, 10}, {1101, 11}, {1301, 13}, {1201, 12}};

	(void)state;
	open_connection();
	for (unsigned i = 0; i < 4; i++) {
		struct test_segment s = segment_data(A, segments[i].seq, 5001, 100);

		s.ident = segments[i].ident;
		feed(MS, s);
	}
	assert_int_equal(record()->out_of_order[A], 1);
	assert_int_equal(record()->out_of_order[B], 0);
	assert_int_equal(totals()->out_of_order, 1);
	assert_int_equal(tcp_retransmits(t.table, t.flow, A), 0);
}

/* A segment that is captured twice is one. */
static void
test_a_duplicate_counts_once(void **state)
{
	struct test_segment s = segment_data(A, 1001, 5001, 100);

	(void)state;
	open_connection();
	s.ident = 77;
	feed(MS, s);
	feed(MS / 100, s);
	assert_int_equal(record()->wire[A], 3 * FRAME_HEADERS + 100);
	assert_int_equal(t.flow->tcp[A].segments_sent, 3);
}

/* The receiver ignores a segment far outside its window. */
static void
test_anomalies(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001 + 900000, 5001, 100));
	feed(MS, segment_data(A, 1001 + 900000, 5001, 100));
	assert_int_equal(record()->anomalies, 2);
	assert_int_equal(record()->first_anomaly, ANOMALY_TCP_OUTSIDE_WINDOW);
}

/* --- client and server --- */

static void
test_mid_stream_by_port(void **state)
{
	(void)state;
	feed(0, segment_data(B, 5001, 1001, 100)); /* from port 80 to port 1000: both are well known */
	assert_int_equal(flow_record_role(record()), RECORD_ROLE_FIRST);
	assert_int_equal(flow_record_client(record()), B);
	assert_int_equal(flow_record_first_byte_us(record()), RECORD_UNKNOWN_US);
	feed(MS, segment_data(A, 1001, 5101, 50));
	assert_int_equal(flow_record_first_byte_us(record()), RECORD_UNKNOWN_US);
	assert_int_equal(flow_record_handshake_us(record()), RECORD_UNKNOWN_US);
	assert_int_equal(record()->exchanges, 1);
	close_connection(1051, 5101);
	reports_expect(RECORD_FIN);
}

static void
test_a_syn_ack_shows_the_server(void **state)
{
	(void)state;
	feed(0, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	assert_int_equal(flow_record_role(record()), RECORD_ROLE_SEEN);
	assert_int_equal(flow_record_client(record()), A);
	assert_int_equal(flow_record_handshake_us(record()), RECORD_UNKNOWN_US);
}

/* --- reasons --- */

static void
test_refused(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_RST | TCP_ACK, 0, 1001));
	reports_expect(RECORD_REFUSED);
	assert_int_equal(totals()->ended[FLOW_TCP][RECORD_REFUSED], 1);
	assert_int_equal(totals()->resets[1][TCP_STATE_NONE], 0);
	/* Some hosts repeat the attempt with the same numbers: that is the same connection. */
	feed(SECONDS, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_RST | TCP_ACK, 0, 1001));
	flow_table_end_records(t.table, t.now);
	assert_int_equal(reports.count, 0);
}

/* The repeated attempt succeeds: the connection is reported again, with its own counts. */
static void
test_refused_then_accepted(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_RST | TCP_ACK, 0, 1001));
	reports_expect(RECORD_REFUSED);
	feed(SECONDS, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	close_connection(1001, 5001);
	reports_expect(RECORD_FIN);
}

/* The RST was forged: the server accepts the attempt, and the connection is reported with what it carries. */
static void
test_refused_by_a_forged_reset(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_RST | TCP_ACK, 0, 1001));
	reports_expect(RECORD_REFUSED);
	feed(MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(MS, segment_data(B, 5001, 1101, 200));
	assert_int_equal(reports.count, 0);
	flow_table_end_records(t.table, t.now);
	reports_expect(RECORD_CAPTURE_END);
	assert_int_equal(reports.record.wire[B], 2 * FRAME_HEADERS + 200);
	assert_int_equal(reports.flow.tcp[A].bytes, 100);
}

/* No packet follows the one that shows that the server has accepted: the interface is still known. */
static void
test_the_interface_of_a_repeated_attempt(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_RST | TCP_ACK, 0, 1001));
	reports_expect(RECORD_REFUSED);
	feed(SECONDS, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	flow_table_end_records(t.table, t.now);
	reports_expect(RECORD_CAPTURE_END);
	assert_string_equal(reports.interface, "eth0");
}

static void
test_no_answer(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(SECONDS, segment_empty(A, TCP_SYN, 1000, 0));
	t.now += 200 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_NO_ANSWER);
	assert_int_equal(reports.end, FIXTURE_BEGIN + SECONDS);
}

/* The capture ends: an attempt that was repeated twice, or waited for 3 s, has no answer; a younger one may get one. */
static void
test_no_answer_by_the_end(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(SECONDS, segment_empty(A, TCP_SYN, 1000, 0));
	assert_int_equal(flow_record_reason(t.table, t.flow, record(), t.now), RECORD_OPEN);
	assert_int_equal(flow_table_record_totals(t.table)->unanswered, 0);
	feed(SECONDS, segment_empty(A, TCP_SYN, 1000, 0));
	assert_int_equal(flow_table_record_totals(t.table)->unanswered, 1);
	assert_int_equal(flow_record_reason(t.table, t.flow, record(), t.now), RECORD_NO_ANSWER);
	feed(SECONDS / 2, segment_empty(A, TCP_SYN, 1000, 0));
	flow_table_end_records(t.table, t.now);
	reports_expect(RECORD_NO_ANSWER);
	assert_int_equal(flow_table_record_totals(t.table)->unanswered, 1);
}

static void
test_no_answer_for_long(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	assert_int_equal(flow_record_reason(t.table, t.flow, record(), t.now + 3 * SECONDS - 1), RECORD_OPEN);
	assert_int_equal(flow_record_reason(t.table, t.flow, record(), t.now + 3 * SECONDS), RECORD_NO_ANSWER);
	flow_table_end_records(t.table, t.now + 3 * SECONDS);
	reports_expect(RECORD_NO_ANSWER);
	assert_int_equal(flow_table_record_totals(t.table)->unanswered, 1);
}

static void
test_an_answer_may_follow(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	flow_table_end_records(t.table, t.now + 3 * SECONDS - 1);
	reports_expect(RECORD_CAPTURE_END);
	assert_int_equal(flow_table_record_totals(t.table)->unanswered, 0);
}

/* The capture has one direction: the ACK of the client proves the answer. */
static void
test_an_answer_that_was_not_captured(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(MS, segment_empty(A, TCP_FIN | TCP_ACK, 1101, 5201));
	t.now += 5 * 86400 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_IDLE);
}

static void
test_a_handshake_that_was_not_completed_is_idle(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	t.now += 200 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_IDLE);
}

static void
test_reset_by_server(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_data(A, 1001, 5001, 100));
	feed(MS, segment_empty(B, TCP_RST | TCP_ACK, 5001, 1101));
	t.now += SECONDS;
	flow_table_run_timers(t.table, t.now); /* nothing confirms the RST: it takes effect by a timer */
	reports_expect(RECORD_RESET_BY_SERVER);
	assert_int_equal(reports.end, t.now - SECONDS);
	assert_int_equal(totals()->resets[1][TCP_STATE_ESTABLISHED], 1);
}

static void
test_reset_by_client(void **state)
{
	(void)state;
	open_connection();
	feed(MS, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	feed(MS, segment_data(B, 5001, 1002, 100));
	feed(MS, segment_empty(A, TCP_RST, 1002, 0));
	tcp_flush_deferred(t.table, t.now);
	reports_expect(RECORD_RESET_BY_CLIENT);
	assert_int_equal(totals()->ended[FLOW_TCP][RECORD_RESET_BY_CLIENT], 1);
}

/* A scanner resets the connection that it has half opened. */
static void
test_half_open_scan(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_RST, 1001, 0));
	reports_expect(RECORD_RESET_BY_CLIENT);
}

static void
test_idle(void **state)
{
	(void)state;
	open_connection();
	t.now += 500000 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_IDLE);
}

static void
test_capture_end(void **state)
{
	(void)state;
	open_connection();
	flow_table_end_records(t.table, t.now);
	reports_expect(RECORD_CAPTURE_END);
	flow_table_end_records(t.table, t.now);
	flow_table_clear(t.table);
	assert_int_equal(reports.count, 0);
}

static void
test_a_cleared_table(void **state)
{
	(void)state;
	open_connection();
	flow_table_clear(t.table);
	reports_expect(RECORD_CAPTURE_END);
}

/* One packet ends a connection and begins the next. */
static void
test_reused_ports(void **state)
{
	(void)state;
	open_connection();
	close_connection(1001, 5001);
	reports_expect(RECORD_FIN);
	feed(SECONDS, segment_empty(A, TCP_SYN, 900000, 0));
	assert_int_equal(reports.count, 0);
	assert_int_equal(record()->wire[A], FRAME_HEADERS);
	feed(MS, segment_empty(B, TCP_SYN | TCP_ACK, 70000, 900001));
	feed(MS, segment_empty(A, TCP_ACK, 900001, 70001));
	close_connection(900001, 70001);
	reports_expect(RECORD_FIN);
	assert_int_equal(flow_record_handshake_us(&reports.record), 2000);
}

/* The receiver has restarted: the SYN is answered, and the old connection has ended. */
static void
test_reused_without_an_end(void **state)
{
	(void)state;
	open_connection();
	feed(10 * SECONDS, segment_empty(A, TCP_SYN, 900000, 0));
	assert_int_equal(reports.count, 0);
	feed(MS, segment_empty(B, TCP_SYN | TCP_ACK, 70000, 900001));
	reports_expect(RECORD_IDLE);
	assert_int_equal(flow_record_client(record()), A);
	assert_int_equal(record()->wire[A], FRAME_HEADERS);
	assert_int_equal(record()->wire[B], FRAME_HEADERS);
	assert_string_equal(flow_record_interface(t.table, record()), "eth0");
}

static void
test_reused_without_an_answer(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(SECONDS, segment_empty(A, TCP_SYN, 2000, 0));
	reports_expect(RECORD_NO_ANSWER);
}

/* --- records from later on --- */

/* What was waited for is unknown without a record. */
static void
test_time_without_a_record(void **state)
{
	const struct flow_time *time;
	uint64_t us[WAIT_CLASSES];

	(void)state;
	assert_true(flow_table_keep_records(t.table, false));
	open_connection();
	assert_null(flow_table_record(t.table, t.flow));
	time = flow_record_time(t.table, t.flow, us);
	for (unsigned i = 0; i < WAIT_CLASSES; i++)
		assert_int_equal(us[i], i == WAIT_UNKNOWN ? 31000 : 0);
	assert_int_equal(time->rtt[A].samples, 0);
	assert_int_equal(time->answer_min_us[B], UINT32_MAX);
}

static void
test_records_from_later_on(void **state)
{
	(void)state;
	assert_true(flow_table_keep_records(t.table, false));
	open_connection();
	assert_null(flow_table_record(t.table, t.flow));
	assert_true(flow_table_keep_records(t.table, true));
	assert_null(flow_table_record(t.table, t.flow));
	feed(MS, segment_data(A, 1001, 5001, 100));
	assert_int_equal(record()->wire[A], FRAME_HEADERS + 100);
	assert_int_equal(flow_record_since(t.table, t.flow, record()), FIXTURE_BEGIN + 32 * MS);
	assert_int_equal(flow_record_client(record()), A);
	assert_int_equal(flow_record_role(record()), RECORD_ROLE_SEEN);
	assert_int_equal(flow_record_handshake_us(record()), RECORD_UNKNOWN_US);
	feed(10 * MS, segment_data(B, 5001, 1101, 100));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(flow_record_first_byte_us(record()), RECORD_UNKNOWN_US);
	close_connection(1101, 5101);
	reports_expect(RECORD_FIN);
}

/* Client, role and end are known of every connection, whether or not records are kept. */
static void
test_client_and_end_without_records(void **state)
{
	enum record_role role;

	(void)state;
	for (unsigned keep = 0; keep < 2; keep++) {
		flow_table_clear(t.table);
		assert_true(flow_table_keep_records(t.table, keep != 0));
		open_connection();
		assert_int_equal(flow_find_client(t.table, t.flow, &role), A);
		assert_string_equal(record_role_name(role), "seen");
		assert_false(flow_has_ended(t.table, t.flow));
		feed(MS, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
		assert_false(flow_has_ended(t.table, t.flow));
		close_connection(1001, 5001);
		assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_TIME_WAIT);
		assert_true(flow_has_ended(t.table, t.flow));
	}
	flow_table_clear(t.table);
	feed(0, segment_data(B, 5001, 1001, 100)); /* both ports are well known */
	assert_int_equal(flow_find_client(t.table, t.flow, &role), B);
	assert_string_equal(record_role_name(role), "first");
}

/* A connection of which no packet was captured since is reported; one that had ended before is not. */
static void
test_records_of_silent_connections(void **state)
{
	(void)state;
	assert_true(flow_table_keep_records(t.table, false));
	open_connection();
	assert_true(flow_table_keep_records(t.table, true));
	flow_table_end_records(t.table, t.now);
	reports_expect(RECORD_CAPTURE_END);
	assert_int_equal(reports.record.wire[A] + reports.record.wire[B], 0);
	flow_table_clear(t.table);
	assert_true(flow_table_keep_records(t.table, false));
	open_connection();
	close_connection(1001, 5001);
	assert_true(flow_table_keep_records(t.table, true));
	feed(MS, segment_empty(A, TCP_ACK, 1002, 5002));
	flow_table_end_records(t.table, t.now);
	assert_int_equal(reports.count, 0);
}

static void
test_a_silent_attempt_that_fails(void **state)
{
	(void)state;
	assert_true(flow_table_keep_records(t.table, false));
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	assert_true(flow_table_keep_records(t.table, true));
	t.now += 200 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_NO_ANSWER);
}

/* No records, no reports, no totals. */
static void
test_no_records(void **state)
{
	struct record_totals before = *totals();

	(void)state;
	assert_true(flow_table_keep_records(t.table, false));
	open_connection();
	close_connection(1001, 5001);
	flow_table_clear(t.table);
	assert_int_equal(reports.count, 0);
	assert_memory_equal(&before, totals(), sizeof before);
}

/* --- open connections --- */

static void
test_open_connections(void **state)
{
	(void)state;
	flow_table_set_active_interval(t.table, 10 * SECONDS, t.now);
	open_connection();
	feed(9 * SECONDS, segment_data(A, 1001, 5001, 100));
	assert_int_equal(reports.count, 0);
	feed(SECONDS, segment_data(B, 5001, 1101, 100));
	reports_expect(RECORD_OPEN);
	/* As it was before this packet, after exactly 10 s. */
	assert_int_equal(reports.active_time, FIXTURE_BEGIN + 10 * SECONDS);
	assert_int_equal(reports.end, FIXTURE_BEGIN + 31 * MS + 9 * SECONDS);
	assert_int_equal(reports.record.wire[B], FRAME_HEADERS);
	/* An idle connection once, however long the clock jumps. */
	t.now = FIXTURE_BEGIN + 400000 * SECONDS + 5 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_OPEN);
	assert_int_equal(reports.active_time, FIXTURE_BEGIN + 20 * SECONDS);
	/* Then at the next multiple after a packet. */
	feed(4 * SECONDS, segment_data(A, 1101, 5101, 100));
	assert_int_equal(reports.count, 0);
	feed(SECONDS, segment_empty(B, TCP_ACK, 5101, 1201));
	reports_expect(RECORD_OPEN);
	assert_int_equal(reports.active_time, FIXTURE_BEGIN + 400010 * SECONDS);
	close_connection(1201, 5101);
	reports_expect(RECORD_FIN);
	t.now += 50 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	assert_int_equal(reports.count, 0);
	assert_int_equal(totals()->ended[FLOW_TCP][RECORD_OPEN], 3);
}

/* The interval changes nothing else: an attempt is given up when it would be without. */
static void
test_open_attempts(void **state)
{
	(void)state;
	flow_table_set_active_interval(t.table, 30 * SECONDS, t.now);
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	t.now = FIXTURE_BEGIN + 127 * SECONDS - 1;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_OPEN);
	assert_int_equal(reports.active_time, FIXTURE_BEGIN + 30 * SECONDS);
	t.now += 1;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_NO_ANSWER);
}

static void
test_another_interval(void **state)
{
	(void)state;
	open_connection();
	t.now = FIXTURE_BEGIN + 65 * SECONDS;
	flow_table_set_active_interval(t.table, 30 * SECONDS, t.now);
	feed(SECONDS, segment_data(A, 1001, 5001, 100));
	t.now = FIXTURE_BEGIN + 90 * SECONDS - 1;
	flow_table_run_timers(t.table, t.now);
	assert_int_equal(reports.count, 0);
	t.now += 1;
	flow_table_run_timers(t.table, t.now);
	reports_expect(RECORD_OPEN);
	flow_table_set_active_interval(t.table, 0, t.now);
	t.now += 100 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	assert_int_equal(reports.count, 0);
}

/* The record begins with a timer: reports of the time before are not made up for. */
static void
test_a_silent_connection_that_is_open(void **state)
{
	uint64_t idle = flow_limits_default().tcp_idle_ns;

	(void)state;
	assert_true(flow_table_keep_records(t.table, false));
	open_connection();
	feed(100 * SECONDS, segment_data(A, 1001, 5001, 100));
	assert_true(flow_table_keep_records(t.table, true));
	flow_table_set_active_interval(t.table, idle / 100 + 7 * SECONDS, t.now);
	t.now = FIXTURE_BEGIN + idle + 99 * SECONDS;
	flow_table_run_timers(t.table, t.now);
	assert_int_equal(reports.count, 0);
	assert_int_equal(flow_record_since(t.table, t.flow, record()), FIXTURE_BEGIN + 100 * SECONDS + 31 * MS);
}

#define scenario(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    scenario(test_a_whole_connection),
	    scenario(test_round_trips),
	    scenario(test_a_client_that_thinks_is_no_slow_server),
	    scenario(test_a_retransmitted_request),
	    scenario(test_pipelined_requests),
	    scenario(test_a_request_with_fin),
	    scenario(test_a_server_that_speaks_first),
	    scenario(test_a_very_late_answer),
	    scenario(test_requests_captured_late),
	    scenario(test_answers_captured_late),
	    scenario(test_a_stray_ack_delays_no_request),
	    scenario(test_time_stamps_that_decrease),
	    scenario(test_zero_windows),
	    scenario(test_a_window_that_is_never_opened_again),
	    scenario(test_a_reset_closes_no_window),
	    scenario(test_resent_by_kind),
	    scenario(test_out_of_order),
	    scenario(test_a_duplicate_counts_once),
	    scenario(test_anomalies),
	    scenario(test_mid_stream_by_port),
	    scenario(test_a_syn_ack_shows_the_server),
	    scenario(test_refused),
	    scenario(test_refused_then_accepted),
	    scenario(test_refused_by_a_forged_reset),
	    scenario(test_the_interface_of_a_repeated_attempt),
	    scenario(test_time_without_a_record),
	    scenario(test_no_answer),
	    scenario(test_no_answer_by_the_end),
	    scenario(test_no_answer_for_long),
	    scenario(test_an_answer_may_follow),
	    scenario(test_an_answer_that_was_not_captured),
	    scenario(test_a_handshake_that_was_not_completed_is_idle),
	    scenario(test_reset_by_server),
	    scenario(test_reset_by_client),
	    scenario(test_half_open_scan),
	    scenario(test_idle),
	    scenario(test_capture_end),
	    scenario(test_a_cleared_table),
	    scenario(test_reused_ports),
	    scenario(test_reused_without_an_end),
	    scenario(test_reused_without_an_answer),
	    scenario(test_records_from_later_on),
	    scenario(test_client_and_end_without_records),
	    scenario(test_records_of_silent_connections),
	    scenario(test_a_silent_attempt_that_fails),
	    scenario(test_no_records),
	    scenario(test_open_connections),
	    scenario(test_open_attempts),
	    scenario(test_another_interval),
	    scenario(test_a_silent_connection_that_is_open),
	};

	return cmocka_run_group_tests_name("record of TCP", tests, NULL, NULL);
}
