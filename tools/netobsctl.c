/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsctl(8): sends a request to a running netobsd and prints the reply. */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "probes/nearest.h"
#include "tools/connections/connections.h"
#include "tools/connections/top.h"
#include "tools/control_client.h"
#include "tools/reply_text.h"
#include "tools/site_names.h"
#include "tools/stream.h"
#include "tools/write.h"

#define DEFAULT_SOCKET "/run/netobs/control"

/* Exit status: netobsd has carried out the request, but a probe site does not have the name of its formula. */
#define EXIT_NAMES 2

static void
ctl_print_help(FILE *to)
{
	fputs("Usage: netobsctl [-s SOCKET] COMMAND [--json]\n"
	      "  status                  version, binary, how to attach a tracer, frames\n"
	      "                          observed and dropped\n"
	      "  connections [EXPRESSION]\n"
	      "                          tracked connections for which it is true, such as\n"
	      "                          'server_port == 443 && client_resent > 3'\n"
	      "  connections --closed [TIME] [EXPRESSION]\n"
	      "                          connections that ended in the last 10s, 5m or\n"
	      "                          2h, or all that are kept (all)\n"
	      "  connection CID          one connection in detail\n"
	      "  top [EXPRESSION]        connections on the whole terminal, with rates\n"
	      "  probes                  enabled probes and their firings\n"
	      "  interfaces              observed interfaces and their state\n"
	      "  counters                all counters\n"
	      "  reload                  reload the configuration file\n"
	      "  debug [TOPIC,...]       topics of debug messages; with topics, all or off: log\n"
	      "                          exactly these\n"
	      "  formulas [NAME]         formulas and their counts; one in detail, with the\n"
	      "                          commands that attach tracers\n"
	      "  define DEFINITION       define a formula: 'NAME = PROBE where EXPRESSION'\n"
	      "  undefine NAME           remove a formula\n"
	      "  sites                   probe sites of formulas and their names\n"
	      "  stream [NAME]...        firings of these probes and formulas, one per line\n"
	      "                          (connection-end)\n"
	      "  write -w FILE [FILTER]  frames of the flight memory; FILTER: pcap-filter(7)\n"
	      "  write --on NAME,... --dir DIRECTORY\n"
	      "                          a capture file of each connection for which one of\n"
	      "                          these probes and formulas fires\n"
	      "\n"
	      "  -s, --socket SOCKET     control socket of netobsd (" DEFAULT_SOCKET ")\n"
	      "  -j, --json              reply as JSON, one object a line\n"
	      "  -o, --fields FIELD,...  connections, stream: only these fields, in this order\n"
	      "      --sort FIELD        connections, top: sort by this field, -FIELD: in\n"
	      "                          reverse\n"
	      "      --limit NUMBER      connections: only the first lines\n"
	      "  -P                      connections: colons between values, no titles\n"
	      "  -i SECONDS              connections, top: rates, at this interval (top: 2)\n"
	      "      --closed[=TIME]     connections: those that have ended\n"
	      "  -c NUMBER               connections -i: only as many tables\n"
	      "      --dir DIRECTORY     stream: zstd files of JSON lines in this directory;\n"
	      "                          write --on: the directory of its files (-d)\n"
	      "      --rotate SIZE|TIME  with --dir: a new file after 100M of lines (the\n"
	      "                          default), or after 1h\n"
	      "  -w FILE                 write: this file, - for standard output\n"
	      "      --cid CID           write: only frames of this connection\n"
	      "      --last TIME         write: only frames of the last 500ms, 10s, 5m or 2h\n"
	      "      --format FORMAT     write: pcapng (the default), pcap or snoop\n"
	      "      --on NAME,...       write: at each firing of these probes and formulas\n"
	      "      --after TIME        write --on: packets up to 1s (the default) after a\n"
	      "                          firing\n"
	      "      --max-files NUMBER  write --on: most files in the directory (100)\n"
	      "      --max-size SIZE     write: most bytes of the file (4G); with --on: of all\n"
	      "                          these files (1G)\n"
	      "      --max-rate RATE     write --on: most files in a time (10/s)\n"
	      "  -h, --help              this help\n"
	      "  -V, --version           the version\n"
	      "\n"
	      "Exit status: 0 success, 1 failure, 2 success but for the name of a probe site,\n"
	      "or a stream that broke off.\n"
	      "See netobsctl(8) for details.\n",
	      to);
}

