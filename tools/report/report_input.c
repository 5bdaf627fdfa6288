/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/unnamed_file.h"

/* Bytes copied at once. */
#define PIECE 65536

/* After a signal the program at the other end, which has it as well, may write what it has left: so long, ns. */
#define REST_NS 200000000u

bool
report_input_is_stream(const char *capture)
{
	struct stat status;
	bool standard = strcmp(capture, "-") == 0;

	if (standard ? fstat(STDIN_FILENO, &status) != 0 : stat(capture, &status) != 0)
		return false;
	return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* The copy of a stream in progress. */
struct report_input {
	int from, to;
	const char *name;
	int signals;	 /* descriptor of the signals that end the copy; -1 after one: the next one ends the program */
	sigset_t before; /* the signal mask before the copy */
	uint64_t end;	 /* after a signal: when the copy ends, by the monotonic clock; else 0 */
};

/* SIGINT and SIGTERM end the copy. */
static void
report_input_watch_signals(struct report_input *input)
{
	sigset_t stopping;

	sigemptyset(&stopping);
	sigaddset(&stopping, SIGINT);
	sigaddset(&stopping, SIGTERM);
	sigprocmask(SIG_BLOCK, &stopping, &input->before);
	input->signals = signalfd(-1, &stopping, SFD_CLOEXEC);
	if (input->signals < 0)
		sigprocmask(SIG_SETMASK, &input->before, NULL);
}

static void
report_input_end_signals(struct report_input *input)
{
	struct signalfd_siginfo signal;

	if (input->signals < 0)
		return;
	while (poll(&(struct pollfd){.fd = input->signals, .events = POLLIN}, 1, 0) > 0 &&
	       read(input->signals, &signal, sizeof signal) > 0)
		;
	close(input->signals);
	input->signals = -1;
	sigprocmask(SIG_SETMASK, &input->before, NULL);
}

/* Waits for bytes.  1: there are some, or the stream has ended; 0: not yet; -1: the time after a signal is over. */
static int
report_input_wait(struct report_input *input)
{
	struct pollfd ready[2] = {{.fd = input->from, .events = POLLIN}, {.fd = input->signals, .events = POLLIN}};
	uint64_t now = clock_monotonic_ns();

	if (input->end != 0 && now >= input->end)
		return -1;
	if (poll(ready, 2, input->end != 0 ? (int)((input->end - now) / 1000000) + 1 : -1) < 0)
		return 0;
	if (ready[1].revents != 0) {
		report_input_end_signals(input);
		input->end = clock_monotonic_ns() + REST_NS;
	}
	return ready[0].revents != 0;
}

/* Reads the next bytes: their number; 0 at the end, and some time after a signal; -1 with errno. */
static ssize_t
report_input_read(struct report_input *input, char piece[PIECE])
{
	for (;;) {
		int ready = report_input_wait(input);
		ssize_t got = ready > 0 ? read(input->from, piece, PIECE) : 0;

		if (ready < 0 || (ready > 0 && (got >= 0 || (errno != EINTR && errno != EAGAIN))))
			return got;
	}
}

static bool
report_input_write(int fd, const char *from, size_t size)
{
	while (size > 0) {
		ssize_t done = write(fd, from, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		from += done;
		size -= (size_t)done;
	}
	return true;
}

/* False with a message if the copy breaks off. */
static bool
report_input_copy_all(struct report_input *input, char message[REPORT_INPUT_MESSAGE])
{
	char piece[PIECE];
	ssize_t got;

	while ((got = report_input_read(input, piece)) > 0) {
		if (!report_input_write(input->to, piece, (size_t)got)) {
			snprintf(message, REPORT_INPUT_MESSAGE, "the copy of %.200s breaks off: %s", input->name,
				 strerror(errno));
			return false;
		}
	}
	if (got < 0)
		snprintf(message, REPORT_INPUT_MESSAGE, "cannot read %.200s: %s", input->name, strerror(errno));
	return got == 0;
}

/* Sets the path of a copy.  That of standard input takes its place, so that messages name it. */
static void
report_input_name(int copy, bool standard, char path[REPORT_INPUT_PATH])
{
	snprintf(path, REPORT_INPUT_PATH, "/proc/self/fd/%d", copy);
	if (standard && lseek(copy, 0, SEEK_SET) == 0 && dup2(copy, STDIN_FILENO) >= 0) {
		close(copy);
		snprintf(path, REPORT_INPUT_PATH, "-");
	}
}

bool
report_input_copy(const char *capture, char path[REPORT_INPUT_PATH], char message[REPORT_INPUT_MESSAGE])
{
	bool standard = strcmp(capture, "-") == 0, good = false;
	struct report_input input = {.name = standard ? "standard input" : capture};

	path[0] = '\0';
	input.from = standard ? STDIN_FILENO : open(capture, O_RDONLY | O_CLOEXEC);
	if (input.from < 0) {
		snprintf(message, REPORT_INPUT_MESSAGE, "cannot read %.200s: %s", capture, strerror(errno));
		return false;
	}
	input.to = unnamed_file_open("/var/tmp", message, REPORT_INPUT_MESSAGE);
	if (input.to >= 0) {
		report_input_watch_signals(&input);
		good = report_input_copy_all(&input, message);
		report_input_end_signals(&input);
		report_input_name(input.to, standard, path);
	}
	if (!standard)
		close(input.from);
	return good;
}
