/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stream.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"
#include "tools/stream_files.h"

/* More than the longest line. */
#define BUFFER_SIZE ((size_t)256 * 1024)

/* Longest line of a gap, with its newline. */
#define GAP_LINE_MAX 64

#define DEFAULT_ROTATION "100M"

struct stream_reader {
	int fd;			    /* the connection */
	struct stream_files *files; /* NULL: standard output */
	char *buffer;		    /* BUFFER_SIZE bytes */
	char *cleaned;		    /* what is passed on of them */
	size_t used;
	uint64_t lost; /* lines that netobsd dropped */
	bool ended;    /* netobsd has ended the stream */
	bool too_long; /* a line does not fit into the buffer */
	bool failed;   /* lines cannot be written: a message was printed, unless the reader has closed the output */
	int status;
};

static volatile sig_atomic_t stop_signal;

static void
stream_on_signal(int number)
{
	stop_signal = number;
}

/* Only poll() is interrupted: signals are blocked otherwise. */
static void
stream_watch_signals(sigset_t *unblocked)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = stream_on_signal};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		struct sigaction before;

		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue; /* nohup(1) */
		(void)sigaction(numbers[i], &action, NULL);
		sigaddset(&blocked, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, unblocked);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sigdelset(unblocked, numbers[i]);
	signal(SIGPIPE, SIG_IGN);
}

/* -------------------------------------------------------------------------------------------------------- the lines */

/* Writes all, waiting for the reader; a signal ends the wait. */
static bool
stream_write_output(struct stream_reader *reader, const char *bytes, size_t length, const sigset_t *unblocked)
{
	while (length > 0) {
		struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
		ssize_t written;

		/* A blocking write(2) of more than PIPE_BUF bytes may wait although the output is ready. */
		if (ppoll(&ready, 1, NULL, unblocked) < 0 && stop_signal != 0)
			return false;
		written = write(STDOUT_FILENO, bytes, length < 4096 ? length : 4096);
		if (written < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (written < 0) {
			reader->failed = true;
			if (errno != EPIPE)
				reader->status = client_log_error("cannot write to standard output", strerror(errno));
			return false;
		}
		bytes += written;
		length -= (size_t)written;
	}
	return true;
}

/* The number in the object of a gap, which has no other member; 0 for other lines. */
static uint64_t
stream_parse_json_gap(const char *line, size_t length)
{
	json_t *object = json_read_object(line, length);
	uint64_t lost;
	bool gap = json_object_size(object) == 1 && json_read_unsigned(object, "lost", &lost);

	json_decref(object);
	return gap ? lost : 0;
}

/* The number in the line of a gap, 0 for other lines.  A field may begin with the same word, such as the name of a
 * process: only the whole line tells them apart. */
static uint64_t
stream_parse_gap(const char *line, size_t length)
{
	static const char text[] = "lost ", key[] = "\"lost\"";
	const char *digits = line + sizeof text - 1;
	uint64_t lost;
	char *end;

	/* The line of a gap is short. */
	if (*line == '{')
		return length < GAP_LINE_MAX && memmem(line, length, key, sizeof key - 1) != NULL
			   ? stream_parse_json_gap(line, length)
			   : 0;
	if (length <= sizeof text || memcmp(line, text, sizeof text - 1) != 0 || *digits < '0' || *digits > '9')
		return 0;
	errno = 0;
	lost = strtoull(digits, &end, 10);
	return errno == 0 && end + 1 == line + length && *end == '\n' ? lost : 0;
}

/* Counts the lines that netobsd has dropped, as the lines say. */
static void
stream_count_lost(struct stream_reader *reader, const char *lines, size_t length)
{
	while (length > 0) {
		const char *end = memchr(lines, '\n', length);
		size_t line = (size_t)(end - lines) + 1;
		uint64_t lost = stream_parse_gap(lines, line);

		reader->lost = lost < UINT64_MAX - reader->lost ? reader->lost + lost : UINT64_MAX;
		lines += line;
		length -= line;
	}
}

/* Passes on the complete lines of the buffer.  An empty line ends the stream. */
static bool
stream_pass_lines(struct stream_reader *reader, const sigset_t *unblocked)
{
	char *last = memrchr(reader->buffer, '\n', reader->used);
	size_t length = last != NULL ? (size_t)(last - reader->buffer) + 1 : 0, passed = length;

	if (length == 0)
		return true;
	if (reader->buffer[length - 1] == '\n' && (length == 1 || reader->buffer[length - 2] == '\n')) {
		reader->ended = true;
		passed--;
	}
	stream_count_lost(reader, reader->buffer, passed);
	passed = (size_t)(put_foreign_lines(reader->cleaned, reader->buffer, passed) - reader->cleaned);
	if (reader->files != NULL)
		reader->failed = !stream_files_add(reader->files, reader->cleaned, passed);
	else if (!stream_write_output(reader, reader->cleaned, passed, unblocked))
		return false;
	memmove(reader->buffer, reader->buffer + length, reader->used - length);
	reader->used -= length;
	if (reader->files != NULL && reader->failed)
		reader->status = EXIT_FAILURE;
	return !reader->failed;
}

/* ------------------------------------------------------------------------------------------------------- the stream */

/* Waits for lines, for the end of the output, or for a file to be completed.  False on a signal. */
static bool
stream_wait(struct stream_reader *reader, const sigset_t *unblocked, bool *readable)
{
	struct pollfd ready[] = {{.fd = reader->fd, .events = POLLIN},
				 {.fd = reader->files == NULL ? STDOUT_FILENO : -1, .events = 0}};
	int ms = reader->files != NULL ? stream_files_wait_ms(reader->files) : -1;
	const struct timespec timeout = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	int got = ppoll(ready, 2, ms >= 0 ? &timeout : NULL, unblocked);

	*readable = got > 0 && ready[0].revents != 0;
	if (got > 0 && (ready[1].revents & (POLLERR | POLLHUP)) != 0) {
		reader->failed = true; /* the reader has closed the pipe (POLLERR) or the socket (POLLHUP) */
		return false;
	}
	if (reader->files != NULL && !stream_files_rotate(reader->files)) {
		reader->failed = true;
		reader->status = EXIT_FAILURE;
		return false;
	}
	return stop_signal == 0;
}

static void
stream_copy(struct stream_reader *reader, const sigset_t *unblocked)
{
	bool readable;

	while (!reader->ended && stream_wait(reader, unblocked, &readable)) {
		ssize_t got;

		if (!readable)
			continue;
		got = recv(reader->fd, reader->buffer + reader->used, BUFFER_SIZE - reader->used, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return;
		reader->used += (size_t)got;
		if (!stream_pass_lines(reader, unblocked))
			return;
		reader->too_long = reader->used == BUFFER_SIZE;
		if (reader->too_long)
			return;
	}
}

static void
stream_log_end(struct stream_reader *reader)
{
	if (reader->lost > 0)
		client_log("netobsctl", "%llu lines were lost because they were not read in time",
			   (unsigned long long)reader->lost);
	if (reader->failed || stop_signal != 0)
		return;
	if (reader->ended) {
		client_log("netobsctl", "netobsd has ended the stream");
		return;
	}
	client_log("netobsctl", "the stream broke off: %s",
		   reader->too_long ? "the process listening there is not netobsd: its lines are too long"
				    : "netobsd has closed the connection or was killed");
	reader->status = EXIT_BROKE_OFF;
}

/* The name of files: that of the probe or formula if there is one, without wildcards. */
static const char *
stream_file_name(char *const names[], int count)
{
	if (count == 1 && strspn(names[0], "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(names[0]) &&
	    strlen(names[0]) < 64)
		return names[0];
	return count == 0 ? "connection-end" : "stream";
}

static bool
stream_make_request(char request[CLIENT_REQUEST_MAX], char *const names[], int count,
		    const struct stream_options *options)
{
	size_t used = (size_t)snprintf(request, CLIENT_REQUEST_MAX, "stream ");

	for (int i = 0; i < count && used < CLIENT_REQUEST_MAX; i++)
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, "%s%s", i > 0 ? "," : "", names[i]);
	if (options->fields != NULL && used < CLIENT_REQUEST_MAX)
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, " --fields=%s", options->fields);
	if (used < CLIENT_REQUEST_MAX)
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, "%s\n",
					 options->json || options->directory != NULL ? " --json" : "");
	if (used < CLIENT_REQUEST_MAX && strcspn(request, "\n\r") == used - 1)
		return true;
	client_log_error("the command is too long or contains a line break", NULL);
	return false;
}

