/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection records of UDP and SCTP, eviction, VLANs and interfaces, and the memory of records. */
#include "tests/flow/record/record_fixture.h"

#include <pcap/pcap.h>

#include "flow/fastpath.h"
#include "flow/sctp/sctp.h"
#include "tests/flow/sctp/sctp_builder.h"

#define MS MILLISECONDS

static struct flow_table *table;
static struct flow *last;
static uint64_t now;

static void
ignore_events(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	(void)events;
}

static void
table_begin(uint32_t flows)
{
	struct flow_limits limits = flow_limits_default();

	limits.flows = flows;
	table = flow_table_new(&limits, 0x5eed, ignore_events, NULL);
	assert_non_null(table);
	assert_true(flow_table_keep_records(table, true));
	reports_begin(table);
	now = FIXTURE_BEGIN;
	last = NULL;
}

/* --- UDP --- */

struct datagram {
	uint8_t from, to; /* last bytes of the addresses */
	uint16_t sport, dport;
	uint32_t size;
	uint16_t vlan; /* 0: no tag */
	const struct interface *interface;
};

static void
datagram(uint64_t ns, struct datagram d)
{
	struct frame frame = {.interface = d.interface != NULL ? d.interface : &fixture_interface, .len = 42 + d.size};
	struct packet packet = {.frame = &frame,
				.network = NETWORK_IPV4,
				.transport = TRANSPORT_UDP,
				.payload_wire = d.size,
				.ip = {.version = 4, .src = {10, 0, 0, d.from}, .dst = {10, 0, 0, d.to}},
				.udp = {.sport = d.sport, .dport = d.dport},
				.ether = {.tagged = d.vlan != 0, .vlan = d.vlan}};
	struct flow_events events = {.count = 0};
	struct flow_key key;
	unsigned sender;

	now += ns;
	flow_table_run_timers(table, now);
	flow_key_from_packet(&packet, &key, &sender);
	last = flow_table_lookup_udp(table, &packet, &key, flow_key_hash(table, &key), sender, now, &events);
	flow_table_report_ended(table);
}

static const struct datagram query = {.from = 1, .to = 2, .sport = 40000, .dport = 53, .size = 30};
static const struct datagram answer = {.from = 2, .to = 1, .sport = 53, .dport = 40000, .size = 200};

static const struct flow_record *
record(void)
{
	const struct flow_record *r = flow_table_record(table, last);

	assert_non_null(r);
	return r;
}

static void
test_a_udp_stream(void **state)
{
	const struct flow_time *time;
	uint64_t us[WAIT_CLASSES];

	(void)state;
	table_begin(10);
	datagram(0, query);
	datagram(7 * MS, answer);
	datagram(3 * SECONDS, query);
	datagram(9 * MS, answer);
	assert_int_equal(flow_record_client(record()), 0);
	assert_int_equal(flow_record_role(record()), RECORD_ROLE_PORT);
	time = flow_record_time(table, last, us);
	assert_int_equal(time->rtt[0].samples + time->rtt[1].samples, 0);
	assert_int_equal(us[WAIT_PROGRAM + 1], 16000);
	assert_int_equal(us[WAIT_PROGRAM], 3000000);
	now += 200 * SECONDS;
	flow_table_run_timers(table, now);
	reports_expect(RECORD_IDLE);
	assert_int_equal(reports.end, FIXTURE_BEGIN + 3016 * MS);
	assert_int_equal(reports.record.wire[0], 2 * 72);
	assert_int_equal(reports.record.wire[1], 2 * 242);
	assert_int_equal(reports.record.exchanges, 2);
	assert_int_equal(reports.record.answer_sum_us, 16000);
	assert_int_equal(reports.record.answer_max_us, 9000);
	assert_int_equal(flow_record_first_byte_us(&reports.record), 7000);
	assert_int_equal(flow_record_handshake_us(&reports.record), RECORD_UNKNOWN_US);
	flow_table_free(table);
}

