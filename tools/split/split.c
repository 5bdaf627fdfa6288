/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/split/split.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "config/options.h"
#include "confine/confine_replay.h"
#include "confine/privileges.h"
#include "dissect/dissect.h"
#include "observe/observer.h"
#include "observe/second_pass.h"
#include "observe/workers.h"
#include "tools/split/split_files.h"
#include "tools/split/split_groups.h"

/* ------------------------------------------------------------------------------------------------- the command line */

/* The last ones are options of netobsd. */
static const struct option split_options[] = {
    {"number", required_argument, NULL, 'n'}, {"write", required_argument, NULL, 'w'},
    {"filter", required_argument, NULL, 'f'}, {"read", required_argument, NULL, 'r'},
    {"workers", required_argument, NULL, 0},  {"user", required_argument, NULL, 0},
    {"no-seccomp", no_argument, NULL, 0},     {"debug", required_argument, NULL, 0},
    {0}};

static bool
split_log_usage(void)
{
	log_error("usage: netobs-split -n NUMBER -w PREFIX [-f FILTER] [--workers=NUMBER] [--user=USER] "
		  "[--no-seccomp] [--debug=TOPIC,...] {FILE | -r FILE}...");
	return false;
}

static bool
split_set_count(struct split_request *request, const char *text)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	request->count = (uint32_t)count;
	if (*text >= '0' && *text <= '9' && *end == '\0' && count >= 1 && count <= SPLIT_FILES_MAX)
		return true;
	log_error("-n %s: expected a whole number from 1 to %u", text, SPLIT_FILES_MAX);
	return false;
}

/* The filter is compiled for the link types of the files. */
static bool
split_set_filter(struct config *config, const char *text)
{
	config->filter = options_strdup(config, text);
	if (config->filter == NULL)
		log_out_of_memory();
	return config->filter != NULL;
}

static bool
split_set(struct split_request *request, int option, const char *name)
{
	switch (option) {
	case 'n':
		return split_set_count(request, optarg);
	case 'w':
		request->prefix = optarg;
		return true;
	case 'f':
		return split_set_filter(&request->config, optarg);
	case 'r':
		return options_set(&request->config, "read", optarg);
	case 0:
		return options_set(&request->config, name, optarg);
	default:
		return split_log_usage();
	}
}

static bool
split_check(const struct split_request *request)
{
	if (request->count == 0)
		log_error("give the number of captures to write: -n NUMBER");
	else if (request->prefix == NULL)
		log_error("give the prefix of the names of the captures: -w PREFIX");
	else if (request->config.capture_paths[0] == NULL)
		log_error("give at least one capture: netobs split -n NUMBER -w PREFIX FILE...");
	else
		return options_check_standard_input(&request->config);
	return false;
}

bool
split_parse(int argc, char **argv, struct split_request *request)
{
	int option, index = 0;

	*request = (struct split_request){0};
	if (!config_set_defaults(&request->config))
		return log_out_of_memory();
	opterr = 0;
	optind = 0; /* restart getopt, also for a second parse */
	while ((option = getopt_long(argc, argv, "n:w:f:r:", split_options, &index)) != -1)
		if (!split_set(request, option, split_options[index].name))
			return false;
	while (optind < argc)
		if (!options_set(&request->config, "read", argv[optind++]))
			return false;
	return split_check(request);
}

/* ------------------------------------------------------------------------------------------------------- the passes */

/* What the child reports, in memory that both processes share. */
struct split_report {
	bool complete; /* the whole input was split, or everything before its damage */
	uint64_t joined_keys;
	struct split_file_counters captures[];
};

/* The child. */
struct split_child {
	pid_t parent;
	struct config config; /* for the passes */
	struct privileges privileges;
	struct loop *loop;
	struct watch *signals[3];
	struct workers *workers; /* for the first pass */
	struct second_pass *second_pass;
	struct frame_tally first, second; /* frames of the passes */
	uint64_t end;			  /* packet time at which the input ends */
	struct split_groups *groups;
	struct split_dissector *dissector;
	struct split_files *files;
	unsigned count; /* captures */
	struct split_report *report;
	bool failed;
};

/* ------------------------------------------------------------------------------------------------------ the frames */

static void
split_fail(struct split_child *child)
{
	child->failed = true;
	loop_stop(child->loop);
}

