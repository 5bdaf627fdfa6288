/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child process that pulls one capture from netobsd and writes its file (write_client.h), while its parent reads the
 * feed.  It ignores the signals that end its parent, so that the file is completed.
 */
#ifndef NETOBS_TOOLS_WRITE_ON_WRITER_H
#define NETOBS_TOOLS_WRITE_ON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tools/write_client.h"

#define WRITE_ON_ERROR_MAX 1024u

struct write_on_writer {
	pid_t pid; /* 0: no child runs */
	int fd;	   /* readable when the child has ended, -1: no child runs */
};

struct write_on_result {
	bool done; /* else `error` is the reason */
	struct written_capture written;
	char error[WRITE_ON_ERROR_MAX];
};

/* Starts a child, which closes its copies of the directory, whose lock ends with its parent, and of the feed, so that
 * netobsd notices the end of the parent.  False with errno. */
bool write_on_writer_begin(struct write_on_writer *writer, const struct write_request *request, int directory,
			   int feed);

/* Waits for the end of the child. */
void write_on_writer_finish(struct write_on_writer *writer, struct write_on_result *result);

#endif
