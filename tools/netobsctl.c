/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsctl(8): sends a request to a running netobsd and prints the reply. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "probes/nearest.h"

#define DEFAULT_SOCKET "/run/netobs/control"
#define REQUEST_MAX    4096
#define TIMEOUT_S      10

static void
ctl_print_help(FILE *to)
{
	fputs("Usage: netobsctl [-s SOCKET] COMMAND [--json]\n"
	      "  status                  version, binary, how to attach a tracer, frames\n"
	      "                          observed and dropped\n"
	      "  connections [FILTER]    tracked connections; FILTER: state WORD, port NUMBER,\n"
	      "                          host ADDRESS, proto WORD\n"
	      "  connection CID          one connection in detail\n"
	      "  probes                  enabled probes and their firings\n"
	      "  interfaces              observed interfaces and their state\n"
	      "  counters                all counters\n"
	      "  reload                  reload the configuration file\n"
	      "  debug [TOPIC,...]       topics of debug messages; with topics, all or off: log\n"
	      "                          exactly these\n"
	      "  formulas                formulas, their counts, and how to trace them\n"
	      "  define DEFINITION       define a formula: 'NAME = PROBE where EXPRESSION'\n"
	      "  undefine NAME           remove a formula\n"
	      "\n"
	      "  -s, --socket SOCKET     control socket of netobsd (" DEFAULT_SOCKET ")\n"
	      "  -j, --json              reply as JSON, one object a line\n"
	      "  -h, --help              this help\n"
	      "  -V, --version           the version\n"
	      "\n"
	      "Exit status: 0 success, 1 failure.  See netobsctl(8) for details.\n",
	      to);
}

static int
ctl_log_error(const char *what, const char *error)
{
	fprintf(stderr, "netobsctl: %s%s%s\n", what, error != NULL ? ": " : "", error != NULL ? error : "");
	return EXIT_FAILURE;
}

/* ------------------------------------------------------------------------------------------------------ the request */

/* False if the request is too long, or if a word contains a newline. */
static bool
ctl_join_words(char request[REQUEST_MAX], char **words, int count, bool json)
{
	size_t used = 0;

	for (int i = 0; i < count; i++) {
		size_t length = strlen(words[i]);

		if (used + length + 1 >= REQUEST_MAX - sizeof " --json\n" || strpbrk(words[i], "\n\r") != NULL)
			return false;
		used += (size_t)snprintf(request + used, REQUEST_MAX - used, "%s%s", i > 0 ? " " : "", words[i]);
	}
	snprintf(request + used, REQUEST_MAX - used, "%s\n", json ? " --json" : "");
	return true;
}

/* Connects with a timeout for every read and write; -1 with errno. */
static int
ctl_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval timeout = {.tv_sec = TIMEOUT_S};
	int fd, error;

	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* -------------------------------------------------------------------------------------------------------- the reply */

/* Writes to a terminal or a file: bytes other than printable ASCII and line breaks become \xNN.  netobsd sends none,
 * but another program may listen on the socket. */
static void
ctl_write_escaped(FILE *to, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if ((byte >= ' ' && byte <= '~') || byte == '\n')
			putc_unlocked(byte, to);
		else
			fprintf(to, "\\x%02x", byte);
	}
}

