/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes and edits files: see slots.h. */
#include "formulas/slots/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formulas/slots/slot_image.h"

bool
slot_file_read(int fd, struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	struct slot_image image;

	if (!slot_image_read(&image, fd, error))
		return false;
	slot_notes_read(&image.notes, names);
	slot_image_free(&image);
	return true;
}

bool
slots_read_names(const char *path, struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX];
	int fd = slot_image_open_locked(path, false);
	bool done;

	if (fd < 0)
		return slot_image_fail(error, path, strerror(errno));
	done = slot_file_read(fd, names, reason) || slot_image_fail(error, path, reason);
	close(fd);
	return done;
}

bool
slots_write_name(const char *path, unsigned index, const char *name, char error[SLOT_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX];
	struct slot_names names;
	struct slot_image image;
	int fd = slot_image_open_locked(path, true);
	bool done = false;

	if (fd < 0)
		return slot_image_fail(error, path, strerror(errno));
	if (index >= SLOTS_COUNT) {
		snprintf(reason, sizeof reason, "there is no slot %u", index + 1);
	} else if (slot_image_read(&image, fd, reason)) {
		slot_notes_read(&image.notes, &names);
		memset(names.of[index], 0, sizeof names.of[index]);
		if (name != NULL && (*name == '\0' || strlen(name) > FORMULA_NAME_MAX)) {
			snprintf(reason, sizeof reason, "a name has 1 to %d bytes", FORMULA_NAME_MAX);
		} else {
			if (name != NULL)
				memcpy(names.of[index], name, strlen(name));
			done = slot_image_write_names(&image, fd, &names, reason);
		}
		slot_image_free(&image);
	}
	close(fd);
	return done || slot_image_fail(error, path, reason);
}

/* --------------------------------------------------------------------------------------------------------- choosing */

static unsigned
slot_names_find(const struct slot_names *names, const char *name)
{
	unsigned i = 0;

	while (i < SLOTS_COUNT && strcmp(names->of[i], name) != 0)
		i++;
	return i;
}

/* A slot that `names` leaves free, if possible one that had the default name `before`.  SLOTS_COUNT if no slot is
 * left. */
static unsigned
slot_names_find_free(const struct slot_names *names, const struct slot_names *before)
{
	unsigned reused = SLOTS_COUNT;

	for (unsigned i = 0; i < SLOTS_COUNT; i++) {
		if (names->of[i][0] != '\0')
			continue;
		if (before->of[i][0] == '\0')
			return i;
		if (reused == SLOTS_COUNT)
			reused = i;
	}
	return reused;
}

/* Names that exist `before` keep their slots, then the others get theirs. */
static bool
slot_names_place(const struct slot_names *before, const char *const *wanted, size_t count, struct slot_names *names,
		 char error[SLOT_ERROR_MAX])
{
	memset(names, 0, sizeof *names);
	if (count > SLOTS_COUNT) {
		snprintf(error, SLOT_ERROR_MAX, "%zu formulas, but there are names for %d only", count, SLOTS_COUNT);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		unsigned slot = SLOTS_COUNT;

		if (wanted[i][0] == '\0' || strlen(wanted[i]) > FORMULA_NAME_MAX) {
			snprintf(error, SLOT_ERROR_MAX, "a name has 1 to %d bytes", FORMULA_NAME_MAX);
			return false;
		}
		slot = slot_names_find(before, wanted[i]);
		if (slot < SLOTS_COUNT)
			memcpy(names->of[slot], wanted[i], strlen(wanted[i]) + 1);
	}
	for (size_t i = 0; i < count; i++) {
		unsigned slot = SLOTS_COUNT;

		if (slot_names_find(before, wanted[i]) == SLOTS_COUNT)
			slot = slot_names_find_free(names, before);
		if (slot < SLOTS_COUNT)
			memcpy(names->of[slot], wanted[i], strlen(wanted[i]) + 1);
	}
	return true;
}

/* --------------------------------------------------------------------------------------------------------- creating */

