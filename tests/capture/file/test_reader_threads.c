/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that read several files ahead: every file is read once, in its order, by any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/thread.h"
#include "capture/file/reader_threads.h"

#define FILES	     5
#define BUFFERS_MAX  16 /* more than a queue has */

/* A file whose bytes are known from their offset. */
struct test_file {
	uint64_t size, offset;
	unsigned number;
	size_t most; /* bytes per read, 0: as many as are asked for */
	ssize_t end; /* the result after the last byte */
	_Atomic unsigned calls;
	_Atomic bool busy, read_twice; /* read_twice: by two threads at once */
};

static uint8_t
byte_at(const struct test_file *file, uint64_t offset)
{
	return (uint8_t)(offset * 31 + offset / 251 + file->number);
}

static ssize_t
read_test_file(void *context, void *to, size_t size)
{
	struct test_file *file = context;
	uint64_t left = file->size - file->offset;
	uint8_t *bytes = to;

	if (atomic_exchange(&file->busy, true))
		file->read_twice = true;
	file->calls++;
	if (size > left)
		size = (size_t)left;
	if (file->most != 0 && size > file->most)
		size = file->most;
	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(file, file->offset++);
	atomic_store(&file->busy, false);
	return size > 0 ? (ssize_t)size : file->end;
}

/* Takes the next bytes of a file and compares them.  The source's result after the last byte, else 1. */
static ssize_t
take(struct read_queue *queue, const struct test_file *file, uint64_t *offset)
{
	const uint8_t *bytes;
	ssize_t got = read_queue_next(queue, &bytes);

	if (got <= 0) {
		assert_int_equal(*offset, file->size);
		return got;
	}
	for (ssize_t i = 0; i < got; i++)
		if (bytes[i] != byte_at(file, (*offset)++))
			fail_msg("file %u, byte %llu", file->number, (unsigned long long)*offset - 1);
	return 1;
}

static void
read_all(unsigned count)
{
	static const uint64_t sizes[FILES] = {0, 1, 300000, 5000000, 2000000};
	struct test_file files[FILES] = {{0}};
	struct read_queue *queues[FILES];
	uint64_t offsets[FILES] = {0};
	struct reader_threads *threads = reader_threads_new(FILES);
	unsigned left = FILES;

	assert_non_null(threads);
	for (unsigned i = 0; i < FILES; i++) {
		files[i].number = i;
		files[i].size = sizes[i];
		files[i].most = i == 4 ? 1000 : 0;
		files[i].end = i == 2 ? -1 : 0;
		queues[i] = reader_threads_add(threads, read_test_file, &files[i]);
		assert_non_null(queues[i]);
	}
	assert_int_equal(reader_threads_start(threads, count), 0);
	for (unsigned turn = 0; left > 0; turn++) {
		left = 0;
		for (unsigned i = 0; i < FILES; i++) {
			ssize_t result;

			if (turn % (i + 1) != 0) { /* files are read at different rates */
				left++;
				continue;
			}
			result = take(queues[i], &files[i], &offsets[i]);
			assert_true(result == 1 || result == files[i].end);
			left += result == 1;
		}
	}
	for (unsigned i = 0; i < FILES; i++) { /* the end is reported again, but not read again */
		unsigned calls = files[i].calls;

		assert_int_equal(take(queues[i], &files[i], &offsets[i]), files[i].end);
		assert_int_equal(files[i].calls, calls);
		assert_false(files[i].read_twice);
	}
	reader_threads_free(threads);
}

static void
test_files(void **state)
{
	(void)state;
	for (unsigned count = 0; count <= FILES + 1; count++)
		read_all(count);
}

static void
pause_ms(long ms)
{
	struct timespec pause = {.tv_nsec = ms * 1000000};

	nanosleep(&pause, NULL); /* no event: time in which a thread must not read on */
}

/* Threads read no more than the queue holds, and end although bytes are left. */
static void
test_limit(void **state)
{
	struct test_file file = {.size = 100000000};
	struct reader_threads *threads = reader_threads_new(1);
	struct read_queue *queue = reader_threads_add(threads, read_test_file, &file);
	uint64_t offset = 0;

	(void)state;
	assert_int_equal(reader_threads_start(threads, 3), 0);
	assert_int_equal(take(queue, &file, &offset), 1);
	pause_ms(50);
	assert_in_range(file.calls, 1, BUFFERS_MAX);
	reader_threads_free(threads);
	assert_in_range(file.calls, 1, BUFFERS_MAX);
	assert_in_range(file.offset, offset, BUFFERS_MAX * offset);
}

static unsigned refused_after;
static enum thread_role refused_role; /* thread_start() waits until the thread has set it */

static bool
refuse(void *context, enum thread_role role)
{
	(void)context;
	refused_role = role;
	return refused_after-- > 0;
}

/* Threads that cannot be started: the others read, or the main thread. */
static void
test_no_threads(void **state)
{
	(void)state;
	thread_set_confine(refuse, NULL);
	for (unsigned started = 0; started < 2; started++) {
		struct test_file file = {.size = 3000000}, other = {.size = 2000000, .number = 1};
		struct reader_threads *threads = reader_threads_new(2);
		struct read_queue *queue = reader_threads_add(threads, read_test_file, &file);
		struct read_queue *second = reader_threads_add(threads, read_test_file, &other);
		uint64_t offset = 0, second_offset = 0;

		refused_after = started;
		assert_int_equal(reader_threads_start(threads, 2), EPERM);
		assert_int_equal(reader_threads_started(threads), started);
		assert_int_equal(refused_role, THREAD_READER);
		while (take(queue, &file, &offset) == 1)
			continue;
		while (take(second, &other, &second_offset) == 1)
			continue;
		reader_threads_free(threads);
	}
	thread_set_confine(NULL, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_no_threads),
	};

	return cmocka_run_group_tests_name("reader_threads", tests, NULL, NULL);
}
