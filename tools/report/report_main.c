/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-report: the program of `netobs report`. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/output.h"
#include "base/output_file.h"
#include "base/units.h"
#include "config/options.h"
#include "confine/privileges.h"
#include "formulas/match/filter_text.h"
#include "tools/report/report_capture.h"
#include "tools/report/report_detail.h"
#include "tools/report/report_facts.h"
#include "tools/report/report_page.h"
#include "tools/report/report_summary.h"

/* Bytes of the path of a copy. */
#define REPORT_INPUT_PATH 32

/* Bytes of a message. */
#define REPORT_INPUT_MESSAGE 512

/* Bytes of the file, at most; a capture that reaches them ends. */
#define REPORT_LIVE_BYTES (1ll << 30)

/* Seconds of a capture, at most: a day. */
#define REPORT_LIVE_SECONDS 86400u

/* A capture of an interface into a file without a name, which disappears with the program. */
struct report_live {
	const char *interface;
	const char *filter; /* expression of pcap-filter(7); NULL captures all frames */
	unsigned seconds;   /* 0: until SIGINT or SIGTERM, which end every capture */

	char path[32];	  /* of the file, for this process */
	uint64_t dropped; /* frames that the kernel dropped because this program was too slow */
	bool broken;	  /* the interface disappeared, or the file cannot grow; `message` says what happened */
	char message[512];
};

/* ------------------------------------------------------------------------------ captures that can be read only once */

/* Bytes copied at once. */
#define PIECE 65536

/* After a signal the program at the other end, which has it as well, may write what it has left: so long, ns. */
#define REST_NS 200000000u

/* Whether a capture, "-" for standard input, can be read only once: then a copy is read instead, in a file without a
 * name. */
