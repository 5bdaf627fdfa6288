/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/units.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"
#include "tools/write.h"
#include "tools/write_client.h"

/*
 * Triggers of netobsctl write --on: firings with a connection.  Each waits in a bounded queue until its file is due;
 * triggers of a connection that waits already are merged with it.
 */

/* Most triggers that wait; most bytes of the name of a probe or formula, with its NUL. */
#define WRITE_ON_QUEUE_MAX   4096u
#define WRITE_ON_TRIGGER_MAX 65u

struct write_on_trigger {
	char name[WRITE_ON_TRIGGER_MAX]; /* of the probe or formula: letters, digits and hyphens */
	uint64_t cid;			 /* 0: the firing has no connection */
	uint64_t ts;			 /* packet time, ns since the epoch */
	uint64_t due;			 /* monotonic time of its file, ns */
};

enum write_on_line {
	WRITE_ON_TRIGGER,
	WRITE_ON_LOST, /* netobsd has dropped lines */
	WRITE_ON_END,  /* netobsd has ended the feed */
	WRITE_ON_WRONG,
};

struct write_on_queue {
	size_t first, count;
	uint64_t connections[WRITE_ON_QUEUE_MAX]; /* by place: 0 if the place is free */
	struct write_on_trigger triggers[WRITE_ON_QUEUE_MAX];
};

/*
 * The directory of netobsctl write --on: the names of its files, and how many there are.
 *
 * A file is named 20261122T194000.123456789Z-NAME-CID.pcapng: the packet time (UTC) of the firing, the probe or formula
 * and the connection id.  Every file with such a name counts towards the limits, also those of earlier runs.
 */

#define WRITE_ON_NAME_MAX 160u /* bytes of a file name with its NUL */

struct write_on_directory {
	int fd; /* locked, so that no other run writes there */
	uint64_t files, bytes;
};

/*
 * A child process that pulls one capture from netobsd and writes its file (write_client.h), while its parent reads the
 * feed.  It ignores the signals that end its parent, so that the file is completed.
 */

#define WRITE_ON_ERROR_MAX 1024u

struct write_on_writer {
	pid_t pid; /* 0: no child runs */
	int fd;	   /* readable when the child has ended, -1: no child runs */
};

struct write_on_result {
	bool done; /* else `error` is the reason */
	struct written_capture written;
	char error[WRITE_ON_ERROR_MAX];
};

/* --------------------------------------------------------------------------------------------------------- the line */

