/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsctl write: a capture from the flight memory of a running netobsd. */
#ifndef NETOBS_TOOLS_WRITE_H
#define NETOBS_TOOLS_WRITE_H

/* As they were given, NULL if they were not. */
struct write_options {
	const char *file, *cid, *last, *format, *max_size;
};

/* Writes the capture; `words` are the filter.  Returns the exit status, with a message printed on failure. */
int write_run(const char *socket, char **words, int count, const struct write_options *options);

#endif
