/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of the first pass, in memory and beyond it; a full disk; late comments; counts of frames that have left. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "flight/excerpt/excerpt_index.h"
#include "flow/tcp/tcp.h"

enum { FRAMES = 20000 };

static int
open_temporary(void)
{
	FILE *file = tmpfile();
	int fd;

	assert_non_null(file);
	fd = dup(fileno(file));
	assert_true(fd >= 0);
	fclose(file);
	return fd;
}

/* With a little memory most of the index is in files. */
static void
open_index(struct excerpt_index *index, size_t memory)
{
	int files[EXCERPT_INDEX_FILES];

	for (unsigned i = 0; i < EXCERPT_INDEX_FILES; i++)
		files[i] = open_temporary();
	excerpt_index_open(index, files, memory);
}

/* ------------------------------------------------------------------------------------------- what the frames hold */

static uint32_t
connection_of(unsigned frame)
{
	return frame % 7 == 0 ? 0 : frame % 1000 + 1;
}

static unsigned
further_of(unsigned frame)
{
	return frame % 5 == 0 ? frame % 3 : 0;
}

static unsigned
notes_of(unsigned frame)
{
	return frame % 11 == 0 ? frame % 4 : 0;
}

static uint64_t
packet_id_of(unsigned frame)
{
	return frame % 13 == 0 ? 5u * frame : 5u * (frame - frame % 13) + frame % 13;
}

static void
make_note(unsigned frame, unsigned note, char text[RING_COMMENT_MAX])
{
	if (note == 0)
		snprintf(text, RING_COMMENT_MAX, "tcp-state-change state-syn-sent -> state-established, cid %u",
			 2 * (frame % 1000 + 1) - 1);
	else if (note == 1)
		snprintf(text, RING_COMMENT_MAX, "tcp-retransmit fast, sent %u times, the last %u us before, cid %u",
			 frame + 2, frame * 3, 2 * (frame % 1000 + 1));
	else
		snprintf(text, RING_COMMENT_MAX, "text %u%*s", frame, (int)(frame % 400), "");
}

static void
add_note(struct excerpt_index *index, unsigned frame, unsigned note)
{
	const struct event_note change = {EVENT_TCP_STATE_CHANGE, TCP_STATE_SYN_SENT, TCP_STATE_ESTABLISHED, 0, 0};
	const struct event_note again = {EVENT_TCP_RETRANSMIT, 0, RETRANSMIT_FAST, frame + 2, frame * 3};
	char text[RING_COMMENT_MAX];

	if (note < 2) {
		assert_true(excerpt_index_add_note(index, frame % 1000 + 1, note, note == 0 ? &change : &again));
		return;
	}
	make_note(frame, note, text);
	assert_true(excerpt_index_add_text(index, frame % 1000 + 1, text));
}

static void
add_frames(struct excerpt_index *index)
{
	for (unsigned frame = 0; frame < FRAMES; frame++) {
		for (unsigned i = 0; i < further_of(frame); i++)
			assert_true(excerpt_index_add_further(index, 2000 + i));
		for (unsigned i = 0; i < notes_of(frame); i++)
			add_note(index, frame, i);
		assert_true(excerpt_index_add(index, connection_of(frame), frame % 4, packet_id_of(frame)));
	}
}

/* ----------------------------------------------------------------------------------------------------------- index */

static void
check_notes(struct excerpt_cursor *cursor, unsigned frame)
{
	char text[RING_COMMENT_MAX], wanted[RING_COMMENT_MAX];
	uint32_t connection;

	if (frame % 22 == 0) /* the notes of a frame need not be read */
		return;
	for (unsigned i = 0; i < notes_of(frame); i++) {
		assert_true(excerpt_cursor_next_note(cursor, &connection, text));
		assert_int_equal(connection, frame % 1000 + 1);
		make_note(frame, i, wanted);
		assert_string_equal(text, wanted);
	}
	assert_false(excerpt_cursor_next_note(cursor, &connection, text));
}

