/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsctl stream: firings of a running netobsd, as lines or as a directory of files. */
#ifndef NETOBS_TOOLS_STREAM_H
#define NETOBS_TOOLS_STREAM_H

#include <stdbool.h>

/* Exit status: the stream broke off, because netobsd was killed or did not wait for this process at its end. */
#define EXIT_BROKE_OFF 2

struct stream_options {
	const char *fields;    /* NULL: whole lines */
	const char *directory; /* NULL: standard output */
	const char *rotate;    /* NULL: the default */
	bool json;
};

/* Runs the command with these names of probes and formulas, until the stream ends, the output is closed or a signal
 * arrives.  `path` is that of the control socket.  Returns the exit status; prints a message unless it is 0. */
int stream_run(const char *path, char *const names[], int count, const struct stream_options *options);

#endif
