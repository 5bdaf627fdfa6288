/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory of netobsctl record: the names of its files, and how many there are.
 *
 * A file is named 20261122T194000.123456789Z-NAME-CID.pcapng: the packet time (UTC) of the firing, the probe or formula
 * and the connection id.  Every file with such a name counts towards the limits, also those of earlier runs.
 */
#ifndef NETOBS_TOOLS_RECORD_DIRECTORY_H
#define NETOBS_TOOLS_RECORD_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/record_queue.h"

#define RECORD_NAME_MAX 160u /* bytes of a file name with its NUL */

struct record_directory {
	int fd; /* locked, so that no other run writes there */
	uint64_t files, bytes;
};

/* Opens a directory and counts its files.  Returns the exit status, with a message printed unless it is EXIT_SUCCESS:
 * RECORD_USELESS if files cannot be created there, EXIT_FAILURE if another run writes there. */
int record_directory_open(struct record_directory *directory, const char *path);
void record_directory_close(const struct record_directory *directory);

/* Counts the files.  False with errno; then the counts stay. */
bool record_directory_count(struct record_directory *directory);

bool record_directory_has(const struct record_directory *directory, const char *name);

void record_name_make(char name[RECORD_NAME_MAX], const struct record_trigger *trigger, const char *suffix);

/* Whether record_name_make() makes such names. */
bool record_name_is_own(const char *name);

#endif
