/* SPDX-License-Identifier: BSD-2-Clause */
/* The interfaces of the frames in a ring: copies, because a frame may stay longer than its input. */
#ifndef NETOBS_FLIGHT_RING_INTERFACES_H
#define NETOBS_FLIGHT_RING_INTERFACES_H

#include <stddef.h>
#include <stdint.h>

#include "dissect/frame.h"

/* Interfaces that the ring knows at once; those beyond have the name "". */
#define RING_INTERFACES 4096u

/* An interface with the link type of its frames. */
struct ring_source {
	const struct interface *interface; /* NULL: free */
	uint64_t used;			   /* position of its latest frame */
	int dlt;
};

struct ring_interfaces;

/* NULL if out of memory. */
struct ring_interfaces *ring_interfaces_new(uint64_t seed);
void ring_interfaces_free(struct ring_interfaces *interfaces);
size_t ring_interfaces_memory_size(void);

/* The number of the source of a frame at `position`.  If there are too many, sources that were used only before `tail`
 * are dropped. */
uint16_t ring_interfaces_find(struct ring_interfaces *interfaces, const struct frame *frame, uint64_t position,
			      uint64_t tail);

/* ring_add_link_types() */
unsigned ring_interfaces_add_link_types(const struct ring_interfaces *interfaces, int *types, unsigned count,
					unsigned most);

const struct ring_source *ring_interfaces_source(const struct ring_interfaces *interfaces, uint16_t number);

#endif
