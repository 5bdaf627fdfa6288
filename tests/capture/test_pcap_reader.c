/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of pcap files returns the frames that libpcap returns, accepts the files that libpcap accepts and reports
 * damage as libpcap does: over every capture of the tests, whole, cut at every byte, and with every byte of its first
 * records changed; plain and compressed, decompressed by the main thread or by another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>
#include <dirent.h>
#include <pcap/pcap.h>
#include <zlib.h>
#include <zstd.h>

#include "base/log.h"
#include "base/loop.h"
#include "capture/batch.h"
#include "capture/file/pcap_reader.h"
#include "capture/input.h"
#include "capture/link_filters.h"
#include "tests/capture/sink_fixture.h"

#define LARGEST (256u * 1024)

/* The result of a file: frames, a sum over all of them, and the place and reason of damage. */
struct outcome {
	bool opened, damaged;
	unsigned long frames;
	uint64_t sum, last_ts;
	long damaged_byte; /* by libpcap */
	char error[256];
	char message[512]; /* by netobsd */
};

/* How a file is replayed. */
static const struct variant {
	const char *compression; /* NULL: none */
	unsigned workers;
} variants[] = {{NULL, 1}, {"gzip", 2}, {"zstd", 1}, {NULL, 2}, {"gzip", 1}, {"zstd", 3}};

#define ALL_VARIANTS  (sizeof variants / sizeof variants[0])
#define SOME_VARIANTS 3u /* for thousands of files */

/* Files in memory: a disk has to write each of the thousands. */
static char path[32], compressed_path[32];
static struct outcome got;
static char logged[1024];
static unsigned calls; /* of observe_frames() */
static const uint8_t *first_data;

/* Replaces base/log.c. */
void
log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	vsnprintf(logged, sizeof logged, format, arguments);
	va_end(arguments);
}

/* FNV-1a (Fowler, Noll, Vo): the order of frames and bytes counts. */
static void
add(struct outcome *outcome, const struct frame *frame)
{
	uint64_t fields[4] = {frame->ts, frame->caplen, frame->len, (uint64_t)frame->dlt};
	const uint8_t *bytes = (const uint8_t *)fields;

	outcome->frames++;
	outcome->last_ts = frame->ts;
	for (size_t i = 0; i < sizeof fields; i++)
		outcome->sum = (outcome->sum ^ bytes[i]) * 0x100000001b3u;
	for (uint32_t i = 0; i < frame->caplen; i++)
		outcome->sum = (outcome->sum ^ frame->data[i]) * 0x100000001b3u;
}

static void
take_frames(struct frame_sink *sink, const struct frame *frames, unsigned count)
{
	(void)sink;
	if (calls++ == 0)
		first_data = frames[0].data;
	for (unsigned i = 0; i < count; i++)
		add(&got, &frames[i]);
}

/* libpcap's own result for the file. */
static struct outcome
by_libpcap(void)
{
	static const struct interface nowhere;
	char why[PCAP_ERRBUF_SIZE];
	struct outcome outcome = {.sum = 1};
	struct pcap_pkthdr *header;
	const u_char *data;
	int status;
	pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);

	if (pcap == NULL || !capture_check_link_type(pcap_datalink(pcap), path)) {
		if (pcap != NULL)
			pcap_close(pcap);
		return outcome;
	}
	outcome.opened = true;
	while ((status = pcap_next_ex(pcap, &header, &data)) == 1) {
		struct frame frame = capture_make_frame(&nowhere, pcap_datalink(pcap), header, data);

		add(&outcome, &frame);
	}
	outcome.damaged = status == PCAP_ERROR;
	if (outcome.damaged) {
		outcome.damaged_byte = ftell(pcap_file(pcap));
		snprintf(outcome.error, sizeof outcome.error, "%s", pcap_geterr(pcap));
	}
	pcap_close(pcap);
	return outcome;
}

/* The result of a replay. */
static void
by_replay(const char *file, unsigned workers)
{
	static const char *no_interface[] = {NULL};
	const char *files[] = {file, NULL};
	struct config config = {.interface_names = no_interface, .capture_paths = files, .workers = workers};
	struct loop *loop = loop_new();
	const struct frame_sink_ops ops = sink_ops(take_frames);
	struct frame_sink sink = {&ops};
	struct batch *batch = batch_new(&sink);
	struct input *input;

	memset(&got, 0, sizeof got);
	got.sum = 1;
	calls = 0;
	logged[0] = '\0';
	input = replay_open(&config, loop);
	got.opened = input != NULL && input_start(input);
	if (got.opened)
		got.damaged = input_run(input, batch) == INPUT_DAMAGED;
	if (got.damaged)
		memcpy(got.message, logged, sizeof got.message - 1);
	input_free(input);
	batch_free(batch);
	loop_free(loop);
}

