/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsd --list-probes: the manifest as text or as JSON; with --engine the probes of netobs_engine. */
#ifndef NETOBS_PROBES_PRINT_PROBE_LIST_H
#define NETOBS_PROBES_PRINT_PROBE_LIST_H

#include "probes/print/print.h"

/*
 * Writes every probe with its arguments, and every struct with its fields, to `fd`; `format` is not PRINT_OFF.  JSON is
 * one object:
 *	{"provider":"netobs","abi":1,
 *	 "probes":[{"name","c_name","doc","args":[type or null],"nullable":[bool],"args_doc":[text]}],
 *	 "structs":[{"name","size","doc","fields":[{"name","type","offset","size","doc"}]}]}
 * Returns 0, or errno if it could not be written.
 */
int probe_list_write(int fd, enum print_format format);

/*
 * The same for the private provider:
 *	{"provider":"netobs_engine","probes":[{"name","c_name","doc","args":[name],"args_doc":[text]}]}
 */
int probe_list_write_engine(int fd, enum print_format format);

#endif
