/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes settings in the syntax of netobs.conf(5). */
#ifndef NETOBS_CONFIG_CONFIG_PRINT_H
#define NETOBS_CONFIG_CONFIG_PRINT_H

#include <stdio.h>

#include "config/options.h"

/* Writes one line for each setting that may appear in the file; a setting without a value becomes a comment.  Parsing
 * the text gives the same settings. */
void config_print(FILE *to, const struct config *config);

/* Writes "name = value" without a newline; false, with nothing written, if the row has no value. */
bool config_print_row(FILE *to, const struct option_row *row, const struct config *config);

#endif
