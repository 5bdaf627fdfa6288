/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formulas of a run: which are evaluated, how often they were true, and their firings.
 *
 * A formula is active while it is counted, printed, traced, in a feed or written; only then do its probes fire for it.
 * Each emitter has a part of the set, which its thread uses without a lock.  Functions that change the set must be
 * called while no thread uses a part.
 */
#ifndef NETOBS_FORMULAS_FORMULA_SET_H
#define NETOBS_FORMULAS_FORMULA_SET_H

#include "formulas/formula.h"
#include "formulas/slots/slots_object.h"

#define FORMULAS_MAX SLOTS_COUNT /* formulas of a run */

/* No slot: the formula cannot be traced by its name. */
#define FORMULA_NO_SLOT SLOTS_COUNT

struct emitter_listener;
struct formula_part;
struct formula_set;
struct printer;
struct feed_part;
struct feed_set;

/* Where a formula comes from. */
enum formula_origin {
	FORMULA_OF_CONFIG,  /* command line or configuration file */
	FORMULA_OF_REQUEST, /* a request on the control socket */
};

struct formula_status {
	const struct formula *formula;
	enum formula_origin origin;
	unsigned slot; /* index of its slot, or FORMULA_NO_SLOT */
	bool named;    /* the slot has the formula's name, else its default name */
	bool printed, traced, fed, written, active;
	uint64_t seen;	  /* firings of its probes for which it was evaluated */
	uint64_t matched; /* firings of the formula */
	uint64_t dropped; /* values that its threshold or wait has dropped */
};

/* Creates a set for `parts` emitters.  NULL if out of memory. */
struct formula_set *formula_set_new(unsigned parts);
void formula_set_free(struct formula_set *set);

/* Adds a formula without a slot, which the set then owns.  False, with the reason, if its name is in use or the set is
 * full. */
bool formula_set_add(struct formula_set *set, struct formula *formula, enum formula_origin origin, char *error,
		     size_t size);

/* Removes a formula; false if there is none of this name. */
bool formula_set_remove(struct formula_set *set, const char *name);

/* Selects the formulas that parts with a printer print: those for which `selects` returns true. */
void formula_set_select_printed(struct formula_set *set, bool (*selects)(void *context, const char *name),
				void *context);

/* Selects the formulas that are in feeds.  The set keeps `feeds`, which is borrowed, for formulas that are added later;
 * NULL: there are no feeds. */
void formula_set_select_fed(struct formula_set *set, const struct feed_set *feeds);

/* A firing of a formula. */
struct formula_match {
	const struct formula *formula;
	bool is_written; /* by formula_set_select_written() or formula_set_write_probe() */
	struct firing *firing;
	uint64_t cid; /* connection id of the reported endpoint, 0 without a connection */
};

typedef void formula_match_handler(void *context, const struct formula_match *match);

/* Sets the handler of the firings of all active formulas in part `index` (NULL: none), which its thread calls after
 * tracers, printer and feeds have received the firing.  `context` is borrowed. */
void formula_set_set_match_handler(struct formula_set *set, unsigned index, formula_match_handler *handler,
				   void *context);

/* Selects the formulas that are written, also among those that are added later: they are active in each part with a
 * match handler.  NULL: none.  `context` is borrowed. */
void formula_set_select_written(struct formula_set *set, bool (*selects)(void *context, const char *name),
				void *context);

/* Records each firing of a probe, as a formula that has the probe's name and is not listed: formula_set_find(), count
 * and status do not include it.  Recording a probe twice has no effect.  False with the reason if the set is full. */
bool formula_set_write_probe(struct formula_set *set, enum probe_id probe, char *error, size_t size);

/* Activates new formulas in all parts, whose threads must be paused; otherwise each part does so after its next batch
 * of frames. */
void formula_set_poll(struct formula_set *set);

/* A formula and its slot: unlike the status it can be read while threads use their parts. */
struct formula_place {
	const struct formula *formula;
	unsigned slot; /* index of its slot, or FORMULA_NO_SLOT */
	bool named;    /* the slot has the formula's name, else its default name */
};
struct formula_place formula_set_place(const struct formula_set *set, unsigned index);

/* The number of formulas, and the status of number `index`, in the order in which they were added. */
unsigned formula_set_count(const struct formula_set *set);
struct formula_status formula_set_status(const struct formula_set *set, unsigned index);

/* The number of a formula; formula_set_count() if there is none of this name. */
unsigned formula_set_find(const struct formula_set *set, const char *name);

/* Whether no formula has a slot; a tracer may be attached to it. */
bool formula_set_slot_is_unused(const struct formula_set *set, unsigned slot);

/* Whether, besides, no tracer is attached to it. */
bool formula_set_slot_is_free(const struct formula_set *set, unsigned slot);

/* The sum of the semaphores of all slots, and the number of formulas that are printed and of those in feeds: 0 while
 * there is none of them; changes when a tracer attaches or detaches. */
unsigned formula_set_tracers(const struct formula_set *set);

/* Sets the sites and the file they are in, which are borrowed: until then no formula can be traced. */
void formula_set_set_slots(struct formula_set *set, const struct slots_object *slots, const char *path);
const char *formula_set_path(const struct formula_set *set);

/* Sets the slot of formula number `index`, and whether the slot has the formula's name. */
void formula_set_set_slot(struct formula_set *set, unsigned index, unsigned slot, bool named);

/* Gives part `index` its part of the feeds (NULL: none), which is borrowed. */
void formula_set_connect_feed(struct formula_set *set, unsigned index, struct feed_part *feed);

/* Gives part `index` its printer (NULL: none), which is borrowed, and returns the listener for its emitter, whose
 * context is the part. */
const struct emitter_listener *formula_set_connect(struct formula_set *set, unsigned index, struct printer *printer);
struct formula_part *formula_set_part(struct formula_set *set, unsigned index);

#endif
