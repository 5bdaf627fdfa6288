/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_on.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"
#include "tools/write_client.h"
#include "tools/write_on_directory.h"
#include "tools/write_on_queue.h"
#include "tools/write_on_settings.h"
#include "tools/write_on_writer.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* More than many lines of a feed. */
#define BUFFER_SIZE ((size_t)64 * 1024)

/* A request that only a client that may write captures gets past: there is no connection with this id. */
#define PERMISSION_REQUEST "write --cid=18446744073709551615\n"

#define STATUS_REPLY_MAX ((size_t)16 * 1024)

/* Longest wait for the reply to PERMISSION_REQUEST, seconds. */
#define CHECK_TIMEOUT_S 10

/* Interval at which files are counted again while the directory is full: files may be removed. */
#define COUNT_INTERVAL_NS (2 * NS_PER_S)

/* Interval between two messages with one and the same reason. */
#define MESSAGE_INTERVAL_NS (60 * NS_PER_S)

/* After a signal: longest time for the files of the triggers that wait. */
#define STOP_NS (5 * NS_PER_S)

/* Each trigger is counted in one of the others, unless it waits or its file is being written; then in `waiting`. */
struct write_on_statistics {
	uint64_t triggers;
	uint64_t files, bytes;	/* written */
	uint64_t merged;	/* with a trigger that waited, or of the same file name */
	uint64_t over_limit;	/* the directory is full */
	uint64_t over_rate;	/* too many files in a time */
	uint64_t queue_full;	/* too many triggers waited */
	uint64_t no_connection; /* firings without a connection */
	uint64_t failures;	/* files that could not be written */
	uint64_t lost;		/* lines that netobsd dropped; not triggers */
};

struct write_on {
	const char *socket, *path; /* of the control socket and of the directory */
	struct write_on_settings settings;
	struct write_on_directory directory;
	struct write_on_statistics statistics;
	struct write_on_queue *queue;
	struct write_on_writer writer;
	char name[WRITE_ON_NAME_MAX]; /* of the file that is being written */
	uint64_t most_bytes;	      /* of that file */
	uint64_t rate_time;	      /* monotonic time up to which the files so far use the rate, ns */

	int feed; /* the connection, -1: closed */
	char *buffer;
	size_t used;
	const char *end;    /* why the feed has ended, NULL: it has not */
	uint64_t stop_time; /* 0: no signal has arrived; monotonic, ns */

	bool full; /* a limit of the directory is reached */
	bool full_logged;
	uint64_t counted_time; /* when the files were counted, monotonic, ns */
	char reason[WRITE_ON_ERROR_MAX];
	uint64_t reason_time; /* when this reason was printed, 0: never */
	bool reason_over;     /* a file was written after it */
};

static volatile sig_atomic_t write_on_stop_signals, write_on_print_signal;

static void
write_on_on_signal(int number)
{
	if (number == SIGUSR1)
		write_on_print_signal = 1;
	else
		write_on_stop_signals++;
}

/* Only ppoll() is interrupted: signals are blocked otherwise. */
static void
write_on_watch_signals(sigset_t *unblocked)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	const struct sigaction action = {.sa_handler = write_on_on_signal};
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

static void
write_on_print_statistics(const struct write_on *writing)
{
	const struct write_on_statistics *counts = &writing->statistics;

	client_log("netobsctl",
		   "%" PRIu64 " triggers: %" PRIu64 " files with %" PRIu64 " bytes, %" PRIu64 " merged, "
		   "%" PRIu64 " over a limit of %s, %" PRIu64 " over the rate, %" PRIu64 " over the queue, "
		   "%" PRIu64 " without connection, %" PRIu64 " failed, %zu waiting; "
		   "%" PRIu64 " lines of netobsd lost",
		   counts->triggers, counts->files, counts->bytes, counts->merged, counts->over_limit, writing->path,
		   counts->over_rate, counts->queue_full, counts->no_connection, counts->failures,
		   writing->queue->count + (writing->writer.pid > 0), counts->lost);
}

/* ------------------------------------------------------------------------------------------------------- the limits */