/* ------------------------------------------------------------------------------------------------------ the request */

/* Joins words.  False if the request is too long, or if a word contains a newline. */
static bool
ctl_join_words(char request[CLIENT_REQUEST_MAX], char **words, int count)
{
	size_t used = 0;

	for (int i = 0; i < count; i++) {
		size_t length = strlen(words[i]);

		if (used + length + 3 >= CLIENT_REQUEST_MAX || strpbrk(words[i], "\n\r") != NULL)
			return false;
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, "%s%s", i > 0 ? " " : "", words[i]);
	}
	snprintf(request + used, CLIENT_REQUEST_MAX - used, "\n");
	return true;
}

/* ---------------------------------------------------------------------------------------------------- the commands */

/* Returns the exit status after a request that changed formulas: the names of their sites were brought up to date, or
 * `error` is the reason why not. */
static int
ctl_log_names(bool updated, const char *error)
{
	if (error[0] != '\0')
		client_log_error(error, NULL);
	return updated ? EXIT_SUCCESS : EXIT_NAMES;
}

/* Prints the reply to a request: as it is, or as text. */
static bool
ctl_print(const char *path, const char *request, char **words, bool json)
{
	if (json)
		return client_print_reply(path, request, stdout);
	return reply_text_print(path, request,
				strcmp(words[0], "formulas") == 0 && words[1] != NULL ? "formula" : words[0]);
}

/* Defines a formula, then gives its site its name.  At every moment the formula has a site that tracers can use: the
 * one with the default name until the file has the name of the formula. */
static int
ctl_define(const char *path, const char *request, const char *definition, bool json)
{
	char error[SITE_NAMES_ERROR_MAX] = "", name[FORMULA_NAME_MAX + 1], details[FORMULA_NAME_MAX + 32];
	char formulas[] = "formulas", *words[] = {formulas, name, NULL};
	bool updated;

	definition += strspn(definition, " \t");
	snprintf(name, sizeof name, "%.*s", (int)strcspn(definition, " \t="), definition);
	if (!client_print_reply(path, request, NULL))
		return EXIT_FAILURE;
	updated = site_names_update(path, name, true, error);
	snprintf(details, sizeof details, "formulas %s\n", name);
	if (!ctl_print(path, details, words, json))
		return EXIT_FAILURE;
	return ctl_log_names(updated, error);
}

