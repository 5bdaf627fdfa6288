/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/lib/scratch_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch_path[64];

const char *
scratch_dir_make(const char *name)
{
	snprintf(scratch_path, sizeof scratch_path, "/tmp/netobs-test-%s.XXXXXX", name);
	return mkdtemp(scratch_path) != NULL && chdir(scratch_path) == 0 ? scratch_path : NULL;
}

int
scratch_dir_remove(void)
{
	char command[sizeof scratch_path + sizeof "rm -rf "];

	snprintf(command, sizeof command, "rm -rf %s", scratch_path);
	return chdir("/") == 0 ? system(command) : -1;
}