/* First pass. */
static void
split_join_frame(void *context, const struct frame *frame, uint64_t now)
{
	struct split_child *child = context;
	struct split_keys keys;

	if (child->failed)
		return;
	frame_tally_add(&child->first, frame->caplen, frame->len, now);
	child->end = now;
	split_keys_of_frame(child->dissector, frame, now, &keys);
	for (unsigned i = 1; i < keys.count; i++) {
		if (split_groups_join(child->groups, keys.key[0], keys.key[i]))
			continue;
		if (errno == E2BIG)
			log_error("more than %u connections are tied together by tunnels, fragments or SCTP: split a "
				  "part of the capture at a time",
				  SPLIT_GROUPS_KEYS_MAX);
		else
			log_out_of_memory();
		split_fail(child);
		return;
	}
}

/* Second pass.  Frames that were appended to the file meanwhile are not written. */
static void
split_write_frame(void *context, const struct frame *frame, uint64_t now)
{
	struct split_child *child = context;
	struct split_keys keys;
	uint64_t group;

	if (child->failed || child->second.frames == child->first.frames)
		return;
	frame_tally_add(&child->second, frame->caplen, frame->len, now);
	split_keys_of_frame(child->dissector, frame, now, &keys);
	group = split_groups_find(child->groups, keys.key[0]);
	if (!split_files_write(child->files, (unsigned)((group >> 32) * child->count >> 32), frame, now))
		split_fail(child);
}

/* ------------------------------------------------------------------------------------------------------- the child */

static void
split_on_stop(void *loop)
{
	loop_stop(loop);
}

/* Signals that end the run.  nohup(1) ignores SIGHUP, and it stays ignored. */
static void
split_fill_stop_signals(sigset_t *set)
{
	struct sigaction inherited;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (sigaction(SIGHUP, NULL, &inherited) != 0 || inherited.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

static bool
split_watch_signals(struct split_child *child)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set;

	split_fill_stop_signals(&set);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		if (sigismember(&set, numbers[i]) == 0)
			continue;
		child->signals[i] = loop_watch_stop_signal(child->loop, numbers[i], split_on_stop, child->loop);
		if (child->signals[i] == NULL) {
			log_error("cannot watch for signals");
			return false;
		}
	}
	return sigprocmask(SIG_UNBLOCK, &set, NULL) == 0;
}

/* Each file is read twice, so it must be a regular file. */
static bool
split_check_inputs(const struct split_child *child)
{
	const char *obstacle = second_pass_obstacle(&child->config);

	if (obstacle == NULL)
		return true;
	log_error("the input is read twice, and %s is not a file: store it in a file first", obstacle);
	return false;
}

static bool
split_open(struct split_child *child)
{
	child->groups = split_groups_new();
	if (child->groups == NULL)
		return log_out_of_memory();
	child->loop = loop_new();
	if (child->loop == NULL || !split_watch_signals(child) || !split_check_inputs(child))
		return false;
	child->workers = workers_open(&child->config, child->loop, false, 0);
	if (child->workers != NULL)
		child->second_pass = second_pass_open(&child->config, child->loop);
	return child->second_pass != NULL;
}

/* Requests SIGTERM for the end of the parent.  False if the parent has ended already. */
static bool
split_follow_parent(void *context)
{
	const struct split_child *child = context;

	return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == child->parent;
}

/* Captures without frames have the link type of the first interface whose frames are observed. */
static bool
split_begin_files(struct split_child *child)
{
	size_t count, i = 0;
	const int *types = input_link_types(child->workers->worker[0].input, &count);

	while (i + 1 < count && !dissect_link_supported(types[i]))
		i++;
	return split_files_begin(child->files, types[i]);
}

static bool
split_make_dissector(struct split_child *child, bool first)
{
	child->dissector = split_dissector_new(first);
	return child->dissector != NULL || log_out_of_memory();
}

static enum input_result
split_read(struct split_child *child)
{
	enum input_result result;

	if (!workers_make_observers(child->workers, NULL) || !split_make_dissector(child, true))
		return INPUT_FAILED;
	observer_set_visitor(child->workers->worker[0].observer, split_join_frame, child);
	result = workers_run(child->workers);
	split_dissector_free(child->dissector);
	workers_free(child->workers);
	child->workers = NULL;
	return child->failed || loop_is_stopped(child->loop) ? INPUT_FAILED : result;
}

