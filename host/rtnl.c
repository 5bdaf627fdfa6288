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
#include <net/if.h> /* before the kernel's headers, which then omit what it defines */
#include <net/if_arp.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/log.h"

enum { ATTRIBUTES = 64 }; /* of every kind below */

_Static_assert(IFLA_GRE_MAX < ATTRIBUTES && IFLA_IPTUN_MAX < ATTRIBUTES && IFLA_VXLAN_MAX < ATTRIBUTES &&
		   IFLA_GENEVE_MAX < ATTRIBUTES,
	       "the table has an entry for each attribute");

static int
rtnl_store_tunnel_attribute(const struct nlattr *attribute, void *context)
{
	const struct nlattr **table = context;

	if (mnl_attr_get_type(attribute) < ATTRIBUTES)
		table[mnl_attr_get_type(attribute)] = attribute;
	return MNL_CB_OK;
}

/* Copies the address of an attribute, whose length depends on its IP version; absent: zero, which is any address. */
static void
rtnl_copy_tunnel_address(const struct nlattr *attribute, uint8_t addr[16])
{
	if (attribute != NULL && mnl_attr_get_payload_len(attribute) <= 16)
		memcpy(addr, mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));
}

static uint32_t
rtnl_get_tunnel_u32(const struct nlattr *attribute)
{
	return attribute != NULL && mnl_attr_get_payload_len(attribute) == sizeof(uint32_t)
		   ? mnl_attr_get_u32(attribute)
		   : 0;
}

static uint16_t
rtnl_get_tunnel_port(const struct nlattr *attribute)
{
	return attribute != NULL && mnl_attr_get_payload_len(attribute) == sizeof(uint16_t)
		   ? ntohs(mnl_attr_get_u16(attribute))
		   : 0;
}

/* A flag is an empty attribute, or for VXLAN a byte. */
static bool
rtnl_get_tunnel_flag(const struct nlattr *attribute)
{
	return attribute != NULL &&
	       (mnl_attr_get_payload_len(attribute) != sizeof(uint8_t) || mnl_attr_get_u8(attribute) != 0);
}

/* Keys are in network order.  A device without a key is reported with key 0. */
static void
rtnl_parse_gre(const struct nlattr *const table[], struct tunnel_device *device)
{
	device->protocol = IPPROTO_GRE;
	device->id_in = ntohl(rtnl_get_tunnel_u32(table[IFLA_GRE_IKEY]));
	device->id_out = ntohl(rtnl_get_tunnel_u32(table[IFLA_GRE_OKEY]));
	device->every_id = rtnl_get_tunnel_flag(table[IFLA_GRE_COLLECT_METADATA]);
	rtnl_copy_tunnel_address(table[IFLA_GRE_LOCAL], device->local);
	rtnl_copy_tunnel_address(table[IFLA_GRE_REMOTE], device->remote);
}

/* IP in IP needs no id.  The attribute of the protocol is a byte; the kernel omits it for kinds with one protocol. */
static void
rtnl_parse_ip_in_ip(const struct nlattr *const table[], struct tunnel_device *device)
{
	const struct nlattr *protocol = table[IFLA_IPTUN_PROTO];

	if (protocol != NULL && mnl_attr_get_payload_len(protocol) == sizeof(uint8_t))
		device->protocol = mnl_attr_get_u8(protocol);
	device->every_id = true;
	rtnl_copy_tunnel_address(table[IFLA_IPTUN_LOCAL], device->local);
	rtnl_copy_tunnel_address(table[IFLA_IPTUN_REMOTE], device->remote);
}

/* The remote address of a VXLAN device is only the default destination: others are learned or configured. */
static void
rtnl_parse_vxlan(const struct nlattr *const table[], struct tunnel_device *device)
{
	bool version_6 = table[IFLA_VXLAN_LOCAL6] != NULL || table[IFLA_VXLAN_GROUP6] != NULL;

	device->protocol = IPPROTO_UDP;
	device->port = rtnl_get_tunnel_port(table[IFLA_VXLAN_PORT]);
	device->id_in = device->id_out = rtnl_get_tunnel_u32(table[IFLA_VXLAN_ID]);
	device->every_id = rtnl_get_tunnel_flag(table[IFLA_VXLAN_COLLECT_METADATA]);
	device->version = device->every_id ? 0 : version_6 ? 6 : 4;
	rtnl_copy_tunnel_address(table[version_6 ? IFLA_VXLAN_LOCAL6 : IFLA_VXLAN_LOCAL], device->local);
}