static int
ctl_run(const char *path, const char *request, char **words, bool json)
{
	char error[SITE_NAMES_ERROR_MAX] = "";

	if (strcmp(words[0], "define") == 0 && words[1] != NULL)
		return ctl_define(path, request, request + strlen("define "), json);
	if (!ctl_print(path, request, words, json))
		return EXIT_FAILURE;
	if (strcmp(words[0], "undefine") == 0 && words[1] != NULL)
		return ctl_log_names(site_names_update(path, words[1], false, error), error);
	if (strcmp(words[0], "reload") == 0)
		return ctl_log_names(site_names_update(path, NULL, true, error), error);
	return EXIT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------ the options */

/* Options without a letter. */
enum {
	OPTION_ROTATE = 256,
	OPTION_CID,
	OPTION_LAST,
	OPTION_CLOSED,
	OPTION_FORMAT,
	OPTION_ON,
	OPTION_AFTER,
	OPTION_MAX_FILES,
	OPTION_MAX_SIZE,
	OPTION_MAX_RATE,
	OPTION_SORT,
	OPTION_LIMIT,
};

/* The value of --closed for all connections that are kept. */
static const char closed_all[] = "all";

static const struct option ctl_options[] = {
    {.name = "socket", .has_arg = required_argument, .val = 's'},
    {.name = "json", .val = 'j'},
    {.name = "fields", .has_arg = required_argument, .val = 'o'},
    {.name = "dir", .has_arg = required_argument, .val = 'd'},
    {.name = "rotate", .has_arg = required_argument, .val = OPTION_ROTATE},
    {.name = "cid", .has_arg = required_argument, .val = OPTION_CID},
    {.name = "closed", .has_arg = optional_argument, .val = OPTION_CLOSED},
    {.name = "last", .has_arg = required_argument, .val = OPTION_LAST},
    {.name = "format", .has_arg = required_argument, .val = OPTION_FORMAT},
    {.name = "on", .has_arg = required_argument, .val = OPTION_ON},
    {.name = "after", .has_arg = required_argument, .val = OPTION_AFTER},
    {.name = "max-files", .has_arg = required_argument, .val = OPTION_MAX_FILES},
    {.name = "max-size", .has_arg = required_argument, .val = OPTION_MAX_SIZE},
    {.name = "max-rate", .has_arg = required_argument, .val = OPTION_MAX_RATE},
    {.name = "sort", .has_arg = required_argument, .val = OPTION_SORT},
    {.name = "limit", .has_arg = required_argument, .val = OPTION_LIMIT},
    {.name = "help", .val = 'h'},
    {.name = "version", .val = 'V'},
    {.name = NULL},
};

/* Messages for options without their value. */
static const struct {
	int option;
	const char *message;
} ctl_values[] = {
    {'s', "--socket needs a value: SOCKET"},
    {'d', "--dir needs a value: DIRECTORY"},
    {'o', "--fields needs a value: FIELD,..."},
    {OPTION_ROTATE, "--rotate needs a value: SIZE or TIME"},
    {OPTION_SORT, "--sort needs a value: FIELD"},
    {OPTION_LIMIT, "--limit needs a value: NUMBER"},
    {'i', "-i needs a value: SECONDS"},
    {'c', "-c needs a value: NUMBER"},
    {'w', "-w needs a value: FILE"},
    {OPTION_CID, "--cid needs a value: CID"},
    {OPTION_LAST, "--last needs a value: TIME"},
    {OPTION_ON, "--on needs a value: NAME,..."},
    {OPTION_FORMAT, "--format needs a value: pcapng, pcap or snoop"},
    {OPTION_AFTER, "--after needs a value: TIME"},
    {OPTION_MAX_FILES, "--max-files needs a value: NUMBER"},
    {OPTION_MAX_SIZE, "--max-size needs a value: SIZE"},
    {OPTION_MAX_RATE, "--max-rate needs a value: NUMBER/UNIT"},
};

/* Reports what '?' or ':' from getopt_long() means. */
static int
ctl_log_wrong_option(int option, const char *word)
{
	char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	if (option == ':') {
		for (size_t i = 0; i < sizeof ctl_values / sizeof ctl_values[0]; i++)
			if (ctl_values[i].option == optopt)
				client_log("netobsctl", "%s", ctl_values[i].message);
		return EXIT_FAILURE;
	}
	if (optopt > 0 && strchr("jhPV", optopt) != NULL) {
		client_log("netobsctl", "%.*s takes no value", (int)strcspn(word, "="), word);
		return EXIT_FAILURE;
	}
	if (optopt != 0) {
		client_log("netobsctl", "unknown option -%c; netobsctl --help lists the options", optopt);
		return EXIT_FAILURE;
	}
	nearest_begin(&nearest, word + 2, strcspn(word + 2, "="));
	for (const struct option *known = ctl_options; known->name != NULL; known++)
		nearest_consider(&nearest, known->name);
	client_log("netobsctl", "unknown or ambiguous option %s%s; netobsctl --help lists the options", word,
		   nearest_hint(&nearest, "--", hint));
	return EXIT_FAILURE;
}

struct ctl_arguments {
	const char *path;
	struct stream_options stream;
	struct write_options write; /* its format is also that of `write --on` */
	struct write_on_options write_on;
	struct connections_options connections;
};

/* Stores the value of an option.  False if it takes no value. */
static bool
ctl_set_value(struct ctl_arguments *arguments, int option)
{
	const struct {
		int option;
		const char **value;
	} values[] = {
	    {'s', &arguments->path},
	    {'d', &arguments->stream.directory},
	    {'o', &arguments->stream.fields}, /* also those of connections */
	    {OPTION_ROTATE, &arguments->stream.rotate},
	    {OPTION_SORT, &arguments->connections.sort},
	    {OPTION_LIMIT, &arguments->connections.limit},
	    {'i', &arguments->connections.interval},
	    {'c', &arguments->connections.count},
	    {'w', &arguments->write.file},
	    {OPTION_CID, &arguments->write.cid},
	    {OPTION_LAST, &arguments->write.last},
	    {OPTION_FORMAT, &arguments->write.format},
	    {OPTION_ON, &arguments->write_on.on},
	    {OPTION_AFTER, &arguments->write_on.after},
	    {OPTION_MAX_FILES, &arguments->write_on.max_files},
	    {OPTION_MAX_SIZE, &arguments->write_on.max_size}, /* also that of `write` without --on */
	    {OPTION_MAX_RATE, &arguments->write_on.max_rate},
	};

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		if (values[i].option == option) {
			*values[i].value = optarg;
			return true;
		}
	return false;
}

/* The value of --closed: after "=", or the next word if it is "all" or begins with a digit, which an expression rarely
 * does. */
static const char *
ctl_closed_time(char **argv)
{
	const char *next = argv[optind];

	if (optarg != NULL)
		return optarg;
	if (next == NULL || ((next[0] < '0' || next[0] > '9') && strcmp(next, closed_all) != 0))
		return closed_all;
	optind++;
	return next;
}

/* Parses the options.  False with the exit status, if they end the program. */
static bool
ctl_parse_options(int argc, char **argv, struct ctl_arguments *arguments, int *status)
{
	int option;

	opterr = 0; /* netobsctl prints its own messages */
	while ((option = getopt_long(argc, argv, ":s:c:d:i:o:w:jhPV", ctl_options, NULL)) != -1) {
		if (ctl_set_value(arguments, option))
			continue;
		switch (option) {
		case OPTION_CLOSED:
			arguments->connections.closed = ctl_closed_time(argv);
			break;
		case 'j':
			arguments->stream.json = arguments->connections.json = true;
			break;
		case 'P':
			arguments->connections.parsable = true;
			break;
		case 'h':
			closed_output_end_quietly();
			ctl_print_help(stdout);
			*status = client_end_output() ? EXIT_SUCCESS : EXIT_FAILURE;
			return false;
		case 'V':
			closed_output_end_quietly();
			puts("netobsctl " PACKAGE_VERSION);
			*status = client_end_output() ? EXIT_SUCCESS : EXIT_FAILURE;
			return false;
		default:
			*status = ctl_log_wrong_option(option, argv[optind - 1]);
			return false;
		}
	}
	return true;
}

/* The mistake in the options of `connections` and `top`, NULL if there is none. */
static const char *
ctl_check_table(const struct connections_options *table, const char *command)
{
	bool connections = strcmp(command, "connections") == 0, top = strcmp(command, "top") == 0;
	bool intervals = table->count != NULL || table->interval != NULL;

	if (!connections && (table->closed != NULL || table->limit != NULL || table->count != NULL || table->parsable))
		return "--closed, --limit, -c and -P are options of the command connections only";
	if (!connections && !top && (table->sort != NULL || table->interval != NULL))
		return "--sort and -i are options of the commands connections and top only";
	if (top && table->json)
		return "top has no --json";
	if (table->closed != NULL && intervals)
		return "-i and -c are for open connections, not for --closed";
	if (table->count != NULL && table->interval == NULL)
		return "-c needs -i SECONDS";
	if (table->json && table->parsable)
		return "-P makes lines with colons: give either -P or --json";
	return NULL;
}

/* Options of some commands are mistakes in the others. */
static bool
ctl_check_options(const struct ctl_arguments *arguments, const char *command)
{
	const struct stream_options *stream = &arguments->stream;
	const struct write_options *write = &arguments->write;
	const struct write_on_options *on = &arguments->write_on;
	bool streams = strcmp(command, "stream") == 0, writes = strcmp(command, "write") == 0;
	bool at_firings = writes && on->on != NULL;
	const char *mistake = ctl_check_table(&arguments->connections, command);

	if (mistake != NULL)
		return client_log_error(mistake, NULL) == EXIT_SUCCESS;
	if (!writes && (write->file != NULL || write->cid != NULL || write->last != NULL || write->format != NULL ||
			on->on != NULL || on->max_size != NULL))
		mistake = "-w, --cid, --last, --format, --on and --max-size are options of the command write only";
	else if (!at_firings && (on->after != NULL || on->max_files != NULL || on->max_rate != NULL))
		mistake = "--after, --max-files and --max-rate are options of write --on only";
	else if (at_firings && (write->file != NULL || write->cid != NULL || write->last != NULL))
		mistake = "write --on takes no -w, --cid and --last: it writes a file of each connection to --dir";
	else if (!streams && stream->rotate != NULL)
		mistake = "--rotate is an option of the command stream only";
	else if (!streams && strcmp(command, "connections") != 0 && stream->fields != NULL)
		mistake = "--fields is an option of the commands connections and stream only";
	else if (!streams && !at_firings && stream->directory != NULL)
		mistake = "--dir is an option of stream and write --on only";
	if (mistake != NULL)
		client_log_error(mistake, NULL);
	return mistake == NULL;
}

/* `write`: now, or at each firing of the names that --on has. */
static int
ctl_write(const struct ctl_arguments *arguments, char **words, int count)
{
	struct write_on_options options = arguments->write_on;

	if (options.on == NULL)
		return write_run(arguments->path, words, count, &arguments->write);
	if (count > 0)
		return client_log_error(words[0],
					"write --on takes no operand: --on has the names of probes and formulas");
	options.directory = arguments->stream.directory;
	options.format = arguments->write.format;
	return write_on_run(arguments->path, &options);
}

/* Opens a directory in place of each closed standard descriptor, because writing to a directory fails.  Otherwise the
 * control socket or a file would get its number, and receive the output. */
static void
ctl_occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/", O_RDONLY | O_DIRECTORY);
}

