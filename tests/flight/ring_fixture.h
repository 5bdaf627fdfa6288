/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring with a flow table, and frames whose bytes follow from their number. */
#ifndef NETOBS_TESTS_FLIGHT_RING_FIXTURE_H
#define NETOBS_TESTS_FLIGHT_RING_FIXTURE_H

#include "flight/ring.h"

#define FIXTURE_NOW   UINT64_C(1700000000000000000)
#define FIXTURE_FRAME 2048u /* most bytes of a frame by default */

struct ring_fixture {
	struct flow_table *flows;
	struct ring *ring;
	struct interface interface;
	uint8_t *bytes;
	uint32_t bytes_size;
};

/* A ring of `memory` bytes; fields of `limits` that are 0 are chosen. */
void ring_fixture_open(struct ring_fixture *fixture, struct ring_limits limits);
void ring_fixture_close(struct ring_fixture *fixture);

/* The flow of stream `number`, which is made or found; packet time is `now`. */
struct flow *ring_fixture_flow(struct ring_fixture *fixture, unsigned number, uint64_t now);

/* A frame of `length` bytes, which follow from `number`; valid until the next call. */
struct frame ring_fixture_frame(struct ring_fixture *fixture, uint64_t number, uint32_t length);

/* Adds such a frame of a stream on the slow path: its packet time is FIXTURE_NOW + number. */
void ring_fixture_add(struct ring_fixture *fixture, uint64_t number, uint32_t length, unsigned stream);

/* Whether a frame of the ring has the bytes of `number`. */
bool ring_fixture_matches(const struct ring_frame *frame, uint64_t number);

/* A fragment of the datagram `id` of the protocol UDP. */
struct packet ring_fixture_fragment(uint32_t id);

#endif
