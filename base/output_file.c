/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/output.h"
#include "base/path.h"

/* ----------------------------------------------------------------------------------------------- complete or absent */

#define HIDDEN_SUFFIX ".netobs-part"

/* Attempts to take the hidden name. */
#define CLAIMS_TRIED 16u

struct complete_file {
	int fd, directory; /* -1: none */
	unsigned flags;
	bool hidden; /* the file has its hidden name */
	char name[NAME_MAX + 1], hidden_name[NAME_MAX + 1];
};

/* Splits the path.  False with errno. */
static bool
file_set_names(struct complete_file *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	int length;

	errno = ENAMETOOLONG;
	if (strlen(name) > NAME_MAX)
		return false;
	errno = *path == '\0' ? ENOENT : EISDIR;
	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	snprintf(file->name, sizeof file->name, "%s", name);
	length = snprintf(file->hidden_name, sizeof file->hidden_name, ".%.*s" HIDDEN_SUFFIX,
			  NAME_MAX - 1 - (int)sizeof HIDDEN_SUFFIX, name);
	errno = ENAMETOOLONG;
	return length > 0 && (size_t)length < sizeof file->hidden_name;
}

/* Only a regular file is replaced, or a symbolic link if the caller has checked what it stands for: /dev/stdout is one.
 * False with errno. */