/* The first packet of the server does not make it the client, nor is it an answer. */
static void
test_a_udp_server_by_its_port(void **state)
{
	(void)state;
	table_begin(10);
	datagram(0, answer);
	datagram(MS, query);
	assert_int_equal(flow_record_client(record()), 0);
	assert_int_equal(record()->exchanges, 0);
	assert_int_equal(flow_record_first_byte_us(record()), RECORD_UNKNOWN_US);
	flow_table_free(table);
}

/* The queries are captured after their answers, all with the same ports: two at once, one after two copies of its
 * answer after a pause, and one a second after its answer. */
static void
test_udp_answers_captured_early(void **state)
{
	(void)state;
	table_begin(10);
	for (unsigned i = 0; i < 3; i++) {
		datagram(i == 2 ? 9 * SECONDS : 100 * MS, answer);
		if (i == 2)
			datagram(MS, answer);
		datagram(MS / 2, query);
	}
	datagram(9 * SECONDS, answer);
	datagram(SECONDS, query);
	datagram(MS, answer);
	assert_int_equal(record()->exchanges, 0);
	assert_int_equal(record()->answer_sum_us, 0);
	assert_int_equal(record()->answer_max_us, 0);
	assert_int_equal(flow_record_first_byte_us(record()), RECORD_UNKNOWN_US);
	assert_int_equal(flow_table_record_totals(table)->answer.sum_us, 0);
	flow_table_free(table);
}

/* The capture begins between a query and its answer: a query after more than a second is another one, and from there
 * what the server sends without one delays nothing. */
static void
test_a_udp_query_long_after_the_first_answer(void **state)
{
	(void)state;
	table_begin(10);
	datagram(0, answer);
	datagram(SECONDS + 2000, query);
	datagram(7 * MS, answer);
	datagram(MS, answer);
	datagram(MS, query);
	datagram(2 * MS, answer);
	assert_int_equal(record()->exchanges, 2);
	assert_int_equal(record()->answer_sum_us, 9000);
	assert_int_equal(record()->answer_max_us, 7000);
	assert_int_equal(flow_record_first_byte_us(record()), RECORD_UNKNOWN_US);
	flow_table_free(table);
}

