/* SPDX-License-Identifier: BSD-2-Clause */
/* For builds without libmnl: addresses and interfaces as they are at the start. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/rtnl.h"

const bool rtnl_follows = false;

struct rtnl {
	char unused;
};

static bool
learn_address(struct locals *locals, const struct sockaddr *address)
{
	uint8_t bytes[16] = {0};

	if (address == NULL)
		return true;
	if (address->sa_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, address, sizeof in);
		memcpy(bytes, &in.sin_addr, sizeof in.sin_addr);
		return locals_add(locals, 4, bytes);
	}
	if (address->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;

		memcpy(&in6, address, sizeof in6);
		memcpy(bytes, &in6.sin6_addr, sizeof bytes);
		return locals_add(locals, 6, bytes);
	}
	return true;
}

static bool
learn_interface(struct interfaces *interfaces, const struct ifaddrs *at)
{
	struct link_facts facts = {
	    .index = if_nametoindex(at->ifa_name),
	    .loopback = (at->ifa_flags & IFF_LOOPBACK) != 0,
	    .up = (at->ifa_flags & IFF_UP) != 0,
	};

	snprintf(facts.name, sizeof facts.name, "%s", at->ifa_name);
	return facts.index == 0 || interfaces_learn(interfaces, &facts);
}

static bool
learn_all(const struct ifaddrs *list, struct locals *locals, struct interfaces *interfaces)
{
	for (const struct ifaddrs *at = list; at != NULL; at = at->ifa_next) {
		if (!learn_address(locals, at->ifa_addr) || !learn_interface(interfaces, at))
			return false;
	}
	return true;
}

struct rtnl *
rtnl_open(struct loop *loop, struct locals *locals, struct interfaces *interfaces, struct uppers *uppers)
{
	struct rtnl *rtnl = calloc(1, sizeof *rtnl);
	struct ifaddrs *list = NULL;

	(void)loop;
	(void)uppers;
	if (rtnl == NULL || getifaddrs(&list) < 0 || !learn_all(list, locals, interfaces)) {
		log_error("cannot read the addresses of this host: %s", strerror(errno));
		free(rtnl);
		rtnl = NULL;
	}
	freeifaddrs(list);
	return rtnl;
}

void
rtnl_close(struct rtnl *rtnl)
{
	free(rtnl);
}
