/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the files of a replay a second time: the first pass finds out what the second one needs.  The files are opened
 * together with those of the first pass, before privileges are dropped.  No frame is observed in the second pass, and
 * what it would log about the files has been logged in the first.
 */
#ifndef NETOBS_OBSERVE_SECOND_PASS_H
#define NETOBS_OBSERVE_SECOND_PASS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "capture/input.h"
#include "config/config.h"
#include "observe/observer.h"

/* Where standard input begins, if a configuration reads it: a second pass returns to it. */
struct input_start {
	bool reads_stdin;
	off_t offset; /* of its file */
};

/* Call it before anything is read. */
void input_start_note(struct input_start *start, const struct config *config);

/* Call it before a second pass.  False, with a message logged, if the file cannot be read again. */
bool input_start_return(const struct input_start *start);

struct second_pass;

/* The name of the first input that can be read only once, such as a pipe; NULL if all can be read twice. */
const char *second_pass_obstacle(const struct config *config);

/* Opens the files again; call it before anything is read.  NULL, with a message logged, on failure. */
struct second_pass *second_pass_open(const struct config *config, struct loop *loop);

/* Reads the files and passes each frame to `visit`, as observer_set_visitor() does.  Call it once. */
enum input_result second_pass_run(struct second_pass *pass, frame_visitor *visit, void *context);

/* NULL is allowed. */
void second_pass_free(struct second_pass *pass);

/* Sets a configuration for passes that need no connections: no probe fires. */
void second_pass_set_config(struct config *plain, const struct config *config);

/* Frames of a pass: their number, and a hash of their lengths and times, by which two passes are compared. */
struct frame_tally {
	uint64_t frames, hash;
};

static inline void
frame_tally_add(struct frame_tally *tally, uint32_t caplen, uint32_t len, uint64_t time)
{
	const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);

	tally->frames++;
	tally->hash = ((tally->hash ^ time) * prime ^ ((uint64_t)caplen << 32 | len)) * prime;
}

#endif
