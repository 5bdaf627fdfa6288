/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracker against all faults of a connection that a minute allows.
 *
 * - Any segment (every combination of flags, sequence numbers in and around the window) at any point of any
 *   connection.
 * - Every loss, duplication and delay of up to k segments in the network between two hosts whose own states are known:
 *   the captured end must come out exactly, in states and retransmissions.
 * - Every frame that a capture may lose, hold twice or hold out of order.
 *
 * NETOBS_FAULTS is the number of faults at once, 3 without it.  4, as in exhaustive.sh, take ten seconds, 5 one minute;
 * then flags are also combined with ECE and CWR.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/flow/tcp/tcp_model.h"

#define MINUTE (60 * NANOSECONDS)
#define FAULTS 3

static struct tcp_fixture t;
static struct model m;

static unsigned
faults_at_once(void)
{
	const char *text = getenv("NETOBS_FAULTS");
	unsigned long n = text == NULL ? FAULTS : strtoul(text, NULL, 10);

	return n > 6 ? 6 : (unsigned)n;
}

static int
begin(void **state)
{
	(void)state;
	tcp_fixture_setup(&t, MILLISECONDS);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	return 0;
}

/* Drops the state of the connection: the next one begins with an empty table. */
static void
clear_table(void)
{
	flow_table_clear(t.table);
	tcp_fixture_take_trace(&t);
	t.state_changes = t.illegal = 0;
	t.flow = NULL;
}

static const char *const script_names[SCRIPTS] = {
	"client closes first", "server closes first", "both close at once",
	"both open at once",   "client half-closes",  "server aborts",
};

static const char *
plan_text(const uint8_t *plan, unsigned length)
{
	static char text[PLAN_MAX + 1];
	unsigned i;

	for (i = 0; i < length && i < PLAN_MAX; i++)
		text[i] = ".x2>"[plan[i]];
	text[i] = '\0';
	return text;
}

/* --- the network --- */

/* The states of one end in the trace, including the first. */
static unsigned
traced_states(const char *trace, unsigned which, uint8_t *states, unsigned most)
{
	char head = which == A ? 'A' : 'B';
	unsigned count = 0, from, to;
	const char *at;

	for (at = trace; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
		size_t length = strcspn(at, " ");
		const char *arrow = memchr(at, '>', length);

		if (at[0] != head || at[1] != ':' || arrow == NULL)
			continue;
		for (from = 0; strlen(fixture_states[from]) != (size_t)(arrow - at) - 2 ||
			       memcmp(fixture_states[from], at + 2, (size_t)(arrow - at) - 2) != 0;)
			from++;
		for (to = 0; strlen(fixture_states[to]) != length - (size_t)(arrow + 1 - at) ||
			     memcmp(fixture_states[to], arrow + 1, length - (size_t)(arrow + 1 - at)) != 0;)
			to++;
		if (count == 0)
			states[count++] = (uint8_t)from;
		if (count < most)
			states[count++] = (uint8_t)to;
	}
	return count;
}

static void
check_captured_end(enum model_script script, const uint8_t *plan, unsigned length, unsigned tap)
{
	const struct host *h = &m.host[tap];
	uint8_t states[32];
	unsigned count = traced_states(t.trace, tap, states, 32);
	unsigned known = h->count, again = tcp_retransmits(t.table, t.flow, tap);

	if (count == known && memcmp(states, h->states, count) == 0 && again == h->retransmissions && t.illegal == 0)
		return;
	fail_msg("%s, captured at %c, network %s: %u states for %u, ends in %s for %s, %u sent again for %u, "
		 "%u illegal:\n%s",
		 script_names[script], "AB"[tap], plan_text(plan, length), count, known,
		 fixture_states[count ? states[count - 1] : 0], fixture_states[h->state], again, h->retransmissions,
		     t.illegal,
		 t.trace);
}

static void
check_other_end(enum model_script script, const uint8_t *plan, unsigned length, unsigned tap)
{
	unsigned state = t.flow->tcp[1 - tap].state;

	if (state == TCP_STATE_TIME_WAIT || state == TCP_STATE_CLOSED)
		return;
	fail_msg("%s, captured at %c, network %s: the other end is stuck in %s:\n%s", script_names[script], "AB"[tap],
		 plan_text(plan, length), fixture_states[state], t.trace);
}

static void
run_plan(enum model_script script, const uint8_t *plan, unsigned length)
{
	unsigned tap;

	for (tap = 0; tap < 2; tap++) {
		bool ended = model_run(&m, script, plan, length, &t, tap);

		/* With its RST lost, neither end has anything to send. */
		if (!ended && script != SERVER_ABORTS)
			fail_msg("%s, network %s: the hosts themselves did not end: %s %s", script_names[script],
				 plan_text(plan, length), fixture_states[m.host[A].state],
				 fixture_states[m.host[B].state]);
		tcp_flush_deferred(t.table, t.now);
		t.trace[t.length] = '\0';
		check_captured_end(script, plan, length, tap);
		if (ended)
			check_other_end(script, plan, length, tap);
		clear_table();
	}
}

