/* SPDX-License-Identifier: BSD-2-Clause */
/* The TCP machine as a table: every cell legal, every state and every legal transition reachable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/tcp/tcp_machine.h"
#include "tests/flow/tcp/tcp_fixture.h"

/* What an input must never do, whatever the state. */
static bool
may_move(enum tcp_state from, enum tcp_input input, enum tcp_state to)
{
	if (from == to)
		return true;
	if (from == TCP_STATE_NONE) /* what it must have been, or what the segment proves: never both ends of an open */
		return to != TCP_STATE_NONE && to != TCP_STATE_TIME_WAIT && to != TCP_STATE_SYN_SENT &&
		       to != TCP_STATE_SYN_RECEIVED;
	if (input == TCP_INPUT_TIMER_2MSL && from != TCP_STATE_TIME_WAIT)
		return false;
	if ((input == TCP_INPUT_SEND_SYN) != (to == TCP_STATE_SYN_SENT))
		return false;
	return tcp_transition_is_legal(from, to);
}

static void
test_every_cell_is_legal(void **state)
{
	unsigned from, input;

	(void)state;
	for (from = 0; from < TCP_STATE_COUNT; from++)
		for (input = 0; input < TCP_INPUT_COUNT; input++) {
			enum tcp_state to = tcp_machine_next((enum tcp_state)from, (enum tcp_input)input);

			if (!may_move((enum tcp_state)from, (enum tcp_input)input, to))
				fail_msg("%s x input %u -> %s", fixture_states[from], input, fixture_states[to]);
		}
}

/* Only these inputs may close, and each closes whatever is open. */
static void
test_resets_close_everything(void **state)
{
	static const enum tcp_input resets[] = {TCP_INPUT_SEND_RST, TCP_INPUT_RECV_RST, TCP_INPUT_SUPERSEDED};
	unsigned from, i;

	(void)state;
	for (from = 1; from < TCP_STATE_COUNT; from++)
		for (i = 0; i < 3; i++)
			assert_int_equal(tcp_transitions[from][resets[i]],
					 from == TCP_STATE_LISTEN ? TCP_STATE_LISTEN : TCP_STATE_CLOSED);
}

static void
test_an_input_twice_is_an_input_once(void **state)
{
	unsigned from, input;

	(void)state;
	for (from = 1; from < TCP_STATE_COUNT; from++)
		for (input = 0; input < TCP_INPUT_COUNT; input++) {
			unsigned once = tcp_transitions[from][input];

			/* A duplicate of the input just applied changes nothing. */
			assert_int_equal(tcp_transitions[once][input], once);
		}
}

static void
test_every_state_is_reached(void **state)
{
	bool reached[TCP_STATE_COUNT] = {[TCP_STATE_NONE] = true};
	unsigned from, input, count, before;

	(void)state;
	do {
		for (before = count = from = 0; from < TCP_STATE_COUNT; from++)
			before += reached[from];
		for (from = 0; from < TCP_STATE_COUNT; from++)
			for (input = 0; reached[from] && input < TCP_INPUT_COUNT; input++)
				reached[tcp_transitions[from][input]] = true;
		for (from = 0; from < TCP_STATE_COUNT; from++)
			count += reached[from];
	} while (count != before);
	assert_int_equal(count, TCP_STATE_COUNT);
}

/* Each legal transition is that of some input, except a listener that sends a SYN: no packet shows that. */
static void
test_every_legal_transition_is_there(void **state)
{
	unsigned from, to, input;

	(void)state;
	for (from = 1; from < TCP_STATE_COUNT; from++)
		for (to = 1; to < TCP_STATE_COUNT; to++) {
			bool found = false;

			if (!tcp_transition_is_legal(from, to))
				continue;
			for (input = 0; input < TCP_INPUT_COUNT; input++)
				found = found || tcp_transitions[from][input] == to;
			if (!found)
				fail_msg("nothing leads from %s to %s", fixture_states[from], fixture_states[to]);
		}
}

static void
test_the_diagram_of_rfc_9293(void **state)
{
	static const struct {
		enum tcp_state from;
		enum tcp_input input;
		enum tcp_state to;
	} arrows[] = {
		{TCP_STATE_CLOSED, TCP_INPUT_SEND_SYN, TCP_STATE_SYN_SENT},
		{TCP_STATE_LISTEN, TCP_INPUT_SEND_SYN_ACK, TCP_STATE_SYN_RECEIVED},
		{TCP_STATE_SYN_SENT, TCP_INPUT_RECV_SYN, TCP_STATE_SYN_RECEIVED},
		{TCP_STATE_SYN_SENT, TCP_INPUT_RECV_SYN_ACK, TCP_STATE_ESTABLISHED},
		{TCP_STATE_SYN_RECEIVED, TCP_INPUT_RECV_ACK_OF_SYN, TCP_STATE_ESTABLISHED},
		{TCP_STATE_SYN_RECEIVED, TCP_INPUT_SEND_FIN, TCP_STATE_FIN_WAIT_1},
		{TCP_STATE_ESTABLISHED, TCP_INPUT_SEND_FIN, TCP_STATE_FIN_WAIT_1},
		{TCP_STATE_ESTABLISHED, TCP_INPUT_RECV_FIN, TCP_STATE_CLOSE_WAIT},
		{TCP_STATE_FIN_WAIT_1, TCP_INPUT_RECV_ACK_OF_FIN, TCP_STATE_FIN_WAIT_2},
		{TCP_STATE_FIN_WAIT_1, TCP_INPUT_RECV_FIN, TCP_STATE_CLOSING},
		{TCP_STATE_FIN_WAIT_2, TCP_INPUT_RECV_FIN, TCP_STATE_TIME_WAIT},
		{TCP_STATE_CLOSING, TCP_INPUT_RECV_ACK_OF_FIN, TCP_STATE_TIME_WAIT},
		{TCP_STATE_CLOSE_WAIT, TCP_INPUT_SEND_FIN, TCP_STATE_LAST_ACK},
		{TCP_STATE_LAST_ACK, TCP_INPUT_RECV_ACK_OF_FIN, TCP_STATE_CLOSED},
		{TCP_STATE_TIME_WAIT, TCP_INPUT_TIMER_2MSL, TCP_STATE_CLOSED},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof arrows / sizeof arrows[0]; i++)
		assert_int_equal(tcp_transitions[arrows[i].from][arrows[i].input], arrows[i].to);
}

static void
test_names(void **state)
{
	unsigned i;

	(void)state;
	for (i = 1; i < TCP_STATE_COUNT; i++)
		assert_int_equal(strncmp(tcp_state_name((enum tcp_state)i), "state-", 6), 0);
	assert_string_equal(tcp_state_name(TCP_STATE_NONE), "<unknown>");
	assert_string_equal(tcp_state_name((enum tcp_state)99), "<unknown>");
	assert_string_equal(tcp_state_name(TCP_STATE_SYN_RECEIVED), "state-syn-received");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cell_is_legal),
		cmocka_unit_test(test_resets_close_everything),
		cmocka_unit_test(test_an_input_twice_is_an_input_once),
		cmocka_unit_test(test_every_state_is_reached),
		cmocka_unit_test(test_every_legal_transition_is_there),
		cmocka_unit_test(test_the_diagram_of_rfc_9293),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
