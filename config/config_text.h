/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepares a configuration file for libconfuse, so that its line numbers are right and its scanner never sees input for
 * which it has no rule.
 */
#ifndef NETOBS_CONFIG_CONFIG_TEXT_H
#define NETOBS_CONFIG_CONFIG_TEXT_H

#include <stdio.h>

/* Larger files are refused: no sensible configuration is that long. */
#define CONFIG_TEXT_MAX (1 << 20)

/* Returns the text of a file with a newline at the end and comments blanked; the caller frees it.  NULL, with a message
 * "NAME:LINE: what" logged, if the file cannot be read or a quote or comment is not closed. */
char *config_text_read(FILE *stream, const char *name);

#endif
