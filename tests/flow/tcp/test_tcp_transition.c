/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_apply_transition() has the results of tcp_segment_sent() and tcp_segment_received(): the segments of random
 * connections with random faults go into two tables, one of which tries tcp_apply_transition() first; the flows must be
 * equal after each segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/flow_internal.h"
#include "flow/tcp/tcp_fastpath.h"
#include "flow/tcp/tcp_internal.h"
#include "tests/flow/tcp/tcp_fixture.h"

#define CONNECTIONS 60000u

static struct tcp_fixture plain, fast;
static unsigned long segments, applied, applied_fins, applied_with_data;
static uint32_t random_state = 1;

static uint32_t
random_below(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)random_state * limit >> 32);
}

static bool
one_in(uint32_t n)
{
	return random_below(n) == 0;
}

/* --- two tables --- */

static struct flow *
find_flow(struct tcp_fixture *fixture, const struct packet *packet, unsigned *sender)
{
	struct flow_key key;

	flow_key_from_packet(packet, &key, sender);
	return flow_table_lookup(fixture->table, &key, flow_key_hash(fixture->table, &key));
}

static bool
apply_transition(const struct packet *packet)
{
	const struct tcp_layer *t = &packet->tcp;
	bool timestamps = (t->options & TCP_OPTION_TIMESTAMPS) != 0;
	const struct tcp_transition_segment s = {
	    .seq = t->seq,
	    .ack = t->ack,
	    .len = packet->payload_wire,
	    .tsval = timestamps ? t->tsval : 0,
	    .tsecr = timestamps ? t->tsecr : 0,
	    .timestamps = timestamps,
	    .fin = (t->flags & TCP_FIN) != 0,
	    .stamp = packet_send_stamp(packet),
	    .window = t->window,
	};
	unsigned sender;
	struct flow *flow;

	flow_table_run_timers(fast.table, fast.now);
	flow = find_flow(&fast, packet, &sender);
	if (flow == NULL || (t->flags & (TCP_SYN | TCP_RST | TCP_ACK)) != TCP_ACK ||
	    (t->options & ~TCP_OPTION_TIMESTAMPS) != 0 ||
	    !tcp_apply_transition(fast.table, flow, sender, &s, fast.now))
		return false;
	applied++;
	applied_fins += s.fin;
	applied_with_data += s.len != 0;
	return true;
}

static void
compare_losses(const struct flow *a, const struct flow *b)
{
	const struct tcp_loss_pair *first =
	    loss_pool_find(flow_table_tcp_pools(plain.table), flow_cold(plain.table, a));
	const struct tcp_loss_pair *second =
	    loss_pool_find(flow_table_tcp_pools(fast.table), flow_cold(fast.table, b));

	if ((first == NULL) != (second == NULL))
		fail_msg("segment %lu: loss pairs %p and %p", segments, (const void *)first, (const void *)second);
	if (first != NULL)
		assert_memory_equal(first->end, second->end, sizeof first->end);
}

static void
compare_flows(const struct packet *packet)
{
	unsigned sender;
	struct flow *a = find_flow(&plain, packet, &sender), *b = find_flow(&fast, packet, &sender);

	if ((a == NULL) != (b == NULL))
		fail_msg("segment %lu: only one table has a flow", segments);
	if (a == NULL)
		return;
	if (memcmp(a, b, sizeof *a) != 0)
		fail_msg("segment %lu: the flows differ: states %s and %s, %s and %s", segments,
			 fixture_states[a->tcp[0].state], fixture_states[b->tcp[0].state],
			 fixture_states[a->tcp[1].state], fixture_states[b->tcp[1].state]);
	compare_losses(a, b);
	assert_memory_equal(flow_table_counters(plain.table), flow_table_counters(fast.table),
			    sizeof(struct flow_counters));
}

static void
feed(const struct test_segment *s)
{
	struct packet packet = tcp_fixture_packet(s);

	segments++;
	tcp_fixture_feed(&plain, *s);
	if (!apply_transition(&packet))
		tcp_fixture_feed(&fast, *s);
	plain.length = fast.length = 0;
	compare_flows(&packet);
}

static void
pass_time(uint64_t ns)
{
	fastpath_finish_frame(&plain, ns);
	fastpath_finish_frame(&fast, ns);
	plain.length = fast.length = 0;
}

