/* SPDX-License-Identifier: BSD-2-Clause */
/* The division of a connection's time: what is waited for, by class; the sum is always the whole time. */
#include "tests/flow/record/record_fixture.h"

#define MS MILLISECONDS

/* Round trips between the capture and A, B, us: those of the handshake. */
#define RTT_A 1000
#define RTT_B 30000

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

/* The sum of the classes is the time between the first packet and the one that is the farthest from it, after each. */
static void
feed(uint64_t ns, struct test_segment s)
{
	const struct flow_time *time;
	uint64_t us[WAIT_CLASSES], sum = 0;

	record_fixture_feed(&t, ns, s);
	if (t.flow == NULL)
		return;
	time = flow_record_time(t.table, t.flow, us);
	for (unsigned i = 0; i < WAIT_CLASSES; i++)
		sum += us[i];
	assert_int_equal(sum, time->elapsed_us);
	if (t.now >= time->start + 1000 * time->elapsed_us)
		assert_int_equal(sum, (t.now - time->start) / 1000);
}

/* Expectations follow: pairs of class and us, up to the class WAIT_CLASSES; other classes have nothing. */
struct expected {
	unsigned class;
	uint64_t us;
};

static void
expect(const struct expected *list)
{
	uint64_t us[WAIT_CLASSES], wanted[WAIT_CLASSES] = {0};

	flow_record_time(t.table, t.flow, us);
	for (; list->class != WAIT_CLASSES; list++)
		wanted[list->class] = list->us;
	for (unsigned i = 0; i < WAIT_CLASSES; i++)
		if (us[i] != wanted[i])
			fail_msg("class %u has %llu us, not %llu", i, (unsigned long long)us[i],
				 (unsigned long long)wanted[i]);
}

#define EXPECT(...) expect((const struct expected[]){__VA_ARGS__, {WAIT_CLASSES, 0}})

static void
open_connection(void)
{
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(RTT_B * 1000, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(RTT_A * 1000, segment_empty(A, TCP_ACK, 1001, 5001));
}

/* The client asks as soon as it can. */
static void
ask(void)
{
	open_connection();
	feed(0, segment_data(A, 1001, 5001, 100));
}

static void
test_connect(void **state)
{
	(void)state;
	open_connection();
	EXPECT({WAIT_CONNECT, 31000});
}

static void
test_lost_syn(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(1000 * MS, segment_empty(A, TCP_SYN, 1000, 0));
	feed(30 * MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	EXPECT({WAIT_LOST + A, 1000000}, {WAIT_CONNECT, 31000});
}

static void
test_lost_syn_ack(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(30 * MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(1000 * MS, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	feed(MS, segment_empty(A, TCP_ACK, 1001, 5001));
	EXPECT({WAIT_LOST + B, 1000000}, {WAIT_CONNECT, 31000});
}

/* The client waits for the server, less the way there and back, which distance explains. */
static void
test_server_and_path(void **state)
{
	(void)state;
	ask();
	feed(500 * MS, segment_data(B, 5001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_PROGRAM + B, 500000 - RTT_B});
}

static void
test_client(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(MS, segment_empty(A, TCP_ACK, 1101, 6001));
	feed(4999 * MS, segment_data(A, 1101, 6001, 100));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B + RTT_A}, {WAIT_PROGRAM + A, 5000000 - RTT_A});
}

/* So many segments of B, sent at once, from 5001 on; A acknowledges all of them a millisecond later. */
static void
answer(unsigned segments)
{
	feed(30 * MS, segment_data(B, 5001, 1101, 1460));
	for (unsigned i = 1; i < segments; i++)
		feed(0, segment_data(B, 5001 + 1460 * i, 1101, 1460));
	feed(MS, segment_empty(A, TCP_ACK, 1101, 5001 + 1460 * segments));
}

/* The sender had nothing more to send when all was acknowledged. */
static void
test_sending(void **state)
{
	(void)state;
	ask();
	answer(2);
	feed(3000 * MS, segment_data(B, 5001 + 2920, 1101, 1460));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_SENDING + B, 3001000});
}

/* Pieces smaller than a segment end what there was to send, whatever is outstanding. */
static void
test_sending_pieces(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1460));
	feed(0, segment_data(B, 6461, 1101, 200));
	feed(10 * MS, segment_data(B, 6661, 1101, 200));
	feed(10 * MS, segment_data(B, 6861, 1101, 200));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_SENDING + B, 20000});
}

/* A piece that comes a round trip after the ACK of all before was held back (RFC 896). */
static void
test_held_piece(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 200));
	feed(40 * MS, segment_empty(A, TCP_ACK, 1101, 5201));
	feed(30 * MS, segment_data(B, 5201, 1101, 200));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_NETWORK, 70000});
}

