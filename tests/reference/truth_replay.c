/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth_replay [-v] FILE: replays a capture through dissect/ and flow/ and prints one line per TCP endpoint, for
 * truth.py to compare with what the kernel recorded.  -v prints every event, too.
 */
#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/dissect.h"
#include "flow/flow.h"
#include "flow/tcp/tcp.h"

#define RECORDS_MAX 400000
#define STATES_MAX 64
#define SPLIT_US 30 /* most time between frames of one retransmitted super-packet */

struct truth_endpoint {
	bool used;
	struct flow_key key;
	unsigned end;
	unsigned state_count;
	uint8_t states[STATES_MAX];
	unsigned kinds[8];	/* retransmissions by kind, SYN,ACKs apart */
	unsigned syn_acks;	/* retransmitted SYN,ACKs */
	unsigned continued;	/* retransmitted frames that go on exactly where the one before ended, at once */
	unsigned timeouts[8];
	unsigned fins, resets;	/* frames sent */
	unsigned resets_in;
	uint32_t again_end;
	uint64_t again_ts;
	uint32_t retransmits;	/* the endpoint's own counter */
	uint32_t outstanding;	/* sent and not acknowledged, at the end */
};

static struct truth_endpoint *records;
static struct flow_table *table;
static uint64_t first_ts, last_ts;
static bool verbose;
static const struct packet *present;

static const char *const kind_names[] = {"none", "fast", "timeout", "probe", "spurious", "syn"};
static const char *const timeout_names[] = {"none", "retransmit", "persist", "keepalive", "time-wait", "connect"};
static const char *const event_names[] = {
	"connect-request", "connect-established", "connect-refused", "accept-established", "accept-refused",
	"state-change",	   "retransmit",	  "timeout",
};

static struct truth_endpoint *
truth_endpoint_find(const struct flow *flow, unsigned endpoint)
{
	uint64_t cid = flow_cid(table, flow, endpoint);
	struct truth_endpoint *r = &records[cid % RECORDS_MAX];

	if (!r->used) {
		r->used = true;
		r->key = flow->key;
		r->end = endpoint;
	}
	return r;
}

static void
print_end(const struct flow_key *key, unsigned endpoint)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(key->version == 4 ? AF_INET : AF_INET6, key->addr[endpoint], text, sizeof text);
	printf("%s\t%u", text, key->port[endpoint]);
}

static void
print_event(const struct flow *flow, const struct flow_event *ev)
{
	printf("# %.6f ", (double)(ev->ts - first_ts) / 1e9);
	print_end(&flow->key, ev->endpoint);
	printf(" -> ");
	print_end(&flow->key, 1u - ev->endpoint);
	printf(" %s", event_names[ev->kind]);
	if (ev->kind == EVENT_TCP_STATE_CHANGE)
		printf(" %s %s", tcp_state_name((enum tcp_state)ev->tcp_before.state),
		       tcp_state_name((enum tcp_state)ev->tcp_after.state));
	if (ev->kind == EVENT_TCP_TIMEOUT)
		printf(" %s", timeout_names[ev->timeout]);
	if (ev->kind == EVENT_TCP_RETRANSMIT)
		printf(" %s count %u elapsed %u seq +%u len %u", kind_names[ev->retransmission.kind],
		       ev->retransmission.count, ev->retransmission.elapsed_us,
		       present->tcp.seq - flow->tcp[ev->endpoint].iss, present->payload_wire);
	printf("\n");
}

static void
count_retransmission(struct truth_endpoint *r, const struct flow_event *ev)
{
	const struct tcp_layer *t = &present->tcp;

	if ((t->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK)) {
		r->syn_acks++;
		return;
	}
	r->kinds[ev->retransmission.kind]++;
	if (r->again_ts != 0 && t->seq == r->again_end && ev->ts - r->again_ts <= SPLIT_US * 1000)
		r->continued++;
	r->again_end = t->seq + present->payload_wire;
	r->again_ts = ev->ts;
}

static void
truth_record_event(const struct flow *flow, const struct flow_event *ev)
{
	struct truth_endpoint *r = truth_endpoint_find(flow, ev->endpoint);

	if (verbose)
		print_event(flow, ev);
	switch (ev->kind) {
	case EVENT_TCP_STATE_CHANGE:
		if (r->state_count == 0)
			r->states[r->state_count++] = ev->tcp_before.state;
		if (r->state_count < STATES_MAX)
			r->states[r->state_count++] = ev->tcp_after.state;
		break;
	case EVENT_TCP_RETRANSMIT:
		count_retransmission(r, ev);
		break;
	case EVENT_TCP_TIMEOUT:
		r->timeouts[ev->timeout]++;
		break;
	default:
		break;
	}
}

static void
truth_record_events(void *context, struct flow *flow, const struct flow_events *events)
{
	unsigned i;

	(void)context;
	for (i = 0; i < events->count; i++)
		truth_record_event(flow, &events->event[i]);
}

