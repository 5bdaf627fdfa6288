/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output that never blocks: pipes, terminals and sockets whose reader is slow or has stopped.  Their nonblocking mode
 * is not changed for the other processes that share them: pipes and terminals are opened a second time.
 */
#ifndef NETOBS_BASE_OUTPUT_H
#define NETOBS_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum output_stream {
	OUTPUT_STDOUT,
	OUTPUT_STDERR,
};

/* Prepares both streams.  Call it before privileges are dropped; until then output blocks. */
void output_open(void);

/* Descriptor of the stream for output_write(), and for poll(2). */
int output_fd(enum output_stream stream);

/* As write(2) to output_fd(), without blocking: fewer bytes, or -1 with EAGAIN. */
ssize_t output_write(int fd, const void *from, size_t size);

/* Writes all, waiting at most `ms` in total.  Returns the number of bytes written. */
size_t output_write_within(int fd, const char *from, size_t size, int ms);

/* ---------------------------------------------------------------------------------------------------- closed output */

/* A reader of standard output that has what it needs and goes away, as head(1) does: no failure. */

/* From now on a write to standard output whose reader has gone ends the process with status 0 and without a message.
 * For a process with no other result than its output. */
void closed_output_end_quietly(void);

/* --------------------------------------------------------------------------------------------------------- progress */

/* One line on a terminal that says how far a long operation is: drawn over itself, erased at the end and before each
 * logged line. */

struct progress {
	bool enabled;	       /* standard error is a terminal that can erase a line */
	bool shares_terminal;  /* standard output is a terminal, too: other output would be mixed with the line */
	uint64_t next_ns;      /* monotonic time of the next drawing; the first is a second after the beginning */
	uint64_t last_ns;      /* time at which the rate was measured, or the beginning */
	uint64_t last_frames;  /* frames then */
	double rate;	       /* frames per second, up to then */
};

/* Begins.  `prints`: lines go to standard output meanwhile. */
void progress_begin(struct progress *progress, bool prints);

/* Whether it is time to draw.  Cheap: one test unless enabled. */
bool progress_is_due(const struct progress *progress);

/* Nanoseconds until the next drawing, at most `limit_ns`. */
uint64_t progress_wait(const struct progress *progress, uint64_t limit_ns);

/* Draws: `frames` so far, and `done` of `total` bytes; a total of 0 is unknown. */
void progress_draw(struct progress *progress, uint64_t frames, uint64_t done, uint64_t total);

/* Erases the line until the next drawing. */
void progress_hide(struct progress *progress);

/* Erases the line if one is shown: whatever else writes to standard error calls this first.  Any thread may call it. */
void progress_erase(void);

#endif
