/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_request.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "probes/nearest.h"

static const char blanks[] = " \t\r";

/* Parses a number without sign or blanks, from 0 to `most`. */
static bool
control_parse_number(const char *word, uint64_t most, uint64_t *value)
{
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	errno = 0;
	*value = strtoull(word, &end, 10);
	return errno == 0 && *end == '\0' && *value <= most;
}

/* -------------------------------------------------------------------------------------------------------- the table */

enum option_kind {
	OPTION_FLAG,   /* --NAME sets a bool */
	OPTION_NUMBER, /* --NAME=NUMBER, from 1 to `most`: a uint64_t */
	OPTION_TIME,   /* --NAME=TIME: ns, a uint64_t */
	OPTION_TEXT,   /* --NAME=TEXT, in the line that was parsed: a const char * */
	OPTION_FORMAT, /* --NAME=FORMAT: an enum capture_format */
};

/* Each option has a bit in the sets of the requests that take it. */
static const struct request_option {
	const char *name;
	enum option_kind kind;
	size_t offset; /* of its field in struct control_request */
	uint64_t most;
	const char *wanted; /* of a number, or a word */
} request_options[] = {
#define NO_WAIT (1u << 0)
    {"no-wait", OPTION_FLAG, offsetof(struct control_request, no_wait), 0, NULL},
#define CLOSED (1u << 1)
    {"closed", OPTION_FLAG, offsetof(struct control_request, closed), 0, NULL},
#define LAST (1u << 2)
    {"last", OPTION_TIME, offsetof(struct control_request, last_ns), 0, NULL},
#define FIELDS (1u << 3)
    {"fields", OPTION_TEXT, offsetof(struct control_request, fields), 0, NULL},
#define LIMIT (1u << 4)
    {"limit", OPTION_NUMBER, offsetof(struct control_request, limit), UINT32_MAX, "a number of connections from 1"},
#define FORMAT (1u << 5)
    {"format", OPTION_FORMAT, offsetof(struct control_request, format), 0, "pcapng, pcap or snoop"},
#define CID (1u << 6)
    {"cid", OPTION_NUMBER, offsetof(struct control_request, cid), UINT64_MAX,
     "a connection id, as listed by \"connections\""},
#define TEXT (1u << 7)
    {"text", OPTION_FLAG, offsetof(struct control_request, text), 0, NULL},
#define LINK_TYPES (1u << 8)
    {"link-types", OPTION_FLAG, offsetof(struct control_request, link_types), 0, NULL},
};

#define REQUEST_OPTIONS (sizeof request_options / sizeof request_options[0])

/* What follows the options: the rest of the line. */
enum operand_kind {
	OPERAND_NONE,
	OPERAND_WORD,	    /* one word */
	OPERAND_WORDS,	    /* words, joined with commas */
	OPERAND_TOPICS,	    /* of debug messages: like words */
	OPERAND_TEXT,	    /* as it is */
};

static const char a_formula[] = "the name of a formula, as listed by \"formulas\"";

static const struct request_row {
	const char *name;
	unsigned options;
	enum operand_kind operand;
	const char *wanted; /* of an operand: what it must be */
	bool needed;	    /* the operand must be there */
	/* What the request does that only root and the user that netobsd runs as may do, with an operand or always;
	 * NULL: nothing. */
	const char *privilege;
	bool always;
} request_rows[REQUEST_COMMANDS] = {
    [REQUEST_STATUS] = {.name = "status"},
    [REQUEST_CONNECTIONS] = {.name = "connections",
			     .options = NO_WAIT | CLOSED | LAST | FIELDS | LIMIT | CID,
			     .operand = OPERAND_TEXT},
    [REQUEST_PROBES] = {.name = "probes"},
    [REQUEST_INTERFACES] = {.name = "interfaces"},
    [REQUEST_COUNTERS] = {.name = "counters"},
    [REQUEST_RELOAD] = {.name = "reload", .privilege = "reload the configuration", .always = true},
    [REQUEST_DEBUG] = {.name = "debug", .operand = OPERAND_TOPICS, .privilege = "switch debug messages"},
    [REQUEST_FORMULAS] = {.name = "formulas", .operand = OPERAND_WORD, .wanted = a_formula},
    [REQUEST_DEFINE] = {.name = "define",
			.operand = OPERAND_TEXT,
			.wanted = "a definition, NAME = PROBE where EXPRESSION",
			.needed = true,
			.privilege = "define formulas",
			.always = true},
    [REQUEST_UNDEFINE] = {.name = "undefine",
			  .operand = OPERAND_WORD,
			  .wanted = a_formula,
			  .needed = true,
			  .privilege = "define formulas",
			  .always = true},
    [REQUEST_SITES] = {.name = "sites"},
    [REQUEST_STREAM] = {.name = "stream", .options = FIELDS | TEXT, .operand = OPERAND_WORDS},
    [REQUEST_WRITE] = {.name = "write",
		       .options = FORMAT | CID | LAST | LINK_TYPES,
		       .operand = OPERAND_TEXT,
		       .privilege = "write captures, which contain the traffic of all users",
		       .always = true},
};