/* Whether the directory is full.  The first time a message says so. */
static bool
write_on_is_full(struct write_on *writing, uint64_t now)
{
	struct write_on_directory *directory = &writing->directory;
	const struct write_on_settings *settings = &writing->settings;

	if (writing->full && now - writing->counted_time >= COUNT_INTERVAL_NS) {
		uint64_t files = directory->files, bytes = directory->bytes;

		writing->counted_time = now;
		if (write_on_directory_count(directory) && (directory->files < files || directory->bytes < bytes))
			writing->full = false;
	}
	if (directory->files >= settings->max_files || directory->bytes >= settings->max_bytes)
		writing->full = true;
	if (writing->full && !writing->full_logged) {
		client_log("netobsctl",
			   "%s has %" PRIu64 " files with %" PRIu64
			   " bytes, the limit: no more are written until some are removed",
			   writing->path, directory->files, directory->bytes);
		writing->counted_time = now;
	}
	writing->full_logged = writing->full;
	return writing->full;
}

/* Whether the rate allows a file now, and if so uses it. */
static bool
write_on_use_rate(struct write_on *writing, uint64_t now)
{
	const struct write_on_settings *settings = &writing->settings;
	uint64_t from = writing->rate_time > now ? writing->rate_time : now;
	uint64_t to = from + settings->rate_per_ns / settings->rate_count;

	if (to > now + settings->rate_per_ns)
		return false;
	writing->rate_time = to;
	return true;
}

/* -------------------------------------------------------------------------------------------------------- the files */

/* Prints why a file could not be written; the same reason again only after a file was written, and not often. */
static void
write_on_log_failure(struct write_on *writing, const char *error, uint64_t now)
{
	const char *colon = strrchr(error, ':'), *reason = colon != NULL ? colon : error;
	const char *named = strstr(error, writing->name);

	if (named != NULL && strncmp(named + strlen(writing->name), ": ", 2) == 0)
		error = named + strlen(writing->name) + 2; /* the message names the file */
	if (strcmp(reason, writing->reason) == 0 &&
	    (!writing->reason_over || now - writing->reason_time < MESSAGE_INTERVAL_NS))
		return;
	snprintf(writing->reason, sizeof writing->reason, "%s", reason);
	writing->reason_time = now;
	writing->reason_over = false;
	client_log("netobsctl", "cannot write %s/%s: %s; further files are tried and failures counted", writing->path,
		   writing->name, error);
}

/* A capture is larger than what the limit of bytes has left.  With files in the directory the limit is reached; without
 * files there is nothing to remove, and smaller captures are still written. */
static void
write_on_handle_too_large(struct write_on *writing, const char *error)
{
	uint64_t now = clock_monotonic_ns();

	if (writing->directory.files == 0) {
		write_on_log_failure(writing, error, now);
		return;
	}
	writing->full = true;
	(void)write_on_is_full(writing, now);
}

static void
write_on_finish_file(struct write_on *writing)
{
	struct write_on_statistics *counts = &writing->statistics;
	struct write_on_result result;

	write_on_writer_finish(&writing->writer, &result);
	if (result.done) {
		counts->files++;
		counts->bytes += result.written.bytes;
		writing->directory.files++;
		writing->directory.bytes += result.written.bytes;
		writing->reason_over = true;
	} else if (result.written.bytes > writing->most_bytes) {
		counts->over_limit++;
		write_on_handle_too_large(writing, result.error);
	} else {
		counts->failures++;
		write_on_log_failure(writing, result.error, clock_monotonic_ns());
	}
}

/* Starts to write the file of this name. */
static void
write_on_start_writer(struct write_on *writing, uint64_t cid, uint64_t now)
{
	char path[4096], arguments[64];
	struct write_request request = {.socket = writing->socket, .arguments = arguments, .path = path};

	snprintf(path, sizeof path, "%s/%s", writing->path, writing->name);
	snprintf(arguments, sizeof arguments, "--cid=%" PRIu64 " --format=%s", cid, writing->settings.format);
	request.most_bytes = writing->most_bytes = writing->settings.max_bytes - writing->directory.bytes;
	if (!write_on_writer_begin(&writing->writer, &request, writing->directory.fd, writing->feed)) {
		writing->statistics.failures++;
		write_on_log_failure(writing, strerror(errno), now);
	}
}

/* Handles the first trigger, which leaves the queue.  A file of its name belongs to another firing by the frame. */
static void
write_on_begin_file(struct write_on *writing, uint64_t now)
{
	const struct write_on_trigger *trigger = write_on_queue_first(writing->queue);

	write_on_name_make(writing->name, trigger, writing->settings.format);
	if (write_on_directory_has(&writing->directory, writing->name))
		writing->statistics.merged++;
	else if (write_on_is_full(writing, now))
		writing->statistics.over_limit++;
	else
		write_on_start_writer(writing, trigger->cid, now);
	write_on_queue_remove_first(writing->queue);
}

