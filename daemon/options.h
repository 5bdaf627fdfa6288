/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of netobsd.  One table (options_table) says what every option is called, what it takes and what it
 * is for; the parser, the range checks and --help read that table. */
#ifndef NETOBS_DAEMON_OPTIONS_H
#define NETOBS_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "daemon/config.h"

enum options_group {
	GROUP_INPUT,
	GROUP_VIEW,
	GROUP_OUTPUT,
	GROUP_LIMITS,
	GROUP_GENERAL,
	GROUP_COUNT
};

/* Which kind of input an option makes sense for. */
enum options_scope {
	FOR_ALL,
	FOR_LIVE,
	FOR_FILES,
};

enum options_action {
	ACTION_NONE,
	ACTION_HELP,
	ACTION_VERSION,
};

struct option_row;

/* A kind of value: how its text becomes a field of struct config and back. */
struct option_kind {
	/* False with `why` ("a number from 1 to 9 is wanted") where the text is no such value.  `text` is NULL where
	 * an optional value was left out. */
	bool (*set)(struct config *config, const struct option_row *row, const char *text, char *why, size_t size);
	/* The present value as text; "" where there is none worth showing. */
	void (*show)(const struct config *config, const struct option_row *row, char *text, size_t size);
};

struct option_row {
	const char *name; /* long name, without dashes */
	char letter;	  /* short name, 0 for none */
	enum options_group group;
	enum options_scope scope;
	const struct option_kind *kind;
	size_t field;	      /* offset in struct config */
	const char *argument; /* what its value is called, NULL if it takes none */
	bool optional;	      /* the value may be left out */
	double min, max;      /* range of a numeric value, in the unit that the user writes */
	double unit;	      /* how many of the field's units are one of the user's */
	enum options_action action;
	const char *help; /* one sentence without its full stop */
};

extern const struct option_row options_table[];
extern const size_t options_table_rows;

enum options_result {
	OPTIONS_RUN,  /* *config says what to do */
	OPTIONS_DONE, /* --help or --version has been answered */
	OPTIONS_BAD,  /* a message has been logged */
};

/* Reads the command line.  `*config` may be used until options_free(), which is to be called whatever the result. */
enum options_result options_parse(int argc, char **argv, struct config *config);
void options_free(struct config *config);

/* What a run does where the command line says nothing. */
bool options_defaults(struct config *config);

/* --help and --version (help.c). */
void options_print_help(FILE *to);
void options_print_version(FILE *to);

/* Kinds of values (values.c). */
extern const struct option_kind value_flag, value_flag_off, value_words, value_whole, value_count, value_bytes,
    value_seconds, value_view, value_prefix, value_pace, value_wait, value_print, value_format, value_none;

#endif
