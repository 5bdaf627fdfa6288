/* SPDX-License-Identifier: BSD-2-Clause */
/* What other users prepare in a directory where they can make entries is neither followed nor written; what root or
 * this user has prepared is, there and elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "tests/lib/scratch_dir.h"

#define OTHER  65534
#define APPEND (O_WRONLY | O_APPEND | O_CREAT)

static char error[OUTPUT_PATH_ERROR_MAX];
static const char *scratch;

static int
set_up(void **state)
{
	(void)state;
	scratch = scratch_dir_make("output-path");
	assert_non_null(scratch);
	umask(022);
	assert_int_equal(mkdir("shared", 0755) | chmod("shared", 01777) | mkdir("own", 0755), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return scratch_dir_remove();
}

/* Whether the path opens; the descriptor is closed. */
static bool
opens(const char *path, int flags)
{
	int fd = output_path_open(path, flags, error);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void
make_file(const char *path, uid_t owner)
{
	assert_int_equal(close(open(path, O_WRONLY | O_CREAT, 0600)), 0);
	assert_int_equal(chown(path, owner, (gid_t)-1), 0);
}

static void
make_link(const char *target, const char *path, uid_t owner)
{
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lchown(path, owner, (gid_t)-1), 0);
}

static void
require_root(void)
{
	if (geteuid() != 0)
		skip();
}

static void
assert_refused(const char *path, int flags, const char *why)
{
	errno = 0;
	assert_false(opens(path, flags));
	assert_int_equal(errno, EACCES);
	if (strstr(error, why) == NULL)
		fail_msg("%s: %s", path, error);
}

