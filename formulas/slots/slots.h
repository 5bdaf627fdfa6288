/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe sites of formulas, mapped into this process.
 *
 * Open them before the process confines itself: no code can be mapped after that, and no process can be started.  Names
 * are changed in the file, by slots_write_name() and slots_install() of slot_file.h, in this process or another.
 */
#ifndef NETOBS_FORMULAS_SLOTS_SLOTS_H
#define NETOBS_FORMULAS_SLOTS_SLOTS_H

#include "formulas/slots/slot_file.h"
#include "formulas/slots/slots_object.h"
#include "usdt/site.h"

/* The file of the service: the unit's ExecStartPre= installs it. */
#define SLOTS_PATH "/var/lib/netobs/formulas.so"

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

#endif
