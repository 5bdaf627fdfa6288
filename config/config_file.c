/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/config_file.h"

#include <confuse.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "config/options.h"

/* --- the text of the file --- */

/*
 * Prepares a configuration file for libconfuse, so that its line numbers are right and its scanner never sees input for
 * which it has no rule.
 */

/* Larger files are refused: no sensible configuration is that long. */
#define CONFIG_TEXT_MAX (1 << 20)

/* Lexical class of the current bytes. */
enum scan_state {
	SCAN_PLAIN,
	SCAN_WORD,   /* unquoted; "10.0.0.0/8" and "a//b" are one word each */
	SCAN_DOUBLE, /* between quotes */
	SCAN_SINGLE,
	SCAN_LINE,  /* a comment to the end of its line */
	SCAN_BLOCK, /* a comment until its end */
};

struct config_scanner {
	const char *name;
	enum scan_state state;
	int line;
	int state_line; /* line on which this state began */
};

static enum scan_state
config_scanner_next_state(const struct config_scanner *scanner, const char *at)
{
	switch (scanner->state) {
	case SCAN_PLAIN:
	case SCAN_WORD:
		if (*at == '#')
			return SCAN_LINE;
		if (*at == '"')
			return SCAN_DOUBLE;
		if (*at == '\'')
			return SCAN_SINGLE;
		if (strchr(" \t\r\n={}(),+", *at) != NULL)
			return SCAN_PLAIN;
		if (scanner->state == SCAN_PLAIN && at[0] == '/' && (at[1] == '/' || at[1] == '*'))
			return at[1] == '/' ? SCAN_LINE : SCAN_BLOCK;
		return SCAN_WORD;
	case SCAN_DOUBLE:
		return *at == '"' ? SCAN_PLAIN : SCAN_DOUBLE;
	case SCAN_SINGLE:
		return *at == '\'' ? SCAN_PLAIN : SCAN_SINGLE;
	case SCAN_LINE:
		return *at == '\n' ? SCAN_PLAIN : SCAN_LINE;
	case SCAN_BLOCK:
		break;
	}
	return SCAN_BLOCK; /* left to config_scanner_blank_comments(), because the end has two characters */
}

/* Replaces comments by blanks, except for newlines.  False if the text ends inside quotes or a comment. */
static bool
config_scanner_blank_comments(struct config_scanner *scanner, char *text)
{
	for (char *at = text; *at != '\0'; at++) {
		enum scan_state before = scanner->state;

		scanner->state = config_scanner_next_state(scanner, at);
		if (scanner->state != before)
			scanner->state_line = scanner->line;
		if ((before == SCAN_DOUBLE || before == SCAN_SINGLE) && *at == '\\' && at[1] != '\0')
			scanner->line += *++at == '\n'; /* an escaped character never ends the quote */
		else if (*at == '\n')
			scanner->line++;
		else if (before == SCAN_BLOCK && at[0] == '*' && at[1] == '/') {
			*at++ = ' ';
			*at = ' ';
			scanner->state = SCAN_PLAIN;
		} else if (scanner->state == SCAN_LINE || scanner->state == SCAN_BLOCK) {
			if (scanner->state == SCAN_BLOCK && before != SCAN_BLOCK)
				*at++ = ' '; /* the start of a comment has two characters too */
			*at = ' ';
		}
	}
	return scanner->state == SCAN_PLAIN;
}

static bool
config_text_log_error(const struct config_scanner *scanner, int line, const char *what)
{
	log_error("%s:%d: %s", scanner->name, line, what);
	return false;
}

static bool
config_text_strip_comments(const char *name, char *text, size_t size)
{
	struct config_scanner scanner = {.name = name, .line = 1, .state_line = 1};
	const char *nul = memchr(text, '\0', size);

	if (nul != NULL) {
		for (const char *at = text; at < nul; at++)
			scanner.line += *at == '\n';
		return config_text_log_error(&scanner, scanner.line, "the file contains a NUL byte");
	}
	if (config_scanner_blank_comments(&scanner, text))
		return true;
	return config_text_log_error(&scanner, scanner.state_line,
				     scanner.state == SCAN_BLOCK ? "unterminated comment" : "unterminated quote");
}

