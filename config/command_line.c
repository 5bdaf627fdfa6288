/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line, and the file that it names, to a configuration; checks of options against each other. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/options.h"

/* Builds the tables for getopt_long().  A row's value is 256 + its index; short options have the value of their
 * letter. */
static void
options_make_getopt_tables(struct option *longs, char *shorts)
{
	*shorts++ = ':'; /* getopt_long() then distinguishes a missing value from an unknown option */
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];
		int has = row->argument == NULL ? no_argument : row->optional ? optional_argument : required_argument;

		if (row->source == OPTION_CONFIG_FILE)
			continue;
		*longs++ = (struct option){.name = row->name, .has_arg = has, .val = 256 + (int)i};
		if (row->short_name == 0)
			continue;
		*shorts++ = row->short_name;
		if (has == required_argument)
			*shorts++ = ':';
	}
	*longs = (struct option){0};
	*shorts = '\0';
}

static const struct option_row *
options_find_by_value(int value)
{
	if (value >= 256 && value < 256 + (int)options_table_rows)
		return &options_table[value - 256];
	for (size_t i = 0; i < options_table_rows; i++)
		if (options_table[i].short_name != 0 && options_table[i].short_name == value)
			return &options_table[i];
	return NULL;
}

/* Logs what '?' from getopt_long() means: an unknown or ambiguous option, or a value for an option that takes no
 * value. */
static void
options_log_unknown(char **argv)
{
	const struct option_row *row = optopt != 0 ? options_find_by_value(optopt) : NULL;
	char hint[NEAREST_HINT_MAX];

	if (row != NULL)
		log_error("--%s takes no value", row->name);
	else if (optopt != 0)
		log_error("unknown option -%c; netobsd --help lists the options", optopt);
	else if (strncmp(argv[optind - 1], "--record", strlen("--record")) == 0 &&
		 strchr("=", argv[optind - 1][strlen("--record")]) != NULL)
		log_error("unknown option --record: use --write NAME=FILE");
	else
		log_error("unknown or ambiguous option %s%s; netobsd --help lists the options", argv[optind - 1],
			  options_hint(argv[optind - 1] + 2, strcspn(argv[optind - 1] + 2, "="), false, hint));
}

/* Joins the arguments after the options into the filter. */
static bool
options_join_filter(int argc, char **argv, struct config *config)
{
	size_t length = 1;
	char *joined, *at;

	for (int i = optind; i < argc; i++)
		length += strlen(argv[i]) + 1;
	joined = at = malloc(length);
	if (joined != NULL) {
		for (int i = optind; i < argc; i++) {
			at = stpcpy(at, argv[i]);
			if (i + 1 < argc)
				*at++ = ' ';
		}
		*at = '\0';
		config->filter = options_strdup(config, joined);
		free(joined);
	}
	if (joined == NULL || config->filter == NULL)
		log_out_of_memory();
	return config->filter != NULL;
}

/* Rejects options for one kind of input that were given with the other. */
static bool
options_check_scope(const struct config *config, const bool given[OPTIONS_ROWS_MAX])
{
	enum options_scope wrong = config->interface_names[0] != NULL ? OPTION_FOR_FILES : OPTION_FOR_LIVE;

	for (size_t i = 0; i < options_table_rows; i++) {
		if (given[i] && options_table[i].scope == wrong) {
			log_error("--%s is for %s", options_table[i].name,
				  wrong == OPTION_FOR_LIVE ? "interfaces (-i), not for files"
							   : "files (-r), not for interfaces");
			return false;
		}
	}
	return true;
}

bool
options_check_standard_input(const struct config *config)
{
	unsigned times = 0;

	for (size_t i = 0; config->capture_paths[i] != NULL; i++)
		times += strcmp(config->capture_paths[i], "-") == 0;
	if (times > 1)
		log_error("standard input (-r -) can be read only once");
	return times <= 1;
}

/* Whether the command line contains an option. */
static bool
options_are_given(const bool given[OPTIONS_ROWS_MAX], const char *name)
{
	for (size_t i = 0; i < options_table_rows; i++)
		if (strcmp(options_table[i].name, name) == 0)
			return given[i];
	return false;
}

static bool
options_check_writes(const struct config *config, const bool given[OPTIONS_ROWS_MAX])
{
	if (config->writes[0] == NULL) {
		if (options_are_given(given, "write-format"))
			log_error("--write-format needs --write");
		return !options_are_given(given, "write-format");
	}
	if (config->interface_names[0] != NULL) {
		log_error("--write is for files (-r): netobsctl write --on writes connections of interfaces");
		return false;
	}
	return true;
}

static bool
options_check_window(const struct config *config, const bool given[OPTIONS_ROWS_MAX])
{
	if (options_are_given(given, "to") && config->to <= config->from) {
		log_error("--to must be later than --from");
		return false;
	}
	if (options_are_given(given, "lead-in") && !options_are_given(given, "from")) {
		log_error("--lead-in needs --from");
		return false;
	}
	return true;
}

