/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netobsctl write --on: a capture file for each connection for which a probe or formula fires.
 *
 * The firings are the lines of a feed with the connection id and the time (`stream --fields=probe,cid,ts`).  A firing
 * is a trigger: its capture is pulled from the flight memory of netobsd after a delay, so that the file also has what
 * follows the firing, and further triggers of the connection within the delay belong to the same file.  The files are
 * written one after the other by child processes (write_on_writer.h), and the feed is read meanwhile.
 */
#ifndef NETOBS_TOOLS_WRITE_ON_H
#define NETOBS_TOOLS_WRITE_ON_H

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

#endif
