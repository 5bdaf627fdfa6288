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

static int
editor_open_path(const char *path, char error[SLOT_ERROR_MAX])
{
	int fd = slot_path_open(path, O_RDWR | O_NONBLOCK, error);
	const char *reason = fd >= 0 ? slot_path_check_file(fd) : NULL;

	if (reason == NULL)
		return fd;
	slot_image_fail(error, path, reason);
	close(fd);
	return -1;
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
		slot_image_fail(error, path, errno == EBUSY ? "another process has locked it" : strerror(errno));
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
