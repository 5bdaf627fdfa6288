/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a capture file: pcap, pcapng or snoop.  Every way of reading it gives the same frames and the same end:
 * in bulk, frame by frame, from a pipe, compressed with gzip or zstd, decompressed by another thread, and with the
 * numbers of a pcap file in the other byte order; libpcap without netobs gives the same frames of pcap files, too.
 */
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/log.h"
#include "capture/batch.h"
#include "capture/input.h"
#include "dissect/dissect.h"
#include "tests/capture/sink_fixture.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A pipe holds this much without a reader. */
#define FILE_MAX 65536

/* What was read. */
struct outcome {
	bool opened;
	enum input_result result;
	uint64_t frames, digest;
	unsigned long long damaged; /* number of the frame, 0 if no frame is damaged */
};

static struct outcome outcome;

/* FNV-1a. */
static void
digest_add(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		outcome.digest = (outcome.digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
}

static void
outcome_add(uint64_t ts, uint32_t captured, uint32_t wire, int dlt, const uint8_t *bytes)
{
	digest_add(&ts, sizeof ts);
	digest_add(&captured, sizeof captured);
	digest_add(&wire, sizeof wire);
	digest_add(&dlt, sizeof dlt);
	digest_add(bytes, captured);
	outcome.frames++;
}

/* ------------------------------------------------- replaces base/log.c */

void
log_write(enum log_level level, const char *format, ...)
{
	char text[1024];
	const char *at;
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	at = strstr(text, " at frame ");
	if (at != NULL)
		outcome.damaged = strtoull(at + strlen(" at frame "), NULL, 10);
}

static void
take_frames(struct frame_sink *sink, const struct frame *frames, unsigned count)
{
	(void)sink;
	for (unsigned i = 0; i < count; i++)
		outcome_add(frames[i].ts, frames[i].caplen, frames[i].len, frames[i].dlt, frames[i].data);
}

/* ------------------------------------------------------------------------------------------- ways to read it */

/* Replays the file of a descriptor and closes it. */
static struct outcome
replay_fd(int fd, double speed, unsigned workers)
{
	static const char *no_interface[] = {NULL};
	static struct loop *loop;
	const char *paths[2] = {NULL};
	char path[32];
	const struct config config = {.interface_names = no_interface,
				      .capture_paths = paths,
				      .replay_speed = speed,
				      .workers = workers};
	struct input *input;
	const struct frame_sink_ops ops = sink_ops(take_frames);
	struct frame_sink sink = {&ops};
	struct batch *batch = batch_new(&sink);

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	paths[0] = path;
	if (loop == NULL)
		loop = loop_new();
	must(loop != NULL && batch != NULL);
	outcome = (struct outcome){.digest = 0xcbf29ce484222325};
	input = replay_open(&config, loop);
	must(input != NULL);
	close(fd);
	outcome.opened = input_start(input);
	if (outcome.opened)
		outcome.result = input_run(input, batch);
	must(outcome.opened || outcome.frames == 0);
	input_free(input);
	batch_free(batch);
	return outcome;
}

static struct outcome
replay_file(const uint8_t *bytes, size_t size, double speed, unsigned workers)
{
	int fd = memfd_create("capture", 0);

	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	return replay_fd(fd, speed, workers);
}

static struct outcome
replay_pipe(const uint8_t *bytes, size_t size)
{
	int ends[2];
	char path[32];
	int fd;

	must(pipe(ends) == 0 && write(ends[1], bytes, size) == (ssize_t)size);
	/* The writer must not close before a reader has the pipe. */
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	must(fd >= 0);
	close(ends[0]);
	close(ends[1]);
	return replay_fd(fd, 0, 1);
}

static struct outcome
replay_gzip(const uint8_t *bytes, size_t size, unsigned workers)
{
	static uint8_t packed[FILE_MAX + 1024];
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size, .next_out = packed,
			   .avail_out = sizeof packed};

	must(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	must(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&stream);
	return replay_file(packed, sizeof packed - stream.avail_out, 0, workers);
}

static struct outcome
replay_zstd(const uint8_t *bytes, size_t size, unsigned workers)
{
	static uint8_t packed[FILE_MAX + 1024];
	size_t length = ZSTD_compress(packed, sizeof packed, bytes, size, 1);

	must(!ZSTD_isError(length));
	return replay_file(packed, length, 0, workers);
}

static void
swap32(uint8_t *at)
{
	uint8_t bytes[4] = {at[3], at[2], at[1], at[0]};

	memcpy(at, bytes, sizeof bytes);
}

static uint32_t
get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/* Whether the frames themselves have numbers in the byte order of the capturing host, which libpcap converts if that of
 * the file is the other one: NFLOG. */
static bool
frames_have_host_order(const uint8_t *bytes)
{
	return (get32(bytes + 20) & 0x03ffffff) == DLT_NFLOG;
}

/* Swaps the headers of a classic capture of version 2.4 in this machine's byte order.  False for any other file. */
static bool
swap_capture(uint8_t *bytes, size_t size)
{
	const uint16_t version[2] = {2, 4};
	size_t at = 24;

	if (size < at || (get32(bytes) != 0xa1b2c3d4 && get32(bytes) != 0xa1b23c4d) ||
	    memcmp(bytes + 4, version, sizeof version) != 0 || frames_have_host_order(bytes))
		return false;
	while (size - at >= 16) {
		uint32_t captured = get32(bytes + at + 8);

		for (unsigned i = 0; i < 16; i += 4)
			swap32(bytes + at + i);
		at += 16;
		if (captured > size - at)
			break;
		at += captured;
	}
	for (unsigned i = 0; i < 24; i += 4)
		swap32(bytes + i);
	/* The version is two numbers. */
	memcpy(bytes + 4, (const uint8_t[]){bytes[6], bytes[7], bytes[4], bytes[5]}, 4);
	return true;
}

/* The frames as libpcap reads them.  False if it does not open the file. */
static bool
read_libpcap(const uint8_t *bytes, size_t size)
{
	char error[PCAP_ERRBUF_SIZE];
	FILE *stream = fmemopen((void *)(uintptr_t)bytes, size, "r");
	pcap_t *pcap = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, error);
	struct pcap_pkthdr *header;
	const u_char *data;
	int got;

	outcome = (struct outcome){.digest = 0xcbf29ce484222325};
	if (pcap == NULL) {
		fclose(stream);
		return false;
	}
	while ((got = pcap_next_ex(pcap, &header, &data)) == 1) {
		uint64_t fraction = (uint64_t)header->ts.tv_usec, seconds = (uint64_t)header->ts.tv_sec;

		if (header->ts.tv_sec < 0)
			seconds &= UINT32_MAX;
		outcome_add(seconds * 1000000000 + (fraction > 999999999 ? 999999999 : fraction), header->caplen,
			    header->len, pcap_datalink(pcap), data);
	}
	outcome.opened = dissect_link_supported(pcap_datalink(pcap));
	outcome.result = got == PCAP_ERROR ? INPUT_DAMAGED : INPUT_DONE;
	outcome.damaged = got == PCAP_ERROR ? outcome.frames + 1 : 0;
	pcap_close(pcap);
	return outcome.opened;
}