static bool
ctl_read_line(FILE *reply, char *line, size_t size)
{
	if (fgets(line, (int)size, reply) == NULL)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static int
ctl_print_reply(FILE *reply)
{
	char line[1024], bytes[8192];
	size_t got;

	errno = 0;
	if (!ctl_read_line(reply, line, sizeof line))
		return ctl_log_error("no reply from netobsd", errno != 0 ? strerror(errno) : NULL);
	if (strncmp(line, "error ", 6) == 0) {
		fputs("netobsctl: ", stderr);
		ctl_write_escaped(stderr, line + 6, strlen(line + 6));
		fputc('\n', stderr);
		return EXIT_FAILURE;
	}
	if (strcmp(line, "ok") != 0)
		return ctl_log_error("the process listening there is not netobsd", NULL);
	while ((got = fread(bytes, 1, sizeof bytes, reply)) > 0 && !ferror(stdout))
		ctl_write_escaped(stdout, bytes, got);
	if (ferror(reply))
		return ctl_log_error("the reply is incomplete", strerror(errno));
	if (fflush(stdout) != 0 || ferror(stdout))
		return ctl_log_error("cannot write to standard output", strerror(errno));
	return EXIT_SUCCESS;
}

/* Logs that the socket's permissions refuse this user. */
static int
ctl_log_permission(const char *path)
{
	char reason[512];
	struct stat status;
	const struct passwd *user;
	const struct group *group;

	if (stat(path, &status) != 0)
		return ctl_log_error(path, strerror(EACCES));
	user = getpwuid(status.st_uid);
	group = getgrgid(status.st_gid);
	snprintf(reason, sizeof reason,
		 "%s: it belongs to user %s and group %s (mode %04o); run netobsctl as root or as a user who may write "
		 "to it",
		 strerror(EACCES), user != NULL ? user->pw_name : "unknown", group != NULL ? group->gr_name : "unknown",
		 (unsigned)status.st_mode & 07777u);
	return ctl_log_error(path, reason);
}

static int
ctl_send_request(const char *path, const char *request)
{
	int fd = ctl_connect(path), status;
	FILE *reply;

	if (fd < 0 && errno == EACCES)
		return ctl_log_permission(path);
	if (fd < 0)
		return ctl_log_error(path, errno == ECONNREFUSED || errno == ENOENT
					       ? "no netobsd is listening there; "
						 "start it with --control PATH, or give its socket with -s"
					       : strerror(errno));
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 && errno != EPIPE) {
		close(fd);
		return ctl_log_error(path, strerror(errno));
	}
	reply = fdopen(fd, "r");
	if (reply == NULL) {
		close(fd);
		return ctl_log_error("out of memory", NULL);
	}
	status = ctl_print_reply(reply);
	fclose(reply);
	return status;
}

/* ------------------------------------------------------------------------------------------------------ the options */

static const struct option ctl_options[] = {
    {.name = "socket", .has_arg = required_argument, .val = 's'},
    {.name = "json", .val = 'j'},
    {.name = "help", .val = 'h'},
    {.name = "version", .val = 'V'},
    {.name = NULL},
};

/* Reports what '?' or ':' from getopt_long() means. */
static int
ctl_log_wrong_option(int option, const char *word)
{
	char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	if (option == ':')
		return ctl_log_error("--socket needs a value: SOCKET", NULL);
	if (optopt > 0 && strchr("jhV", optopt) != NULL) {
		fprintf(stderr, "netobsctl: %.*s takes no value\n", (int)strcspn(word, "="), word);
		return EXIT_FAILURE;
	}
	if (optopt != 0) {
		fprintf(stderr, "netobsctl: unknown option -%c; netobsctl --help lists the options\n", optopt);
		return EXIT_FAILURE;
	}
	nearest_begin(&nearest, word + 2, strcspn(word + 2, "="));
	for (const struct option *known = ctl_options; known->name != NULL; known++)
		nearest_consider(&nearest, known->name);
	fprintf(stderr, "netobsctl: unknown or ambiguous option %s%s; netobsctl --help lists the options\n", word,
		nearest_hint(&nearest, "--", hint));
	return EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	const char *path = DEFAULT_SOCKET;
	char request[REQUEST_MAX];
	bool json = false;
	int option;

	opterr = 0; /* netobsctl prints its own messages */
	while ((option = getopt_long(argc, argv, ":s:jhV", ctl_options, NULL)) != -1) {
		switch (option) {
		case 's':
			path = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			ctl_print_help(stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts("netobsctl " PACKAGE_VERSION);
			return EXIT_SUCCESS;
		default:
			return ctl_log_wrong_option(option, argv[optind - 1]);
		}
	}
	if (optind == argc) {
		ctl_print_help(stderr);
		return EXIT_FAILURE;
	}
	if (!ctl_join_words(request, argv + optind, argc - optind, json))
		return ctl_log_error("the command is too long or contains a line break", NULL);
	return ctl_send_request(path, request);
}
