/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first pass over files: a listener of the observer adds each frame to the index.  Nothing of the frame itself is
 * kept.  Connections, fragments and notes of a frame have the same limits as in a ring, so that both give the same
 * captures.
 */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_FIRST_PASS_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_FIRST_PASS_H

#include <stdbool.h>
#include <stdint.h>

struct excerpt_first_pass;
struct excerpts;
struct observer;

/* Listens to the observer from now on.  `excerpts` and the observer are borrowed.  NULL if out of memory. */
struct excerpt_first_pass *excerpt_first_pass_new(struct excerpts *excerpts, struct observer *observer, uint32_t flows,
						  uint64_t seed);
void excerpt_first_pass_free(struct excerpt_first_pass *pass);

/* Adds a comment to the frame in progress. */
void excerpt_first_pass_add_text(struct excerpt_first_pass *pass, uint32_t connection, const char *text);

/* Comments and connections of which a frame had too many. */
uint64_t excerpt_first_pass_left_out(const struct excerpt_first_pass *pass);

#endif
