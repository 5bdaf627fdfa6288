/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/confine/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/log_debug.h"

/* A capture must never get the descriptor of a standard stream: printed or logged text would be sent through it. */
void
descriptors_occupy_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* ---------------------------------------------------------------------------------------------------------- closing */

/* The descriptor in /dev/fd/N or /proc/self/fd/N, 0 for another path. */
static unsigned
descriptors_parse_path(const char *path)
{
	static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; path != NULL && i < sizeof prefixes / sizeof prefixes[0]; i++) {
		size_t length = strlen(prefixes[i]);
		char *end;
		unsigned long fd;

		if (strncmp(path, prefixes[i], length) != 0)
			continue;
		fd = strtoul(path + length, &end, 10);
		if (end != path + length && *end == '\0' && fd <= INT_MAX)
			return (unsigned)fd;
	}
	return 0;
}

/* The lowest descriptor from `from` on that the configuration names, UINT_MAX for none. */
static unsigned
descriptors_next_named(const struct config *config, unsigned from)
{
	unsigned lowest = UINT_MAX, fd = descriptors_parse_path(config->config_path);

	if (fd >= from)
		lowest = fd;
	fd = descriptors_parse_path(config->records_path);
	if (fd >= from && fd < lowest)
		lowest = fd;
	for (size_t i = 0; config->capture_paths[i] != NULL; i++) {
		fd = descriptors_parse_path(config->capture_paths[i]);
		if (fd >= from && fd < lowest)
			lowest = fd;
	}
	return lowest;
}

/* For kernels before 5.9.  Descriptors are closed after the directory is read, since closing may change it. */
static void
descriptors_close_listed(unsigned first, unsigned last)
{
	DIR *directory;
	const struct dirent *entry;
	unsigned long highest = 0;

	directory = opendir("/proc/self/fd");
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10);

		highest = fd > highest ? fd : highest;
	}
	if (directory == NULL)
		highest = (unsigned long)sysconf(_SC_OPEN_MAX);
	else
		closedir(directory);
	for (unsigned long fd = first; fd <= last && fd <= highest && fd <= INT_MAX; fd++)
		close((int)fd);
}

static void
descriptors_close_range(unsigned first, unsigned last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0u) == 0)
		return;
#endif
	descriptors_close_listed(first, last);
}

void
descriptors_close_inherited(const struct config *config)
{
	unsigned first = STDERR_FILENO + 1, named;

	while ((named = descriptors_next_named(config, first)) != UINT_MAX) {
		descriptors_close_range(first, named - 1);
		log_debug(DEBUG_CONFINE, "descriptor %u stays open, because the configuration names it", named);
		first = named + 1;
	}
	descriptors_close_range(first, UINT_MAX);
}
