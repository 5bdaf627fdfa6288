/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP associations: the machine, cell by cell; then packets, from normal to hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "flow/sctp/sctp_internal.h"
#include "tests/flow/sctp/sctp_builder.h"

#define SECOND NANOSECONDS

/* --- the machine --- */

static const char *const letters[SCTP_STATE_COUNT] = {"no", "cl", "cw", "ce", "es", "sp", "ss", "sr", "sa"};

/* The path of every input in every state, applied until nothing changes; inputs that are not listed change nothing. */
static const char *const ways[SCTP_INPUT_COUNT] = {
	[SCTP_INPUT_SEND_INIT] = "no-cl-cw cl-cw ce-cw",
	[SCTP_INPUT_SEND_INIT_ACK] = "no-cl",
	[SCTP_INPUT_SEND_COOKIE_ECHO] = "no-ce cl-cw-ce cw-ce",
	[SCTP_INPUT_SEND_COOKIE_ACK] = "no-cl-es cl-es cw-es ce-es",
	[SCTP_INPUT_SEND_ESTABLISHED] = "no-es cw-ce-es ce-es",
	[SCTP_INPUT_SEND_HEARTBEAT] = "no-es",
	[SCTP_INPUT_SEND_SHUTDOWN] = "no-ss cw-ce-es-sp-ss ce-es-sp-ss es-sp-ss sp-ss sr-ss",
	[SCTP_INPUT_SEND_SHUTDOWN_ACK] = "no-sa cw-ce-es-sr-sa ce-es-sr-sa es-sr-sa sp-sr-sa ss-sa sr-sa",
	[SCTP_INPUT_SEND_SHUTDOWN_COMPLETE] = "no-cl es-sp-ss-cl sp-ss-cl ss-cl sr-sa-cl sa-cl",
	[SCTP_INPUT_SEND_ABORT] = "no-cl cw-cl ce-cl es-cl sp-cl ss-cl sr-cl sa-cl",
	[SCTP_INPUT_SEND_REFLECTED] = "no-cl es-cl sp-cl ss-cl sr-cl sa-cl",
	[SCTP_INPUT_RECV_INIT] = "",
	[SCTP_INPUT_RECV_INIT_ACK] = "cw-ce",
	[SCTP_INPUT_RECV_COOKIE_ECHO] = "cl-es cw-es ce-es",
	[SCTP_INPUT_RECV_RESTART] = "cl-es cw-es ce-es sp-es ss-es sr-es",
	[SCTP_INPUT_RECV_COOKIE_ACK] = "ce-es",
	[SCTP_INPUT_RECV_ESTABLISHED] = "",
	[SCTP_INPUT_RECV_HEARTBEAT] = "",
	[SCTP_INPUT_RECV_SHUTDOWN] = "es-sr sp-sr ss-sa",
	[SCTP_INPUT_RECV_SHUTDOWN_ACK] = "ss-cl sa-cl",
	[SCTP_INPUT_RECV_SHUTDOWN_COMPLETE] = "sr-sa-cl sa-cl",
	[SCTP_INPUT_RECV_ABORT] = "cw-cl ce-cl es-cl sp-cl ss-cl sr-cl sa-cl",
	[SCTP_INPUT_TIMEOUT] = "cw-cl ce-cl sp-cl ss-cl sr-cl sa-cl",
	[SCTP_INPUT_SUPERSEDED] = "cw-cl ce-cl es-cl sp-cl ss-cl sr-cl sa-cl",
};

static void
machine_cell_by_cell(void **state)
{
	(void)state;
	for (unsigned in = 0; in < SCTP_INPUT_COUNT; in++) {
		char got[256] = "";

		for (unsigned from = 0; from < SCTP_STATE_COUNT; from++) {
			unsigned at = from, next, steps = 0;

			while ((next = sctp_machine_next((enum sctp_state)at, (enum sctp_input)in)) != at) {
				size_t used = strlen(got);

				assert_true(++steps <= 4); /* fewer events than a packet may raise, and no circle */
				if (steps == 1)
					used += (size_t)snprintf(got + used, sizeof got - used, "%s%s", used ? " " : "",
								 letters[at]);
				snprintf(got + used, sizeof got - used, "-%s", letters[next]);
				at = next;
			}
		}
		assert_string_equal(got, ways[in]);
	}
}

static void
state_names(void **state)
{
	(void)state;
	assert_int_equal(SCTP_STATE_ESTABLISHED, 4); /* Linux's numbers */
	assert_int_equal(SCTP_STATE_SHUTDOWN_ACK_SENT, 8);
	assert_string_equal(sctp_state_name(SCTP_STATE_CLOSED), "state-closed");
	assert_string_equal(sctp_state_name(SCTP_STATE_COOKIE_ECHOED), "state-cookie-echoed");
	assert_string_equal(sctp_state_name(SCTP_STATE_SHUTDOWN_ACK_SENT), "state-shutdown-ack-sent");
	assert_string_equal(sctp_state_name(SCTP_STATE_NONE), "<unknown>");
	assert_string_equal(sctp_state_name((enum sctp_state)99), "<unknown>");
}

/* --- packets --- */

enum { A = 0, B = 1, A_PORT = 5000, B_PORT = 36412 };
enum { A_TAG = 0xaaaaaaa1, B_TAG = 0xbbbbbbb1 };

struct bench {
	struct flow_table *table;
	uint64_t now;
	struct packet_buffer raw;
	struct frame frame;
	struct packet packet;
	struct flow *flow; /* of the last packet */
	enum anomaly odd;
	unsigned address[2]; /* last byte of the address that A and B use next */
	uint32_t tag[2];
	unsigned from; /* sender of the packet being built */
	unsigned closed_by_timer;
	char trace[512]; /* changes since the last check: "A:cl-cw B:cl-es", "!" in front of those without a packet */
};

static unsigned
host_of(const struct flow *flow, unsigned endpoint)
{
	return flow->key.port[endpoint] == A_PORT ? A : B;
}

static void
note_events(struct bench *b, const struct flow *flow, const struct flow_events *events, const char *mark)
{
	for (unsigned i = 0; i < events->count; i++) {
		const struct flow_event *e = &events->event[i];
		size_t used = strlen(b->trace);

		assert_int_equal(e->kind, EVENT_SCTP_STATE_CHANGE);
		assert_int_not_equal(e->sctp_before.state, e->sctp_after.state);
		snprintf(b->trace + used, sizeof b->trace - used, "%s%s%c:%s-%s", used ? " " : "", mark,
			 "AB"[host_of(flow, e->endpoint)], letters[e->sctp_before.state], letters[e->sctp_after.state]);
	}
}

static void
on_timer(void *context, struct flow *flow, const struct flow_events *events)
{
	struct bench *b = context;

	for (unsigned i = 0; i < events->count; i++)
		b->closed_by_timer += events->event[i].sctp_after.state == SCTP_STATE_CLOSED;
	note_events(b, flow, events, "!");
}

