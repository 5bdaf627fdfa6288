/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_live.h"

#include <errno.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formulas/match/filter_text.h"
#include "tools/unnamed_file.h"

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
	int fd = unnamed_file_open("/var/tmp", live->message, sizeof(live->message)), copy;
	FILE *file;

	if (fd < 0)
		return NULL;
	/* netobsd inherits the descriptor; the file of pcap_dump_close() is another one. */
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

static long long
report_live_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
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

/* Waits for frames, at most until `deadline`, ms, and writes them; false if the capture is at its end. */
static bool
report_live_step(struct report_live *live, pcap_t *pcap, struct report_live_file *file, long long deadline)
{
	struct pollfd ready = {.fd = pcap_get_selectable_fd(pcap), .events = POLLIN};
	long long wait = deadline - report_live_clock();

	if (wait <= 0 || stopped)
		return false;
	(void)poll(&ready, 1, wait < 1000 ? (int)wait : 1000);
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
	long long deadline = live->seconds == 0 ? LLONG_MAX : report_live_clock() + 1000ll * live->seconds;
	struct sigaction stop = {.sa_handler = report_live_stop}, before[2];
	struct pcap_stat statistics = {0};

	sigaction(SIGINT, &stop, &before[0]);
	sigaction(SIGTERM, &stop, &before[1]);
	while (report_live_step(live, pcap, &file, deadline))
		;
	/* Frames that have arrived but are not delivered yet. */
	stopped = 0;
	deadline = report_live_clock() + 2 * DELIVERY_MS;
	while (!live->broken && report_live_step(live, pcap, &file, deadline))
		;
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
	if (pcap_stats(pcap, &statistics) == 0)
		live->dropped = statistics.ps_drop;
	report_live_flush(live, &file);
}

bool
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
