/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_on_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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
	/* Less than PIPE_BUF bytes: all or none. */
	_Static_assert(sizeof result <= 4096, "a result is written at once");
	if (write(fd, &result, sizeof result) != (ssize_t)sizeof result)
		_exit(1);
	_exit(0);
}

bool
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

void
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
	if (got == (ssize_t)sizeof *result) {
		result->error[sizeof result->error - 1] = '\0';
		return;
	}
	*result = (struct write_on_result){.done = false};
	snprintf(result->error, sizeof result->error, "the process that writes it was killed");
}
