/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe_glance.h"

#include <pcap/dlt.h>

#include "dissect/dissect.h"

/* What is known of a frame between two steps. */
struct sight {
	enum glance_kind kind;
	unsigned sender; /* as hash and key: unless kind is GLANCE_NONE */
	uint32_t hash;
	struct flow *near; /* the flow that it probably belongs to, NULL if there is none */
	struct glance glance;
	struct flow_key key;
};

/* `local` of a flow hangs on its two addresses alone if the link layer says nothing and neither is a group, and was
 * judged already unless local addresses have changed since.  (63 changes later it looks as if they had not.) */
static inline unsigned
judgement(const struct observer *o)
{
	return 1 + locals_generation(o->locals) % 63;
}

bool
observe_may_glance(const struct observer *o, const struct frame *first)
{
	return o->quiet && o->uppers == NULL && first->dlt == DLT_EN10MB;
}

static inline void
look(const struct observer *o, const struct frame *frame, struct sight *sight)
{
	sight->near = NULL;
	sight->kind = frame->dlt == DLT_EN10MB ? glance_at(&sight->glance, frame) : GLANCE_NONE;
	if (sight->kind == GLANCE_NONE)
		return;
	sight->hash = flow_key_of_glance(o->flows, &sight->glance, &sight->key, &sight->sender);
	flow_prefetch_slot(o->flows, sight->hash);
}

static inline void
approach(const struct observer *o, struct sight *sight)
{
	if (sight->kind == GLANCE_NONE)
		return;
	sight->near = flow_prefetch(o->flows, sight->hash);
	if (sight->kind == GLANCE_KEY && sight->near != NULL)
		flow_prefetch_cold(o->flows, sight->near);
}

/* Everybody else goes the long way. */
static __attribute__((noinline)) void
look_again(struct observer *o, const struct frame *frame, const struct sight *sight, unsigned judged)
{
	struct slot *slot = &o->slots[0];

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
		slot->flow->judged = judged & 0x3f;
}

static inline void
pass(struct observer *o, const struct frame *frame, const struct sight *sight, unsigned judged)
{
	observe_clock(o, frame);
	if (__builtin_expect(sight->near == NULL || sight->kind < GLANCE_TCP || sight->near->judged != judged ||
				 !flow_onward(o->flows, sight->near, &sight->key, sight->sender, &sight->glance,
					      o->clock),
			     0)) {
		look_again(o, frame, sight, judged);
		return;
	}
	o->next_id++;
	o->counters.packets++;
}

enum { GROUP = 8, STEPS = 3 };

/* The members of a group of frames that begins at `begin`, which may be before the first or behind the last frame. */
static inline unsigned
members(unsigned begin, unsigned count)
{
	if (begin >= count)
		return 0;
	return count - begin < GROUP ? count - begin : GROUP;
}

/* The steps of a group of frames come after earlier steps of the groups behind it, so that memory is fetched meanwhile.
 * Against all steps of 16 frames in turn this saves 7 ns a frame of 107 with 100,000 connections, and against single
 * frames 8 and 20 apart 4.  Timers run at the end: a flow that is overdue before then is not moved on. */
void
observe_at_a_glance(struct observer *o, const struct frame *frames, unsigned count)
{
	struct sight sights[STEPS][GROUP];
	unsigned judged = judgement(o), turn = 0;

	for (unsigned at = 0; at < count + (STEPS - 1) * GROUP; at += GROUP) {
		struct sight *first = sights[turn], *second = sights[(turn + 2) % STEPS];
		struct sight *last = sights[(turn + 1) % STEPS];
		unsigned n = members(at, count);

		for (unsigned i = 0; i < n; i++)
			look(o, &frames[at + i], &first[i]);
		n = members(at - GROUP, count);
		for (unsigned i = 0; i < n; i++)
			approach(o, &second[i]);
		n = members(at - 2 * GROUP, count);
		for (unsigned i = 0; i < n; i++)
			pass(o, &frames[at - 2 * GROUP + i], &last[i], judged);
		turn = (turn + 1) % STEPS;
	}
	observe_timers(o);
}
