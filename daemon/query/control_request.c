/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
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

/* Length of the word "where". */
#define WHERE_LENGTH 5

/* Most bytes of a request, with its NUL. */

static const char *const command_names[REQUEST_COMMANDS] = {
    [REQUEST_STATUS] = "status",	 [REQUEST_CONNECTIONS] = "connections",
    [REQUEST_CONNECTION] = "connection", [REQUEST_PROBES] = "probes",
    [REQUEST_INTERFACES] = "interfaces", [REQUEST_COUNTERS] = "counters",
    [REQUEST_RELOAD] = "reload",	 [REQUEST_DEBUG] = "debug",
    [REQUEST_FORMULAS] = "formulas",	 [REQUEST_DEFINE] = "define",
    [REQUEST_UNDEFINE] = "undefine",	 [REQUEST_SITES] = "sites",
    [REQUEST_STREAM] = "stream",	 [REQUEST_WRITE] = "write",
    [REQUEST_CLOSED] = "closed",
};

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

/* ------------------------------------------------------------------------------------------------------ the request */

static unsigned
control_split_words(char *line, char *words[WORDS_MAX + 1], bool *json)
{
	unsigned count = 0;
	char *rest = line, *word;

	while ((word = strsep(&rest, " \t\r")) != NULL) {
		if (*word == '\0')
			continue;
		if (strcmp(word, "--json") == 0)
			*json = true;
		else if (count <= WORDS_MAX)
			words[count++] = word;
	}
	return count;
}

static bool
control_parse_topics(struct control_request *request, char *const words[], unsigned count, char *error, size_t size)
{
	for (unsigned i = 0; i < count; i++)
		if (!log_debug_parse(words[i], &request->debug_topics, error, size))
			return false;
	request->set_debug = count > 0;
	return true;
}

