/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/unnamed_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/path.h"

int
unnamed_file_open(const char *fallback, char *error, size_t size)
{
	const char *chosen = getenv("TMPDIR");
	char reason[OUTPUT_PATH_ERROR_MAX];
	int fd;

	if (chosen == NULL || *chosen == '\0')
		chosen = fallback;
	fd = output_path_open_unnamed(chosen, reason);
	if (fd >= 0)
		(void)fcntl(fd, F_SETFD, 0);
	else
		snprintf(error, size, "cannot write to %.200s: %s", chosen, reason);
	return fd;
}
