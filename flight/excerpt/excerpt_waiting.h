/* SPDX-License-Identifier: BSD-2-Clause */
/* Late comments (excerpt_late.h) of frames that are still in the ring. */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_WAITING_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_WAITING_H

#include <stdbool.h>
#include <stdint.h>

struct excerpt_waiting;
struct waiting_comment;

/* NULL if out of memory. */
struct excerpt_waiting *excerpt_waiting_new(void);
void excerpt_waiting_free(struct excerpt_waiting *waiting);

/* Adds a comment to the frame at this position of the ring.  False if out of memory. */
bool excerpt_waiting_add(struct excerpt_waiting *waiting, uint64_t position, uint32_t connection, const char *text);

/* Removes the first comment of the frame; its text is copied to `text`, of `size` bytes.  False if it has none. */
bool excerpt_waiting_take(struct excerpt_waiting *waiting, uint64_t position, uint32_t *connection, char *text,
			  unsigned size);

#endif