/* Returns the text of a file with a newline at the end and comments blanked; the caller frees it.  NULL, with a message
 * "NAME:LINE: what" logged, if the file cannot be read or a quote or comment is not closed. */
static char *
config_text_read(FILE *stream, const char *name)
{
	char *text = malloc(CONFIG_TEXT_MAX + 2);
	size_t size;

	if (text == NULL) {
		log_error("cannot read %s: out of memory", name);
		return NULL;
	}
	size = fread(text, 1, CONFIG_TEXT_MAX + 1, stream);
	if (ferror(stream) || size > CONFIG_TEXT_MAX) {
		log_error("cannot read %s: %s", name, ferror(stream) ? strerror(errno) : "it is larger than 1 MiB");
		free(text);
		return NULL;
	}
	text[size++] = '\n';
	text[size] = '\0';
	if (config_text_strip_comments(name, text, size))
		return text;
	free(text);
	return NULL;
}

/* --- the parser --- */

/* State of the parser that runs, for libconfuse's callbacks, which have no context argument. */
static struct config_parser {
	struct config *config;
	struct config discarded; /* receives overridden values, which are checked and not used */
	const bool *overridden_rows;
	int *lines;	   /* per row: line of the setting, 0 if not set yet */
	bool error_logged; /* an error was logged: later ones are its consequences */
} *parser;

/* Logs libconfuse's own errors and those of config_file_set_value(). */
static void __attribute__((format(printf, 2, 0)))
config_file_log_error(cfg_t *cfg, const char *format, va_list arguments)
{
	static const char unknown[] = "no such option '";
	char what[512], hint[NEAREST_HINT_MAX] = "";

	vsnprintf(what, sizeof what, format, arguments);
	if (strncmp(what, unknown, sizeof unknown - 1) == 0)
		options_hint(what + sizeof unknown - 1, strcspn(what + sizeof unknown - 1, "'"), true, hint);
	if (!parser->error_logged)
		log_error("%s:%d: %s%s", cfg->filename, cfg->line, what, hint);
	parser->error_logged = true;
}

/* Most bytes of a wrong value in a message. */
#define VALUE_SHOWN_MAX 160

/* Reports a wrong value.  One of several lines is cut behind its first line, and has the number of that line. */
static void
config_file_log_value(cfg_t *cfg, const char *name, const char *value, const char *error)
{
	size_t length = strcspn(value, "\n");
	int last_line = cfg->line;

	if (length > VALUE_SHOWN_MAX)
		length = VALUE_SHOWN_MAX;
	for (const char *c = value + length; *c != '\0'; c++)
		cfg->line -= *c == '\n';
	cfg_error(cfg, "%s = %.*s%s: %s", name, (int)length, value, value[length] == '\0' ? "" : " ...", error);
	cfg->line = last_line;
}

/* Callback: a value was parsed. */
static int
config_file_set_value(cfg_t *cfg, cfg_opt_t *option, const char *value, void *result)
{
	const struct option_row *row = options_find_setting(option->name);
	size_t index = (size_t)(row - options_table);
	struct config *config = parser->overridden_rows[index] ? &parser->discarded : parser->config;
	char error[256];

	/* The first value of a list that starts with "="; "+=" appends to the list. */
	if (option->nvalues == 1 && parser->lines[index] != 0) {
		cfg_error(cfg, "%s is already set in line %d", row->name, parser->lines[index]);
		return -1;
	}
	if (parser->lines[index] == 0)
		parser->lines[index] = cfg->line;
	if (parser->overridden_rows[index])
		log_debug(DEBUG_CONFIG, "%s:%d: %s is overridden by the command line", cfg->filename, cfg->line,
			  row->name);
	if (!row->kind->set(config, row, value, error, sizeof error)) {
		config_file_log_value(cfg, row->name, value, error);
		return -1;
	}
	*(const char **)result = value;
	return 0;
}

