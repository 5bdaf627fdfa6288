/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netobs.conf(5): NAME = VALUE, NAME = {VALUE, ...} and NAME += {VALUE, ...}.  All values are text, which the kinds of
 * the table check as on the command line.  The first error ends the reading, with one message "FILE:LINE: what".
 */
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

/* Larger files, and longer values, are refused: no sensible configuration is that long. */
#define CONFIG_TEXT_MAX (1 << 20)

/* Most bytes of a wrong value in a message. */
#define VALUE_SHOWN_MAX 160

struct config_parser {
	const char *name; /* of the file */
	const char *next; /* text that is not read yet */
	int line;	  /* of `next` */
	const char *token; /* text of the latest token and what follows */
	int token_line;	  /* on which the latest token begins */
	char *value;	  /* of the latest TOKEN_WORD */
	size_t length;	  /* of it */
	struct config *config;
	struct config discarded; /* receives overridden values, which are checked and not used */
	const bool *overridden_rows;
	int lines[OPTIONS_ROWS_MAX]; /* per row: line of the setting, 0 if not set yet */
};

static bool __attribute__((format(printf, 3, 4)))
config_fail(const struct config_parser *parser, int line, const char *format, ...)
{
	char what[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	log_error("%s:%d: %s", parser->name, line, what);
	return false;
}

/* ----------------------------------------------------------------------------------------------------------- tokens */

/* Another token is its character. */
enum config_token { TOKEN_INVALID, TOKEN_END, TOKEN_WORD, TOKEN_APPEND };

/* Skips blanks and comments. */
static void
config_skip_blanks(struct config_parser *parser)
{
	for (;;) {
		parser->next += strspn(parser->next, " \t\r");
		if (*parser->next == '#') {
			parser->next += strcspn(parser->next, "\n");
		} else if (*parser->next == '\n') {
			parser->line++;
			parser->next++;
		} else {
			return;
		}
	}
}

static void
config_put(struct config_parser *parser, char byte)
{
	if (parser->length < CONFIG_TEXT_MAX)
		parser->value[parser->length++] = byte;
}

/* Length of the name in ${NAME}, a variable of the environment; 0 if none is next. */
static size_t
config_variable_length(const struct config_parser *parser)
{
	size_t length;

	if (strncmp(parser->next, "${", 2) != 0)
		return 0;
	length = strcspn(parser->next + 2, "}\"\n");
	return parser->next[2 + length] == '}' ? length : 0;
}

static bool
config_take_variable(struct config_parser *parser, size_t length)
{
	const char *value;
	char name[256];

	snprintf(name, sizeof name, "%.*s", (int)length, parser->next + 2);
	value = getenv(name);
	if (value == NULL)
		return config_fail(parser, parser->line, "${%s} is not set in the environment", name);
	for (; *value != '\0'; value++)
		config_put(parser, *value);
	parser->next += length + sizeof "${}" - 1;
	return true;
}

/* Takes a quoted text.  In single quotes every character is literal. */
static bool
config_take_quoted(struct config_parser *parser)
{
	char quote = *parser->next++;

	while (*parser->next != quote) {
		const char *at = parser->next;
		size_t variable = quote == '"' ? config_variable_length(parser) : 0;

		if (*at == '\0')
			return config_fail(parser, parser->token_line, "unterminated quote");
		if (variable > 0 && !config_take_variable(parser, variable))
			return false;
		if (variable > 0)
			continue;
		if (quote == '"' && *at == '\\' && at[1] != '\0')
			parser->next++;
		parser->line += *parser->next == '\n';
		config_put(parser, *parser->next++);
	}
	parser->next++;
	return true;
}

static bool
config_take_plain(struct config_parser *parser)
{
	while (*parser->next != '\0' && strchr(" \t\r\n={}(),+#\"'", *parser->next) == NULL) {
		size_t variable = config_variable_length(parser);

		if (variable == 0)
			config_put(parser, *parser->next++);
		else if (!config_take_variable(parser, variable))
			return false;
	}
	return true;
}

/* TOKEN_INVALID with a message logged. */
static int
config_next_token(struct config_parser *parser)
{
	config_skip_blanks(parser);
	parser->token = parser->next;
	parser->token_line = parser->line;
	parser->length = 0;
	if (*parser->next == '\0')
		return TOKEN_END;
	if (strncmp(parser->next, "+=", 2) == 0) {
		parser->next += 2;
		return TOKEN_APPEND;
	}
	if (strchr("={}(),+", *parser->next) != NULL)
		return *parser->next++;
	if (*parser->next == '"' || *parser->next == '\'' ? !config_take_quoted(parser) : !config_take_plain(parser))
		return TOKEN_INVALID;
	parser->value[parser->length] = '\0';
	if (parser->length < CONFIG_TEXT_MAX)
		return TOKEN_WORD;
	config_fail(parser, parser->token_line, "the value is longer than 1 MiB");
	return TOKEN_INVALID;
}

/* --------------------------------------------------------------------------------------------------------- settings */

/* Reports a token that does not belong here. */
static bool
config_refuse_token(const struct config_parser *parser, int token)
{
	const char character[] = {(char)token, '\0'};

	if (token == TOKEN_INVALID)
		return false;
	if (token == TOKEN_END)
		return config_fail(parser, parser->token_line, "premature end of file");
	return config_fail(parser, parser->token_line, "unexpected token '%.*s'", VALUE_SHOWN_MAX,
			   token == TOKEN_WORD	   ? parser->value
			   : token == TOKEN_APPEND ? "+="
						   : character);
}

/* Whether nothing but a comment follows on the line. */
static bool
config_at_line_end(const char *text)
{
	text += strspn(text, " \t\r");
	return *text == '\0' || *text == '\n' || *text == '#';
}

/* Whether the text is that of a setting, which may follow another one on its line. */
static bool
config_at_setting(const char *text)
{
	char name[64];
	size_t length;

	text += strspn(text, " \t\r");
	length = strcspn(text, " \t\r\n=+");
	snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, text);
	text += length + strspn(text + length, " \t\r");
	return options_find_setting(name) != NULL &&
	       (strncmp(text, "+=", 2) == 0 || (text[0] == '=' && text[1] != '='));
}