/* Every way to put up to `faults` faults into the transmissions from `at` on. */
static unsigned long
try_plans(enum model_script script, uint8_t *plan, unsigned length, unsigned at, unsigned faults)
{
	unsigned long tried = 1;
	unsigned i, fate;

	run_plan(script, plan, length);
	for (i = at; faults > 0 && i < length; i++) {
		for (fate = ARRIVES + 1; fate < FATES; fate++) {
			plan[i] = (uint8_t)fate;
			tried += try_plans(script, plan, length, i + 1, faults - 1);
		}
		plan[i] = ARRIVES;
	}
	return tried;
}

static void
test_every_fault_of_the_network(void **state)
{
	unsigned script, faults = faults_at_once();
	unsigned long tried = 0;

	(void)state;
	for (script = 0; script < SCRIPTS; script++) {
		uint8_t plan[PLAN_MAX] = {ARRIVES};

		run_plan((enum model_script)script, plan, 0);
		tried += try_plans((enum model_script)script, plan, m.transmissions + 2, 0, faults);
	}
	print_message("%lu connections with up to %u faults, each captured at both ends\n", tried, faults);
}

/* --- the capture --- */

struct recording {
	unsigned count;
	struct test_segment segment[PLAN_MAX];
	uint64_t at[PLAN_MAX];
};

/* The frames of an undisturbed connection at host A. */
static struct recording
record(enum model_script script)
{
	struct recording r;

	assert_true(model_run(&m, script, NULL, 0, &t, A));
	r.count = m.seen_count;
	memcpy(r.segment, m.seen, sizeof r.segment);
	memcpy(r.at, m.seen_at, sizeof r.at);
	clear_table();
	return r;
}

static void
feed_frame(const struct test_segment *s)
{
	t.now += 500;
	tcp_fixture_feed(&t, *s);
}

/* Feeds the frames with the faults of the plan: a frame LOST, DOUBLED, or DELAYED after the next one. */
static void
replay(const struct recording *r, const uint8_t *plan)
{
	const struct test_segment *late = NULL;
	uint64_t start = t.now;
	unsigned i;

	for (i = 0; i < r->count; i++) {
		const struct test_segment *s = &r->segment[i];

		t.now = start + r->at[i];

		if (plan[i] == DELAYED && late == NULL) {
			late = s;
			continue;
		}
		if (plan[i] != LOST)
			tcp_fixture_feed(&t, *s);
		if (plan[i] == DOUBLED)
			feed_frame(s);
		if (late != NULL) {
			feed_frame(late);
			late = NULL;
		}
	}
	if (late != NULL)
		feed_frame(late);
	tcp_flush_deferred(t.table, t.now);
	t.trace[t.length] = '\0';
}

/* Whether both FINs, and an ACK of each, are all in the capture and in their places. */
static bool
closing_is_whole(const struct recording *r, const uint8_t *plan)
{
	unsigned endpoint, i, whole = 0;

	for (endpoint = 0; endpoint < 2; endpoint++) {
		uint32_t fin = 0;
		bool sent = false, acked = false;

		for (i = 0; i < r->count; i++) {
			const struct test_segment *s = &r->segment[i];

			if ((s->flags & TCP_FIN) != 0 && (plan[i] == LOST || plan[i] == DELAYED))
				return false;
			if (s->from == endpoint && (s->flags & TCP_FIN) != 0) {
				sent = true;
				fin = s->seq + s->len + 1;
			} else if (s->from != endpoint && sent && s->ack == fin && plan[i] != LOST &&
				   plan[i] != DELAYED) {
				acked = true;
			}
		}
		whole += acked;
	}
	return whole == 2;
}

static bool
only_doubles(const uint8_t *plan, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		if (plan[i] != ARRIVES && plan[i] != DOUBLED)
			return false;
	return true;
}

struct outcome {
	unsigned states[2];
	unsigned count[2];
	uint8_t passed[2][32];
};

static struct outcome
outcome(void)
{
	struct outcome o;
	unsigned endpoint;

	memset(&o, 0, sizeof o);
	for (endpoint = 0; endpoint < 2; endpoint++) {
		o.states[endpoint] = t.flow == NULL ? 0 : t.flow->tcp[endpoint].state;
		o.count[endpoint] = traced_states(t.trace, endpoint, o.passed[endpoint], 32);
	}
	return o;
}

static bool
is_over(unsigned state)
{
	return state == TCP_STATE_CLOSED || state == TCP_STATE_TIME_WAIT;
}

