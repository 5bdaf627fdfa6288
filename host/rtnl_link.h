/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses interface messages of rtnetlink(7). */
#ifndef NETOBS_HOST_RTNL_LINK_H
#define NETOBS_HOST_RTNL_LINK_H

#include <linux/netlink.h>
#include <stdbool.h>

#include "host/interfaces.h"

/* False if the message does not describe a whole interface. */
bool rtnl_parse_link(const struct nlmsghdr *message, struct interface_info *info);

#endif