static struct bench *
association_new(uint32_t flows)
{
	struct bench *b = calloc(1, sizeof *b);
	struct flow_limits limits = flow_limits_default();

	assert_non_null(b);
	limits.flows = flows;
	b->table = flow_table_new(&limits, 7, on_timer, b);
	assert_non_null(b->table);
	b->now = 1000 * SECOND;
	b->address[A] = 1;
	b->address[B] = 2;
	b->tag[A] = A_TAG;
	b->tag[B] = B_TAG;
	return b;
}

static int
setup(void **state)
{
	*state = association_new(1000);
	return 0;
}

static int
teardown(void **state)
{
	struct bench *b = *state;

	flow_table_clear(b->table);
	assert_int_equal(sctp_counters(b->table)->addr_entries, 0);
	flow_table_free(b->table);
	free(b);
	return 0;
}

static struct packet_buffer *
begin_tagged(struct bench *b, unsigned from, uint32_t verify)
{
	b->from = from;
	sctp_build_begin(&b->raw, b->address[from], b->address[1 - from], from == A ? A_PORT : B_PORT,
			 from == A ? B_PORT : A_PORT, verify);
	return &b->raw;
}

static struct packet_buffer *
begin(struct bench *b, unsigned from)
{
	return begin_tagged(b, from, b->tag[1 - from]);
}

/* As the observer does it. */
static void
observe(struct bench *b, const struct packet *packet)
{
	struct flow_events events = {.count = 0};
	struct flow_key key;
	unsigned sender;

	flow_table_run_timers(b->table, b->now);
	flow_key_from_packet(packet, &key, &sender);
	b->flow =
	    flow_table_lookup_sctp(b->table, packet, &key, flow_key_hash(b->table, &key), &sender, b->now, &b->odd);
	if (b->flow == NULL)
		return;
	sctp_packet_sent(b->table, b->flow, sender, packet, b->now, &events);
	note_events(b, b->flow, &events, "");
	events.count = 0;
	sctp_packet_received(b->table, b->flow, 1 - sender, packet, b->now, &events);
	note_events(b, b->flow, &events, "");
}

static void
finish_cut(struct bench *b, uint32_t caplen)
{
	sctp_build_end(&b->raw);
	b->now += SECOND / 100;
	packet_dissect_truncated(&b->raw, caplen, b->now, &b->frame, &b->packet);
	assert_int_equal(b->packet.transport, TRANSPORT_SCTP);
	observe(b, &b->packet);
}

static void
finish(struct bench *b)
{
	finish_cut(b, RAW_MAX);
}

/* A packet with one chunk that has no value, or 4 bytes of it. */
static void
send_chunk(struct bench *b, unsigned from, unsigned type)
{
	struct packet_buffer *buffer = begin(b, from);

	sctp_build_chunk(buffer, type, 0, 4);
	packet_put_u32(buffer, 0);
	finish(b);
}

static void
send_init(struct bench *b, unsigned from)
{
	sctp_build_init(begin_tagged(b, from, 0), SCTP_CHUNK_INIT, b->tag[from], NULL, 0);
	finish(b);
}

static void
send_init_ack(struct bench *b, unsigned from)
{
	sctp_build_init(begin(b, from), SCTP_CHUNK_INIT_ACK, b->tag[from], NULL, 0);
	finish(b);
}

static void
send_data(struct bench *b, unsigned from)
{
	sctp_build_data(begin(b, from), 1000, 10);
	finish(b);
}

static void
send_shutdown(struct bench *b, unsigned from)
{
	sctp_build_shutdown(begin(b, from), 1000);
	finish(b);
}

static void
send_flagged(struct bench *b, unsigned from, unsigned type, uint32_t verify)
{
	sctp_build_chunk(begin_tagged(b, from, verify), type, SCTP_FLAG_T, 0);
	finish(b);
}

/* The events since the last call. */
static void
assert_trace(struct bench *b, const char *want)
{
	assert_string_equal(b->trace, want);
	b->trace[0] = '\0';
}

static void
assert_states(const struct bench *b, enum sctp_state a, enum sctp_state z)
{
	unsigned endpoint = host_of(b->flow, 0) == A ? 0 : 1;

	assert_string_equal(letters[b->flow->sctp[endpoint].state], letters[a]);
	assert_string_equal(letters[b->flow->sctp[1 - endpoint].state], letters[z]);
}

static const struct sctp_endpoint *
end_of(const struct bench *b, unsigned host)
{
	return &b->flow->sctp[host_of(b->flow, 0) == host ? 0 : 1];
}

static void
set_up(struct bench *b)
{
	send_init(b, A);
	send_init_ack(b, B);
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_ESTABLISHED);
	b->trace[0] = '\0';
}

/* --- normal associations --- */

static void
from_beginning_to_end(void **state)
{
	struct bench *b = *state;
	struct flow *flow;
	uint64_t cid;

	send_init(b, A);
	assert_trace(b, "A:cl-cw");
	flow = b->flow;
	cid = flow_cid(b->table, flow, 0);
	send_init_ack(b, B);
	assert_trace(b, "A:cw-ce");
	assert_states(b, SCTP_STATE_COOKIE_ECHOED, SCTP_STATE_CLOSED);
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	assert_trace(b, "B:cl-es");
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_trace(b, "A:ce-es");
	send_data(b, A);
	sctp_build_sack(begin(b, B), 1000);
	finish(b);
	assert_trace(b, "");
	send_shutdown(b, A);
	assert_trace(b, "A:es-sp A:sp-ss B:es-sr");
	send_data(b, B);
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "B:sr-sa A:ss-cl");
	send_chunk(b, A, SCTP_CHUNK_SHUTDOWN_COMPLETE);
	assert_trace(b, "B:sa-cl");
	assert_ptr_equal(b->flow, flow);
	assert_int_equal(flow_cid(b->table, flow, 0), cid);
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_int_equal(flow_table_counters(b->table)->created, 1);
	assert_int_equal(flow_table_counters(b->table)->midstream, 0);
	/* Stragglers within ten seconds begin nothing, and do not lengthen them. */
	b->now += 5 * SECOND;
	send_data(b, A);
	assert_ptr_equal(b->flow, flow);
	flow_table_run_timers(b->table, b->now + 5 * SECOND);
	assert_int_equal(flow_table_counters(b->table)->flows, 0);
	assert_trace(b, "");
}

