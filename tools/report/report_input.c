/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/unnamed_file.h"

/* Bytes copied at once. */
#define PIECE 65536

/* After a signal the program at the other end, which has it as well, may write what it has left: so long, ms. */
#define REST_MS 200

static volatile sig_atomic_t stopped;

static void
report_input_stop(int number)
{
	(void)number;
	stopped = 1;
}

bool
report_input_is_stream(const char *capture)
{
	struct stat status;
	bool standard = strcmp(capture, "-") == 0;

	if (standard ? fstat(STDIN_FILENO, &status) != 0 : stat(capture, &status) != 0)
		return false;
	return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* Reads the next bytes: their number; 0 at the end, and if nothing comes behind a signal; -1 with errno. */
static ssize_t
report_input_read(int fd, char piece[PIECE])
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	ssize_t got;

	do {
		if (poll(&ready, 1, stopped ? REST_MS : -1) == 0)
			return 0;
		got = read(fd, piece, PIECE);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	return got;
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
report_input_copy_all(int from, int to, const char *name, char message[REPORT_INPUT_MESSAGE])
{
	char piece[PIECE];
	ssize_t got;

	while ((got = report_input_read(from, piece)) > 0) {
		if (!report_input_write(to, piece, (size_t)got)) {
			snprintf(message, REPORT_INPUT_MESSAGE, "the copy of %.200s breaks off: %s", name,
				 strerror(errno));
			return false;
		}
	}
	if (got < 0)
		snprintf(message, REPORT_INPUT_MESSAGE, "cannot read %.200s: %s", name, strerror(errno));
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
	bool standard = strcmp(capture, "-") == 0, good;
	struct sigaction stop = {.sa_handler = report_input_stop}, before[2];
	int from = standard ? STDIN_FILENO : open(capture, O_RDONLY | O_CLOEXEC), to;

	path[0] = '\0';
	if (from < 0) {
		snprintf(message, REPORT_INPUT_MESSAGE, "cannot read %.200s: %s", capture, strerror(errno));
		return false;
	}
	to = unnamed_file_open("/var/tmp", message, REPORT_INPUT_MESSAGE);
	if (to >= 0) {
		sigaction(SIGINT, &stop, &before[0]);
		sigaction(SIGTERM, &stop, &before[1]);
		good = report_input_copy_all(from, to, standard ? "standard input" : capture, message);
		sigaction(SIGINT, &before[0], NULL);
		sigaction(SIGTERM, &before[1], NULL);
		report_input_name(to, standard, path);
	} else {
		good = false;
	}
	if (!standard)
		close(from);
	return good;
}