static void
test_client_by_ports(void **state)
{
	static const struct {
		uint16_t sport, dport;
		enum record_role role;
		bool sender_is_client;
	} cases[] = {
	    {5353, 53, RECORD_ROLE_PORT, true},	    {53, 5353, RECORD_ROLE_PORT, false},
	    {40000, 8080, RECORD_ROLE_PORT, true},  {8080, 40000, RECORD_ROLE_PORT, false},
	    {123, 123, RECORD_ROLE_FIRST, true},    {50000, 40000, RECORD_ROLE_FIRST, true},
	    {8080, 9090, RECORD_ROLE_FIRST, true},  {1023, 1024, RECORD_ROLE_PORT, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		table_begin(10);
		datagram(0, (struct datagram){
				.from = 1, .to = 2, .sport = cases[i].sport, .dport = cases[i].dport, .size = 1});
		assert_int_equal(flow_record_role(record()), cases[i].role);
		assert_int_equal(flow_record_client(record()) == 0, cases[i].sender_is_client);
		flow_table_free(table);
	}
}

/* A datagram on the fast path; false if it does not take it. */
static bool
datagram_on_fast_path(struct datagram d)
{
	struct flow_lookup lookup = {.candidate = last, .sender = d.from == query.from ? 0 : 1, .key = last->key};
	struct frame_peek peek = {.payload_wire = d.size};

	flow_lookup_fetch_record(table, &lookup);
	return fastpath_apply_recorded(table, &lookup, PEEK_UDP, &peek, now, 42 + d.size);
}

/* The fast path counts like the slow one: queries after their answers, then one in front of its own. */
static void
test_early_answers_on_the_fast_path(void **state)
{
	static const uint64_t pauses[] = {MS, 100 * MS, MS, 9 * SECONDS, MS, 2 * SECONDS};

	(void)state;
	table_begin(10);
	datagram(0, answer);
	for (unsigned i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
		now += pauses[i];
		assert_true(datagram_on_fast_path(i % 2 == 0 ? query : answer));
	}
	assert_int_equal(record()->exchanges, 0);
	now += 2 * SECONDS;
	assert_true(datagram_on_fast_path(query));
	now += 5 * MS;
	assert_true(datagram_on_fast_path(answer));
	assert_int_equal(record()->exchanges, 1);
	assert_int_equal(record()->answer_max_us, 5000);
	flow_table_free(table);
}

/* Records are kept from now on: the first packet goes the slow path, which knows its interface, also if a timer of the
 * flow has begun the record. */
static void
test_the_first_packet_of_a_late_record(void **state)
{
	(void)state;
	for (unsigned timer = 0; timer < 2; timer++) {
		table_begin(10);
		assert_true(flow_table_keep_records(table, false));
		datagram(0, query);
		datagram(MS, answer);
		assert_true(flow_table_keep_records(table, true));
		if (timer != 0) {
			now = FIXTURE_BEGIN + flow_limits_default().udp_idle_ns;
			flow_table_run_timers(table, now);
			assert_int_equal(record()->wire[0] + record()->wire[1], 0);
		}
		assert_false(datagram_on_fast_path(query));
		datagram(0, query);
		assert_true(datagram_on_fast_path(query));
		assert_int_equal(record()->wire[0], 2 * 72);
		assert_string_equal(flow_record_interface(table, record()), "eth0");
		flow_table_free(table);
	}
}

/* --- eviction, the table, memory --- */

static void
test_an_evicted_connection(void **state)
{
	struct datagram other = query;

	(void)state;
	table_begin(1);
	datagram(0, query);
	other.from = 3;
	datagram(MS, other);
	reports_expect(RECORD_EVICTED);
	assert_int_equal(reports.flow.key.addr[0][3], 1);
	assert_int_equal(record()->wire[1], 72); /* the new one's only: 10.0.0.3 is the greater end */
	assert_int_equal(record()->wire[0], 0);
	flow_table_clear(table);
	reports_expect(RECORD_CAPTURE_END);
	flow_table_free(table);
}

static void
test_interface_and_vlan_of_the_first_packet(void **state)
{
	static const struct interface eth1 = {.name = "eth1"}, none, longest = {.name = "fifteen-letters"};
	struct datagram d = query;

	(void)state;
	table_begin(10);
	d.interface = &longest;
	d.vlan = 100;
	datagram(0, d);
	d.interface = &eth1;
	d.vlan = 200;
	datagram(MS, d);
	assert_string_equal(flow_record_interface(table, record()), "fifteen-letters");
	assert_int_equal(record()->vlan, 100);
	d.from = 3;
	d.vlan = 0;
	datagram(MS, d);
	assert_string_equal(flow_record_interface(table, record()), "eth1");
	assert_int_equal(record()->vlan, RECORD_NO_VLAN);
	d.from = 4;
	d.interface = &none;
	datagram(MS, d);
	assert_string_equal(flow_record_interface(table, record()), "");
	flow_table_free(table);
}

/* More names than a table can keep: those that it keeps are right, the others unknown. */
static void
test_many_interfaces(void **state)
{
	unsigned known = 0;

	(void)state;
	table_begin(10000);
	for (unsigned i = 0; i < 9000; i++) {
		struct interface many = {.ifindex = i};
		struct datagram d = {.from = 1, .to = 2, .sport = (uint16_t)(10000 + i), .dport = 53, .size = 1};
		const char *name;

		snprintf(many.name, sizeof many.name, "veth%u", i);
		d.interface = &many;
		datagram(MS / 100, d);
		name = flow_record_interface(table, record());
		assert_true(name[0] == '\0' || strcmp(name, many.name) == 0);
		known += name[0] != '\0';
	}
	assert_true(known > 3000 && known < 4096);
	flow_table_free(table);
}

/* With records a connection takes at most 672 bytes, and without them no more than before; with a name 256 more. */
static void
test_memory(void **state)
{
	uint32_t flows = 1000000;

	(void)state;
	assert_int_equal(sizeof(struct flow_record), 128);
	assert_int_equal(sizeof(struct flow_time), 288);
	assert_true(flow_table_records_size(flows) <= (size_t)flows * (128 + 288) + 100000);
	assert_true(flow_table_names_size(flows) <= (size_t)flows * 256 + 4096);
}

/* Each bound of the histograms is inclusive. */
static void
test_buckets(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RECORD_BUCKETS; i++) {
		uint32_t bound = record_bucket_bounds_us[i];

		table_begin(10);
		datagram(0, query);
		datagram(bound * 1000ull, answer);
		datagram(MS, query);
		datagram((bound + 1) * 1000ull, answer);
		assert_int_equal(flow_table_record_totals(table)->answer.count[i], 1);
		assert_int_equal(flow_table_record_totals(table)->answer.count[i + 1], 1);
		assert_int_equal(flow_table_record_totals(table)->answer.sum_us, 2ull * bound + 1);
		flow_table_free(table);
	}
}

