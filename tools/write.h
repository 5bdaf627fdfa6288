/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netobsctl write: a capture from the flight memory of a running netobsd, now, or with --on a capture file for each
 * connection for which a probe or formula fires.
 *
 * The firings are the lines of a feed with the connection id and the time (`stream --fields=probe,cid,ts`).  A firing
 * is a trigger: its capture is pulled from the flight memory of netobsd after a delay, so that the file also has what
 * follows the firing, and further triggers of the connection within the delay belong to the same file.  The files are
 * written one after the other by child processes, and the feed is read meanwhile.
 */
#ifndef NETOBS_TOOLS_WRITE_H
#define NETOBS_TOOLS_WRITE_H

#include <stdbool.h>
#include <stdint.h>

/* As they were given, NULL if they were not. */
struct write_options {
	const char *file, *cid, *last, *format, *max_size;
};

/* Writes the capture; `words` are the filter.  Returns the exit status, with a message printed on failure. */
int write_run(const char *socket, char **words, int count, const struct write_options *options);

/* Options of the command line as they were given; NULL: the default. */
struct write_on_options {
	const char *on;	       /* probes and formulas, commas between them */
	const char *directory; /* of the files */
	const char *format;    /* pcapng, pcap or snoop */
	const char *after;     /* delay */
	const char *max_files, *max_size, *max_rate;
};

/* Exit status: another start with these options has the same end, until the configuration changes. */
#define WRITE_ON_USELESS 3

/* Runs the command until netobsd ends or a signal arrives.  `path` is that of the control socket.  Returns the exit
 * status; prints a message unless it is 0. */
int write_on_run(const char *path, const struct write_on_options *options);

/* The values of the options of write --on. */
struct write_on_settings {
	const char *format;   /* also the suffix of the files */
	uint64_t after_ns;    /* delay between a trigger and its file */
	uint64_t max_files;   /* in the directory */
	uint64_t max_bytes;   /* of all files in the directory */
	uint64_t rate_count;  /* at most so many files ... */
	uint64_t rate_per_ns; /* ... in this time */
};

/* False, with a message printed, if an option is wrong or missing. */
bool write_on_settings_parse(const struct write_on_options *options, struct write_on_settings *settings);

#endif
