/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the description of a tunnel device in an interface message of rtnetlink(7). */
#ifndef NETOBS_HOST_RTNL_TUNNEL_H
#define NETOBS_HOST_RTNL_TUNNEL_H

#include <linux/netlink.h>

#include "host/tunnel_device.h"

/* `kind` and `data` are IFLA_INFO_KIND and IFLA_INFO_DATA; `data` may be NULL.  `device` is zero except for a tunnel
 * whose packets netobs dissects. */
void rtnl_parse_tunnel(const char *kind, const struct nlattr *data, struct tunnel_device *device);

#endif
