/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/config_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"

/* Lexical class of the current bytes. */
enum part {
	PART_PLAIN,
	PART_WORD,   /* unquoted; "10.0.0.0/8" and "a//b" are one word each */
	PART_DOUBLE, /* between quotes */
	PART_SINGLE,
	PART_LINE,   /* a comment to the end of its line */
	PART_BLOCK,  /* a comment until its end */
};

struct scan {
	const char *name;
	enum part part;
	int line;
	int began; /* line on which the part began */
};

static enum part
part_after(const struct scan *scan, const char *at)
{
	switch (scan->part) {
	case PART_PLAIN:
	case PART_WORD:
		if (*at == '#')
			return PART_LINE;
		if (*at == '"')
			return PART_DOUBLE;
		if (*at == '\'')
			return PART_SINGLE;
		if (strchr(" \t\r\n={}(),+", *at) != NULL)
			return PART_PLAIN;
		if (scan->part == PART_PLAIN && at[0] == '/' && (at[1] == '/' || at[1] == '*'))
			return at[1] == '/' ? PART_LINE : PART_BLOCK;
		return PART_WORD;
	case PART_DOUBLE:
		return *at == '"' ? PART_PLAIN : PART_DOUBLE;
	case PART_SINGLE:
		return *at == '\'' ? PART_PLAIN : PART_SINGLE;
	case PART_LINE:
		return *at == '\n' ? PART_PLAIN : PART_LINE;
	case PART_BLOCK:
		break;
	}
	return PART_BLOCK; /* left to blank_comments(), because the end has two characters */
}

/* Replaces comments by blanks, except for newlines.  False if the text ends inside quotes or a comment. */
static bool
blank_comments(struct scan *scan, char *text)
{
	for (char *at = text; *at != '\0'; at++) {
		enum part before = scan->part;

		scan->part = part_after(scan, at);
		if (scan->part != before)
			scan->began = scan->line;
		if ((before == PART_DOUBLE || before == PART_SINGLE) && *at == '\\' && at[1] != '\0')
			scan->line += *++at == '\n'; /* an escaped character never ends the part */
		else if (*at == '\n')
			scan->line++;
		else if (before == PART_BLOCK && at[0] == '*' && at[1] == '/') {
			*at++ = ' ';
			*at = ' ';
			scan->part = PART_PLAIN;
		} else if (scan->part == PART_LINE || scan->part == PART_BLOCK) {
			if (scan->part == PART_BLOCK && before != PART_BLOCK)
				*at++ = ' '; /* the start of a comment has two characters too */
			*at = ' ';
		}
	}
	return scan->part == PART_PLAIN;
}

static bool
complain(const struct scan *scan, int line, const char *what)
{
	log_error("%s:%d: %s", scan->name, line, what);
	return false;
}

static bool
clean(const char *name, char *text, size_t size)
{
	struct scan scan = {.name = name, .line = 1, .began = 1};
	const char *nothing = memchr(text, '\0', size);

	if (nothing != NULL) {
		for (const char *at = text; at < nothing; at++)
			scan.line += *at == '\n';
		return complain(&scan, scan.line, "the file contains a NUL byte");
	}
	if (blank_comments(&scan, text))
		return true;
	return complain(&scan, scan.began, scan.part == PART_BLOCK ? "unterminated comment" : "unterminated quote");
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
	if (clean(name, text, size))
		return text;
	free(text);
	return NULL;
}
