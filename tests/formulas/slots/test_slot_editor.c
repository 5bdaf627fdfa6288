/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files are edited if another process names the path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formulas/slots/slots.h"

#define PATH_SIZE 96

static char base[] = "/tmp/netobs-test-editor.XXXXXX";
static char path[PATH_SIZE];
static char error[SLOT_ERROR_MAX];

static void
make_path(char to[PATH_SIZE], const char *name)
{
	snprintf(to, PATH_SIZE, "%s/%s", base, name);
}

static int
set_up(void **state)
{
	const char *const names[] = {"first", "second"};

	(void)state;
	umask(077);
	memcpy(base + sizeof base - 7, "XXXXXX", 7);
	if (mkdtemp(base) == NULL)
		return -1;
	make_path(path, "state/formulas.so");
	return slots_install(path, names, 2, (gid_t)-1, error) ? 0 : -1;
}

static int
tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", base);
	return system(command);
}

/* Checks that a path is refused, with a reason about it or about one of its directories. */
static void
assert_refused(const char *edited, const char *reason)
{
	struct slot_editor *editor = slot_editor_open(edited, error);
	const char *colon = strstr(error, ": ");

	slot_editor_close(editor);
	assert_null(editor);
	assert_non_null(colon);
	assert_memory_equal(error, edited, (size_t)(colon - error));
	assert_string_equal(colon + 2, reason);
}

static void
test_names_are_changed(void **state)
{
	struct slot_editor *editor = slot_editor_open(path, error);
	struct stat before, after;
	struct slot_names names;

	(void)state;
	assert_non_null(editor);
	assert_int_equal(stat(path, &before), 0);
	names = *slot_editor_names(editor);
	assert_string_equal(names.of[0], "first");
	memset(names.of[0], 0, sizeof names.of[0]);
	memcpy(names.of[5], "sixth", sizeof "sixth");
	assert_true(slot_editor_write(editor, &names, error));
	assert_string_equal(slot_editor_names(editor)->of[5], "sixth");
	slot_editor_close(editor);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_true(slots_read_names(path, &names, error));
	assert_string_equal(names.of[0], "");
	assert_string_equal(names.of[1], "second");
	assert_string_equal(names.of[5], "sixth");
}

static void
test_bad_names_change_nothing(void **state)
{
	struct slot_editor *editor = slot_editor_open(path, error);
	struct slot_names names;

	(void)state;
	assert_non_null(editor);
	names = *slot_editor_names(editor);
	memcpy(names.of[7], "../name", sizeof "../name");
	assert_false(slot_editor_write(editor, &names, error));
	memcpy(names.of[7], "first", sizeof "first");
	assert_false(slot_editor_write(editor, &names, error));
	slot_editor_close(editor);
	assert_true(slots_read_names(path, &names, error));
	assert_string_equal(names.of[0], "first");
	assert_string_equal(names.of[7], "");
}

/* Another user may have made a name in a directory that all can write. */
static void
test_foreign_name(void **state)
{
	char shared[PATH_SIZE], own[PATH_SIZE], other[PATH_SIZE];
	struct slot_editor *editor;

	(void)state;
	make_path(shared, "shared");
	assert_int_equal(mkdir(shared, 0700) | chmod(shared, 01777), 0);
	make_path(other, "shared/formulas.so");
	assert_int_equal(link(path, other), 0);
	assert_refused(other, "has further names (hard links), in a directory that others can write");
	make_path(own, "state/second.so"); /* as perf makes one */
	assert_int_equal(link(path, own), 0);
	editor = slot_editor_open(path, error);
	assert_non_null(editor);
	slot_editor_close(editor);
	assert_int_equal(unlink(other) | unlink(own) | rmdir(shared), 0);
}

static void
test_paths(void **state)
{
	char other[PATH_SIZE], link_path[PATH_SIZE];

	(void)state;
	assert_refused("formulas.so", "not an absolute path");
	assert_refused("", "not an absolute path");
	assert_refused("/", "not a path without . and ..");
	make_path(other, "state/../state/formulas.so");
	assert_refused(other, "not a path without . and ..");
	make_path(other, "state//formulas.so");
	assert_refused(other, "not a path without . and ..");
	make_path(other, "none/formulas.so");
	assert_refused(other, "No such file or directory");
	make_path(other, "state");
	assert_refused(other, "is not a plain file");
	make_path(link_path, "link");
	assert_int_equal(symlink(path, link_path), 0);
	assert_refused(link_path, "Too many levels of symbolic links");
	make_path(link_path, "directory");
	make_path(other, "state");
	assert_int_equal(symlink(other, link_path), 0);
	make_path(link_path, "directory/formulas.so");
	assert_refused(link_path, "Not a directory");
}

/* To open a device can have effects: /dev/watchdog restarts the machine.  A FIFO shows that it was opened. */
static void
test_special_files_are_not_opened(void **state)
{
	struct pollfd reader = {.events = POLLIN};
	char other[PATH_SIZE];

	(void)state;
	make_path(other, "state/fifo");
	assert_int_equal(mkfifo(other, 0600), 0);
	reader.fd = open(other, O_RDONLY | O_NONBLOCK);
	assert_true(reader.fd >= 0);
	assert_refused(other, "is not a plain file");
	assert_int_equal(poll(&reader, 1, 0), 0); /* POLLHUP after a writer */
	close(reader.fd);
}

static void
test_what_others_can_change(void **state)
{
	char directory[PATH_SIZE], other[PATH_SIZE];
	struct slot_editor *editor;

	(void)state;
	make_path(directory, "state");
	assert_int_equal(chmod(path, 0660), 0);
	assert_refused(path, "is writable by others; chmod go-w");
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chmod(directory, 0770), 0);
	assert_refused(path, "is writable by others; chmod go-w");
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(chmod(base, 0777), 0);
	assert_refused(path, "is writable by others; chmod go-w");
	assert_int_equal(chmod(base, 01777), 0);
	slot_editor_close(slot_editor_open(path, error)); /* like /tmp */
	assert_int_equal(chmod(base, 0700), 0);
	make_path(other, "second-name");
	assert_int_equal(link(path, other), 0); /* as perf buildid-cache does */
	editor = slot_editor_open(path, error);
	assert_non_null(editor);
	slot_editor_close(editor);
	assert_int_equal(unlink(other), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(path, 65533, (gid_t)-1), 0);
	assert_refused(path, "belongs to another user");
	assert_int_equal(chown(path, 0, (gid_t)-1), 0);
	assert_int_equal(chown(directory, 65533, (gid_t)-1), 0);
	assert_refused(path, "belongs to another user");
	assert_int_equal(chown(directory, 0, (gid_t)-1), 0);
	assert_int_equal(chown(base, 65533, (gid_t)-1), 0);
	assert_refused(path, "belongs to another user");
	assert_int_equal(chown(base, 0, (gid_t)-1), 0);
}

static void
test_other_files(void **state)
{
	static const char reason[] = "not the formulas.so of this netobs: restart the service, or remove the file";
	struct slot_editor *editor;
	int fd = open(path, O_WRONLY);

	(void)state;
	assert_int_equal(pwrite(fd, "X", 1, 1000), 1); /* a byte of its code or data */
	assert_refused(path, reason);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_refused(path, reason);
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_refused(path, "No such file or directory");
	editor = slot_editor_open("/dev/null", error);
	assert_null(editor);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_names_are_changed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_bad_names_change_nothing, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_foreign_name, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_special_files_are_not_opened, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_what_others_can_change, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_other_files, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
