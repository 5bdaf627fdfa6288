/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of this process alone, in a directory of its own.
 *
 * A confined process cannot remove files, and one that is killed removes none.  A shell therefore waits for the end of
 * this process, which it notices by the end of file on a pipe, and removes both.
 */
#ifndef NETOBS_FORMULAS_SLOTS_PRIVATE_COPY_H
#define NETOBS_FORMULAS_SLOTS_PRIVATE_COPY_H

#include <limits.h>
#include <sys/types.h>

#include "formulas/slots/slot_notes.h"

#define PRIVATE_COPY_FILE "formulas.so"

struct private_copy {
	char directory[PATH_MAX];
	char path[PATH_MAX + sizeof PRIVATE_COPY_FILE];
	int alive; /* the shell waits for the end of file of this pipe; -1: there is no shell */
	int done;  /* end of file when the shell has removed the file */
	pid_t shell;
};

/* Writes formulas.so with the default names into a new directory below `parent`. */
bool private_copy_make(struct private_copy *copy, const char *parent, char error[SLOT_ERROR_MAX]);

/* Starts the shell.  Without it only private_copy_remove() removes the files. */
void private_copy_watch(struct private_copy *copy);

/* Removes the file and its directory, and returns when they are gone. */
void private_copy_remove(struct private_copy *copy);

#endif
