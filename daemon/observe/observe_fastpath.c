/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe/observe_fastpath.h"

#include <pcap/dlt.h>

#include "dissect/dissect.h"
#include "flow/fastpath.h"

/* Local epoch of a flow.  Which ends are local depends only on the two addresses, if the link layer gives no direction
 * and neither address is a group; the result is cached in the flow and is valid until local addresses change.  (The
 * epoch repeats after 63 changes.) */
static unsigned
observe_local_epoch(const struct observer *o)
{
	return 1 + local_addrs_epoch(o->local_addrs) % 63;
}

bool
observe_can_use_fastpath(const struct observer *o, const struct frame *first)
{
	return o->untraced && o->lower_dedup == NULL && first->dlt == DLT_EN10MB;
}

/* Takes over the counters of the frames handled so far. */
static void
observe_sync_fastpath(struct observer *o, struct fastpath *fastpath)
{
	o->clock = fastpath->clock;
	o->last_packet_id += fastpath->fast_frames;
	o->counters.packets += fastpath->fast_frames;
	fastpath->fast_frames = 0;
}

/* Handles a frame that is not for the fast path, including all frames of application providers. */
static void
observe_on_slowpath(struct fastpath *fastpath, const struct frame *frame, const struct flow_lookup *lookup)
{
	struct observer *o = fastpath->context;
	struct packet_work *work = &o->work[0];

	observe_sync_fastpath(o, fastpath);
	dissect_frame(frame, &work->packet);
	if (lookup->peek_kind == PEEK_NONE) {
		observe_set_flow_key(o, work);
	} else {
		work->flow = NULL;
		work->has_key = true;
		work->key = lookup->key;
		work->hash = lookup->hash;
		work->sender = lookup->sender;
	}
	work->candidate = lookup->candidate;
	observe_frame(o, work);
	if (lookup->peek_kind >= PEEK_TCP && work->flow != NULL && !app_layer_may_match(o->app_layer, &work->key))
		work->flow->local_epoch = fastpath->local_epoch & 0x3f;
}

/* Timers run after the whole batch; until then frames of an overdue flow do not take the fast path. */
void
observe_run_fastpath(struct observer *o, const struct frame *frames, unsigned count)
{
	struct fastpath fastpath = {.table = o->flows,
				    .local_epoch = observe_local_epoch(o),
				    .slow_path = observe_on_slowpath,
				    .context = o,
				    .clock = o->clock};

	fastpath_run(&fastpath, frames, count);
	observe_sync_fastpath(o, &fastpath);
	o->counters.frames += count;
	o->counters.bytes += fastpath.bytes;
	o->counters.backward_frames += fastpath.backward_frames;
	observe_run_timers(o);
}
