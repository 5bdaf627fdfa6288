/* SPDX-License-Identifier: BSD-2-Clause */
/* The emitter's lookup of owners: for which ends, how often, and how old a reply may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/fire.h"
#include "tests/flow/tcp/tcp_fixture.h"

#define CLOCK_OFFSET 5000u /* between packet time and time stamps, ns */

static struct tcp_fixture fixture;
static struct emitter *emitter;
static struct {
	unsigned count;
	uint16_t local_port; /* of the latest lookup, like since_ns */
	uint64_t since_ns;
} lookups;

static bool
find_owner(void *context, const struct owner_key *key, uint32_t ifindex, uint64_t since_ns, struct owner *owner)
{
	assert_ptr_equal(context, &lookups);
	assert_int_equal(ifindex, 0);
	lookups.count++;
	lookups.local_port = key->local_port;
	lookups.since_ns = since_ns;
	*owner = (struct owner){.pid = -1, .uid = OWNER_UID_UNKNOWN};
	return false;
}

/* A connection of which A is local. */
static int
set_up(void **state)
{
	(void)state;
	memset(&lookups, 0, sizeof lookups);
	tcp_fixture_setup(&fixture, 0);
	tcp_fixture_handshake(&fixture);
	fixture.flow->local = 1u << A;
	emitter = emitter_new(NULL, fixture.table);
	if (emitter == NULL)
		return -1;
	emitter_set_owner_lookup(emitter, find_owner, &lookups);
	++*probe_semaphores[PROBE_SOCKET_SEND];
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	--*probe_semaphores[PROBE_SOCKET_SEND];
	emitter_free(emitter);
	tcp_fixture_teardown(&fixture);
	return 0;
}

static void
emit(unsigned endpoint)
{
	emit_socket(emitter, PROBE_SOCKET_SEND, fixture.flow, endpoint, 1, 0);
}

static void
test_owners_are_not_older_than_the_connection(void **state)
{
	(void)state;
	fixture.now += NANOSECONDS;
	tcp_fixture_feed(&fixture, segment_data(A, 1001, 5001, 100));
	emitter_begin_timer(emitter, fixture.now);
	emit(A);
	assert_int_equal(lookups.local_port, 1000);
	assert_true(lookups.since_ns == FIXTURE_BEGIN);
	flow_table_set_clock_offset(fixture.table, CLOCK_OFFSET); /* the clock was stepped back */
	emitter_begin_timer(emitter, fixture.now);
	emit(A);
	assert_int_equal(lookups.count, 2);
	assert_true(lookups.since_ns == FIXTURE_BEGIN - CLOCK_OFFSET);
}

static void
test_owners_are_looked_up_once_for_local_ends(void **state)
{
	(void)state;
	emitter_begin_timer(emitter, fixture.now);
	emit(B);
	assert_int_equal(lookups.count, 0);
	emit(A);
	emit(A);
	assert_int_equal(lookups.count, 1);
	emitter_begin_timer(emitter, fixture.now);
	emit(A);
	assert_int_equal(lookups.count, 2);
}

#define with_emitter(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    with_emitter(test_owners_are_not_older_than_the_connection),
	    with_emitter(test_owners_are_looked_up_once_for_local_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
