/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaying files: which frames are read, in which order, and the messages about damaged files. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "base/log.h"
#include "base/loop.h"
#include "capture/batch.h"
#include "capture/input.h"
#include "tests/capture/sink_fixture.h"

#define FILES 3
#define MICRO 0xa1b2c3d4u
#define NANO  0xa1b23c4du
#define RECORD_BYTES (16 + 20)

static char directory[] = "/tmp/netobs-replay-XXXXXX";
static char paths[FILES][64];
static char logged[1024];
static struct {
	unsigned count;
	uint64_t ts[64];
	uint8_t first[64]; /* byte of each frame */
} seen;
static struct loop *loop;
static unsigned stop_at; /* stop the loop after this many frames; 0: never */
static bool interrupted; /* a signal that stops the loop has arrived before the first frame is read */

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

static void
take_frames(struct frame_sink *sink, const struct frame *frames, unsigned count)
{
	(void)sink;
	for (unsigned i = 0; i < count && seen.count < 64; i++) {
		seen.ts[seen.count] = frames[i].ts;
		seen.first[seen.count++] = frames[i].data[0];
		assert_int_equal(frames[i].dlt, DLT_EN10MB);
		assert_non_null(frames[i].interface);
		if (seen.count == stop_at)
			loop_stop(loop);
	}
}

/* ------------------------------------------------------------------------------------------------------ small files */

static void
put16(FILE *file, uint16_t value)
{
	assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
}

static void
put32(FILE *file, uint32_t value)
{
	assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
}

/* Starts a capture; `magic` selects the unit of the second half of its time stamps. */
static FILE *
capture(unsigned which, uint32_t magic, uint32_t link_type)
{
	FILE *file = fopen(paths[which], "wb");

	assert_non_null(file);
	put32(file, magic);
	put16(file, 2); /* version 2.4 */
	put16(file, 4);
	put32(file, 0);
	put32(file, 0);
	put32(file, 65535);
	put32(file, link_type);
	return file;
}

/* A frame of 20 bytes that begins with `mark`; `length` is what it had on the wire. */
static void
put_frame(FILE *file, uint32_t seconds, uint32_t fraction, uint8_t mark, uint32_t length)
{
	uint8_t bytes[20] = {mark};

	put32(file, seconds);
	put32(file, fraction);
	put32(file, sizeof bytes);
	put32(file, length);
	assert_int_equal(fwrite(bytes, sizeof bytes, 1, file), 1);
}

static const char *no_interface[] = {NULL};

static void
on_signal(void *context)
{
	(void)context;
	loop_stop(loop);
}

/* Replays the first `files` files.  -1: it could not be opened. */
static int
replay(unsigned files, double pace, const char *filter, struct input_counters *counters)
{
	const char *list[FILES + 1] = {NULL};
	char words[64];
	struct config config = {.interface_names = no_interface, .capture_paths = list, .replay_speed = pace};
	struct input *input;
	const struct frame_sink_ops ops = sink_ops(take_frames);
	struct frame_sink sink = {&ops};
	struct batch *batch;
	struct watch *stop;
	int result;

	for (unsigned i = 0; i < files; i++)
		list[i] = paths[i];
	if (filter != NULL) {
		snprintf(words, sizeof words, "%s", filter);
		config.filter = words;
	}
	memset(&seen, 0, sizeof seen);
	logged[0] = '\0';
	loop = loop_new();
	assert_non_null(loop);
	input = replay_open(&config, loop);
	if (input == NULL || !input_start(input)) {
		input_free(input);
		loop_free(loop);
		return -1;
	}
	batch = batch_new(&sink);
	stop = loop_watch_stop_signal(loop, SIGTERM, on_signal, NULL);
	if (interrupted)
		raise(SIGTERM);
	result = (int)input_run(input, batch);
	watch_free(stop);
	if (counters != NULL)
		*counters = *input_counters(input);
	batch_free(batch);
	input_free(input);
	loop_free(loop);
	return result;
}

/* ----------------------------------------------------------------------------------------------------------- tests */

static void
test_precision(void **state)
{
	FILE *file = capture(0, MICRO, DLT_EN10MB);

	(void)state;
	put_frame(file, 10, 123456, 1, 20);
	fclose(file);
	assert_int_equal(replay(1, 0, NULL, NULL), INPUT_DONE);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.ts[0], 10123456000u);

	file = capture(0, NANO, DLT_EN10MB);
	put_frame(file, 10, 123456789, 1, 20);
	fclose(file);
	assert_int_equal(replay(1, 0, NULL, NULL), INPUT_DONE);
	assert_int_equal(seen.ts[0], 10123456789u);
}