/* --- SCTP --- */

enum { A_TAG = 0xaaaaaaa1, B_TAG = 0xbbbbbbb1 };

static struct packet_buffer raw;
static uint64_t frames_sent[2];
static unsigned sctp_sender;

static struct packet_buffer *
sctp_begin(unsigned from, uint32_t tag)
{
	sctp_sender = from;
	sctp_build_begin(&raw, from == A ? 1 : 2, from == A ? 2 : 1, from == A ? 5000 : 36412,
			 from == A ? 36412 : 5000, tag);
	return &raw;
}

static void
sctp_end(uint64_t ns)
{
	struct flow_events events = {.count = 0};
	enum anomaly anomaly;
	struct packet packet;
	struct frame frame;
	struct flow_key key;
	unsigned sender;

	now += ns;
	sctp_build_end(&raw);
	packet_dissect_truncated(&raw, RAW_MAX, now, &frame, &packet);
	flow_table_run_timers(table, now);
	flow_key_from_packet(&packet, &key, &sender);
	last = flow_table_lookup_sctp(table, &packet, &key, flow_key_hash(table, &key), &sender, now, &anomaly);
	if (anomaly != ANOMALY_NONE)
		packet_add_anomaly(&packet, anomaly);
	frames_sent[sctp_sender] += frame.len;
	if (last == NULL)
		return;
	sctp_packet_sent(table, last, sender, &packet, now, &events);
	sctp_packet_received(table, last, 1 - sender, &packet, now, &events);
	flow_table_report_ended(table);
}

static void
sctp_chunk(uint64_t ns, unsigned from, unsigned type)
{
	sctp_begin(from, from == A ? B_TAG : A_TAG);
	sctp_build_chunk(&raw, type, 0, 4);
	packet_put_u32(&raw, 0);
	sctp_end(ns);
}

static void
sctp_init(void)
{
	frames_sent[A] = frames_sent[B] = 0;
	sctp_build_init(sctp_begin(A, 0), SCTP_CHUNK_INIT, A_TAG, NULL, 0);
	sctp_end(MS);
}

static void
sctp_open(void)
{
	sctp_init();
	sctp_build_init(sctp_begin(B, A_TAG), SCTP_CHUNK_INIT_ACK, B_TAG, NULL, 0);
	sctp_end(MS);
	sctp_chunk(MS, A, SCTP_CHUNK_COOKIE_ECHO);
	sctp_chunk(MS, B, SCTP_CHUNK_COOKIE_ACK);
	assert_int_equal(reports.count, 0);
}

