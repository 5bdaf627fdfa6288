/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/descriptor_path.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int
descriptor_of_path(const char *path)
{
	static const char *const streams[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; path != NULL && i < sizeof streams / sizeof streams[0]; i++)
		if (strcmp(path, streams[i]) == 0)
			return (int)i;
	for (size_t i = 0; path != NULL && i < sizeof prefixes / sizeof prefixes[0]; i++) {
		size_t length = strlen(prefixes[i]);
		const char *number = path + length;
		unsigned long fd;
		char *end;

		if (strncmp(path, prefixes[i], length) != 0 || *number < '0' || *number > '9')
			continue;
		fd = strtoul(number, &end, 10);
		if (*end == '\0' && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}