static void
what_is_counted(void **state)
{
	struct bench *b = *state;
	struct packet_buffer *buffer;

	set_up(b);
	assert_int_equal(end_of(b, A)->flags & SCTP_EP_ACTIVE_OPEN, SCTP_EP_ACTIVE_OPEN);
	assert_int_equal(end_of(b, B)->flags & SCTP_EP_ACTIVE_OPEN, 0);
	assert_int_equal(end_of(b, A)->rwnd, 100000);
	assert_int_equal(end_of(b, A)->streams_out, 10);
	assert_int_equal(end_of(b, B)->streams_in, 20);
	assert_int_equal(end_of(b, A)->tag, A_TAG);
	buffer = begin(b, A);
	sctp_build_data(buffer, 1000, 10);
	sctp_build_data(buffer, 1001, 7);
	finish(b);
	assert_int_equal(b->packet.sctp.chunk_count, 2);
	sctp_build_data(begin(b, A), 1001, 7);
	finish(b);
	assert_int_equal(end_of(b, A)->bytes, 17);
	assert_int_equal(end_of(b, A)->chunks, 3);
	assert_int_equal(end_of(b, A)->retransmits, 1);
	assert_int_equal(end_of(b, A)->next_tsn, 1002);
	assert_int_equal(end_of(b, A)->packets, 4);
	sctp_build_sack(begin(b, B), 1001);
	finish(b);
	assert_int_equal(end_of(b, B)->cum_tsn_ack, 1001);
	assert_int_equal(end_of(b, B)->rwnd, 90000);
}

/* Data bundled with the COOKIE ECHO, and with its ACK. */
static void
bundles(void **state)
{
	struct bench *b = *state;
	struct packet_buffer *buffer;

	send_init(b, A);
	send_init_ack(b, B);
	buffer = begin(b, A);
	sctp_build_chunk(buffer, SCTP_CHUNK_COOKIE_ECHO, 0, 5);
	packet_put_bytes(buffer, "bakes", 5);
	sctp_build_padding(buffer);
	sctp_build_data(buffer, 1000, 10);
	finish(b);
	assert_trace(b, "A:cl-cw A:cw-ce B:cl-es");
	buffer = begin(b, B);
	sctp_build_chunk(buffer, SCTP_CHUNK_COOKIE_ACK, 0, 0);
	sctp_build_sack(buffer, 1000);
	sctp_build_data(buffer, 1000, 10);
	sctp_build_shutdown(buffer, 1000);
	finish(b);
	assert_trace(b, "B:es-sp B:sp-ss A:ce-es A:es-sr");
	assert_int_equal(end_of(b, A)->bytes, 10);
	assert_int_equal(end_of(b, B)->bytes, 10);
}

/* --- unusual setup --- */

static void
collision(void **state)
{
	struct bench *b = *state;

	send_init(b, A);
	send_init(b, B);
	assert_trace(b, "A:cl-cw B:cl-cw");
	send_init_ack(b, A);
	assert_trace(b, "B:cw-ce");
	send_init_ack(b, B);
	assert_trace(b, "A:cw-ce");
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	assert_trace(b, "B:ce-es");
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ECHO);
	assert_trace(b, "A:ce-es");
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ACK);
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_trace(b, "");
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_int_equal(flow_table_counters(b->table)->created, 1);
}

static void
refused(void **state)
{
	struct bench *b = *state;
	struct flow *flow;
	uint64_t cid;

	send_init(b, A);
	flow = b->flow;
	send_chunk(b, B, SCTP_CHUNK_ABORT);
	assert_trace(b, "A:cl-cw A:cw-cl");
	/* A retransmitted INIT is the same attempt; a new tag is a new one. */
	send_init(b, A);
	assert_trace(b, "A:cl-cw");
	assert_ptr_equal(b->flow, flow);
	cid = flow_cid(b->table, b->flow, 0);
	send_chunk(b, B, SCTP_CHUNK_ABORT);
	b->trace[0] = '\0';
	b->tag[A]++;
	send_init(b, A);
	assert_trace(b, "A:cl-cw");
	assert_true(flow_cid(b->table, b->flow, 0) > cid);
	assert_int_equal(flow_table_counters(b->table)->reused, 1);
}

/* INIT twice, two INIT ACKs with tags of their own; the client takes the first. */
static void
init_again(void **state)
{
	struct bench *b = *state;

	send_init(b, A);
	send_init(b, A);
	b->tag[B] = B_TAG + 1;
	send_init_ack(b, B);
	b->tag[B] = B_TAG + 2;
	send_init_ack(b, B);
	b->tag[B] = B_TAG + 1;
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_trace(b, "A:cl-cw A:cw-ce B:cl-es A:ce-es");
	assert_int_equal(end_of(b, B)->tag, B_TAG + 1);
	send_data(b, A);
	assert_int_equal(b->odd, ANOMALY_NONE);
	b->tag[B] = B_TAG + 2; /* the tag of the second one belongs to no association now */
	send_data(b, A);
	assert_int_equal(b->odd, ANOMALY_SCTP_TAG);
}

/* RFC 9260 section 5.2.6: the cookie was stale, the client begins again. */
static void
stale_cookie(void **state)
{
	struct bench *b = *state;

	send_init(b, A);
	send_init_ack(b, B);
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	b->trace[0] = '\0';
	send_chunk(b, B, SCTP_CHUNK_ERROR);
	assert_trace(b, "");
	b->tag[A]++;
	send_init(b, A);
	assert_trace(b, "A:ce-cw");
	assert_int_equal(b->odd, ANOMALY_NONE);
}

static void
setup_timeout(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 9; i++) {
		send_init(b, A);
		b->now += 60 * SECOND;
	}
	assert_trace(b, "A:cl-cw");
	assert_int_equal(flow_table_counters(b->table)->created, 1);
	flow_table_run_timers(b->table, b->now + 29 * SECOND);
	assert_trace(b, "");
	flow_table_run_timers(b->table, b->now + 31 * SECOND);
	assert_trace(b, "!A:cw-cl");
	assert_int_equal(flow_table_counters(b->table)->flows, 0);
}

/* --- the end --- */

static void
both_shut_down(void **state)
{
	struct bench *b = *state;

	set_up(b);
	send_shutdown(b, A);
	assert_trace(b, "A:es-sp A:sp-ss B:es-sr");
	send_shutdown(b, B); /* sent before A's came: what B sends outweighs what it ought to have received */
	assert_trace(b, "B:sr-ss A:ss-sa");
	send_chunk(b, A, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "B:ss-cl");
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "A:sa-cl");
}

static void
aborted(void **state)
{
	struct bench *b = *state;

	set_up(b);
	send_chunk(b, B, SCTP_CHUNK_ABORT);
	assert_trace(b, "B:es-cl A:es-cl");
	b->tag[A]++;
	b->tag[B]++;
	set_up(b);
	assert_int_equal(flow_table_counters(b->table)->reused, 1);
	/* A host without the association reflects the tag. */
	send_flagged(b, B, SCTP_CHUNK_ABORT, b->tag[B]);
	assert_trace(b, "B:es-cl A:es-cl");
}

/* SHUTDOWN COMPLETE was lost: SHUTDOWN ACK again, which a host without an association answers with the T bit. */
static void
shutdown_complete_reflected(void **state)
{
	struct bench *b = *state;

	set_up(b);
	send_shutdown(b, A);
	b->trace[0] = '\0';
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "B:sr-sa A:ss-cl");
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "");
	send_flagged(b, A, SCTP_CHUNK_SHUTDOWN_COMPLETE, b->tag[B]); /* not reflected: that is B's tag */
	assert_int_equal(b->odd, ANOMALY_SCTP_TAG);
	assert_trace(b, "");
	send_flagged(b, A, SCTP_CHUNK_SHUTDOWN_COMPLETE, b->tag[A]);
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_trace(b, "B:sa-cl");
}