bool
slot_file_create(const char *path, const struct slot_names *names, gid_t gid, mode_t mode, char error[SLOT_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX];
	struct slot_image image;
	int fd;

	if (!slot_image_copy_template(&image, reason) || !slot_notes_write(&image.notes, names, reason)) {
		slot_image_free(&image);
		return slot_image_fail(error, path, reason);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || (gid != (gid_t)-1 && fchown(fd, (uid_t)-1, gid) != 0) || fchmod(fd, mode) != 0 ||
	    !slot_image_write_bytes(&image, fd, 0, image.notes.size) || fsync(fd) != 0) {
		slot_image_fail(error, path, strerror(errno));
		if (fd >= 0) {
			unlink(path);
			close(fd);
		}
		slot_image_free(&image);
		return false;
	}
	close(fd);
	slot_image_free(&image);
	return true;
}

/* Creates a directory, after the check that no other user can replace what is created below its parent. */
static bool
slot_file_make_directory(const char *directory, char error[SLOT_ERROR_MAX])
{
	const char *slash = strrchr(directory, '/'), *name = slash != NULL ? slash + 1 : directory;
	char parent[PATH_MAX], absolute[PATH_MAX], created[PATH_MAX];
	size_t length = (size_t)(name - directory);

	memcpy(parent, length > 0 ? directory : ".", length > 0 ? length : 1);
	parent[length > 0 ? length : 1] = '\0';
	if (!slot_path_resolve(parent, absolute, error))
		return false;
	if (!slot_path_check_directory(absolute, error))
		return false;
	if (snprintf(created, sizeof created, "%s/%s", absolute, name) >= PATH_MAX)
		return slot_image_fail(error, directory, strerror(ENAMETOOLONG));
	if (mkdir(created, 0755) == 0 ? chmod(created, 0755) == 0 : errno == EEXIST)
		return true;
	return slot_image_fail(error, directory, strerror(errno));
}

/* Creates the directory of a file if it is missing, and checks it.  `resolved` becomes the path of the file without
 * symbolic links before the last component. */
static bool
slot_file_prepare_directory(const char *path, char resolved[PATH_MAX], char error[SLOT_ERROR_MAX])
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX], absolute[PATH_MAX];
	size_t length = slash != NULL ? (size_t)(slash - path) : 0;

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length == 0 || length >= sizeof directory)
		return slot_image_fail(error, path, "not a path below a directory");
	memcpy(directory, path, length);
	directory[length] = '\0';
	if (!slot_path_resolve(directory, absolute, error) &&
	    (errno != ENOENT || !slot_file_make_directory(directory, error) ||
	     !slot_path_resolve(directory, absolute, error)))
		return false;
	if (snprintf(resolved, PATH_MAX, "%s%s", absolute, slash) >= PATH_MAX)
		return slot_image_fail(error, path, strerror(ENAMETOOLONG));
	return slot_path_check_directory(absolute, error);
}

/* Replaces the file: a process that has mapped the former one keeps it. */
static bool
slot_file_replace(const char *path, const char *const *wanted, size_t count, gid_t gid, char error[SLOT_ERROR_MAX])
{
	const struct slot_names none = {0};
	char new[PATH_MAX], reason[SLOT_ERROR_MAX];
	struct slot_names names;

	if (snprintf(new, sizeof new, "%s.new", path) >= (int)sizeof new)
		return slot_image_fail(error, path, strerror(ENAMETOOLONG));
	if (!slot_names_place(&none, wanted, count, &names, reason))
		return slot_image_fail(error, path, reason);
	if (unlink(new) != 0 && errno != ENOENT)
		return slot_image_fail(error, new, strerror(errno));
	if (!slot_file_create(new, &names, gid, 0640, error))
		return false;
	if (rename(new, path) == 0)
		return true;
	slot_image_fail(error, path, strerror(errno));
	unlink(new);
	return false;
}

/* Gives an open file its group, unless it has it. */
static bool
slot_file_set_group(int fd, gid_t gid, char reason[SLOT_ERROR_MAX])
{
	struct stat status;

	if (gid == (gid_t)-1 || (fstat(fd, &status) == 0 && status.st_gid == gid) || fchown(fd, (uid_t)-1, gid) == 0)
		return true;
	snprintf(reason, SLOT_ERROR_MAX, "%s", strerror(errno));
	return false;
}