static void
rtnl_parse_geneve(const struct nlattr *const table[], struct tunnel_device *device)
{
	bool version_6 = table[IFLA_GENEVE_REMOTE6] != NULL;

	device->protocol = IPPROTO_UDP;
	device->port = rtnl_get_tunnel_port(table[IFLA_GENEVE_PORT]);
	device->id_in = device->id_out = rtnl_get_tunnel_u32(table[IFLA_GENEVE_ID]);
	device->every_id = rtnl_get_tunnel_flag(table[IFLA_GENEVE_COLLECT_METADATA]);
	device->version = device->every_id ? 0 : version_6 ? 6 : 4;
	if (rtnl_get_tunnel_flag(table[IFLA_GENEVE_INNER_PROTO_INHERIT]))
		device->inner = INNER_IP;
	rtnl_copy_tunnel_address(table[version_6 ? IFLA_GENEVE_REMOTE6 : IFLA_GENEVE_REMOTE], device->remote);
}

/* Kinds of devices whose packets dissect/ recognises as a tunnel. */
static const struct {
	const char *kind;
	void (*parse)(const struct nlattr *const table[], struct tunnel_device *device);
	struct tunnel_device device; /* before the attributes are parsed */
} kinds[] = {
    {"gre", rtnl_parse_gre, {.inner = INNER_IP, .version = 4}},
    {"gretap", rtnl_parse_gre, {.inner = INNER_ETHERNET, .version = 4}},
    {"ip6gre", rtnl_parse_gre, {.inner = INNER_IP, .version = 6}},
    {"ip6gretap", rtnl_parse_gre, {.inner = INNER_ETHERNET, .version = 6}},
    {"ipip", rtnl_parse_ip_in_ip, {.inner = INNER_IP, .version = 4, .protocol = IPPROTO_IPIP}},
    {"sit", rtnl_parse_ip_in_ip, {.inner = INNER_IP, .version = 4, .protocol = IPPROTO_IPV6}},
    {"ip6tnl", rtnl_parse_ip_in_ip, {.inner = INNER_IP, .version = 6, .protocol = IPPROTO_IPV6}},
    {"vxlan", rtnl_parse_vxlan, {.inner = INNER_ETHERNET}},
    {"geneve", rtnl_parse_geneve, {.inner = INNER_ETHERNET}},
};

/* `kind` and `data` are IFLA_INFO_KIND and IFLA_INFO_DATA; `data` may be NULL.  `device` is zero except for a tunnel
 * whose packets netobs dissects. */
static void
rtnl_parse_tunnel(const char *kind, const struct nlattr *data, struct tunnel_device *device)
{
	const struct nlattr *table[ATTRIBUTES] = {NULL};

	*device = (struct tunnel_device){.inner = INNER_NONE};
	if (data == NULL || mnl_attr_parse_nested(data, rtnl_store_tunnel_attribute, table) != MNL_CB_OK)
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kind, kinds[i].kind) == 0) {
			*device = kinds[i].device;
			kinds[i].parse(table, device);
			return;
		}
}

/* Collects the attributes of a message by type. */
static int
rtnl_store_link_attribute(const struct nlattr *attribute, void *context)
{
	const struct nlattr **table = context;

	if (mnl_attr_get_type(attribute) <= IFLA_LINK_NETNSID)
		table[mnl_attr_get_type(attribute)] = attribute;
	return MNL_CB_OK;
}

static uint32_t
rtnl_get_u32(const struct nlattr *attribute)
{
	if (attribute == NULL || mnl_attr_get_payload_len(attribute) < sizeof(uint32_t))
		return 0;
	return mnl_attr_get_u32(attribute);
}

/* Collects the attributes inside IFLA_LINKINFO by type. */
static int
rtnl_store_linkinfo_attribute(const struct nlattr *attribute, void *context)
{
	const struct nlattr **table = context;

	if (mnl_attr_get_type(attribute) <= IFLA_INFO_SLAVE_KIND)
		table[mnl_attr_get_type(attribute)] = attribute;
	return MNL_CB_OK;
}

/* An attribute inside IFLA_LINKINFO; NULL if it is absent. */
static const struct nlattr *
rtnl_get_linkinfo(const struct nlattr *info, unsigned type)
{
	const struct nlattr *attributes[IFLA_INFO_SLAVE_KIND + 1] = {NULL};

	if (info == NULL || mnl_attr_parse_nested(info, rtnl_store_linkinfo_attribute, attributes) != MNL_CB_OK)
		return NULL;
	return attributes[type];
}

