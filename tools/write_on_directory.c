/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_on_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "tools/control_client.h"
#include "tools/write_on.h"

#define NS_PER_S UINT64_C(1000000000)

/* -------------------------------------------------------------------------------------------------------- the names */

void
write_on_name_make(char name[WRITE_ON_NAME_MAX], const struct write_on_trigger *trigger, const char *suffix)
{
	time_t seconds = (time_t)(trigger->ts / NS_PER_S);
	char when[32];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(when, sizeof when, "%Y%m%dT%H%M%S", &utc);
	snprintf(name, WRITE_ON_NAME_MAX, "%s.%09" PRIu64 "Z-%s-%" PRIu64 ".%s", when, trigger->ts % NS_PER_S,
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

bool
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

bool
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

bool
write_on_directory_has(const struct write_on_directory *directory, const char *name)
{
	struct stat status;

	return fstatat(directory->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

int
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

void
write_on_directory_close(const struct write_on_directory *directory)
{
	close(directory->fd);
}
