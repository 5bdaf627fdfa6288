/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netobs.conf(5), parsed with libconfuse: 90 KiB, no dependencies, the syntax of other daemons' files; it handles line
 * numbers and quotes, and its value callbacks leave all checks to options_table.  (inih silently overwrites repeated
 * settings and continues after errors; the YAML libraries are larger than needed.)
 *
 * Its traps, and how config_file.c avoids them:
 *  - Validators run after the next token was read and report the wrong line: values are checked in the callback that
 *    parses them.
 *  - A repeated setting overwrites the first: refused.
 *  - cfg_parse() opens the file itself and expands "~": the file is opened here, and must be a plain one.
 *  - A comment's line is counted more than once, so that later line numbers are wrong: config_text_read() blanks all
 *    comments.
 *  - For a file that ends inside quotes its scanner may write to standard output: config_text_read() refuses such a
 *    file.
 *  - Callbacks have no context.
 */
#ifndef NETOBS_CONFIG_CONFIG_FILE_H
#define NETOBS_CONFIG_CONFIG_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

/* Reads the file into `*config`.  Options marked in `overridden` are checked but not used.  False, with one message
 * "FILE:LINE: what" logged, at the first error; `*config` must then be discarded. */
bool config_file_read(const char *path, struct config *config, const bool *overridden);

/* Like config_file_read() from an open stream; `name` is used in messages. */
bool config_file_parse(FILE *stream, const char *name, struct config *config, const bool *overridden);

#endif
