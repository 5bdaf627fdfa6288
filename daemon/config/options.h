/* SPDX-License-Identifier: BSD-2-Clause */
/* What netobsd can be told, on the command line and in netobs.conf(5).  One table (options_table) says what every
 * option is called, what it takes, where it may stand and what it is for; both parsers, the range checks, --help,
 * --print-config, the sample file, the manual's table and the completion of shells are made from that table or tested
 * against it. */
#ifndef NETOBS_DAEMON_CONFIG_OPTIONS_H
#define NETOBS_DAEMON_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "daemon/config/config.h"

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

/* Where an option may stand. */
enum options_place {
	ON_LINE, /* only on the command line: it asks for one run's doing */
	IN_BOTH, /* in netobs.conf(5) too, under the same name */
	IN_FILE, /* only there: the command line has another way to say it */
};

/* When a changed setting of the file takes effect. */
enum options_change {
	AT_RESTART,
	AT_RELOAD,
};

/* Room for a value that is not text already. */
#define OPTIONS_VALUE_MAX 64

struct option_row;

/* A kind of value: how its text becomes a field of struct config and back. */
struct option_kind {
	/* False with `why` ("a number from 1 to 9 is wanted") where the text is no such value.  `text` is NULL where
	 * the command line has none: an optional value was left out, or the option takes none. */
	bool (*set)(struct config *config, const struct option_row *row, const char *text, char *why, size_t size);
	/* The `index`th value as text that set() takes; NULL if there are no more.  `room` may be used for it. */
	const char *(*get)(const struct config *config, const struct option_row *row, size_t index,
			   char room[OPTIONS_VALUE_MAX]);
	bool list;   /* several values are kept */
	bool toggle; /* the command line has no value for it; the file has true or false */
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
	enum options_place place;
	enum options_change change; /* for what may stand in the file */
	const char *help; /* one sentence without its full stop */
};

extern const struct option_row options_table[];
extern const size_t options_table_rows;

enum options_result {
	OPTIONS_RUN,  /* *config says what to do */
	OPTIONS_DONE, /* --help, --check-config or --print-config has been answered */
	OPTIONS_VERSION, /* --version: the caller prints it */
	OPTIONS_BAD,  /* a message has been logged */
};

/* Reads the command line and, if it names one, the configuration file, over which the command line wins.  `*config` may
 * be used until options_free(), which is to be called whatever the result. */
enum options_result options_parse(int argc, char **argv, struct config *config);
void options_free(struct config *config);

/* What a run does where nothing is said. */
bool options_defaults(struct config *config);

/* A copy of `text` that lives as long as the configuration; NULL if memory cannot be had. */
const char *options_keep(struct config *config, const char *text);

/* The row of a long name that may stand in a file; NULL if there is none. */
const struct option_row *options_find_setting(const char *name);

/* Whether both configurations have the same values for the row. */
bool options_same(const struct option_row *row, const struct config *a, const struct config *b);

/* --help and --version (help.c). */
extern const char *const options_group_titles[GROUP_COUNT];
void options_print_help(FILE *to);

/* Kinds of values (values.c). */
extern const struct option_kind value_flag, value_flag_off, value_word, value_words, value_whole, value_count,
    value_mode, value_bytes, value_seconds, value_view, value_prefix, value_pace, value_wait, value_print,
    value_format, value_filter, value_user, value_site, value_none, value_ports;

#endif
