/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/record/record_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/log_debug.h"

/* What netobsd sends. */
#define REQUEST_COMPLETE 'c'
#define REQUEST_REMOVE	 'r'

struct record_keeper {
	int socket; /* -1: the request was sent */
	pid_t pid;
};

static ssize_t
record_keeper_read(int socket, void *to, size_t size)
{
	ssize_t got;

	do
		got = read(socket, to, size);
	while (got < 0 && errno == EINTR);
	return got;
}

/* ------------------------------------------------------------------------------------------------------ the keeper */

/* Writes the entry of a file in its directory to the disk.  Some file systems cannot, and the name is there already. */
static void
keeper_sync_directory(const char *path)
{
	char *directory = strdup(path), *slash = directory != NULL ? strrchr(directory, '/') : NULL;
	int fd;

	if (slash != NULL)
		slash[slash == directory] = '\0';
	fd = open(slash != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

/* Returns 0 or an errno. */
static int32_t
keeper_complete(int fd, const char *temporary, const char *path)
{
	if ((fsync(fd) == 0 || errno == EINVAL || errno == EROFS) && rename(temporary, path) == 0) {
		keeper_sync_directory(path);
		return 0;
	}
	return errno;
}

static void
keeper_close_others(int socket, int fd)
{
	int last = (int)sysconf(_SC_OPEN_MAX);

	for (int i = 0; i < last && i < 1024; i++)
		if (i != socket && i != fd)
			close(i);
}

static _Noreturn void
keeper_main(int socket, int fd, const char *temporary, const char *path)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGTSTP};
	char request = REQUEST_REMOVE;
	int32_t result = 0;

	/* Signals to the process group are for netobsd, which then sends a request, or ends. */
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	(void)prctl(PR_SET_NAME, "netobsd-keeper");
	keeper_close_others(socket, fd);
	if (record_keeper_read(socket, &request, 1) != 1)
		request = REQUEST_REMOVE;
	if (request == REQUEST_COMPLETE)
		result = keeper_complete(fd, temporary, path);
	if (request != REQUEST_COMPLETE || result != 0)
		(void)unlink(temporary);
	(void)!write(socket, &result, sizeof result);
	_exit(0);
}

/* --------------------------------------------------------------------------------------------------------- netobsd */

struct record_keeper *
record_keeper_start(int fd, const char *temporary, const char *path)
{
	struct record_keeper *keeper = malloc(sizeof *keeper);
	int sockets[2];
	pid_t pid;

	if (keeper == NULL)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
		free(keeper);
		return NULL;
	}
	pid = fork();
	if (pid == 0)
		keeper_main(sockets[1], fd, temporary, path);
	close(sockets[1]);
	keeper->socket = sockets[0];
	keeper->pid = pid;
	if (pid > 0) {
		log_debug(DEBUG_CONFINE, "process %d keeps %s", (int)pid, temporary);
		return keeper;
	}
	close(keeper->socket);
	free(keeper);
	return NULL;
}

/* Sends the request and waits for the result and for the end of the keeper. */
static int
record_keeper_request(struct record_keeper *keeper, char request)
{
	int32_t result = ECHILD; /* the keeper was killed */

	if (send(keeper->socket, &request, 1, MSG_NOSIGNAL) == 1 &&
	    record_keeper_read(keeper->socket, &result, sizeof result) != (ssize_t)sizeof result)
		result = ECHILD;
	close(keeper->socket);
	keeper->socket = -1;
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}

int
record_keeper_complete(struct record_keeper *keeper)
{
	return record_keeper_request(keeper, REQUEST_COMPLETE);
}

void
record_keeper_free(struct record_keeper *keeper)
{
	if (keeper == NULL)
		return;
	if (keeper->socket >= 0)
		(void)record_keeper_request(keeper, REQUEST_REMOVE);
	free(keeper);
}
