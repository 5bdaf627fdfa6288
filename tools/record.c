/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record.h"

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
#include "tools/record_directory.h"
#include "tools/record_queue.h"
#include "tools/record_settings.h"
#include "tools/record_writer.h"
#include "tools/write_client.h"

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
struct record_statistics {
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

struct recorder {
	const char *socket, *path; /* of the control socket and of the directory */
	struct record_settings settings;
	struct record_directory directory;
	struct record_statistics statistics;
	struct record_queue *queue;
	struct record_writer writer;
	char name[RECORD_NAME_MAX]; /* of the file that is being written */
	uint64_t most_bytes;	    /* of that file */
	uint64_t rate_time;	    /* monotonic time up to which the files so far use the rate, ns */

	int feed; /* the connection, -1: closed */
	char *buffer;
	size_t used;
	const char *end;    /* why the feed has ended, NULL: it has not */
	uint64_t stop_time; /* 0: no signal has arrived; monotonic, ns */

	bool full; /* a limit of the directory is reached */
	bool full_logged;
	uint64_t counted_time; /* when the files were counted, monotonic, ns */
	char reason[RECORD_ERROR_MAX];
	uint64_t reason_time; /* when this reason was printed, 0: never */
	bool reason_over;     /* a file was written after it */
};

static volatile sig_atomic_t record_stop_signals, record_print_signal;

static void
record_on_signal(int number)
{
	if (number == SIGUSR1)
		record_print_signal = 1;
	else
		record_stop_signals++;
}

/* Only ppoll() is interrupted: signals are blocked otherwise. */
static void
record_watch_signals(sigset_t *unblocked)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	const struct sigaction action = {.sa_handler = record_on_signal};
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
record_print_statistics(const struct recorder *recorder)
{
	const struct record_statistics *counts = &recorder->statistics;

	client_log(
		"netobsctl", "%" PRIu64 " triggers: %" PRIu64 " files with %" PRIu64 " bytes, %" PRIu64 " merged, "
		"%" PRIu64 " over a limit of %s, %" PRIu64 " over the rate, %" PRIu64 " over the queue, "
		"%" PRIu64 " without connection, %" PRIu64 " failed, %zu waiting; "
		"%" PRIu64 " lines of netobsd lost",
		counts->triggers, counts->files, counts->bytes, counts->merged, counts->over_limit, recorder->path,
		counts->over_rate, counts->queue_full, counts->no_connection, counts->failures,
		recorder->queue->count + (recorder->writer.pid > 0), counts->lost);
}

/* ------------------------------------------------------------------------------------------------------- the limits */

/* Whether the directory is full.  The first time a message says so. */
static bool
record_is_full(struct recorder *recorder, uint64_t now)
{
	struct record_directory *directory = &recorder->directory;
	const struct record_settings *settings = &recorder->settings;

	if (recorder->full && now - recorder->counted_time >= COUNT_INTERVAL_NS) {
		uint64_t files = directory->files, bytes = directory->bytes;

		recorder->counted_time = now;
		if (record_directory_count(directory) && (directory->files < files || directory->bytes < bytes))
			recorder->full = false;
	}
	if (directory->files >= settings->max_files || directory->bytes >= settings->max_bytes)
		recorder->full = true;
	if (recorder->full && !recorder->full_logged) {
		client_log("netobsctl",
			"%s has %" PRIu64 " files with %" PRIu64
			" bytes, the limit: no more are written until some are removed",
			recorder->path, directory->files, directory->bytes);
		recorder->counted_time = now;
	}
	recorder->full_logged = recorder->full;
	return recorder->full;
}

/* Whether the rate allows a file now, and if so uses it. */
static bool
record_use_rate(struct recorder *recorder, uint64_t now)
{
	const struct record_settings *settings = &recorder->settings;
	uint64_t from = recorder->rate_time > now ? recorder->rate_time : now;
	uint64_t to = from + settings->rate_per_ns / settings->rate_count;

	if (to > now + settings->rate_per_ns)
		return false;
	recorder->rate_time = to;
	return true;
}

/* -------------------------------------------------------------------------------------------------------- the files */

/* Prints why a file could not be written; the same reason again only after a file was written, and not often. */
static void
record_log_failure(struct recorder *recorder, const char *error, uint64_t now)
{
	const char *colon = strrchr(error, ':'), *reason = colon != NULL ? colon : error;
	const char *named = strstr(error, recorder->name);

	if (named != NULL && strncmp(named + strlen(recorder->name), ": ", 2) == 0)
		error = named + strlen(recorder->name) + 2; /* the message names the file */
	if (strcmp(reason, recorder->reason) == 0 &&
	    (!recorder->reason_over || now - recorder->reason_time < MESSAGE_INTERVAL_NS))
		return;
	snprintf(recorder->reason, sizeof recorder->reason, "%s", reason);
	recorder->reason_time = now;
	recorder->reason_over = false;
	client_log("netobsctl", "cannot write %s/%s: %s; further files are tried and failures counted",
		recorder->path, recorder->name, error);
}

/* A capture is larger than what the limit of bytes has left.  With files in the directory the limit is reached; without
 * files there is nothing to remove, and smaller captures are still written. */
static void
record_handle_too_large(struct recorder *recorder, const char *error)
{
	uint64_t now = clock_monotonic_ns();

	if (recorder->directory.files == 0) {
		record_log_failure(recorder, error, now);
		return;
	}
	recorder->full = true;
	(void)record_is_full(recorder, now);
}

static void
record_finish_file(struct recorder *recorder)
{
	struct record_statistics *counts = &recorder->statistics;
	struct record_result result;

	record_writer_finish(&recorder->writer, &result);
	if (result.done) {
		counts->files++;
		counts->bytes += result.written.bytes;
		recorder->directory.files++;
		recorder->directory.bytes += result.written.bytes;
		recorder->reason_over = true;
	} else if (result.written.bytes > recorder->most_bytes) {
		counts->over_limit++;
		record_handle_too_large(recorder, result.error);
	} else {
		counts->failures++;
		record_log_failure(recorder, result.error, clock_monotonic_ns());
	}
}

/* Starts to write the file of this name. */
static void
record_start_writer(struct recorder *recorder, uint64_t cid, uint64_t now)
{
	char path[4096], arguments[64];
	struct write_request request = {.socket = recorder->socket, .arguments = arguments, .path = path};

	snprintf(path, sizeof path, "%s/%s", recorder->path, recorder->name);
	snprintf(arguments, sizeof arguments, "--cid=%" PRIu64 " --format=%s", cid, recorder->settings.format);
	request.most_bytes = recorder->most_bytes = recorder->settings.max_bytes - recorder->directory.bytes;
	if (!record_writer_begin(&recorder->writer, &request, recorder->directory.fd, recorder->feed)) {
		recorder->statistics.failures++;
		record_log_failure(recorder, strerror(errno), now);
	}
}

/* Handles the first trigger, which leaves the queue.  A file of its name belongs to another firing by the frame. */
static void
record_begin_file(struct recorder *recorder, uint64_t now)
{
	const struct record_trigger *trigger = record_queue_first(recorder->queue);

	record_name_make(recorder->name, trigger, recorder->settings.format);
	if (record_directory_has(&recorder->directory, recorder->name))
		recorder->statistics.merged++;
	else if (record_is_full(recorder, now))
		recorder->statistics.over_limit++;
	else
		record_start_writer(recorder, trigger->cid, now);
	record_queue_remove_first(recorder->queue);
}

/* ----------------------------------------------------------------------------------------------------- the triggers */

static void
record_add_trigger(struct recorder *recorder, struct record_trigger *trigger, uint64_t now)
{
	struct record_statistics *counts = &recorder->statistics;

	counts->triggers++;
	trigger->due = now + recorder->settings.after_ns;
	if (trigger->cid == 0)
		counts->no_connection++;
	else if (record_queue_has(recorder->queue, trigger->cid))
		counts->merged++;
	else if (record_is_full(recorder, now))
		counts->over_limit++;
	else if (recorder->queue->count == RECORD_QUEUE_MAX)
		counts->queue_full++;
	else if (!record_use_rate(recorder, now))
		counts->over_rate++;
	else
		(void)record_queue_add(recorder->queue, trigger);
}

static void
record_end_feed(struct recorder *recorder, const char *reason)
{
	if (recorder->end == NULL)
		recorder->end = reason;
	close(recorder->feed);
	recorder->feed = -1;
}

/* Handles the complete lines of the buffer. */
static void
record_handle_lines(struct recorder *recorder)
{
	char *line = recorder->buffer, *newline;
	uint64_t now = clock_monotonic_ns(), lost;
	struct record_trigger trigger;

	while (recorder->feed >= 0 &&
	       (newline = memchr(line, '\n', recorder->used - (size_t)(line - recorder->buffer))) != NULL) {
		*newline = '\0';
		switch (strlen(line) == (size_t)(newline - line) ? record_line_parse(line, &trigger, &lost)
								 : RECORD_WRONG) {
		case RECORD_TRIGGER:
			record_add_trigger(recorder, &trigger, now);
			break;
		case RECORD_LOST:
			recorder->statistics.lost += lost;
			break;
		case RECORD_END:
			record_end_feed(recorder, "netobsd has ended");
			break;
		case RECORD_WRONG:
			record_end_feed(recorder, "the process listening there is not netobsd: its lines are wrong");
			break;
		}
		line = newline + 1;
	}
	recorder->used -= (size_t)(line - recorder->buffer);
	memmove(recorder->buffer, line, recorder->used);
	if (recorder->feed >= 0 && recorder->used == BUFFER_SIZE)
		record_end_feed(recorder, "the process listening there is not netobsd: its lines are too long");
}

static void
record_read_feed(struct recorder *recorder)
{
	ssize_t got = recv(recorder->feed, recorder->buffer + recorder->used, BUFFER_SIZE - recorder->used,
			   MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		record_end_feed(recorder, "netobsd has closed the connection or was killed");
		return;
	}
	recorder->used += (size_t)got;
	record_handle_lines(recorder);
}

/* --------------------------------------------------------------------------------------------------------- the loop */

/* Waits for lines, for the end of the writer, for the time of a file, or for a signal. */
static void
record_wait(struct recorder *recorder, const sigset_t *unblocked)
{
	struct pollfd ready[] = {{.fd = recorder->feed, .events = POLLIN},
				 {.fd = recorder->writer.fd, .events = POLLIN}};
	const struct record_trigger *first = recorder->writer.pid == 0 ? record_queue_first(recorder->queue) : NULL;
	uint64_t now = clock_monotonic_ns(), end = UINT64_MAX;
	struct timespec timeout;
	int got;

	if (first != NULL)
		end = recorder->stop_time != 0 ? now : first->due;
	if (recorder->stop_time != 0 && recorder->stop_time < end)
		end = recorder->stop_time;
	end = end > now ? end - now : 0;
	timeout = (struct timespec){.tv_sec = (time_t)(end / NS_PER_S), .tv_nsec = (long)(end % NS_PER_S)};
	got = ppoll(ready, 2, first != NULL || recorder->stop_time != 0 ? &timeout : NULL, unblocked);
	if (record_print_signal != 0) {
		record_print_signal = 0;
		record_print_statistics(recorder);
	}
	if (record_stop_signals > 0 && recorder->stop_time == 0) {
		recorder->stop_time = clock_monotonic_ns() + STOP_NS;
		if (recorder->feed >= 0)
			record_end_feed(recorder, NULL);
		return;
	}
	if (got <= 0)
		return;
	if (ready[1].revents != 0)
		record_finish_file(recorder);
	if (ready[0].revents != 0 && recorder->feed >= 0)
		record_read_feed(recorder);
}

/* Whether there is something left to do.  Without netobsd only the file that is being written can be completed. */
static bool
record_goes_on(const struct recorder *recorder)
{
	if (recorder->stop_time != 0 && (record_stop_signals >= 2 || clock_monotonic_ns() >= recorder->stop_time))
		return false;
	if (recorder->end != NULL)
		return recorder->writer.pid > 0;
	return recorder->stop_time == 0 || recorder->writer.pid > 0 || recorder->queue->count > 0;
}

static void
record_copy(struct recorder *recorder, const sigset_t *unblocked)
{
	while (record_goes_on(recorder)) {
		const struct record_trigger *first = record_queue_first(recorder->queue);
		uint64_t now = clock_monotonic_ns();

		if (first != NULL && recorder->writer.pid == 0 && recorder->end == NULL &&
		    (recorder->stop_time != 0 || first->due <= now))
			record_begin_file(recorder, now);
		else
			record_wait(recorder, unblocked);
	}
	if (recorder->writer.pid > 0) {
		kill(recorder->writer.pid, SIGKILL);
		record_finish_file(recorder);
	}
}

/* -------------------------------------------------------------------------------------------------------- the start */

/* Without a flight recorder every file would fail.  If there is no reply, the error of the feed is printed. */
static bool
record_check_memory(const struct recorder *recorder)
{
	char error[256];
	json_t *lines = json_read_reply(recorder->socket, "status --json\n", STATUS_REPLY_MAX, error, sizeof error);
	uint64_t memory;
	bool none = json_read_unsigned(json_array_get(lines, 0), "recorder_memory", &memory) && memory == 0;

	json_decref(lines);
	if (!none)
		return true;
	client_log_error("no frames are recorded",
			 "start netobsd with --flight-memory=SIZE, or set flight-memory in netobs.conf");
	return false;
}

/* A client that may read a feed but not write captures would fail at every file. */
static bool
record_check_permission(const struct recorder *recorder)
{
	static const char refusal[] = "only root and the user that netobsd runs as may write";
	char error[1024];
	int fd = client_open_reply(recorder->socket, PERMISSION_REQUEST, CHECK_TIMEOUT_S, error, sizeof error);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || strncmp(error, refusal, sizeof refusal - 1) != 0)
		return true;
	client_log_error(error, NULL);
	return false;
}

