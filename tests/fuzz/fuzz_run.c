/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of netobsd: options, and a capture.  The bytes after the first one select the options, each byte one of them
 * or none; the rest is the capture: a file, a pipe, or compressed.  Small limits meet every output.  AddressSanitizer
 * finds a table that is too small for the flows that an option allows, because such tables are on the heap here.
 *
 * A run that fails says why; JSON is JSON; a capture that was written can be read; and a second run gives the same
 * output, although it hashes with another seed and reads the capture in another way.
 *
 * The daemon runs in this process, from the options to the exit status: a process for each run takes three times as
 * long, and libFuzzer would not know which options reach new code.  What a process does only once is replaced: it keeps
 * its privileges and descriptors, and its standard output is in memory.  One input in 32 is of netobs-split, which
 * makes a process of its own, whose end without a logged error is a failure, too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/log.h"
#include "base/output.h"
#include "config/options.h"
#include "confine/privileges.h"
#include "daemon/run.h"
#include "flight/format/capture_writer.h"
#include "flow/memory.h"
#include "formulas/slots/slot_image.h"
#include "tests/fuzz/fuzz_must.h"
#include "tests/lib/json_check.h"
#include "tools/split/split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most); /* of libFuzzer, or of fuzz_main.c */

#define OPTION_BYTES  36u
#define HEADER	      (1 + OPTION_BYTES)
#define ARGUMENTS_MAX 48u
#define HEAP_MAX      (1u << 18)
#define CACHE_LINE    64u
#define CAPTURE_MAX   (1u << 18) /* a pipe can hold it */

/* Descriptors that a run may leave open, because they live as long as its process: /proc/self/statm. */
#define DESCRIPTORS_LEFT 1u
#define DESCRIPTORS_MAX	 64

enum way { FROM_FILE, FROM_PIPE, FROM_GZIP, FROM_ZSTD };

/* Files of a run, in memory. */
enum file { INPUT, RECORDS, EXCERPT_A, EXCERPT_B, FILES };

/* What a run has written. */
struct outcome {
	int status; /* -1: the options are not valid */
	uint64_t size[FILES], digest[FILES]; /* INPUT: standard output */
};

static int files[FILES];
static char paths[FILES][32], prefix[] = "/tmp/netobs-fuzz-XXXXXX/s";
static char arguments[ARGUMENTS_MAX][192];
static unsigned argument_count;
static bool is_json, is_table, is_split, was_open[DESCRIPTORS_MAX]; /* descriptors before a run */
static enum capture_format write_format;
static uint64_t random_state;
static _Atomic unsigned *errors; /* logged; in memory that a child shares */
static struct {
	char *bytes;
	size_t used, size;
} printed;

/* ---------------------------------------------------------------------- replaces base/log.c and log_limit.c */

static void __attribute__((format(printf, 2, 0)))
count_line(enum log_level level, const char *format, va_list values)
{
	char text[LOG_TEXT_MAX + 1];

	must(vsnprintf(text, sizeof text, format, values) >= 0);
	if (level == LEVEL_ERROR)
		atomic_fetch_add(errors, 1);
}

void
log_write(enum log_level level, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	count_line(level, format, values);
	va_end(values);
}

void
log_limited(struct log_site *site, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	count_line(site->level, format, values);
	va_end(values);
}

void
log_write_lines(const char *text)
{
	must(strlen(text) > 0);
}

uint64_t
log_dropped(void)
{
	return 0;
}

void
log_mute(bool mute)
{
	(void)mute;
}

void
log_limit_enable(void)
{
}

void
log_limit_disable(void)
{
}

void
log_limit_report_expired(void)
{
}

/* ------------------------------------------------------------------------------------ replaces base/output.c */

void
output_open(void)
{
}

int
output_fd(enum output_stream stream)
{
	return stream == OUTPUT_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
}

ssize_t
output_write(int fd, const void *from, size_t size)
{
	if (fd != STDOUT_FILENO)
		return write(fd, from, size);
	if (printed.size - printed.used < size) {
		printed.size = 2 * printed.size + size;
		printed.bytes = realloc(printed.bytes, printed.size);
		must(printed.bytes != NULL);
	}
	memcpy(printed.bytes + printed.used, from, size);
	printed.used += size;
	return (ssize_t)size;
}

/* Standard error. */
size_t
output_write_within(int fd, const char *from, size_t size, int ms)
{
	(void)from;
	(void)ms;
	must(fd == STDERR_FILENO);
	return size;
}