static unsigned long
try_captures(const struct recording *r, const struct outcome *whole, uint8_t *plan, unsigned at, unsigned faults)
{
	unsigned long tried = 1;
	struct outcome o;
	unsigned i, fate;

	clear_table();
	replay(r, plan);
	o = outcome();
	if (t.illegal != 0)
		fail_msg("capture %s: illegal: %s", plan_text(plan, r->count), t.trace);
	if (closing_is_whole(r, plan) && t.flow != NULL && (!is_over(o.states[A]) || !is_over(o.states[B])))
		fail_msg("capture %s: stuck in %s and %s: %s", plan_text(plan, r->count), fixture_states[o.states[A]],
			 fixture_states[o.states[B]], t.trace);
	if (only_doubles(plan, r->count) && memcmp(&o, whole, sizeof o) != 0)
		fail_msg("capture %s: duplicates change the outcome: %s", plan_text(plan, r->count), t.trace);
	for (i = at; faults > 0 && i < r->count; i++) {
		for (fate = ARRIVES + 1; fate < FATES; fate++) {
			plan[i] = (uint8_t)fate;
			tried += try_captures(r, whole, plan, i + 1, faults - 1);
		}
		plan[i] = ARRIVES;
	}
	return tried;
}

static void
test_every_fault_of_the_capture(void **state)
{
	unsigned script, faults = faults_at_once();
	unsigned long tried = 0;

	(void)state;
	for (script = 0; script < SCRIPTS; script++) {
		struct recording r = record((enum model_script)script);
		uint8_t plan[PLAN_MAX] = {ARRIVES};
		struct outcome whole;

		replay(&r, plan);
		whole = outcome();
		tried += try_captures(&r, &whole, plan, 0, faults);
		clear_table();
	}
	print_message("%lu captures with up to %u faults\n", tried, faults);
}

/* --- any segment at any time --- */

static void
check_after_odd_segment(const struct recording *r, unsigned after, const struct test_segment *odd)
{
	unsigned endpoint;

	if (t.illegal != 0)
		fail_msg("after %u frames, flags %02x seq %u ack %u len %u from %c: %s", after, odd->flags, odd->seq,
			 odd->ack, odd->len, "AB"[odd->from], t.trace);
	for (endpoint = 0; t.flow != NULL && endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &t.flow->tcp[endpoint];

		assert_in_range(e->state, 0, TCP_STATE_COUNT - 1);
		assert_int_not_equal(e->state, TCP_STATE_LISTEN);
		if ((e->flags & TCP_EP_SEQ_KNOWN) != 0)
			assert_false(tcp_seq_before(e->nxt, e->una));
		assert_true(tcp_retransmits(t.table, t.flow, endpoint) <= e->segments_sent);
	}
	(void)r;
}

static void
feed_odd_segment(const struct recording *r, unsigned after, const struct test_segment *odd)
{
	uint64_t start = t.now;
	unsigned i;

	clear_table();
	for (i = 0; i < after; i++) {
		t.now = start + r->at[i];
		tcp_fixture_feed(&t, r->segment[i]);
	}
	feed_frame(odd);
	check_after_odd_segment(r, after, odd);
	if (after < r->count) {
		t.now = start + r->at[after];
		tcp_fixture_feed(&t, r->segment[after]);
	}
	tcp_flush_deferred(t.table, t.now);
	t.trace[t.length] = '\0';
	check_after_odd_segment(r, after, odd);
}

/* All combinations of flags below `flags`, with sequence and acknowledgement numbers below, at, in and beyond the
 * window. */
static unsigned long
feed_odd_segments(const struct recording *r, unsigned after, unsigned flags)
{
	static const uint32_t offsets[] = {(uint32_t)-300, (uint32_t)-1, 0, 50, 20000};
	static const uint32_t lengths[] = {0, 1, 100};
	struct tcp_endpoint endpoints[2] = {{0}, {0}};
	unsigned long tried = 0;
	unsigned i, n;

	clear_table();
	for (i = 0; i < after; i++)
		feed_frame(&r->segment[i]);
	if (t.flow != NULL)
		memcpy(endpoints, t.flow->tcp, sizeof endpoints);
	for (n = 0; n < flags * 2 * 5 * 5 * 3; n++) {
		unsigned numbers = n / flags, from = numbers % 2;
		struct test_segment odd = segment_empty(from, n % flags, endpoints[from].nxt + offsets[numbers / 2 % 5],
							endpoints[1 - from].nxt + offsets[numbers / 10 % 5]);

		odd.len = lengths[numbers / 50];
		feed_odd_segment(r, after, &odd);
		tried++;
	}
	return tried;
}

static void
test_any_segment_at_any_time(void **state)
{
	unsigned script, after, flags = faults_at_once() > FAULTS ? 0x100 : TCP_ECE;
	unsigned long tried = 0;

	(void)state;
	for (script = 0; script < SCRIPTS; script++) {
		struct recording r = record((enum model_script)script);

		for (after = 0; after <= r.count; after++)
			tried += feed_odd_segments(&r, after, flags);
	}
	clear_table();
	print_message("%lu odd segments\n", tried);
}

#define all(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		all(test_every_fault_of_the_network),
		all(test_every_fault_of_the_capture),
		all(test_any_segment_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
