/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/format/capture_writer.h"

#include <pcap/dlt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct memory_file {
	uint8_t bytes[1024 * 1024];
	size_t size;
	unsigned calls, failing_call; /* 0: no call fails */
};

static struct memory_file file;
static const uint8_t data[262144] = {1, 2, 3, 4, 5};

static bool
write_memory(void *context, const void *bytes, size_t size)
{
	struct memory_file *to = context;

	if (++to->calls == to->failing_call)
		return false;
	assert_true(size <= sizeof to->bytes - to->size);
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
	return true;
}

static uint32_t
le32(size_t at)
{
	return file.bytes[at] | (uint32_t)file.bytes[at + 1] << 8 | (uint32_t)file.bytes[at + 2] << 16 |
	       (uint32_t)file.bytes[at + 3] << 24;
}

static uint32_t
be32(size_t at)
{
	return __builtin_bswap32(le32(at));
}

static const struct written_statistics statistics = {.first = 1, .last = 2, .dropped = 3, .comment = "lost"};

static bool
write_file(enum capture_format format, const struct written_frame *frame, unsigned failing_call)
{
	const struct byte_sink sink = {write_memory, &file};
	const struct written_interface interface = {"eth0", DLT_EN10MB, 0};
	struct capture_writer *writer = capture_writer_new(format, DLT_EN10MB, 0, &sink);
	unsigned number;
	bool written;

	assert_non_null(writer);
	memset(&file, 0, sizeof file);
	file.failing_call = failing_call;
	written = capture_writer_begin(writer) && capture_writer_add_interface(writer, &interface, &number) &&
		  capture_writer_add_frame(writer, frame) && capture_writer_end(writer, &statistics);
	capture_writer_free(writer);
	return written;
}

/* Walks the blocks: both lengths are equal, each block ends where the next begins, and the file ends with a block. */
static void
check_blocks(unsigned expected)
{
	size_t at = 0;
	unsigned count = 0;

	for (; at < file.size; count++) {
		uint32_t size = le32(at + 4);

		assert_true(size >= 12 && size % 4 == 0 && size <= file.size - at);
		assert_int_equal(le32(at + size - 4), size);
		at += size;
	}
	assert_int_equal(count, expected);
}

static void
test_pcapng_blocks(void **state)
{
	static char longest[65537];
	const char *const comments[] = {"bad \xff\x01\x1b byte", longest};
	struct written_frame frame = {0, UINT64_MAX, data, 5, 9, WRITTEN_OUTBOUND, 7, 917, comments, 2};

	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	assert_true(write_file(CAPTURE_PCAPNG, &frame, 0));
	check_blocks(4);
	assert_non_null(memmem(file.bytes, file.size, "bad ??? byte", 12));
	frame = (struct written_frame){.data = data, .pid = -1};
	for (frame.caplen = 0; frame.caplen < 9; frame.caplen++) {
		assert_true(write_file(CAPTURE_PCAPNG, &frame, 0));
		check_blocks(4);
	}
	frame.caplen = sizeof data;
	assert_true(write_file(CAPTURE_PCAPNG, &frame, 0));
	check_blocks(4);
}

/* The section, an interface and its statistics: readers reject a file without an interface. */
static void
test_pcapng_without_frames(void **state)
{
	const struct byte_sink sink = {write_memory, &file};
	struct capture_writer *writer = capture_writer_new(CAPTURE_PCAPNG, DLT_RAW, 0, &sink);

	(void)state;
	assert_non_null(writer);
	memset(&file, 0, sizeof file);
	assert_true(capture_writer_begin(writer) && capture_writer_end(writer, &statistics));
	capture_writer_free(writer);
	check_blocks(3);
	assert_int_equal(le32(le32(4)), 1);
	assert_int_equal(le32(le32(4) + 8), 101);
	assert_non_null(memmem(file.bytes, file.size, "lost", 4));
}

static void
test_pcap_and_snoop(void **state)
{
	const struct written_frame frame = {.ts = 1999999999, .data = data, .caplen = 5, .len = 9, .pid = -1};

	(void)state;
	assert_true(write_file(CAPTURE_PCAP, &frame, 0));
	assert_int_equal(file.size, 24 + 16 + 5);
	assert_int_equal(le32(0), 0xa1b23c4d);
	assert_int_equal(le32(24), 1);
	assert_int_equal(le32(28), 999999999);
	assert_memory_equal(file.bytes + 40, data, 5);

	assert_true(write_file(CAPTURE_SNOOP, &frame, 0));
	assert_int_equal(file.size, 16 + 24 + 8);
	assert_int_equal(be32(12), 4);
	assert_int_equal(be32(16), 9);
	assert_int_equal(be32(20), 5);
	assert_int_equal(be32(24), 32);
	assert_int_equal(be32(36), 999999);
	assert_memory_equal(file.bytes + 40, data, 5);
}

static void
test_times(void **state)
{
	struct written_frame frame = {
	    .ts = UINT64_C(4294967296) * 1000000000 - 1, .data = data, .caplen = 5, .pid = -1};

	(void)state;
	for (unsigned format = 0; format < CAPTURE_FORMATS; format++)
		assert_true(write_file((enum capture_format)format, &frame, 0));
	frame.ts++;
	assert_true(write_file(CAPTURE_PCAPNG, &frame, 0));
	assert_false(write_file(CAPTURE_PCAP, &frame, 0));
	assert_int_equal(file.size, 24);
	assert_false(write_file(CAPTURE_SNOOP, &frame, 0));
	assert_int_equal(file.size, 16);
}

static void
test_failing_sink(void **state)
{
	const struct written_frame frame = {.data = data, .caplen = 5000, .len = 5000, .pid = -1};

	(void)state;
	for (unsigned format = 0; format < CAPTURE_FORMATS; format++) {
		unsigned calls;

		assert_true(write_file((enum capture_format)format, &frame, 0));
		calls = file.calls;
		for (unsigned call = 1; call <= calls; call++) {
			assert_false(write_file((enum capture_format)format, &frame, call));
			assert_int_equal(file.calls, call);
		}
	}
}

static void
test_formats(void **state)
{
	(void)state;
	assert_int_equal(capture_format_parse("snoop"), CAPTURE_SNOOP);
	assert_int_equal(capture_format_parse("text"), CAPTURE_FORMATS);
	assert_true(capture_format_holds(CAPTURE_PCAP, DLT_RAW));
	assert_false(capture_format_holds(CAPTURE_SNOOP, DLT_RAW));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcapng_blocks),
		cmocka_unit_test(test_pcapng_without_frames),
		cmocka_unit_test(test_pcap_and_snoop),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_failing_sink),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
