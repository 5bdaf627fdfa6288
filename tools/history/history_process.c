/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that parses the packets: they are from the network, and may be made to exploit a parser. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "config/options.h"
#include "confine/privileges.h"
#include "confine/sandbox.h"
#include "observe/observer.h"
#include "observe/workers.h"
#include "tools/history/history.h"

_Static_assert(sizeof(struct history_row) == 8 + 12 * 4, "a row has no padding");

/* Connections in tunnels are observed, too: more of them at once evict each other. */
#define HISTORY_FLOWS 65536u

/* Rows that are written at once. */
#define HISTORY_BATCH 64u

/* The last row: its `end` is an enum history_result. */
#define HISTORY_END HISTORY_KINDS

/* The child: its capture is standard input, its rows go to standard output. */
struct history_child {
	struct history history;
	struct history_row rows[HISTORY_BATCH];
	size_t count;
};

/* ------------------------------------------------------------------------------------------------------- the child */

/* A parent that has closed the pipe ends this process by a signal. */
static void
history_flush(struct history_child *child)
{
	const char *at = (const char *)child->rows;
	size_t left = child->count * sizeof child->rows[0];

	while (left > 0) {
		ssize_t written = write(STDOUT_FILENO, at, left);

		if (written < 0 && errno != EINTR)
			_exit(1);
		at += written > 0 ? written : 0;
		left -= written > 0 ? (size_t)written : 0;
	}
	child->count = 0;
}

static void
history_write_row(void *context, const struct history_row *row)
{
	struct history_child *child = context;

	child->rows[child->count++] = *row;
	if (child->count == HISTORY_BATCH)
		history_flush(child);
}

/* Nothing is inherited but the capture and the pipe.  Messages and the progress of a replay go nowhere: the terminal is
 * that of the parent's screen. */
static bool
history_take_descriptors(int capture, int pipe, const struct config *config)
{
	int nowhere;

	capture = fcntl(capture, F_DUPFD, STDERR_FILENO + 1);
	pipe = fcntl(pipe, F_DUPFD, STDERR_FILENO + 1);
	if (dup2(capture, STDIN_FILENO) < 0 || dup2(pipe, STDOUT_FILENO) < 0)
		return false;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0)
		return false;
	descriptors_close_inherited(config);
	log_mute(true);
	return true;
}

/* Those of the parent would write to its screen. */
static void
history_reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < SIGRTMIN; number++)
		if (number != SIGKILL && number != SIGSTOP)
			signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Requests SIGKILL for the end of the parent, which a change of the user withdraws. */
static bool
history_confine(const struct config *config, const struct privileges *privileges, pid_t parent)
{
	const struct sandbox_process process = {.live = false};

	return privileges_drop(privileges) &&
	       prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && landlock_prepare(config) &&
	       sandbox_enter(&process) && landlock_enter();
}

static enum history_result
history_observe(struct history_child *child, struct config *config, pid_t parent)
{
	struct privileges privileges;
	struct workers *workers;
	struct loop *loop = loop_new();

	if (loop == NULL)
		return HISTORY_FAILED;
	if (!privileges_plan(config, &privileges))
		return HISTORY_UNCONFINED;
	workers = workers_open(config, loop, false, 0);
	if (workers == NULL)
		return HISTORY_DAMAGED;
	if (!history_confine(config, &privileges, parent))
		return HISTORY_UNCONFINED;
	if (!workers_start_inputs(workers) || !workers_make_observers(workers, NULL))
		return HISTORY_DAMAGED;
	history_listen(&child->history, workers->worker[0].observer);
	return workers_run(workers) == INPUT_DONE ? HISTORY_READ : HISTORY_DAMAGED;
}

static _Noreturn void
history_child_main(int capture, int pipe, pid_t parent, const struct history_ends *ends)
{
	static struct history_child child;
	struct history_row last = {.kind = HISTORY_END, .end = HISTORY_FAILED};
	struct config config;

	child.history = (struct history){.ends = *ends, .take = history_write_row, .context = &child};
	history_reset_signals();
	if (config_set_defaults(&config) && options_set(&config, "read", "-") &&
	    history_take_descriptors(capture, pipe, &config)) {
		config.view = VIEW_BOTH;
		config.flow_limits.flows = HISTORY_FLOWS;
		last.end = history_observe(&child, &config, parent);
		history_write_row(&child, &last);
		history_flush(&child);
	}
	_exit(0);
}

/* ------------------------------------------------------------------------------------------------------ the parent */

/* Rows that are in the pipe, at most `size` bytes behind the part of one that is read.  False at its end, and if the
 * process takes too long: it may be stopped, or write without end. */
static bool
history_read_rows(int pipe, char *bytes, size_t *used, size_t size, uint64_t deadline)
{
	uint64_t now = clock_monotonic_ns();
	struct pollfd ready = {.fd = pipe, .events = POLLIN};
	ssize_t got;

	if (now >= deadline)
		return false;
	got = poll(&ready, 1, (int)((deadline - now) / 1000000) + 1);
	if (got > 0)
		got = read(pipe, bytes + *used, size - *used);
	else if (got == 0)
		return false;
	*used += got > 0 ? (size_t)got : 0;
	return got > 0 || (got < 0 && errno == EINTR);
}

/* Passes on the rows.  False if the process has come to its end, as `result` says, or what it writes is not valid. */
static bool
history_pass_rows(const struct history_row *rows, size_t count, history_take *take, void *context,
		  enum history_result *result)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].kind == HISTORY_END)
			*result = rows[i].end < HISTORY_RESULTS ? (enum history_result)rows[i].end : HISTORY_FAILED;
		if (rows[i].kind == HISTORY_END || !history_row_is_valid(&rows[i]))
			return false;
		take(context, &rows[i]);
	}
	return true;
}

static enum history_result
history_receive(int pipe, history_take *take, void *context)
{
	uint64_t deadline = clock_monotonic_ns() + HISTORY_SECONDS * UINT64_C(1000000000);
	enum history_result result = HISTORY_FAILED;
	struct history_row rows[HISTORY_BATCH];
	size_t used = 0, count;

	while (history_read_rows(pipe, (char *)rows, &used, sizeof rows, deadline)) {
		count = used / sizeof rows[0];
		if (!history_pass_rows(rows, count, take, context, &result))
			break;
		used %= sizeof rows[0];
		memmove(rows, rows + count, used);
	}
	return result;
}

enum history_result
history_read_capture(int fd, const struct history_ends *ends, history_take *take, void *context)
{
	enum history_result result = HISTORY_FAILED;
	pid_t parent = getpid(), child;
	int pipe_ends[2];

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return HISTORY_FAILED;
	child = fork();
	if (child == 0)
		history_child_main(fd, pipe_ends[1], parent, ends);
	close(pipe_ends[1]);
	if (child > 0)
		result = history_receive(pipe_ends[0], take, context);
	close(pipe_ends[0]);
	if (child > 0)
		kill(child, SIGKILL); /* it has ended, or what it writes is not valid */
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}
