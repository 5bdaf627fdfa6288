/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

enum output_kind {
	OUTPUT_BLOCKING,    /* before output_open(), and files, which do not block for long */
	OUTPUT_NONBLOCKING, /* opened a second time */
	OUTPUT_SOCKET,
	OUTPUT_POLLED, /* a pipe that may not be opened a second time: small pieces, when poll(2) allows */
};

static struct {
	int fd;
	enum output_kind kind;
} streams[] = {[OUTPUT_STDOUT] = {STDOUT_FILENO, OUTPUT_BLOCKING}, [OUTPUT_STDERR] = {STDERR_FILENO, OUTPUT_BLOCKING}};

static void
output_open_stream(enum output_stream stream)
{
	char path[32];
	struct stat status;
	int fd;

	if (fstat(streams[stream].fd, &status) != 0)
		return;
	if (S_ISSOCK(status.st_mode))
		streams[stream].kind = OUTPUT_SOCKET;
	if (!S_ISFIFO(status.st_mode) && !(S_ISCHR(status.st_mode) && isatty(streams[stream].fd)))
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", streams[stream].fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	streams[stream].kind = fd >= 0 ? OUTPUT_NONBLOCKING : OUTPUT_POLLED;
	if (fd >= 0)
		streams[stream].fd = fd;
}

void
output_open(void)
{
	output_open_stream(OUTPUT_STDOUT);
	output_open_stream(OUTPUT_STDERR);
}

int
output_fd(enum output_stream stream)
{
	return streams[stream].fd;
}

static enum output_kind
output_kind_of(int fd)
{
	for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
		if (streams[i].fd == fd)
			return streams[i].kind;
	return OUTPUT_BLOCKING;
}

/* A pipe that is ready takes PIPE_BUF bytes at once. */
static ssize_t
output_write_polled(int fd, const void *from, size_t size)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};
	int got = poll(&ready, 1, 0);

	if (got > 0)
		return write(fd, from, size < PIPE_BUF ? size : PIPE_BUF);
	if (got == 0)
		errno = EAGAIN;
	return -1;
}

ssize_t
output_write(int fd, const void *from, size_t size)
{
	switch (output_kind_of(fd)) {
	case OUTPUT_SOCKET:
		return send(fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	case OUTPUT_POLLED:
		return output_write_polled(fd, from, size);
	case OUTPUT_BLOCKING:
	case OUTPUT_NONBLOCKING:
		break;
	}
	return write(fd, from, size);
}

size_t
output_write_within(int fd, const char *from, size_t size, int ms)
{
	uint64_t end = clock_monotonic_ns() + (uint64_t)ms * 1000000;
	size_t done = 0;

	while (done < size) {
		ssize_t written = output_write(fd, from + done, size - done);
		struct pollfd ready = {.fd = fd, .events = POLLOUT};
		uint64_t now = clock_monotonic_ns();

		if (written > 0)
			done += (size_t)written;
		else if (written < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			break;
		else if (now >= end)
			break;
		else
			(void)poll(&ready, 1, (int)((end - now) / 1000000) + 1);
	}
	return done;
}

/* ---------------------------------------------------------------------------------------------------- closed output */

/* The reader of another descriptor may have gone instead: then the signal has its default action. */
static void
closed_output_on_signal(int number)
{
	struct pollfd output = {.fd = STDOUT_FILENO};

	if (poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0)
		_exit(EXIT_SUCCESS);
	signal(number, SIG_DFL);
	raise(number);
}

void
closed_output_end_quietly(void)
{
	signal(SIGPIPE, closed_output_on_signal);
}
