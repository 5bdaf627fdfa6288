/* SPDX-License-Identifier: BSD-2-Clause */
/* What a message of rtnetlink(7) says of an interface. */
#ifndef NETOBS_DAEMON_HOST_RTNL_LINK_H
#define NETOBS_DAEMON_HOST_RTNL_LINK_H

#include <linux/netlink.h>
#include <stdbool.h>

#include "daemon/host/interfaces.h"

/* False if it does not describe an interface as a whole. */
bool rtnl_read_link(const struct nlmsghdr *message, struct link_facts *facts);

#endif
