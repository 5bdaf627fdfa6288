/* SPDX-License-Identifier: BSD-2-Clause */
/* The file formulas.so: its use, the slot that a name gets, damaged files; and the mapped sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formulas/slots/slot_image.h"
#include "formulas/slots/slots.h"
#include "probes/site/site_select.h"

#define NO_GROUP ((gid_t)-1)

static char base[] = "/tmp/netobs-test-slots.XXXXXX";
static char path[sizeof base + 32];
static char error[SLOT_ERROR_MAX];
static struct slot_names names;

static int
set_up(void **state)
{
	(void)state;
	umask(077);
	memcpy(base + sizeof base - 7, "XXXXXX", 7);
	if (mkdtemp(base) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/state/formulas.so", base);
	return setenv("TMPDIR", base, 1);
}

static int
tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", base);
	return system(command);
}

/* Installs the names in `words`, separated by one blank each. */
static bool
installs(const char *words)
{
	char text[4200];
	const char *wanted[SLOTS_COUNT + 2];
	size_t count = 0;

	snprintf(text, sizeof text, "%s", words);
	for (char *at = text; *at != '\0';) {
		wanted[count++] = at;
		at += strcspn(at, " ");
		if (*at != '\0')
			*at++ = '\0';
	}
	return slots_install(path, wanted, count, NO_GROUP, error);
}

static ino_t
file_inode(void)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

/* The slots with a name in the file: "1 slow 3 web". */
static const char *
names_in_file(void)
{
	static char text[SLOTS_COUNT * (FORMULA_NAME_MAX + 4)];
	size_t used = 0;

	text[0] = '\0';
	if (!slots_read_names(path, &names, error))
		return error;
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (names.of[i][0] != '\0')
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%u %s", used > 0 ? " " : "", i + 1,
						 names.of[i]);
	return text;
}

/* ---------------------------------------------------------------------------------------------------------- install */

static void
test_install_creates(void **state)
{
	struct stat status;

	(void)state;
	assert_true(installs("slow-handshake web-reset"));
	assert_string_equal(names_in_file(), "1 slow-handshake 2 web-reset");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_int_equal((size_t)status.st_size, slots_template_size);
	snprintf(path, sizeof path, "%s/state", base);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0755);
}

/* A name keeps its slot; a slot with the default name comes before one whose name is not wanted any more. */
static void
test_install_places(void **state)
{
	ino_t inode;

	(void)state;
	assert_true(installs("a b c"));
	inode = file_inode();
	assert_true(installs("c x a"));
	assert_string_equal(names_in_file(), "1 a 3 c 4 x");
	assert_true(installs("y b x"));
	assert_string_equal(names_in_file(), "2 y 4 x 5 b");
	assert_true(installs(""));
	assert_string_equal(names_in_file(), "");
	assert_int_equal(file_inode(), inode);
}

static void
test_install_full(void **state)
{
	char words[4096] = "", more[sizeof words + 8];
	size_t used = 0;

	(void)state;
	for (unsigned i = 1; i <= SLOTS_COUNT; i++)
		used += (size_t)snprintf(words + used, sizeof words - used, "%sn%u", i > 1 ? " " : "", i);
	assert_true(installs(words));
	snprintf(more, sizeof more, "%s one", words);
	assert_false(installs(more));
	assert_non_null(strstr(error, "65 formulas, but there are names for 64 only"));
	assert_true(installs("one n7 two")); /* reuses slots whose names are not wanted */
	assert_string_equal(names_in_file(), "1 one 2 two 7 n7");
}

static void
test_install_refuses(void **state)
{
	(void)state;
	assert_true(installs("good"));
	assert_false(installs("good Bad"));
	assert_non_null(strstr(error, "\"Bad\" is not a name"));
	assert_false(installs("twice twice"));
	assert_non_null(strstr(error, "two slots would have the name \"twice\""));
	assert_false(installs("formula-01"));
	assert_false(installs("a2345678901234567890123456789012345678901"));
	assert_string_equal(names_in_file(), "1 good");
}

/* A file that is damaged, of another build, or a link is replaced; one that cannot be is reported. */
static void
test_install_replaces(void **state)
{
	char target[sizeof path + 8];
	ino_t inode;
	int fd;

	(void)state;
	assert_true(installs("good"));
	inode = file_inode();
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "\xcc", 1, 0x1000), 1); /* code */
	close(fd);
	assert_non_null(strstr(names_in_file(), "not the formulas.so of this netobs"));
	assert_true(installs("better"));
	assert_string_equal(names_in_file(), "1 better");
	assert_int_not_equal(file_inode(), inode);
	assert_int_equal(truncate(path, 100), 0);
	assert_true(installs("best"));
	assert_string_equal(names_in_file(), "1 best");

	snprintf(target, sizeof target, "%s.target", path);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_non_null(strstr(names_in_file(), strerror(ELOOP)));
	assert_true(installs("last"));
	assert_string_equal(names_in_file(), "1 last");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(installs("last"));
}

