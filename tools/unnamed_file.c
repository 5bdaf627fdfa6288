/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/unnamed_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
unnamed_file_open(const char *fallback, char *error, size_t size)
{
	const char *chosen = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd = -1;

	if (chosen == NULL || *chosen == '\0')
		chosen = fallback;
	errno = ENAMETOOLONG;
	if (snprintf(path, sizeof path, "%s/netobs.XXXXXX", chosen) < (int)sizeof path)
		fd = mkstemp(path);
	if (fd < 0)
		snprintf(error, size, "cannot write to %.200s: %s", chosen, strerror(errno));
	else
		unlink(path);
	return fd;
}
