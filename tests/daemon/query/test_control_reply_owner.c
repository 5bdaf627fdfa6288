/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a reply about a connection waits for the owners of its ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/base/clock.h"
#include "daemon/owner/owner_lookup.h"
#include "daemon/query/control_reply.h"
#include "tests/flow/tcp/tcp_fixture.h"

static struct tcp_fixture fixture;
static struct control_reply *reply;
static struct {
	bool replied; /* the kernel has been queried since the request */
	int32_t pid;
	uint32_t flags;
	unsigned refreshed; /* ends that were queried again */
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    with_connection(test_an_open_connection_waits_for_the_process),
	    with_connection(test_a_closed_connection_waits_for_one_reply),
	    with_connection(test_one_open_end_is_waited_for),
	    with_connection(test_remote_ends_are_not_looked_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