/* -------------------------------------------------------- ---------------- replaces confine/privileges.c */

void
descriptors_close_inherited(const struct config *config)
{
	(void)config;
}

bool
privileges_plan(const struct config *config, struct privileges *plan)
{
	(void)config;
	*plan = (struct privileges){.change = false};
	return true;
}

bool
privileges_keep_capture(const struct privileges *plan)
{
	(void)plan;
	return false;
}

bool
privileges_drop(const struct privileges *plan)
{
	(void)plan;
	return true;
}

bool
privileges_drop_in_thread(bool capture, bool owners)
{
	(void)capture;
	(void)owners;
	return true;
}

/* ------------------------------------- replaces formulas/slots/private_copy.c, flow/memory.c and getrandom(2) */

/* Formulas are counted and printed, but not traced: each run would take a file and two processes more. */
bool
private_copy_make(struct private_copy *copy, const char *parent, char error[SLOT_ERROR_MAX])
{
	(void)copy;
	snprintf(error, SLOT_ERROR_MAX, "there is no file in %s", parent);
	return false;
}

void
private_copy_watch(struct private_copy *copy)
{
	(void)copy;
}

void
private_copy_remove(struct private_copy *copy)
{
	(void)copy;
}

/* Bytes of the pages of larger memory, without the one after it. */
static size_t
memory_mapped(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/* Bytes between the first page and larger memory, which is aligned to a cache line. */
static size_t
memory_offset(size_t size)
{
	return (memory_mapped(size) - size) / CACHE_LINE * CACHE_LINE;
}

/* The tables of a few flows are on the heap, where AddressSanitizer checks their bounds.  Larger memory, that of pools,
 * ends before a page that cannot be accessed. */
void *
memory_reserve(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = memory_mapped(size);
	uint8_t *memory;

	if (size <= HEAP_MAX)
		return calloc(1, size);
	memory = mmap(NULL, mapped + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	must(mprotect(memory + mapped, page, PROT_NONE) == 0);
	return memory + memory_offset(size);
}

void *
memory_reserve_huge(size_t size)
{
	return memory_reserve(size);
}

void
memory_populate(void *memory, size_t size)
{
	(void)memory;
	(void)size;
}

void
memory_release(void *memory, size_t size)
{
	if (size <= HEAP_MAX)
		free(memory);
	else if (memory != NULL)
		must(munmap((uint8_t *)memory - memory_offset(size), memory_mapped(size) + memory_mapped(1)) == 0);
}

ssize_t
getrandom(void *to, size_t size, unsigned flags)
{
	(void)flags;
	for (size_t i = 0; i < size; i++) {
		random_state = random_state * 6364136223846793005u + 1442695040888963407u;
		((uint8_t *)to)[i] = (uint8_t)(random_state >> 56);
	}
	return (ssize_t)size;
}

/* ---------------------------------------------------------------------------------------------------- the options */

static void __attribute__((format(printf, 1, 2))) add(const char *format, ...)
{
	va_list values;

	must(argument_count < ARGUMENTS_MAX);
	va_start(values, format);
	must(vsnprintf(arguments[argument_count], sizeof arguments[0], format, values) < (int)sizeof arguments[0]);
	va_end(values);
	argument_count++;
}

/* One of the texts, or NULL. */
#define PICK(...) pick(byte++, (const char *const[]){NULL, __VA_ARGS__}, \
		       sizeof((const char *const[]){NULL, __VA_ARGS__}) / sizeof(const char *))

static const char *
pick(const uint8_t *byte, const char *const texts[], size_t count)
{
	return texts[*byte % count];
}

static bool
add_if(bool condition, const char *text)
{
	if (condition && text != NULL)
		add("%s", text);
	return condition && text != NULL;
}

/* Adds limits and what else does not depend on the outputs. */
static const uint8_t *
add_limits(const uint8_t *byte)
{
	if (*byte < 250)
		add("--max-flows=%u", 16 + *byte % 25);
	else
		add("--max-flows=1000");
	byte++;
	add_if(true, PICK("--connect-timeout=0.5", "--connect-timeout=3"));
	add_if(true, PICK("--time-wait=0.001", "--time-wait=1"));
	add_if(true, PICK("--tcp-idle=0.1", "--tcp-idle=2", "--tcp-idle=31536000"));
	add_if(true, PICK("--tcp-closing-idle=0.2"));
	add_if(true, PICK("--udp-idle=0.01", "--udp-idle=5"));
	add_if(true, PICK("--app-timeout=0.01", "--app-timeout=1"));
	add_if(true, PICK("--view=host", "--view=both", "--view=monitor"));
	add_if(true, PICK("--local=10.0.0.0/8", "--local=192.168.0.0/16", "--local=::/0", "--local=0.0.0.0/1"));
	add_if(true, PICK("--no-inner"));
	add_if(true, PICK("--ports-only", "--dns-port=53", "--http-port=80,443", "--tls-port=80", "--smb-port=80,443",
			  "--iscsi-port=3260,80"));
	add_if(true, PICK("--summary", "--strict", "--debug=all"));
	return byte;
}

/* Adds formulas, which may be recorded. */
static const uint8_t *
add_formulas(const uint8_t *byte)
{
	add_if(true, PICK("--formula=third = tcp-*, 3 times in 1s by cs_cid",
			  "--formula=third = ip-send, 2 times in 10s by ip_saddr, ip_daddr",
			  "--formula=third = connection-end where cr_client_port > 1000, 2 times in 1h by cr_server",
			  "--formula=third = gld-*, 10000 times in 1h"));
	add_if(true, PICK("--formula=busy = tcp-send, tcp-receive where tcps_snd_segs > 1 counted",
			  "--formula=busy = dns-*, 2 times in 1min by dns_qname counted",
			  "--formula=busy = udp-send where pcap(\"udp port 53\") || ip_plength < 30"));
	return byte;
}

/* Adds excerpts and the flight memory.  Without its size an excerpt from a pipe takes 64 MB. */
static const uint8_t *
add_excerpts(const uint8_t *byte, enum way way)
{
	static const char *const formats[] = {"pcapng", "pcap", "snoop"};
	const char *first = PICK("tcp-state-change", "third", "connection-end", "udp-stream-start", "ip-send",
				 "dns-query", "tcp-retransmit");
	const char *second = PICK("busy", "connection-active", "http-request-done", "smb-op-done", "sctp-state-change",
				  "gld-receive");

	if (first != NULL)
		add("--write=%s=%s", first, paths[EXCERPT_A]);
	if (second != NULL)
		add("--write=%s=%s", second, paths[EXCERPT_B]);
	write_format = CAPTURE_FORMATS;
	if (first != NULL || second != NULL) {
		write_format = (enum capture_format)(*byte % CAPTURE_FORMATS);
		add("--write-format=%s", formats[write_format]);
	}
	byte++;
	if (add_if(true, PICK("--flight-memory=1M", "--flight-memory=3M"))) {
		add_if(true, PICK("--flight-snap=1", "--flight-snap=100"));
		add_if(true, PICK("--flight-bytes=1", "--flight-bytes=1000"));
	} else {
		add_if(way == FROM_PIPE, "--flight-memory=2M");
		byte += 2;
	}
	return byte;
}

static const uint8_t *
add_outputs(const uint8_t *byte)
{
	const char *print = PICK("--print", "--print=tcp-*,udp-*,sctp-*", "--print=connection-*,third,busy",
				 "--print=dns-*,http-*,tls-*,smb-*,iscsi-*,socket-*");
	const char *print_fields = PICK("--print-fields=cs_cid,ip_saddr,tcps_statestr,dns_qname,cr_name");
	const char *format = PICK("--format=json", "--format=text");
	unsigned records = *byte++ % 3;
	bool prints = add_if(true, print);

	add_if(prints && strcmp(print, "--print") == 0, print_fields);
	if (records == 1 || (records == 2 && prints))
		add("--records=%s", paths[RECORDS]);
	else if (records == 2)
		add("--records");
	add_if(prints || records > 0, format);
	is_json = format != NULL && strcmp(format, "--format=json") == 0;
	is_table = format != NULL && !is_json;
	add_if(records > 0, PICK("--records-where=cr_client_bytes > 10", "--records-where=cr_name ~ \"*.*\""));
	add_if(records > 0, PICK("--records-fields=cr_uid,cr_name,cr_reason,cr_anomaly",
				 "--records-fields=cr_community"));
	add_if(records > 0, PICK(NULL, NULL, NULL, NULL, NULL, /* a sort takes 64 MB */
				 "--records-sort=cr_client_bytes", "--records-sort=-cr_client"));
	add_if(records > 0, PICK("--records-limit=1", "--records-limit=17"));
	add_if(true, PICK("--active-records=1s", "--active-records=1"));
	return byte;
}

/* Defines a formula that an output uses, unless it is defined. */
static void
add_missing_formula(const char *name)
{
	char definition[32];
	bool used = false;

	snprintf(definition, sizeof definition, "--formula=%s ", name);
	for (unsigned i = 0; i < argument_count; i++) {
		if (strncmp(arguments[i], definition, strlen(definition)) == 0)
			return;
		used |= strstr(arguments[i], name) != NULL;
	}
	if (used)
		add("%s= tcp-*, 3 times in 1s by cs_cid", definition);
}

/* Adds a window around the first packets of a classic capture. */
static const uint8_t *
add_window(const uint8_t *byte, const uint8_t *capture, size_t size)
{
	uint32_t first = 1000000000;

	if (size > 28)
		memcpy(&first, capture + 24, sizeof first);
	if (byte[0] % 4 == 1) {
		add("--from=%u.%03u", first + byte[1] / 250u, byte[1] % 250u * 4);
		add_if(byte[2] % 2 == 1, "--lead-in=0.1");
	}
	if (byte[0] / 4 % 4 == 1) {
		unsigned to = byte[1] * 4u + byte[3] * 20u + 1;

		add("--to=%u.%03u", first + to / 1000, to % 1000);
	}
	return byte + 4;
}

/* Makes the command line of netobs-split. */
static void
make_split_arguments(const uint8_t *byte, const char *filter)
{
	argument_count = 0;
	is_split = true;
	add("netobs-split");
	add("--no-seccomp");
	add("--number=%u", 1 + *byte % 3u);
	add("--write=%s", prefix);
	if (filter != NULL)
		add("--filter=%s", filter);
}

/* Makes the command line. */
static void
make_arguments(const uint8_t *byte, enum way way, const uint8_t *capture, size_t size)
{
	const uint8_t *last = byte + OPTION_BYTES;
	const char *filter;

	argument_count = 0;
	is_split = false;
	is_json = false;
	add("netobsd");
	add("--no-seccomp");
	byte = add_limits(byte);
	filter = PICK("tcp", "udp or sctp", "ip6", "greater 70");
	if (*byte++ % 32 == 1) {
		make_split_arguments(byte, filter);
		return;
	}
	byte = add_formulas(byte);
	byte = add_excerpts(byte, way);
	byte = add_outputs(byte);
	byte = add_window(byte, capture, size);
	must(byte <= last);
	add_missing_formula("third");
	add_missing_formula("busy");
	add_if(true, filter);
}

/* ------------------------------------------------------------------------------------------------------ the files */

static void
clean_up(void)
{
	*strrchr(prefix, '/') = '\0';
	rmdir(prefix);
}

static void
prepare(void)
{
	for (unsigned i = 0; i < FILES; i++) {
		files[i] = memfd_create("run", 0);
		must(files[i] >= 0);
		snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", files[i]);
	}
	*strrchr(prefix, '/') = '\0';
	must(mkdtemp(prefix) != NULL);
	prefix[strlen(prefix)] = '/';
	atexit(clean_up);
	errors = mmap(NULL, sizeof *errors, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(errors != MAP_FAILED);
}

static bool
is_packed(const uint8_t *bytes, size_t size)
{
	static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};

	return size >= 4 && (memcmp(bytes, gzip, sizeof gzip) == 0 || memcmp(bytes, zstd, sizeof zstd) == 0);
}

/* The descriptor that a run reads the capture from: one of `files`, or a pipe. */
static int
open_capture(const uint8_t *capture, size_t size, enum way way)
{
	static uint8_t packed[CAPTURE_MAX + 1024];
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)capture, .avail_in = (uInt)size, .next_out = packed,
			   .avail_out = sizeof packed};
	int ends[2];

	if (way == FROM_PIPE) {
		must(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, CAPTURE_MAX) >= (int)CAPTURE_MAX);
		must(write(ends[1], capture, size) == (ssize_t)size);
		close(ends[1]);
		return ends[0];
	}
	if (is_packed(capture, size))
		way = FROM_FILE;
	if (way == FROM_GZIP) {
		must(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
		must(deflate(&stream, Z_FINISH) == Z_STREAM_END);
		size = sizeof packed - stream.avail_out;
		capture = packed;
		deflateEnd(&stream);
	} else if (way == FROM_ZSTD) {
		size = ZSTD_compress(packed, sizeof packed, capture, size, 1);
		must(!ZSTD_isError(size));
		capture = packed;
	}
	must(ftruncate(files[INPUT], 0) == 0 && pwrite(files[INPUT], capture, size, 0) == (ssize_t)size);
	return files[INPUT];
}

