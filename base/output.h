/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output that never blocks: pipes, terminals and sockets whose reader is slow or has stopped.  Their nonblocking mode
 * is not changed for the other processes that share them: pipes and terminals are opened a second time.
 */
#ifndef NETOBS_BASE_OUTPUT_H
#define NETOBS_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
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

#endif
