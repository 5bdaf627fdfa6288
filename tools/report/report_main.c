/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-report: the program behind `netobs report`. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/report/report_capture.h"
#include "tools/report/report_detail.h"
#include "tools/report/report_page.h"

/* Connections in detail by default. */
#define TOP_DEFAULT 50u

struct report_request {
	char *netobsd;
	size_t top;
	char **arguments; /* of netobsd */
	size_t arguments_count;
	char **files;
	size_t files_count;
};

static void __attribute__((noreturn)) report_die(const char *message, const char *value)
{
	fprintf(stderr, "netobs-report: %s%s\n", message, value);
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

	if (stat(path, &info) != 0 || access(path, R_OK) != 0)
		report_die("cannot read ", path);
	if (!S_ISREG(info.st_mode))
		report_die("report reads a capture twice, so it must be a regular file: ", path);
	request->files[request->files_count++] = path;
	request->arguments[request->arguments_count++] = "-r";
	request->arguments[request->arguments_count++] = path;
}

static void
report_parse(struct report_request *request, int argc, char **argv)
{
	static const struct option known[] = {{"netobsd", required_argument, NULL, 'n'},
					      {"top", required_argument, NULL, 't'},
					      {"help", no_argument, NULL, 'h'},
					      {0}};
	int option;

	request->top = TOP_DEFAULT;
	request->netobsd = "netobsd";
	request->files = calloc((size_t)argc, sizeof(*request->files));
	request->arguments = calloc(2 * (size_t)argc, sizeof(*request->arguments));
	if (request->files == NULL || request->arguments == NULL)
		report_die("out of memory", "");
	while ((option = getopt_long(argc, argv, "n:t:o:h", known, NULL)) != -1) {
		if (option == 'n')
			request->netobsd = optarg;
		else if (option == 't')
			request->top = report_parse_top(optarg);
		else if (option == 'o')
			request->arguments[request->arguments_count++] = optarg;
		else
			report_die("usage: netobs-report --netobsd=PATH [--top=NUMBER] [-o OPTION]... FILE...", "");
	}
	for (int i = optind; i < argc; i++)
		report_add_file(request, argv[i]);
	if (request->files_count == 0)
		report_die("give at least one capture: netobs report FILE... > report.html", "");
	if (isatty(STDOUT_FILENO))
		report_die("the page goes to standard output: netobs report FILE... > report.html", "");
}

/* Exit status as netobsd: 2 if a capture broke off. */
static int
report_make(struct report_request *request, struct report_capture *capture)
{
	struct report_source source = {request->netobsd, request->arguments, request->arguments_count};
	struct report_detail detail = {0};
	size_t count;

	report_capture_read(capture, &source);
	if (capture->message[0] != '\0')
		fprintf(stderr, "netobs-report: %s\n", capture->message);
	if (capture->status != 0 && capture->status != 2)
		return 1;
	count = report_records_rank(&capture->records, request->top);
	report_detail_read(&detail, &capture->records, count, &source);
	if (detail.status != 0 && detail.status != 2)
		return 1;
	if (capture->no_memory || detail.no_memory)
		report_die("out of memory", "");
	if (!report_page_write(stdout, capture, &detail, request->files, request->files_count))
		report_die("cannot write the page", "");
	free(detail.segments);
	free(detail.changes);
	free(detail.cids);
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
	status = report_make(&request, capture);
	free(capture->records.list);
	free(capture->frames.packets);
	free(capture->firsts.list);
	free(capture);
	free(request.files);
	free(request.arguments);
	return status;
}
