/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory of netobsctl write --on: the names of its files, and how many there are.
 *
 * A file is named 20261122T194000.123456789Z-NAME-CID.pcapng: the packet time (UTC) of the firing, the probe or formula
 * and the connection id.  Every file with such a name counts towards the limits, also those of earlier runs.
 */
#ifndef NETOBS_TOOLS_WRITE_ON_DIRECTORY_H
#define NETOBS_TOOLS_WRITE_ON_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/write_on_queue.h"

#define WRITE_ON_NAME_MAX 160u /* bytes of a file name with its NUL */

struct write_on_directory {
	int fd; /* locked, so that no other run writes there */
	uint64_t files, bytes;
};

/* Opens a directory and counts its files.  Returns the exit status, with a message printed unless it is EXIT_SUCCESS:
 * WRITE_ON_USELESS if files cannot be created there, EXIT_FAILURE if another run writes there. */
int write_on_directory_open(struct write_on_directory *directory, const char *path);
void write_on_directory_close(const struct write_on_directory *directory);

/* Counts the files.  False with errno; then the counts stay. */
bool write_on_directory_count(struct write_on_directory *directory);

bool write_on_directory_has(const struct write_on_directory *directory, const char *name);

void write_on_name_make(char name[WRITE_ON_NAME_MAX], const struct write_on_trigger *trigger, const char *suffix);

/* Whether write_on_name_make() makes such names. */
bool write_on_name_is_own(const char *name);

#endif