const char *
control_request_name(enum control_command command)
{
	return request_rows[command].name;
}

const char *
control_request_privilege(const struct control_request *request)
{
	const struct request_row *row = &request_rows[request->command];

	return row->always || request->operand != NULL ? row->privilege : NULL;
}

/* ------------------------------------------------------------------------------------------------------ the options */

/* What a parser works with: a request, and room for a message. */
struct request_parser {
	struct control_request *request;
	const struct request_row *row;
	char *error;
	size_t size;
};

/* Cuts the first word from a text, and moves the text to the next one. */
static char *
parser_take_word(char **text)
{
	char *word = *text;

	*text += strcspn(*text, blanks);
	if (**text != '\0')
		*(*text)++ = '\0';
	*text += strspn(*text, blanks);
	return word;
}

static bool
parser_fail_unknown(const struct request_parser *parser, const char *word)
{
	char hint[NEAREST_HINT_MAX], list[128] = "";
	struct text_buffer options = {.bytes = list, .size = sizeof list};
	struct nearest nearest;
	unsigned left = parser->row->options;

	nearest_begin(&nearest, word + 2, strcspn(word + 2, "="));
	for (size_t i = 0; i < REQUEST_OPTIONS; i++) {
		if ((left >> i & 1) == 0)
			continue;
		left &= ~(1u << i);
		nearest_consider(&nearest, request_options[i].name);
		text_add_format(&options, "%s--%s%s",
				options.used == 0 ? ""
				: left != 0	  ? ", "
						  : " and ",
				request_options[i].name, request_options[i].kind != OPTION_FLAG ? "=" : "");
	}
	snprintf(parser->error, parser->size, "%s: unknown option \"%.40s\"%s; %s%s", parser->row->name, word,
		 nearest_hint(&nearest, "--", hint), options.used > 0 ? "options are " : "it takes none", list);
	return false;
}

static bool
parser_store(const struct request_parser *parser, const struct request_option *option, const char *value)
{
	void *field = (char *)parser->request + option->offset;
	char message[UNITS_ERROR_MAX];
	bool good = true;

	snprintf(message, sizeof message, "expected %s", option->wanted != NULL ? option->wanted : "");
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	case OPTION_NUMBER:
		good = control_parse_number(value, option->most, field) && *(uint64_t *)field > 0;
		break;
	case OPTION_TIME:
		good = units_parse(&quantity_last, value, field, message);
		break;
	case OPTION_TEXT:
		*(const char **)field = value;
		break;
	case OPTION_FORMAT:
		*(enum capture_format *)field = capture_format_parse(value);
		good = *(enum capture_format *)field != CAPTURE_FORMATS;
		break;
	}
	if (!good)
		snprintf(parser->error, parser->size, "%s: --%s: %s, not \"%.40s\"", parser->row->name, option->name,
			 message, value);
	return good;
}

/* Parses the options in front of the operand. */
static bool
parser_take_options(const struct request_parser *parser, char **rest)
{
	unsigned given = 0;

	while ((*rest)[0] == '-' && (*rest)[1] == '-') {
		const char *word = parser_take_word(rest), *value = strchr(word, '=');
		size_t length = value != NULL ? (size_t)(value++ - word) - 2 : strlen(word + 2), i = 0;
		const char *mistake = NULL;

		while (i < REQUEST_OPTIONS &&
		       ((parser->row->options >> i & 1) == 0 || strlen(request_options[i].name) != length ||
			strncmp(request_options[i].name, word + 2, length) != 0))
			i++;
		if (i == REQUEST_OPTIONS)
			return parser_fail_unknown(parser, word);
		if ((given >> i & 1) != 0)
			mistake = "is given twice";
		else if ((request_options[i].kind == OPTION_FLAG) != (value == NULL))
			mistake = value == NULL ? "needs a value" : "takes no value";
		if (mistake != NULL)
			snprintf(parser->error, parser->size, "%s: --%s %s", parser->row->name, request_options[i].name,
				 mistake);
		if (mistake != NULL || !parser_store(parser, &request_options[i], value))
			return false;
		given |= 1u << i;
	}
	if ((given & CID) != 0 && (given & LAST) != 0)
		snprintf(parser->error, parser->size, "%s: give either --cid or --last", parser->row->name);
	else if ((parser->row->options & CLOSED) != 0 && (given & LAST) != 0 && (given & CLOSED) == 0)
		snprintf(parser->error, parser->size, "%s: --last needs --closed", parser->row->name);
	else
		return true;
	return false;
}