static void
check_frames(struct excerpt_index *index)
{
	struct excerpt_cursor cursor;
	struct indexed_frame frame;

	excerpt_cursor_begin(&cursor, index);
	for (unsigned i = 0; i < FRAMES; i++) {
		assert_true(excerpt_cursor_next(&cursor, &frame));
		assert_int_equal(frame.number, i);
		assert_int_equal(frame.connection, connection_of(i));
		assert_int_equal(frame.direction, i % 4);
		assert_int_equal(frame.packet_id, packet_id_of(i));
		assert_int_equal(frame.further_count, further_of(i));
		for (unsigned k = 0; k < further_of(i); k++)
			assert_int_equal(excerpt_index_connection(index, &frame, k + 1), 2000 + k);
		check_notes(&cursor, i);
	}
	assert_false(excerpt_cursor_next(&cursor, &frame));
	assert_int_equal(index->error, 0);
}

static void
check_frames_backwards(struct excerpt_index *index)
{
	uint64_t further = spool_size(&index->further);
	uint32_t connection;

	for (unsigned i = FRAMES; i-- > 0;) {
		assert_int_equal(excerpt_index_first_connection(index, i), connection_of(i));
		for (unsigned k = further_of(i); k-- > 0;) {
			assert_true(excerpt_index_further_backwards(index, i, &further, &connection));
			assert_int_equal(connection, 2000 + k);
		}
		assert_false(excerpt_index_further_backwards(index, i, &further, &connection));
	}
	assert_int_equal(further, 0);
}

static void
check_index(size_t memory, bool in_files)
{
	struct excerpt_index index;

	open_index(&index, memory);
	add_frames(&index);
	assert_int_equal(index.frames.start != 0 && index.notes.start != 0 && index.further.start != 0 &&
			     index.ids.start != 0,
			 in_files);
	assert_true(index.frames.capacity <= memory);
	check_frames(&index);
	check_frames_backwards(&index);
	excerpt_index_close(&index);
}

static void
test_index_in_memory(void **state)
{
	(void)state;
	check_index(SPOOL_MEMORY, false);
}

static void
test_index_beyond_memory(void **state)
{
	(void)state;
	check_index(SPOOL_MEMORY_MIN, true);
	check_index(3 * SPOOL_MEMORY_MIN, true);
}

/* A fragment gets its connections later, while it is in memory. */
static void
test_fragments(void **state)
{
	struct excerpt_index index;
	struct indexed_frame frame;
	struct excerpt_cursor cursor;

	(void)state;
	open_index(&index, SPOOL_MEMORY_MIN);
	assert_true(excerpt_index_add_further(&index, 0));
	assert_true(excerpt_index_add(&index, 0, 2, 1));
	excerpt_index_resolve(&index, 0, 77);
	excerpt_index_resolve(&index, 0, 77);
	excerpt_index_resolve(&index, 0, 78);
	excerpt_index_resolve(&index, 0, 79); /* there are two places */
	for (unsigned i = 1; i < FRAMES; i++)
		assert_true(excerpt_index_add(&index, 0, 0, 1 + i));
	excerpt_index_resolve(&index, 1, 80); /* in the file */
	excerpt_index_resolve(&index, FRAMES - 1, 81);
	excerpt_cursor_begin(&cursor, &index);
	assert_true(excerpt_cursor_next(&cursor, &frame));
	assert_int_equal(frame.connection, 77);
	assert_int_equal(frame.direction, 2);
	assert_int_equal(frame.further_count, 1);
	assert_int_equal(excerpt_index_connection(&index, &frame, 1), 78);
	assert_int_equal(excerpt_index_first_connection(&index, 1), 0);
	assert_int_equal(excerpt_index_first_connection(&index, FRAMES - 1), 81);
	excerpt_index_close(&index);
}

/* Notes that are more than 2^32 frames apart. */
static void
test_distant_notes(void **state)
{
	struct excerpt_index index;
	struct excerpt_cursor cursor;
	char text[RING_COMMENT_MAX];
	uint32_t connection;

	(void)state;
	open_index(&index, SPOOL_MEMORY_MIN);
	index.count = UINT64_C(10000000000);
	assert_true(excerpt_index_add_text(&index, 5, "far"));
	excerpt_cursor_begin(&cursor, &index);
	cursor.frame = index.count;
	assert_false(excerpt_cursor_next_note(&cursor, &connection, text));
	cursor.frame = index.count + 1;
	assert_true(excerpt_cursor_next_note(&cursor, &connection, text));
	assert_string_equal(text, "far");
	assert_int_equal(connection, 5);
	assert_false(excerpt_cursor_next_note(&cursor, &connection, text));
	excerpt_index_close(&index);
}

