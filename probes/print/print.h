/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The built-in tracer: prints firings from the very structs that tracers get.
 *
 * JSON is one object per line, as netobsd(8) says:
 *	{"probe":"tcp-receive","args":[{"pkt_addr":7,...},{"cs_cid":3,...},null,...]}
 * with the field names of netobs.h as keys; byte arrays are hex strings and addresses in memory are left out.  Text is
 * one line per firing: time (UTC), probe, and what a reader looks for first.
 */
#ifndef NETOBS_PROBES_PRINT_PRINT_H
#define NETOBS_PROBES_PRINT_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/probe_ids.h"

enum print_format {
	PRINT_OFF,
	PRINT_TEXT,
	PRINT_JSON,
};

struct printer;

/* A printer of the chosen probes to `fd`, which stays the caller's; `format` is not PRINT_OFF.  Raises the semaphores
 * of these probes, so that they are enabled as if a tracer had attached.  The process ignores SIGPIPE from now on.
 * NULL with errno if memory cannot be had. */
struct printer *printer_new(int fd, enum print_format format, const bool chosen[PROBE_COUNT]);

/* A printer of the same probes, in the same format, to the same descriptor, for another thread: the lines of either
 * stay whole.  `first` holds the semaphores for both; its thread has not started to print yet, and it is freed last. */
struct printer *printer_beside(struct printer *first);

/* Prints nothing more and lets go of the probes. */
void printer_stop(struct printer *printer);

/* Lowers the semaphores, writes out what is buffered and frees the printer.  Returns as printer_failed(). */
int printer_free(struct printer *printer);

/* Prints one firing, if its probe is chosen: as many of `args` as the probe has are read.  To be called by the function
 * that fires, with the arguments of the site. */
void print_firing(struct printer *printer, enum probe_id id, const void *const args[6]);

/* Packet time for text lines of probes whose arguments carry none (application providers), ns since the epoch. */
void printer_set_time(struct printer *printer, uint64_t now);

/* Writes out what is buffered: call it when there is nothing else to do, and before the process waits. */
void printer_flush(struct printer *printer);

/* errno of the first write that failed (EPIPE: the reader has gone), 0 if there is none. */
int printer_failed(const struct printer *printer);

#endif
