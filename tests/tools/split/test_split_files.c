/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that another run has created under one of the names meanwhile is not replaced.  A child process writes the
 * frames, but not in this test. */
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

#include "tools/split/split_files.h"

enum { CAPTURES = 2 };

static struct split_file_counters counters[CAPTURES];

static int
enter_directory(void **state)
{
	char directory[] = "/tmp/test_split_files.XXXXXX";

	*state = mkdtemp(directory) != NULL ? strdup(directory) : NULL;
	return *state == NULL ? -1 : chdir(directory);
}

static int
leave_directory(void **state)
{
	static const char *const names[] = {"x-0001-of-0002.pcapng", "x-0002-of-0002.pcapng", "x.json"};
	int result = chdir("/");

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[128];

		snprintf(path, sizeof path, "%s/%s", (const char *)*state, names[i]);
		unlink(path);
	}
	result |= rmdir(*state); /* fails if another file is left */
	free(*state);
	return result;
}

static bool
has_size(const char *name, off_t size)
{
	struct stat status;

	return stat(name, &status) == 0 && status.st_size == size;
}

static void
publish_beside(const char *name)
{
	struct split_files *files = split_files_create("x", CAPTURES, counters);
	int other;

	assert_non_null(files);
	other = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
	assert_true(other >= 0);
	assert_int_equal(write(other, "other", 5), 5);
	close(other);
	assert_false(split_files_publish(files));
	assert_true(has_size(name, 5));
	assert_int_equal(unlink(name), 0);
	assert_int_not_equal(access("x-0001-of-0002.pcapng", F_OK), 0);
	assert_int_not_equal(access("x-0002-of-0002.pcapng", F_OK), 0);
	assert_int_not_equal(access("x.json", F_OK), 0);
}

static void
test_capture_exists(void **state)
{
	(void)state;
	publish_beside("x-0002-of-0002.pcapng");
}

static void
test_manifest_exists(void **state)
{
	(void)state;
	publish_beside("x.json");
}

static void
test_none_exists(void **state)
{
	struct split_files *files = split_files_create("x", CAPTURES, counters);

	(void)state;
	assert_non_null(files);
	assert_true(split_files_publish(files));
	assert_int_equal(access("x-0002-of-0002.pcapng", F_OK), 0);
	assert_int_equal(access("x.json", F_OK), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_capture_exists, enter_directory, leave_directory),
	    cmocka_unit_test_setup_teardown(test_manifest_exists, enter_directory, leave_directory),
	    cmocka_unit_test_setup_teardown(test_none_exists, enter_directory, leave_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