/* Whether the value that was read is complete: nothing that would need quotes follows. */
static bool
config_at_value_end(const char *text)
{
	return config_at_line_end(text) || text[strspn(text, " \t\r")] == '}' || config_at_setting(text);
}

/* Copies the line from the latest token on to `copy`, without a comment, and without the bytes of `left_out`. */
static void
config_copy_line(const struct config_parser *parser, const char *left_out, char copy[VALUE_SHOWN_MAX + 1])
{
	size_t length = 0;

	for (const char *at = parser->token; *at != '\0' && length < VALUE_SHOWN_MAX; at++) {
		if (strchr(" \t\r\n", *at) != NULL && config_at_line_end(at))
			break;
		if (strchr(left_out, *at) == NULL)
			copy[length++] = *at;
	}
	copy[length] = '\0';
}

/* Reports a value that does not end where its first word does, as that of filter = tcp port 80. */
static bool
config_fail_unquoted(const struct config_parser *parser, const struct option_row *row)
{
	char line[VALUE_SHOWN_MAX + 1], joined[VALUE_SHOWN_MAX + 1];
	char quote;

	config_copy_line(parser, "", line);
	if (row->kind->list)
		return config_fail(parser, parser->token_line,
				   "%s = %s: several values stand in braces, and each in quotes: "
				   "%s = {\"...\", \"...\"}",
				   row->name, line, row->name);
	config_copy_line(parser, " \t", joined);
	if (row->quantity.max > 0)
		return config_fail(parser, parser->token_line,
				   "%s = %s: a unit follows its number without a blank: %s = %s", row->name, line,
				   row->name, joined);
	quote = strpbrk(line, "\"\\") != NULL ? '\'' : '"';
	return config_fail(parser, parser->token_line,
			   "%s = %s: text with blanks or other characters must be quoted: %s = %c%s%c", row->name, line,
			   row->name, quote, line, quote);
}

