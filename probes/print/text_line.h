/* SPDX-License-Identifier: BSD-2-Clause */
/* Formatters of text lines: one per family of probes.  Those of application providers are added by their own folder. */
#ifndef NETOBS_PROBES_PRINT_TEXT_LINE_H
#define NETOBS_PROBES_PRINT_TEXT_LINE_H

#include <stdbool.h>

#include "base/text.h"
#include "probes/manifest.h"

/* The arguments of a firing by kind; NULL if the probe has no argument of that kind. */
struct text_firing {
	const void *arg[STRUCT_COUNT];
	bool receives; /* the probe's name ends in -receive */
};

/* Writes the part of the line between the probe's name and the fields that end every line, and returns its end; the
 * line has at most PRINT_LINE_MAX bytes. */
typedef char *text_formatter(char *at, const struct text_firing *firing);

/* A probe that has an argument of this kind is printed by this formatter. */
struct text_family {
	enum struct_id id;
	text_formatter *formatter;
};

/* Most families that can be added. */
#define TEXT_FAMILIES_ADDED_MAX 16

/* Adds a family, before a printer is made; `family` is borrowed for good.  Adding one twice has no effect. */
void text_add_family(const struct text_family *family);

/* A char[] field. */
#define PUT_FIELD(at, field) put_plain_text((at), (field), sizeof(field))

#define PUT_ENDPOINT(at, field, port) put_endpoint((at), (field), sizeof(field), (port))

/* Both ends of a connection, local first. */
#define PUT_LOCAL_REMOTE(at, laddr, lport, raddr, rport) \
	((at) = PUT_ENDPOINT(at, laddr, lport), (at) = PUT(at, " - "), PUT_ENDPOINT(at, raddr, rport))

#endif
