/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/config_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

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

char *
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
