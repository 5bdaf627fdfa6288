/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are complete or absent, without a name and with a hidden one until they are complete. */
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

#include "tools/complete_file.h"

#define HIDDEN ".file.netobsctl-part"

static char error[512];

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
begin(bool unnamed, const char *text)
{
	struct complete_file *file = complete_file_open("file", unnamed, error, sizeof error);

	if (file == NULL)
		fail_msg("%s", error);
	assert_true(complete_file_write(file, text, strlen(text), error, sizeof error));
	return file;
}

static void
test_publish(void **state)
{
	(void)state;
	for (unsigned unnamed = 0; unnamed < 2; unnamed++) {
		struct complete_file *file = begin(unnamed, "one");

		assert_int_not_equal(access("file", F_OK), 0);
		assert_true(complete_file_publish(file, error, sizeof error));
		expect_content("one");
		file = begin(unnamed, "second");
		expect_content("one");
		assert_true(complete_file_publish(file, error, sizeof error));
		expect_content("second");
		complete_file_discard(begin(unnamed, "third"));
		expect_content("second");
		assert_int_not_equal(access(HIDDEN, F_OK), 0);
		assert_int_equal(unlink("file"), 0);
	}
}

static void
test_hidden_name(void **state)
{
	struct complete_file *file = begin(false, "one");
	int leftover;

	(void)state;
	assert_int_equal(access(HIDDEN, F_OK), 0);
	assert_null(complete_file_open("file", false, error, sizeof error));
	assert_string_equal(error, "cannot create file: another netobsctl is writing it");
	assert_null(complete_file_open("file", true, error, sizeof error));
	assert_int_equal(access(HIDDEN, F_OK), 0);
	complete_file_discard(file);
	assert_int_not_equal(access(HIDDEN, F_OK), 0);
	for (unsigned unnamed = 0; unnamed < 2; unnamed++) {
		leftover = open(HIDDEN, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_int_equal(write(leftover, "of a killed program", 19), 19);
		close(leftover);
		assert_true(complete_file_publish(begin(unnamed, "new"), error, sizeof error));
		expect_content("new");
		assert_int_not_equal(access(HIDDEN, F_OK), 0);
	}
}

static void
test_directories(void **state)
{
	struct complete_file *file;

	(void)state;
	assert_null(complete_file_open("absent/file", false, error, sizeof error));
	assert_string_equal(error, "cannot create absent/file: No such file or directory");
	for (unsigned unnamed = 0; unnamed < 2; unnamed++) {
		assert_int_equal(mkdir("gone", 0700), 0);
		file = complete_file_open("gone/file", unnamed, error, sizeof error);
		assert_non_null(file);
		(void)unlink("gone/" HIDDEN);
		assert_int_equal(rmdir("gone"), 0);
		assert_true(complete_file_write(file, "x", 1, error, sizeof error));
		assert_false(complete_file_publish(file, error, sizeof error));
		assert_string_equal(error, "cannot complete gone/file: No such file or directory");
	}
	if (geteuid() == 0)
		return; /* permissions do not hold for root */
	assert_int_equal(mkdir("closed", 0500), 0);
	for (unsigned unnamed = 0; unnamed < 2; unnamed++) {
		assert_null(complete_file_open("closed/file", unnamed, error, sizeof error));
		assert_string_equal(error, "cannot create closed/file: Permission denied");
	}
	assert_int_equal(rmdir("closed"), 0);
}

static void
test_other_files(void **state)
{
	struct complete_file *file;
	struct stat status;

	(void)state;
	for (unsigned unnamed = 0; unnamed < 2; unnamed++) {
		assert_int_equal(symlink("/proc/self/fd/1", "file"), 0);
		assert_null(complete_file_open("file", unnamed, error, sizeof error));
		assert_string_equal(error, "cannot create file: it exists and is not a regular file");
		assert_int_equal(unlink("file"), 0);
		file = begin(unnamed, "one");
		assert_int_equal(symlink("/proc/self/fd/1", "file"), 0);
		assert_false(complete_file_publish(file, error, sizeof error));
		assert_int_equal(lstat("file", &status), 0);
		assert_true(S_ISLNK(status.st_mode));
		assert_int_not_equal(access(HIDDEN, F_OK), 0);
		assert_int_equal(unlink("file"), 0);
		assert_int_equal(mkfifo("file", 0600), 0);
		assert_null(complete_file_open("file", unnamed, error, sizeof error));
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
