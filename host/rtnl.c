/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dumps and events use one socket, so that the kernel orders them.  Known addresses are kept in a list of (interface,
 * address).  A dump marks the entries that it finds, and the unmarked ones are removed afterwards, so the set of local
 * addresses is never empty in between.
 */
#include "host/rtnl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/log.h"
#include "base/log_debug.h"
#include "host/rtnl_link.h"

/* Dumps, in the order in which they are requested. */
enum rtnl_dump {
	DUMP_LINKS,
	DUMP_ADDRESSES,
	DUMP_NONE,
};

struct rtnl_address {
	uint32_t ifindex;
	uint8_t version;
	uint8_t addr[16];
	bool seen; /* found by the dump in progress */
};

struct rtnl_link {
	uint32_t ifindex;
	bool seen;
};

struct rtnl {
	struct local_addrs *local_addrs;
	struct interfaces *interfaces;
	struct lower_dedup *lower_dedup;
	struct mnl_socket *socket;
	struct watch *watch;
	enum rtnl_dump dump;  /* the dump in progress */
	uint32_t sequence;    /* sequence number of its request */
	bool failed;	      /* the kernel refused a dump */
	bool restart_pending; /* events were lost or tables changed: start over after this dump */
	struct rtnl_address *addresses;
	size_t address_count, address_capacity;
	struct rtnl_link *links;
	size_t link_count, link_capacity;
};

/* ------------------------------------------------------------------------------------------------- addresses */

static struct rtnl_address *
rtnl_find_address(struct rtnl *rtnl, const struct rtnl_address *wanted)
{
	for (size_t i = 0; i < rtnl->address_count; i++) {
		struct rtnl_address *known = &rtnl->addresses[i];

		if (known->ifindex == wanted->ifindex && known->version == wanted->version &&
		    memcmp(known->addr, wanted->addr, sizeof known->addr) == 0)
			return known;
	}
	return NULL;
}

static void
rtnl_debug_address(const struct rtnl_address *address, const char *change)
{
	char text[INET6_ADDRSTRLEN];

	if (!log_debug_is_on(DEBUG_HOST))
		return;
	inet_ntop(address->version == 6 ? AF_INET6 : AF_INET, address->addr, text, sizeof text);
	log_debug(DEBUG_HOST, "address %s of interface %u %s", text, (unsigned)address->ifindex, change);
}

/* The kernel announces an address again when its lifetime changes. */
static void
rtnl_add_address(struct rtnl *rtnl, const struct rtnl_address *address)
{
	struct rtnl_address *known = rtnl_find_address(rtnl, address);
	void *array = rtnl->addresses;

	if (known != NULL) {
		known->seen = true;
		return;
	}
	if (!array_reserve_one(&array, rtnl->address_count, &rtnl->address_capacity, sizeof *address)) {
		log_warning("out of memory: cannot track an address of this host");
		return;
	}
	rtnl->addresses = array;
	if (!local_addrs_add(rtnl->local_addrs, address->version, address->addr) ||
	    !lower_dedup_add_address(rtnl->lower_dedup, address->ifindex, address->version, address->addr)) {
		log_warning("out of memory: cannot track an address of this host");
		return;
	}
	rtnl->addresses[rtnl->address_count] = *address;
	rtnl->addresses[rtnl->address_count++].seen = true;
	rtnl_debug_address(address, "is local now");
}

static void
rtnl_remove_address(struct rtnl *rtnl, struct rtnl_address *known)
{
	rtnl_debug_address(known, "was removed");
	local_addrs_remove(rtnl->local_addrs, known->version, known->addr);
	lower_dedup_remove_address(rtnl->lower_dedup, known->ifindex, known->version, known->addr);
	*known = rtnl->addresses[--rtnl->address_count];
}

/* Collects the attributes of a message by type. */
static int
rtnl_store_address_attribute(const struct nlattr *attribute, void *context)
{
	const struct nlattr **table = context;

	if (mnl_attr_get_type(attribute) <= IFA_LOCAL)
		table[mnl_attr_get_type(attribute)] = attribute;
	return MNL_CB_OK;
}

static bool
rtnl_parse_address(const struct nlmsghdr *message, struct rtnl_address *address)
{
	const struct nlattr *attributes[IFA_LOCAL + 1] = {NULL}, *value;
	const struct ifaddrmsg *header = mnl_nlmsg_get_payload(message);
	size_t length;

	if (mnl_nlmsg_get_payload_len(message) < sizeof *header ||
	    mnl_attr_parse(message, sizeof *header, rtnl_store_address_attribute, attributes) != MNL_CB_OK)
		return false;
	if (header->ifa_family != AF_INET && header->ifa_family != AF_INET6)
		return false;
	/* On a point-to-point link IFA_ADDRESS is the peer's address. */
	value = attributes[IFA_LOCAL] != NULL ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS];
	length = header->ifa_family == AF_INET ? 4 : 16;
	if (value == NULL || mnl_attr_get_payload_len(value) != length)
		return false;
	*address =
	    (struct rtnl_address){.ifindex = header->ifa_index, .version = header->ifa_family == AF_INET ? 4 : 6};
	memcpy(address->addr, mnl_attr_get_payload(value), length);
	return true;
}

