/* SPDX-License-Identifier: BSD-2-Clause */
/* A reader of standard output that has what it needs and goes away, as head(1) does: no failure. */
#ifndef NETOBS_BASE_CLOSED_OUTPUT_H
#define NETOBS_BASE_CLOSED_OUTPUT_H

/* From now on a write to standard output whose reader has gone ends the process with status 0 and without a message.
 * For a process with no other result than its output. */
void closed_output_end_quietly(void);

#endif