/* ------------------------------------------------------------------------------------------------------ the operand */

/* Joins words with commas, in place. */
static void
operand_join_words(char *words)
{
	char *to = words;

	while (*words != '\0') {
		size_t length = strcspn(words, blanks), gap = strspn(words + length, blanks);

		memmove(to, words, length);
		to += length;
		words += length + gap;
		if (*words != '\0')
			*to++ = ',';
	}
	*to = '\0';
}

static bool
parser_fail_operand(const struct request_parser *parser)
{
	const struct request_row *row = parser->row;

	if (row->operand == OPERAND_NONE)
		snprintf(parser->error, parser->size, "%s takes no operands", row->name);
	else
		snprintf(parser->error, parser->size, "%s: expected %s", row->name, row->wanted);
	return false;
}

static bool
parser_take_operand(const struct request_parser *parser, char *rest)
{
	struct control_request *request = parser->request;

	if (*rest == '\0')
		return !parser->row->needed || parser_fail_operand(parser);
	request->operand = rest;
	switch (parser->row->operand) {
	case OPERAND_NONE:
		return parser_fail_operand(parser);
	case OPERAND_WORD:
		return rest[strcspn(rest, blanks)] == '\0' || parser_fail_operand(parser);
	case OPERAND_WORDS:
		operand_join_words(rest);
		if (strstr(rest, ",-") == NULL && *rest != '-')
			break;
		snprintf(parser->error, parser->size, "%s: options stand in front of names", parser->row->name);
		return false;
	case OPERAND_TOPICS:
		operand_join_words(rest);
		request->set_debug = true;
		return log_debug_parse(rest, &request->debug_topics, parser->error, parser->size);
	case OPERAND_TEXT:
		break;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------ the request */

/* Describes that there is no such request. */
static bool
request_fail_unknown(const char *word, char *error, size_t size)
{
	char hint[NEAREST_HINT_MAX], list[256];
	struct text_buffer names = {.bytes = list, .size = sizeof list};
	struct nearest nearest;

	nearest_begin(&nearest, word, strlen(word));
	for (unsigned i = 0; i < REQUEST_COMMANDS; i++) {
		nearest_consider(&nearest, request_rows[i].name);
		text_add_format(&names, "%s%s",
				i == 0			   ? ""
				: i + 1 < REQUEST_COMMANDS ? ", "
							   : " and ",
				request_rows[i].name);
	}
	snprintf(error, size, "unknown command%s; commands are %s", nearest_hint(&nearest, "", hint), list);
	return false;
}

bool
control_request_parse(char *line, struct control_request *request, char *error, size_t size)
{
	struct request_parser parser = {.request = request, .row = request_rows, .error = error, .size = size};
	size_t length = strlen(line);
	bool is_long = length >= CONTROL_REQUEST_MAX;
	char *word;

	*request = (struct control_request){0};
	while (length > 0 && strchr(blanks, line[length - 1]) != NULL)
		line[--length] = '\0';
	line += strspn(line, blanks);
	word = parser_take_word(&line);
	while (parser.row < request_rows + REQUEST_COMMANDS && strcmp(word, parser.row->name) != 0)
		parser.row++;
	request->command = (enum control_command)(parser.row - request_rows);
	if (is_long && request->command != REQUEST_WRITE)
		snprintf(error, size, "the request is longer than %u bytes", CONTROL_REQUEST_MAX);
	else if (*word == '\0')
		snprintf(error, size, "the request is empty");
	else if (request->command == REQUEST_COMMANDS)
		return request_fail_unknown(word, error, size);
	else
		return parser_take_options(&parser, &line) && parser_take_operand(&parser, line);
	return false;
}