static bool
file_may_replace(const struct complete_file *file)
{
	struct stat status;

	if (fstatat(file->directory, file->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT;
	errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
	return S_ISREG(status.st_mode) || ((file->flags & COMPLETE_FILE_LINKS) != 0 && S_ISLNK(status.st_mode));
}

/* Whether an open file has the hidden name. */
static bool
file_has_hidden_name(const struct complete_file *file, int fd)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 &&
	       fstatat(file->directory, file->hidden_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/* Removes the file with the hidden name if no process has locked it: a killed program left it there.  False with errno
 * if another program is writing it. */
static bool
file_remove_leftover(const struct complete_file *file)
{
	int fd = openat(file->directory, file->hidden_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool removed = true;

	if (fd < 0 && errno == ELOOP) /* a symbolic link is another user's, and never what a killed program left */
		return unlinkat(file->directory, file->hidden_name, 0) == 0;
	if (fd < 0)
		return errno == ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		errno = EBUSY;
		removed = false;
	} else if (file_has_hidden_name(file, fd)) {
		/* Only the holder of the lock removes or renames the file of this name. */
		removed = unlinkat(file->directory, file->hidden_name, 0) == 0;
	}
	close(fd);
	return removed;
}

/* The path by which linkat() reaches a file without a name. */
static void
file_descriptor_path(const struct complete_file *file, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", file->fd);
}

/* Opens a file without a name.  False with errno: ENOENT also if it could not get a name later, because /proc is not
 * mounted (AT_EMPTY_PATH needs a capability). */
static bool
file_open_unnamed(struct complete_file *file)
{
	char descriptor[64];

	file->fd = openat(file->directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, OUTPUT_FILE_MODE);
	if (file->fd < 0)
		return false;
	file_descriptor_path(file, descriptor);
	if (access(descriptor, F_OK) == 0)
		return true;
	close(file->fd);
	file->fd = -1;
	errno = ENOENT;
	return false;
}

/* Gives a file without a name its hidden name.  False with errno. */
static bool
file_link_hidden(struct complete_file *file)
{
	char descriptor[64];

	file_descriptor_path(file, descriptor);
	for (unsigned i = 0; i < CLAIMS_TRIED && !file->hidden; i++) {
		file->hidden = linkat(AT_FDCWD, descriptor, file->directory, file->hidden_name, AT_SYMLINK_FOLLOW) == 0;
		if (!file->hidden && (errno != EEXIST || !file_remove_leftover(file)))
			return false;
	}
	return file->hidden;
}

/* Creates a file with the hidden name.  False with errno. */
static bool
file_create_hidden(struct complete_file *file)
{
	struct stat status;

	for (unsigned i = 0; i < CLAIMS_TRIED; i++) {
		file->fd = openat(file->directory, file->hidden_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				  OUTPUT_FILE_MODE);
		if (file->fd < 0 && (errno != EEXIST || !file_remove_leftover(file)))
			return false;
		if (file->fd < 0)
			continue;
		/* Another program may have taken it for a leftover before it was locked. */
		file->hidden =
		    flock(file->fd, LOCK_EX | LOCK_NB) == 0 && fstat(file->fd, &status) == 0 && status.st_nlink > 0;
		if (file->hidden)
			return true;
		close(file->fd);
		file->fd = -1;
	}
	errno = EBUSY;
	return false;
}

static bool
file_begin(struct complete_file *file)
{
	bool hidden = (file->flags & COMPLETE_FILE_HIDDEN) != 0;

	if (!file_may_replace(file) || !file_remove_leftover(file))
		return false;
	if (!hidden && file_open_unnamed(file))
		return flock(file->fd, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK;
	if (!hidden && errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return false;
	return file_create_hidden(file);
}

struct complete_file *
complete_file_open(const char *path, unsigned flags, char error[OUTPUT_PATH_ERROR_MAX])
{
	struct complete_file *file = malloc(sizeof *file);
	const char *name;

	if (file == NULL) {
		output_path_fail(path, error);
		return NULL;
	}
	*file = (struct complete_file){.fd = -1, .directory = -1, .flags = flags};
	if (!file_set_names(file, path)) {
		output_path_fail(path, error);
	} else if ((file->directory = output_path_open_directory(path, O_PATH, &name, error)) >= 0) {
		if (file_begin(file))
			return file;
		if (errno == EBUSY)
			snprintf(error, OUTPUT_PATH_ERROR_MAX, "another program is writing it");
		else if (errno == EEXIST)
			snprintf(error, OUTPUT_PATH_ERROR_MAX, "it exists and is not a regular file");
		else
			output_path_fail(path, error);
	}
	complete_file_discard(file);
	return NULL;
}

int
complete_file_fd(const struct complete_file *file)
{
	return file->fd;
}

/* Writes the entry of a file in its directory to the disk.  Some file systems cannot, and the name is there already. */
static void
file_sync_directory(const struct complete_file *file)
{
	int fd = openat(file->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

/* Returns 0 or an errno. */
static int
file_complete(struct complete_file *file)
{
	if (fsync(file->fd) != 0 && errno != EINVAL && errno != EROFS)
		return errno;
	if (!file->hidden && !file_link_hidden(file))
		return errno;
	if (!file_has_hidden_name(file, file->fd))
		return ENOENT;
	if (!file_may_replace(file) ||
	    renameat(file->directory, file->hidden_name, file->directory, file->name) != 0)
		return errno;
	file->hidden = false;
	file_sync_directory(file);
	return 0;
}

int
complete_file_publish(struct complete_file *file)
{
	int error = file_complete(file);

	complete_file_discard(file);
	return error;
}

void
complete_file_discard(struct complete_file *file)
{
	int error = errno;

	if (file == NULL)
		return;
	if (file->hidden && file_has_hidden_name(file, file->fd))
		(void)unlinkat(file->directory, file->hidden_name, 0);
	if (file->fd >= 0)
		close(file->fd);
	if (file->directory >= 0)
		close(file->directory);
	free(file);
	errno = error;
}

bool
output_write_all(int fd, const void *from, size_t size)
{
	const char *at = from;

	while (size > 0) {
		ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		at += done;
		size -= (size_t)done;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------ the keeper */

/*
 * A process that gives a file its name when it is complete, or removes it.  netobsd itself can do neither once it is
 * confined, and nothing removes the file of a netobsd that was killed.  The keeper does nothing but wait for one of two
 * requests; if netobsd ends without one, it removes the file.
 */

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

static void
keeper_close_others(int socket, const struct complete_file *file)
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
keeper_main(int socket, struct complete_file *file)
{
	char request = REQUEST_REMOVE;
	int32_t result = 0;

	(void)prctl(PR_SET_NAME, "netobsd-keeper");
	keeper_close_others(socket, file);
	if (file_keeper_read(socket, &request, 1) == 1 && request == REQUEST_COMPLETE)
		result = complete_file_publish(file);
	else
		complete_file_discard(file);
	(void)!send(socket, &result, sizeof result, MSG_NOSIGNAL);
	_exit(0);
}

/* Starts the keeper of a file, which is its own from then on; all signals are blocked.  There are no other threads yet,
 * and the process is not confined.  NULL with errno. */
static struct file_keeper *
file_keeper_start(struct complete_file *file)
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
		log_debug(DEBUG_CONFINE, "process %d keeps %s", (int)pid, file->name);
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

/* Writes the file to the disk and gives it its name.  Returns 0 or an errno; then there is no file. */
static int
file_keeper_complete(struct file_keeper *keeper)
{
	return file_keeper_request(keeper, REQUEST_COMPLETE);
}

/* Removes the file, unless it is complete, and ends the keeper.  NULL is allowed. */
static void
file_keeper_free(struct file_keeper *keeper)
{
	if (keeper == NULL)
		return;
	if (keeper->socket >= 0)
		(void)file_keeper_request(keeper, REQUEST_REMOVE);
	free(keeper);
}

/* ------------------------------------------------------------------------------------------------- outputs of a run */

struct output_file {
	int fd;			      /* -1: not open */
	bool is_stdout, is_empty, is_cut;
	struct file_keeper *keeper; /* NULL: the file has its name already */
	const char *path;	      /* borrowed; NULL for standard output */
};

int
output_file_fd(const struct output_file *file)
{
	return file->is_stdout ? output_fd(OUTPUT_STDOUT) : file->fd;
}

bool
output_file_is_empty(const struct output_file *file)
{
	return file->is_empty;
}

bool
output_file_is_cut(const struct output_file *file)
{
	return file->is_cut;
}

const char *
output_file_name(const struct output_file *file)
{
	return file->is_stdout ? "standard output" : file->path;
}

bool
output_file_is_same(const char *path, const char *other)
{
	char directory[PATH_MAX], other_directory[PATH_MAX];
	const char *name, *other_name;
	struct stat status, other_status;

	return output_path_split(path, directory, &name) && output_path_split(other, other_directory, &other_name) &&
	       strcmp(name, other_name) == 0 && stat(directory, &status) == 0 &&
	       stat(other_directory, &other_status) == 0 && status.st_dev == other_status.st_dev &&
	       status.st_ino == other_status.st_ino;
}

/* Creates the file under its hidden name.  Signals are blocked until it has a keeper. */
static bool
output_file_create(struct output_file *file, char error[OUTPUT_PATH_ERROR_MAX])
{
	struct complete_file *complete;
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	complete = complete_file_open(file->path, COMPLETE_FILE_LINKS | COMPLETE_FILE_HIDDEN, error);
	if (complete != NULL) {
		file->keeper = file_keeper_start(complete);
		if (file->keeper == NULL) {
			output_path_fail(file->path, error);
		} else {
			file->fd = complete->fd;
			complete->fd = -1;
			complete->hidden = false; /* it is the keeper's */
		}
		complete_file_discard(complete);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return file->fd >= 0;
}

/* Whether the path stands for an open descriptor. */
static bool
output_file_is_descriptor(const char *path)
{
	static const char *const prefixes[] = {"/dev/fd/", "/dev/std", "/proc/"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Whether the last line of a regular file has no end: a run before may have ended on a full disk. */
static bool
output_file_breaks_off(const struct output_file *file)
{
	char path[32], last = '\n';
	struct stat status;
	int fd;

	if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return false;
	snprintf(path, sizeof path, "/proc/self/fd/%d", file->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC); /* the first one is for writing only */
	if (fd >= 0 && pread(fd, &last, 1, status.st_size - 1) != 1)
		last = '\n';
	if (fd >= 0)
		close(fd);
	return last != '\n';
}

/* Whether an open descriptor may be written, if it is one.  Another opening of it could be: a closed standard stream is
 * /dev/null, opened for reading. */
static bool
output_file_check_descriptor(int fd)
{
	int flags = fd >= 0 ? fcntl(fd, F_GETFL) : O_WRONLY;

	if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
		return true;
	errno = EBADF;
	return false;
}

/* What exists under the name is replaced at the end, unless it is a device, a FIFO or a socket. */
static bool
output_file_open_path(struct output_file *file, bool append, char error[OUTPUT_PATH_ERROR_MAX])
{
	struct stat status;
	bool exists = stat(file->path, &status) == 0;

	file->is_empty = !exists || status.st_size == 0;
	if (exists && S_ISDIR(status.st_mode)) {
		snprintf(error, OUTPUT_PATH_ERROR_MAX, "%s", strerror(EISDIR));
		return false;
	}
	if (!output_file_check_descriptor(descriptor_of_path(file->path))) {
		snprintf(error, OUTPUT_PATH_ERROR_MAX, "%s", strerror(errno));
		return false;
	}
	if (!append && (!exists || S_ISREG(status.st_mode)) && !output_file_is_descriptor(file->path))
		return output_file_create(file, error);
	file->fd = output_path_open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, error);
	file->is_cut = file->fd >= 0 && append && output_file_breaks_off(file);
	return file->fd >= 0;
}

struct output_file *
output_file_open(const char *path, bool append, char error[OUTPUT_PATH_ERROR_MAX])
{
	struct output_file *file = calloc(1, sizeof *file);

	if (file == NULL) {
		snprintf(error, OUTPUT_PATH_ERROR_MAX, "%s", strerror(ENOMEM));
		return NULL;
	}
	*file = (struct output_file){.fd = -1, .path = path, .is_stdout = path == NULL, .is_empty = true};
	if (file->is_stdout || output_file_open_path(file, append, error))
		return file;
	output_file_free(file);
	return NULL;
}

bool
output_file_is_input(const char *path, const char *const *inputs)
{
	struct stat output, input;

	if (path == NULL || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
		return false;
	for (size_t i = 0; inputs[i] != NULL; i++)
		if ((strcmp(inputs[i], "-") == 0 ? fstat(STDIN_FILENO, &input) : stat(inputs[i], &input)) == 0 &&
		    input.st_dev == output.st_dev && input.st_ino == output.st_ino)
			return true;
	return false;
}

int
output_file_complete(struct output_file *file)
{
	int error = 0;

	if (file->keeper != NULL)
		error = file_keeper_complete(file->keeper);
	return error;
}

void
output_file_free(struct output_file *file)
{
	if (file == NULL)
		return;
	file_keeper_free(file->keeper);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

/* ------------------------------------------------------------------------------------------------- temporary files */

static const char *
file_temporary_directory(const char *fallback)
{
	const char *chosen = getenv("TMPDIR");

	return chosen != NULL && *chosen != '\0' ? chosen : fallback;
}

int
output_file_open_unnamed(const char *fallback, char error[OUTPUT_PATH_ERROR_MAX])
{
	const char *directory = file_temporary_directory(fallback);
	char reason[OUTPUT_PATH_ERROR_MAX];
	int fd = output_path_open_unnamed(directory, reason);

	if (fd < 0)
		snprintf(error, OUTPUT_PATH_ERROR_MAX, "%.200s: %.*s", directory, OUTPUT_PATH_ERROR_MAX - 210, reason);
	return fd;
}

int
output_file_open_temporary(const struct output_file *file)
{
	char beside[PATH_MAX], error[OUTPUT_PATH_ERROR_MAX];
	const char *directory = beside, *name;
	int fd;

	if (file->keeper == NULL)
		directory = file_temporary_directory("/tmp");
	else
		(void)output_path_split(file->path, beside, &name);
	fd = output_path_open_unnamed(directory, error);
	if (fd < 0)
		log_error("cannot create a temporary file in %s: %s%s", directory, error,
			  file->keeper == NULL ? "; set TMPDIR to another directory" : "");
	return fd;
}
