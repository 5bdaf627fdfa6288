/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor_path.h"
#include "base/log_debug.h"
#include "base/trusted_path.h"
#include "confine/privileges.h"

/* A capture must never get the descriptor of a standard stream: printed or logged text would be sent through it. */
static void
descriptors_occupy_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void
descriptors_begin_program(char *name)
{
	program_invocation_short_name = name;
	descriptors_occupy_standard();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	trusted_path_require(privileges_are_held(), geteuid());
}

/* ---------------------------------------------------------------------------------------------------------- closing */

/* Keeps the lowest descriptor from `from` on. */
static void
descriptors_take_path(const char *path, unsigned from, unsigned *lowest)
{
	int fd = descriptor_of_path(path);

	if (fd >= 0 && (unsigned)fd >= from && (unsigned)fd < *lowest)
		*lowest = (unsigned)fd;
}

/* The lowest descriptor from `from` on that the configuration names, UINT_MAX for none. */
static unsigned
descriptors_next_named(const struct config *config, unsigned from)
{
	unsigned lowest = UINT_MAX;

	descriptors_take_path(config->config_path, from, &lowest);
	descriptors_take_path(config->records_path, from, &lowest);
	for (size_t i = 0; config->capture_paths[i] != NULL; i++)
		descriptors_take_path(config->capture_paths[i], from, &lowest);
	for (size_t i = 0; config->writes[i] != NULL; i++) /* NAME=FILE, as the options have checked */
		descriptors_take_path(strchr(config->writes[i], '=') + 1, from, &lowest);
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