/* Checks options against each other. */
static bool
options_check_combination(struct config *config, const bool given[OPTIONS_ROWS_MAX])
{
	bool live = config->interface_names[0] != NULL, files = config->capture_paths[0] != NULL;

	if (config->list_engine && !config->list_probes) {
		log_error("--engine needs --list-probes");
		return false;
	}
	if (config->records && config->records_path == NULL && config->print != PRINT_OFF) {
		log_error("--print and --records cannot both write to standard output: give a file, --records=FILE");
		return false;
	}
	if (config->records_services && (config->records_fields != NULL || config->records_sort != NULL)) {
		log_error("--records-services has its own columns and order: it takes neither --records-fields nor "
			  "--records-sort");
		return false;
	}
	config->records_format = config->list_format;
	if (config->list_format == PRINT_OFF)
		config->list_format = PRINT_TEXT;
	if (config->print != PRINT_OFF)
		config->print = config->list_format;
	if (config->snaplen == 0)
		config->snaplen = 262144;
	if (config->list_probes || config->print_config || config->install_formulas != NULL)
		return true;
	if (live && files) {
		log_error("either interfaces (-i) or files (-r) can be observed, not both");
		return false;
	}
	if (!live && !files) {
		log_error("nothing to observe: give an interface (-i IFACE) or a capture file (-r FILE); "
			  "see netobsd --help");
		return false;
	}
	return options_check_writes(config, given) && options_check_scope(config, given) &&
	       options_check_standard_input(config) && options_check_window(config, given);
}

/* Checks the values of the command line that may depend on others, or on the file. */
static bool
options_check_values(const struct config *config, const bool given[OPTIONS_ROWS_MAX])
{
	char error[256], buffer[OPTIONS_VALUE_MAX];
	const char *value;

	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (!given[i])
			continue;
		if (!options_check_needs(config, row, "--", error, sizeof error)) {
			log_error("--%s needs %s", row->name, error);
			return false;
		}
		if (row->kind->check == NULL || row->kind->check(config, row, error, sizeof error))
			continue;
		if (row->kind->list || (value = row->kind->get(config, row, 0, buffer)) == NULL)
			log_error("--%s: %s", row->name, error);
		else
			log_error("--%s %s: %s", row->name, value, error);
		return false;
	}
	return true;
}

static bool
options_set_row(const struct option_row *row, struct config *config, const char *value)
{
	bool shown = value != NULL && *value != '\0';
	char error[256];

	if (row->kind->set(config, row, value, error, sizeof error))
		return true;
	log_error("--%s%s%s: %s", row->name, shown ? " " : "", shown ? value : "", error);
	return false;
}

bool
options_set(struct config *config, const char *name, const char *value)
{
	size_t i = 0;

	while (strcmp(options_table[i].name, name) != 0)
		i++;
	return options_set_row(&options_table[i], config, value);
}

/* Applies one option.  OPTIONS_RUN: continue. */
static enum options_result
options_apply_row(const struct option_row *row, struct config *config)
{
	if (row->action == ACTION_VERSION)
		return OPTIONS_VERSION;
	if (row->action == ACTION_HELP) {
		options_print_help(stdout);
		return OPTIONS_DONE;
	}
	return options_set_row(row, config, optarg) ? OPTIONS_RUN : OPTIONS_INVALID;
}

/* Parses the command line and marks the rows that it contains in `given`. */
static enum options_result
options_parse_command_line(int argc, char **argv, struct config *config, bool given[OPTIONS_ROWS_MAX])
{
	struct option longs[OPTIONS_ROWS_MAX + 1];
	char shorts[2 * OPTIONS_ROWS_MAX + 2];
	int value;

	options_make_getopt_tables(longs, shorts);
	opterr = 0; /* netobsd prints its own messages */
	optind = 0; /* restart getopt, also for a second parse */
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = options_find_by_value(value == ':' ? optopt : value);
		enum options_result result;

		if (value == '?' || row == NULL) {
			options_log_unknown(argv);
			return OPTIONS_INVALID;
		}
		if (value == ':') {
			log_error("--%s needs a value: %s", row->name, row->argument);
			return OPTIONS_INVALID;
		}
		result = options_apply_row(row, config);
		if (result != OPTIONS_RUN)
			return result;
		given[row - options_table] = true;
	}
	if (optind == argc)
		return OPTIONS_RUN;
	given[options_find_setting("filter") - options_table] = true;
	return options_join_filter(argc, argv, config) ? OPTIONS_RUN : OPTIONS_INVALID;
}

/* Reads the file for options that the command line does not set.  Files to replay replace the interfaces configured for
 * the service. */
static bool
options_read_config_file(struct config *config, const bool given[OPTIONS_ROWS_MAX])
{
	bool overridden[OPTIONS_ROWS_MAX];

	if (config->config_path == NULL)
		return true;
	memcpy(overridden, given, sizeof overridden);
	if (config->capture_paths[0] != NULL)
		overridden[options_find_setting("interface") - options_table] = true;
	return config_file_read(config->config_path, config, overridden);
}

enum options_result
options_parse(int argc, char **argv, struct config *config)
{
	bool given[OPTIONS_ROWS_MAX] = {false};
	enum options_result result;

	if (!config_set_defaults(config)) {
		log_out_of_memory();
		return OPTIONS_INVALID;
	}
	config->argc = argc;
	config->argv = argv;
	result = options_parse_command_line(argc, argv, config, given);
	if (result != OPTIONS_RUN)
		return result;
	if (!options_read_config_file(config, given) || !options_check_values(config, given) ||
	    !options_check_combination(config, given))
		return OPTIONS_INVALID;
	if (config->print_config)
		config_print(stdout, config);
	return config->print_config || config->check_config ? OPTIONS_DONE : OPTIONS_RUN;
}
