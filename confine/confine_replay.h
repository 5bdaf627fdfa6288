/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that reads open capture files and writes to open files only. */
#ifndef NETOBS_CONFINE_CONFINE_REPLAY_H
#define NETOBS_CONFINE_CONFINE_REPLAY_H

#include <stdbool.h>

#include "config/config.h"
#include "confine/privileges.h"

/* Gives up everything else, in this thread and in the reader threads that it creates later, the only ones of a
 * replay; `config` must outlive them.  Call it when everything is open.  `between`, unless it is NULL, is called when
 * privileges are dropped, and may still make any call: a change of the user withdraws a request for a signal at the end
 * of the parent.  False if it fails, or on another failure; nothing must be parsed then. */
bool confine_replay(const struct config *config, const struct privileges *privileges, bool (*between)(void *context),
		    void *context);

#endif
