/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe/observe_fastpath.h"

#include <pcap/dlt.h>

#include "dissect/dissect.h"
#include "flow/fastpath.h"

/* Local epoch of a flow.  Which ends are local depends only on the two addresses, if the link layer gives no direction
 * and neither address is a group; the result is cached in the flow and is valid until local addresses change.  (The
 * epoch repeats after 63 changes.) */
static unsigned
judgement(const struct observer *o)
{
	return 1 + locals_generation(o->locals) % 63;
}

bool
observe_may_glance(const struct observer *o, const struct frame *first)
{
	return o->quiet && o->uppers == NULL && first->dlt == DLT_EN10MB;
}

/* Takes over the counters of the frames handled so far. */
static void
catch_up(struct observer *o, struct onward *onward)
{
	o->clock = onward->clock;
	o->next_id += onward->moved;
	o->counters.packets += onward->moved;
	onward->moved = 0;
}

/* Handles a frame that is not for the fast path, including all frames of application providers. */
static void
look_again(struct onward *onward, const struct frame *frame, const struct sight *sight)
{
	struct observer *o = onward->context;
	struct slot *slot = &o->slots[0];

	catch_up(o, onward);
	dissect_frame(frame, &slot->packet);
	if (sight->kind == GLANCE_NONE) {
		observe_find_key(o, slot);
	} else {
		slot->flow = NULL;
		slot->tracked = true;
		slot->key = sight->key;
		slot->hash = sight->hash;
		slot->sender = sight->sender;
	}
	slot->near = sight->near;
	observe_content(o, slot);
	if (sight->kind >= GLANCE_TCP && slot->flow != NULL && !apps_may_read(o->apps, &slot->key))
		slot->flow->judged = onward->judged & 0x3f;
}

/* Timers run after the whole batch; until then frames of an overdue flow do not take the fast path. */
void
observe_at_a_glance(struct observer *o, const struct frame *frames, unsigned count)
{
	struct onward onward = {
	    .table = o->flows, .judged = judgement(o), .other = look_again, .context = o, .clock = o->clock};

	flow_onward(&onward, frames, count);
	catch_up(o, &onward);
	o->counters.frames += count;
	o->counters.bytes += onward.bytes;
	o->counters.backwards += onward.backwards;
	observe_timers(o);
}
