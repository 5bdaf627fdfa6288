/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs netobsd on the captures and reads the lines that it prints. */
#ifndef NETOBS_TOOLS_REPLAY_REPLAY_H
#define NETOBS_TOOLS_REPLAY_REPLAY_H

#include <stddef.h>

/* The netobsd to run, the arguments that every run has (the captures and the options of the user), and the filter. */
struct replay_source {
	char *netobsd;
	char *const *arguments;
	size_t arguments_count;
	char *filter; /* expression of pcap-filter(7); NULL for all frames */
};

/*
 * Runs netobsd with further arguments and passes each line of its standard output to `take`, each line of its standard
 * error to `note`.  The exit status of netobsd; -1 if it could not be run or a signal ended it, with the reason for
 * `note`.
 */
int replay_run_netobsd(const struct replay_source *source, char *const *more, size_t more_count,
		       void (*take)(const char *line, size_t length, void *context),
		       void (*note)(const char *line, void *context), void *context);

#endif