static void
test_network(void **state)
{
	(void)state;
	ask();
	answer(4);
	feed(30 * MS, segment_data(B, 5001 + 5840, 1101, 1460));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_NETWORK, 31000});
}

/* The congestion control of B spreads what it has over a round trip. */
static void
test_paced(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1460));
	for (unsigned i = 1; i < 5; i++)
		feed(8 * MS, segment_data(B, 5001 + 1460 * i, 1101, 1460));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_NETWORK, 32000});
}

/* The client waits before its first request: nothing was under way. */
static void
test_first_request(void **state)
{
	(void)state;
	open_connection();
	feed(100 * MS, segment_data(A, 1001, 5001, 100));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PROGRAM + A, 100000});
}

/* The server speaks first, as those of SMTP and SSH do. */
static void
test_greeting(void **state)
{
	(void)state;
	open_connection();
	feed(100 * MS, segment_data(B, 5001, 1001, 100));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_PROGRAM + B, 100000 - RTT_B});
}

/* A FIN of the end that has asked ends no wait. */
static void
test_asked_and_closed(void **state)
{
	(void)state;
	ask();
	feed(100 * MS, segment_empty(A, TCP_FIN | TCP_ACK, 1101, 5001));
	feed(600 * MS, segment_data(B, 5001, 1102, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_PROGRAM + B, 700000 - RTT_B});
	feed(MS, segment_empty(A, TCP_ACK, 1102, 6001));
	feed(50 * MS, segment_empty(B, TCP_FIN | TCP_ACK, 6001, 1102));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_PROGRAM + B, 700000 - RTT_B}, {WAIT_CLOSING, 51000});
}

/* The window is closed for 2 s. */
static void
test_window(void **state)
{
	struct test_segment ack = segment_empty(A, TCP_ACK, 1101, 6001);
	uint64_t us[WAIT_CLASSES];

	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	ack.window = -1;
	feed(MS, ack);
	ack.window = 0;
	feed(2000 * MS, ack);
	feed(30 * MS, segment_data(B, 6001, 1101, 1000));
	flow_record_time(t.table, t.flow, us);
	assert_in_range(us[WAIT_WINDOW + A], 2000000, 2031000);
	assert_int_equal(us[WAIT_LOST + A] + us[WAIT_LOST + B] + us[WAIT_SENDING + B] + us[WAIT_UNKNOWN], 0);
}

/* A FIN needs space in the window, too. */
static void
test_window_before_fin(void **state)
{
	struct test_segment ack = segment_empty(A, TCP_ACK, 1101, 6001);

	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	ack.window = -1;
	feed(MS, ack);
	ack.window = 0;
	feed(2000 * MS, ack);
	feed(30 * MS, segment_empty(B, TCP_FIN | TCP_ACK, 6001, 1101));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_WINDOW + A, 2031000});
}

/* The window was closed, and B had nothing more to send: the client is slow with what it has. */
static void
test_window_without_data(void **state)
{
	struct test_segment ack = segment_empty(A, TCP_ACK, 1101, 6001);

	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	ack.window = -1;
	feed(MS, ack);
	ack.window = 0;
	feed(2000 * MS, ack);
	feed(999 * MS, segment_data(A, 1101, 6001, 100));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B + RTT_A}, {WAIT_PROGRAM + A, 3000000 - RTT_A});
}

/* Data is outstanding until it is acknowledged; SYN and FIN are none. */
static void
test_busy(void **state)
{
	uint64_t us[WAIT_CLASSES];
	const struct flow_time *time;

	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(MS, segment_empty(A, TCP_ACK, 1101, 6001));
	feed(0, segment_empty(A, TCP_FIN | TCP_ACK, 1101, 6001));
	feed(200 * MS, segment_empty(B, TCP_FIN | TCP_ACK, 6001, 1102));
	feed(MS, segment_empty(A, TCP_ACK, 1102, 6002));
	time = flow_record_time(t.table, t.flow, us);
	assert_int_equal(time->busy_us[A], 30000);
	assert_int_equal(time->busy_us[B], 1000);
	assert_int_equal(time->flight_max[A], 100);
	assert_int_equal(time->flight_max[B], 1000);
}

static void
test_lost_request(void **state)
{
	(void)state;
	ask();
	feed(300 * MS, segment_data(A, 1001, 5001, 100));
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, 2 * RTT_B}, {WAIT_LOST + A, 300000 - RTT_B});
}

static void
test_lost_answer(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(300 * MS, segment_data(B, 5001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B + RTT_A}, {WAIT_LOST + B, 300000 - RTT_A});
}

