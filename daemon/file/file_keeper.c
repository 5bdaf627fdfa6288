/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/file/file_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

/* What netobsd sends. */
#define REQUEST_COMPLETE 'c'
#define REQUEST_REMOVE	 'r'

struct file_keeper {
	int socket; /* -1: the request was sent */
	pid_t pid;
};

static ssize_t
file_keeper_read(int socket, void *to, size_t size)
{
	ssize_t got;

	do
		got = read(socket, to, size);
	while (got < 0 && errno == EINTR);
	return got;
}

/* ------------------------------------------------------------------------------------------------------ the keeper */

/* Whether the file still has its temporary name. */
static bool
keeper_has_name(const struct kept_file *file)
{
	struct stat open, named;

	return fstat(file->fd, &open) == 0 &&
	       fstatat(file->directory, file->temporary, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* Writes the entry of a file in its directory to the disk.  Some file systems cannot, and the name is there already. */
static void
keeper_sync_directory(const struct kept_file *file)
{
	int fd = openat(file->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

/* Returns 0 or an errno. */
static int32_t
keeper_complete(const struct kept_file *file)
{
	if (fsync(file->fd) != 0 && errno != EINVAL && errno != EROFS)
		return errno;
	if (!keeper_has_name(file))
		return ENOENT;
	if (renameat(file->directory, file->temporary, file->directory, file->name) != 0)
		return errno;
	keeper_sync_directory(file);
	return 0;
}

static void
keeper_close_others(int socket, const struct kept_file *file)
{
	int kept = socket > file->fd ? socket : file->fd;
	long end = sysconf(_SC_OPEN_MAX);

	kept = kept > file->directory ? kept : file->directory;
	for (int i = 0; i < kept; i++)
		if (i != socket && i != file->fd && i != file->directory)
			close(i);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, kept + 1, UINT_MAX, 0u) == 0)
		return;
#endif
	for (long i = kept + 1; i < end; i++) /* kernels before 5.9 */
		close((int)i);
}

/* All signals are blocked: those to the process group are for netobsd, which then sends a request, or ends. */
static _Noreturn void
keeper_main(int socket, const struct kept_file *file)
{
	char request = REQUEST_REMOVE;
	int32_t result = 0;

	(void)prctl(PR_SET_NAME, "netobsd-keeper");
	keeper_close_others(socket, file);
	if (file_keeper_read(socket, &request, 1) != 1)
		request = REQUEST_REMOVE;
	if (request == REQUEST_COMPLETE)
		result = keeper_complete(file);
	if ((request != REQUEST_COMPLETE || result != 0) && keeper_has_name(file))
		(void)unlinkat(file->directory, file->temporary, 0);
	(void)!send(socket, &result, sizeof result, MSG_NOSIGNAL);
	_exit(0);
}

/* --------------------------------------------------------------------------------------------------------- netobsd */

struct file_keeper *
file_keeper_start(const struct kept_file *file)
{
	struct file_keeper *keeper = malloc(sizeof *keeper);
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
		keeper_main(sockets[1], file);
	close(sockets[1]);
	keeper->socket = sockets[0];
	keeper->pid = pid;
	if (pid > 0) {
		log_debug(DEBUG_CONFINE, "process %d keeps %s", (int)pid, file->temporary);
		return keeper;
	}
	close(keeper->socket);
	free(keeper);
	return NULL;
}

/* Sends the request and waits for the result and for the end of the keeper. */
static int
file_keeper_request(struct file_keeper *keeper, char request)
{
	int32_t result = ECHILD; /* the keeper was killed */

	if (send(keeper->socket, &request, 1, MSG_NOSIGNAL) == 1 &&
	    file_keeper_read(keeper->socket, &result, sizeof result) != (ssize_t)sizeof result)
		result = ECHILD;
	close(keeper->socket);
	keeper->socket = -1;
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}

int
file_keeper_complete(struct file_keeper *keeper)
{
	return file_keeper_request(keeper, REQUEST_COMPLETE);
}

void
file_keeper_free(struct file_keeper *keeper)
{
	if (keeper == NULL)
		return;
	if (keeper->socket >= 0)
		(void)file_keeper_request(keeper, REQUEST_REMOVE);
	free(keeper);
}