/* Reads the input again and writes the captures. */
static bool
split_write(struct split_child *child)
{
	bool good;

	if (!split_make_dissector(child, false))
		return false;
	good = second_pass_run(child->second_pass, split_write_frame, child) != INPUT_FAILED;
	split_dissector_free(child->dissector);
	split_files_log_error(child->files);
	if (child->failed || loop_is_stopped(child->loop))
		return false;
	if (good && child->second.frames == child->first.frames && child->second.hash == child->first.hash)
		return split_files_end(child->files, child->end);
	log_error("the input changed while it was read");
	return false;
}

static enum input_result
split_run_passes(struct split_child *child)
{
	enum input_result result;

	if (!split_open(child) ||
	    !confine_replay(&child->config, &child->privileges, split_follow_parent, child) ||
	    !workers_start_inputs(child->workers) || !split_begin_files(child))
		return INPUT_FAILED;
	result = split_read(child);
	if (result == INPUT_FAILED || !split_write(child))
		return INPUT_FAILED;
	child->report->joined_keys = split_groups_count(child->groups);
	child->report->complete = true;
	return result;
}

/* Ends the process; the exit status is an enum input_result. */
static _Noreturn void
split_child_main(struct split_child *child)
{
	enum input_result result;

	result = split_follow_parent(child) ? split_run_passes(child) : INPUT_FAILED;
	if (child->loop != NULL && loop_is_stopped(child->loop) && !child->failed)
		log_error("stopped before the end of the input");
	workers_free(child->workers);
	second_pass_free(child->second_pass);
	split_groups_free(child->groups);
	for (size_t i = 0; i < sizeof child->signals / sizeof child->signals[0]; i++)
		watch_free(child->signals[i]);
	loop_free(child->loop);
	_exit((int)result);
}

/* ------------------------------------------------------------------------------------------------------ the parent */

/* Waits for the child; passes signals on. */
static enum input_result
split_wait(pid_t child, const sigset_t *signals)
{
	int status = 0, number;

	while (waitpid(child, &status, WNOHANG) == 0) {
		number = sigwaitinfo(signals, NULL);
		if (number > 0 && number != SIGCHLD)
			kill(child, SIGTERM);
	}
	if (WIFSIGNALED(status))
		log_error("the process that reads the input was ended by signal %d (%s)", WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? (enum input_result)WEXITSTATUS(status) : INPUT_FAILED;
}

/* Blocks the signals that split_wait() handles. */
static void
split_block_signals(sigset_t *signals)
{
	split_fill_stop_signals(signals);
	sigaddset(signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, signals, NULL);
	signal(SIGCHLD, SIG_DFL); /* it may be inherited as ignored, and then a child's end is not a signal */
}

static enum input_result
split_start_child(struct split_child *child, const sigset_t *signals)
{
	pid_t pid = fork();

	if (pid == 0)
		split_child_main(child);
	if (pid < 0) {
		log_error("cannot start a process: %s", strerror(errno));
		return INPUT_FAILED;
	}
	return split_wait(pid, signals);
}

static void
split_log_result(const struct split_request *request, const struct split_report *report)
{
	uint64_t frames = 0, least = UINT64_MAX, most = 0;

	for (unsigned i = 0; i < request->count; i++) {
		uint64_t n = report->captures[i].frames;

		frames += n;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	log_notice("split %llu frames into %u captures %s-*-of-%04u.pcapng, the smallest of %llu frames, the largest "
		   "of %llu; %s.json lists them",
		   (unsigned long long)frames, request->count, request->prefix, request->count,
		   (unsigned long long)least, (unsigned long long)most, request->prefix);
}

enum input_result
split_run(const struct split_request *request)
{
	unsigned count = request->count;
	size_t size = sizeof(struct split_report) + count * sizeof(struct split_file_counters);
	struct split_child child = {.count = count, .parent = getpid()};
	enum input_result result;
	sigset_t signals;

	second_pass_set_config(&child.config, &request->config);
	if (!privileges_plan(&request->config, &child.privileges))
		return INPUT_FAILED;
	child.report = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child.report == MAP_FAILED) {
		log_out_of_memory();
		return INPUT_FAILED;
	}
	split_block_signals(&signals); /* no signal may end this process while there are unfinished files */
	child.files = split_files_create(request->prefix, count, child.report->captures);
	if (child.files == NULL)
		return INPUT_FAILED;
	result = split_start_child(&child, &signals);
	if (result != INPUT_FAILED && child.report->complete) {
		if (!split_files_publish(child.files))
			return INPUT_FAILED;
		split_log_result(request, child.report);
		return result;
	}
	split_files_discard(child.files);
	return INPUT_FAILED;
}