static void
test_empty_capture(void **state)
{
	(void)state;
	fclose(capture(0, MICRO, DLT_EN10MB));
	assert_int_equal(replay(1, 0, NULL, NULL), INPUT_DONE);
	assert_int_equal(seen.count, 0);
	assert_string_equal(logged, "");
}

/* Three files whose frames interleave, one with a step back in time: the earliest frame comes first, no frame is
 * lost, and on equal time stamps the first file comes first. */
static void
test_merge(void **state)
{
	static const uint8_t wanted[] = {1, 11, 21, 2, 12, 3, 22, 13, 14, 4};
	FILE *files[FILES];

	(void)state;
	for (unsigned i = 0; i < FILES; i++)
		files[i] = capture(i, MICRO, DLT_EN10MB);
	put_frame(files[0], 1, 0, 1, 20);
	put_frame(files[0], 2, 0, 2, 20);
	put_frame(files[0], 3, 0, 3, 20);
	put_frame(files[0], 9, 0, 4, 20);
	put_frame(files[1], 1, 0, 11, 20);
	put_frame(files[1], 2, 0, 12, 20);
	put_frame(files[1], 5, 0, 13, 20);
	put_frame(files[1], 1, 0, 14, 20);
	put_frame(files[2], 1, 1, 21, 20);
	put_frame(files[2], 4, 0, 22, 20);
	for (unsigned i = 0; i < FILES; i++)
		fclose(files[i]);
	assert_int_equal(replay(FILES, 0, NULL, NULL), INPUT_DONE);
	assert_int_equal(seen.count, sizeof wanted);
	assert_memory_equal(seen.first, wanted, sizeof wanted);
}

static void
test_filter(void **state)
{
	struct input_counters counters;
	FILE *file = capture(0, MICRO, DLT_EN10MB);

	(void)state;
	for (uint8_t i = 0; i < 10; i++)
		put_frame(file, i, 0, i, i % 2 == 0 ? 20 : 1500);
	fclose(file);
	assert_int_equal(replay(1, 0, "greater 1000", &counters), INPUT_DONE);
	assert_int_equal(seen.count, 5);
	assert_int_equal(seen.first[0], 1);
	assert_int_equal(counters.filtered, 5);
	fclose(capture(1, MICRO, DLT_EN10MB));
	assert_int_equal(replay(2, 0, "greater 1000", &counters), INPUT_DONE); /* frame by frame */
	assert_int_equal(seen.count, 5);
	assert_int_equal(counters.filtered, 5);
	assert_int_equal(replay(1, 0, "no such words", NULL), -1);
	assert_non_null(strstr(logged, "bad filter \"no such words\""));
}

/* A file of four frames cut at every byte: the frames before the cut are all observed. */
static void
test_cut_at_every_byte(void **state)
{
	FILE *file = capture(0, MICRO, DLT_EN10MB);
	long whole;

	(void)state;
	for (uint8_t i = 0; i < 4; i++)
		put_frame(file, i, 0, i, 20);
	whole = ftell(file);
	fclose(file);
	assert_int_equal(whole, 24 + 4 * RECORD_BYTES);
	for (long length = whole; length >= 0; length--) {
		struct input_counters counters;
		char at[96];
		int result;

		assert_int_equal(truncate(paths[0], length), 0);
		result = replay(1, 0, NULL, &counters);
		if (length < 24) {
			assert_int_equal(result, -1);
			assert_string_not_equal(logged, "");
			continue;
		}
		assert_int_equal(seen.count, (length - 24) / RECORD_BYTES);
		if ((length - 24) % RECORD_BYTES == 0) {
			assert_int_equal(result, INPUT_DONE);
			assert_string_equal(logged, "");
			continue;
		}
		assert_int_equal(result, INPUT_DAMAGED);
		assert_int_equal(counters.damaged, 1);
		snprintf(at, sizeof at, "ends unexpectedly or is damaged at frame %ld, byte %ld:",
			 (length - 24) / RECORD_BYTES + 1, length);
		assert_non_null(strstr(logged, at));
	}
}

/* A frame that claims an impossible length, in one file of two: the other is read to its end. */
static void
test_damaged_of_two(void **state)
{
	struct input_counters counters;
	FILE *file = capture(0, MICRO, DLT_EN10MB);

	(void)state;
	put_frame(file, 1, 0, 1, 20);
	put32(file, 2);
	put32(file, 0);
	put32(file, 0x7fffffff);
	put32(file, 0x7fffffff);
	fclose(file);
	file = capture(1, MICRO, DLT_EN10MB);
	for (uint8_t i = 2; i < 6; i++)
		put_frame(file, i, 0, i, 20);
	fclose(file);
	assert_int_equal(replay(2, 0, NULL, &counters), INPUT_DAMAGED);
	assert_int_equal(seen.count, 5);
	assert_int_equal(counters.damaged, 1);
	assert_non_null(strstr(logged, paths[0]));
	assert_non_null(strstr(logged, "frame 2"));
}

