/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/output_file.h"
#include "formulas/match/filter_text.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

#define SNAPLEN 262144

/* Most instructions that netobsd takes for a link type. */
#define PROGRAM_MAX 4096u

#define LINK_TYPES_MAX       16u
#define LINK_TYPES_REPLY_MAX 1024u

/* --------------------------------------------------------------------------------------------------------- programs */

static bool
filter_fail(int dlt, const char *reason, char error[WRITE_FILTER_ERROR_MAX])
{
	const char *name = pcap_datalink_val_to_name(dlt);

	snprintf(error, WRITE_FILTER_ERROR_MAX, "bad filter for link type %s: %.*s; pcap-filter(7) describes filters",
		 name != NULL ? name : "without a name", PCAP_ERRBUF_SIZE, reason);
	return false;
}

/* Compiles with optimization, to which it is an error that a filter rejects all frames of a link type: then without. */
static bool
filter_compile(const char *filter, int dlt, struct bpf_program *program, char error[WRITE_FILTER_ERROR_MAX])
{
	pcap_t *dead = pcap_open_dead(dlt, SNAPLEN);
	bool good;

	if (dead == NULL)
		return filter_fail(dlt, "netobsctl is out of memory", error);
	good = pcap_compile(dead, program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0 ||
	       pcap_compile(dead, program, filter, 0, PCAP_NETMASK_UNKNOWN) == 0;
	if (!good)
		filter_fail(dlt, pcap_geterr(dead), error);
	pcap_close(dead);
	return good;
}

/* Whether netobsd takes the program: libpcap's do not jump back except those of "protochain". */
static bool
filter_check_program(const struct bpf_program *program, int dlt, char error[WRITE_FILTER_ERROR_MAX])
{
	if (program->bf_len > PROGRAM_MAX)
		return filter_fail(dlt, "it has more than 4096 instructions", error);
	for (unsigned i = 0; i < program->bf_len; i++)
		if (program->bf_insns[i].code == (BPF_JMP | BPF_JA) && program->bf_insns[i].k > PROGRAM_MAX)
			return filter_fail(dlt, "it has a loop: netobsd does not follow \"protochain\"", error);
	return true;
}

static bool
filter_put_program(const struct bpf_program *program, int dlt, char programs[WRITE_FILTER_MAX])
{
	size_t used = strlen(programs);

	used += (size_t)snprintf(programs + used, WRITE_FILTER_MAX - used, "%s%d %u", used > 0 ? " " : "", dlt,
				 program->bf_len);
	for (unsigned i = 0; i < program->bf_len && used < WRITE_FILTER_MAX; i++) {
		const struct bpf_insn *insn = &program->bf_insns[i];

		used += (size_t)snprintf(programs + used, WRITE_FILTER_MAX - used, ",%u %u %u %u", insn->code, insn->jt,
					 insn->jf, insn->k);
	}
	return used < WRITE_FILTER_MAX;
}

bool
write_filter_add(const char *filter, int dlt, char programs[WRITE_FILTER_MAX], char error[WRITE_FILTER_ERROR_MAX])
{
	struct bpf_program program;
	bool good;

	if (!filter_size_check(filter, FILTER_SIZE_CAPTURE_MAX, error, WRITE_FILTER_ERROR_MAX) ||
	    !filter_compile(filter, dlt, &program, error))
		return false;
	good = filter_check_program(&program, dlt, error);
	if (good && !filter_put_program(&program, dlt, programs))
		good = filter_fail(dlt, "it is too long", error);
	pcap_freecode(&program);
	return good;
}

/* ------------------------------------------------------------------------------------------------------- link types */

/* The link types of netobsd.  Returns their number, 0 with `error` on failure; without any, that of Ethernet, which
 * finds mistakes. */
static unsigned
filter_read_link_types(const char *socket, int types[LINK_TYPES_MAX], char error[WRITE_FILTER_ERROR_MAX])
{
	json_t *lines =
	    client_read_array(socket, "write --link-types\n", LINK_TYPES_REPLY_MAX, error, WRITE_FILTER_ERROR_MAX);
	const json_t *list = json_object_get(json_array_get(lines, 0), "link_types");
	unsigned count = 0;

	for (; count < LINK_TYPES_MAX && json_is_integer(json_array_get(list, count)); count++)
		types[count] = (int)json_integer_value(json_array_get(list, count));
	if (lines != NULL && (!json_is_array(list) || count < json_array_size(list))) {
		snprintf(error, WRITE_FILTER_ERROR_MAX, "the process listening there is not netobsd");
		count = 0;
	} else if (lines != NULL && count == 0) {
		types[count++] = DLT_EN10MB;
	}
	json_decref(lines);
	return count;
}

bool
write_filter_compile(const char *socket, const char *filter, char programs[WRITE_FILTER_MAX],
		     char error[WRITE_FILTER_ERROR_MAX])
{
	int types[LINK_TYPES_MAX];
	unsigned count = filter_read_link_types(socket, types, error);

	programs[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		if (!write_filter_add(filter, types[i], programs, error))
			return false;
	return count > 0;
}

/* ----------------------------------------------------------------------------------------------------- the transfer */

/* The length of a chunk that is the reason why the capture ends. */
#define CHUNK_ERROR UINT32_MAX

/* netobsd may search the whole ring before it finds the next frame. */
#define WRITE_TIMEOUT_S 120

/* Longest wait for the whole capture, besides a second for each MiB. */
#define WRITE_WAIT_S 600

/* Fewest bytes of a frame in a capture of any format. */
#define WRITE_FRAME_MIN 16u

struct write_transfer {
	int fd;
	const char *path; /* of the file; NULL: `output` is another one */
	int output;
	struct written_capture *written;
	struct client_meter meter;
	uint64_t bytes, most_bytes;
	char *error;
	size_t error_size;
};

static bool
write_fail(const struct write_transfer *transfer, const char *what, const char *reason)
{
	snprintf(transfer->error, transfer->error_size, "%s%s%s", what, reason != NULL ? ": " : "",
		 reason != NULL ? reason : "");
	return false;
}

/* Why nothing more was received. */
static const char *
write_receive_error(void)
{
	if (errno == EAGAIN)
		return "netobsd sends nothing";
	return errno == ETIMEDOUT ? "it takes too long" : strerror(errno);
}

/* Receives exactly `length` bytes. */
static bool
write_receive(struct write_transfer *transfer, void *bytes, size_t length)
{
	for (size_t used = 0; used < length;) {
		ssize_t got = client_receive_metered(transfer->fd, (char *)bytes + used, length - used,
						     &transfer->meter);

		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return write_fail(transfer, "netobsd has ended the reply before the capture was complete",
					  NULL);
		if (got < 0)
			return write_fail(transfer, "the reply is incomplete", write_receive_error());
		used += (size_t)got;
	}
	return true;
}

/* Receives the rest of the reply, a line. */
static bool
write_receive_line(struct write_transfer *transfer, char *line, size_t size)
{
	for (size_t used = 0; used < size; used++) {
		if (!write_receive(transfer, line + used, 1))
			return false;
		if (line[used] == '\n') {
			line[used] = '\0';
			return true;
		}
		if (line[used] < ' ' || line[used] > '~')
			line[used] = '?';
	}
	return write_fail(transfer, "a line of the reply is too long", NULL);
}

/* ------------------------------------------------------------------------------------------------------- the chunks */

/* What cannot be done to the file. */
static bool
write_fail_file(const struct write_transfer *transfer, const char *what, const char *reason)
{
	int named = snprintf(transfer->error, transfer->error_size, "cannot %s %s: ", what, transfer->path);

	if (named < 0 || (size_t)named >= transfer->error_size)
		return false;
	snprintf(transfer->error + named, transfer->error_size - (size_t)named, "%s", reason);
	transfer->written->reason = (size_t)named;
	return false;
}

static bool
write_to_output(const struct write_transfer *transfer, const char *bytes, size_t length)
{
	char reason[OUTPUT_PATH_ERROR_MAX];

	if (output_write_all(transfer->output, bytes, length))
		return true;
	if (transfer->path == NULL)
		return write_fail(transfer,
				  transfer->output == STDOUT_FILENO ? "cannot write to standard output"
								    : "cannot write to the temporary file",
				  strerror(errno));
	output_path_fail(transfer->path, reason);
	return write_fail_file(transfer, "write", reason);
}

static bool
write_copy_chunk(struct write_transfer *transfer, uint32_t length)
{
	char bytes[65536];

	while (length > 0) {
		size_t part = length < sizeof bytes ? length : sizeof bytes;

		if (!write_receive(transfer, bytes, part))
			return false;
		transfer->bytes += part;
		if (transfer->bytes > transfer->most_bytes) {
			snprintf(transfer->error, transfer->error_size, "the capture is larger than %" PRIu64 " bytes",
				 transfer->most_bytes);
			return false;
		}
		if (!write_to_output(transfer, bytes, part))
			return false;
		length -= (uint32_t)part;
	}
	return true;
}

static bool
write_parse_counts(const char *line, struct written_capture *written)
{
	json_t *counts = json_read_object(line, strlen(line));
	bool complete = json_read_unsigned(counts, "frames", &written->frames) &&
			json_read_unsigned(counts, "bytes", &written->bytes) &&
			json_read_unsigned(counts, "lost", &written->lost) &&
			json_read_bool(counts, "cut", &written->cut);

	json_decref(counts);
	return complete;
}

/* The line after the chunks.  A capture without frames has at least its header. */
static bool
write_read_counts(struct write_transfer *transfer)
{
	struct written_capture *written = transfer->written;
	char line[512];

	if (!write_receive_line(transfer, line, sizeof line))
		return false;
	if (!write_parse_counts(line, written) || written->bytes != transfer->bytes || written->bytes == 0 ||
	    written->frames > written->bytes / WRITE_FRAME_MIN)
		return write_fail(transfer, "the end of the reply does not match the capture", NULL);
	return true;
}

static bool
write_copy_capture(struct write_transfer *transfer)
{
	char line[1024];
	uint32_t length;

	for (;;) {
		if (!write_receive(transfer, &length, sizeof length))
			return false;
		length = ntohl(length);
		if (length == 0)
			return write_read_counts(transfer);
		if (length == CHUNK_ERROR) {
			if (write_receive_line(transfer, line, sizeof line)) {
				transfer->written->failure = transfer->bytes == 0 ? ENODATA : EIO;
				write_fail(transfer, line, NULL);
			}
			return false;
		}
		if (!write_copy_chunk(transfer, length))
			return false;
	}
}

/* ------------------------------------------------------------------------------------------------------ the request */

/* Pulls the capture into the file. */
static bool
write_transfer_run(struct write_transfer *transfer)
{
	char reason[OUTPUT_PATH_ERROR_MAX];
	struct complete_file *file;

	if (transfer->path == NULL)
		return write_copy_capture(transfer);
	file = complete_file_open(transfer->path, 0, reason);
	if (file == NULL)
		return write_fail_file(transfer, "create", reason);
	transfer->output = complete_file_fd(file);
	if (!write_copy_capture(transfer)) {
		complete_file_discard(file);
		return false;
	}
	errno = complete_file_publish(file);
	if (errno == 0)
		return true;
	output_path_fail(transfer->path, reason);
	return write_fail_file(transfer, "complete", reason);
}

/* Sends the request and runs its transfer. */
static bool
write_request_run(const struct write_request *request, struct write_transfer *transfer)
{
	struct written_capture *written = transfer->written;
	const char *arguments = request->arguments, *programs = request->programs;
	char line[CLIENT_REQUEST_MAX + WRITE_FILTER_MAX];
	bool done;

	*written = (struct written_capture){.failure = EIO};
	if (snprintf(line, sizeof line, "write%s%s%s%s\n", *arguments != '\0' ? " " : "", arguments,
		     programs != NULL ? " " : "", programs != NULL ? programs : "") >= (int)sizeof line ||
	    strpbrk(arguments, "\r\n") != NULL)
		return write_fail(transfer, "the request is too long or contains a line break", NULL);
	transfer->fd = client_open_reply(request->socket, line, WRITE_TIMEOUT_S, transfer->error, transfer->error_size);
	if (transfer->fd < 0) {
		written->failure = errno == 0 || errno == EPERM ? 0 : EIO;
		return false;
	}
	transfer->meter = (struct client_meter){.most_wait_s = WRITE_WAIT_S};
	done = write_transfer_run(transfer);
	written->bytes = transfer->bytes;
	close(transfer->fd);
	return done;
}

bool
write_client_run(const struct write_request *request, struct written_capture *written, char *error, size_t size)
{
	struct write_transfer transfer = {.path = strcmp(request->path, "-") != 0 ? request->path : NULL,
					  .output = STDOUT_FILENO,
					  .written = written,
					  .most_bytes = request->most_bytes != 0 ? request->most_bytes : WRITE_SIZE_MAX,
					  .error = error,
					  .error_size = size};

	return write_request_run(request, &transfer);
}

int
write_client_open(const char *socket, uint64_t cid, struct written_capture *written, char *error, size_t size)
{
	struct write_transfer transfer = {
	    .written = written, .most_bytes = WRITE_SIZE_MAX, .error = error, .error_size = size};
	char arguments[40], reason[OUTPUT_PATH_ERROR_MAX];
	const struct write_request request = {.socket = socket, .arguments = arguments};

	written->failure = EIO;
	transfer.output = output_file_open_unnamed("/tmp", reason);
	if (transfer.output < 0) {
		snprintf(error, size, "cannot write to %s", reason);
		return -1;
	}
	snprintf(arguments, sizeof arguments, "--cid=%" PRIu64, cid);
	if (write_request_run(&request, &transfer) && lseek(transfer.output, 0, SEEK_SET) == 0)
		return transfer.output;
	close(transfer.output);
	return -1;
}