/* The table in libconfuse's form: names, and which options take lists.  All values are text. */
static cfg_opt_t *
config_file_make_options(void)
{
	cfg_opt_t *options = calloc(options_table_rows + 1, sizeof *options), *option = options;

	if (options == NULL)
		return NULL;
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];
		cfg_opt_t scalar = CFG_STR_CB(row->name, NULL, CFGF_NODEFAULT, config_file_set_value);
		cfg_opt_t list = CFG_STR_LIST_CB(row->name, NULL, CFGF_NODEFAULT, config_file_set_value);

		if (row->source != OPTION_COMMAND_LINE)
			*option++ = row->kind->list ? list : scalar;
	}
	return options; /* the zeroed row behind them marks the end */
}

/* Checks the values that may depend on others. */
static bool
config_file_check_values(const char *name)
{
	char error[256], buffer[OPTIONS_VALUE_MAX];
	const char *value;

	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (parser->lines[i] == 0 || parser->overridden_rows[i] || row->kind->check == NULL ||
		    row->kind->check(parser->config, row, error, sizeof error))
			continue;
		if (row->kind->list || (value = row->kind->get(parser->config, row, 0, buffer)) == NULL)
			log_error("%s:%d: %s: %s", name, parser->lines[i], row->name, error);
		else
			log_error("%s:%d: %s = %s: %s", name, parser->lines[i], row->name, value, error);
		return false;
	}
	return true;
}

static bool
config_file_parse_text(char *text, const char *name, cfg_opt_t *options)
{
	FILE *stream = fmemopen(text, strlen(text), "r");
	cfg_t *cfg = cfg_init(options, CFGF_NONE);
	bool good = false;

	if (stream == NULL || cfg == NULL || (cfg->filename = strdup(name)) == NULL) {
		log_error("cannot read %s: out of memory", name);
	} else {
		cfg_set_error_function(cfg, config_file_log_error);
		good = cfg_parse_fp(cfg, stream) == CFG_SUCCESS && !parser->error_logged;
		if (!good && !parser->error_logged)
			log_error("%s:%d: syntax error", name, cfg->line);
	}
	if (cfg != NULL)
		cfg_free(cfg);
	if (stream != NULL)
		fclose(stream);
	return good;
}

bool
config_file_parse(FILE *stream, const char *name, struct config *config, const bool *overridden)
{
	struct config_parser own = {.config = config, .overridden_rows = overridden};
	char *text = config_text_read(stream, name);
	cfg_opt_t *options;
	bool good = false;

	if (text == NULL)
		return false;
	options = config_file_make_options();
	own.lines = calloc(options_table_rows, sizeof *own.lines);
	if (options == NULL || own.lines == NULL || !config_set_defaults(&own.discarded)) {
		log_error("cannot read %s: out of memory", name);
	} else {
		parser = &own;
		good = config_file_parse_text(text, name, options) && config_file_check_values(name);
		parser = NULL;
	}
	config_free(&own.discarded);
	free(own.lines);
	free(options);
	free(text);
	return good;
}

/* Opens plain files only: a pipe would block the daemon. */
static FILE *
config_file_open(const char *path)
{
	char error[TRUSTED_PATH_ERROR_MAX];
	int fd = trusted_path_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, error);
	FILE *stream = NULL;
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
		snprintf(error, sizeof error, "%s",
			 S_ISDIR(status.st_mode) ? "it is a directory" : "it is no plain file");
	else if (fd >= 0 && (stream = fdopen(fd, "r")) == NULL)
		snprintf(error, sizeof error, "%s", strerror(errno));
	if (stream == NULL)
		log_error("cannot read %s: %s", path, error);
	if (stream == NULL && fd >= 0)
		close(fd);
	return stream;
}

bool
config_file_read(const char *path, struct config *config, const bool *overridden)
{
	FILE *stream = config_file_open(path);
	bool good;

	if (stream == NULL)
		return false;
	good = config_file_parse(stream, path, config, overridden);
	fclose(stream);
	return good;
}