static void
test_full_disk(void **state)
{
	struct spool spool;
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	const uint8_t bytes[64] = {0};
	bool good = true;

	(void)state;
	assert_true(fd >= 0);
	spool_open(&spool, fd, SPOOL_MEMORY_MIN);
	for (unsigned i = 0; good && i < 1000; i++)
		good = spool_add(&spool, bytes, sizeof bytes);
	assert_false(good);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(spool_size(&spool), SPOOL_MEMORY_MIN);
	spool_close(&spool);
}

/* The file was shortened. */
static void
test_failed_read(void **state)
{
	struct excerpt_index index;
	struct excerpt_cursor cursor;
	struct indexed_frame frame;

	(void)state;
	open_index(&index, SPOOL_MEMORY_MIN);
	add_frames(&index);
	assert_int_equal(ftruncate(index.frames.fd, 0), 0);
	excerpt_cursor_begin(&cursor, &index);
	assert_false(excerpt_cursor_next(&cursor, &frame));
	assert_int_equal(index.error, EIO);
	excerpt_index_close(&index);
}

/* ------------------------------------------------------------------------------------------------- late comments */

static void
test_late_comments(void **state)
{
	struct excerpt_late late;
	struct excerpt_index index;
	char text[RING_COMMENT_MAX], wanted[64];
	uint32_t connection;

	(void)state;
	open_index(&index, SPOOL_MEMORY_MIN);
	excerpt_late_open(&late, open_temporary(), SPOOL_MEMORY_MIN);
	add_frames(&index);
	for (unsigned i = 0; i < 1000; i++) { /* the latest frame of connection i + 1 is 19000 + i, if it has one */
		snprintf(wanted, sizeof wanted, "comment %u", i);
		assert_true(excerpt_late_add(&late, i + 1, FRAMES, wanted));
	}
	assert_true(late.texts.start != 0);
	assert_true(excerpt_late_resolve(&late, &index));
	for (unsigned i = 0; i < 1000; i++) {
		unsigned frame = FRAMES - 1000 + i;

		if (connection_of(frame) == 0)
			continue; /* its comment is with an earlier frame, which is not read */
		assert_true(excerpt_late_next(&late, frame, &connection, text));
		snprintf(wanted, sizeof wanted, "comment %u", i);
		assert_string_equal(text, wanted);
		assert_int_equal(connection, i + 1);
		assert_false(excerpt_late_next(&late, frame, &connection, text));
	}
	excerpt_late_close(&late);
	excerpt_index_close(&index);
}

/* ------------------------------------------------------------------------------------------------------ frames left */

static void
test_frames_left(void **state)
{
	struct excerpt_left left;

	(void)state;
	excerpt_left_open(&left, 4096);
	assert_int_equal(excerpt_left_frames(&left, 1), 0);
	for (uint32_t i = 1; i <= 4096; i++)
		for (uint32_t k = 0; k <= i % 3; k++)
			assert_true(excerpt_left_add(&left, i));
	for (uint32_t i = 1; i <= 4096; i++)
		assert_int_equal(excerpt_left_frames(&left, i), i % 3 + 1);
	assert_int_equal(excerpt_left_frames(&left, 5000), 0);
	assert_false(left.dropped);
	assert_true(excerpt_left_add(&left, 4097));
	assert_true(left.dropped);
	assert_int_equal(left.size, 4096);
	assert_int_equal(excerpt_left_frames(&left, 1), 1); /* at least */
	assert_int_equal(excerpt_left_frames(&left, 4097), 1);
	assert_int_equal(excerpt_left_frames(&left, 5000), 0);
	excerpt_left_close(&left);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_index_in_memory), cmocka_unit_test(test_index_beyond_memory),
	    cmocka_unit_test(test_fragments),	    cmocka_unit_test(test_distant_notes),
	    cmocka_unit_test(test_full_disk),	    cmocka_unit_test(test_failed_read),
	    cmocka_unit_test(test_late_comments),   cmocka_unit_test(test_frames_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
