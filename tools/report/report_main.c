/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-report: the program behind `netobs report`. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/output.h"
#include "base/path.h"
#include "base/units.h"
#include "config/options.h"
#include "confine/privileges.h"
#include "tools/report/report_capture.h"
#include "tools/report/report_detail.h"
#include "tools/report/report_exchanges.h"
#include "tools/report/report_input.h"
#include "tools/report/report_live.h"
#include "tools/report/report_page.h"
#include "tools/report/verdict/report_facts.h"

/* Words of a command line of netobsd; an array of arguments is not constant. */
static char file_option[] = "-r";
static char end_of_options[] = "--";

/* Connections in detail by default. */
#define TOP_DEFAULT 50u

struct report_request {
	size_t top;
	char **arguments; /* options of netobsd, with the captures: name of the program first */
	size_t arguments_count;
	char **files; /* captures, or the interface */
	size_t files_count;
	char (*copies)[REPORT_INPUT_PATH]; /* of captures that can be read only once */
	char *filter;
	struct report_live live;
	bool broken; /* a copy is not complete */
};

static void __attribute__((noreturn)) report_die(const char *message, const char *value)
{
	log_error("%s%s", message, value);
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

static void
report_add_argument(struct report_request *request, char *argument)
{
	request->arguments[request->arguments_count++] = argument;
}

/* A capture is read twice: one that can be read only once is copied later. */
static void
report_add_file(struct report_request *request, char *path)
{
	struct stat info;

	if (strcmp(path, "-") != 0 && (stat(path, &info) != 0 || access(path, R_OK) != 0)) {
		log_error("cannot read %s: %s%s", path, strerror(errno),
			  errno == ENOENT && strpbrk(path, " =<>&|") != NULL ? "; a filter needs -f" : "");
		exit(1);
	}
	request->files[request->files_count++] = path;
}

/* Copies the captures that can be read only once, and makes the captures arguments. */
static void
report_add_captures(struct report_request *request)
{
	char message[REPORT_INPUT_MESSAGE];

	for (size_t i = 0; request->live.interface == NULL && i < request->files_count; i++) {
		char *path = request->files[i];

		if (report_input_is_stream(path)) {
			if (!report_input_copy(path, request->copies[i], message)) {
				if (request->copies[i][0] == '\0')
					report_die(message, "");
				log_error("%s", message);
				request->broken = true;
			}
			path = request->copies[i];
		}
		report_add_argument(request, file_option);
		report_add_argument(request, path);
	}
}

static unsigned
report_parse_duration(const char *text)
{
	static const struct quantity duration = {DIMENSION_TIME, UNITS_SECOND, UNITS_SECOND,
						 REPORT_LIVE_SECONDS * UNITS_SECOND, false};
	char error[UNITS_ERROR_MAX];
	uint64_t ns;

	if (!units_parse(&duration, text, &ns, error))
		report_die("--for: ", error);
	return (unsigned)((ns + UNITS_SECOND - 1) / UNITS_SECOND);
}

/* Adds an option of netobsd, unless it decides what netobsd reads or prints, which this program does. */
static void
report_add_option(struct report_request *request, char *option)
{
	static const char *const own[] = {
	    "read", "interface", "pace", "write", "records", "wait-", "on-demand", "view", "print", "format",
	    "list-probes", "engine", "summary", "check-config", "install-formulas", "help", "version",
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
	report_add_argument(request, option);
}

static void
report_parse_option(struct report_request *request, int option, char *value)
{
	switch (option) {
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
		report_die("usage: netobs-report [--top=NUMBER] [-o OPTION]... [-f FILTER] "
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
	static const struct option known[] = {{"top", required_argument, NULL, 't'},
					      {"for", required_argument, NULL, 'd'},
					      {0}};
	int option;

	request->top = TOP_DEFAULT;
	request->files = calloc((size_t)argc, sizeof(*request->files));
	request->copies = calloc((size_t)argc, sizeof(*request->copies));
	request->arguments = calloc(2 * (size_t)argc + 4, sizeof(*request->arguments));
	if (request->files == NULL || request->copies == NULL || request->arguments == NULL)
		report_die("out of memory", "");
	report_add_argument(request, argv[0]);
	while ((option = getopt_long(argc, argv, "o:f:i:", known, NULL)) != -1)
		report_parse_option(request, option, optarg);
	for (int i = optind; i < argc; i++)
		report_add_file(request, argv[i]);
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
		log_error("%s", live->message);
	request->broken |= live->broken;
	capture->dropped = live->dropped;
	report_add_argument(request, file_option);
	report_add_argument(request, live->path);
}

/* Sets the configuration of a replay of the captures; the process ends if the options are wrong. */
static void
report_configure(struct report_request *request, struct config *config)
{
	if (request->filter != NULL) {
		report_add_argument(request, end_of_options);
		report_add_argument(request, request->filter);
	}
	if (options_parse((int)request->arguments_count, request->arguments, config) != OPTIONS_RUN)
		exit(1);
	descriptors_close_inherited(config);
	output_open();
	log_debug_enable(config->debug_topics);
}

/* Reads the captures: false, with a message logged, on failure. */
static bool
report_read(const struct report_request *request, struct config *config, struct report_capture *capture,
	    struct report_exchanges *exchanges, struct report_detail *detail)
{
	struct report_passes *passes = report_passes_open(config);
	bool good = passes != NULL && report_capture_read(capture, passes);
	size_t count;

	if (good && !capture->no_memory) {
		report_facts_find(capture);
		count = report_records_rank(&capture->records, request->top);
		capture->no_memory |= !report_exchanges_begin(exchanges, capture);
		good = capture->no_memory || report_detail_read(detail, exchanges, &capture->records, count, passes);
	}
	report_passes_free(passes);
	if (good && (capture->no_memory || detail->no_memory))
		log_error("out of memory");
	return good && !capture->no_memory && !detail->no_memory;
}

/* Exit status as netobsd: 2 if a capture broke off. */
static int
report_make(struct report_request *request, struct config *config, struct report_capture *capture)
{
	struct report_input input = {request->files, request->files_count, request->filter,
				     request->live.interface != NULL};
	struct report_exchanges exchanges = {0};
	struct report_detail *detail = calloc(1, sizeof(*detail));
	int status = 1;

	if (detail == NULL)
		report_die("out of memory", "");
	if (report_read(request, config, capture, &exchanges, detail)) {
		if (request->broken)
			capture->status = 2;
		report_facts_find_windows(capture, detail);
		closed_output_end_quietly();
		if (!report_page_write(stdout, capture, detail, &input))
			report_die("cannot write the page: ", strerror(errno));
		status = capture->status;
	}
	report_detail_free(detail);
	report_exchanges_free(&exchanges);
	return status;
}

int
main(int argc, char **argv)
{
	static char name[] = "netobs-report"; /* in messages, whatever the file is called */
	struct report_request request = {0};
	struct report_capture *capture = calloc(1, sizeof(*capture));
	struct config config;
	int status;

	program_invocation_short_name = name;
	descriptors_occupy_standard();
	trusted_path_require(privileges_are_held(), geteuid());
	if (capture == NULL)
		report_die("out of memory", "");
	report_parse(&request, argc, argv);
	if (request.live.interface != NULL)
		report_add_live(&request, capture);
	else
		report_add_captures(&request);
	report_configure(&request, &config);
	status = report_make(&request, &config, capture);
	report_capture_free(capture);
	config_free(&config);
	free(request.files);
	free(request.copies);
	free(request.arguments);
	return status;
}
