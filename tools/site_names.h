/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the probe sites of formulas, which tracers read in formulas.so.  netobsd cannot write that file, so
 * netobsctl gives it the names, as far as its user may write it.
 *
 * The file is compared with all formulas of netobsd and brought up to date with them under its lock, so that an
 * interrupted request does no harm: a formula whose site is not named yet keeps the default name until the next update.
 * netobsd reads the file for each request about formulas, and relies on nothing else.
 */
#ifndef NETOBS_TOOLS_SITE_NAMES_H
#define NETOBS_TOOLS_SITE_NAMES_H

#include <stdbool.h>

#include "formulas/slots/slot_notes.h"

#define SITE_NAMES_ERROR_MAX (SLOT_ERROR_MAX + 128)

/* Gives the probe sites of the netobsd that listens on `socket` the names of their formulas, and unused ones their
 * default names; a site to which a tracer is attached keeps its name.
 *
 * False, with a reason in `error`, if the file then does not have the name of a `defined` formula, or has the name of
 * one that was removed; if `name` is NULL, if any name is wrong.  True may come with a note in `error`. */
bool site_names_update(const char *socket, const char *name, bool defined, char error[SITE_NAMES_ERROR_MAX]);

#endif