/* Removes what netobs-split has written. */
static void
remove_shards(void)
{
	char directory[sizeof prefix];
	const struct dirent *entry;
	DIR *stream;

	snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(prefix, '/') - prefix), prefix);
	stream = opendir(directory);
	must(stream != NULL);
	while ((entry = readdir(stream)) != NULL)
		(void)unlinkat(dirfd(stream), entry->d_name, 0); /* fails for "." and ".." */
	closedir(stream);
}

/* ---------------------------------------------------------------------------------------------------- the outcome */

/* FNV-1a. */
static uint64_t
digest(const char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3;
	return hash;
}

static void
check_json(const char *text, size_t size)
{
	const char *end;
	size_t where;

	for (; size > 0; size -= (size_t)(end + 1 - text), text = end + 1) {
		end = memchr(text, '\n', size);
		must(end != NULL && *text == '{' && json_check(text, (size_t)(end - text), &where));
	}
}

/* pcapng: blocks in this machine's byte order, each with its length at both ends. */
static void
check_pcapng(const char *bytes, size_t size)
{
	uint32_t block[2], length;

	must(size > 0);
	for (; size > 0; bytes += length, size -= length) {
		must(size >= 12);
		memcpy(block, bytes, sizeof block);
		length = block[1];
		must(length >= 12 && length <= size && length % 4 == 0);
		must(memcmp(bytes + length - 4, &length, 4) == 0);
	}
}

