/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of netobsd, on the command line and in netobs.conf(5).
 *
 * One table (options_table) defines each option's name, value, place and purpose.  Both parsers, the range checks,
 * --help, --print-config, the sample file, the manual's table and the shell completion are made from it or tested
 * against it.
 */
#ifndef NETOBS_CONFIG_OPTIONS_H
#define NETOBS_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/units.h"
#include "config/config.h"
#include "probes/nearest.h"

enum options_group { GROUP_INPUT, GROUP_VIEW, GROUP_OUTPUT, GROUP_LIMITS, GROUP_GENERAL, GROUP_COUNT };

/* Kind of input that an option applies to. */
enum options_scope {
	OPTION_FOR_ALL,
	OPTION_FOR_LIVE,
	OPTION_FOR_FILES,
};

enum options_action {
	ACTION_NONE,
	ACTION_HELP,
	ACTION_VERSION,
};

/* Where an option may appear. */
enum options_source {
	OPTION_COMMAND_LINE, /* command line only: it concerns a single run */
	OPTION_ANYWHERE,     /* in netobs.conf(5) too, under the same name */
	OPTION_CONFIG_FILE,  /* file only: the command line has another syntax for it */
};

/* When a change of this setting in the file takes effect. */
enum options_change {
	OPTION_AT_RESTART,
	OPTION_AT_RELOAD,
};

/* Buffer size for a value that is not stored as text. */
#define OPTIONS_VALUE_MAX 64

struct option_row;

/* A kind of value: converts between text and a field of struct config. */
struct option_kind {
	/* Parses `text` into the field.  False, with `error` such as "expected a number from 1 to 9", if not valid.
	 * `text` is NULL if the command line has no value: an optional value was omitted, or the option takes no
	 * value. */
	bool (*set)(struct config *config, const struct option_row *row, const char *text, char *error, size_t size);
	/* Returns value `index` as text that set() accepts; NULL if there are no more.  The text may be written to
	 * `buffer`. */
	const char *(*get)(const struct config *config, const struct option_row *row, size_t index,
			   char buffer[OPTIONS_VALUE_MAX]);
	/* Checks the value when everything has been parsed; NULL: nothing to check.  False, with `error`, if bad. */
	bool (*check)(const struct config *config, const struct option_row *row, char *error, size_t size);
	bool list;   /* holds several values */
	bool toggle; /* takes no value on the command line, true or false in the file */
};

struct option_row {
	const char *name; /* long name, without dashes */
	char short_name;  /* short name, 0 for none */
	enum options_group group;
	enum options_scope scope;
	const struct option_kind *kind;
	size_t config_offset; /* offset in struct config */
	const char *argument; /* name of its value, NULL if it takes no value */
	bool optional;	      /* the value may be omitted */
	double min, max;      /* range of a number */
	struct quantity quantity; /* of a time or size */
	const char *needs[3];     /* options without one of which it has no effect */
	enum options_action action;
	enum options_source source;
	enum options_change change; /* for options that may appear in the file */
	const char *help;	    /* one sentence without its full stop */
};

/* Most rows of the table. */
#define OPTIONS_ROWS_MAX 128

extern const struct option_row options_table[];
extern const size_t options_table_rows;

enum options_result {
	OPTIONS_RUN,	 /* `config` is complete: run */
	OPTIONS_DONE,	 /* --help, --check-config or --print-config has done its work */
	OPTIONS_VERSION, /* --version: the caller prints it */
	OPTIONS_INVALID, /* a message has been logged */
};

/* Parses the command line and, if it names one, the configuration file; the command line takes precedence.  `*config`
 * is valid until config_free(), which must be called whatever the result. */
enum options_result options_parse(int argc, char **argv, struct config *config);
void config_free(struct config *config);

/* Sets an option of the table by its name, for a program with a command line of its own; `value` is NULL if there is
 * none.  False, with a message logged, if the value is not valid. */
bool options_set(struct config *config, const char *name, const char *value);

/* False, with a message logged, if standard input is named twice. */
bool options_check_standard_input(const struct config *config);

/* Sets the defaults. */
bool config_set_defaults(struct config *config);

/* Copies `text`; the copy is freed with the configuration.  NULL if out of memory. */
const char *options_strdup(struct config *config, const char *text);

/* The row of a setting that may appear in a file; NULL if there is none. */
const struct option_row *options_find_setting(const char *name);

/* Whether both configurations have the same values for the row. */
bool options_values_equal(const struct option_row *row, const struct config *a, const struct config *b);

/* Checks that an option which the row needs is set.  False, with the names of such options in `list`, otherwise;
 * `dashes` stand before each. */
bool options_check_needs(const struct config *config, const struct option_row *row, const char *dashes, char *list,
			 size_t size);

/* " (did you mean --NAME?)" for an unknown option, " (did you mean NAME?)" for an unknown setting; "" if no name is
 * near. */
const char *options_hint(const char *name, size_t length, bool settings, char hint[NEAREST_HINT_MAX]);

/* --help. */
extern const char *const option_group_titles[GROUP_COUNT];
void options_print_help(FILE *to);

/* Kinds of values (option_values.c, option_time.c). */
extern const struct option_kind value_flag, value_inverted_flag, value_string, value_string_list,
    value_uint32, value_file_mode, value_seconds, value_minutes, value_size, value_size32, value_view,
    value_prefix, value_replay_speed, value_wait_tracer, value_wait_probes, value_print, value_format, value_filter,
    value_user, value_probe_site, value_none, value_ports, value_debug_topics, value_formula, value_records,
    value_record_filter, value_write, value_capture_format, value_record_fields, value_record_order, value_print_fields,
    value_metrics, value_time;

/* Reads a file into `*config`.  Options marked in `overridden` are checked but not used.  False, with one message
 * "FILE:LINE: what" logged, at the first error; `*config` must then be discarded. */
bool config_file_read(const char *path, struct config *config, const bool *overridden);

/* Like config_file_read() from an open stream; `name` is used in messages. */
bool config_file_parse(FILE *stream, const char *name, struct config *config, const bool *overridden);

/* Writes one line for each setting that may appear in the file; a setting without a value becomes a comment.  Parsing
 * the text gives the same settings. */
void config_print(FILE *to, const struct config *config);

/* Whether values of the row are text in quotes, not numbers, times, sizes, true or false. */
bool config_is_quoted(const struct option_row *row);

/* Writes "name = value" without a newline; false, with nothing written, if the row has no value. */
bool config_print_row(FILE *to, const struct option_row *row, const struct config *config);

#endif