static void
shutdown_unanswered(void **state)
{
	struct bench *b = *state;

	set_up(b);
	send_shutdown(b, A);
	b->trace[0] = '\0';
	flow_table_run_timers(b->table, b->now + 89 * SECOND);
	assert_trace(b, "");
	flow_table_run_timers(b->table, b->now + 91 * SECOND);
	if (host_of(b->flow, 0) == A)
		assert_trace(b, "!A:ss-cl !B:sr-cl");
	else
		assert_trace(b, "!B:sr-cl !A:ss-cl");
}

/* An established association that is idle for too long is expired, not closed. */
static void
idle(void **state)
{
	struct bench *b = *state;

	set_up(b);
	b->now += 200 * SECOND;
	send_chunk(b, A, SCTP_CHUNK_HEARTBEAT);
	flow_table_run_timers(b->table, b->now + 209 * SECOND);
	assert_int_equal(flow_table_counters(b->table)->flows, 1);
	flow_table_run_timers(b->table, b->now + 211 * SECOND);
	assert_int_equal(flow_table_counters(b->table)->flows, 0);
	assert_trace(b, "");
}

/* --- restarts --- */

/* A crashes and begins again: an INIT with a new tag, answered with a new tag, and a COOKIE ECHO that proves both. */
static void
restart(void **state)
{
	struct bench *b = *state;
	uint64_t cid;

	set_up(b);
	cid = flow_cid(b->table, b->flow, 0);
	send_shutdown(b, B);
	b->trace[0] = '\0';
	b->tag[A] = A_TAG + 1;
	send_init(b, A);
	b->tag[B] = B_TAG + 1;
	send_init_ack(b, B);
	assert_trace(b, "");
	assert_int_equal(b->odd, ANOMALY_NONE);
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	assert_trace(b, "A:sr-cl A:cl-cw A:cw-ce B:ss-es");
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_trace(b, "A:ce-es");
	send_data(b, A);
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_int_equal(flow_cid(b->table, b->flow, 0), cid); /* to B it is the same association (section 5.2.4) */
	assert_int_equal(sctp_counters(b->table)->restarts, 1);
	b->tag[B] = B_TAG;
	send_data(b, A);
	assert_int_equal(b->odd, ANOMALY_SCTP_TAG);
}

/* Any host can send an INIT: neither it nor its replies change the association. */
static void
forged_init(void **state)
{
	struct bench *b = *state;

	set_up(b);
	b->tag[A] = 0x666;
	send_init(b, A);
	b->tag[B] = B_TAG + 1;
	send_init_ack(b, B);
	send_chunk(b, B, SCTP_CHUNK_ABORT); /* to the forged tag */
	assert_trace(b, "");
	b->tag[A] = A_TAG;
	b->tag[B] = B_TAG;
	send_data(b, A);
	send_data(b, B);
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO); /* the old one again */
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_trace(b, "");
	assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_ESTABLISHED);
	assert_int_equal(sctp_counters(b->table)->restarts, 0);
}

/* An endpoint that waits for SHUTDOWN COMPLETE does not restart (section 5.2.4, action A). */
static void
restart_while_closing(void **state)
{
	struct bench *b = *state;

	set_up(b);
	send_shutdown(b, A);
	b->trace[0] = '\0';
	sctp_build_chunk(begin(b, B), SCTP_CHUNK_SHUTDOWN_ACK, 0, 0);
	b->raw.bytes[19] = 77; /* to an address that is not one of A's: only B's half is accepted */
	sctp_build_end(&b->raw);
	b->trace[0] = '\0';
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "B:sr-sa A:ss-cl");
	b->tag[A]++;
	send_init(b, A);
	assert_trace(b, "A:cl-cw");
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_states(b, SCTP_STATE_COOKIE_WAIT, SCTP_STATE_SHUTDOWN_ACK_SENT);
	send_flagged(b, A, SCTP_CHUNK_SHUTDOWN_COMPLETE, b->tag[A]); /* section 8.5.1, E */
	assert_trace(b, "B:sa-cl");
	assert_states(b, SCTP_STATE_COOKIE_WAIT, SCTP_STATE_CLOSED);
}

/* --- captured in part --- */

static void
midstream(void **state)
{
	struct bench *b = *state;

	send_data(b, A);
	assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_NONE);
	sctp_build_sack(begin(b, B), 1000);
	finish(b);
	assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_ESTABLISHED);
	assert_trace(b, "");
	assert_int_equal(flow_table_counters(b->table)->midstream, 1);
	assert_int_equal(end_of(b, A)->tag, A_TAG);
	send_shutdown(b, B);
	send_chunk(b, A, SCTP_CHUNK_SHUTDOWN_ACK);
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_COMPLETE);
	assert_trace(b, "B:es-sp B:sp-ss A:es-sr A:sr-sa B:ss-cl A:sa-cl");
}

static void
one_direction(void **state)
{
	struct bench *b = *state;

	send_init(b, A);
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	assert_trace(b, "A:cl-cw A:cw-ce");
	send_data(b, A);
	assert_trace(b, "A:ce-es");
	send_shutdown(b, A);
	send_chunk(b, A, SCTP_CHUNK_SHUTDOWN_COMPLETE);
	assert_trace(b, "A:es-sp A:sp-ss A:ss-cl");
	assert_states(b, SCTP_STATE_CLOSED, SCTP_STATE_NONE); /* nothing of B was captured */
}

static void
other_direction(void **state)
{
	struct bench *b = *state;

	send_init_ack(b, B);
	assert_states(b, SCTP_STATE_NONE, SCTP_STATE_CLOSED);
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_trace(b, "B:cl-es");
	send_data(b, B);
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "B:es-sr B:sr-sa");
	flow_table_run_timers(b->table, b->now + 91 * SECOND);
	assert_trace(b, "!B:sa-cl");
}

/* Frames that the capture lost. */
static void
frames_missing(void **state)
{
	struct bench *b = *state;

	send_init(b, A);
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_trace(b, "A:cl-cw B:cl-es"); /* A cannot take a COOKIE ACK before it has sent its cookie */
	send_data(b, A);
	assert_trace(b, "A:cw-ce A:ce-es");
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_trace(b, "B:es-sr B:sr-sa");
	send_chunk(b, A, SCTP_CHUNK_SHUTDOWN_COMPLETE);
	assert_trace(b, "A:es-sp A:sp-ss A:ss-cl B:sa-cl");
}

static void
proves_nothing(void **state)
{
	struct bench *b = *state;

	send_chunk(b, B, SCTP_CHUNK_ABORT);
	assert_null(b->flow);
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_COMPLETE);
	assert_null(b->flow);
	send_chunk(b, B, SCTP_CHUNK_ERROR);
	assert_null(b->flow);
	send_chunk(b, B, 200);
	assert_null(b->flow);
	begin(b, B);
	finish(b);
	assert_null(b->flow);
	assert_int_equal(b->packet.worst_anomaly, ANOMALY_SCTP_NO_CHUNK);
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_int_equal(flow_table_counters(b->table)->created, 0);
}

