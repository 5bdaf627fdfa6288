/* SPDX-License-Identifier: BSD-2-Clause */
/* `netobsctl connections` with chosen fields: a sorted table, once or in intervals. */
#ifndef NETOBS_TOOLS_CONNECTIONS_CONNECTIONS_H
#define NETOBS_TOOLS_CONNECTIONS_CONNECTIONS_H

#include <stdbool.h>

/* The fields without -o. */
#define CONNECTIONS_FIELDS "cid,proto,state,laddr,lport,raddr,rport,inbytes,outbytes,rtt,retranssegs,comm"

struct connections_options {
	const char *fields;   /* separated by commas; NULL: CONNECTIONS_FIELDS, if there is another of these options */
	const char *sort;     /* NULL: in the order of the reply */
	const char *limit;    /* most lines; NULL: all */
	const char *interval; /* a time, in seconds without unit; NULL: one table, with counts instead of rates */
	const char *count;    /* tables to print; NULL: until a signal */
	const char *closed;   /* time in which connections ended, or "all"; NULL: open ones */
	bool parsable;	      /* colons between values, and no titles */
	bool json;	      /* an object a line */
};

/* Parses a time from 100 ms to a day; `*seconds` remains as it is if `text` is NULL.  False, with a message printed,
 * if it is none. */
bool connections_parse_interval(const char *text, double *seconds);

/* Prints the connections that match the conditions `words`.  Returns the exit status. */
int connections_run(const char *path, char *const *words, int count, const struct connections_options *options);

#endif