/* A file that netobsd refuses to map is replaced. */
static void
test_install_replaces_what_others_can_change(void **state)
{
	char second[sizeof path + 8];
	ino_t inode;

	(void)state;
	assert_true(installs("good"));
	inode = file_inode();
	assert_int_equal(chmod(path, 0660), 0);
	assert_true(installs("better"));
	assert_int_not_equal(file_inode(), inode);
	inode = file_inode();
	snprintf(second, sizeof second, "%s.second", path);
	assert_int_equal(link(path, second), 0); /* as perf buildid-cache does */
	assert_true(installs("best"));
	assert_int_equal(file_inode(), inode);
	if (geteuid() != 0)
		return;
	inode = file_inode();
	assert_int_equal(chown(path, 65533, NO_GROUP), 0);
	assert_true(installs("last"));
	assert_int_not_equal(file_inode(), inode);
	assert_string_equal(names_in_file(), "1 last");
}

/* The user that netobsd runs as may change: the file keeps its inode, for the tracers that are attached. */
static void
test_install_changes_the_group(void **state)
{
	const char *const wanted[] = {"good"};
	struct stat status;
	ino_t inode;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_true(slots_install(path, wanted, 1, 65533, error));
	inode = file_inode();
	assert_true(slots_install(path, wanted, 1, 65532, error));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_gid, 65532);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_int_equal(status.st_ino, inode);
}

/* A path with a directory that another user can replace could lead to another file between its check and its use. */
static void
test_directories_of_the_path(void **state)
{
	char link_path[sizeof path];

	(void)state;
	assert_true(installs("good"));
	assert_int_equal(chmod(base, 0777), 0);
	assert_false(installs("good other"));
	assert_non_null(strstr(error, base));
	assert_non_null(strstr(error, ": is writable by others; chmod go-w"));
	assert_null(slots_open(path, error));
	assert_non_null(strstr(error, ": is writable by others; chmod go-w"));
	assert_int_equal(chmod(base, 01777), 0);
	assert_true(installs("good"));
	assert_int_equal(chmod(base, 0700), 0);
	assert_string_equal(names_in_file(), "1 good");
	snprintf(link_path, sizeof link_path, "%s/link", base);
	assert_int_equal(symlink("state", link_path), 0);
	snprintf(path, sizeof path, "%s/link/formulas.so", base);
	assert_true(installs("good by-link"));
	assert_string_equal(names_in_file(), "1 good 2 by-link");
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(base, 65533, NO_GROUP), 0);
	assert_false(installs("good"));
	assert_non_null(strstr(error, " is a directory of user 65533 in a directory that every user can write"));
	assert_null(slots_open(path, error));
	assert_non_null(strstr(error, " is a directory of user 65533 in a directory that every user can write"));
	assert_int_equal(chown(base, 0, NO_GROUP), 0);
}

/* A link of another user leads nowhere, also to a directory of root. */
static void
test_links_of_others(void **state)
{
	char link_path[sizeof path];
	ino_t inode;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_true(installs("good"));
	inode = file_inode();
	assert_int_equal(chmod(base, 01777), 0);
	snprintf(link_path, sizeof link_path, "%s/link", base);
	assert_int_equal(symlink("state", link_path), 0);
	assert_int_equal(lchown(link_path, 65533, NO_GROUP), 0);
	snprintf(path, sizeof path, "%s/link/formulas.so", base);
	assert_false(installs("other"));
	assert_non_null(strstr(error, ": link is a symbolic link of user 65533"));
	assert_null(slots_open(path, error));
	assert_non_null(strstr(error, ": link is a symbolic link of user 65533"));
	snprintf(path, sizeof path, "%s/state/formulas.so", base);
	assert_int_equal(file_inode(), inode);
	assert_string_equal(names_in_file(), "1 good");
}

/* A directory that others can write to is not used. */
static void
test_install_directory(void **state)
{
	(void)state;
	assert_true(installs("good"));
	*strrchr(path, '/') = '\0';
	assert_int_equal(chmod(path, 0777), 0);
	path[strlen(path)] = '/';
	assert_false(installs("good"));
	assert_non_null(strstr(error, "is writable by others; chmod go-w"));
	snprintf(path, sizeof path, "%s/made//formulas.so", base);
	assert_true(installs("good"));
	snprintf(path, sizeof path, "%s/state/none/formulas.so", base);
	assert_false(installs("good"));
	assert_non_null(strstr(error, "is writable by others; chmod go-w"));
	*strrchr(path, '/') = '\0';
	assert_int_not_equal(access(path, F_OK), 0); /* nor is one created there */
	snprintf(path, sizeof path, "formulas.so");
	assert_false(installs("good"));
}

/* --------------------------------------------------------------------------------------------------------- one name */

