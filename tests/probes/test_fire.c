/* SPDX-License-Identifier: BSD-2-Clause */
/* The emitter's lookup of owners: for which ends, how often, and how old a reply may be.  Connection ids of firings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/fire.h"
#include "probes/firing.h"
#include "probes/manifest.h"
#include "probes/netobs.h"
#include "probes/site/semaphores.h"
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
	assert_true(flow_table_keep_records(fixture.table, true));
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

/* Formulas read all probes of an emitter, which has a packet of a connection. */
struct heard {
	struct firing_ids {
		uint64_t cid, argument;
		bool of_packet;
	} of[PROBE_COUNT];
};

/* The connection id that the arguments have; 0 if they have no id. */
static uint64_t
argument_cid(struct firing *firing)
{
	static const struct {
		enum struct_id id;
		size_t offset;
	} fields[] = {{STRUCT_CSINFO, offsetof(struct csinfo, cs_cid)},
		      {STRUCT_CONNINFO, offsetof(struct conninfo, ci_cid)},
		      {STRUCT_CONNREC, offsetof(struct connrec, cr_client_cid)}};
	const struct probe_info *probe = &manifest_probes[firing->probe];
	uint64_t cid = 0;

	for (unsigned i = 0; i < probe->arg_count; i++)
		for (size_t j = 0; j < sizeof fields / sizeof fields[0]; j++)
			if (probe->args[i].type == &manifest_structs[fields[j].id] &&
			    firing_argument(firing, i) != NULL)
				memcpy(&cid, (const char *)firing_argument(firing, i) + fields[j].offset, sizeof cid);
	return cid;
}

static void
hear_firing(void *context, struct firing *firing)
{
	struct firing_ids *heard = &((struct heard *)context)->of[firing->probe];
	unsigned built = firing->built;

	heard->cid = firing_cid(firing);
	assert_int_equal(firing->built, built);
	heard->argument = argument_cid(firing);
	heard->of_packet = firing_is_of_packet(firing);
}

static void
poll_nothing(void *context)
{
	(void)context;
}

static void
test_a_firing_has_the_id_of_the_reported_endpoint(void **state)
{
	static const struct emitter_listener listener = {.fire = hear_firing, .poll = poll_nothing};
	static const struct interface lo;
	static const struct frame frame = {.interface = &lo};
	static const struct packet packet = {.frame = &frame};
	static const enum probe_id without[] = {PROBE_GLD_SEND, PROBE_ARP_SEND, PROBE_IP_DROP_IN, PROBE_DCCP_SEND};
	static const struct flow_record record;
	static struct heard heard;
	uint64_t cid = flow_cid(fixture.table, fixture.flow, A);

	(void)state;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		semaphores_add_formula(i);
	emitter_set_listener(emitter, &listener, &heard);
	emitter_set_packet(emitter, &packet, 7, fixture.now);
	emit_ip(emitter, PROBE_IP_SEND, fixture.flow, B);
	emit_icmp(emitter, PROBE_ICMP_SEND, fixture.flow, B);
	emit_tcp(emitter, PROBE_TCP_SEND, fixture.flow, B);
	emit_socket(emitter, PROBE_SOCKET_SEND, fixture.flow, B, 1, 0);
	emit_app(emitter, PROBE_ISCSI_NOP_SEND, fixture.flow, B, &lo, NULL);
	fire_event(emitter, fixture.flow, &fixture.last[B]);
	emit_gld(emitter, PROBE_GLD_SEND);
	emit_arp(emitter, PROBE_ARP_SEND);
	emit_ip(emitter, PROBE_IP_DROP_IN, NULL, 0);
	emit_dccp(emitter, PROBE_DCCP_SEND);
	emitter_begin_timer(emitter, fixture.now);
	emit_tcp(emitter, PROBE_TCP_RECEIVE, fixture.flow, A);
	emitter_end_timer(emitter);
	emit_connection(emitter, PROBE_CONNECTION_END, fixture.flow, &record, RECORD_CAPTURE_END);
	emitter_set_listener(emitter, NULL, NULL);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		semaphores_remove_formula(i);
	assert_true(cid > 0);
	for (size_t i = 0; i < PROBE_COUNT; i++)
		assert_int_equal(heard.of[i].cid, heard.of[i].argument);
	assert_int_equal(heard.of[PROBE_TCP_RECEIVE].cid, cid);
	assert_false(heard.of[PROBE_TCP_RECEIVE].of_packet);
	assert_in_range(heard.of[PROBE_CONNECTION_END].cid, cid, cid + 1);
	assert_true(heard.of[PROBE_CONNECTION_END].of_packet);
	assert_int_equal(heard.of[PROBE_IP_SEND].cid, cid + 1);
	assert_true(heard.of[PROBE_IP_SEND].of_packet);
	assert_int_equal(heard.of[PROBE_ICMP_SEND].cid, cid + 1);
	assert_int_equal(heard.of[PROBE_TCP_SEND].cid, cid + 1);
	assert_int_equal(heard.of[PROBE_SOCKET_SEND].cid, cid + 1);
	assert_int_equal(heard.of[PROBE_ISCSI_NOP_SEND].cid, cid + 1);
	assert_true(heard.of[PROBE_TCP_STATE_CHANGE].cid == cid + 1 ||
		    heard.of[PROBE_TCP_ACCEPT_ESTABLISHED].cid == cid + 1);
	for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
		assert_int_equal(heard.of[without[i]].cid, 0);
		assert_true(heard.of[without[i]].of_packet);
	}
}

struct moment {
	uint64_t packet, time; /* packet id of its pktinfo_t, and packet time */
};

static void
hear_moment(void *context, struct firing *firing)
{
	const struct pktinfo *pkt = firing_argument(firing, 0);

	*(struct moment *)context = (struct moment){pkt == NULL ? 0 : pkt->pkt_addr, firing->ts};
}

/* Messages that are told late have a time, and an id, of their own. */
static void
test_a_timer_leaves_the_packet_in_progress_as_it_was(void **state)
{
	static const struct emitter_listener listener = {.fire = hear_moment, .poll = poll_nothing};
	static const struct interface lo;
	static const struct frame frame = {.interface = &lo};
	static const struct packet packet = {.frame = &frame};
	struct moment moment;

	(void)state;
	semaphores_add_formula(PROBE_TCP_SEND);
	emitter_set_listener(emitter, &listener, &moment);
	emitter_set_packet(emitter, &packet, 7, fixture.now);
	emitter_begin_timer(emitter, fixture.now - 5);
	emitter_set_moment(emitter, 3, fixture.now - 9);
	emit_tcp(emitter, PROBE_TCP_SEND, fixture.flow, A);
	assert_int_equal(moment.packet, 0);
	assert_true(moment.time == fixture.now - 9);
	emitter_end_timer(emitter);
	emit_tcp(emitter, PROBE_TCP_SEND, fixture.flow, A);
	assert_int_equal(moment.packet, 7);
	assert_true(moment.time == fixture.now);
	emitter_set_listener(emitter, NULL, NULL);
	semaphores_remove_formula(PROBE_TCP_SEND);
}

#define with_emitter(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    with_emitter(test_owners_are_not_older_than_the_connection),
	    with_emitter(test_owners_are_looked_up_once_for_local_ends),
	    with_emitter(test_a_firing_has_the_id_of_the_reported_endpoint),
	    with_emitter(test_a_timer_leaves_the_packet_in_progress_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
