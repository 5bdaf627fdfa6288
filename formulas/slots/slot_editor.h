/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edits the names in a formulas.so whose path another process has named.  That process may be compromised: the file is
 * edited only if no user except root and this one can write to it, or replace it or a directory of its path, and if it
 * is this build's formulas.so.  The editor changes nothing but names.
 */
#ifndef NETOBS_FORMULAS_SLOTS_SLOT_EDITOR_H
#define NETOBS_FORMULAS_SLOTS_SLOT_EDITOR_H

#include "formulas/slots/slot_notes.h"

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
