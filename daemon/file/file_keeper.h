/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keeper of a file: a process that gives a file its name when it is complete, or removes it.  netobsd itself can do
 * neither once it is confined, and nothing removes the file of a netobsd that was killed.  The keeper does nothing but
 * wait for one of two requests; if netobsd ends without one, it removes the file.  Names are those of one directory,
 * which is open, and a file that has replaced the keeper's is left alone.
 */
#ifndef NETOBS_DAEMON_FILE_FILE_KEEPER_H
#define NETOBS_DAEMON_FILE_FILE_KEEPER_H

#include <stdbool.h>

struct file_keeper;

struct kept_file {
	int fd;
	int directory;	       /* descriptor of its directory */
	const char *temporary; /* its name there */
	const char *name;      /* the name that it is to have there */
};

/* Starts the keeper of an open file, with the signals blocked that are blocked now: they should be all.  Call it before
 * there are other threads and before the process is confined.  NULL with errno on failure. */
struct file_keeper *file_keeper_start(const struct kept_file *file);

/* Writes the file to the disk and gives it its name.  Returns 0 or an errno, then the file is removed. */
int file_keeper_complete(struct file_keeper *keeper);

/* Removes the file, unless it is complete, and ends the keeper.  NULL is allowed. */
void file_keeper_free(struct file_keeper *keeper);

#endif