/* ----------------------------------------------------------------------------------------------------- the triggers */

static void
write_on_add_trigger(struct write_on *writing, struct write_on_trigger *trigger, uint64_t now)
{
	struct write_on_statistics *counts = &writing->statistics;

	counts->triggers++;
	trigger->due = now + writing->settings.after_ns;
	if (trigger->cid == 0)
		counts->no_connection++;
	else if (write_on_queue_has(writing->queue, trigger->cid))
		counts->merged++;
	else if (write_on_is_full(writing, now))
		counts->over_limit++;
	else if (writing->queue->count == WRITE_ON_QUEUE_MAX)
		counts->queue_full++;
	else if (!write_on_use_rate(writing, now))
		counts->over_rate++;
	else
		(void)write_on_queue_add(writing->queue, trigger);
}

static void
write_on_end_feed(struct write_on *writing, const char *reason)
{
	if (writing->end == NULL)
		writing->end = reason;
	close(writing->feed);
	writing->feed = -1;
}

/* Handles the complete lines of the buffer. */
static void
write_on_handle_lines(struct write_on *writing)
{
	char *line = writing->buffer, *newline;
	uint64_t now = clock_monotonic_ns(), lost;
	struct write_on_trigger trigger;

	while (writing->feed >= 0 &&
	       (newline = memchr(line, '\n', writing->used - (size_t)(line - writing->buffer))) != NULL) {
		*newline = '\0';
		switch (strlen(line) == (size_t)(newline - line) ? write_on_line_parse(line, &trigger, &lost)
								 : WRITE_ON_WRONG) {
		case WRITE_ON_TRIGGER:
			write_on_add_trigger(writing, &trigger, now);
			break;
		case WRITE_ON_LOST:
			writing->statistics.lost += lost;
			break;
		case WRITE_ON_END:
			write_on_end_feed(writing, "netobsd has ended");
			break;
		case WRITE_ON_WRONG:
			write_on_end_feed(writing, "the process listening there is not netobsd: its lines are wrong");
			break;
		}
		line = newline + 1;
	}
	writing->used -= (size_t)(line - writing->buffer);
	memmove(writing->buffer, line, writing->used);
	if (writing->feed >= 0 && writing->used == BUFFER_SIZE)
		write_on_end_feed(writing, "the process listening there is not netobsd: its lines are too long");
}

static void
write_on_read_feed(struct write_on *writing)
{
	ssize_t got = recv(writing->feed, writing->buffer + writing->used, BUFFER_SIZE - writing->used, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		write_on_end_feed(writing, "netobsd has closed the connection or was killed");
		return;
	}
	writing->used += (size_t)got;
	write_on_handle_lines(writing);
}

/* --------------------------------------------------------------------------------------------------------- the loop */

/* Waits for lines, for the end of the writer, for the time of a file, or for a signal. */
static void
write_on_wait(struct write_on *writing, const sigset_t *unblocked)
{
	struct pollfd ready[] = {{.fd = writing->feed, .events = POLLIN}, {.fd = writing->writer.fd, .events = POLLIN}};
	const struct write_on_trigger *first = writing->writer.pid == 0 ? write_on_queue_first(writing->queue) : NULL;
	uint64_t now = clock_monotonic_ns(), end = UINT64_MAX;
	struct timespec timeout;
	int got;

	if (first != NULL)
		end = writing->stop_time != 0 ? now : first->due;
	if (writing->stop_time != 0 && writing->stop_time < end)
		end = writing->stop_time;
	end = end > now ? end - now : 0;
	timeout = (struct timespec){.tv_sec = (time_t)(end / NS_PER_S), .tv_nsec = (long)(end % NS_PER_S)};
	got = ppoll(ready, 2, first != NULL || writing->stop_time != 0 ? &timeout : NULL, unblocked);
	if (write_on_print_signal != 0) {
		write_on_print_signal = 0;
		write_on_print_statistics(writing);
	}
	if (write_on_stop_signals > 0 && writing->stop_time == 0) {
		writing->stop_time = clock_monotonic_ns() + STOP_NS;
		if (writing->feed >= 0)
			write_on_end_feed(writing, NULL);
		return;
	}
	if (got <= 0)
		return;
	if (ready[1].revents != 0)
		write_on_finish_file(writing);
	if (ready[0].revents != 0 && writing->feed >= 0)
		write_on_read_feed(writing);
}

