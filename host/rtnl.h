/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses and interfaces of this namespace from rtnetlink(7): a dump at start, then every change. */
#ifndef NETOBS_HOST_RTNL_H
#define NETOBS_HOST_RTNL_H

#include <linux/netlink.h>
#include <stdbool.h>

#include "base/loop.h"
#include "host/interfaces.h"
#include "host/local_addrs.h"
#include "host/lower_dedup.h"

struct rtnl;

/* Fills the collections, which are borrowed, and updates them from the loop; `dedup` may be NULL.  NULL, with a
 * message logged, on failure. */
struct rtnl *rtnl_open(struct loop *loop, struct local_addrs *local_addrs, struct interfaces *interfaces,
		       struct lower_dedup *dedup);
void rtnl_close(struct rtnl *rtnl);

/* --- Parses interface messages of rtnetlink(7). --- */

/* False if the message does not describe a whole interface. */
bool rtnl_parse_link(const struct nlmsghdr *message, struct interface_info *info);

#endif