static void
test_write_name(void **state)
{
	ino_t inode;

	(void)state;
	assert_false(slots_write_name(path, 0, "early", error)); /* no file */
	assert_true(installs("a b"));
	inode = file_inode();
	assert_true(slots_write_name(path, 63, "last", error));
	assert_true(slots_write_name(path, 0, "first", error));
	assert_true(slots_write_name(path, 1, NULL, error));
	assert_string_equal(names_in_file(), "1 first 64 last");
	assert_false(slots_write_name(path, 64, "beyond", error));
	assert_non_null(strstr(error, "there is no slot 65"));
	assert_false(slots_write_name(path, 5, "first", error));
	assert_false(slots_write_name(path, 5, "", error));
	assert_false(slots_write_name(path, 5, "a2345678901234567890123456789012345678901", error));
	assert_string_equal(names_in_file(), "1 first 64 last");
	assert_int_equal(file_inode(), inode);
}

/* ----------------------------------------------------------------------------------------------------------- mapped */

static struct slots *
opened(const char *file)
{
	struct slots *slots = slots_open(file, error);

	if (slots == NULL)
		fail_msg("%s", error);
	return slots;
}

static void
test_open(void **state)
{
	struct slots *slots;

	(void)state;
	assert_null(slots_open(path, error));
	assert_true(installs("a b"));
	slots = opened(path);
	assert_false(slots_are_private(slots));
	assert_string_equal(slots_path(slots), path);
	assert_null(slots_open(path, error));
	assert_non_null(strstr(error, "another netobsd uses it"));
	/* Names change while it is mapped. */
	assert_true(slots_write_name(path, 7, "later", error));
	assert_true(slots_current_names(slots, &names, error));
	assert_string_equal(names.of[0], "a");
	assert_string_equal(names.of[7], "later");
	slots_close(slots);
	slots_close(opened(path));
	assert_string_equal(names_in_file(), "1 a 2 b 8 later");
	slots_close(NULL);
}

static void
test_open_refuses(void **state)
{
	(void)state;
	assert_true(installs("a b"));
	assert_int_equal(chmod(path, 0666), 0);
	assert_null(slots_open(path, error));
	assert_non_null(strstr(error, "is writable by others"));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(truncate(path, 4096), 0);
	assert_null(slots_open(path, error));
	assert_non_null(strstr(error, "not the formulas.so of this netobs"));
}

/* Every slot has a site and a semaphore of its own. */
static void
test_sites(void **state)
{
	const void *args[6] = {"a", "b", "c", "d", "e", "f"};
	struct slots *slots;

	(void)state;
	for (unsigned kind = SITE_PLAIN; kind <= SITE_FAST; kind++) {
		if (!site_select((enum site_kind)kind))
			continue;
		slots = opened(NULL);
		if (slots_object(slots)->site_is_fast != NULL)
			assert_int_equal(*slots_object(slots)->site_is_fast, kind == SITE_FAST);
		for (unsigned i = 0; i < SLOTS_COUNT; i++) {
			assert_int_equal(slots_semaphore(slots_object(slots), i), 0);
			slots_object(slots)->slots[i].semaphore->tracers = (unsigned short)(i + 1);
			slots_fire(slots_object(slots), i, args);
		}
		for (unsigned i = 0; i < SLOTS_COUNT; i++) {
			assert_int_equal(slots_semaphore(slots_object(slots), i), i + 1);
			for (unsigned j = 0; j < i; j++)
				assert_true(slots_object(slots)->slots[i].fire != slots_object(slots)->slots[j].fire);
		}
		slots_close(slots);
	}
}

static void
test_private_copies(void **state)
{
	struct slots *first, *second;
	char gone[sizeof path];

	(void)state;
	first = opened(NULL);
	second = opened(NULL);
	assert_true(slots_are_private(first));
	assert_string_not_equal(slots_path(first), slots_path(second));
	assert_true(slots_write_name(slots_path(first), 0, "mine", error));
	assert_true(slots_current_names(first, &names, error));
	assert_string_equal(names.of[0], "mine");
	assert_true(slots_current_names(second, &names, error));
	assert_string_equal(names.of[0], "");
	snprintf(gone, sizeof gone, "%s", slots_path(first));
	assert_int_equal(access(gone, F_OK), 0);
	slots_close(first);
	assert_int_equal(access(gone, F_OK), -1);
	*strrchr(gone, '/') = '\0';
	assert_int_equal(access(gone, F_OK), -1);
	slots_close(second);
	/* A directory that does not exist, or that others can write to, is left out. */
	assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
	slots_close(opened(NULL));
	assert_int_equal(chmod(base, 0777), 0);
	assert_int_equal(setenv("TMPDIR", base, 1), 0);
	first = opened(NULL);
	assert_null(strstr(slots_path(first), base));
	slots_close(first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_install_creates),	 TEST(test_install_places),
	    TEST(test_install_full),	 TEST(test_install_refuses),
	    TEST(test_install_replaces), TEST(test_directories_of_the_path),
	    TEST(test_links_of_others),
	    TEST(test_install_directory),
	    TEST(test_install_replaces_what_others_can_change),
	    TEST(test_install_changes_the_group),
	    TEST(test_write_name),	 TEST(test_open),
	    TEST(test_open_refuses),	 TEST(test_sites),
	    TEST(test_private_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