static void
rtnl_handle_address(struct rtnl *rtnl, const struct nlmsghdr *message)
{
	struct rtnl_address address, *known;

	if (!rtnl_parse_address(message, &address))
		return;
	if (message->nlmsg_type == RTM_NEWADDR)
		rtnl_add_address(rtnl, &address);
	else if ((known = rtnl_find_address(rtnl, &address)) != NULL)
		rtnl_remove_address(rtnl, known);
}

/* ------------------------------------------------------------------------------------------------ interfaces */

static struct rtnl_link *
rtnl_find_link(struct rtnl *rtnl, uint32_t ifindex)
{
	for (size_t i = 0; i < rtnl->link_count; i++)
		if (rtnl->links[i].ifindex == ifindex)
			return &rtnl->links[i];
	return NULL;
}

static void
rtnl_add_link(struct rtnl *rtnl, const struct interface_info *info)
{
	struct rtnl_link *known = rtnl_find_link(rtnl, info->ifindex);
	void *array = rtnl->links;

	if (!interfaces_update(rtnl->interfaces, info))
		return;
	if (known != NULL) {
		known->seen = true;
		return;
	}
	log_debug(DEBUG_HOST, "interface %u is %s, MTU %u, %s", (unsigned)info->ifindex, info->name,
		  (unsigned)info->mtu, info->up ? "up" : "down");
	if (!array_reserve_one(&array, rtnl->link_count, &rtnl->link_capacity, sizeof *known)) {
		log_warning("out of memory: cannot track an interface of this host");
		return;
	}
	rtnl->links = array;
	rtnl->links[rtnl->link_count++] = (struct rtnl_link){.ifindex = info->ifindex, .seen = true};
}

static void
rtnl_remove_link(struct rtnl *rtnl, struct rtnl_link *known)
{
	log_debug(DEBUG_HOST, "interface %u was removed", (unsigned)known->ifindex);
	interfaces_remove(rtnl->interfaces, known->ifindex);
	*known = rtnl->links[--rtnl->link_count];
}

static void
rtnl_handle_link(struct rtnl *rtnl, const struct nlmsghdr *message)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	struct interface_info info;
	struct rtnl_link *known;

	if (mnl_nlmsg_get_payload_len(message) < sizeof *header || header->ifi_family == AF_BRIDGE)
		return;
	if (message->nlmsg_type == RTM_DELLINK) {
		known = rtnl_find_link(rtnl, (uint32_t)header->ifi_index);
		if (known != NULL)
			rtnl_remove_link(rtnl, known);
		return;
	}
	if (rtnl_parse_link(message, &info))
		rtnl_add_link(rtnl, &info);
}

/* ----------------------------------------------------------------------------------------------------- dumps */

static bool
rtnl_request_dump(struct rtnl *rtnl, enum rtnl_dump dump)
{
	char buffer[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct rtgenmsg *family;

	message->nlmsg_type = dump == DUMP_LINKS ? RTM_GETLINK : RTM_GETADDR;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = ++rtnl->sequence;
	family = mnl_nlmsg_put_extra_header(message, sizeof(struct ifinfomsg));
	family->rtgen_family = AF_UNSPEC;
	rtnl->dump = dump;
	/* Without an address, which means the kernel; the system-call filter refuses addresses. */
	return send(mnl_socket_get_fd(rtnl->socket), message, message->nlmsg_len, 0) >= 0;
}

/* Starts to read everything again; entries stay until both dumps are complete and do not contain them. */
static bool
rtnl_restart_dump(struct rtnl *rtnl)
{
	for (size_t i = 0; i < rtnl->address_count; i++)
		rtnl->addresses[i].seen = false;
	for (size_t i = 0; i < rtnl->link_count; i++)
		rtnl->links[i].seen = false;
	rtnl->restart_pending = false;
	return rtnl_request_dump(rtnl, DUMP_LINKS);
}

static void
rtnl_sweep_unseen(struct rtnl *rtnl)
{
	for (size_t i = rtnl->address_count; i-- > 0;)
		if (!rtnl->addresses[i].seen)
			rtnl_remove_address(rtnl, &rtnl->addresses[i]);
	for (size_t i = rtnl->link_count; i-- > 0;)
		if (!rtnl->links[i].seen)
			rtnl_remove_link(rtnl, &rtnl->links[i]);
}

/* A dump is complete: starts the next one, or removes what none of them found. */
static void
rtnl_finish_dump(struct rtnl *rtnl)
{
	bool sent = true;

	if (rtnl->dump == DUMP_LINKS) {
		sent = rtnl_request_dump(rtnl, DUMP_ADDRESSES);
	} else if (rtnl->restart_pending) {
		sent = rtnl_restart_dump(rtnl);
	} else {
		rtnl->dump = DUMP_NONE;
		rtnl_sweep_unseen(rtnl);
		log_debug(DEBUG_HOST, "read from the kernel: %zu interfaces, %zu addresses", rtnl->link_count,
			  rtnl->address_count);
	}
	if (!sent) {
		log_warning("cannot query the kernel for this host's addresses: %s", strerror(errno));
		rtnl->dump = DUMP_NONE;
	}
}

/* After a failed dump nothing is removed: present entries may still be right. */
static void
rtnl_fail_dump(struct rtnl *rtnl, const struct nlmsghdr *message)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);

	errno = mnl_nlmsg_get_payload_len(message) >= sizeof *error ? -error->error : EPROTO;
	log_warning("cannot read the addresses of this host: %s", strerror(errno));
	rtnl->dump = DUMP_NONE;
	rtnl->failed = true;
}

