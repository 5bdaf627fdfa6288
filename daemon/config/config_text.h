/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration file as libconfuse can be trusted with: its lines count right, and its scanner meets nothing that it
 * has no rule for.
 */
#ifndef NETOBS_DAEMON_CONFIG_CONFIG_TEXT_H
#define NETOBS_DAEMON_CONFIG_CONFIG_TEXT_H

#include <stdio.h>

/* Larger files are refused: no one writes so many settings. */
#define CONFIG_TEXT_MAX (1 << 20)

/* The text of a file, ending in a newline, with blanks for its comments; to be freed by the caller.  NULL, with a
 * message "NAME:LINE: what" logged, if the file cannot be read or has no end of a quote or comment. */
char *config_text_read(FILE *stream, const char *name);

#endif
