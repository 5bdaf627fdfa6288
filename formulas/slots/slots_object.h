/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of formulas.so, the shared object with the probe sites of formulas.
 *
 * Tracers take the names of probes from the notes of a file when they attach, and then attach by inode and offset.  A
 * name that is chosen at run time therefore needs no code made at run time: the object has SLOTS_COUNT compiled sites,
 * the slots, and slot_notes.h changes their names in the file.  After the note of each site there is a filler note,
 * which takes the bytes that a shorter name leaves and gives those that a longer name needs:
 *
 *	owner "stapsdt", type 3: site, base, semaphore, "netobs", the name, the operands
 *	owner "netobs", type SLOTS_FILLER_TYPE: the default name, and zeros
 */
#ifndef NETOBS_FORMULAS_SLOTS_SLOTS_OBJECT_H
#define NETOBS_FORMULAS_SLOTS_SLOTS_OBJECT_H

#include <stdbool.h>

#define SLOTS_COUNT  64
#define SLOTS_SYMBOL netobs_slots /* the one symbol that the object exports, a struct slots_object */

#define SLOTS_DEFAULT_PREFIX "formula__" /* a default name is this and two digits, from 01 on */

/* The longest name of a site in bytes: "__" for each "-" of a formula's name. */
#define SLOTS_SITE_NAME_MAX 79

#define SLOTS_FILLER_TYPE 0x736c6f74
/* Bytes of a filler note after the default name, which a name of SLOTS_SITE_NAME_MAX bytes takes. */
#define SLOTS_FILLER_SPARE 68

union probe_semaphore;

struct slot_site {
	void (*fire)(const void *a, const void *b, const void *c, const void *d, const void *e, const void *f);
	volatile union probe_semaphore *semaphore;
};

struct probe_site;

struct slots_object {
	bool *site_is_fast; /* selects the site of each slot; NULL if it has one only */
	/* The table of the sites (usdt/site.h), up to `sites_end`; both are NULL if there is none. */
	const struct probe_site *sites, *sites_end;
	struct slot_site slots[SLOTS_COUNT];
};

#endif
