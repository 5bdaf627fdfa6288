/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --records: selects, sorts, formats and writes records of connections.  The records of a replay are sorted and written
 * at its end; those of a live run are written as connections end, unless they are to be sorted.
 */
#ifndef NETOBS_DAEMON_RECORD_RECORD_OUTPUT_H
#define NETOBS_DAEMON_RECORD_RECORD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

struct connrec;
struct record_output;

/* Opens what the configuration names.  Call it before there are threads and before the process is confined.  NULL, with
 * a message logged, on failure. */
struct record_output *record_output_open(const struct config *config);

/* Takes a record; any thread may call it. */
void record_output_take(void *output, const struct connrec *record);

/* Writes out what is buffered.  False, once, if the output has failed and continuing is pointless. */
bool record_output_flush(void *output);

/* Ends the output, after the last record.  `complete`: all input was read, so that a file is worth its name.  Returns 0
 * or the errno of the first failure, which is logged unless it is EPIPE: the reader needs no more.  ECANCELED: the file
 * of a replay is not written, because not all input was read or lines were dropped. */
int record_output_finish(struct record_output *output, bool complete);

/* Lines that were dropped because the output was not read or the disk was full. */
uint64_t record_output_dropped(const struct record_output *output);

/* NULL is allowed. */
void record_output_free(struct record_output *output);

#endif
