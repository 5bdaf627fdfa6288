/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe sites of formulas, mapped into this process.
 *
 * Open them before the process confines itself: no code can be mapped after that, and no process can be started.  Names
 * are changed in the file, by slots_write_name() and slots_install(), in this process or another.
 */
#ifndef NETOBS_FORMULAS_SLOTS_SLOTS_H
#define NETOBS_FORMULAS_SLOTS_SLOTS_H

#include <sys/types.h>

#include "formulas/slots/slot_notes.h"
#include "formulas/slots/slots_object.h"
#include "usdt/site.h"

struct slots;

/*
 * Maps formulas.so.  `path` is a file that slots_install() has made; it is refused while another process has it open
 * here, because a name would mean two things.  NULL maps a private copy with the default names, in a new directory
 * below $TMPDIR, /tmp or /var/tmp, which is removed when the process ends, whatever ends it; of two file systems that
 * forbid execution or writing the next is tried.
 *
 * Call site_select() first.  NULL, with a reason, on failure.
 */
struct slots *slots_open(const char *path, char error[SLOT_ERROR_MAX]);

/* Unmaps it.  No tracer may be attached through this process's semaphores any more, and no thread may fire. */
void slots_close(struct slots *slots);

/* The absolute path of the file, for tracers and for slots_write_name(). */
const char *slots_path(const struct slots *slots);

bool slots_are_private(const struct slots *slots);

/* The names that the file has now; also in a confined process.  False, with a reason, if it is damaged, or if an editor
 * is at work: then try again. */
bool slots_current_names(const struct slots *slots, struct slot_names *names, char error[SLOT_ERROR_MAX]);

/* The mapped object. */
const struct slots_object *slots_object(const struct slots *slots);

/* Runs the site of a slot; `index` is less than SLOTS_COUNT. */
static inline void
slots_fire(const struct slots_object *object, unsigned index, const void *const args[6])
{
	object->slots[index].fire(args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* Not 0 while a tracer is attached to the slot; a slot is not given another name then. */
static inline unsigned
slots_semaphore(const struct slots_object *object, unsigned index)
{
	return probe_tracers(object->slots[index].semaphore);
}

/*
 * The file formulas.so, which tracers and netobsd read.  Names are changed in place, in the same inode, so that tracers
 * that are attached stay attached.  Editors of a file wait for each other by a lock on it.
 *
 * Only a file that equals this build's formulas.so, but for the names, is ever read or changed.
 */

/* Reads the names in an open file.  False, with a reason, if it is not this build's formulas.so. */
bool slot_file_read(int fd, struct slot_names *names, char error[SLOT_ERROR_MAX]);

/* Like slot_file_read(), of a path; waits for an editor. */
bool slots_read_names(const char *path, struct slot_names *names, char error[SLOT_ERROR_MAX]);

/* Gives the slot `index` a name, or the default name if it is NULL.  False, with a reason, if that fails; the file is
 * then unchanged unless writing itself failed. */
bool slots_write_name(const char *path, unsigned index, const char *name, char error[SLOT_ERROR_MAX]);

/*
 * Makes the file have these names, `count` of them: creates it, with its directory, if it is missing, and replaces it
 * if it is of another build or damaged, or if another user can change it.  A name that the file has already
 * keeps its slot; others get a slot with the default name, and only if there is none left one whose name is not wanted.
 * Users of group `gid` may read the file; (gid_t)-1 keeps the group of this process.  False, with a reason, on failure.
 */
bool slots_install(const char *path, const char *const *wanted, size_t count, gid_t gid, char error[SLOT_ERROR_MAX]);

/* Writes a new file with these names.  False, with a reason, on failure; there is no file then. */
bool slot_file_create(const char *path, const struct slot_names *names, gid_t gid, mode_t mode,
		      char error[SLOT_ERROR_MAX]);

/*
 * Edits the names in a formulas.so whose path another process has named.  That process may be compromised: the file is
 * edited only if no user except root and this one can write to it, or replace it or a directory of its path, and if it
 * is this build's formulas.so.  The editor changes nothing but names.
 */

struct slot_editor;

/* Opens a file and locks it against other editors.  NULL, with a reason, if it is not such a file, or on failure. */
struct slot_editor *slot_editor_open(const char *path, char error[SLOT_ERROR_MAX]);
void slot_editor_close(struct slot_editor *editor);

/* The names in the file. */
const struct slot_names *slot_editor_names(const struct slot_editor *editor);

/* Gives all slots these names.  False, with a reason, on failure; the file is then unchanged unless writing itself
 * failed. */
bool slot_editor_write(struct slot_editor *editor, const struct slot_names *names, char error[SLOT_ERROR_MAX]);

#endif