static void
write_file(const uint8_t *bytes, size_t length)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* Writes the file at `path` to `compressed_path`. */
static void
compress_file(const char *compression)
{
	size_t size = 0, length = 0, count;
	uint8_t *plain = NULL, *packed;
	FILE *file = fopen(path, "rb");
	gzFile gzip;

	assert_non_null(file);
	do {
		size += LARGEST;
		plain = realloc(plain, size);
		assert_non_null(plain);
		count = fread(plain + length, 1, size - length, file);
		length += count;
	} while (count > 0);
	fclose(file);
	if (strcmp(compression, "gzip") == 0) {
		gzip = gzopen(compressed_path, "wb1");
		assert_non_null(gzip);
		assert_int_equal(gzwrite(gzip, plain, (unsigned)length), length);
		assert_int_equal(gzclose(gzip), Z_OK);
	} else {
		packed = malloc(ZSTD_compressBound(length));
		assert_non_null(packed);
		count = ZSTD_compress(packed, ZSTD_compressBound(length), plain, length, 1);
		assert_false(ZSTD_isError(count));
		file = fopen(compressed_path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(packed, 1, count, file), count);
		assert_int_equal(fclose(file), 0);
		free(packed);
	}
	free(plain);
}

/* Whether netobsd has logged the damage that libpcap has found. */
static bool
same_message(const struct outcome *wanted, const struct variant *variant)
{
	const char *file = variant->compression != NULL ? compressed_path : path;
	char message[768] = "", from[32] = "";

	if (variant->compression != NULL)
		snprintf(from, sizeof from, " decompressed from %s", variant->compression);
	if (wanted->damaged)
		snprintf(message, sizeof message,
			 "%s ends unexpectedly or is damaged at frame %lu, byte %ld%s: %s; everything before was "
			 "observed",
			 file, wanted->frames + 1, wanted->damaged_byte, from, wanted->error);
	return strncmp(got.message, message, sizeof got.message - 1) == 0;
}

static void
compare_variant(const char *what, size_t at, const struct outcome *wanted, const struct variant *variant)
{
	if (variant->compression != NULL)
		compress_file(variant->compression);
	by_replay(variant->compression != NULL ? compressed_path : path, variant->workers);
	/* libpcap does not read pcapng files whose interfaces differ to their end. */
	if (wanted->damaged && strstr(what, ".pcapng") != NULL && got.opened && !got.damaged &&
	    got.frames > wanted->frames)
		return;
	if (wanted->opened == got.opened && wanted->damaged == got.damaged && wanted->frames == got.frames &&
	    wanted->sum == got.sum && same_message(wanted, variant))
		return;
	fail_msg("%s, byte %zu, compression %s, %u workers: libpcap %d %lu %d %ld \"%s\", netobsd %d %lu %d \"%s\"",
		 what, at, variant->compression != NULL ? variant->compression : "none", variant->workers,
		 wanted->opened, wanted->frames, wanted->damaged, wanted->damaged_byte, wanted->error, got.opened,
		 got.frames, got.damaged, got.message);
}

/* Compares replays of the file at `path` with what libpcap reads; the last one is of the plain file. */
static void
compare(const char *what, size_t at, size_t count)
{
	struct outcome wanted = by_libpcap();

	for (size_t i = count; i-- > 0;)
		compare_variant(what, at, &wanted, &variants[i]);
}

/* The capture of this name, in memory. */
static uint8_t bytes[LARGEST];

static size_t
load(const char *name)
{
	char full[512];
	size_t length;
	FILE *file;

	snprintf(full, sizeof full, "%s/tests/captures/%s", getenv("top_srcdir"), name);
	file = fopen(full, "rb");
	assert_non_null(file);
	length = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	return length;
}

static void
test_every_capture(void **state)
{
	char directory[512];
	struct dirent *entry;
	unsigned captures = 0;
	DIR *dir;

	(void)state;
	snprintf(directory, sizeof directory, "%s/tests/captures", getenv("top_srcdir"));
	dir = opendir(directory);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot == NULL || strncmp(dot, ".pcap", 5) != 0)
			continue;
		write_file(bytes, load(entry->d_name));
		compare(entry->d_name, 0, ALL_VARIANTS);
		captures++;
	}
	closedir(dir);
	assert_true(captures > 40);
}

static void
test_cut_at_every_byte(void **state)
{
	static const char *const names[] = {"handshake-nanoseconds.pcap", "nanoseconds-big-endian.pcap",
					    "ipv4-fragments.pcap"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t length = load(names[i]);

		for (length = length < 2000 ? length : 2000; length > 0; length--) {
			write_file(bytes, length);
			compare(names[i], length, SOME_VARIANTS);
		}
	}
}

