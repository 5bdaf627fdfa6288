/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that can be read only once: a copy of each is read instead, in a file without a name. */
#ifndef NETOBS_REPORT_INPUT_H
#define NETOBS_REPORT_INPUT_H

#include <stdbool.h>

/* Bytes of the path of a copy. */
#define REPORT_INPUT_PATH 32

/* Bytes of a message. */
#define REPORT_INPUT_MESSAGE 512

/* Whether a capture, "-" for standard input, can be read only once. */
bool report_input_is_stream(const char *capture);

/* Copies a capture up to its end, and gives the path of the copy.  SIGINT and SIGTERM end it earlier, when nothing
 * arrives any more.  False with a message on failure; then there is no copy, or only the beginning if `path` is not
 * empty. */
bool report_input_copy(const char *capture, char path[REPORT_INPUT_PATH], char message[REPORT_INPUT_MESSAGE]);

#endif