static bool
stream_open_files(struct stream_reader *reader, const char *name, const struct stream_options *options)
{
	const char *rotate = options->rotate != NULL ? options->rotate : DEFAULT_ROTATION;
	struct stream_rotation rotation;

	if (options->directory == NULL && options->rotate != NULL)
		client_log_error("--rotate needs --dir", NULL);
	else if (!stream_rotation_parse(rotate, &rotation))
		client_log_error("--rotate",
				 "expected a size or a time from 1s on, with a unit as in 100M, 1h");
	else if (options->directory == NULL)
		return true;
	else
		reader->files = stream_files_open(options->directory, name, &rotation);
	return reader->files != NULL;
}

int
stream_run(const char *path, char *const names[], int count, const struct stream_options *options)
{
	struct stream_reader reader = {.fd = -1, .status = EXIT_SUCCESS};
	char request[CLIENT_REQUEST_MAX];
	sigset_t unblocked;

	if (!stream_make_request(request, names, count, options) ||
	    !stream_open_files(&reader, stream_file_name(names, count), options))
		return EXIT_FAILURE;
	reader.buffer = malloc(BUFFER_SIZE);
	reader.cleaned = malloc(BUFFER_SIZE * JSON_BYTE_MAX + 8);
	if (reader.buffer == NULL || reader.cleaned == NULL) {
		client_log_error("out of memory", NULL);
	} else {
		stream_watch_signals(&unblocked);
		reader.fd = client_open_stream(path, request);
	}
	if (reader.fd >= 0) {
		stream_copy(&reader, &unblocked);
		stream_log_end(&reader);
		close(reader.fd);
	} else {
		reader.status = EXIT_FAILURE;
	}
	if (reader.files != NULL && !stream_files_close(reader.files))
		reader.status = EXIT_FAILURE;
	free(reader.buffer);
	free(reader.cleaned);
	return reader.status;
}
