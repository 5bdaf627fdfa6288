/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/slots/slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formulas/slots/slot_image.h"
#include "probes/site/site_select.h"

#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)

struct slots {
	char *path;
	int fd; /* locked by flock(2) while this process uses the file */
	void *library;
	const struct slots_object *object;
	bool is_private;
	struct private_copy copy; /* if private */
};

/* ---------------------------------------------------------------------------------------------------------- mapping */

/* Opens the file for this process alone. */
static bool
slots_open_file(struct slots *slots, char error[SLOT_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX];
	struct slot_names names;
	struct stat status;

	/* The loader opens the path again. */
	slots->fd = slot_path_open(slots->path, O_RDONLY | O_NONBLOCK, error);
	if (slots->fd < 0)
		return false;
	if (fstat(slots->fd, &status) != 0)
		return slot_image_fail(error, slots->path, strerror(errno));
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return slot_image_fail(error, slots->path, "belongs to another user");
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return slot_image_fail(error, slots->path, "is writable by others; chmod go-w");
	if (flock(slots->fd, LOCK_EX | LOCK_NB) != 0)
		return slot_image_fail(error, slots->path,
				       errno == EWOULDBLOCK ? "another netobsd uses it" : strerror(errno));
	if (!slot_file_read(slots->fd, &names, reason))
		return slot_image_fail(error, slots->path, reason);
	return true;
}

/* Loads the file, whose bytes were checked. */
static bool
slots_load(struct slots *slots, char error[SLOT_ERROR_MAX])
{
	const char *reason;

	slots->library = dlopen(slots->path, RTLD_NOW | RTLD_LOCAL);
	if (slots->library != NULL)
		slots->object = dlsym(slots->library, TEXT(SLOTS_SYMBOL));
	if (slots->object == NULL) {
		reason = dlerror();
		snprintf(error, SLOT_ERROR_MAX, "%s", reason != NULL ? reason : "not loaded");
		return false;
	}
	if (slots->object->site_is_fast != NULL)
		*slots->object->site_is_fast = site_selected() == SITE_FAST;
	return true;
}

static void
slots_unmap(struct slots *slots)
{
	if (slots->library != NULL)
		dlclose(slots->library);
	if (slots->fd >= 0)
		close(slots->fd);
	free(slots->path);
	slots->library = NULL;
	slots->object = NULL;
	slots->path = NULL;
	slots->fd = -1;
}

/* The loader and debuggers need the absolute path. */
static bool
slots_map(struct slots *slots, const char *path, char error[SLOT_ERROR_MAX])
{
	char absolute[PATH_MAX];

	if (!slot_path_resolve(path, absolute, error))
		return false;
	slots->path = strdup(absolute);
	if (slots->path == NULL)
		return slot_image_fail(error, path, strerror(errno));
	if (slots_open_file(slots, error) && slots_load(slots, error))
		return true;
	slots_unmap(slots);
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static bool
slots_map_private(struct slots *slots, char error[SLOT_ERROR_MAX])
{
	const char *const parents[] = {secure_getenv("TMPDIR"), "/tmp", "/var/tmp"};

	for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
		if (parents[i] == NULL || !private_copy_make(&slots->copy, parents[i], error))
			continue;
		if (slots_map(slots, slots->copy.path, error)) {
			private_copy_watch(&slots->copy);
			slots->is_private = true;
			return true;
		}
		private_copy_remove(&slots->copy);
	}
	return false;
}

struct slots *
slots_open(const char *path, char error[SLOT_ERROR_MAX])
{
	struct slots *slots = calloc(1, sizeof *slots);

	if (slots == NULL) {
		snprintf(error, SLOT_ERROR_MAX, "out of memory");
		return NULL;
	}
	slots->fd = -1;
	if (path != NULL ? slots_map(slots, path, error) : slots_map_private(slots, error))
		return slots;
	free(slots);
	return NULL;
}

void
slots_close(struct slots *slots)
{
	if (slots == NULL)
		return;
	slots_unmap(slots);
	if (slots->is_private)
		private_copy_remove(&slots->copy);
	free(slots);
}

const char *
slots_path(const struct slots *slots)
{
	return slots->path;
}

bool
slots_are_private(const struct slots *slots)
{
	return slots->is_private;
}

bool
slots_current_names(const struct slots *slots, struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	return slot_file_read(slots->fd, names, error);
}

const struct slots_object *
slots_object(const struct slots *slots)
{
	return slots->object;
}
