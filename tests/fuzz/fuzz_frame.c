/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a frame of any link type.  The first byte picks the link type (low five bits) and how many bytes more
 * than the capture holds were on the wire (the rest, in units of 310); what follows is the frame.
 */
#include <stdlib.h>

#include "dissect/dissect.h"
#include "tests/fuzz/fuzz_link_types.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static void
must_be_inside(const struct frame *frame, struct slice v)
{
	if (v.len == 0)
		return;
	must(v.at >= frame->data && v.at < frame->data + frame->caplen);
	must(v.len <= frame->caplen - (uint32_t)(v.at - frame->data));
}

static void
check_cursor(const struct frame *frame, const struct cursor *c)
{
	must(c->error == CURSOR_OK);
	must(c->captured <= c->wire);
	must_be_inside(frame, cursor_captured_slice(c));
}

static void
check_slices(const struct packet *packet)
{
	const struct frame *frame = packet->frame;

	must_be_inside(frame, packet->ether.header);
	check_cursor(frame, &packet->payload);
	check_cursor(frame, &packet->datagram);
	if (packet->network == NETWORK_ARP) {
		must_be_inside(frame, packet->arp.sha);
		must_be_inside(frame, packet->arp.tpa);
	} else if (packet->network != NETWORK_NONE) {
		must_be_inside(frame, packet->ip.header);
		must_be_inside(frame, packet->ip.options);
	}
	switch (packet->transport) {
	case TRANSPORT_TCP:
		must_be_inside(frame, packet->tcp.header);
		break;
	case TRANSPORT_UDP:
		must_be_inside(frame, packet->udp.header);
		break;
	case TRANSPORT_SCTP:
		must_be_inside(frame, packet->sctp.chunks);
		break;
	case TRANSPORT_DCCP:
		must_be_inside(frame, packet->dccp.header);
		break;
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		if (packet->icmp.error && packet->icmp.quote.version != 0)
			must_be_inside(frame, packet->icmp.quote.header);
		break;
	case TRANSPORT_NONE:
		break;
	}
}

/* The reason is one of the anomalies, and none is more severe.  `cut`: bytes of the frame are missing; if its record
 * does not say so, an anomaly of the packet or of one around it does. */
static void
check_reason(const struct packet *packet, bool cut)
{
	const struct anomaly_set *set = &packet->anomalies;

	must((packet->worst_anomaly == ANOMALY_NONE) == ((set->bits[0] | set->bits[1] | set->bits[2]) == 0));
	if (packet->worst_anomaly != ANOMALY_NONE)
		must(anomaly_has(&packet->anomalies, packet->worst_anomaly));
	for (unsigned a = 1; a < ANOMALY_COUNT; a++) {
		if (!anomaly_has(&packet->anomalies, (enum anomaly)a))
			continue;
		must(anomaly_severity((enum anomaly)a) <= anomaly_severity(packet->worst_anomaly));
		if (anomaly_severity((enum anomaly)a) == SEVERITY_DROP) {
			must(packet->network == NETWORK_IPV4 || packet->network == NETWORK_IPV6);
			must(packet->transport == TRANSPORT_NONE && packet->inner == INNER_NONE);
		}
		if (anomaly_severity((enum anomaly)a) == SEVERITY_TRUNCATED)
			must(cut);
	}
}

static void
check_layers(const struct packet *packet)
{
	bool ip = packet->network == NETWORK_IPV4 || packet->network == NETWORK_IPV6;

	must(packet->layers_spent <= DISSECT_LAYER_BUDGET);
	if (packet->transport == TRANSPORT_NONE)
		must(packet->payload_wire == 0);
	if (packet->transport != TRANSPORT_NONE || packet->inner != INNER_NONE)
		must(ip);
	if (ip && packet->ip.fragment)
		must(packet->transport == TRANSPORT_NONE && packet->inner == INNER_NONE);
	if (ip)
		must(packet->ip.version == (packet->network == NETWORK_IPV4 ? 4 : 6));
	if (packet->transport == TRANSPORT_DCCP)
		must(packet->dccp.header_len >= 12 && packet->dccp.header.len <= packet->dccp.header_len);
	if (packet->transport == TRANSPORT_TCP) {
		must(packet->tcp.sack_count <= 4 && packet->tcp.wscale <= 14);
		must(packet->tcp.header_len >= 20 && packet->tcp.header.len <= packet->tcp.header_len);
	}
}

/* A cut by the capture may hide an anomaly; it never adds one, except the cut.  A record that was cut without a note
 * does not have the length of its frame: a second cut makes that length count. */
static void
check_cut(const struct packet *whole, const struct packet *cut)
{
	if (anomaly_has(&whole->anomalies, ANOMALY_TRUNCATED_RECORD))
		return;
	for (unsigned a = 1; a < ANOMALY_COUNT; a++)
		if (anomaly_has(&cut->anomalies, (enum anomaly)a) && !anomaly_has(&whole->anomalies, (enum anomaly)a))
			must(anomaly_severity((enum anomaly)a) == SEVERITY_TRUNCATED);
	must(cut->network == NETWORK_NONE || cut->network == whole->network);
	must(cut->transport == TRANSPORT_NONE || cut->transport == whole->transport ||
	     whole->worst_anomaly != cut->worst_anomaly);
}

/* The frame, and what is inside, to the end. */
static void
check_frame(const struct frame *frame, struct packet *first)
{
	struct packet packets[2];
	unsigned turn = 0;
	bool cut = frame->caplen < frame->len;

	memset(packets, 0xa5, sizeof packets); /* fields that are not written must not be read */
	dissect_frame(frame, &packets[0]);
	*first = packets[0];
	for (;;) {
		struct packet *packet = &packets[turn];

		cut |= anomaly_has(&packet->anomalies, ANOMALY_TRUNCATED_RECORD);
		check_reason(packet, cut);
		check_layers(packet);
		check_slices(packet);
		(void)checksum_verify(packet);
		if (packet->inner == INNER_NONE)
			break;
		turn ^= 1;
		dissect_inner(packet, &packets[turn]);
		must(packets[turn].layers_spent > packet->layers_spent || packets[turn].worst_anomaly != ANOMALY_NONE);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct interface interface;
	struct packet whole, cut;
	struct frame frame = {.interface = &interface};
	uint8_t *copy;

	if (size < 1 || size > 100000)
		return 0;
	frame.dlt = fuzz_link_types[data[0] & 31];
	must(dissect_link_supported(frame.dlt));
	frame.caplen = (uint32_t)(size - 1);
	frame.len = frame.caplen + (data[0] >> 5) * 310u;
	copy = malloc(frame.caplen + !frame.caplen); /* so that reading beyond is seen */
	if (copy == NULL)
		abort();
	memcpy(copy, data + 1, frame.caplen);
	frame.data = copy;
	check_frame(&frame, &whole);
	free(copy);
	if (frame.caplen == 0)
		return 0;
	frame.caplen = data[size - 1] * 131u % frame.caplen;
	copy = malloc(frame.caplen + !frame.caplen);
	if (copy == NULL)
		abort();
	memcpy(copy, data + 1, frame.caplen);
	frame.data = copy;
	check_frame(&frame, &cut);
	check_cut(&whole, &cut);
	free(copy);
	return 0;
}