/* Reports braces around the value of an option that takes one value. */
static bool
config_fail_braces(const struct config_parser *parser, const struct option_row *row)
{
	char line[VALUE_SHOWN_MAX + 1], inside[VALUE_SHOWN_MAX + 1];

	config_copy_line(parser, "", line);
	config_copy_line(parser, "{}\"' \t", inside);
	if (row->argument == NULL || strchr(row->argument, ',') == NULL)
		return config_fail(parser, parser->token_line, "%s = %s: one value is expected, without braces",
				   row->name, line);
	return config_fail(parser, parser->token_line,
			   "%s = %s: the list stands in quotes, not in braces: %s = \"%s\"", row->name, line, row->name,
			   *inside == '\0' ? "..." : inside);
}

/* The first value of "=" must be that of a new setting. */
static bool
config_set_value(struct config_parser *parser, const struct option_row *row, bool append)
{
	size_t index = (size_t)(row - options_table), length = strcspn(parser->value, "\n");
	bool overridden = parser->overridden_rows[index];
	char error[256];

	if (!append && parser->lines[index] != 0)
		return config_fail(parser, parser->token_line, "%s is already set in line %d", row->name,
				   parser->lines[index]);
	if (parser->lines[index] == 0)
		parser->lines[index] = parser->token_line;
	if (overridden)
		log_debug(DEBUG_CONFIG, "%s:%d: %s is overridden by the command line", parser->name, parser->token_line,
			  row->name);
	if (row->kind->set(overridden ? &parser->discarded : parser->config, row, parser->value, error, sizeof error))
		return true;
	/* A value of several lines is cut after the first. */
	if (length > VALUE_SHOWN_MAX)
		length = VALUE_SHOWN_MAX;
	return config_fail(parser, parser->token_line, "%s = %.*s%s: %s", row->name, (int)length, parser->value,
			   parser->value[length] == '\0' ? "" : " ...", error);
}

/* Reports what follows a value of a list. */
static bool
config_fail_list(const struct config_parser *parser, const struct option_row *row)
{
	char line[VALUE_SHOWN_MAX + 1];

	config_copy_line(parser, "", line);
	return config_fail(parser, parser->token_line,
			   "%s, at %s: a comma or } is missing, or text with blanks or other characters is not quoted",
			   row->name, line);
}

static bool
config_read_list(struct config_parser *parser, const struct option_row *row, bool append)
{
	int token;

	while ((token = config_next_token(parser)) != '}') {
		if (token != TOKEN_WORD)
			return config_refuse_token(parser, token);
		if (!config_at_line_end(parser->next) &&
		    strchr(",}", parser->next[strspn(parser->next, " \t\r")]) == NULL)
			return config_fail_list(parser, row);
		if (!config_set_value(parser, row, append))
			return false;
		append = true;
		token = config_next_token(parser);
		if (token == '}')
			return true;
		if (token == TOKEN_INVALID || token == TOKEN_END)
			return config_refuse_token(parser, token);
		if (token != ',')
			return config_fail_list(parser, row);
	}
	return true;
}

static bool
config_read_values(struct config_parser *parser, const struct option_row *row, bool append)
{
	int token = config_next_token(parser);

	if (token == '{')
		return row->kind->list ? config_read_list(parser, row, append) : config_fail_braces(parser, row);
	if (token == '(' || (token == TOKEN_WORD && !config_at_value_end(parser->next)))
		return config_fail_unquoted(parser, row);
	if (token != TOKEN_WORD)
		return config_refuse_token(parser, token);
	return config_set_value(parser, row, append);
}

