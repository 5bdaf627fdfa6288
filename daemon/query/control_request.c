/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "probes/nearest.h"

#define WORDS_MAX 16

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

/* ------------------------------------------------------------------------------------------------------- the filter */

static bool
filter_set_port(struct control_filter *filter, const char *word)
{
	uint64_t port;

	filter->has_port = control_parse_number(word, UINT16_MAX, &port);
	filter->port = filter->has_port ? (uint16_t)port : 0;
	return filter->has_port;
}

static bool
filter_set_host(struct control_filter *filter, const char *word)
{
	filter->version = strchr(word, ':') != NULL ? 6 : 4;
	filter->has_host = inet_pton(filter->version == 6 ? AF_INET6 : AF_INET, word, filter->host) == 1;
	return filter->has_host;
}

static bool
filter_set_protocol(struct control_filter *filter, const char *word)
{
	static const struct {
		const char *word;
		uint8_t protocol;
	} known[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"sctp", IPPROTO_SCTP}};

	filter->has_protocol = false; /* an earlier condition may have set it */
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(word, known[i].word) == 0) {
			filter->protocol = known[i].protocol;
			filter->has_protocol = true;
		}
	}
	return filter->has_protocol;
}

/* Accepts a state with or without its prefix: "established", "state-established". */
static bool
filter_state_matches(const char *name, const char *word)
{
	return strncmp(name, "state-", 6) == 0 && strcmp(name + 6, word) == 0;
}

static bool
filter_set_state(struct control_filter *filter, const char *word)
{
	bool known = false;

	if (strncmp(word, "state-", 6) == 0)
		word += 6;
	for (unsigned i = 0; i < TCP_STATE_COUNT; i++)
		known |= filter_state_matches(tcp_state_name((enum tcp_state)i), word);
	for (unsigned i = 0; i < SCTP_STATE_COUNT; i++)
		known |= filter_state_matches(sctp_state_name((enum sctp_state)i), word);
	snprintf(filter->state, sizeof filter->state, "%s", known ? word : "");
	return known;
}

static bool
filter_set_cid(struct control_filter *filter, const char *word)
{
	return control_parse_number(word, UINT64_MAX, &filter->cid) && filter->cid > 0;
}

static const struct {
	const char *key;
	bool (*set)(struct control_filter *filter, const char *word);
	const char *wanted;
} filter_conditions[] = {
    {"state", filter_set_state, "a state like established or time-wait"},
    {"port", filter_set_port, "a number from 0 to 65535"},
    {"host", filter_set_host, "an IPv4 or IPv6 address"},
    {"proto", filter_set_protocol, "tcp, udp or sctp"},
    {"cid", filter_set_cid, "a connection id"},
};

/* Whether words contain an operator of expressions, which conditions do not have. */
static bool
filter_is_expression(char *const words[], unsigned count)
{
	static const char *const operators[] = {"in", "like", "matches", "contains", "and", "or", "not"};

	for (unsigned i = 0; i < count; i++) {
		if (strpbrk(words[i], "<>!&|~(\"") != NULL || strstr(words[i], "==") != NULL)
			return true;
		for (size_t j = 0; j < sizeof operators / sizeof operators[0]; j++)
			if (strcmp(words[i], operators[j]) == 0)
				return true;
	}
	return false;
}

/* Describes an expression that has no "where", or a misspelt one, in front. */
static void
filter_explain_expression(char *const words[], unsigned count, char *error, size_t size)
{
	char text[80], hint[NEAREST_HINT_MAX];
	struct text_buffer expression = {.bytes = text, .size = sizeof text};
	struct nearest nearest;

	nearest_begin(&nearest, words[0], strlen(words[0]));
	nearest_consider(&nearest, "where");
	if (nearest.found != NULL) {
		snprintf(error, size, "unknown condition \"%.20s\"%s", words[0], nearest_hint(&nearest, "", hint));
		return;
	}
	for (unsigned i = 0; i < count && !expression.truncated; i++)
		text_add_format(&expression, " %s", words[i]);
	snprintf(error, size, "an expression needs the word \"where\" in front: where%s%s", text,
		 expression.truncated || count == WORDS_MAX ? "..." : "");
}