static void
check_pcap(char *bytes, size_t size)
{
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const u_char *data;
	FILE *stream = fmemopen(bytes, size, "r");
	pcap_t *pcap = stream != NULL ? pcap_fopen_offline(stream, error) : NULL;
	int got;

	must(pcap != NULL);
	do
		got = pcap_next_ex(pcap, &header, &data);
	while (got == 1);
	must(got == PCAP_ERROR_BREAK);
	pcap_close(pcap);
}

static void
check_recording(char *bytes, size_t size)
{
	if (write_format == CAPTURE_PCAPNG)
		check_pcapng(bytes, size);
	else if (write_format == CAPTURE_PCAP)
		check_pcap(bytes, size);
}

static void
take_file(struct outcome *outcome, enum file file)
{
	off_t size = lseek(files[file], 0, SEEK_END);
	char *bytes;

	must(size >= 0);
	outcome->size[file] = (uint64_t)size;
	if (size == 0)
		return;
	bytes = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE, files[file], 0);
	must(bytes != MAP_FAILED);
	outcome->digest[file] = digest(bytes, (size_t)size);
	if (file == RECORDS && !is_table)
		check_json(bytes, (size_t)size);
	else if (file != RECORDS && outcome->status != EXIT_STATUS_FAILED)
		check_recording(bytes, (size_t)size);
	munmap(bytes, (size_t)size);
}