/* The value of an option "--NAME=VALUE"; NULL if a word is another one. */
static const char *
control_option_value(const char *word, const char *option)
{
	size_t length = strlen(option);

	return strncmp(word, option, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

/* Parses names and options in any order.  The names, joined with commas, and the fields replace the words: they are not
 * longer. */
static bool
control_parse_stream(struct control_request *request, char *const words[], unsigned count, char *error, size_t size)
{
	static const char option[] = "--fields=";
	char copy[CONTROL_REQUEST_MAX + 1];
	struct text_buffer texts = {.bytes = copy, .size = sizeof copy};
	const char *fields = NULL;

	request->names = "";
	for (unsigned i = 0; i < count; i++) {
		if (strncmp(words[i], option, sizeof option - 1) == 0) {
			if (fields != NULL) {
				snprintf(error, size, "stream: --fields is given twice");
				return false;
			}
			fields = words[i] + sizeof option - 1;
		} else if (words[i][0] == '-') {
			snprintf(error, size, "stream: unknown option \"%.40s\"", words[i]);
			return false;
		} else {
			text_add_format(&texts, "%s%s", texts.used > 0 ? "," : "", words[i]);
		}
	}
	if (count == 0)
		return true;
	if (fields != NULL) {
		request->fields = words[0] + texts.used + 1;
		text_add_format(&texts, "\n%s", fields);
	}
	memcpy(words[0], copy, texts.used);
	words[0][texts.used] = '\0';
	if (fields != NULL)
		words[0][request->fields - 1 - words[0]] = '\0';
	request->names = words[0];
	return true;
}

/* Parses an option of "connections". */
static bool
control_parse_connections_option(struct control_request *request, const char *word, char *error, size_t size)
{
	const char *fields = control_option_value(word, "--fields");

	if (fields != NULL)
		return connection_fields_parse(fields, &request->connection_fields, error, size);
	request->no_wait = strcmp(word, "--no-wait") == 0;
	if (!request->no_wait)
		snprintf(error, size,
			 "connections: unknown option \"%.40s\"; options are --json, --fields= and --no-wait", word);
	return request->no_wait;
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

static bool
control_parse_operands(struct control_request *request, char *const words[], unsigned count, char *error, size_t size)
{
	unsigned taken;

	if (request->command == REQUEST_CONNECTION) {
		if (count == 1 && control_parse_number(words[0], UINT64_MAX, &request->cid))
			return true;
		snprintf(error, size, "connection: expected one connection id, as listed by \"connections\"");
		return false;
	}
	if (request->command == REQUEST_STREAM)
		return control_parse_stream(request, words, count, error, size);
	if (request->command == REQUEST_DEBUG)
		return control_parse_topics(request, words, count, error, size);
	if (request->command == REQUEST_UNDEFINE || (request->command == REQUEST_FORMULAS && count > 0)) {
		request->formula = words[0];
		if (count != 1)
			snprintf(error, size, "%s: expected the name of a formula, as listed by \"formulas\"",
				 command_names[request->command]);
		return count == 1;
	}
	if (request->command != REQUEST_CONNECTIONS && count > 0) {
		snprintf(error, size, "%s takes no operands", command_names[request->command]);
		return false;
	}
	for (; count > 0 && strncmp(words[0], "--", 2) == 0; words++, count--)
		if (!control_parse_connections_option(request, words[0], error, size))
			return false;
	request->owners = control_wanted_owners(request);
	for (; count > 0; words += taken, count -= taken) {
		taken = filter_parse_condition(&request->filter, words, count, error, size);
		if (taken == 0)
			return false;
	}
	return true;
}

const char *
control_request_name(enum control_command command)
{
	return command_names[command];
}

static const char *
control_command_hint(const char *word, char hint[NEAREST_HINT_MAX])
{
	struct nearest nearest;

	nearest_begin(&nearest, word, strlen(word));
	for (unsigned i = 0; i < REQUEST_COMMANDS; i++)
		nearest_consider(&nearest, command_names[i]);
	return nearest_hint(&nearest, "", hint);
}

/* Cuts the blanks at the end of a definition or an expression, and a last "--json", which is not part of it. */
static void
control_cut_end(char *text, bool *json)
{
	static const char word[] = " --json";
	size_t length = strlen(text);

	while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL)
		text[--length] = '\0';
	if (length >= sizeof word - 1 && strcmp(text + length - (sizeof word - 1), word) == 0) {
		text[length - (sizeof word - 1)] = '\0';
		*json = true;
	}
}

/* Parses "define DEFINITION".  A definition is no list of words. */
static bool
control_parse_define(char *line, struct control_request *request)
{
	static const char command[] = "define";
	size_t blanks = strspn(line, " \t");
	char *definition = line + blanks + sizeof command - 1;

	if (strncmp(line + blanks, command, sizeof command - 1) != 0 || strspn(definition, " \t") == 0)
		return false;
	definition += strspn(definition, " \t");
	control_cut_end(definition, &request->json);
	request->command = REQUEST_DEFINE;
	request->formula = definition;
	return true;
}

/* The time of "--last", for the command `what`. */
static bool
control_parse_last(const char *what, const char *value, uint64_t *ns, char *error, size_t size)
{
	static const struct quantity last = {DIMENSION_TIME, 0, 1, 100 * UNITS_YEAR, false};
	char message[UNITS_ERROR_MAX];

	if (units_parse(&last, value, ns, message))
		return true;
	snprintf(error, size, "%s: %s, not \"%.40s\"", what, message, value);
	return false;
}

/* Parses an option of "write". */
static bool
control_parse_write_option(struct control_request *request, const char *word, char *error, size_t size)
{
	const char *value = strchr(word, '=');
	size_t length = value != NULL ? (size_t)(value++ - word) : 0;

	if (length == 8 && strncmp(word, "--format", 8) == 0) {
		request->format = capture_format_parse(value);
		if (request->format != CAPTURE_FORMATS)
			return true;
		snprintf(error, size, "write: the format is pcapng, pcap or snoop");
	} else if (length == 5 && strncmp(word, "--cid", 5) == 0) {
		if (control_parse_number(value, UINT64_MAX, &request->cid) && request->cid > 0)
			return true;
		snprintf(error, size, "write: --cid: expected a connection id, as listed by \"connections\"");
	} else if (length == 6 && strncmp(word, "--last", 6) == 0) {
		return control_parse_last("write: --last", value, &request->last_ns, error, size);
	} else if (strcmp(word, "--link-types") == 0) {
		request->link_types = true;
		return true;
	} else {
		snprintf(error, size,
			 "write: unknown option \"%.40s\"; options are --format=, --cid=, --last= and --link-types",
			 word);
	}
	return false;
}

/* Parses options, and the programs of the filter behind them: the rest of the line. */
static bool
control_parse_write(char *rest, struct control_request *request, char *error, size_t size)
{
	static const char blanks[] = " \t\r";

	request->command = REQUEST_WRITE;
	for (rest += strspn(rest, blanks); rest[0] == '-' && rest[1] == '-'; rest += strspn(rest, blanks)) {
		size_t length = strcspn(rest, blanks);
		bool last = rest[length] == '\0';

		rest[length] = '\0';
		if (strcmp(rest, "--json") != 0 && !control_parse_write_option(request, rest, error, size))
			return false;
		rest += last ? length : length + 1;
	}
	if (request->cid != 0 && request->last_ns != 0) {
		snprintf(error, size, "write: give either --cid or --last");
		return false;
	}
	request->programs = *rest != '\0' ? rest : NULL;
	return true;
}

/* Whether a text begins with the word "where", which is in front of an expression. */
static bool
control_is_where(const char *text)
{
	return strncmp(text, "where", WHERE_LENGTH) == 0 &&
	       (text[WHERE_LENGTH] == '\0' || strchr(" \t\r", text[WHERE_LENGTH]) != NULL);
}

/* The expression of "connections CONDITION... where EXPRESSION", which is cut from the line; NULL if there is none. */
static char *
control_cut_expression(char *words, bool *json)
{
	static const char blanks[] = " \t\r";

	for (words += strspn(words, blanks); *words != '\0'; words += strspn(words, blanks)) {
		if (control_is_where(words)) {
			*words = '\0';
			words += WHERE_LENGTH;
			control_cut_end(words, json);
			return words + strspn(words, blanks); /* columns of mistakes count from there */
		}
		words += strcspn(words, blanks);
	}
	return NULL;
}

/* Parses an option of "closed". */
static bool
control_parse_closed_option(struct control_request *request, const char *word, char *error, size_t size)
{
	const char *value;
	uint64_t limit;

	if (strcmp(word, "--json") == 0) {
		request->json = true;
		return true;
	}
	if (strcmp(word, "--notes") == 0) {
		request->notes = true;
		return true;
	}
	if ((value = control_option_value(word, "--fields")) != NULL) {
		request->fields = value;
		return true;
	}
	if ((value = control_option_value(word, "--sort")) != NULL) {
		request->sort = value;
		return true;
	}
	if ((value = control_option_value(word, "--limit")) != NULL) {
		request->limit = control_parse_number(value, UINT32_MAX, &limit) ? (uint32_t)limit : 0;
		if (request->limit > 0)
			return true;
		snprintf(error, size, "closed: --limit: expected a number of connections from 1, not \"%.40s\"", value);
	} else if ((value = control_option_value(word, "--last")) != NULL) {
		return control_parse_last("closed", value, &request->last_ns, error, size);
	} else {
		snprintf(error, size,
			 "closed: unknown option \"%.40s\"; options are --json, --notes, --last=, --fields=, "
			 "--sort= and --limit=",
			 word);
	}
	return false;
}

/* Parses options, and the expression behind them: the rest of the line. */
static bool
control_parse_closed(char *rest, struct control_request *request, char *error, size_t size)
{
	static const char blanks[] = " \t\r";

	request->command = REQUEST_CLOSED;
	for (rest += strspn(rest, blanks); rest[0] == '-' && rest[1] == '-'; rest += strspn(rest, blanks)) {
		size_t length = strcspn(rest, blanks);
		bool last = rest[length] == '\0';

		rest[length] = '\0';
		if (!control_parse_closed_option(request, rest, error, size))
			return false;
		rest += last ? length : length + 1;
	}
	if (control_is_where(rest)) {
		rest += WHERE_LENGTH;
		request->expression = rest + strspn(rest, blanks);
	} else if (*rest != '\0') {
		request->expression = rest;
	}
	return true;
}

/* What follows a command, NULL if the line is another request. */
static char *
control_operands(char *line, enum control_command command)
{
	size_t length = strlen(command_names[command]);

	line += strspn(line, " \t");
	if (strncmp(line, command_names[command], length) != 0 ||
	    (line[length] != '\0' && strchr(" \t\r", line[length]) == NULL))
		return NULL;
	return line + length;
}

bool
control_request_is_write(char *line)
{
	return control_operands(line, REQUEST_WRITE) != NULL;
}

bool
control_request_parse(char *line, struct control_request *request, char *error, size_t size)
{
	char *words[WORDS_MAX + 1], hint[NEAREST_HINT_MAX], *operands;
	unsigned count;

	*request = (struct control_request){0};
	operands = control_operands(line, REQUEST_WRITE);
	if (operands != NULL)
		return control_parse_write(operands, request, error, size);
	operands = control_operands(line, REQUEST_CLOSED);
	if (operands != NULL)
		return control_parse_closed(operands, request, error, size);
	if (control_parse_define(line, request))
		return true;
	operands = control_operands(line, REQUEST_CONNECTIONS);
	if (operands != NULL)
		request->expression = control_cut_expression(operands, &request->json);
	count = control_split_words(line, words, &request->json);
	if (count > WORDS_MAX && operands != NULL && filter_is_expression(words + 1, WORDS_MAX)) {
		filter_explain_expression(words + 1, WORDS_MAX, error, size);
		return false;
	}
	if (count == 0 || count > WORDS_MAX) {
		snprintf(error, size, count == 0 ? "the request is empty" : "the request has more than %d words",
			 WORDS_MAX);
		return false;
	}
	while (request->command < REQUEST_COMMANDS && strcmp(words[0], command_names[request->command]) != 0)
		request->command++;
	if (request->command == REQUEST_COMMANDS) {
		snprintf(error, size,
			 "unknown command%s; commands are status, connections, connection, probes, interfaces, "
			 "counters, reload, debug, formulas, define, undefine, sites, stream and write",
			 control_command_hint(words[0], hint));
		return false;
	}
	if (request->command == REQUEST_DEFINE) {
		snprintf(error, size, "define: expected a definition, NAME = PROBE where EXPRESSION");
		return false;
	}
	return control_parse_operands(request, words + 1, count - 1, error, size);
}
