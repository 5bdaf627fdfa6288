/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies of netobsd, which are JSON, as text for people: a line of values, or a table with a row for each object. */
#ifndef NETOBS_TOOLS_REPLY_TEXT_H
#define NETOBS_TOOLS_REPLY_TEXT_H

#include <stdbool.h>

/* Sends a request and prints the reply to `command`: whether a formula is described or all are listed, `detailed` says.
 * False with a message printed on failure, and if a member is missing. */
bool reply_text_print(const char *path, const char *request, const char *command, bool detailed);

#endif