/* File header and record headers alike: versions, snapshot lengths, stamps before 1970, lengths that cannot be. */
static void
test_every_byte_changed(void **state)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xff};
	size_t length = load("handshake-nanoseconds.pcap");

	(void)state;
	for (size_t at = 0; at < length && at < 400; at++) {
		for (size_t i = 0; i < sizeof changes; i++) {
			bytes[at] ^= changes[i];
			write_file(bytes, length);
			compare("change", at, SOME_VARIANTS);
			bytes[at] ^= changes[i];
		}
	}
}

static void
write_u32(FILE *file, uint32_t value, bool swapped)
{
	if (swapped)
		value = __builtin_bswap32(value);
	assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
}

/* In the byte order of this machine, or in the other one. */
static void
write_file_header(FILE *file, uint32_t magic, bool swapped)
{
	uint16_t version[2] = {swapped ? 0x0200 : 2, swapped ? 0x0400 : 4};

	write_u32(file, magic, swapped);
	assert_int_equal(fwrite(version, sizeof version, 1, file), 1);
	write_u32(file, 0, swapped);
	write_u32(file, 0, swapped);
	write_u32(file, 262144, swapped);
	write_u32(file, DLT_EN10MB, swapped);
}

/* The replay of a capture of one frame with this time stamp. */
static struct outcome
outcome_of_time_stamp(uint32_t magic, bool swapped, uint32_t seconds, uint32_t fraction)
{
	const uint8_t frame[20] = {0};
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	write_file_header(file, magic, swapped);
	write_u32(file, seconds, swapped);
	write_u32(file, fraction, swapped);
	write_u32(file, sizeof frame, swapped);
	write_u32(file, sizeof frame, swapped);
	assert_int_equal(fwrite(frame, sizeof frame, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	compare("time stamp", fraction, SOME_VARIANTS);
	assert_int_equal(got.frames, 1);
	return got;
}

/* A capture written by a machine of the other byte order has the same times, after 2038 and invalid fractions too. */
static void
test_time_stamps_of_both_byte_orders(void **state)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};
	static const uint32_t seconds[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
	static const uint32_t fractions[] = {0,		 1,	     999999,	 1000000,    999999999,
					     1000000000, 0x7fffffff, 0x80000000, 0xfffffc18, 0xffffffff};

	(void)state;
	for (size_t m = 0; m < sizeof magics / sizeof magics[0]; m++)
		for (size_t s = 0; s < sizeof seconds / sizeof seconds[0]; s++)
			for (size_t f = 0; f < sizeof fractions / sizeof fractions[0]; f++) {
				struct outcome native, swapped;

				native = outcome_of_time_stamp(magics[m], false, seconds[s], fractions[f]);
				swapped = outcome_of_time_stamp(magics[m], true, seconds[s], fractions[f]);
				assert_int_equal(native.last_ts, swapped.last_ts);
				assert_int_equal(native.last_ts / 1000000000, seconds[s]);
			}
}

/* Frames of every size up to the largest, over many fills of the buffer. */
static void
test_large_frames(void **state)
{
	FILE *file = fopen(path, "wb");

	(void)state;
	assert_non_null(file);
	write_file_header(file, 0xa1b2c3d4, false);
	for (uint32_t length = 0; length <= 262144; length += 1 + length / 7) {
		uint32_t record[4] = {length, length % 1000000, length, length + 1};

		memset(bytes, (int)length, length < sizeof bytes ? length : sizeof bytes);
		assert_int_equal(fwrite(record, sizeof record, 1, file), 1);
		assert_int_equal(fwrite(bytes, 1, length, file), length);
	}
	assert_int_equal(fclose(file), 0);
	compare("large frames", 0, ALL_VARIANTS);
	assert_true(got.frames > 60);
	assert_true(calls > 0 && calls < got.frames);		/* not by libpcap, frame by frame */
	assert_int_equal(((uintptr_t)first_data - 16) % 64, 0); /* the buffer is aligned; 16 bytes of record header */
}

static bool
make_file(const char *name, char *at, size_t size)
{
	int fd = memfd_create(name, 0);

	snprintf(at, size, "/proc/self/fd/%d", fd);
	return fd >= 0;
}

static int
make_files(void **state)
{
	(void)state;
	return make_file("plain", path, sizeof path) &&
		       make_file("compressed", compressed_path, sizeof compressed_path)
		   ? 0
		   : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_capture),      cmocka_unit_test(test_cut_at_every_byte),
	    cmocka_unit_test(test_every_byte_changed), cmocka_unit_test(test_time_stamps_of_both_byte_orders),
	    cmocka_unit_test(test_large_frames),
	};

	return cmocka_run_group_tests_name("pcap_reader", tests, make_files, NULL);
}
