/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rtnl_link.h"

#include <libmnl/libmnl.h>
#include <net/if.h> /* before the kernel's headers, which then omit what it defines */
#include <net/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "host/rtnl_tunnel.h"

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
