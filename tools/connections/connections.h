/* SPDX-License-Identifier: BSD-2-Clause */
/* `netobsctl connections` and `netobsctl connection`: rows as a sorted table, once or in intervals; one in detail. */
#ifndef NETOBS_TOOLS_CONNECTIONS_CONNECTIONS_H
#define NETOBS_TOOLS_CONNECTIONS_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/control_client.h"

struct connections_options {
	const char *fields;   /* separated by commas; NULL: the usual columns, or as JSON all */
	const char *sort;     /* "FIELD" or "-FIELD"; NULL: by the end, the last packet of open connections */
	const char *limit;    /* most lines; NULL: all */
	const char *interval; /* a time, in seconds without unit; NULL: one table, with counts instead of rates */
	const char *count;    /* tables to print; NULL: until a signal */
	const char *closed;   /* time in which connections ended, or "all"; NULL: open ones */
	bool parsable;	      /* colons between values, and no titles */
	bool json;	      /* an object a line */
};

/* Bytes of an expression, with its NUL: shorter than a request. */
#define CONNECTIONS_EXPRESSION_SIZE (CLIENT_REQUEST_MAX - 1024)

/* Joins the words of an expression.  False if they are too long or contain a line break. */
bool connections_join_words(char *const *words, int count, char expression[CONNECTIONS_EXPRESSION_SIZE]);

/* Parses a time from 100 ms to a day; `*seconds` remains as it is if `text` is NULL.  False, with a message printed,
 * if it is none. */
bool connections_parse_interval(const char *text, double *seconds);

/* Prints the connections for which the expression of `words` is true.  Returns the exit status. */
int connections_run(const char *path, char *const *words, int count, const struct connections_options *options);

/* Prints the connection of which an end has the id that `words` is.  Returns the exit status. */
int connection_run(const char *path, char *const *words, int count, bool json);

/* Describes the connection of which an end has this id: lines of text.  False, with the reason instead, if netobsd does
 * not reply, or there is no such connection. */
bool connection_describe(const char *path, uint64_t cid, char *text, size_t size);

#endif