static void
test_refused(void **state)
{
	FILE *file = capture(0, MICRO, 231); /* D-Bus */

	(void)state;
	fclose(file);
	assert_int_equal(replay(1, 0, NULL, NULL), -1);
	assert_non_null(strstr(logged, "DBUS (231) is not supported"));
	assert_non_null(strstr(logged, "EN10MB"));

	file = fopen(paths[0], "wb");
	fputs("not a capture\n", file);
	fclose(file);
	assert_int_equal(replay(1, 0, NULL, NULL), -1);
	assert_non_null(strstr(logged, "is not a readable capture"));

	assert_int_equal(truncate(paths[0], 0), 0);
	assert_int_equal(replay(1, 0, NULL, NULL), -1);
	assert_non_null(strstr(logged, "is empty"));

	unlink(paths[0]);
	assert_int_equal(replay(1, 0, NULL, NULL), -1);
	assert_non_null(strstr(logged, "No such file"));
}

static double
seconds_of_replay(double pace)
{
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(replay(1, pace, NULL, NULL), INPUT_DONE);
	clock_gettime(CLOCK_MONOTONIC, &after);
	return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
}

/* 200 ms between frames; six hours at a hundred thousand times the speed, with gaps, of which no later frame confirms
 * the last. */
static void
test_pace(void **state)
{
	static const struct {
		uint32_t seconds, fraction; /* between two frames */
		double pace, least;	    /* seconds */
	} paces[] = {{0, 10000, 1, 0.19}, {1000, 0, 100000, 0.1}};

	(void)state;
	alarm(300); /* instead of hours */
	for (size_t i = 0; i < sizeof paces / sizeof paces[0]; i++) {
		FILE *file = capture(0, MICRO, DLT_EN10MB);

		for (uint8_t n = 0; n <= 20; n++)
			put_frame(file, 1000 + n * paces[i].seconds, n * paces[i].fraction, n, 20);
		put_frame(file, 999, 0, 99, 20); /* goes back: not waited for */
		fclose(file);
		assert_true(seconds_of_replay(paces[i].pace) > paces[i].least);
		assert_int_equal(seen.count, 22);
	}
	alarm(0);
}

/* Twelve frames, 10 ms apart, of which one has another time stamp; or all from the tenth on, if `step`. */
static void
write_irregular(unsigned which, uint32_t seconds, bool step)
{
	FILE *file = capture(0, MICRO, DLT_EN10MB);

	for (uint8_t i = 0; i < 12; i++)
		put_frame(file, i == which || (step && i > which) ? seconds : 100000, i * 10000u, i, 20);
	fclose(file);
}

/* A paced replay does not wait for a time stamp that the frames around it contradict, or that no frame confirms. */
static void
test_pace_irregular(void **state)
{
	static const struct {
		unsigned which;
		uint32_t seconds;
		bool step;
	} irregular[] = {
	    {5, 109145, false}, {5, 4000000000u, false}, {5, 0, false},	     {0, 109145, false},
	    {0, 0, false},	{10, 109145, false},	 {11, 109145, false}, {11, 0, false},
	    {5, 90855, true},	{9, 109145, true},
	};

	(void)state;
	alarm(300); /* instead of hours */
	for (size_t i = 0; i < sizeof irregular / sizeof irregular[0]; i++) {
		write_irregular(irregular[i].which, irregular[i].seconds, irregular[i].step);
		assert_true(seconds_of_replay(1) > 0.05);
		assert_int_equal(seen.count, 12);
		for (uint8_t frame = 0; frame < 12; frame++)
			assert_int_equal(seen.first[frame], frame);
		assert_true(seen.ts[irregular[i].which] ==
			    irregular[i].seconds * 1000000000ull + irregular[i].which * 10000000u);
	}
	alarm(0);
}

