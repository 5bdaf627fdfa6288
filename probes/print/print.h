/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The built-in tracer: prints firings from the same structs that tracers read.  JSON is one object per line, as
 * netobsd(8) says: {"probe":"tcp-receive","args":[{"pkt_addr":7,...},{"cs_cid":3,...},null,...]} with the field names
 * of netobs.h as keys; byte arrays are hex strings, and memory addresses are omitted.  A firing of a formula has the
 * name of its probe, too: {"probe":"slow-handshake","of":"tcp-connect-established","args":...  Text is one line per
 * firing: time (UTC), probe, and the most important fields.
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

/* Upper bound of a line for any packet; checked for JSON when a printer is created. */
#define PRINT_LINE_MAX 16384

struct printer;
struct writer_policy;

/* Creates a printer of the selected probes to `fd`, which the caller keeps; `format` is not PRINT_OFF.  Raises the
 * semaphores of these probes, which enables them as a tracer does.  The process ignores SIGPIPE from now on.  NULL with
 * errno if out of memory. */
struct printer *printer_new(int fd, enum print_format format, const bool selected[PROBE_COUNT]);

/* Creates a printer for another thread, with the same probes, format and descriptor; lines are never mixed.  `first`
 * holds the semaphores for both.  Call it before the thread of `first` starts to print, and free `first` last. */
struct printer *printer_new_shared(struct printer *first);

/* Prints only these fields of each firing, see print_fields_new(); the list has been checked.  JSON is without fields
 * that a probe does not have.  False if out of memory. */
bool printer_set_fields(struct printer *printer, const char *list);

/* Creates a printer without output, for printer_format_line() only; printer_free() frees it.  NULL with errno if out of
 * memory. */
struct printer *printer_new_formatter(void);

/* Writes one line of at most PRINT_LINE_MAX bytes at `at`; returns its end.  `formula` is the name of the formula that
 * the firing is of, NULL for a firing of the probe itself. */
char *printer_format_line(struct printer *printer, enum print_format format, const char *formula, enum probe_id id,
			  const void *const args[6], char *at);

/* Sets what happens while the output is not read; for all printers that share a descriptor.  Without a policy they
 * wait. False with errno if out of memory. */
bool printer_set_policy(struct printer *printer, const struct writer_policy *policy);

/* Writes out what is buffered at the end of the output, see writer_finish(). */
void printer_finish(struct printer *printer, uint64_t ms);

/* Whether lines wait in the buffer because the output is not read; lines that were dropped for that reason. */
bool printer_is_waiting(const struct printer *printer);
uint64_t printer_dropped(const struct printer *printer);

/* Stops printing and lowers the semaphores. */
void printer_stop(struct printer *printer);

/* Lowers the semaphores, writes out what is buffered and frees the printer.  Returns as printer_error(). */
int printer_free(struct printer *printer);

/* Prints a firing, if its probe is selected; reads as many of `args` as the probe has, and of tcp-connect-refused the
 * last one, too: the icmpinfo of the error that has ended the attempt, or NULL.  Called by the firing function with the
 * arguments of the site. */
void printer_print_firing(struct printer *printer, enum probe_id id, const void *const args[6]);

/* Prints a firing of formula `name` of this probe, whichever probes are selected. */
void printer_print_formula(struct printer *printer, const char *name, enum probe_id of, const void *const args[6]);

/* Writes out what is buffered.  Call it when there is nothing else to do, and before the process waits. */
void printer_flush(struct printer *printer);

/* errno of the first failed write (EPIPE: the reader has closed the pipe), 0 if there is none. */
int printer_error(const struct printer *printer);

#endif
