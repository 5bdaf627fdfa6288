/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rtnl_tunnel.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <net/if.h> /* before the kernel's headers, which then omit what it defines */
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <string.h>

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

void
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