/* Three packets with one wrong tag: the beginning of another association was missed. */
static void
another_association(void **state)
{
	struct bench *b = *state;
	uint64_t cid;

	set_up(b);
	cid = flow_cid(b->table, b->flow, 0);
	b->tag[B] = 0x777;
	send_data(b, A);
	send_data(b, A);
	assert_int_equal(b->odd, ANOMALY_SCTP_TAG);
	assert_trace(b, "");
	b->tag[B] = B_TAG;
	send_data(b, A); /* a right one between */
	b->tag[B] = 0x777;
	send_data(b, A);
	send_data(b, A);
	b->tag[B] = 0x778;
	send_data(b, A); /* and another wrong one */
	assert_trace(b, "");
	assert_int_equal(sctp_counters(b->table)->tag_mismatches, 5);
	b->tag[B] = 0x777;
	send_data(b, A);
	send_data(b, A);
	assert_int_equal(flow_cid(b->table, b->flow, 0), cid);
	send_data(b, A);
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_true(flow_cid(b->table, b->flow, 0) > cid);
	if (host_of(b->flow, 0) == A)
		assert_trace(b, "!A:es-cl !B:es-cl");
	else
		assert_trace(b, "!B:es-cl !A:es-cl");
	assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_NONE);
	assert_int_equal(flow_table_counters(b->table)->flows, 1);
	assert_int_equal(sctp_counters(b->table)->addr_entries, 1);
}

/* --- packets that must be ignored --- */

static void
wrong_tags(void **state)
{
	struct bench *b = *state;

	set_up(b);
	b->tag[B] = 0x1234;
	send_chunk(b, A, SCTP_CHUNK_ABORT);
	send_shutdown(b, A);
	b->tag[B] = 0;
	send_data(b, A);
	b->tag[B] = B_TAG;
	sctp_build_init(begin(b, A), SCTP_CHUNK_INIT, 5, NULL, 0); /* an INIT's must be 0 */
	finish(b);
	assert_int_equal(b->odd, ANOMALY_SCTP_TAG);
	assert_int_equal(sctp_counters(b->table)->tag_mismatches, 4);
	assert_trace(b, "");
	assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_ESTABLISHED);
	assert_int_equal(end_of(b, A)->packets, 2);
}

static void
bundles_that_must_not_be(void **state)
{
	struct bench *b = *state;
	struct packet_buffer *buffer;

	buffer = begin_tagged(b, A, 0);
	sctp_build_init(buffer, SCTP_CHUNK_INIT, A_TAG, NULL, 0);
	sctp_build_data(buffer, 1000, 10);
	finish(b);
	assert_null(b->flow);
	assert_int_equal(b->odd, ANOMALY_SCTP_BUNDLE);
	set_up(b);
	send_shutdown(b, A);
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	b->trace[0] = '\0';
	buffer = begin(b, A);
	sctp_build_chunk(buffer, SCTP_CHUNK_SHUTDOWN_COMPLETE, 0, 0);
	sctp_build_chunk(buffer, SCTP_CHUNK_HEARTBEAT, 0, 0);
	finish(b);
	assert_int_equal(b->odd, ANOMALY_SCTP_BUNDLE);
	assert_trace(b, "");
	assert_int_equal(sctp_counters(b->table)->illegal_bundles, 2);
}

static void
wrong_lengths(void **state)
{
	struct bench *b = *state;
	struct packet_buffer *buffer;

	set_up(b);
	/* A chunk of length 0: the chunks before it count, those after it cannot be found. */
	for (unsigned length = 0; length < 4; length++) {
		buffer = begin(b, A);
		sctp_build_data(buffer, 1000 + length, 10);
		packet_put_u16(buffer, SCTP_CHUNK_ABORT << 8);
		packet_put_u16(buffer, length);
		sctp_build_chunk(buffer, SCTP_CHUNK_ABORT, 0, 0);
		finish(b);
		assert_int_equal(b->packet.worst_anomaly, ANOMALY_SCTP_CHUNK_LENGTH);
		assert_trace(b, "");
	}
	assert_int_equal(end_of(b, A)->chunks, 4);
	/* Longer than the packet. */
	buffer = begin(b, A);
	sctp_build_chunk(buffer, SCTP_CHUNK_ABORT, 0, 4);
	finish(b);
	assert_int_equal(b->packet.worst_anomaly, ANOMALY_SCTP_CHUNK_LENGTH);
	assert_trace(b, "");
	/* Shorter than its type: nothing of the packet counts. */
	buffer = begin(b, A);
	sctp_build_chunk(buffer, SCTP_CHUNK_SHUTDOWN, 0, 0);
	sctp_build_chunk(buffer, SCTP_CHUNK_ABORT, 0, 0);
	finish(b);
	assert_int_equal(b->odd, ANOMALY_SCTP_CHUNK_SHORT);
	assert_trace(b, "");
	/* Empty DATA (section 6.2). */
	sctp_build_data(begin(b, A), 1004, 0);
	finish(b);
	assert_int_equal(b->odd, ANOMALY_SCTP_CHUNK_SHORT);
	b->tag[A] = 0;
	send_init(b, A);
	assert_int_equal(b->odd, ANOMALY_SCTP_TAG_ZERO);
	assert_trace(b, "");
}

/* As many empty chunks as fit: the first 80 count. */
static void
many_chunks(void **state)
{
	struct bench *b = *state;
	struct packet_buffer *buffer;

	set_up(b);
	buffer = begin(b, A);
	while (buffer->len <= 65535 - 4)
		sctp_build_chunk(buffer, SCTP_CHUNK_SHUTDOWN_ACK, 0, 0);
	finish(b);
	assert_int_equal(b->packet.sctp.chunk_count, 80);
	assert_true(anomaly_has(&b->packet.anomalies, ANOMALY_SCTP_CHUNK_LIMIT));
	assert_trace(b, "A:es-sr A:sr-sa");
}

/* Every chunk that closes or opens something, all in one packet: no event is lost. */
static void
all_at_once(void **state)
{
	struct bench *b = *state;
	struct packet_buffer *buffer;

	send_init(b, A);
	b->trace[0] = '\0';
	buffer = begin(b, A);
	sctp_build_sack(buffer, 1);
	sctp_build_shutdown(buffer, 1);
	sctp_build_chunk(buffer, SCTP_CHUNK_SHUTDOWN_ACK, 0, 0);
	sctp_build_chunk(buffer, SCTP_CHUNK_ABORT, 0, 0);
	sctp_build_chunk(buffer, SCTP_CHUNK_COOKIE_ACK, 0, 0);
	finish(b);
	assert_trace(b, "A:cw-ce A:ce-es A:es-sp A:sp-ss A:ss-sa A:sa-cl");
}

