/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/flight/ring_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/dlt.h>

static void
ring_fixture_ignore(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	(void)events;
}

void
ring_fixture_open(struct ring_fixture *f, struct ring_limits limits)
{
	struct flow_limits flow_limits = flow_limits_default();

	memset(f, 0, sizeof *f);
	if (limits.memory == 0)
		limits.memory = RING_MEMORY_MIN;
	if (limits.flows == 0)
		limits.flows = 1000;
	flow_limits.flows = limits.flows;
	f->flows = flow_table_new(&flow_limits, 1, ring_fixture_ignore, NULL);
	f->ring = ring_new(&limits);
	assert_non_null(f->flows);
	assert_non_null(f->ring);
	ring_set_flow_table(f->ring, f->flows);
	memcpy(f->interface.name, "eth0", sizeof "eth0");
	f->bytes_size = FIXTURE_FRAME;
	f->bytes = malloc(f->bytes_size);
	assert_non_null(f->bytes);
}

void
ring_fixture_close(struct ring_fixture *f)
{
	ring_free(f->ring);
	flow_table_free(f->flows);
	free(f->bytes);
}

struct flow *
ring_fixture_flow(struct ring_fixture *f, unsigned number, uint64_t now)
{
	struct flow_events events = {.count = 0};
	struct packet packet;
	struct flow_key key;
	unsigned sender;

	memset(&packet, 0, sizeof packet);
	packet.network = NETWORK_IPV4;
	packet.transport = TRANSPORT_UDP;
	packet.ip.version = 4;
	packet.ip.protocol = 17;
	packet.ip.src[0] = 192;
	packet.ip.src[3] = 1;
	packet.ip.dst[0] = 198;
	packet.ip.dst[2] = (uint8_t)(number >> 16);
	packet.udp.sport = (uint16_t)number;
	packet.udp.dport = 53;
	flow_key_from_packet(&packet, &key, &sender);
	return flow_table_lookup_udp(f->flows, &packet, &key, flow_key_hash(f->flows, &key), sender, now, &events);
}

static uint8_t
ring_fixture_byte(uint64_t number, uint32_t at)
{
	return (uint8_t)((number * 2654435761u >> 8) + at * 7);
}

struct frame
ring_fixture_frame(struct ring_fixture *f, uint64_t number, uint32_t length)
{
	if (length > f->bytes_size) {
		f->bytes = realloc(f->bytes, length);
		assert_non_null(f->bytes);
		f->bytes_size = length;
	}
	for (uint32_t at = 0; at < length; at++)
		f->bytes[at] = ring_fixture_byte(number, at);
	return (struct frame){.data = f->bytes,
			      .interface = &f->interface,
			      .ts = FIXTURE_NOW + number,
			      .caplen = length,
			      .len = length,
			      .dlt = DLT_EN10MB};
}

void
ring_fixture_add(struct ring_fixture *f, uint64_t number, uint32_t length, unsigned stream)
{
	struct frame frame = ring_fixture_frame(f, number, length);

	ring_begin_frame(f->ring, &frame, frame.ts);
	ring_add_packet(f->ring, ring_fixture_flow(f, stream, frame.ts), 0, DIRECTION_UNKNOWN, number + 1);
	ring_end_frame(f->ring);
}

bool
ring_fixture_matches(const struct ring_frame *frame, uint64_t number)
{
	for (uint32_t at = 0; at < frame->caplen; at++)
		if (frame->data[at] != ring_fixture_byte(number, at))
			return false;
	return frame->ts == FIXTURE_NOW + number;
}

struct packet
ring_fixture_fragment(uint32_t id)
{
	struct packet packet;

	memset(&packet, 0, sizeof packet);
	packet.network = NETWORK_IPV4;
	packet.ip.version = 4;
	packet.ip.protocol = 17;
	packet.ip.fragment = true;
	packet.ip.fragment_id = id;
	return packet;
}