static void
filter_explain_unknown(char *const words[], unsigned count, char *error, size_t size)
{
	char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	if (filter_is_expression(words, count)) {
		filter_explain_expression(words, count, error, size);
		return;
	}
	nearest_begin(&nearest, words[0], strcspn(words[0], "="));
	for (size_t i = 0; i < sizeof filter_conditions / sizeof filter_conditions[0]; i++)
		nearest_consider(&nearest, filter_conditions[i].key);
	nearest_consider(&nearest, "where");
	snprintf(error, size, "unknown condition \"%.20s\"%s: state, port, host, proto, cid or where EXPRESSION",
		 words[0], nearest_hint(&nearest, "", hint));
}

/* Parses "port 80" or "port=80".  Returns the number of words used, 0 with `error` if they are invalid. */
static unsigned
filter_parse_condition(struct control_filter *filter, char *const words[], unsigned count, char *error, size_t size)
{
	size_t length = strcspn(words[0], "=");
	bool joined = words[0][length] == '=';
	const char *value = joined ? words[0] + length + 1 : count > 1 ? words[1] : "";

	for (size_t i = 0; i < sizeof filter_conditions / sizeof filter_conditions[0]; i++) {
		if (strlen(filter_conditions[i].key) != length ||
		    strncmp(filter_conditions[i].key, words[0], length) != 0)
			continue;
		if ((joined || count > 1) && filter_conditions[i].set(filter, value))
			return joined ? 1 : 2;
		snprintf(error, size, "%s: expected %s", filter_conditions[i].key, filter_conditions[i].wanted);
		return 0;
	}
	filter_explain_unknown(words, count, error, size);
	return 0;
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
#define JSON (1u << 0)
    {"json", OPTION_FLAG, offsetof(struct control_request, json), 0, NULL},
#define NO_WAIT (1u << 1)
    {"no-wait", OPTION_FLAG, offsetof(struct control_request, no_wait), 0, NULL},
#define NOTES (1u << 2)
    {"notes", OPTION_FLAG, offsetof(struct control_request, notes), 0, NULL},
#define LAST (1u << 3)
    {"last", OPTION_TIME, offsetof(struct control_request, last_ns), 0, NULL},
#define FIELDS (1u << 4)
    {"fields", OPTION_TEXT, offsetof(struct control_request, fields), 0, NULL},
#define SORT (1u << 5)
    {"sort", OPTION_TEXT, offsetof(struct control_request, sort), 0, NULL},
#define LIMIT (1u << 6)
    {"limit", OPTION_NUMBER, offsetof(struct control_request, limit), UINT32_MAX, "a number of connections from 1"},
#define FORMAT (1u << 7)
    {"format", OPTION_FORMAT, offsetof(struct control_request, format), 0, "pcapng, pcap or snoop"},
#define CID (1u << 8)
    {"cid", OPTION_NUMBER, offsetof(struct control_request, cid), UINT64_MAX,
     "a connection id, as listed by \"connections\""},
#define TEXT (1u << 9)
    {"text", OPTION_FLAG, offsetof(struct control_request, text), 0, NULL},
#define LINK_TYPES (1u << 10)
    {"link-types", OPTION_FLAG, offsetof(struct control_request, link_types), 0, NULL},
};

#define REQUEST_OPTIONS (sizeof request_options / sizeof request_options[0])