static bool
report_input_is_stream(const char *capture)
{
	struct stat status;
	bool standard = strcmp(capture, "-") == 0;

	if (standard ? fstat(STDIN_FILENO, &status) != 0 : stat(capture, &status) != 0)
		return false;
	return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* The copy of a stream in progress. */
struct report_copy {
	int from, to;
	const char *name;
	int signals;	 /* descriptor of the signals that end the copy; -1 after one: the next one ends the program */
	sigset_t before; /* the signal mask before the copy */
	uint64_t end;	 /* after a signal: when the copy ends, by the monotonic clock; else 0 */
};

/* SIGINT and SIGTERM end the copy. */
static void
report_input_watch_signals(struct report_copy *input)
{
	sigset_t stopping;

	sigemptyset(&stopping);
	sigaddset(&stopping, SIGINT);
	sigaddset(&stopping, SIGTERM);
	sigprocmask(SIG_BLOCK, &stopping, &input->before);
	input->signals = signalfd(-1, &stopping, SFD_CLOEXEC);
	if (input->signals < 0)
		sigprocmask(SIG_SETMASK, &input->before, NULL);
}

static void
report_input_end_signals(struct report_copy *input)
{
	struct signalfd_siginfo signal;

	if (input->signals < 0)
		return;
	while (poll(&(struct pollfd){.fd = input->signals, .events = POLLIN}, 1, 0) > 0 &&
	       read(input->signals, &signal, sizeof signal) > 0)
		;
	close(input->signals);
	input->signals = -1;
	sigprocmask(SIG_SETMASK, &input->before, NULL);
}

/* Waits for bytes.  1: there are some, or the stream has ended; 0: not yet; -1: the time after a signal is over. */
static int
report_input_wait(struct report_copy *input)
{
	struct pollfd ready[2] = {{.fd = input->from, .events = POLLIN}, {.fd = input->signals, .events = POLLIN}};
	uint64_t now = clock_monotonic_ns();

	if (input->end != 0 && now >= input->end)
		return -1;
	if (poll(ready, 2, input->end != 0 ? (int)((input->end - now) / 1000000) + 1 : -1) < 0)
		return 0;
	if (ready[1].revents != 0) {
		report_input_end_signals(input);
		input->end = clock_monotonic_ns() + REST_NS;
	}
	return ready[0].revents != 0;
}

/* Reads the next bytes: their number; 0 at the end, and some time after a signal; -1 with errno. */
static ssize_t
report_input_read(struct report_copy *input, char piece[PIECE])
{
	for (;;) {
		int ready = report_input_wait(input);
		ssize_t got = ready > 0 ? read(input->from, piece, PIECE) : 0;

		if (ready < 0 || (ready > 0 && (got >= 0 || (errno != EINTR && errno != EAGAIN))))
			return got;
	}
}

/* False with a message if the copy breaks off. */
static bool
report_input_copy_all(struct report_copy *input, char message[REPORT_INPUT_MESSAGE])
{
	char piece[PIECE];
	ssize_t got;

	while ((got = report_input_read(input, piece)) > 0) {
		if (!output_write_all(input->to, piece, (size_t)got)) {
			snprintf(message, REPORT_INPUT_MESSAGE, "the copy of %.200s breaks off: %s", input->name,
				 strerror(errno));
			return false;
		}
	}
	if (got < 0)
		snprintf(message, REPORT_INPUT_MESSAGE, "cannot read %.200s: %s", input->name, strerror(errno));
	return got == 0;
}

/* Sets the path of a copy.  That of standard input takes its place, so that messages name it. */
static void
report_input_name(int copy, bool standard, char path[REPORT_INPUT_PATH])
{
	snprintf(path, REPORT_INPUT_PATH, "/proc/self/fd/%d", copy);
	if (standard && lseek(copy, 0, SEEK_SET) == 0 && dup2(copy, STDIN_FILENO) >= 0) {
		close(copy);
		snprintf(path, REPORT_INPUT_PATH, "-");
	}
}

/* Copies a capture up to its end, and gives the path of the copy.  SIGINT and SIGTERM end it earlier, when nothing
 * arrives any more.  False with a message on failure; then there is no copy, or only the beginning if `path` is not
 * empty. */
static bool
report_input_copy(const char *capture, char path[REPORT_INPUT_PATH], char message[REPORT_INPUT_MESSAGE])
{
	bool standard = strcmp(capture, "-") == 0, good = false;
	struct report_copy input = {.name = standard ? "standard input" : capture};
	char reason[OUTPUT_PATH_ERROR_MAX];

	path[0] = '\0';
	input.from = standard ? STDIN_FILENO : open(capture, O_RDONLY | O_CLOEXEC);
	if (input.from < 0) {
		snprintf(message, REPORT_INPUT_MESSAGE, "cannot read %.200s: %s", capture, strerror(errno));
		return false;
	}
	input.to = output_file_open_unnamed("/var/tmp", reason);
	if (input.to < 0) {
		snprintf(message, REPORT_INPUT_MESSAGE, "cannot write to %.400s", reason);
	} else {
		report_input_watch_signals(&input);
		good = report_input_copy_all(&input, message);
		report_input_end_signals(&input);
		report_input_name(input.to, standard, path);
	}
	if (!standard)
		close(input.from);
	return good;
}

/* --------------------------------------------------------------------------------------------------- a live capture */

#define SNAPLEN	     262144
#define BUFFER_BYTES (16 << 20)

/* The kernel delivers frames after this time at the latest. */
#define DELIVERY_MS 100

static volatile sig_atomic_t stopped;

static void
report_live_stop(int number)
{
	(void)number;
	stopped = 1;
}

static bool __attribute__((format(printf, 2, 3))) report_live_fail(struct report_live *live, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(live->message, sizeof(live->message), format, list);
	va_end(list);
	return false;
}

/* Opens the file and gives it a path below /proc; NULL if that is impossible. */
static FILE *
report_live_file(struct report_live *live)
{
	char reason[OUTPUT_PATH_ERROR_MAX];
	int fd = output_file_open_unnamed("/var/tmp", reason), copy;
	FILE *file;

	if (fd < 0) {
		report_live_fail(live, "cannot write to %.400s", reason);
		return NULL;
	}
	/* The file of pcap_dump_close() is another descriptor. */
	copy = dup(fd);
	file = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (file == NULL)
		report_live_fail(live, "cannot open the file of the capture again: %s", strerror(errno));
	snprintf(live->path, sizeof(live->path), "/proc/self/fd/%d", fd);
	return file;
}

static bool
report_live_filter(struct report_live *live, pcap_t *pcap)
{
	struct bpf_program program;
	char error[200];
	int status;

	if (live->filter == NULL)
		return true;
	if (!filter_size_check(live->filter, FILTER_SIZE_CAPTURE_MAX, error, sizeof error))
		return report_live_fail(live, "%s", error);
	if (pcap_compile(pcap, &program, live->filter, 1, PCAP_NETMASK_UNKNOWN) != 0)
		return report_live_fail(live, "cannot parse the filter: %s", pcap_geterr(pcap));
	status = pcap_setfilter(pcap, &program);
	pcap_freecode(&program);
	return status == 0 || report_live_fail(live, "cannot set the filter: %s", pcap_geterr(pcap));
}

static bool
report_live_activate(struct report_live *live, pcap_t *pcap)
{
	char errors[PCAP_ERRBUF_SIZE];
	int status;

	pcap_set_snaplen(pcap, SNAPLEN);
	pcap_set_timeout(pcap, DELIVERY_MS);
	pcap_set_buffer_size(pcap, BUFFER_BYTES);
	(void)pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
	status = pcap_activate(pcap);
	if (status < 0)
		return report_live_fail(live, "cannot capture %s: %s%s", live->interface,
					status == PCAP_ERROR ? pcap_geterr(pcap) : pcap_statustostr(status),
					status == PCAP_ERROR_PERM_DENIED ? "; run netobs report as root" : "");
	if (pcap_setnonblock(pcap, 1, errors) != 0)
		return report_live_fail(live, "cannot capture %s: %s", live->interface, errors);
	return report_live_filter(live, pcap);
}

/* The file, and errno of the first frame that could not be written to it. */
struct report_live_file {
	pcap_dumper_t *dumper;
	int error;
};

static void
report_live_write(u_char *context, const struct pcap_pkthdr *header, const u_char *bytes)
{
	struct report_live_file *file = (struct report_live_file *)(void *)context;

	if (file->error != 0)
		return;
	pcap_dump((u_char *)file->dumper, header, bytes);
	if (ferror(pcap_dump_file(file->dumper)))
		file->error = errno;
}

/* Waits for frames, at most until `deadline` on the monotonic clock, and writes them; false if the capture is at its
 * end. */
static bool
report_live_step(struct report_live *live, pcap_t *pcap, struct report_live_file *file, uint64_t deadline)
{
	struct pollfd ready = {.fd = pcap_get_selectable_fd(pcap), .events = POLLIN};
	uint64_t now = clock_monotonic_ns();

	if (now >= deadline || stopped)
		return false;
	(void)poll(&ready, 1, deadline - now < UNITS_SECOND ? (int)((deadline - now) / 1000000) + 1 : 1000);
	if (pcap_dispatch(pcap, -1, report_live_write, (u_char *)file) < 0) {
		live->broken = true;
		return report_live_fail(live, "the capture of %s breaks off: %s", live->interface, pcap_geterr(pcap));
	}
	if (pcap_dump_ftell64(file->dumper) > REPORT_LIVE_BYTES) {
		live->broken = true;
		return report_live_fail(live, "the capture of %s ends at %lld MiB", live->interface,
					REPORT_LIVE_BYTES >> 20);
	}
	return file->error == 0;
}

/* Writes out what is buffered; the capture breaks off if that is impossible, now or earlier. */
static void
report_live_flush(struct report_live *live, struct report_live_file *file)
{
	if (file->error == 0 && pcap_dump_flush(file->dumper) != 0)
		file->error = errno;
	if (file->error == 0)
		return;
	live->broken = true;
	report_live_fail(live, "the capture of %s breaks off, because it cannot be written: %s", live->interface,
			 strerror(file->error));
}

/* Captures until the time is over or a signal comes. */
static void
report_live_run(struct report_live *live, pcap_t *pcap, pcap_dumper_t *dumper)
{
	struct report_live_file file = {.dumper = dumper};
	uint64_t seconds = live->seconds != 0 ? live->seconds : UINT32_MAX;
	uint64_t deadline = clock_monotonic_ns() + seconds * UNITS_SECOND;
	struct sigaction stop = {.sa_handler = report_live_stop}, before[2];
	struct pcap_stat statistics = {0};

	sigaction(SIGINT, &stop, &before[0]);
	sigaction(SIGTERM, &stop, &before[1]);
	while (report_live_step(live, pcap, &file, deadline))
		;
	/* Frames that have arrived but are not delivered yet. */
	stopped = 0;
	deadline = clock_monotonic_ns() + 2 * DELIVERY_MS * UINT64_C(1000000);
	while (!live->broken && report_live_step(live, pcap, &file, deadline))
		;
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
	if (pcap_stats(pcap, &statistics) == 0)
		live->dropped = statistics.ps_drop;
	report_live_flush(live, &file);
}

/* Captures; false if nothing can be captured, or the file cannot be made, and `message` says why. */
static bool
report_live_capture(struct report_live *live)
{
	char errors[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_create(live->interface, errors);
	pcap_dumper_t *dumper = NULL;
	FILE *file;

	if (pcap == NULL)
		return report_live_fail(live, "cannot capture %s: %s", live->interface, errors);
	if (report_live_activate(live, pcap) && (file = report_live_file(live)) != NULL) {
		dumper = pcap_dump_fopen(pcap, file);
		if (dumper == NULL)
			report_live_fail(live, "cannot write the capture: %s", pcap_geterr(pcap));
	}
	if (dumper != NULL) {
		if (live->seconds > 0)
			fprintf(stderr, "netobs-report: captures %s for %u s; Ctrl-C ends it earlier\n",
				live->interface, live->seconds);
		else
			fprintf(stderr, "netobs-report: captures %s until Ctrl-C\n", live->interface);
		report_live_run(live, pcap, dumper);
		pcap_dump_close(dumper);
	}
	pcap_close(pcap);
	return dumper != NULL;
}

/* ------------------------------------------------------------------------------------------------------ the command */

/* Words of a command line of netobsd; an array of arguments is not constant. */
static char file_option[] = "-r";
static char end_of_options[] = "--";

/* Connections in detail by default. */
#define TOP_DEFAULT 50u

/* What is written. */
enum report_form { REPORT_PAGE, REPORT_TEXT, REPORT_JSON, REPORT_NOTHING };

struct report_request {
	size_t top;
	char **arguments; /* options of netobsd, with the captures: name of the program first */
	size_t arguments_count;
	char **files; /* captures, or the interface */
	size_t files_count;
	char (*copies)[REPORT_INPUT_PATH]; /* of captures that can be read only once */
	char *filter;
	struct report_live live;
	enum report_form form;
	bool check; /* the exit status says whether something is wrong */
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
	case 'T':
		request->form = REPORT_TEXT;
		break;
	case 'J':
		request->form = REPORT_JSON;
		break;
	case 'C':
		request->check = true;
		break;
	default:
		report_die("usage: netobs-report [--text | --json] [--check] [--top=NUMBER] [-o OPTION]... [-f FILTER] "
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
	if (request->form == REPORT_PAGE && isatty(STDOUT_FILENO))
		report_die("the page goes to standard output: netobs report FILE... > report.html", "");
}

static void
report_parse(struct report_request *request, int argc, char **argv)
{
	static const struct option known[] = {{"top", required_argument, NULL, 't'},
					      {"for", required_argument, NULL, 'd'},
					      {"text", no_argument, NULL, 'T'},
					      {"json", no_argument, NULL, 'J'},
					      {"check", no_argument, NULL, 'C'},
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
	if (request->check && request->form == REPORT_PAGE && isatty(STDOUT_FILENO))
		request->form = REPORT_NOTHING;
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
		log_out_of_memory();
	return good && !capture->no_memory && !detail->no_memory;
}

/* Writes what was asked for.  Exit status as netobsd: 2 if a capture broke off. */
static int
report_output(const struct report_request *request, struct report_capture *capture, const struct report_detail *detail,
	      const struct report_input *input)
{
	struct report_findings *findings = report_findings_make(capture);
	int status = capture->status;
	bool written = true;

	if (findings == NULL)
		report_die("out of memory", "");
	if (request->form == REPORT_PAGE)
		written = report_page_write(stdout, capture, findings, detail, input);
	else if (request->form == REPORT_TEXT)
		written = report_summary_write_text(stdout, capture, findings, input);
	else if (request->form == REPORT_JSON)
		written = report_summary_write_json(stdout, capture, findings, input);
	if (!written)
		report_die("cannot write the report: ", strerror(errno));
	if (request->check && status == 0)
		status = report_summary_status(findings);
	report_findings_free(findings);
	return status;
}

/* The exit status. */
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
		status = report_output(request, capture, detail, &input);
	}
	report_detail_free(detail);
	report_exchanges_free(&exchanges);
	return status;
}

int
main(int argc, char **argv)
{
	static char name[] = "netobs-report";
	struct report_request request = {0};
	struct report_capture *capture = calloc(1, sizeof(*capture));
	struct config config;
	int status;

	descriptors_begin_program(name);
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
