/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netobs.conf(5), read with libconfuse: a library of 90 KiB without dependencies whose files look like those of other
 * daemons, that reads line numbers and quotes so that nobody here has to, and whose value callbacks let options_table
 * do all judging.  (inih overwrites repeated settings in silence and goes on after errors; the YAML libraries are
 * larger than the need.)  Its traps, and what config_file.c does about them:
 *
 *  - validators are called when the next token has been read, so they name a wrong line: values are judged in the
 *    callback that parses them;
 *  - a setting that stands there twice overwrites the first: refused;
 *  - cfg_parse() opens the file by itself and expands "~": the file is opened here, and must be a plain one;
 *  - it counts the line of a comment more than once, so that lines are wrong behind it: config_text.c leaves no
 *    comment;
 *  - a file that ends between quotes may make its scanner write to standard output: config_text.c refuses it;
 *  - callbacks have no context of their own.
 *
 * absent_config_file.c is for builds without it.
 */
#ifndef NETOBS_DAEMON_CONFIG_CONFIG_FILE_H
#define NETOBS_DAEMON_CONFIG_CONFIG_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "daemon/config/config.h"

/* Adds what the file says to `*config`.  Rows of options_table that are marked as overridden are judged, but not taken.
 * False, with one message "FILE:LINE: what" logged, at the first thing that is wrong; `*config` is then to be thrown
 * away. */
bool config_file_read(const char *path, struct config *config, const bool *overridden);

/* The same from a stream that is open already; `name` is for messages. */
bool config_file_parse(FILE *stream, const char *name, struct config *config, const bool *overridden);

#endif
