/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths that another user could redirect: each component is refused with its name, the fault and the remedy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "tests/lib/scratch_dir.h"

#define FOREIGN 65533 /* a user without a process */

static const char *base; /* the scratch directory */
static char error[TRUSTED_PATH_ERROR_MAX];

/* The scratch directory is made new for each test, with dir/sub/file in it. */
static int
set_up(void **state)
{
	(void)state;
	umask(022);
	base = scratch_dir_make("trusted");
	if (base == NULL || mkdir("dir", 0755) != 0 || mkdir("dir/sub", 0755) != 0)
		return -1;
	trusted_path_require(true, geteuid());
	return close(open("dir/sub/file", O_WRONLY | O_CREAT, 0644));
}

static int
tear_down(void **state)
{
	(void)state;
	return scratch_dir_remove();
}

static void
opens(const char *path)
{
	char absolute[PATH_MAX];
	int fd;

	snprintf(absolute, sizeof absolute, "%s/%s", base, path);
	for (unsigned i = 0; i < 2; i++) {
		fd = trusted_path_open(i == 0 ? path : absolute, O_RDONLY, 0, error);
		if (fd < 0)
			fail_msg("%s is not opened: %s", i == 0 ? path : absolute, error);
		close(fd);
	}
}

/* Refuses `path` with "BASE/COMPONENT WORDS". */
static void
refuses(const char *path, const char *component, const char *words)
{
	char absolute[PATH_MAX], wanted[PATH_MAX + 128];
	int fd;

	snprintf(absolute, sizeof absolute, "%s/%s", base, path);
	snprintf(wanted, sizeof wanted, "%s%s%s %s", base, *component != '\0' ? "/" : "", component, words);
	for (unsigned i = 0; i < 2; i++) {
		*error = '\0';
		fd = trusted_path_open(i == 0 ? path : absolute, O_RDONLY, 0, error);
		if (fd >= 0 || strncmp(error, wanted, strlen(wanted)) != 0)
			fail_msg("%s: \"%s\", expected \"%s\"", i == 0 ? path : absolute, error, wanted);
	}
}

static void
fails(const char *path, const char *words)
{
	int fd = trusted_path_open(path, O_RDONLY, 0, error);

	if (fd >= 0 || strcmp(error, words) != 0)
		fail_msg("%s: \"%s\", expected \"%s\"", path, error, words);
}

static void
test_trusted(void **state)
{
	(void)state;
	opens("dir/sub/file");
	opens("dir/sub");
	opens("dir//./sub/../sub/file");
	opens("./dir/");
	assert_int_equal(close(trusted_path_open("/", O_PATH, 0, error)), 0);
	fails("dir/sub/none", "No such file or directory");
	fails("dir/none/file", "No such file or directory");
	fails("dir/sub/file/more", "Not a directory");
	fails("", "No such file or directory");
}

static void
test_modes(void **state)
{
	char remedy[PATH_MAX];

	(void)state;
	chmod("dir/sub/file", 0646);
	snprintf(remedy, sizeof remedy, "is writable by every user (mode 0646); chmod o-w %s/dir/sub/file", base);
	refuses("dir/sub/file", "dir/sub/file", remedy);
	chmod("dir/sub/file", 0644);
	chmod("dir", 0777);
	refuses("dir/sub/file", "dir", "is writable by every user (mode 0777); chmod ");
	refuses("dir/sub/../sub/file", "dir", "is writable by every user (mode 0777); chmod ");
	chmod("dir", 01777);
	opens("dir/sub/file");
	chmod("dir/sub", 0757);
	refuses("dir/sub", "dir/sub", "is writable by every user (mode 0757); chmod o-w ");
	chmod("dir/sub", 0755);
	chmod("dir/sub/file", 01666); /* for a file the sticky bit means nothing */
	refuses("dir/sub/file", "dir/sub/file", "is writable by every user");
}

static void
test_links(void **state)
{
	(void)state;
	mkdir("open", 0755);
	assert_int_equal(symlink("../dir/sub/file", "open/relative"), 0);
	assert_int_equal(symlink("dir", "link"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	opens("open/relative");
	opens("link/sub/file");
	fails("loop", "Too many levels of symbolic links");
	chmod("dir/sub", 0777); /* the directory of the target */
	refuses("open/relative", "dir/sub", "is writable by every user");
	refuses("link/sub/file", "dir/sub", "is writable by every user");
	chmod("dir/sub", 0755);
	chmod("open", 0777); /* the directory of the link */
	refuses("open/relative", "open", "is writable by every user");
}

static void
test_descriptors(void **state)
{
	char path[32];
	int fd = open("dir/sub/file", O_RDONLY), again;

	(void)state;
	chmod("dir", 0777); /* nothing above an open file matters */
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	again = trusted_path_open(path, O_RDONLY, 0, error);
	assert_true(again >= 0);
	close(again);
	chmod("dir/sub/file", 0666);
	assert_int_equal(trusted_path_open(path, O_RDONLY, 0, error), -1);
	assert_non_null(strstr(error, "is writable by every user (mode 0666)"));
	close(fd);
}

static void
test_not_required(void **state)
{
	(void)state;
	trusted_path_require(false, 0);
	chmod("dir", 0777);
	chmod("dir/sub/file", 0666);
	opens("dir/sub/file");
	fails("dir/none", "No such file or directory");
}

static void
test_owners(void **state)
{
	char remedy[PATH_MAX];
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown("dir/sub", FOREIGN, 0), 0);
	snprintf(remedy, sizeof remedy,
		 "belongs to user 65533; use a path below directories of root only, or chown root %s/dir/sub", base);
	refuses("dir/sub/file", "dir/sub", remedy);
	fd = trusted_path_open("dir/sub/file", O_RDONLY, FOREIGN, error);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chown("dir/sub", 0, 0), 0);
	assert_int_equal(chown("dir/sub/file", FOREIGN, 0), 0);
	refuses("dir/sub/file", "dir/sub/file", "belongs to user 65533; chown root ");
	trusted_path_require(true, FOREIGN);
	opens("dir/sub/file");
	trusted_path_require(true, 0);
	assert_int_equal(chown("dir/sub/file", 0, FOREIGN), 0);
	chmod("dir/sub/file", 0664);
	refuses("dir/sub/file", "dir/sub/file", "is writable by its group (mode 0664); chmod g-w ");
	assert_int_equal(chown("dir/sub/file", 0, 0), 0);
	opens("dir/sub/file"); /* the group of root */
	chmod("dir", 01777);
	assert_int_equal(symlink("sub", "dir/link"), 0);
	opens("dir/link/file");
	assert_int_equal(lchown("dir/link", FOREIGN, 0), 0); /* as if that user had made it */
	refuses("dir/link/file", "dir/link", "belongs to user 65533; chown -h root ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_trusted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_modes, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_descriptors, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_not_required, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_owners, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