/* Returns whether a command exists, with a message if it does not. */
static bool
ctl_check_command(const char *command)
{
	static const char *const commands[] = {
	    "status", "connections", "connection", "top",      "probes", "interfaces", "counters", "reload",
	    "debug",  "formulas",    "define",	   "undefine", "sites",	 "stream",     "write",
	};
	char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	if (strcmp(command, "record") == 0) {
		client_log("netobsctl", "unknown command record: use write --on");
		return false;
	}
	nearest_begin(&nearest, command, strlen(command));
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		if (strcmp(commands[i], command) == 0)
			return true;
		nearest_consider(&nearest, commands[i]);
	}
	fprintf(stderr, "netobsctl: unknown command%s; commands are ", nearest_hint(&nearest, "", hint));
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		fprintf(stderr, "%s%s", i == 0 ? "" : ", ", commands[i]);
	putc('\n', stderr);
	return false;
}

int
main(int argc, char **argv)
{
	struct ctl_arguments arguments = {.path = DEFAULT_SOCKET};
	char request[CLIENT_REQUEST_MAX];
	int status;

	ctl_occupy_standard_descriptors();
	signal(SIGXFSZ, SIG_IGN); /* write(2) fails at the limit of a file's size */
	if (!ctl_parse_options(argc, argv, &arguments, &status))
		return status;
	if (optind == argc) {
		ctl_print_help(stderr);
		return EXIT_FAILURE;
	}
	if (!ctl_check_command(argv[optind]) || !ctl_check_options(&arguments, argv[optind]))
		return EXIT_FAILURE;
	if (arguments.write.file == NULL || strcmp(arguments.write.file, "-") == 0)
		closed_output_end_quietly(); /* otherwise a file is the result */
	if (strcmp(argv[optind], "stream") == 0)
		return stream_run(arguments.path, argv + optind + 1, argc - optind - 1, &arguments.stream);
	arguments.write.max_size = arguments.write_on.max_size;
	if (strcmp(argv[optind], "write") == 0)
		return ctl_write(&arguments, argv + optind + 1, argc - optind - 1);
	arguments.connections.fields = arguments.stream.fields;
	if (strcmp(argv[optind], "top") == 0)
		return top_run(arguments.path, argv + optind + 1, argc - optind - 1, &arguments.connections);
	if (strcmp(argv[optind], "connections") == 0)
		return connections_run(arguments.path, argv + optind + 1, argc - optind - 1, &arguments.connections);
	if (strcmp(argv[optind], "connection") == 0)
		return connection_run(arguments.path, argv + optind + 1, argc - optind - 1, arguments.stream.json);
	if (!ctl_join_words(request, argv + optind, argc - optind))
		return client_log_error("the command is too long or contains a line break", NULL);
	return ctl_run(arguments.path, request, argv + optind, arguments.stream.json);
}
