/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a reply about a connection, or about many, waits for the owners of its ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "owner/owner_lookup.h"
#include "daemon/query/control_reply.h"
#include "tests/flow/tcp/tcp_fixture.h"

static struct tcp_fixture fixture;
static struct control_reply *reply;
static struct {
	bool replied; /* the kernel has been queried since the request */
	int32_t pid;
	uint32_t flags;
	unsigned refreshed; /* ends that were queried again */
	enum owner_prepared prepared;
	unsigned prepared_ends; /* ends of lists that were looked up */
	bool searching;
} lookup;

/* --- in place of the owner lookup --- */

bool
owner_lookup_peek(struct owner_lookup *context, const struct owner_key *key, struct owner *owner)
{
	(void)context;
	(void)key;
	*owner = (struct owner){.queried_ns = lookup.replied ? clock_realtime_ns() : FIXTURE_BEGIN,
				.pid = lookup.pid,
				.uid = OWNER_UID_UNKNOWN,
				.flags = lookup.flags};
	return true;
}

void
owner_lookup_refresh(struct owner_lookup *context, const struct owner_key *key, uint64_t since_ns)
{
	(void)context;
	(void)key;
	assert_int_equal(since_ns, flow_first_seen(fixture.table, fixture.flow));
	lookup.refreshed++;
}

enum owner_prepared
owner_lookup_prepare(struct owner_lookup *context, const struct owner_key *key, uint64_t since_ns, uint64_t now_ns)
{
	(void)context;
	(void)key;
	assert_int_equal(since_ns, flow_first_seen(fixture.table, fixture.flow));
	assert_int_equal(now_ns, reply->asked_ns);
	lookup.prepared_ends++;
	return lookup.prepared;
}

bool
owner_lookup_is_searching(struct owner_lookup *context, const struct owner_key *key, uint64_t asked_ns)
{
	(void)context;
	(void)key;
	assert_int_equal(asked_ns, reply->asked_ns);
	return lookup.searching;
}

/* --- one connection, one worker --- */

static int
set_up(void **state)
{
	struct query_context *query = calloc(1, sizeof *query);
	struct workers *workers = calloc(1, sizeof *workers + sizeof workers->worker[0]);

	(void)state;
	reply = calloc(1, sizeof *reply);
	if (query == NULL || workers == NULL || reply == NULL)
		return -1;
	workers->count = 1;
	workers->worker[0].owner_lookup = (struct owner_lookup *)(void *)&lookup;
	query->workers = workers;
	reply->query = query;
	memset(&lookup, 0, sizeof lookup);
	lookup.pid = -1;
	tcp_fixture_setup(&fixture, 0);
	tcp_fixture_handshake(&fixture);
	fixture.flow->local = 1u << A | 1u << B;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	tcp_fixture_teardown(&fixture);
	free(reply->query->workers);
	free(reply->query);
	free(reply);
	return 0;
}

static void
feed(unsigned from, unsigned flags, uint32_t seq, uint32_t ack)
{
	tcp_fixture_feed(&fixture, segment_empty(from, flags, seq, ack));
}

/* A is in TIME_WAIT, B is CLOSED. */
static void
close_connection(void)
{
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001);
	feed(B, TCP_FIN | TCP_ACK, 5001, 1002);
	feed(A, TCP_ACK, 1002, 5002);
	assert_int_equal(tcp_fixture_state(&fixture, A), TCP_STATE_TIME_WAIT);
	assert_int_equal(tcp_fixture_state(&fixture, B), TCP_STATE_CLOSED);
}

static bool
is_final(void)
{
	return reply_find_owners(reply, fixture.table, fixture.flow);
}

static void
test_an_open_connection_waits_for_the_process(void **state)
{
	(void)state;
	assert_false(is_final());
	assert_int_equal(lookup.refreshed, 2);
	lookup.replied = true;
	assert_false(is_final()); /* no process yet */
	lookup.pid = 4711;
	assert_true(is_final());
	lookup.pid = -1;
	lookup.flags = OWNER_HIDDEN;
	assert_true(is_final());
	lookup.flags = OWNER_CLOSED;
	assert_true(is_final());
	assert_int_equal(lookup.refreshed, 2);
}

static void
test_a_closed_connection_waits_for_one_reply(void **state)
{
	(void)state;
	close_connection();
	assert_false(is_final()); /* the kernel has not been queried since the request */
	lookup.replied = true;
	assert_true(is_final());
}