/* The name of a setting was read. */
static bool
config_read_setting(struct config_parser *parser)
{
	const struct option_row *row = options_find_setting(parser->value);
	int line = parser->token_line, token;
	char hint[NEAREST_HINT_MAX];

	if (row == NULL)
		return config_fail(parser, line, "no such option '%.*s'%s", VALUE_SHOWN_MAX, parser->value,
				   options_hint(parser->value, parser->length, true, hint));
	token = config_next_token(parser);
	if (token == TOKEN_INVALID || token == TOKEN_END)
		return config_refuse_token(parser, token);
	if (token != '=' && token != TOKEN_APPEND)
		return config_fail(parser, line, "missing equal sign after option '%s'", row->name);
	if (token == TOKEN_APPEND && !row->kind->list)
		return config_fail(parser, line, "attempt to append to non-list option '%s'", row->name);
	return config_read_values(parser, row, token == TOKEN_APPEND);
}

static bool
config_read_settings(struct config_parser *parser)
{
	int token;

	while ((token = config_next_token(parser)) == TOKEN_WORD)
		if (!config_read_setting(parser))
			return false;
	if (token == '}')
		return config_fail(parser, parser->token_line, "unexpected closing brace");
	return token == TOKEN_END || config_refuse_token(parser, token);
}

/* Checks the values that may depend on others. */
static bool
config_check_values(const struct config_parser *parser)
{
	char error[256], buffer[OPTIONS_VALUE_MAX];
	const char *value;

	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (parser->lines[i] == 0 || parser->overridden_rows[i])
			continue;
		if (!options_check_needs(parser->config, row, "", error, sizeof error))
			return config_fail(parser, parser->lines[i], "%s needs %s", row->name, error);
		if (row->kind->check == NULL || row->kind->check(parser->config, row, error, sizeof error))
			continue;
		if (row->kind->list || (value = row->kind->get(parser->config, row, 0, buffer)) == NULL)
			return config_fail(parser, parser->lines[i], "%s: %s", row->name, error);
		return config_fail(parser, parser->lines[i], "%s = %s: %s", row->name, value, error);
	}
	return true;
}

/* Reads the whole text; the caller frees it.  NULL, with a message logged, on failure. */
static char *
config_read_text(FILE *stream, const struct config_parser *parser)
{
	char *text = malloc(CONFIG_TEXT_MAX + 2);
	size_t size = text != NULL ? fread(text, 1, CONFIG_TEXT_MAX + 1, stream) : 0, length;
	int line = 1;

	if (text == NULL || ferror(stream) || size > CONFIG_TEXT_MAX) {
		log_error("cannot read %s: %s", parser->name,
			  text == NULL	   ? "out of memory"
			  : ferror(stream) ? strerror(errno)
					   : "it is larger than 1 MiB");
		free(text);
		return NULL;
	}
	text[size] = '\0';
	length = strlen(text);
	if (length == size)
		return text;
	for (const char *at = text; at < text + length; at++)
		line += *at == '\n';
	config_fail(parser, line, "the file contains a NUL byte");
	free(text);
	return NULL;
}

bool
config_file_parse(FILE *stream, const char *name, struct config *config, const bool *overridden)
{
	struct config_parser parser = {.name = name, .line = 1, .config = config, .overridden_rows = overridden};
	char *text = config_read_text(stream, &parser);
	bool good = false;

	if (text == NULL)
		return false;
	parser.next = text;
	parser.value = malloc(CONFIG_TEXT_MAX + 1);
	if (parser.value == NULL || !config_set_defaults(&parser.discarded))
		log_error("cannot read %s: out of memory", name);
	else
		good = config_read_settings(&parser) && config_check_values(&parser);
	config_free(&parser.discarded);
	free(parser.value);
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
			 S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a plain file");
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
