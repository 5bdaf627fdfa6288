/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says about this namespace's addresses and interfaces (rtnetlink(7)): all of it at the start, then
 * every change.  absent_rtnl.c is the same for builds without libmnl: the start only. */
#ifndef NETOBS_DAEMON_RTNL_H
#define NETOBS_DAEMON_RTNL_H

#include "daemon/interfaces.h"
#include "daemon/locals.h"
#include "daemon/loop.h"
#include "daemon/uppers.h"

struct rtnl;

/* Whether changes are followed, for --version. */
extern const bool rtnl_follows;

/* Fills the collections, which are borrowed, and keeps them up to date from the loop; `uppers` may be NULL.  NULL, with
 * a message logged, if that cannot be done. */
struct rtnl *rtnl_open(struct loop *loop, struct locals *locals, struct interfaces *interfaces, struct uppers *uppers);
void rtnl_close(struct rtnl *rtnl);

#endif