static void
rtnl_handle_message(struct rtnl *rtnl, const struct nlmsghdr *message)
{
	bool of_dump = rtnl->dump != DUMP_NONE && message->nlmsg_seq == rtnl->sequence;

	/* The kernel reports that the tables changed during the dump, so it may be incomplete. */
	if (of_dump && (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
		rtnl->restart_pending = true;
	switch (message->nlmsg_type) {
	case RTM_NEWADDR:
	case RTM_DELADDR:
		rtnl_handle_address(rtnl, message);
		break;
	case RTM_NEWLINK:
	case RTM_DELLINK:
		rtnl_handle_link(rtnl, message);
		break;
	case NLMSG_DONE:
		if (of_dump)
			rtnl_finish_dump(rtnl);
		break;
	case NLMSG_ERROR:
		if (of_dump)
			rtnl_fail_dump(rtnl, message);
		break;
	default:
		break;
	}
}

/* Reads one datagram.  False if there is none, or on an error of the socket. */
static bool
rtnl_receive_datagram(struct rtnl *rtnl)
{
	_Alignas(struct nlmsghdr) char buffer[32768]; /* the kernel's limit for one datagram */
	ssize_t got = mnl_socket_recvfrom(rtnl->socket, buffer, sizeof buffer);
	const struct nlmsghdr *message = (const struct nlmsghdr *)(const void *)buffer;
	int left = (int)got;

	if (got < 0 && errno == ENOBUFS) {
		/* Events were lost; dumps never are.  Start over later: the kernel refuses a second dump while one is
		 * in progress. */
		log_debug(DEBUG_HOST, "the kernel lost changes of addresses: all are read again");
		rtnl->restart_pending = true;
		if (rtnl->dump == DUMP_NONE && !rtnl_restart_dump(rtnl))
			log_warning("cannot query the kernel for this host's addresses: %s", strerror(errno));
		return true;
	}
	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0)
		return false;
	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		rtnl_handle_message(rtnl, message);
	return true;
}

static void
rtnl_on_readable(void *context)
{
	struct rtnl *rtnl = context;

	/* Bounded, because the loop serves others too. */
	for (unsigned i = 0; i < 64 && rtnl_receive_datagram(rtnl); i++)
		;
	interfaces_notify(rtnl->interfaces);
}

/* Waits for the first dump, so that addresses are known before the first frame.  The kernel generates a dump while
 * it is read, so that no read has to wait. */
static bool
rtnl_run_first_dump(struct rtnl *rtnl)
{
	if (!rtnl_restart_dump(rtnl))
		return false;
	while (rtnl->dump != DUMP_NONE)
		if (!rtnl_receive_datagram(rtnl))
			return false;
	return !rtnl->failed;
}

struct rtnl *
rtnl_open(struct loop *loop, struct local_addrs *local_addrs, struct interfaces *interfaces, struct lower_dedup *dedup)
{
	struct rtnl *rtnl = calloc(1, sizeof *rtnl);

	if (rtnl == NULL) {
		log_error("out of memory");
		return NULL;
	}
	rtnl->local_addrs = local_addrs;
	rtnl->interfaces = interfaces;
	rtnl->lower_dedup = dedup;
	rtnl->sequence = (uint32_t)time(NULL);
	rtnl->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (rtnl->socket == NULL ||
	    mnl_socket_bind(rtnl->socket, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR, MNL_SOCKET_AUTOPID) <
		0 ||
	    !rtnl_run_first_dump(rtnl)) {
		log_error("cannot read the addresses of this host: %s", strerror(errno));
		rtnl_close(rtnl);
		return NULL;
	}
	rtnl->watch = loop_watch_readable(loop, mnl_socket_get_fd(rtnl->socket), rtnl_on_readable, rtnl);
	if (rtnl->watch == NULL) {
		log_error("cannot watch the addresses of this host for changes");
		rtnl_close(rtnl);
		return NULL;
	}
	return rtnl;
}

void
rtnl_close(struct rtnl *rtnl)
{
	if (rtnl == NULL)
		return;
	watch_free(rtnl->watch);
	if (rtnl->socket != NULL)
		mnl_socket_close(rtnl->socket);
	free(rtnl->addresses);
	free(rtnl->links);
	free(rtnl);
}
