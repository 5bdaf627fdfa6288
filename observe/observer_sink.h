/* SPDX-License-Identifier: BSD-2-Clause */
/* The observer, with what it prints, as the sink of captured frames. */
#ifndef NETOBS_OBSERVE_OBSERVER_SINK_H
#define NETOBS_OBSERVE_OBSERVER_SINK_H

#include "capture/batch.h"

struct observer;
struct printer;

struct observer_sink {
	struct frame_sink sink;
	struct observer *observer; /* borrowed */
	struct printer *printer;   /* borrowed; NULL: nothing is printed */
};

void observer_sink_init(struct observer_sink *sink, struct observer *observer, struct printer *printer);

#endif