/* A string of IFLA_LINKINFO: the kind of the device, or of its master. */
static const char *
rtnl_get_link_kind(const struct nlattr *info, unsigned type)
{
	const struct nlattr *kind = rtnl_get_linkinfo(info, type);

	return kind != NULL && mnl_attr_validate(kind, MNL_TYPE_NUL_STRING) >= 0 ? mnl_attr_get_str(kind) : "";
}

/* Kinds whose frames pass through another interface, IFLA_LINK. */
static bool
rtnl_is_carried_kind(const char *kind)
{
	return strcmp(kind, "vlan") == 0 || strcmp(kind, "macvlan") == 0 || strcmp(kind, "ipvlan") == 0;
}

static int
rtnl_store_ipvlan_mode(const struct nlattr *attribute, void *context)
{
	uint16_t *mode = context;

	if (mnl_attr_get_type(attribute) == IFLA_IPVLAN_MODE && mnl_attr_get_payload_len(attribute) == sizeof *mode)
		*mode = mnl_attr_get_u16(attribute);
	return MNL_CB_OK;
}

static void
rtnl_parse_link_kind(const struct nlattr *linkinfo, struct interface_info *info)
{
	const char *kind = rtnl_get_link_kind(linkinfo, IFLA_INFO_KIND);
	const struct nlattr *data = rtnl_get_linkinfo(linkinfo, IFLA_INFO_DATA);
	uint16_t mode = IPVLAN_MODE_L2;

	if (strcmp(kind, "ipvlan") == 0 && data != NULL)
		mnl_attr_parse_nested(data, rtnl_store_ipvlan_mode, &mode);
	info->sends_only = mode == IPVLAN_MODE_L3S;
	info->redirects = strcmp(kind, "ifb") == 0;
	rtnl_parse_tunnel(kind, data, &info->tunnel);
}

/* Whether a master receives the frames of its ports.  A VRF, for instance, does not. */
static bool
rtnl_is_aggregating_master(const char *master)
{
	return strcmp(master, "bridge") == 0 || strcmp(master, "bond") == 0 || strcmp(master, "team") == 0;
}

bool
rtnl_parse_link(const struct nlmsghdr *message, struct interface_info *info)
{
	const struct nlattr *attributes[IFLA_LINK_NETNSID + 1] = {NULL}, *name, *mac;
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);

	if (mnl_attr_parse(message, sizeof *header, rtnl_store_link_attribute, attributes) != MNL_CB_OK)
		return false;
	name = attributes[IFLA_IFNAME];
	mac = attributes[IFLA_ADDRESS];
	/* A wireless event has this message type too, with little more than a name. */
	if (name == NULL || mnl_attr_validate(name, MNL_TYPE_NUL_STRING) < 0 || attributes[IFLA_MTU] == NULL)
		return false;
	*info = (struct interface_info){
	    .ifindex = (uint32_t)header->ifi_index,
	    .loopback = (header->ifi_flags & IFF_LOOPBACK) != 0,
	    .up = (header->ifi_flags & IFF_UP) != 0,
	    .mtu = rtnl_get_u32(attributes[IFLA_MTU]),
	};
	snprintf(info->name, sizeof info->name, "%s", mnl_attr_get_str(name));
	if (header->ifi_type == ARPHRD_ETHER && mac != NULL &&
	    mnl_attr_get_payload_len(mac) == sizeof info->mac) {
		memcpy(info->mac, mnl_attr_get_payload(mac), sizeof info->mac);
		info->has_mac = true;
	}
	rtnl_parse_link_kind(attributes[IFLA_LINKINFO], info);
	info->ppp = header->ifi_type == ARPHRD_PPP;
	if (rtnl_is_aggregating_master(rtnl_get_link_kind(attributes[IFLA_LINKINFO], IFLA_INFO_SLAVE_KIND)))
		info->master = rtnl_get_u32(attributes[IFLA_MASTER]);
	/* An index from another namespace refers to another interface. */
	if (rtnl_is_carried_kind(rtnl_get_link_kind(attributes[IFLA_LINKINFO], IFLA_INFO_KIND)) &&
	    attributes[IFLA_LINK_NETNSID] == NULL)
		info->carrier = rtnl_get_u32(attributes[IFLA_LINK]);
	return true;
}

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

/* A dump is complete: starts the next one, or removes what no dump found. */
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
		log_out_of_memory();
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
