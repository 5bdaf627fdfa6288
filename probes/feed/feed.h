/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds: firings as lines of JSON for readers outside the process.  Each feed has its own choice of probes, formulas
 * and fields.
 *
 * Each emitter has a part of the set, and each feed has a queue for each part: the thread of an emitter adds lines to
 * the queues of its part and never waits; one other thread, which sends the feeds, removes the lines.  The lines of a
 * part stay in order, and so do those of a connection, whose frames all belong to one part.  A probe is enabled while a
 * feed has chosen it.
 */
#ifndef NETOBS_PROBES_FEED_FEED_H
#define NETOBS_PROBES_FEED_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/probe_ids.h"

/* Most feeds. */
#define FEEDS_MAX 128u

/* Most bytes that wait in a feed, in all its parts together: whole lines of 2500 TCP segments; number of feeds with
 * such long queues; most bytes that wait in another feed, more if there are more than 8 parts.  All feeds together
 * have at most 62 MiB with 8 parts, and 272 MiB with 64. */
#define FEED_QUEUE_SIZE	      ((size_t)4 * 1024 * 1024)
#define FEEDS_LARGE	      8u
#define FEED_QUEUE_SIZE_SMALL ((size_t)256 * 1024)

struct feed_part;
struct feed_set;
struct feed;

/* Some of the feeds: a bit for each. */
struct feed_mask {
	uint64_t bits[FEEDS_MAX / 64];
};

/* What a feed has chosen. */
struct feed_choice {
	const char *names;	       /* comma-separated names and wildcards of probes and formulas */
	bool probes[PROBE_COUNT];      /* probes that they select */
	bool of_formulas[PROBE_COUNT]; /* probes of the formulas that they select */
	const char *fields;	       /* comma-separated, see print_fields.h; NULL: whole lines */
	bool text;		       /* a line has one member, "text": the firing as the printer prints it */
};

struct feed_counters {
	uint64_t feeds;	  /* now */
	uint64_t lines;	  /* lines for feeds, including dropped ones */
	uint64_t dropped; /* lines that did not fit into a queue */
};

/* Creates a set for `parts` emitters.  The thread of an emitter calls `wake` when lines wait.  NULL if out of
 * memory. */
struct feed_set *feed_set_new(unsigned parts, void (*wake)(void *context), void *context);
void feed_set_free(struct feed_set *set);
struct feed_part *feed_set_part(struct feed_set *set, unsigned index);
struct feed_counters feed_set_counters(const struct feed_set *set);

/* ----------------------------------------------------------------------------------------- the thread of an emitter */

/* Whether a feed has chosen this probe. */
bool feed_wants(const struct feed_part *part, enum probe_id probe);

/* Adds the line of a firing, if a feed has chosen its probe. */
void feed_add_firing(struct feed_part *part, enum probe_id probe, const void *const args[6]);

/* Adds the line of a firing of formula `name` for these feeds. */
void feed_add_formula(struct feed_part *part, const struct feed_mask *feeds, const char *name, enum probe_id of,
		      const void *const args[6]);

/* Calls `wake` if lines were added; ends gaps in queues that have space again.  Call it after each batch of frames, and
 * now and then while there are none. */
void feed_part_flush(struct feed_part *part);

/* -------------------------------------------------------------------------------------- the thread that sends feeds */

/* Creates a feed that is in no set and receives nothing yet.  NULL, with `error`, if the fields are wrong or if out of
 * memory. */
struct feed *feed_new(const struct feed_set *set, const struct feed_choice *choice, char *error, size_t size);

/* Frees a feed that is in no set. */
void feed_free(struct feed *feed);

/* The next bytes to send: returns how many lie in one piece at `*bytes`; 0 if nothing waits. */
size_t feed_peek(struct feed *feed, const char **bytes);
void feed_remove(struct feed *feed, size_t count);

/* The bytes that wait. */
size_t feed_waiting(const struct feed *feed);

/* The following need the threads of all emitters to be paused. */

/* Adds a feed, enables its probes, and returns true; false if there are FEEDS_MAX already. */
bool feed_set_add(struct feed_set *set, struct feed *feed);

/* Removes a feed, which no longer enables its probes. */
void feed_set_remove(struct feed_set *set, struct feed *feed);

/* Ends the gaps in all queues of a feed, as far as the lines for them fit. */
void feed_end_gaps(struct feed *feed);

/* The feeds that have chosen a formula of this name. */
struct feed_mask feed_set_select_formula(const struct feed_set *set, const char *name);

static inline bool
feed_mask_is_empty(const struct feed_mask *mask)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < FEEDS_MAX / 64; i++)
		bits |= mask->bits[i];
	return bits == 0;
}

/* Whether a comma-separated list of names and wildcards selects a name. */
bool feed_names_select(const char *names, const char *name);

#endif