/* Whether there is something left to do.  Without netobsd only the file that is being written can be completed. */
static bool
write_on_goes_on(const struct write_on *writing)
{
	if (writing->stop_time != 0 && (write_on_stop_signals >= 2 || clock_monotonic_ns() >= writing->stop_time))
		return false;
	if (writing->end != NULL)
		return writing->writer.pid > 0;
	return writing->stop_time == 0 || writing->writer.pid > 0 || writing->queue->count > 0;
}

static void
write_on_copy(struct write_on *writing, const sigset_t *unblocked)
{
	while (write_on_goes_on(writing)) {
		const struct write_on_trigger *first = write_on_queue_first(writing->queue);
		uint64_t now = clock_monotonic_ns();

		if (first != NULL && writing->writer.pid == 0 && writing->end == NULL &&
		    (writing->stop_time != 0 || first->due <= now))
			write_on_begin_file(writing, now);
		else
			write_on_wait(writing, unblocked);
	}
	if (writing->writer.pid > 0) {
		kill(writing->writer.pid, SIGKILL);
		write_on_finish_file(writing);
	}
}

/* -------------------------------------------------------------------------------------------------------- the start */

/* Without a flight memory every file would fail.  If there is no reply, the error of the feed is printed. */
static bool
write_on_check_memory(const struct write_on *writing)
{
	char error[256];
	json_t *lines = json_read_reply(writing->socket, "status\n", STATUS_REPLY_MAX, error, sizeof error);
	uint64_t memory;
	bool none = json_read_unsigned(json_array_get(lines, 0), "flight_memory", &memory) && memory == 0;

	json_decref(lines);
	if (!none)
		return true;
	client_log_error("no frames are kept",
			 "start netobsd with --flight-memory=SIZE, or set flight-memory in netobs.conf");
	return false;
}

/* A client that may read a feed but not write captures would fail at every file. */
static bool
write_on_check_permission(const struct write_on *writing)
{
	static const char refusal[] = "only root and the user that netobsd runs as may write";
	char error[1024];
	int fd = client_open_reply(writing->socket, PERMISSION_REQUEST, CHECK_TIMEOUT_S, error, sizeof error);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || strncmp(error, refusal, sizeof refusal - 1) != 0)
		return true;
	client_log_error(error, NULL);
	return false;
}

static bool
write_on_open_feed(struct write_on *writing, const char *names)
{
	char request[CLIENT_REQUEST_MAX];
	int length = snprintf(request, sizeof request, "stream --fields=probe,cid,ts %s\n", names);

	if (length >= (int)sizeof request) {
		client_log_error("--on", "too many names");
		return false;
	}
	writing->feed = client_open_stream(writing->socket, request);
	return writing->feed >= 0;
}

static int
write_on_run_settings(struct write_on *writing, const char *names)
{
	sigset_t unblocked;
	int status = write_on_directory_open(&writing->directory, writing->path);

	if (status != EXIT_SUCCESS)
		return status;
	write_on_watch_signals(&unblocked);
	status = EXIT_FAILURE;
	if (!write_on_check_memory(writing) || !write_on_check_permission(writing)) {
		status = WRITE_ON_USELESS;
	} else if (write_on_open_feed(writing, names)) {
		write_on_copy(writing, &unblocked);
		write_on_print_statistics(writing);
		if (writing->end != NULL)
			client_log_error(writing->end, NULL);
		else
			status = EXIT_SUCCESS;
		if (writing->feed >= 0)
			close(writing->feed);
	}
	write_on_directory_close(&writing->directory);
	return status;
}

int
write_on_run(const char *path, const struct write_on_options *options)
{
	struct write_on writing = {.socket = path, .path = options->directory, .writer = {.fd = -1}, .feed = -1};
	int status = EXIT_FAILURE;

	if (!write_on_settings_parse(options, &writing.settings))
		return WRITE_ON_USELESS;
	writing.queue = calloc(1, sizeof *writing.queue);
	writing.buffer = malloc(BUFFER_SIZE);
	if (writing.queue == NULL || writing.buffer == NULL)
		client_log_error("out of memory", NULL);
	else
		status = write_on_run_settings(&writing, options->on);
	free(writing.queue);
	free(writing.buffer);
	return status;
}
