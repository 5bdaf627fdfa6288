/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/replay/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/replay/history_lines.h"
#include "tools/replay/replay.h"
#include "tools/write_client.h"

/* Room for the last line. */
#define HISTORY_END 128u

struct history_run {
	struct history_lines lines;
	char *error;
	size_t size;
};

static void
history_print_end(const char *address, const char *port, char text[HISTORY_END_SIZE])
{
	snprintf(text, HISTORY_END_SIZE, strchr(address, ':') != NULL ? "[%s]:%s" : "%s:%s", address, port);
}

static void
history_take_line(const char *line, size_t length, void *context)
{
	struct history_run *run = context;

	history_lines_add(line, length, &run->lines);
}

/* The last message of netobsd is the reason if it fails. */
static void
history_take_note(const char *line, void *context)
{
	struct history_run *run = context;

	snprintf(run->error, run->size, "%s", line);
}

/* The netobsd of NETOBSD, that beside this program (as in a build directory), or the installed one. */
static void
history_find_netobsd(char *path, size_t size)
{
	const char *named = getenv("NETOBSD");
	ssize_t length = named == NULL ? readlink("/proc/self/exe", path, size - 1) : -1;
	char *name;

	if (length > 0) {
		path[length] = '\0';
		name = strrchr(path, '/') + 1;
		snprintf(name, size - (size_t)(name - path), "netobsd");
		if (access(path, X_OK) == 0)
			return;
	}
	snprintf(path, size, "%s", named != NULL ? named : SBINDIR "/netobsd");
}

static bool
history_replay(struct history_run *run, int fd)
{
	char path[32], read_option[] = "-r", netobsd[4096];
	char *const arguments[] = {read_option, path};
	char view[] = "--view=both", print[] = "--print=" HISTORY_PROBES;
	char *const more[] = {view, print};
	struct replay_source source = {.netobsd = netobsd, .arguments = arguments, .arguments_count = 2};

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	history_find_netobsd(netobsd, sizeof netobsd);
	return replay_run_netobsd(&source, more, 2, history_take_line, history_take_note, run) == 0;
}

bool
history_read(const struct history_request *request, char *text, char *error, size_t size)
{
	struct history_run run = {
	    .lines = {.text = text, .size = HISTORY_TEXT_MAX - HISTORY_END}, .error = error, .size = size};
	struct written_capture written;
	int fd = write_client_open(request->socket, request->cid, &written, error, size);
	bool done;

	if (fd < 0) {
		errno = written.failure;
		return false;
	}
	history_print_end(request->local_address, request->local_port, run.lines.local);
	history_print_end(request->remote_address, request->remote_port, run.lines.remote);
	text[0] = '\0';
	snprintf(error, size, "netobsd has not replayed the packets");
	done = history_replay(&run, fd);
	close(fd);
	errno = EIO;
	if (!done)
		return false;
	error[0] = '\0';
	if (run.lines.used == 0) {
		snprintf(error, size, "the flight memory has no packets of connection %llu",
			 (unsigned long long)request->cid);
		errno = ENODATA;
		return false;
	}
	if (run.lines.cut || written.cut)
		snprintf(text + run.lines.used, HISTORY_END, "%s\n",
			 written.cut ? "Earlier packets are not in the flight memory any more."
				     : "Earlier packets are not shown.");
	return true;
}