/* --------------------------------------------------------------------------------------------------- an input */

static void
must_be_equal(const struct outcome *a, const struct outcome *b)
{
	must(a->opened == b->opened);
	if (!a->opened)
		return;
	must(a->frames == b->frames && a->digest == b->digest);
	must(a->result == b->result && a->damaged == b->damaged);
}

static bool
is_compressed(const uint8_t *data)
{
	static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};

	return memcmp(data, gzip, sizeof gzip) == 0 || memcmp(data, zstd, sizeof zstd) == 0;
}

/* pcapng and snoop files: libpcap reads neither all of the former nor the latter. */
static bool
is_read_by_netobs(const uint8_t *data, size_t size)
{
	static const uint8_t pcapng[] = {0x0a, 0x0d, 0x0d, 0x0a};

	return memcmp(data, pcapng, sizeof pcapng) == 0 || (size >= 8 && memcmp(data, "snoop\0\0", 8) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t swapped[FILE_MAX];
	struct outcome first, other;

	if (size < 4 || size > FILE_MAX)
		return 0;
	first = replay_file(data, size, 0, 1);
	if (is_compressed(data)) {
		other = replay_file(data, size, 0, 2);
		must_be_equal(&first, &other);
		return 0;
	}
	other = replay_file(data, size, 1e18, 1);
	must_be_equal(&first, &other);
	other = replay_pipe(data, size);
	must_be_equal(&first, &other);
	other = replay_gzip(data, size, 1);
	must_be_equal(&first, &other);
	other = replay_zstd(data, size, 2);
	must_be_equal(&first, &other);
	memcpy(swapped, data, size);
	if (swap_capture(swapped, size)) {
		other = replay_file(swapped, size, 0, 1);
		must_be_equal(&first, &other);
	}
	if (is_read_by_netobs(data, size))
		return 0;
	if (read_libpcap(data, size))
		must_be_equal(&first, &outcome);
	else
		must(!first.opened);
	return 0;
}