/* Cut by the capture anywhere: no invented event, no read beyond the captured bytes. */
static void
cut_anywhere(void **state)
{
	struct bench *b = *state;
	static const uint8_t addresses[2] = {11, 12};
	struct packet_buffer *buffer;

	for (uint32_t caplen = 32; caplen < 32 + 36; caplen++) {
		buffer = begin_tagged(b, A, 0);
		sctp_build_init(buffer, SCTP_CHUNK_INIT, A_TAG, addresses, 2);
		finish_cut(b, caplen);
		if (caplen < 36)
			assert_null(b->flow);
		else
			assert_states(b, SCTP_STATE_COOKIE_WAIT, SCTP_STATE_NONE);
		assert_int_equal(b->odd, ANOMALY_NONE);
		flow_table_clear(b->table);
	}
	buffer = begin(b, A);
	sctp_build_data(buffer, 1000, 1000);
	sctp_build_chunk(buffer, SCTP_CHUNK_ABORT, 0, 0);
	finish_cut(b, 100);
	assert_int_equal(end_of(b, A)->bytes, 1000);
	assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_NONE);
}

/* --- more than one path --- */

static void
multi_homed(void **state)
{
	struct bench *b = *state;
	static const uint8_t a_addresses[2] = {1, 11}, b_addresses[3] = {2, 12, 22};
	struct sctp_address got[SCTP_ADDRESSES_MAX];
	struct flow *flow;
	unsigned endpoint;

	sctp_build_init(begin_tagged(b, A, 0), SCTP_CHUNK_INIT, A_TAG, a_addresses, 2);
	finish(b);
	flow = b->flow;
	b->address[A] = 11;
	sctp_build_init(begin_tagged(b, A, 0), SCTP_CHUNK_INIT, A_TAG, a_addresses,
			2); /* retransmitted from the other one */
	finish(b);
	assert_ptr_equal(b->flow, flow);
	b->address[A] = 1;
	sctp_build_init(begin(b, B), SCTP_CHUNK_INIT_ACK, B_TAG, b_addresses, 3);
	finish(b);
	b->address[B] = 12;
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	b->address[A] = 11;
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
	assert_trace(b, "A:cl-cw A:cw-ce B:cl-es A:ce-es");
	b->address[B] = 22;
	send_chunk(b, A, SCTP_CHUNK_HEARTBEAT);
	send_chunk(b, B, SCTP_CHUNK_HEARTBEAT_ACK);
	assert_ptr_equal(b->flow, flow);
	assert_int_equal(b->odd, ANOMALY_NONE);
	assert_int_equal(sctp_counters(b->table)->other_paths, 5);
	endpoint = host_of(flow, 0) == A ? 0 : 1;
	assert_int_equal(sctp_get_addresses(b->table, flow, endpoint, got), 2);
	assert_int_equal(got[0].bytes[3], 1);
	assert_int_equal(got[1].bytes[3], 11);
	assert_int_equal(got[1].version, 4);
	assert_int_equal(sctp_get_addresses(b->table, flow, 1 - endpoint, got), 3);
	/* A reflected ABORT on another path finds it, too; a tag of no association does not. */
	b->tag[B]++;
	send_chunk(b, A, SCTP_CHUNK_SHUTDOWN_ACK);
	assert_ptr_not_equal(b->flow, flow);
	b->tag[B]--;
	send_flagged(b, A, SCTP_CHUNK_ABORT, A_TAG);
	assert_ptr_equal(b->flow, flow);
	assert_trace(b, "A:es-cl B:es-cl");
}

/* If all addresses are known, a tag is not enough. */
static void
unknown_path(void **state)
{
	struct bench *b = *state;
	struct flow *flow;

	set_up(b);
	flow = b->flow;
	b->address[A] = 31;
	b->address[B] = 32;
	send_data(b, A);
	assert_ptr_not_equal(b->flow, flow);
	b->address[B] = 2; /* an address that was added later (RFC 5061): the other one is known */
	send_data(b, A);
	assert_ptr_equal(b->flow, flow);
}

static void
path_in_midstream(void **state)
{
	struct bench *b = *state;
	struct sctp_address got[SCTP_ADDRESSES_MAX];
	struct flow *flow;

	send_data(b, A);
	flow = b->flow;
	b->address[A] = 11;
	b->address[B] = 12;
	send_data(b, A);
	assert_ptr_equal(b->flow, flow);
	send_data(b, B);
	assert_ptr_not_equal(b->flow, flow); /* A's tag was not captured: nothing proves that this is the same
					      * association */
	assert_int_equal(sctp_get_addresses(b->table, flow, host_of(flow, 0) == B ? 0 : 1, got), 2);
	assert_int_equal(sctp_get_addresses(b->table, flow, host_of(flow, 0) == A ? 0 : 1, got), 1);
}

