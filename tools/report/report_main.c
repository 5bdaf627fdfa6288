/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-report: the program behind `netobs report`. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/closed_output.h"
#include "base/format.h"
#include "base/units.h"
#include "tools/report/report_capture.h"
#include "tools/report/report_detail.h"
#include "tools/report/report_exchanges.h"
#include "tools/report/report_live.h"
#include "tools/report/report_page.h"
#include "tools/report/verdict/report_facts.h"

/* Options of netobsd; an array of arguments is not constant. */
static char file_option[] = "-r";

/* Connections in detail by default. */
#define TOP_DEFAULT 50u

struct report_request {
	char *netobsd;
	size_t top;
	char **arguments; /* of netobsd */
	size_t arguments_count;
	char **files; /* captures, or the interface */
	size_t files_count;
	char *filter;
	struct report_live live;
};

/* Prints a message as one line in which everything but printable ASCII is escaped: names of files are text of
 * others. */
static void
report_log(const char *message, const char *value, const char *reason)
{
	char text[8192], line[sizeof text * FORMAT_PLAIN_BYTE_MAX + 8];

	snprintf(text, sizeof text, "netobs-report: %s%s%s", message, value, reason);
	fprintf(stderr, "%.*s\n", (int)(put_foreign_text(line, text, strlen(text)) - line), line);
}

static void __attribute__((noreturn)) report_die(const char *message, const char *value)
{
	report_log(message, value, "");
	exit(1);
}

static size_t
report_parse_top(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value > REPORT_TOP_MAX)
		report_die("--top takes a number from 0 to 500, not ", text);
	return (size_t)value;
}

/* A capture is read twice, so it must be a file. */
static void
report_add_file(struct report_request *request, char *path)
{
	struct stat info;

	if (stat(path, &info) != 0 || access(path, R_OK) != 0) {
		char reason[256];

		snprintf(reason, sizeof reason, ": %s%s", strerror(errno),
			 errno == ENOENT && strpbrk(path, " =<>&|") != NULL ? "; a filter needs -f" : "");
		report_log("cannot read ", path, reason);
		exit(1);
	}
	if (!S_ISREG(info.st_mode))
		report_die("report reads a capture twice, so it must be a regular file: ", path);
	request->files[request->files_count++] = path;
	request->arguments[request->arguments_count++] = file_option;
	request->arguments[request->arguments_count++] = path;
}

static unsigned
report_parse_duration(const char *text)
{
	static const struct quantity duration = {DIMENSION_TIME, UNITS_SECOND, UNITS_SECOND,
						 REPORT_LIVE_SECONDS * UNITS_SECOND, false};
	char error[UNITS_ERROR_MAX];
	uint64_t ns;

	if (!units_parse(&duration, text, &ns, error)) {
		report_log("--for: ", error, "");
		exit(1);
	}
	return (unsigned)((ns + UNITS_SECOND - 1) / UNITS_SECOND);
}

/* Adds an option of netobsd, unless it decides what netobsd reads or prints, which this program does. */
static void
report_add_option(struct report_request *request, char *option)
{
	static const char *const own[] = {
	    "read", "interface", "pace", "split", "write", "wait-", "on-demand", "view", "print", "format",
	    "list-probes", "write", "engine", "summary", "check-config", "install-formulas", "help", "version",
	};

	if (strncmp(option, "--", 2) != 0)
		report_die("-o takes an option of netobsd with its dashes, for example -o --tcp-idle=7200, not ",
			   option);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		size_t given = strcspn(option + 2, "="), length = strlen(own[i]);

		/* netobsd accepts the beginning of a name, too. */
		if (strncmp(option + 2, own[i], given < length ? given : length) == 0)
			report_die("a report sets this option of netobsd itself, or cannot be made with it: ", option);
	}
	request->arguments[request->arguments_count++] = option;
}

static void
report_parse_option(struct report_request *request, int option, char *value)
{
	switch (option) {
	case 'n':
		request->netobsd = value;
		break;
	case 't':
		request->top = report_parse_top(value);
		break;
	case 'o':
		report_add_option(request, value);
		break;
	case 'f':
		request->filter = value;
		break;
	case 'i':
		if (request->live.interface != NULL)
			report_die("-i: a report is made of one interface, not also of ", value);
		request->live.interface = value;
		request->files[request->files_count++] = value;
		break;
	case 'd':
		request->live.seconds = report_parse_duration(value);
		break;
	default:
		report_die("usage: netobs-report --netobsd=PATH [--top=NUMBER] [-o OPTION]... [-f FILTER] "
			   "{FILE... | -i INTERFACE [--for=DURATION]}",
			   "");
	}
}