/* A name becomes part of a file name, so its characters are checked again. */
static bool
write_on_check_name(const char *text, char name[WRITE_ON_TRIGGER_MAX])
{
	size_t length = strlen(text);

	if (length == 0 || length >= WRITE_ON_TRIGGER_MAX ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") < length || *text == '-')
		return false;
	memcpy(name, text, length + 1);
	return true;
}

/* A probe may have neither connection nor time. */
static bool
write_on_read_trigger(const json_t *object, struct write_on_trigger *trigger)
{
	const char *name = json_read_string(object, "probe");
	const json_t *cid = json_object_get(object, "cid"), *ts = json_object_get(object, "ts");

	*trigger = (struct write_on_trigger){.cid = 0};
	if (name == NULL || !write_on_check_name(name, trigger->name))
		return false;
	if ((cid == NULL || json_is_null(cid)) && (ts == NULL || json_is_null(ts)))
		return true;
	return json_read_unsigned(object, "cid", &trigger->cid) && trigger->cid > 0 &&
	       json_read_unsigned(object, "ts", &trigger->ts);
}

/* Parses a line of the feed, without its newline.  Sets `trigger` except for `due`, or `lost`. */
static enum write_on_line
write_on_line_parse(const char *line, struct write_on_trigger *trigger, uint64_t *lost)
{
	enum write_on_line kind = WRITE_ON_WRONG;
	json_t *object;

	if (*line == '\0')
		return WRITE_ON_END;
	object = json_read_object(line, strlen(line));
	if (json_read_unsigned(object, "lost", lost))
		kind = WRITE_ON_LOST;
	else if (write_on_read_trigger(object, trigger))
		kind = WRITE_ON_TRIGGER;
	json_decref(object);
	return kind;
}

/* -------------------------------------------------------------------------------------------------------- the queue */

/* The two endpoints of a connection have the ids 2n + 1 and 2n + 2. */
static uint64_t
write_on_connection(uint64_t cid)
{
	return (cid - 1) / 2 + 1;
}

/* Whether a trigger of this connection waits. */
static bool
write_on_queue_has(const struct write_on_queue *queue, uint64_t cid)
{
	uint64_t connection = write_on_connection(cid);

	for (size_t i = 0; queue->count > 0 && i < WRITE_ON_QUEUE_MAX; i++)
		if (queue->connections[i] == connection)
			return true;
	return false;
}

/* Adds a trigger, whose time is not before that of the last one.  False if the queue is full. */
static bool
write_on_queue_add(struct write_on_queue *queue, const struct write_on_trigger *trigger)
{
	size_t place = (queue->first + queue->count) % WRITE_ON_QUEUE_MAX;

	if (queue->count == WRITE_ON_QUEUE_MAX)
		return false;
	queue->triggers[place] = *trigger;
	queue->connections[place] = write_on_connection(trigger->cid);
	queue->count++;
	return true;
}

/* The trigger that is due first, NULL if no trigger waits. */
static const struct write_on_trigger *
write_on_queue_first(const struct write_on_queue *queue)
{
	return queue->count > 0 ? &queue->triggers[queue->first] : NULL;
}

static void
write_on_queue_remove_first(struct write_on_queue *queue)
{
	queue->connections[queue->first] = 0;
	queue->first = (queue->first + 1) % WRITE_ON_QUEUE_MAX;
	queue->count--;
}

/* -------------------------------------------------------------------------------------------------------- the names */

static void
write_on_name_make(char name[WRITE_ON_NAME_MAX], const struct write_on_trigger *trigger, const char *suffix)
{
	time_t seconds = (time_t)(trigger->ts / UNITS_SECOND);
	char when[32];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(when, sizeof when, "%Y%m%dT%H%M%S", &utc);
	snprintf(name, WRITE_ON_NAME_MAX, "%s.%09" PRIu64 "Z-%s-%" PRIu64 ".%s", when, trigger->ts % UNITS_SECOND,
		 trigger->name, trigger->cid, suffix);
}

/* Whether a text begins like the pattern, in which 0 is any digit. */
static bool
write_on_name_begins(const char *name, const char *pattern)
{
	for (; *pattern != '\0'; name++, pattern++)
		if (*pattern == '0' ? *name < '0' || *name > '9' : *name != *pattern)
			return false;
	return true;
}

/* Whether write_on_name_make() makes such names. */
static bool
write_on_name_is_own(const char *name)
{
	static const char when[] = "00000000T000000.000000000Z-";
	const char *cid, *dot;
	size_t length;

	if (!write_on_name_begins(name, when))
		return false;
	name += sizeof when - 1;
	length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
	dot = name + length;
	for (cid = dot; cid > name && cid[-1] >= '0' && cid[-1] <= '9';)
		cid--;
	return cid < dot && cid - name >= 2 && cid[-1] == '-' &&
	       (strcmp(dot, ".pcapng") == 0 || strcmp(dot, ".pcap") == 0 || strcmp(dot, ".snoop") == 0);
}

/* ---------------------------------------------------------------------------------------------------- the directory */

/* Counts the files.  False with errno; then the counts stay. */
static bool
write_on_directory_count(struct write_on_directory *directory)
{
	int fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t files = 0, bytes = 0;
	const struct dirent *entry;
	struct stat status;

	if (list == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((entry = readdir(list)) != NULL)
		if (write_on_name_is_own(entry->d_name) &&
		    fstatat(directory->fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode)) {
			files++;
			bytes += (uint64_t)status.st_size;
		}
	closedir(list);
	directory->files = files;
	directory->bytes = bytes;
	return true;
}

static bool
write_on_directory_has(const struct write_on_directory *directory, const char *name)
{
	struct stat status;

	return fstatat(directory->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Opens a directory and counts its files.  Returns the exit status, with a message printed unless it is EXIT_SUCCESS:
 * WRITE_ON_USELESS if files cannot be created there, EXIT_FAILURE if another run writes there. */
static int
write_on_directory_open(struct write_on_directory *directory, const char *path)
{
	char reason[OUTPUT_PATH_ERROR_MAX];
	int status = WRITE_ON_USELESS;

	*directory = (struct write_on_directory){.fd = output_path_open(path, O_RDONLY | O_DIRECTORY, reason)};
	if (directory->fd < 0) {
		client_log_error(path, reason);
		return status;
	}
	if (faccessat(directory->fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
		output_path_fail(path, reason);
		client_log_error(path, reason);
	} else if (flock(directory->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		client_log_error(path, "another netobsctl write --on writes there");
		status = EXIT_FAILURE;
	} else if (!write_on_directory_count(directory)) {
		client_log_error(path, strerror(errno));
	} else {
		return EXIT_SUCCESS;
	}
	close(directory->fd);
	return status;
}

static void
write_on_directory_close(const struct write_on_directory *directory)
{
	close(directory->fd);
}

/* ------------------------------------------------------------------------------------------------------- the writer */

/* In the child. */
static void
writer_run(const struct write_request *request, int fd)
{
	const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	struct write_on_result result = {.done = false};
	sigset_t none;

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	result.done = write_client_run(request, &result.written, result.error, sizeof result.error);
	/* Less than PIPE_BUF bytes: all or nothing. */
	_Static_assert(sizeof result <= 4096, "a result is written at once");
	if (write(fd, &result, sizeof result) != (ssize_t)sizeof result)
		_exit(1);
	_exit(0);
}

/* Starts a child, which closes its copies of the directory, whose lock ends with its parent, and of the feed, so that
 * netobsd notices the end of the parent.  False with errno. */
static bool
write_on_writer_begin(struct write_on_writer *writer, const struct write_request *request, int directory, int feed)
{
	int fds[2], error;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	writer->pid = fork();
	if (writer->pid == 0) {
		close(fds[0]);
		close(directory);
		if (feed >= 0)
			close(feed);
		writer_run(request, fds[1]);
	}
	error = errno;
	close(fds[1]);
	writer->fd = fds[0];
	if (writer->pid > 0)
		return true;
	close(fds[0]);
	*writer = (struct write_on_writer){.fd = -1};
	errno = error;
	return false;
}

/* Waits for the end of the child. */
static void
write_on_writer_finish(struct write_on_writer *writer, struct write_on_result *result)
{
	ssize_t got;

	do
		got = read(writer->fd, result, sizeof *result);
	while (got < 0 && errno == EINTR);
	close(writer->fd);
	while (waitpid(writer->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	*writer = (struct write_on_writer){.fd = -1};
	if (got == (ssize_t)sizeof *result && result->written.reason < sizeof result->error) {
		result->error[sizeof result->error - 1] = '\0';
		return;
	}
	*result = (struct write_on_result){.done = false};
	snprintf(result->error, sizeof result->error, "the process that writes it was killed");
}

/* ---------------------------------------------------------------------------------------------------------- the run */

/* More than many lines of a feed. */
#define BUFFER_SIZE ((size_t)64 * 1024)

/* A request that only a client that may write captures gets past: there is no connection with this id. */
#define PERMISSION_REQUEST "write --cid=18446744073709551615\n"

#define STATUS_REPLY_MAX ((size_t)16 * 1024)

/* Longest wait for the reply to PERMISSION_REQUEST, seconds. */
#define CHECK_TIMEOUT_S 10

/* Interval at which files are counted again while the directory is full: files may be removed. */
#define COUNT_INTERVAL_NS (2 * UNITS_SECOND)

/* Interval between two messages with one and the same reason. */
#define MESSAGE_INTERVAL_NS (60 * UNITS_SECOND)

/* After a signal: longest time for the files of the triggers that wait. */
#define STOP_NS (5 * UNITS_SECOND)

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
		write_on_handle_too_large(writing, result.error + result.written.reason);
	} else {
		counts->failures++;
		write_on_log_failure(writing, result.error + result.written.reason, clock_monotonic_ns());
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
	timeout = (struct timespec){.tv_sec = (time_t)(end / UNITS_SECOND), .tv_nsec = (long)(end % UNITS_SECOND)};
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
	json_t *lines = client_read_array(writing->socket, "status\n", STATUS_REPLY_MAX, error, sizeof error);
	uint64_t memory;
	bool known = json_read_unsigned(json_array_get(lines, 0), "flight_memory", &memory);

	if (lines != NULL && !known)
		client_log_error("the process listening there is not netobsd", "its status has no flight_memory");
	else if (known && memory == 0)
		client_log_error("no frames are kept",
				 "start netobsd with --flight-memory=SIZE, or set flight-memory in netobs.conf");
	known = lines == NULL || (known && memory > 0);
	json_decref(lines);
	return known;
}

/* A client that may read a feed but not write captures would fail at every file. */
static bool
write_on_check_permission(const struct write_on *writing)
{
	char error[1024];
	int fd = client_open_reply(writing->socket, PERMISSION_REQUEST, CHECK_TIMEOUT_S, error, sizeof error);
	bool may_write = fd >= 0 || errno != EPERM;

	if (fd >= 0)
		close(fd);
	if (may_write)
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
	client_watch_signals(write_on_on_signal, SIGUSR1, &unblocked);
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
