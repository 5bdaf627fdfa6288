/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/config_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"

/* Lexical class of the current bytes. */
enum scan_state {
	SCAN_PLAIN,
	PART_WORD,   /* unquoted; "10.0.0.0/8" and "a//b" are one word each */
	PART_DOUBLE, /* between quotes */
	PART_SINGLE,
	PART_LINE,   /* a comment to the end of its line */
	PART_BLOCK,  /* a comment until its end */
};

struct config_scanner {
	const char *name;
	enum scan_state state;
	int line;
	int state_line; /* line on which the part began */
};

static enum scan_state
scan_next_state(const struct config_scanner *scanner, const char *at)
{
	switch (scanner->state) {
	case SCAN_PLAIN:
	case PART_WORD:
		if (*at == '#')
			return PART_LINE;
		if (*at == '"')
			return PART_DOUBLE;
		if (*at == '\'')
			return PART_SINGLE;
		if (strchr(" \t\r\n={}(),+", *at) != NULL)
			return SCAN_PLAIN;
		if (scanner->state == SCAN_PLAIN && at[0] == '/' && (at[1] == '/' || at[1] == '*'))
			return at[1] == '/' ? PART_LINE : PART_BLOCK;
		return PART_WORD;
	case PART_DOUBLE:
		return *at == '"' ? SCAN_PLAIN : PART_DOUBLE;
	case PART_SINGLE:
		return *at == '\'' ? SCAN_PLAIN : PART_SINGLE;
	case PART_LINE:
		return *at == '\n' ? SCAN_PLAIN : PART_LINE;
	case PART_BLOCK:
		break;
	}
	return PART_BLOCK; /* left to blank_comments(), because the end has two characters */
}

/* Replaces comments by blanks, except for newlines.  False if the text ends inside quotes or a comment. */
static bool
blank_comments(struct config_scanner *scanner, char *text)
{
	for (char *at = text; *at != '\0'; at++) {
		enum scan_state before = scanner->state;

		scanner->state = scan_next_state(scanner, at);
		if (scanner->state != before)
			scanner->state_line = scanner->line;
		if ((before == PART_DOUBLE || before == PART_SINGLE) && *at == '\\' && at[1] != '\0')
			scanner->line += *++at == '\n'; /* an escaped character never ends the part */
		else if (*at == '\n')
			scanner->line++;
		else if (before == PART_BLOCK && at[0] == '*' && at[1] == '/') {
			*at++ = ' ';
			*at = ' ';
			scanner->state = SCAN_PLAIN;
		} else if (scanner->state == PART_LINE || scanner->state == PART_BLOCK) {
			if (scanner->state == PART_BLOCK && before != PART_BLOCK)
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
	const char *nothing = memchr(text, '\0', size);

	if (nothing != NULL) {
		for (const char *at = text; at < nothing; at++)
			scanner.line += *at == '\n';
		return config_text_log_error(&scanner, scanner.line, "the file contains a NUL byte");
	}
	if (blank_comments(&scanner, text))
		return true;
	return config_text_log_error(&scanner, scanner.state_line,
				     scanner.state == PART_BLOCK ? "unterminated comment" : "unterminated quote");
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
