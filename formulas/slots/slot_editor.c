/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/slots/slot_editor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formulas/slots/slot_image.h"
#include "formulas/slots/slot_path.h"

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