static void
test_an_sctp_association(void **state)
{
	(void)state;
	table_begin(10);
	sctp_open();
	sctp_build_data(sctp_begin(A, B_TAG), 1000, 10);
	sctp_end(MS);
	sctp_build_data(sctp_begin(B, A_TAG), 1000, 20);
	sctp_end(15 * MS);
	sctp_build_shutdown(sctp_begin(A, B_TAG), 1000);
	sctp_end(MS);
	sctp_chunk(MS, B, SCTP_CHUNK_SHUTDOWN_ACK);
	sctp_chunk(MS, A, SCTP_CHUNK_SHUTDOWN_COMPLETE);
	reports_expect(RECORD_FIN);
	assert_int_equal(reports.record.wire[0], frames_sent[A]);
	assert_int_equal(reports.record.wire[1], frames_sent[B]);
	assert_int_equal(flow_record_client(&reports.record), 0);
	assert_int_equal(flow_record_role(&reports.record), RECORD_ROLE_SEEN);
	assert_int_equal(reports.record.exchanges, 1);
	assert_int_equal(reports.record.answer_max_us, 15000);
	assert_int_equal(flow_record_first_byte_us(&reports.record), 19000);
	now += 1000 * SECONDS;
	flow_table_run_timers(table, now);
	assert_int_equal(reports.count, 0);
	flow_table_free(table);
}

static void
test_an_sctp_abort(void **state)
{
	(void)state;
	table_begin(10);
	sctp_open();
	sctp_chunk(MS, B, SCTP_CHUNK_ABORT);
	reports_expect(RECORD_RESET_BY_SERVER);
	flow_table_free(table);
	table_begin(10);
	sctp_init();
	sctp_chunk(MS, B, SCTP_CHUNK_ABORT);
	reports_expect(RECORD_REFUSED);
	flow_table_free(table);
}

static void
test_an_sctp_attempt_without_answer(void **state)
{
	(void)state;
	table_begin(10);
	sctp_init();
	now += 1000 * SECONDS;
	flow_table_run_timers(table, now);
	reports_expect(RECORD_NO_ANSWER);
	flow_table_free(table);
}

static void
test_an_idle_sctp_association(void **state)
{
	(void)state;
	table_begin(10);
	sctp_open();
	sctp_build_data(sctp_begin(A, 0x12345), 1001, 10); /* a wrong tag */
	sctp_end(MS);
	assert_int_equal(record()->anomalies, 1);
	assert_int_equal(record()->first_anomaly, ANOMALY_SCTP_TAG);
	now += 1000 * SECONDS;
	flow_table_run_timers(table, now);
	reports_expect(RECORD_IDLE);
	flow_table_free(table);
}

/* Picked up with an INIT ACK, whose sender is still CLOSED: not an end. */
static void
test_an_sctp_association_from_its_init_ack_on(void **state)
{
	(void)state;
	table_begin(10);
	sctp_build_init(sctp_begin(B, A_TAG), SCTP_CHUNK_INIT_ACK, B_TAG, NULL, 0);
	sctp_end(MS);
	assert_int_equal(flow_record_client(record()), 0);
	sctp_chunk(MS, A, SCTP_CHUNK_COOKIE_ECHO);
	sctp_chunk(MS, B, SCTP_CHUNK_COOKIE_ACK);
	assert_int_equal(reports.count, 0);
	sctp_chunk(MS, A, SCTP_CHUNK_ABORT);
	reports_expect(RECORD_RESET_BY_CLIENT);
	flow_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_udp_stream),
	    cmocka_unit_test(test_a_udp_server_by_its_port),
	    cmocka_unit_test(test_udp_answers_captured_early),
	    cmocka_unit_test(test_a_udp_query_long_after_the_first_answer),
	    cmocka_unit_test(test_early_answers_on_the_fast_path),
	    cmocka_unit_test(test_client_by_ports),
	    cmocka_unit_test(test_the_first_packet_of_a_late_record),
	    cmocka_unit_test(test_an_evicted_connection),
	    cmocka_unit_test(test_interface_and_vlan_of_the_first_packet),
	    cmocka_unit_test(test_many_interfaces),
	    cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_buckets),
	    cmocka_unit_test(test_an_sctp_association),
	    cmocka_unit_test(test_an_sctp_abort),
	    cmocka_unit_test(test_an_sctp_attempt_without_answer),
	    cmocka_unit_test(test_an_idle_sctp_association),
	    cmocka_unit_test(test_an_sctp_association_from_its_init_ack_on),
	};

	return cmocka_run_group_tests_name("records of UDP and SCTP", tests, NULL, NULL);
}