/* Ends with a message if the options contradict each other. */
static void
report_check(const struct report_request *request)
{
	bool live = request->live.interface != NULL;

	if (live && request->files_count > 1)
		report_die("a report is made of captures or of an interface, not of both", "");
	if (!live && request->live.seconds != 0)
		report_die("--for is the time for which -i INTERFACE is captured", "");
	if (request->files_count == 0)
		report_die("give at least one capture, or an interface: netobs report FILE... > report.html", "");
	if (isatty(STDOUT_FILENO))
		report_die("the page goes to standard output: netobs report FILE... > report.html", "");
}

static void
report_parse(struct report_request *request, int argc, char **argv)
{
	static const struct option known[] = {{"netobsd", required_argument, NULL, 'n'},
					      {"top", required_argument, NULL, 't'},
					      {"for", required_argument, NULL, 'd'},
					      {0}};
	int option;

	request->top = TOP_DEFAULT;
	request->files = calloc((size_t)argc, sizeof(*request->files));
	request->arguments = calloc(2 * (size_t)argc, sizeof(*request->arguments));
	if (request->files == NULL || request->arguments == NULL)
		report_die("out of memory", "");
	while ((option = getopt_long(argc, argv, "o:f:i:", known, NULL)) != -1)
		report_parse_option(request, option, optarg);
	for (int i = optind; i < argc; i++)
		report_add_file(request, argv[i]);
	if (request->netobsd == NULL)
		report_die("--netobsd is missing; netobs report gives it", "");
	report_check(request);
}

/* Captures the interface; its file is the capture of which the report is made. */
static void
report_add_live(struct report_request *request, struct report_capture *capture)
{
	struct report_live *live = &request->live;

	live->filter = request->filter;
	if (!report_live_capture(live))
		report_die(live->message, "");
	if (live->message[0] != '\0')
		report_log(live->message, "", "");
	capture->dropped = live->dropped;
	request->arguments[request->arguments_count++] = file_option;
	request->arguments[request->arguments_count++] = live->path;
}

/* Exit status as netobsd: 2 if a capture broke off. */
static int
report_make(struct report_request *request, struct report_capture *capture)
{
	struct replay_source source = {request->netobsd, request->arguments, request->arguments_count, request->filter};
	struct report_input input = {request->files, request->files_count, request->filter,
				     request->live.interface != NULL};
	struct report_exchanges exchanges = {0};
	struct report_detail detail = {0};
	size_t count;

	report_capture_read(capture, &source);
	if (capture->status != 0 && capture->status != 2)
		return 1;
	if (request->live.broken)
		capture->status = 2;
	report_facts_find(capture);
	count = report_records_rank(&capture->records, request->top);
	if (!report_exchanges_begin(&exchanges, capture))
		report_die("out of memory", "");
	report_detail_read(&detail, &exchanges, &capture->records, count, &source);
	if (detail.status != 0 && detail.status != 2)
		report_die("netobsd failed when it read the captures again", "");
	if (capture->no_memory || detail.no_memory)
		report_die("out of memory", "");
	report_facts_find_windows(capture, &detail);
	closed_output_end_quietly();
	if (!report_page_write(stdout, capture, &detail, &input))
		report_die("cannot write the page: ", strerror(errno));
	free(detail.segments);
	free(detail.changes);
	free(detail.ends);
	report_exchanges_free(&exchanges);
	return capture->status;
}

int
main(int argc, char **argv)
{
	struct report_request request = {0};
	struct report_capture *capture = calloc(1, sizeof(*capture));
	int status;

	if (capture == NULL)
		report_die("out of memory", "");
	report_parse(&request, argc, argv);
	if (request.live.interface != NULL)
		report_add_live(&request, capture);
	status = report_make(&request, capture);
	free(capture->records.list);
	free(capture->frames.packets);
	report_ends_free(&capture->ends);
	free(capture);
	free(request.files);
	free(request.arguments);
	return status;
}