/* The copy is acknowledged sooner than it could have arrived: the first one was not lost, and the server works. */
static void
test_needless_copy(void **state)
{
	(void)state;
	ask();
	feed(200 * MS, segment_data(A, 1001, 5001, 100));
	feed(10 * MS, segment_empty(B, TCP_ACK, 5001, 1101));
	feed(500 * MS, segment_data(B, 5001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_PROGRAM + B, 710000 - RTT_B});
}

/* An ACK for data of one end takes nothing back of what the other end has lost. */
static void
test_copies_of_both_ends(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(0, segment_data(A, 1101, 5001, 100));
	feed(300 * MS, segment_data(B, 5001, 1101, 1000));
	feed(0, segment_empty(B, TCP_ACK, 6001, 1201));
	feed(MS, segment_empty(A, TCP_ACK, 1201, 6001));
	feed(5000 * MS, segment_data(A, 1201, 6001, 100));
}

/* The first copy was lost before the capture: what comes after it is captured first. */
static void
test_hole(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 6001, 1101, 1000));
	feed(300 * MS, segment_data(B, 5001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_LOST + B, 300000});
}

static void
test_closing(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(MS, segment_empty(A, TCP_FIN | TCP_ACK, 1101, 6001));
	feed(200 * MS, segment_empty(B, TCP_FIN | TCP_ACK, 6001, 1102));
	feed(MS, segment_empty(A, TCP_ACK, 1102, 6002));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B + RTT_A}, {WAIT_CLOSING, 201000});
}

/* Before the first payload of a connection whose beginning was not captured, nobody knows who has the turn. */
static void
test_unknown(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_ACK, 1001, 5001));
	feed(5000 * MS, segment_data(A, 1001, 5001, 100));
	EXPECT({WAIT_UNKNOWN, 5000000});
}

/* One direction is captured: what the other one did is unknown. */
static void
test_one_direction(void **state)
{
	(void)state;
	feed(0, segment_empty(A, TCP_SYN, 1000, 0));
	feed(31 * MS, segment_empty(A, TCP_ACK, 1001, 5001));
	feed(0, segment_data(A, 1001, 5001, 100));
	feed(500 * MS, segment_data(A, 1101, 6001, 100));
	feed(700 * MS, segment_empty(A, TCP_FIN | TCP_ACK, 1201, 7001));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_UNKNOWN, 1200000});
}

/* A probe of an idle connection ends no wait. */
static void
test_keepalive(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(MS, segment_empty(A, TCP_ACK, 1101, 6001));
	feed(9999 * MS, segment_empty(B, TCP_ACK, 6000, 1101));
	feed(0, segment_empty(A, TCP_ACK, 1101, 6001));
	feed(5000 * MS, segment_data(A, 1101, 6001, 100));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B + RTT_A}, {WAIT_PROGRAM + A, 15000000 - RTT_A});
}

/* Data of a server that has not acknowledged all requests answers one of them. */
static void
test_several_requests(void **state)
{
	(void)state;
	ask();
	feed(0, segment_data(A, 1101, 5001, 100));
	feed(700 * MS, segment_data(B, 5001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_UNKNOWN, 700000});
}

/* Time stamps that go back take no time; feed() checks the sum. */
static void
test_decreasing_time_stamps(void **state)
{
	(void)state;
	ask();
	feed(500 * MS, segment_data(B, 5001, 1101, 1000));
	feed(-(400 * MS), segment_empty(A, TCP_ACK, 1101, 6001));
	feed(100 * MS, segment_data(A, 1101, 6001, 100));
	feed(-(300 * MS), segment_data(B, 6001, 1201, 100));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_PROGRAM + B, 500000 - RTT_B});
	feed(1000 * MS, segment_data(A, 1201, 6101, 100));
}

#define scenario(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    scenario(test_connect),
	    scenario(test_lost_syn),
	    scenario(test_lost_syn_ack),
	    scenario(test_server_and_path),
	    scenario(test_client),
	    scenario(test_sending),
	    scenario(test_sending_pieces),
	    scenario(test_held_piece),
	    scenario(test_network),
	    scenario(test_paced),
	    scenario(test_first_request),
	    scenario(test_greeting),
	    scenario(test_asked_and_closed),
	    scenario(test_window),
	    scenario(test_window_before_fin),
	    scenario(test_window_without_data),
	    scenario(test_busy),
	    scenario(test_lost_request),
	    scenario(test_lost_answer),
	    scenario(test_needless_copy),
	    scenario(test_copies_of_both_ends),
	    scenario(test_hole),
	    scenario(test_closing),
	    scenario(test_unknown),
	    scenario(test_one_direction),
	    scenario(test_keepalive),
	    scenario(test_several_requests),
	    scenario(test_decreasing_time_stamps),
	};

	return cmocka_run_group_tests_name("time of a record", tests, NULL, NULL);
}
