/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes read at once; a line is shorter. */
#define READ_SIZE (1u << 20)

/* Arguments are not constant. */
static char end_of_options[] = "--";

struct line_reader {
	int fd;
	size_t used;
	char *buffer;
};

/* Passes the complete lines of the buffer on, and moves the beginning of the last one to its start. */
static void
replay_split(struct line_reader *reader, void (*take)(const char *, size_t, void *), void *context)
{
	const char *at = reader->buffer, *end = reader->buffer + reader->used, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		take(at, (size_t)(newline - at), context);
		at = newline + 1;
	}
	reader->used = (size_t)(end - at);
	if (reader->used == READ_SIZE)
		reader->used = 0; /* no line of netobsd is this long */
	memmove(reader->buffer, at, reader->used);
}

static void
replay_read(int fd, void (*take)(const char *, size_t, void *), void *context)
{
	struct line_reader reader = {.fd = fd, .buffer = malloc(READ_SIZE)};
	ssize_t got;

	while (reader.buffer != NULL) {
		got = read(fd, reader.buffer + reader.used, READ_SIZE - reader.used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		reader.used += (size_t)got;
		replay_split(&reader, take, context);
	}
	free(reader.buffer);
}

/* In the child: becomes netobsd, with standard output and standard error in these files. */
static void
replay_exec(const struct replay_source *source, char *const *more, size_t more_count, int output, int errors)
{
	char **argv = calloc(source->arguments_count + more_count + 4, sizeof(*argv));
	size_t count = 0;

	if (argv == NULL || dup2(output, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		_exit(127);
	argv[count++] = source->netobsd;
	for (size_t i = 0; i < source->arguments_count; i++)
		argv[count++] = source->arguments[i];
	for (size_t i = 0; i < more_count; i++)
		argv[count++] = more[i];
	if (source->filter != NULL) {
		argv[count++] = end_of_options;
		argv[count++] = source->filter;
	}
	execv(source->netobsd, argv);
	dprintf(STDERR_FILENO, "netobsd: cannot run %s: %s\n", source->netobsd, strerror(errno));
	_exit(127);
}

/* Standard error goes to a file, so that netobsd never waits for its reader. */
static void
replay_notes(FILE *errors, void (*note)(const char *, void *), void *context)
{
	char *line = NULL;
	size_t size = 0;

	rewind(errors);
	while (getline(&line, &size, errors) > 0) {
		line[strcspn(line, "\n")] = '\0';
		note(line, context);
	}
	free(line);
}

/* Passes an error of this program on like those of netobsd; -1. */
static int
replay_fail(int error, void (*note)(const char *, void *), void *context)
{
	char line[256];

	snprintf(line, sizeof(line), "netobsd: cannot run netobsd: %s", strerror(error));
	note(line, context);
	return -1;
}

/* The exit status; -1 if a signal ended netobsd. */
static int
replay_status(int status, void (*note)(const char *, void *), void *context)
{
	char line[256];

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	snprintf(line, sizeof(line), "netobsd: the replay was ended by signal %d, %s", WTERMSIG(status),
		 strsignal(WTERMSIG(status)));
	note(line, context);
	return -1;
}

int
replay_run_netobsd(const struct replay_source *source, char *const *more, size_t more_count,
		   void (*take)(const char *line, size_t length, void *context),
		   void (*note)(const char *line, void *context), void *context)
{
	FILE *errors = tmpfile();
	int ends[2], status = 0, error;
	pid_t child;

	if (errors == NULL)
		return replay_fail(errno, note, context);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		error = errno;
		fclose(errors);
		return replay_fail(error, note, context);
	}
	/* A larger pipe saves half of the changes between the two processes. */
	(void)fcntl(ends[1], F_SETPIPE_SZ, READ_SIZE);
	child = fork();
	error = errno;
	if (child == 0)
		replay_exec(source, more, more_count, ends[1], fileno(errors));
	close(ends[1]);
	if (child > 0)
		replay_read(ends[0], take, context);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	replay_notes(errors, note, context);
	fclose(errors);
	return child > 0 ? replay_status(status, note, context) : replay_fail(error, note, context);
}