/* What follows the options: the rest of the line. */
enum operand_kind {
	OPERAND_NONE,
	OPERAND_CID,
	OPERAND_WORD,	    /* one word */
	OPERAND_WORDS,	    /* words, joined with commas */
	OPERAND_TOPICS,	    /* of debug messages: like words */
	OPERAND_TEXT,	    /* as it is */
	OPERAND_EXPRESSION, /* with the word "where" in front, or without */
	OPERAND_CONDITIONS, /* of connections, and "where EXPRESSION" */
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
    [REQUEST_CONNECTIONS] = {.name = "connections", .options = JSON | FIELDS | NO_WAIT, .operand = OPERAND_CONDITIONS},
    [REQUEST_CONNECTION] = {.name = "connection",
			    .options = JSON,
			    .operand = OPERAND_CID,
			    .wanted = "one connection id, as listed by \"connections\"",
			    .needed = true},
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
    [REQUEST_CLOSED] = {.name = "closed",
			.options = JSON | NOTES | LAST | FIELDS | SORT | LIMIT,
			.operand = OPERAND_EXPRESSION},
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
	static const struct quantity time = {DIMENSION_TIME, 0, 1, 100 * UNITS_YEAR, false};
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
		good = units_parse(&time, value, field, message);
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
	if ((given & CID) == 0 || (given & LAST) == 0)
		return true;
	snprintf(parser->error, parser->size, "%s: give either --cid or --last", parser->row->name);
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

/* The expression after the word "where"; NULL if a text does not begin with this word. */
static char *
operand_after_where(char *text)
{
	static const char where[] = "where";

	if (strncmp(text, where, sizeof where - 1) != 0 || strcspn(text, blanks) != sizeof where - 1)
		return NULL;
	text += sizeof where - 1;
	return text + strspn(text, blanks); /* columns of mistakes count from there */
}

/* The owners that a reply about connections shows or selects by.  An expression names their fields, client_pid to
 * server_comm. */
static enum owners_wanted
control_wanted_owners(const struct control_request *request)
{
	static const char *const fields[] = {"_pid", "_uid", "_comm"};

	for (size_t i = 0; request->expression != NULL && i < sizeof fields / sizeof fields[0]; i++)
		if (strstr(request->expression, fields[i]) != NULL)
			return OWNERS_BOTH;
	if (request->connection_fields.count > 0)
		return request->connection_fields.owners ? OWNERS_LOCAL : OWNERS_NONE;
	return request->json ? OWNERS_BOTH : OWNERS_LOCAL;
}

/* Parses "CONDITION... where EXPRESSION". */
static bool
operand_parse_conditions(const struct request_parser *parser, char *rest)
{
	struct control_request *request = parser->request;
	char *words[WORDS_MAX];
	unsigned count = 0, taken;

	if (request->fields != NULL &&
	    !connection_fields_parse(request->fields, &request->connection_fields, parser->error, parser->size))
		return false;
	while (*rest != '\0' && count < WORDS_MAX && (request->expression = operand_after_where(rest)) == NULL)
		words[count++] = parser_take_word(&rest);
	request->owners = control_wanted_owners(request);
	if (count == WORDS_MAX && request->expression == NULL) {
		if (filter_is_expression(words, count))
			filter_explain_expression(words, count, parser->error, parser->size);
		else
			snprintf(parser->error, parser->size, "the request has more than %d words", WORDS_MAX);
		return false;
	}
	for (unsigned i = 0; i < count; i += taken) {
		taken = filter_parse_condition(&request->filter, words + i, count - i, parser->error, parser->size);
		if (taken == 0)
			return false;
	}
	return true;
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

	if (*rest == '\0' && parser->row->operand != OPERAND_CONDITIONS) /* which read the options, too */
		return !parser->row->needed || parser_fail_operand(parser);
	request->operand = rest;
	switch (parser->row->operand) {
	case OPERAND_NONE:
		return parser_fail_operand(parser);
	case OPERAND_CID:
		return control_parse_number(rest, UINT64_MAX, &request->cid) || parser_fail_operand(parser);
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
	case OPERAND_EXPRESSION:
		request->expression = operand_after_where(rest);
		if (request->expression == NULL)
			request->expression = rest;
		break;
	case OPERAND_CONDITIONS:
		return operand_parse_conditions(parser, rest);
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