static void
test_created(void **state)
{
	struct stat status;

	(void)state;
	assert_true(opens("shared/file", APPEND));
	assert_int_equal(stat("shared/file", &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_true(opens("shared/file", APPEND)); /* its own file */
	umask(077);
	assert_true(opens("own/file", APPEND));
	assert_int_equal(stat("own/file", &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_true(opens("/dev/null", APPEND));
	assert_true(opens("own/../own//./file", APPEND));
	assert_true(opens("own", O_RDONLY | O_DIRECTORY));
	assert_true(opens("own/", O_PATH | O_DIRECTORY));
	assert_true(opens("/", O_PATH | O_DIRECTORY));
	assert_false(opens("own/none/file", APPEND));
	assert_string_equal(error, strerror(ENOENT));
	assert_false(opens("own/file/file", APPEND));
	assert_string_equal(error, strerror(ENOTDIR));
	assert_false(opens("", APPEND));
	assert_false(opens("own/none", O_WRONLY));
}

/* Links of the user lead on, also in a shared directory, also to what does not exist yet. */
static void
test_own_links(void **state)
{
	char target[PATH_MAX];
	struct stat status;

	(void)state;
	make_link("../own/new", "shared/link", geteuid());
	assert_true(opens("shared/link", APPEND));
	assert_int_equal(stat("own/new", &status), 0);
	assert_int_equal(snprintf(target, sizeof target, "%s/own", scratch) > 0, 1);
	make_link(target, "shared/directory", geteuid());
	assert_true(opens("shared/directory/other", APPEND));
	assert_int_equal(stat("own/other", &status), 0);
	make_link("loop", "own/loop", geteuid());
	assert_false(opens("own/loop", APPEND));
	assert_string_equal(error, strerror(ELOOP));
}

static void
test_links(void **state)
{
	struct stat status;

	(void)state;
	require_root();
	make_link("../own/victim", "shared/link", OTHER);
	assert_refused("shared/link", APPEND, "link is a symbolic link of user 65534");
	assert_int_equal(stat("own/victim", &status), -1);
	make_link("../own", "shared/directory", OTHER);
	assert_refused("shared/directory/victim", APPEND, "directory is a symbolic link of user 65534");
	assert_refused("shared/directory", O_PATH | O_DIRECTORY, "symbolic link of user 65534");
	make_link("../shared/link", "own/through", 0); /* through a link of root */
	assert_refused("own/through", APPEND, "link is a symbolic link of user 65534");
	make_link("../own/victim", "own/link", OTHER); /* nobody else can have made it where it is */
	assert_true(opens("own/link", APPEND));
}

static void
test_files(void **state)
{
	(void)state;
	require_root();
	make_file("shared/file", OTHER);
	assert_refused("shared/file", APPEND, "file is a file of user 65534");
	assert_int_equal(mkfifo("shared/fifo", 0666) | chown("shared/fifo", OTHER, (gid_t)-1), 0);
	assert_refused("shared/fifo", APPEND | O_NONBLOCK, "fifo is a file of user 65534");
	make_file("own/file", OTHER);
	assert_true(opens("own/file", APPEND));
	make_file("own/victim", 0);
	assert_int_equal(link("own/victim", "shared/victim"), 0);
	assert_refused("shared/victim", APPEND, "victim has further names");
	assert_int_equal(chown("shared", OTHER, (gid_t)-1), 0); /* files of the owner of the directory */
	assert_true(opens("shared/file", APPEND));
}

static void
make_directory(const char *path, mode_t mode, uid_t owner, gid_t group)
{
	assert_int_equal(mkdir(path, 0755) | chown(path, owner, group) | chmod(path, mode), 0);
}

/* What another user has made in a shared directory is not a place for files of root. */
static void
test_directories_in_shared(void **state)
{
	char name[16];

	(void)state;
	require_root();
	make_directory("shared/theirs", 0755, OTHER, 0);
	assert_refused("shared/theirs/new", APPEND,
		       "theirs is a directory of user 65534 in a directory that every user");
	assert_refused("shared/theirs/../../own/new", APPEND, "theirs is a directory of user 65534");
	assert_refused("shared/theirs", O_PATH | O_DIRECTORY, "theirs is a directory of user 65534");
	assert_refused("own/../shared/theirs/", O_RDONLY | O_DIRECTORY, "theirs is a directory of user 65534");
	snprintf(name, sizeof name, "%d", OTHER);
	assert_int_equal(setenv("SUDO_UID", name, 1), 0); /* the user who asked root to write there */
	assert_true(opens("shared/theirs/new", APPEND));
	make_link("../../own/victim", "shared/theirs/link", OTHER);
	assert_refused("shared/theirs/link", APPEND, "link is a symbolic link of user 65534");
	assert_int_equal(setenv("SUDO_UID", "65533", 1), 0);
	assert_refused("shared/theirs/other", APPEND, "theirs is a directory of user 65534");
	assert_int_equal(unsetenv("SUDO_UID"), 0);
	make_directory("shared/ours", 0755, 0, 0);
	assert_true(opens("shared/ours/new", APPEND));
	assert_int_equal(chown("shared", OTHER, (gid_t)-1), 0);
	assert_true(opens("shared/theirs/other", APPEND));
}

/* Root writes in the home of a user, and is led nowhere else. */
static void
test_directories_of_others(void **state)
{
	static const char *const places[] = {"home", "team"};
	char path[PATH_MAX];

	(void)state;
	require_root();
	make_directory("home", 0755, OTHER, OTHER);
	make_directory("team", 02775, 0, OTHER);
	make_file("own/victim", 0);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		assert_int_equal(chdir(places[i]), 0);
		make_directory("sub", 0755, OTHER, OTHER);
		assert_true(opens("sub/new", APPEND));
		assert_true(opens("new", APPEND));
		assert_true(opens("new", APPEND)); /* root's own file */
		make_link("../own/victim", "link", OTHER);
		assert_refused("link", APPEND,
			       "link is a symbolic link of user 65534 in a directory that another user");
		make_link("../own", "directory", OTHER);
		assert_refused("directory/victim", APPEND, "directory is a symbolic link of user 65534");
		assert_int_equal(link("../own/victim", "linked"), 0);
		assert_refused("linked", APPEND, "linked has further names");
		make_link("../own/victim", "root", 0);
		assert_true(output_path_resolve("linked", path, error)); /* nothing is written */
		assert_int_equal(unlink("linked"), 0);
		assert_true(opens("root", APPEND));
		make_file("third", OTHER - 1);
		assert_refused("third", APPEND, "third is a file of user 65533");
		assert_int_equal(chdir(".."), 0);
	}
	make_file("home/theirs", OTHER);
	assert_true(opens("home/theirs", APPEND));
	make_link("../own/victim", "home/first", 0);
	assert_int_equal(linkat(AT_FDCWD, "home/first", AT_FDCWD, "home/second", 0), 0);
	assert_refused("home/second", APPEND, "second has further names");
}

static void
test_resolved(void **state)
{
	char path[PATH_MAX], expected[PATH_MAX];

	(void)state;
	make_link("own", "link", geteuid());
	make_file("own/file", geteuid());
	assert_int_equal(chmod("own/file", 0), 0); /* nothing is read */
	assert_true(output_path_resolve("link//file", path, error));
	snprintf(expected, sizeof expected, "%s/own/file", scratch);
	assert_string_equal(path, expected);
	assert_true(output_path_resolve("link/..", path, error));
	assert_string_equal(path, scratch);
	assert_false(output_path_resolve("link/none", path, error));
	assert_int_equal(errno, ENOENT);
	require_root();
	make_link("../own", "shared/link", OTHER);
	assert_false(output_path_resolve("shared/link", path, error));
	assert_int_equal(errno, EACCES);
}

static void
test_descriptors(void **state)
{
	char path[64];
	int pipe_fd[2];

	(void)state;
	assert_int_equal(pipe(pipe_fd), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", pipe_fd[1]);
	assert_true(opens(path, APPEND));
	snprintf(path, sizeof path, "/proc/self/fd/%d", pipe_fd[1]);
	assert_true(opens(path, APPEND));
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static void
test_directory_of_path(void **state)
{
	const char *name;
	int fd;

	(void)state;
	fd = output_path_open_directory("own/x.pcap", O_PATH, &name, error);
	assert_true(fd >= 0);
	assert_string_equal(name, "x.pcap");
	close(fd);
	fd = output_path_open_directory("x.pcap", O_PATH, &name, error);
	assert_true(fd >= 0);
	assert_string_equal(name, "x.pcap");
	close(fd);
}

/* A path that is too long is not cut: it would be that of another directory. */
static void
test_long_path(void **state)
{
	char path[PATH_MAX + 32], directory[PATH_MAX];
	const char *name;

	(void)state;
	memset(path, '/', sizeof path);
	memcpy(path, "own", 3);
	snprintf(path + PATH_MAX, sizeof path - PATH_MAX, "%s", "none/file");
	errno = 0;
	assert_int_equal(output_path_open_directory(path, O_PATH, &name, error), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_string_equal(error, strerror(ENAMETOOLONG));
	assert_false(output_path_split(path, directory, &name));
	assert_true(output_path_split("/file", directory, &name));
	assert_string_equal(directory, "/");
	assert_string_equal(name, "file");
}

static void
test_unnamed(void **state)
{
	struct stat status;
	int fd;

	(void)state;
	fd = output_path_open_unnamed("shared", error);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_nlink, 0);
	assert_int_equal(write(fd, "a", 1), 1);
	close(fd);
	assert_int_equal(output_path_open_unnamed("own/none", error), -1);
	assert_int_equal(errno, ENOENT);
	require_root();
	make_link("../own", "shared/directory", OTHER);
	assert_int_equal(output_path_open_unnamed("shared/directory", error), -1);
	assert_int_equal(errno, EACCES);
	assert_non_null(strstr(error, "directory is a symbolic link of user 65534"));
}

static bool
is_firm(const char *path)
{
	char resolved[PATH_MAX];

	return output_path_is_firm(realpath(path, resolved));
}

static void
test_firm(void **state)
{
	(void)state;
	assert_true(is_firm("own"));
	assert_true(is_firm("shared"));
	assert_true(output_path_is_firm("/"));
	assert_false(output_path_is_firm("/none"));
	require_root();
	assert_int_equal(mkdir("theirs", 0755), 0);
	assert_int_equal(mkdir("theirs/point", 0755), 0);
	assert_int_equal(chown("theirs", OTHER, OTHER), 0);
	assert_true(is_firm("theirs"));
	assert_false(is_firm("theirs/point"));
	assert_int_equal(setenv("SUDO_UID", "65534", 1), 0);
	assert_true(is_firm("theirs/point"));
	assert_int_equal(unsetenv("SUDO_UID"), 0);
	assert_int_equal(rmdir("theirs/point"), 0);
	assert_int_equal(rmdir("theirs"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_created, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_own_links, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_directories_in_shared, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_directories_of_others, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_resolved, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_firm, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_descriptors, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_directory_of_path, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_long_path, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_unnamed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