static void
truth_feed_segment(const struct packet *packet, uint64_t now)
{
	struct flow_events events = {.count = 0};
	struct flow_key key;
	struct flow *flow;
	unsigned sender, endpoint;

	present = packet;
	flow_key_from_packet(packet, &key, &sender);
	flow = flow_table_lookup_tcp(table, packet, &key, flow_key_hash(table, &key), sender, now);
	if (flow == NULL) {
		printf("# stray ");
		print_end(&key, sender);
		printf("\t");
		print_end(&key, 1 - sender);
		printf("\n");
		return;
	}
	truth_endpoint_find(flow, sender)->fins += (packet->tcp.flags & TCP_FIN) != 0;
	truth_endpoint_find(flow, sender)->resets += (packet->tcp.flags & TCP_RST) != 0;
	truth_endpoint_find(flow, 1 - sender)->resets_in += (packet->tcp.flags & TCP_RST) != 0;
	tcp_segment_sent(table, flow, sender, packet, now, &events);
	truth_record_events(NULL, flow, &events);
	events.count = 0;
	tcp_segment_received(table, flow, 1 - sender, packet, now, &events);
	truth_record_events(NULL, flow, &events);
	for (endpoint = 0; endpoint < 2; endpoint++) {
		truth_endpoint_find(flow, endpoint)->retransmits = tcp_retransmits(table, flow, endpoint);
		truth_endpoint_find(flow, endpoint)->outstanding = flow->tcp[endpoint].nxt - flow->tcp[endpoint].una;
	}
}

static void
truth_feed_error(const struct packet *packet, uint64_t now)
{
	struct flow_events events = {.count = 0};
	struct flow_key key;
	struct flow *flow;
	unsigned quoted;

	if (!flow_key_from_icmp_error(packet, &key, &quoted))
		return;
	flow = flow_table_lookup(table, &key, flow_key_hash(table, &key));
	if (flow == NULL)
		return;
	present = packet;
	tcp_icmp_received(table, flow, quoted, packet, now, &events);
	truth_record_events(NULL, flow, &events);
}

static void
print_records(void)
{
	unsigned i, s;

	for (i = 0; i < RECORDS_MAX; i++) {
		const struct truth_endpoint *r = &records[i];

		if (!r->used)
			continue;
		print_end(&r->key, r->end);
		printf("\t");
		print_end(&r->key, 1 - r->end);
		printf("\t");
		for (s = 0; s < r->state_count; s++)
			printf("%s%s", s == 0 ? "" : ",", tcp_state_name((enum tcp_state)r->states[s]));
		printf("\t");
		for (s = RETRANSMIT_FAST; s <= RETRANSMIT_SYN; s++)
			printf("%s=%u ", kind_names[s], r->kinds[s]);
		printf("syn-ack=%u continued=%u fin=%u rst=%u rst-in=%u outstanding=%u retransmits=%u", r->syn_acks,
		       r->continued, r->fins, r->resets, r->resets_in, r->outstanding, r->retransmits);
		for (s = TIMEOUT_RETRANSMIT; s <= TIMEOUT_CONNECT; s++)
			printf(" timeout-%s=%u", timeout_names[s], r->timeouts[s]);
		printf("\n");
	}
}

static int
truth_replay_capture(pcap_t *pcap, unsigned scale)
{
	struct interface interface = {.name = "file"};
	struct pcap_pkthdr *header;
	const u_char *data;
	int got;

	while ((got = pcap_next_ex(pcap, &header, &data)) == 1) {
		uint64_t ts = (uint64_t)header->ts.tv_sec * NANOSECONDS + (uint64_t)header->ts.tv_usec * scale;
		struct frame frame = {
			.data = data,
			.interface = &interface,
			.ts = ts,
			.caplen = header->caplen,
			.len = header->len,
			.dlt = pcap_datalink(pcap),
		};
		struct packet packet;

		if (first_ts == 0)
			first_ts = ts;
		last_ts = ts;
		dissect_frame(&frame, &packet);
		flow_table_run_timers(table, ts);
		if (packet.transport == TRANSPORT_TCP)
			truth_feed_segment(&packet, ts);
		else if (packet.transport == TRANSPORT_ICMP || packet.transport == TRANSPORT_ICMPV6)
			truth_feed_error(&packet, ts);
	}
	return got == PCAP_ERROR_BREAK ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct flow_limits limits = flow_limits_default();
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap;
	int status;

	verbose = argc > 2 && strcmp(argv[1], "-v") == 0;
	if (argc < 2 || (pcap = pcap_open_offline_with_tstamp_precision(argv[argc - 1], PCAP_TSTAMP_PRECISION_NANO,
									 error)) == NULL) {
		fprintf(stderr, "usage: truth_replay [-v] FILE%s%s\n", argc < 2 ? "" : ": ", argc < 2 ? "" : error);
		return 1;
	}
	limits.flows = 100000;
	records = calloc(RECORDS_MAX, sizeof *records);
	table = flow_table_new(&limits, 1, truth_record_events, NULL);
	if (records == NULL || table == NULL)
		return 1;
	status = truth_replay_capture(pcap, 1);
	tcp_flush_deferred(table, last_ts);
	print_records();
	pcap_close(pcap);
	flow_table_free(table);
	free(records);
	return status == 0 ? 0 : 2;
}