static void
test_one_open_end_is_waited_for(void **state)
{
	(void)state;
	feed(A, TCP_RST, 1001, 0);
	assert_int_equal(tcp_fixture_state(&fixture, A), TCP_STATE_CLOSED);
	fixture.flow->tcp[B].state = TCP_STATE_ESTABLISHED;
	lookup.replied = true;
	assert_false(is_final());
	reply->deadline_ns = clock_monotonic_ns();
	assert_true(is_final());
}

static void
test_remote_ends_are_not_looked_up(void **state)
{
	(void)state;
	fixture.flow->local = 0;
	assert_true(is_final());
	assert_int_equal(lookup.refreshed, 0);
}

#define with_connection(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* --- a list --- */

static void
prepare(void)
{
	reply->later = false;
	reply_prepare_owners(reply, fixture.table, fixture.flow);
}

static void
wait_once(void)
{
	reply->later = false;
	reply_wait_for_owners(reply, fixture.flow);
}

static void
test_a_list_looks_up_what_it_shows(void **state)
{
	(void)state;
	fixture.flow->local = 1u << A;
	prepare();
	assert_int_equal(lookup.prepared_ends, 1);
	fixture.flow->local = 1u << A | 1u << B;
	prepare();
	assert_int_equal(lookup.prepared_ends, 3);
	fixture.flow->local = 0;
	prepare();
	assert_int_equal(lookup.prepared_ends, 3);
	fixture.flow->local = 1u << A | 1u << B;
	close_connection();
	prepare();
	assert_int_equal(lookup.prepared_ends, 3);
	assert_int_equal(lookup.refreshed, 0);
	assert_false(reply->later);
}

/* Nothing is waited for if all is known. */
static void
test_a_list_without_unknown_owners(void **state)
{
	(void)state;
	prepare();
	reply_next_owner_pass(reply);
	assert_int_equal(reply->owner_pass, REPLY_PASS_WRITE);
}

static void
test_a_list_waits(void **state)
{
	(void)state;
	lookup.prepared = OWNER_PREPARE_PENDING;
	prepare();
	reply->worker = 1;
	reply->position = 7;
	reply_next_owner_pass(reply);
	assert_int_equal(reply->owner_pass, REPLY_PASS_WAIT);
	assert_int_equal(reply->worker + reply->position, 0);
	lookup.searching = true;
	wait_once();
	assert_true(reply->later);
	lookup.searching = false;
	wait_once();
	assert_false(reply->later);
	lookup.searching = true;
	reply->deadline_ns = clock_monotonic_ns();
	wait_once();
	assert_false(reply->later);
	assert_int_equal(reply->owner_pass, REPLY_PASS_WRITE);
}

static void
test_a_list_that_must_not_wait(void **state)
{
	(void)state;
	reply->request.no_wait = true;
	lookup.prepared = OWNER_PREPARE_PENDING;
	prepare();
	assert_int_equal(reply->owner_pass, REPLY_PASS_PREPARE);
	reply_next_owner_pass(reply);
	assert_int_equal(reply->owner_pass, REPLY_PASS_WRITE);
}

/* The half of the queue that lists may use is full. */
static void
test_a_list_fills_the_queue(void **state)
{
	(void)state;
	lookup.prepared = OWNER_PREPARE_LATER;
	prepare();
	assert_true(reply->later);
	assert_int_equal(lookup.prepared_ends, 1);
	reply->deadline_ns = clock_monotonic_ns();
	prepare();
	assert_false(reply->later);
	assert_int_equal(reply->owner_pass, REPLY_PASS_WRITE);

	reply->asked_ns = 0;
	reply->owner_pass = REPLY_PASS_PREPARE;
	reply->request.no_wait = true;
	prepare();
	assert_false(reply->later);
	assert_int_equal(reply->owner_pass, REPLY_PASS_WRITE);
}

static void
test_a_long_list(void **state)
{
	(void)state;
	lookup.prepared = OWNER_PREPARE_PENDING;
	while (reply->owner_pass == REPLY_PASS_PREPARE) {
		prepare();
		assert_in_range(lookup.prepared_ends, 1, 16384);
	}
	assert_int_equal(lookup.prepared_ends, 16384);
	assert_int_equal(reply->owner_pass, REPLY_PASS_WAIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    with_connection(test_an_open_connection_waits_for_the_process),
	    with_connection(test_a_closed_connection_waits_for_one_reply),
	    with_connection(test_one_open_end_is_waited_for),
	    with_connection(test_remote_ends_are_not_looked_up),
	    with_connection(test_a_list_looks_up_what_it_shows),
	    with_connection(test_a_list_without_unknown_owners),
	    with_connection(test_a_list_waits),
	    with_connection(test_a_list_that_must_not_wait),
	    with_connection(test_a_list_fills_the_queue),
	    with_connection(test_a_long_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
