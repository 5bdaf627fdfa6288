/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: netobsctl(8) asks one line (request.h), gets "ok" or "error WHY" on a line, then the answer, and
 * the connection ends. */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_H
#define NETOBS_DAEMON_QUERY_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/base/loop.h"
#include "daemon/config/config.h"
#include "daemon/stats/stats.h"

struct control;

/* Makes the socket that the configuration names, for a process that will be run by `uid`; to be called while there are
 * privileges.  NULL, with a message logged, if that cannot be done. */
struct control *control_open(const struct config *config, uid_t uid);

/* Begins to answer from `insight`, which is borrowed.  False, with a message logged, if memory cannot be had. */
bool control_serve(struct control *control, struct loop *loop, struct insight *insight);

/* The file of the socket stays, as removing it takes rights that are gone; the next netobsd replaces it. */
void control_free(struct control *control);

#endif