static void
take_outcome(struct outcome *outcome)
{
	outcome->size[INPUT] = printed.used;
	outcome->digest[INPUT] = digest(printed.bytes, printed.used);
	if (is_json)
		check_json(printed.bytes, printed.used);
	for (enum file file = RECORDS; file < FILES; file++)
		take_file(outcome, file);
}

static void
note_descriptors(void)
{
	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* Closes what a run has left open. */
static void
close_descriptors(void)
{
	unsigned left = 0;

	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		left += !was_open[fd] && close(fd) == 0;
	must(left <= DESCRIPTORS_LEFT);
}

/* With $FUZZ_RUN_SHOW each input shows its options. */
static void
print_arguments(void)
{
	for (unsigned i = 0; i < argument_count; i++)
		fprintf(stderr, "%s'%s'", i > 0 ? " " : "", arguments[i]);
	fprintf(stderr, "\n");
}

static int
run_split(int argc, char **argv)
{
	static const enum exit_status statuses[] = {
	    [INPUT_DONE] = EXIT_STATUS_OK, [INPUT_DAMAGED] = EXIT_STATUS_DAMAGED, [INPUT_FAILED] = EXIT_STATUS_FAILED};
	struct split_request request;
	int status = -1;

	if (split_parse(argc, argv, &request))
		status = (int)statuses[split_run(&request)];
	config_free(&request.config);
	return status;
}

/* The common arguments, and those of the way. */
static int
run_arguments(const char *path, bool twice, enum way way)
{
	char *argv[ARGUMENTS_MAX + 6], workers[16], read[2][48];
	struct config config;
	int argc = 0, status = -1;

	argv[argc++] = arguments[0];
	for (int i = 0; i < 1 + twice; i++) {
		snprintf(read[i], sizeof read[i], "--read=%s", path);
		argv[argc++] = read[i];
	}
	snprintf(workers, sizeof workers, "--workers=%u", (unsigned)way);
	if (way == FROM_GZIP || way == FROM_ZSTD)
		argv[argc++] = workers;
	for (unsigned i = 1; i < argument_count; i++)
		argv[argc++] = arguments[i];
	argv[argc] = NULL;
	if (is_split)
		return run_split(argc, argv);
	if (options_parse(argc, argv, &config) == OPTIONS_RUN)
		status = (int)daemon_run(&config);
	config_free(&config);
	return status;
}

static struct outcome
run(const uint8_t *capture, size_t size, bool twice, enum way way)
{
	struct outcome outcome = {.status = -1};
	char path[32];
	sigset_t before;
	int fd = open_capture(capture, size, way);

	printed.used = 0;
	for (enum file file = RECORDS; file < FILES; file++)
		must(ftruncate(files[file], 0) == 0);
	atomic_store(errors, 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	note_descriptors();
	sigprocmask(SIG_SETMASK, NULL, &before);
	outcome.status = run_arguments(path, twice, way);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close_descriptors();
	if (way == FROM_PIPE)
		close(fd);
	must(atomic_load(errors) > 0 || (outcome.status != -1 && outcome.status != EXIT_STATUS_FAILED));
	take_outcome(&outcome);
	return outcome;
}

/* ------------------------------------------------------------------------------------------------------ mutations */

/* The data of a record of a classic capture, NULL if there are fewer. */
static uint8_t *
find_record(uint8_t *capture, size_t size, unsigned number, uint32_t *length)
{
	for (size_t at = 24; size > at && size - at > 16; at += 16 + *length) {
		memcpy(length, capture + at + 8, sizeof *length);
		if (*length == 0 || *length > size - at - 16)
			return NULL;
		if (number-- == 0)
			return capture + at + 16;
	}
	return NULL;
}

/* Changes options, the bytes of one frame, or anything: the options are few bytes of many, and a changed length of a
 * frame hides all frames after it. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	uint32_t length;
	uint8_t *record;

	if (size <= HEADER || seed % 4 == 0)
		return LLVMFuzzerMutate(data, size, most);
	if (seed % 4 == 1) {
		(void)LLVMFuzzerMutate(data, HEADER, HEADER);
		return size;
	}
	record = find_record(data + HEADER, size - HEADER, seed / 4 % 256, &length);
	if (record == NULL)
		record = find_record(data + HEADER, size - HEADER, 0, &length);
	if (record == NULL)
		return LLVMFuzzerMutate(data, size, most);
	(void)LLVMFuzzerMutate(record, length, length);
	return size;
}

/* ------------------------------------------------------------------------------------------------------- an input */

/* How the first byte is read. */
enum { WAY = 3, READ_TWICE = 4, COMPARED = 8 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum way way = size > 0 ? (enum way)(data[0] & WAY) : FROM_FILE;
	const uint8_t *capture = data + HEADER;
	struct outcome first, second;
	bool twice;

	if (errors == NULL)
		prepare();
	if (size < HEADER || size > HEADER + CAPTURE_MAX)
		return 0;
	size -= HEADER;
	make_arguments(data + 1, way, capture, size);
	if (getenv("FUZZ_RUN_SHOW") != NULL)
		print_arguments();
	twice = (data[0] & READ_TWICE) != 0 && way != FROM_PIPE;
	random_state = data[0];
	first = run(capture, size, twice, way);
	remove_shards();
	/* A pipe cannot be read twice, as netobs-split does. */
	if ((data[0] & COMPARED) != 0 && !(is_split && way == FROM_PIPE)) {
		random_state = ~(uint64_t)data[0];
		second = run(capture, size, twice, way == FROM_FILE ? FROM_GZIP : FROM_FILE);
		remove_shards();
		must(first.status == second.status);
		for (enum file file = INPUT; file < FILES; file++)
			must(first.size[file] == second.size[file] && first.digest[file] == second.digest[file]);
	}
	return 0;
}
