/* SPDX-License-Identifier: BSD-2-Clause */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formulas/slots/slot_image.h"
#include "formulas/slots/slots.h"

/* The shell's descriptors. */
#define ALIVE_FD STDIN_FILENO
#define DONE_FD	 STDOUT_FILENO

bool
private_copy_make(struct private_copy *copy, const char *parent, char error[SLOT_ERROR_MAX])
{
	const struct slot_names none = {0};
	char absolute[PATH_MAX];

	*copy = (struct private_copy){.alive = -1, .done = -1, .shell = -1};
	if (!slot_path_resolve(parent, absolute, error) || !slot_path_check_directory(absolute, error))
		return false;
	if (snprintf(copy->directory, sizeof copy->directory, "%s/netobs-XXXXXX", absolute) >=
	    (int)sizeof copy->directory)
		return slot_image_fail(error, parent, strerror(ENAMETOOLONG));
	if (mkdtemp(copy->directory) == NULL)
		return slot_image_fail(error, parent, strerror(errno));
	snprintf(copy->path, sizeof copy->path, "%s/" PRIVATE_COPY_FILE, copy->directory);
	if (slot_file_create(copy->path, &none, (gid_t)-1, 0600, error))
		return true;
	rmdir(copy->directory);
	return false;
}

/* Becomes the shell.  Signals of a terminal, or of a service manager that stops netobsd, do not end it. */
static _Noreturn void
private_copy_become_shell(const struct private_copy *copy, int alive, int done)
{
	static const char script[] = "trap '' HUP INT TERM; cat >/dev/null; rm -f -- \"$1/" PRIVATE_COPY_FILE "\"; "
				     "rmdir -- \"$1\"";
	char path[] = "PATH=/usr/bin:/bin";
	char *const environment[] = {path, NULL};
	int null = open("/dev/null", O_WRONLY);

	setsid();
	/* Above the standard descriptors, so that each of the three survives until it is in its place. */
	alive = fcntl(alive, F_DUPFD, STDERR_FILENO + 1);
	done = fcntl(done, F_DUPFD, STDERR_FILENO + 1);
	if (alive >= 0 && done >= 0 && null >= 0 && dup2(null, STDERR_FILENO) >= 0 && dup2(alive, ALIVE_FD) >= 0 &&
	    dup2(done, DONE_FD) >= 0 && close_range(STDERR_FILENO + 1, ~0U, 0) == 0 && chdir("/") == 0)
		execle("/bin/sh", "sh", "-c", script, "netobs-formulas", copy->directory, (char *)NULL, environment);
	_exit(1);
}

void
private_copy_watch(struct private_copy *copy)
{
	int alive[2], done[2];

	if (pipe2(alive, O_CLOEXEC) != 0)
		return;
	if (pipe2(done, O_CLOEXEC) != 0) {
		close(alive[0]);
		close(alive[1]);
		return;
	}
	copy->shell = fork();
	if (copy->shell == 0)
		private_copy_become_shell(copy, alive[0], done[1]);
	close(alive[0]);
	close(done[1]);
	if (copy->shell > 0) {
		copy->alive = alive[1];
		copy->done = done[0];
	} else {
		close(alive[1]);
		close(done[0]);
	}
}

void
private_copy_remove(struct private_copy *copy)
{
	char byte;

	if (copy->shell > 0) {
		close(copy->alive);
		while (read(copy->done, &byte, 1) < 0 && errno == EINTR)
			;
		close(copy->done);
		waitpid(copy->shell, NULL, 0);
	}
	unlink(copy->path);
	rmdir(copy->directory);
	copy->shell = -1;
}