/* --- random connections --- */

struct end {
	uint32_t seq, ack, tsval;
	bool fin_sent;
};

static struct end ends[2];
static bool timestamps;

/* Time between two segments: mostly round trips, sometimes more than a wait or the validity of a timestamp. */
static uint64_t
random_delay(void)
{
	if (one_in(500))
		return 2200 * NANOSECONDS;
	return one_in(20) ? random_below(2000) * MILLISECONDS : random_below(3000) * 1000ull;
}

static void
spoil(struct test_segment *s)
{
	switch (random_below(9)) {
	case 0:
		s->seq += random_below(5) - 2;
		break;
	case 1:
		s->ack += random_below(5) - 2;
		break;
	case 2:
		s->len = random_below(3);
		break;
	case 3:
		s->window = -1;
		break;
	case 4:
		s->tsval -= random_below(20);
		break;
	case 5:
		s->flags ^= (uint8_t)(1u << random_below(5));
		break;
	case 6:
		s->seq += 100000;
		break;
	case 7:
		s->zero_stamp = true;
		s->tsval = 0;
		break;
	case 8:
		s->tsecr += random_below(3) - 1;
		break;
	}
}

static void
send_segment(unsigned from, unsigned flags, uint32_t len)
{
	struct end *e = &ends[from], *peer = &ends[1 - from];
	struct test_segment s = {.from = from, .flags = (uint8_t)flags, .seq = e->seq, .ack = e->ack, .len = len};

	e->tsval += random_below(2);
	s.ident = (uint16_t)(one_in(2) ? 0 : segments);
	if (timestamps) {
		s.tsval = e->tsval;
		s.tsecr = peer->tsval;
		s.zero_stamp = true;
	}
	if ((flags & TCP_SYN) != 0) {
		s.mss = 1460;
		s.wscale = one_in(2) ? 3 : 0;
		s.sack_ok = one_in(2);
	}
	e->seq += len + ((flags & (TCP_SYN | TCP_FIN)) != 0);
	e->fin_sent |= (flags & TCP_FIN) != 0;
	if (!one_in(40)) /* else lost in the network, and so is what it acknowledges */
		peer->ack = e->seq;
	if (one_in(30))
		spoil(&s);
	if (!one_in(60)) /* else lost in the capture */
		feed(&s);
	if (one_in(60))
		feed(&s);
	pass_time(random_delay());
}

static void
open_connection(void)
{
	timestamps = one_in(2);
	for (unsigned i = 0; i < 2; i++)
		ends[i] = (struct end){.seq = random_state * (i + 1), .tsval = random_below(2) * 5000};
	send_segment(A, TCP_SYN, 0);
	send_segment(B, TCP_SYN | TCP_ACK, 0);
	send_segment(A, TCP_ACK, one_in(4) ? random_below(500) : 0);
}

static void
run_connection(void)
{
	open_connection();
	for (unsigned steps = 4 + random_below(12); steps > 0; steps--) {
		unsigned from = random_below(2);
		bool fin = !ends[from].fin_sent && one_in(ends[1 - from].fin_sent ? 2 : 6);
		uint32_t len = ends[from].fin_sent || one_in(2) ? 0 : random_below(900);

		send_segment(from, TCP_ACK | (fin ? TCP_FIN : 0), len);
	}
	pass_time(one_in(2) ? 300 * NANOSECONDS : random_delay());
	if (!one_in(20)) {
		flow_table_clear(plain.table);
		flow_table_clear(fast.table);
	}
}

static void
test_random_connections(void **state)
{
	(void)state;
	for (unsigned reply = 0; reply < 2; reply++) {
		tcp_fixture_setup(&plain, reply * MILLISECONDS);
		tcp_fixture_setup(&fast, reply * MILLISECONDS);
		flow_table_omit_states(fast.table, true);
		for (unsigned i = 0; i < CONNECTIONS / 2; i++)
			run_connection();
		tcp_fixture_teardown(&plain);
		tcp_fixture_teardown(&fast);
	}
	print_message("%lu of %lu segments applied, %lu with FIN, %lu with data\n", applied, segments, applied_fins,
		      applied_with_data);
	assert_true(applied > segments / 20 && applied_fins > 10000 && applied_with_data > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_connections)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