static void
too_many_addresses(void **state)
{
	struct bench *b = *state;
	static const uint8_t addresses[12] = {1, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21};
	struct sctp_address got[SCTP_ADDRESSES_MAX];
	struct packet_buffer *buffer;

	sctp_build_init(begin_tagged(b, A, 0), SCTP_CHUNK_INIT, A_TAG, addresses, 12);
	finish(b);
	assert_int_equal(sctp_get_addresses(b->table, b->flow, b->flow->first_sender, got), 8);
	assert_int_equal(sctp_counters(b->table)->addresses_dropped, 4);
	/* IPv6, one address of no known type, one of a wrong length, an unknown parameter, one with a false length. */
	buffer = begin(b, B);
	sctp_build_chunk(buffer, SCTP_CHUNK_INIT_ACK, 0, 16 + 20 + 8 + 12 + 8 + 4);
	packet_put_u32(buffer, B_TAG);
	packet_put_u32(buffer, 1);
	packet_put_u32(buffer, 1);
	packet_put_u32(buffer, 1);
	packet_put_u32(buffer, 0x00060014);
	packet_put_bytes(buffer, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09", 16);
	packet_put_u32(buffer, 0x00050008);
	packet_put_u32(buffer, 0);
	packet_put_u32(buffer, 0x0005000c);
	packet_put_u32(buffer, 0x0a00004d);
	packet_put_u32(buffer, 0x0a00004d);
	packet_put_u32(buffer, 0xc0000006);
	packet_put_u32(buffer, 0xffff0000);
	packet_put_u32(buffer, 0x00050002);
	finish(b);
	assert_int_equal(sctp_get_addresses(b->table, b->flow, 1u - b->flow->first_sender, got), 2);
	assert_int_equal(got[1].version, 6);
	assert_int_equal(got[1].bytes[15], 9);
	assert_trace(b, "A:cl-cw A:cw-ce");
}

/* Address records for a few, associations for more: those without are found by their key. */
static void
no_address_record(void **state)
{
	struct bench *b = association_new(80);
	struct sctp_address got[SCTP_ADDRESSES_MAX];

	*state = b;
	for (unsigned i = 0; i < 80; i++) {
		b->address[A] = 100 + i;
		b->tag[A] = 1 + i;
		send_init(b, A);
	}
	assert_int_equal(sctp_counters(b->table)->addr_entries, 64);
	assert_int_equal(sctp_counters(b->table)->addr_table_full, 16);
	assert_int_equal(flow_table_counters(b->table)->flows, 80);
	assert_int_equal(sctp_get_addresses(b->table, b->flow, b->flow->first_sender, got), 1);
	send_init_ack(b, B);
	assert_states(b, SCTP_STATE_COOKIE_ECHOED, SCTP_STATE_CLOSED);
	/* The eviction of the first frees a record. */
	b->address[A] = 99;
	send_init(b, A);
	assert_int_equal(flow_table_counters(b->table)->evicted_half_open, 1);
	assert_int_equal(sctp_counters(b->table)->addr_entries, 64);
	(void)teardown(state);
}

/* The number of address records grows with that of the flows. */
static void
address_records_for_many(void **state)
{
	struct bench *b = association_new(400000);

	*state = b;
	for (unsigned i = 0; i < 20000; i++) {
		b->address[A] = 100 + i;
		b->tag[A] = 1 + i;
		send_init(b, A);
		b->now = 1000 * SECOND; /* no attempt times out */
	}
	assert_int_equal(sctp_counters(b->table)->addr_entries, 20000);
	assert_int_equal(sctp_counters(b->table)->addr_table_full, 0);
	(void)teardown(state);
}

/* All address records are in use. */
static struct bench *
association_without_records(void)
{
	struct bench *b = association_new(200);

	for (unsigned i = 0; i < 65; i++) {
		b->address[A] = 300 + i;
		b->tag[A] = 1 + i;
		send_init(b, A);
	}
	assert_int_equal(sctp_counters(b->table)->addr_table_full, 1);
	b->address[A] = 1;
	b->tag[A] = A_TAG;
	b->trace[0] = '\0';
	return b;
}

static void
send_multihomed_init(struct bench *b)
{
	static const uint8_t addresses[2] = {1, 11};

	sctp_build_init(begin_tagged(b, A, 0), SCTP_CHUNK_INIT, b->tag[A], addresses, 2);
	finish(b);
}

static void
set_up_multihomed(struct bench *b)
{
	static const uint8_t addresses[2] = {2, 12};

	send_multihomed_init(b);
	sctp_build_init(begin(b, B), SCTP_CHUNK_INIT_ACK, b->tag[B], addresses, 2);
	finish(b);
	send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
	send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
}

/* A multi-homed association on the ends 10.0.0.n and 10.0.0.n + 10, or the next one between the same ends: data on the
 * second path, the shutdown on the path `last`. */
static void
multihomed_lifetime(struct bench *b, unsigned last)
{
	set_up_multihomed(b);
	b->address[A] = 11;
	b->address[B] = 12;
	for (unsigned i = 0; i < 4; i++) {
		send_data(b, A);
		send_data(b, B);
	}
	b->address[A] = 1 + last;
	b->address[B] = 2 + last;
	send_shutdown(b, A);
	send_chunk(b, B, SCTP_CHUNK_SHUTDOWN_ACK);
	send_chunk(b, A, SCTP_CHUNK_SHUTDOWN_COMPLETE);
	b->address[A] = 1;
	b->address[B] = 2;
	b->tag[A]++;
	b->tag[B]++;
}

/* Without address records the paths of an association are flows of their own.  A later association between the same
 * ends does not close, on the second path, an association that was shut down on the first. */
static void
no_record_and_shutdown_on_first_path(void **state)
{
	struct bench *b = association_without_records();

	*state = b;
	multihomed_lifetime(b, 0);
	assert_trace(b, "A:cl-cw A:cw-ce B:cl-es A:ce-es A:es-sp A:sp-ss B:es-sr B:sr-sa A:ss-cl B:sa-cl");
	multihomed_lifetime(b, 0);
	assert_trace(b, "A:cl-cw A:cw-ce B:cl-es A:ce-es A:es-sp A:sp-ss B:es-sr B:sr-sa A:ss-cl B:sa-cl");
	(void)teardown(state);
}

/* Nor does its handshake, on the first path, close one that was shut down on the second. */
static void
no_record_and_shutdown_on_second_path(void **state)
{
	struct bench *b = association_without_records();

	*state = b;
	multihomed_lifetime(b, 10);
	assert_trace(b, "A:cl-cw A:cw-ce B:cl-es A:ce-es A:es-sp A:sp-ss B:es-sr B:sr-sa A:ss-cl B:sa-cl");
	set_up_multihomed(b);
	assert_trace(b, "B:cl-es A:ce-es");
	assert_int_equal(sctp_counters(b->table)->restarts, 0);
	(void)teardown(state);
}

/* Nor does a timer, if the handshake continues on the second path. */
static void
no_record_and_handshake_on_second_path(void **state)
{
	struct bench *b = association_without_records();

	*state = b;
	send_multihomed_init(b);
	assert_trace(b, "A:cl-cw");
	b->address[A] = 11;
	set_up_multihomed(b);
	assert_trace(b, "A:cl-cw A:cw-ce B:cl-es A:ce-es");
	b->now += 100000 * SECOND;
	b->closed_by_timer = 0;
	flow_table_run_timers(b->table, b->now);
	assert_int_equal(b->closed_by_timer, 65); /* the 65 attempts, which were never answered */
	(void)teardown(state);
}

/* One tag, the same ports, many hosts: each association is still its own. */
static void
one_tag_for_many_hosts(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 200; i++) {
		b->address[A] = 1 + 2 * i;
		b->address[B] = 2 + 2 * i;
		send_init(b, A);
		send_init_ack(b, B);
	}
	assert_int_equal(flow_table_counters(b->table)->created, 200);
	for (unsigned i = 0; i < 200; i++) {
		b->address[A] = 1 + 2 * i;
		b->address[B] = 2 + 2 * i;
		send_chunk(b, A, SCTP_CHUNK_COOKIE_ECHO);
		send_chunk(b, B, SCTP_CHUNK_COOKIE_ACK);
		assert_states(b, SCTP_STATE_ESTABLISHED, SCTP_STATE_ESTABLISHED);
		b->trace[0] = '\0';
	}
	assert_int_equal(flow_table_counters(b->table)->created, 200);
}

static void
an_icmp_error_finds_it(void **state)
{
	struct bench *b = *state;
	struct packet error = {.network = NETWORK_IPV4, .transport = TRANSPORT_ICMP};
	struct flow_key key;
	unsigned sender;

	set_up(b);
	error.icmp.error = true;
	error.icmp.quote.version = 4;
	error.icmp.quote.protocol = 132;
	error.icmp.quote.has_ports = true;
	memcpy(error.icmp.quote.src, b->packet.ip.src, 16);
	memcpy(error.icmp.quote.dst, b->packet.ip.dst, 16);
	error.icmp.quote.sport = b->packet.sctp.sport;
	error.icmp.quote.dport = b->packet.sctp.dport;
	assert_true(flow_key_from_icmp_error(&error, &key, &sender));
	assert_ptr_equal(flow_table_lookup(b->table, &key, flow_key_hash(b->table, &key)), b->flow);
}