static bool
record_open_feed(struct recorder *recorder, const char *names)
{
	char request[CLIENT_REQUEST_MAX];
	int length = snprintf(request, sizeof request, "stream %s --fields=probe,cid,ts --json\n", names);

	if (length >= (int)sizeof request) {
		client_log_error("--on", "too many names");
		return false;
	}
	recorder->feed = client_open_stream(recorder->socket, request);
	return recorder->feed >= 0;
}

static int
record_run_settings(struct recorder *recorder, const char *names)
{
	sigset_t unblocked;
	int status = record_directory_open(&recorder->directory, recorder->path);

	if (status != EXIT_SUCCESS)
		return status;
	record_watch_signals(&unblocked);
	status = EXIT_FAILURE;
	if (!record_check_memory(recorder) || !record_check_permission(recorder)) {
		status = RECORD_USELESS;
	} else if (record_open_feed(recorder, names)) {
		record_copy(recorder, &unblocked);
		record_print_statistics(recorder);
		if (recorder->end != NULL)
			client_log_error(recorder->end, NULL);
		else
			status = EXIT_SUCCESS;
		if (recorder->feed >= 0)
			close(recorder->feed);
	}
	record_directory_close(&recorder->directory);
	return status;
}

int
record_run(const char *path, const struct record_options *options)
{
	struct recorder recorder = {
	    .socket = path, .path = options->directory, .writer = {.fd = -1}, .feed = -1};
	int status = EXIT_FAILURE;

	if (!record_settings_parse(options, &recorder.settings))
		return RECORD_USELESS;
	recorder.queue = calloc(1, sizeof *recorder.queue);
	recorder.buffer = malloc(BUFFER_SIZE);
	if (recorder.queue == NULL || recorder.buffer == NULL)
		client_log_error("out of memory", NULL);
	else
		status = record_run_settings(&recorder, options->on);
	free(recorder.queue);
	free(recorder.buffer);
	return status;
}