bool
slots_install(const char *given, const char *const *wanted, size_t count, gid_t gid, char error[SLOT_ERROR_MAX])
{
	struct slot_names before, names;
	char reason[SLOT_ERROR_MAX], path[PATH_MAX];
	struct slot_image image;
	bool done;
	int fd;

	if (!slot_file_prepare_directory(given, path, error))
		return false;
	fd = slot_image_open_locked(path, true);
	if (fd < 0 && errno != ENOENT && errno != ELOOP)
		return slot_image_fail(error, path, strerror(errno));
	if (fd < 0 || slot_path_check_file(fd) != NULL || !slot_image_read(&image, fd, reason)) {
		done = slot_file_replace(path, wanted, count, gid, error);
		if (fd >= 0)
			close(fd);
		return done;
	}
	slot_notes_read(&image.notes, &before);
	done = (slot_names_place(&before, wanted, count, &names, reason) && slot_file_set_group(fd, gid, reason) &&
		slot_image_write_names(&image, fd, &names, reason)) ||
	       slot_image_fail(error, path, reason);
	slot_image_free(&image);
	close(fd);
	return done;
}

struct slot_editor {
	int fd;
	char *path;
	struct slot_image image;
	struct slot_names names;
};

/* ---------------------------------------------------------------------------------------------------------- opening */

static const char editor_locked[] = "another process has locked it";

/* Opens a file that only this user can change. */
static int
editor_open_own(const char *path, int flags, char error[SLOT_ERROR_MAX])
{
	int fd = slot_path_open(path, flags | O_NONBLOCK, error);
	const char *reason = fd >= 0 ? slot_path_check_file(fd) : NULL;

	if (reason == NULL)
		return fd;
	slot_image_fail(error, path, reason);
	close(fd);
	return -1;
}

/* Whether the file is this build's formulas.so, while no other editor changes it. */
static bool
editor_check_image(const char *path, int fd, char error[SLOT_ERROR_MAX])
{
	struct slot_image image = {0};
	char reason[SLOT_ERROR_MAX];

	if (!slot_image_lock(fd, false))
		return slot_image_fail(error, path, errno == EBUSY ? editor_locked : strerror(errno));
	if (!slot_image_read(&image, fd, reason))
		return slot_image_fail(error, path, reason);
	slot_image_free(&image);
	return true;
}

/* Opens the file for writing, and no other file than a formulas.so. */
static int
editor_open_path(const char *path, char error[SLOT_ERROR_MAX])
{
	int fd = editor_open_own(path, O_RDONLY, error);
	bool good = fd >= 0 && editor_check_image(path, fd, error);

	if (fd >= 0)
		close(fd);
	return good ? editor_open_own(path, O_RDWR, error) : -1;
}

struct slot_editor *
slot_editor_open(const char *path, char error[SLOT_ERROR_MAX])
{
	struct slot_editor *editor = calloc(1, sizeof *editor);
	char reason[SLOT_ERROR_MAX];

	if (editor == NULL || (editor->path = strdup(path)) == NULL) {
		snprintf(error, SLOT_ERROR_MAX, "out of memory");
		free(editor);
		return NULL;
	}
	editor->fd = editor_open_path(path, error);
	if (editor->fd < 0) {
		slot_editor_close(editor);
		return NULL;
	}
	if (!slot_image_lock(editor->fd, true))
		slot_image_fail(error, path, errno == EBUSY ? editor_locked : strerror(errno));
	else if (!slot_image_read(&editor->image, editor->fd, reason))
		slot_image_fail(error, path, reason);
	else {
		slot_notes_read(&editor->image.notes, &editor->names);
		return editor;
	}
	slot_editor_close(editor);
	return NULL;
}

void
slot_editor_close(struct slot_editor *editor)
{
	if (editor == NULL)
		return;
	if (editor->fd >= 0)
		close(editor->fd);
	slot_image_free(&editor->image);
	free(editor->path);
	free(editor);
}

/* ---------------------------------------------------------------------------------------------------------- editing */

const struct slot_names *
slot_editor_names(const struct slot_editor *editor)
{
	return &editor->names;
}

bool
slot_editor_write(struct slot_editor *editor, const struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX];

	if (!slot_image_write_names(&editor->image, editor->fd, names, reason))
		return slot_image_fail(error, editor->path, reason);
	editor->names = *names;
	return true;
}
