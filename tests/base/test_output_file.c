/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are complete or absent, without a name and with a hidden one until they are complete. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output_file.h"

#define HIDDEN ".file.netobs-part"

static const unsigned ways[] = {0, COMPLETE_FILE_HIDDEN};
#define WAYS (sizeof ways / sizeof ways[0])

static char error[OUTPUT_PATH_ERROR_MAX];

static int
enter_directory(void **state)
{
	static char directory[64];

	snprintf(directory, sizeof directory, "/tmp/netobs-complete-XXXXXX");
	*state = directory;
	return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static int
leave_directory(void **state)
{
	(void)unlink("file");
	(void)unlink(HIDDEN);
	return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

static void
expect_content(const char *expected)
{
	char text[16] = "";
	int fd = open("file", O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof text), strlen(expected));
	assert_memory_equal(text, expected, strlen(expected));
	close(fd);
}

static struct complete_file *
begin(unsigned flags, const char *text)
{
	struct complete_file *file = complete_file_open("file", flags, error);

	if (file == NULL)
		fail_msg("%s", error);
	assert_true(output_write_all(complete_file_fd(file), text, strlen(text)));
	return file;
}

static void
test_publish(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WAYS; i++) {
		struct complete_file *file = begin(ways[i], "one");

		assert_int_not_equal(access("file", F_OK), 0);
		assert_int_equal(0, complete_file_publish(file));
		expect_content("one");
		file = begin(ways[i], "second");
		expect_content("one");
		assert_int_equal(0, complete_file_publish(file));
		expect_content("second");
		complete_file_discard(begin(ways[i], "third"));
		expect_content("second");
		assert_int_not_equal(access(HIDDEN, F_OK), 0);
		assert_int_equal(unlink("file"), 0);
	}
}

static void
test_hidden_name(void **state)
{
	struct complete_file *file = begin(COMPLETE_FILE_HIDDEN, "one");
	int leftover;

	(void)state;
	assert_int_equal(access(HIDDEN, F_OK), 0);
	assert_null(complete_file_open("file", COMPLETE_FILE_HIDDEN, error));
	assert_string_equal(error, "another program is writing it");
	assert_null(complete_file_open("file", 0, error));
	assert_int_equal(access(HIDDEN, F_OK), 0);
	complete_file_discard(file);
	assert_int_not_equal(access(HIDDEN, F_OK), 0);
	for (unsigned i = 0; i < WAYS; i++) {
		leftover = open(HIDDEN, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_int_equal(write(leftover, "of a killed program", 19), 19);
		close(leftover);
		assert_int_equal(0, complete_file_publish(begin(ways[i], "new")));
		expect_content("new");
		assert_int_not_equal(access(HIDDEN, F_OK), 0);
		assert_int_equal(unlink("file"), 0);
		/* Another user's link in a directory of all: it is not followed, and is not in the way. */
		assert_int_equal(symlink("elsewhere", HIDDEN), 0);
		assert_int_equal(0, complete_file_publish(begin(ways[i], "new")));
		expect_content("new");
		assert_int_not_equal(access("elsewhere", F_OK), 0);
		assert_int_not_equal(access(HIDDEN, F_OK), 0);
	}
}

static void
test_directories(void **state)
{
	struct complete_file *file;

	(void)state;
	assert_null(complete_file_open("absent/file", COMPLETE_FILE_HIDDEN, error));
	assert_string_equal(error, "No such file or directory");
	for (unsigned i = 0; i < WAYS; i++) {
		assert_int_equal(mkdir("gone", 0700), 0);
		file = complete_file_open("gone/file", ways[i], error);
		assert_non_null(file);
		(void)unlink("gone/" HIDDEN);
		assert_int_equal(rmdir("gone"), 0);
		assert_true(output_write_all(complete_file_fd(file), "x", 1));
		assert_int_equal(complete_file_publish(file), ENOENT);
	}
	if (geteuid() == 0)
		return; /* permissions do not hold for root */
	assert_int_equal(mkdir("closed", 0500), 0);
	for (unsigned i = 0; i < WAYS; i++) {
		assert_null(complete_file_open("closed/file", ways[i], error));
		assert_string_equal(error, "Permission denied");
	}
	assert_int_equal(rmdir("closed"), 0);
}

static void
test_other_files(void **state)
{
	struct complete_file *file;
	struct stat status;

	(void)state;
	for (unsigned i = 0; i < WAYS; i++) {
		assert_int_equal(symlink("/proc/self/fd/1", "file"), 0);
		assert_null(complete_file_open("file", ways[i], error));
		assert_string_equal(error, "it exists and is not a regular file");
		assert_int_equal(unlink("file"), 0);
		file = begin(ways[i], "one");
		assert_int_equal(symlink("/proc/self/fd/1", "file"), 0);
		assert_int_equal(complete_file_publish(file), EEXIST);
		assert_int_equal(lstat("file", &status), 0);
		assert_true(S_ISLNK(status.st_mode));
		assert_int_not_equal(access(HIDDEN, F_OK), 0);
		assert_int_equal(unlink("file"), 0);
		assert_int_equal(mkfifo("file", 0600), 0);
		assert_null(complete_file_open("file", ways[i], error));
		assert_int_equal(unlink("file"), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_publish, enter_directory, leave_directory),
	    cmocka_unit_test_setup_teardown(test_hidden_name, enter_directory, leave_directory),
	    cmocka_unit_test_setup_teardown(test_other_files, enter_directory, leave_directory),
	    cmocka_unit_test_setup_teardown(test_directories, enter_directory, leave_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
