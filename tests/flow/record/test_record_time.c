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

static void
test_sending(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(MS, segment_empty(A, TCP_ACK, 1101, 6001));
	feed(3000 * MS, segment_data(B, 6001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_NETWORK, 1000}, {WAIT_SENDING + B, 3000000});
}

static void
test_network(void **state)
{
	(void)state;
	ask();
	feed(30 * MS, segment_data(B, 5001, 1101, 1000));
	feed(MS, segment_empty(A, TCP_ACK, 1101, 6001));
	feed(30 * MS, segment_data(B, 6001, 1101, 1000));
	EXPECT({WAIT_CONNECT, 31000}, {WAIT_PATH, RTT_B}, {WAIT_NETWORK, 31000});
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
	    scenario(test_network),
	    scenario(test_window),
	    scenario(test_lost_request),
	    scenario(test_lost_answer),
	    scenario(test_hole),
	    scenario(test_closing),
	    scenario(test_unknown),
	    scenario(test_several_requests),
	    scenario(test_decreasing_time_stamps),
	};

	return cmocka_run_group_tests_name("time of a record", tests, NULL, NULL);
}
