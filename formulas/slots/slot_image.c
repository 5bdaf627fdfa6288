/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/slots/slot_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Limit of the wait for a lock, and interval between two attempts.  A user with the right to read the file can
 * lock it: without a limit such a lock would stop root's editors and the start of the service. */
#define LOCK_TIMEOUT_MS	 20000
#define LOCK_INTERVAL_MS 10

bool
slot_image_fail(char error[SLOT_ERROR_MAX], const char *path, const char *reason)
{
	snprintf(error, SLOT_ERROR_MAX, "%.250s: %.120s", path, reason);
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

void
slot_image_free(struct slot_image *image)
{
	free(image->bytes);
	image->bytes = NULL;
}

bool
slot_image_copy_template(struct slot_image *image, char error[SLOT_ERROR_MAX])
{
	image->bytes = malloc(slots_template_size);
	if (image->bytes == NULL) {
		snprintf(error, SLOT_ERROR_MAX, "out of memory");
		return false;
	}
	memcpy(image->bytes, slots_template, slots_template_size);
	if (slot_notes_parse(&image->notes, image->bytes, slots_template_size, error))
		return true;
	slot_image_free(image);
	return false;
}

/* Whether the image is the template, but for the names: with the default names both have the same bytes. */
static bool
slot_image_is_template(const struct slot_image *image)
{
	const struct slot_names defaults = {0};
	char error[SLOT_ERROR_MAX];
	struct slot_image ours, theirs;
	bool equal = false;

	if (image->notes.size != slots_template_size || !slot_image_copy_template(&ours, error))
		return false;
	theirs.bytes = malloc(slots_template_size);
	if (theirs.bytes != NULL) {
		memcpy(theirs.bytes, image->bytes, slots_template_size);
		equal = slot_notes_parse(&theirs.notes, theirs.bytes, slots_template_size, error) &&
			slot_notes_write(&theirs.notes, &defaults, error) &&
			slot_notes_write(&ours.notes, &defaults, error) &&
			memcmp(ours.bytes, theirs.bytes, slots_template_size) == 0;
		slot_image_free(&theirs);
	}
	slot_image_free(&ours);
	return equal;
}

static bool
slot_image_read_bytes(uint8_t *bytes, size_t size, int fd)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(fd, bytes + done, size - done, (off_t)done);

		if (got <= 0 && !(got < 0 && errno == EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

bool
slot_image_read(struct slot_image *image, int fd, char error[SLOT_ERROR_MAX])
{
	static const char *const other = "not the formulas.so of this netobs: restart the service, or remove the file";
	struct stat status;

	image->bytes = NULL;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != (off_t)slots_template_size) {
		snprintf(error, SLOT_ERROR_MAX, "%s", other);
		return false;
	}
	image->bytes = malloc(slots_template_size);
	if (image->bytes == NULL || !slot_image_read_bytes(image->bytes, slots_template_size, fd))
		snprintf(error, SLOT_ERROR_MAX, "%s", image->bytes == NULL ? "out of memory" : "cannot be read");
	else if (!slot_notes_parse(&image->notes, image->bytes, slots_template_size, error) ||
		 !slot_image_is_template(image))
		snprintf(error, SLOT_ERROR_MAX, "%s", other);
	else
		return true;
	slot_image_free(image);
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- editing */

bool
slot_image_lock(int fd, bool edit)
{
	const struct timespec pause = {.tv_nsec = LOCK_INTERVAL_MS * 1000000L};
	struct flock lock = {.l_type = edit ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};

	for (unsigned waited = 0; fcntl(fd, F_SETLK, &lock) != 0; waited += LOCK_INTERVAL_MS) {
		if (errno != EACCES && errno != EAGAIN)
			return false;
		if (waited >= LOCK_TIMEOUT_MS) {
			errno = EBUSY;
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

int
slot_image_open_locked(const char *path, bool edit)
{
	int fd = open(path, (edit ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int error;

	if (fd < 0 || slot_image_lock(fd, edit))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool
slot_image_write_bytes(const struct slot_image *image, int fd, size_t at, size_t size)
{
	for (size_t end = at + size; at < end;) {
		ssize_t put = pwrite(fd, image->bytes + at, end - at, (off_t)at);

		if (put < 0 && errno != EINTR)
			return false;
		at += put > 0 ? (size_t)put : 0;
	}
	return true;
}

/* Writes the bytes of a range that differ from those before, by one call from the first to the last of them, so that a
 * tracer that reads at the same time rarely reads half of a name. */
static bool
slot_image_write_range(const struct slot_image *image, int fd, const uint8_t *before, const struct slot_range *range)
{
	size_t from = range->at, to = range->at + range->size;

	while (from < to && image->bytes[from] == before[from])
		from++;
	while (to > from && image->bytes[to - 1] == before[to - 1])
		to--;
	return slot_image_write_bytes(image, fd, from, to - from);
}

bool
slot_image_write_names(struct slot_image *image, int fd, const struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	uint8_t *before = malloc(image->notes.size);
	bool written;

	if (before == NULL) {
		snprintf(error, SLOT_ERROR_MAX, "out of memory");
		return false;
	}
	memcpy(before, image->bytes, image->notes.size);
	written = slot_notes_write(&image->notes, names, error);
	if (written && (!slot_image_write_range(image, fd, before, &image->notes.names) ||
			!slot_image_write_range(image, fd, before, &image->notes.build_id))) {
		snprintf(error, SLOT_ERROR_MAX, "%s", strerror(errno));
		written = false;
	}
	free(before);
	return written;
}
