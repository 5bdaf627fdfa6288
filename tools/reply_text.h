/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies of netobsd, which are JSON, as text for people: lines of values, or a table with a row for each object. */
#ifndef NETOBS_TOOLS_REPLY_TEXT_H
#define NETOBS_TOOLS_REPLY_TEXT_H

#include <stdbool.h>

/* Sends a request and prints the reply as that to `command`; "formula" describes a formula.  False with a message
 * printed on failure, and if a member is missing. */
bool reply_text_print(const char *path, const char *request, const char *command);

#endif
