/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/file/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/output.h"
#include "base/path.h"
#include "daemon/file/file_keeper.h"

/* Most names that are tried for a temporary file: others may be left of processes that were killed. */
#define NAMES_TRIED 100

struct output_file {
	int fd;			      /* -1: not open */
	bool is_stdout, is_empty, is_cut;
	struct file_keeper *keeper; /* NULL: the file has its name already */
	const char *path;	      /* borrowed; NULL for standard output */
	char temporary[PATH_MAX + 32];
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

/* Opens a file of a new name in the directory. */
static bool
output_file_open_new(struct output_file *file, int directory, const char *name)
{
	for (unsigned i = 0; i < NAMES_TRIED; i++) {
		int length = snprintf(file->temporary, sizeof file->temporary, "%s.%d.%u.tmp", name, (int)getpid(), i);

		if (length < 0 || (size_t)length >= sizeof file->temporary) {
			errno = ENAMETOOLONG;
			return false;
		}
		file->fd = openat(directory, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				  OUTPUT_FILE_MODE);
		if (file->fd >= 0 || errno != EEXIST)
			break;
	}
	return file->fd >= 0;
}

static bool
output_file_create_kept(struct output_file *file, int directory, const char *name)
{
	struct kept_file kept = {.directory = directory, .temporary = file->temporary, .name = name};
	int error;

	if (!output_file_open_new(file, directory, name))
		return false;
	kept.fd = file->fd;
	file->keeper = file_keeper_start(&kept);
	if (file->keeper != NULL)
		return true;
	error = errno;
	(void)unlinkat(directory, file->temporary, 0);
	errno = error;
	return false;
}

/* Creates the file under another name.  Signals are blocked until it has a keeper. */
static bool
output_file_create(struct output_file *file, char error[OUTPUT_PATH_ERROR_MAX])
{
	const char *name;
	int directory = output_path_open_directory(file->path, O_PATH, &name, error);
	sigset_t all, before;
	bool good;

	if (directory < 0)
		return false;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	good = output_file_create_kept(file, directory, name);
	if (!good)
		output_path_fail(file->path, error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(directory);
	return good;
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

/* The directory for temporary files of this file.  False with errno. */
static bool
output_file_find_temporary(const struct output_file *file, char directory[PATH_MAX])
{
	const char *chosen = getenv("TMPDIR"), *name;

	if (file->keeper != NULL)
		return output_path_split(file->path, directory, &name);
	if (chosen == NULL || *chosen == '\0')
		chosen = "/tmp";
	errno = ENAMETOOLONG;
	return snprintf(directory, PATH_MAX, "%s", chosen) < PATH_MAX;
}

int
output_file_open_temporary(const struct output_file *file)
{
	char directory[PATH_MAX] = "", error[OUTPUT_PATH_ERROR_MAX];
	int fd = -1;

	if (output_file_find_temporary(file, directory))
		fd = output_path_open_unnamed(directory, error);
	else
		snprintf(error, sizeof error, "%s", strerror(errno));
	if (fd < 0)
		log_error("cannot create a temporary file in %s: %s%s", directory, error,
			  file->keeper == NULL ? "; set TMPDIR to another directory" : "");
	return fd;
}