/* A gap that the frames after it confirm is waited for: ten seconds, at a hundred times the speed. */
static void
test_pace_gap(void **state)
{
	FILE *file = capture(0, MICRO, DLT_EN10MB);

	(void)state;
	for (uint8_t i = 0; i < 10; i++)
		put_frame(file, i < 5 ? 1000 : 1010, 0, i, 20);
	fclose(file);
	assert_true(seconds_of_replay(100) > 0.09);
	assert_int_equal(seen.count, 10);
	/* Each frame after a gap, so that each is read ahead twice. */
	file = capture(0, MICRO, DLT_EN10MB);
	for (uint8_t i = 0; i < 20; i++)
		put_frame(file, 1000 + 20u * i, 0, i, 20);
	fclose(file);
	assert_int_equal(replay(1, 1e6, NULL, NULL), INPUT_DONE);
	assert_int_equal(seen.count, 20);
	for (uint8_t i = 0; i < 20; i++)
		assert_int_equal(seen.first[i], i);
	/* At the end of a file too. */
	file = capture(0, MICRO, DLT_EN10MB);
	put_frame(file, 1000, 0, 0, 20);
	put_frame(file, 1010, 0, 1, 20);
	fclose(file);
	assert_true(seconds_of_replay(100) > 0.09);
	assert_int_equal(seen.count, 2);
}

/* A lone time stamp in one of two files keeps its place. */
static void
test_merge_irregular(void **state)
{
	static const uint8_t wanted[] = {0, 20, 1, 2, 21, 22, 3, 23, 4, 24, 5, 25};
	FILE *file = capture(0, MICRO, DLT_EN10MB);

	(void)state;
	for (uint8_t i = 0; i < 6; i++)
		put_frame(file, i == 2 ? 5000 : 1000 + 2u * i, 0, i, 20);
	fclose(file);
	file = capture(1, MICRO, DLT_EN10MB);
	for (uint8_t i = 0; i < 6; i++)
		put_frame(file, 1001 + 2u * i, 0, (uint8_t)(i + 20), 20);
	fclose(file);
	assert_int_equal(replay(2, 0, NULL, NULL), INPUT_DONE);
	assert_int_equal(seen.count, sizeof wanted);
	assert_memory_equal(seen.first, wanted, sizeof wanted);
}

/* After the loop is stopped nothing more is read, which is not damage. */
static void
test_stop(void **state)
{
	FILE *file = capture(0, MICRO, DLT_EN10MB);

	(void)state;
	put_frame(file, 1, 0, 1, 20);
	put_frame(file, 1, 2000, 2, 20);
	for (uint8_t i = 3; i < 7; i++)
		put_frame(file, 4000000000u, 0, i, 20); /* a paced replay would wait for a century */
	fclose(file);
	stop_at = 2;
	assert_int_equal(replay(1, 1, NULL, NULL), INPUT_DONE);
	stop_at = 0;
	assert_int_equal(seen.count, 2);
	assert_string_equal(logged, "");
}

/* A signal ends a replay soon, also if no frame passes the filter. */
static void
test_signal(void **state)
{
	enum { RECORDS = 40000, SOON = 10000 };
	struct input_counters counters;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		FILE *file = capture(i, MICRO, DLT_EN10MB);

		for (unsigned j = 0; j < RECORDS; j++)
			put_frame(file, 1, j, 0, 20);
		fclose(file);
	}
	interrupted = true;
	assert_int_equal(replay(1, 0, "greater 1000", &counters), INPUT_DONE);
	assert_true(counters.filtered <= SOON);
	assert_int_equal(replay(2, 0, "greater 1000", &counters), INPUT_DONE);
	assert_true(counters.filtered <= SOON);
	assert_int_equal(replay(1, 1, "greater 1000", &counters), INPUT_DONE);
	assert_true(counters.filtered <= SOON);
	interrupted = false;
	assert_string_equal(logged, "");
}

static int
make_directory(void **state)
{
	(void)state;
	if (mkdtemp(directory) == NULL)
		return -1;
	for (unsigned i = 0; i < FILES; i++)
		snprintf(paths[i], sizeof paths[i], "%s/%u.pcap", directory, i);
	return 0;
}

static int
remove_directory(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FILES; i++)
		unlink(paths[i]);
	return rmdir(directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_precision),	      cmocka_unit_test(test_empty_capture),
	    cmocka_unit_test(test_merge),	      cmocka_unit_test(test_filter),
	    cmocka_unit_test(test_cut_at_every_byte), cmocka_unit_test(test_damaged_of_two),
	    cmocka_unit_test(test_refused),	      cmocka_unit_test(test_pace),
	    cmocka_unit_test(test_pace_irregular),    cmocka_unit_test(test_pace_gap),
	    cmocka_unit_test(test_merge_irregular),   cmocka_unit_test(test_stop),
	    cmocka_unit_test(test_signal),
	};

	return cmocka_run_group_tests_name("replay", tests, make_directory, remove_directory);
}