/* --- captures --- */

struct totals {
	unsigned packets, flows, odd;
	char trace[2048];
};

static void
on_timer_of_file(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	(void)events;
}

/* Every change and its number, in the order of the states: "cl-cw*2 cw-ce*2". */
static void
print_changes(char *to, size_t size, unsigned changes[SCTP_STATE_COUNT][SCTP_STATE_COUNT])
{
	size_t used = 0;

	to[0] = '\0';
	for (unsigned from = 0; from < SCTP_STATE_COUNT; from++)
		for (unsigned next = 0; next < SCTP_STATE_COUNT; next++)
			if (changes[from][next] > 0 && used < size)
				used += (size_t)snprintf(to + used, size - used, "%s%s-%s*%u", used ? " " : "",
							 letters[from], letters[next], changes[from][next]);
}

static bool
replay(const char *path, struct totals *totals)
{
	static const struct interface interface = {.name = "file"};
	unsigned changes[SCTP_STATE_COUNT][SCTP_STATE_COUNT] = {{0}};
	struct flow_limits limits = flow_limits_default();
	struct flow_table *table;
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	pcap_t *capture = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);

	*totals = (struct totals){0};
	if (capture == NULL)
		return false;
	limits.flows = 1000;
	table = flow_table_new(&limits, 1, on_timer_of_file, NULL);
	assert_non_null(table);
	while (pcap_next_ex(capture, &header, &bytes) == 1) {
		struct frame frame = {
			.data = bytes,
			.interface = &interface,
			.ts = (uint64_t)header->ts.tv_sec * SECOND + (uint64_t)header->ts.tv_usec,
			.caplen = header->caplen,
			.len = header->len,
			.dlt = pcap_datalink(capture),
		};
		struct flow_events events = {.count = 0};
		struct packet packet;
		struct flow_key key;
		struct flow *flow;
		enum anomaly odd;
		unsigned sender;

		dissect_frame(&frame, &packet);
		if (packet.transport != TRANSPORT_SCTP)
			continue;
		totals->packets++;
		flow_key_from_packet(&packet, &key, &sender);
		flow =
		    flow_table_lookup_sctp(table, &packet, &key, flow_key_hash(table, &key), &sender, frame.ts, &odd);
		totals->odd += odd != ANOMALY_NONE;
		if (flow == NULL)
			continue;
		sctp_packet_sent(table, flow, sender, &packet, frame.ts, &events);
		sctp_packet_received(table, flow, 1 - sender, &packet, frame.ts, &events);
		for (unsigned i = 0; i < events.count; i++)
			changes[events.event[i].sctp_before.state][events.event[i].sctp_after.state]++;
	}
	totals->flows = (unsigned)flow_table_counters(table)->created;
	print_changes(totals->trace, sizeof totals->trace, changes);
	pcap_close(capture);
	flow_table_free(table);
	return true;
}

static void
assert_replays(const char *path, const struct totals *want)
{
	struct totals got;

	assert_true(replay(path, &got));
	assert_string_equal(got.trace, want->trace);
	assert_int_equal(got.packets, want->packets);
	assert_int_equal(got.flows, want->flows);
	assert_int_equal(got.odd, want->odd);
}

/* The first two captures: user-space SCTP on two hosts with two IPv4 and two IPv6 addresses each.  In the first the
 * server answers one INIT twice, from another address than the INIT was sent to; in the second the client is killed and
 * begins again. */
static void
sctp_captures(void **state)
{
	static const struct {
		const char *name;
		struct totals want;
	} captures[] = {
		{"sctp-multihomed.pcap",
		 {27, 1, 0,
		  "cl-cw*1 cl-es*1 cw-ce*1 ce-es*1 es-sp*1 es-sr*1 sp-ss*1 ss-cl*1 "
		  "sr-sa*1 sa-cl*1"}},
		{"sctp-restart.pcap",
		 {33, 1, 0,
		  "cl-cw*2 cl-es*1 cw-ce*2 ce-es*2 es-cl*1 es-sp*1 es-sr*1 sp-ss*1 "
		  "ss-cl*1 sr-sa*1 sa-cl*1"}},
		{"suricata-verify/input-5.pcap", {1, 1, 0, ""}},
		{"suricata-verify/input-18.pcap", {19, 2, 0, "cl-cw*1 cl-es*1 cw-ce*1 ce-es*1"}},
		{"suricata-verify/input-19.pcap", {0, 0, 0, ""}},
		{"suricata-verify/sctp-max-chunks.pcap", {1, 0, 0, ""}},
		{"tcpdump/forces1.pcap", {20, 2, 0, ""}},
		{"tcpdump/forces2.pcap",
		 {75, 6, 0,
		  "cl-cw*6 cl-es*6 cw-ce*6 ce-es*6 es-sp*3 es-sr*3 sp-ss*3 ss-cl*3 "
		  "sr-sa*3 sa-cl*3"}},
		{"tcpdump/forces3.pcap",
		 {154, 6, 0,
		  "cl-cw*6 cl-es*6 cw-ce*6 ce-es*6 es-sp*6 es-sr*6 sp-ss*6 ss-cl*6 "
		  "sr-sa*6 sa-cl*6"}},
		{"tcpdump/isup.pcap", {6, 1, 0, ""}},
	};
	const char *top = getenv("top_srcdir");
	char path[4096];

	(void)state;
	for (unsigned i = 0; i < sizeof captures / sizeof *captures; i++) {
		snprintf(path, sizeof path, "%s/tests/captures/%s", top != NULL ? top : ".", captures[i].name);
		assert_replays(path, &captures[i].want);
	}
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machine_cell_by_cell),
		cmocka_unit_test(state_names),
		test(from_beginning_to_end),
		test(what_is_counted),
		test(bundles),
		test(collision),
		test(refused),
		test(init_again),
		test(stale_cookie),
		test(setup_timeout),
		test(both_shut_down),
		test(aborted),
		test(shutdown_complete_reflected),
		test(shutdown_unanswered),
		test(idle),
		test(restart),
		test(forged_init),
		test(restart_while_closing),
		test(midstream),
		test(one_direction),
		test(other_direction),
		test(frames_missing),
		test(proves_nothing),
		test(another_association),
		test(wrong_tags),
		test(bundles_that_must_not_be),
		test(wrong_lengths),
		test(many_chunks),
		test(all_at_once),
		test(cut_anywhere),
		test(multi_homed),
		test(unknown_path),
		test(path_in_midstream),
		test(too_many_addresses),
		cmocka_unit_test(no_address_record),
		cmocka_unit_test(address_records_for_many),
		cmocka_unit_test(no_record_and_shutdown_on_first_path),
		cmocka_unit_test(no_record_and_shutdown_on_second_path),
		cmocka_unit_test(no_record_and_handshake_on_second_path),
		test(one_tag_for_many_hosts),
		test(an_icmp_error_finds_it),
		cmocka_unit_test(sctp_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
