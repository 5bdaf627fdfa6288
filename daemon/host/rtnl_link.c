/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/host/rtnl_link.h"

#include <libmnl/libmnl.h>
#include <net/if.h> /* before the kernel's headers, which then omit what it defines */
#include <net/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

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

/* A string of IFLA_LINKINFO: the kind of the device, or of its master. */
static const char *
rtnl_get_link_kind(const struct nlattr *info, unsigned type)
{
	const struct nlattr *attributes[IFLA_INFO_SLAVE_KIND + 1] = {NULL};

	if (info == NULL || mnl_attr_parse_nested(info, rtnl_store_linkinfo_attribute, attributes) != MNL_CB_OK ||
	    attributes[type] == NULL || mnl_attr_validate(attributes[type], MNL_TYPE_NUL_STRING) < 0)
		return "";
	return mnl_attr_get_str(attributes[type]);
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
	if (rtnl_is_aggregating_master(rtnl_get_link_kind(attributes[IFLA_LINKINFO], IFLA_INFO_SLAVE_KIND)))
		info->master = rtnl_get_u32(attributes[IFLA_MASTER]);
	/* An index from another namespace refers to another interface. */
	if (strcmp(rtnl_get_link_kind(attributes[IFLA_LINKINFO], IFLA_INFO_KIND), "vlan") == 0 &&
	    attributes[IFLA_LINK_NETNSID] == NULL)
		info->vlan_parent = rtnl_get_u32(attributes[IFLA_LINK]);
	return true;
}
