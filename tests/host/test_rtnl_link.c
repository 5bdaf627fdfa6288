/* SPDX-License-Identifier: BSD-2-Clause */
/* Interface messages as Linux 6.1 sends them, and the packets that a tunnel device delivers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/rtnetlink.h>

#include "host/rtnl.h"

enum { GRE = 47, IPV4 = 4, IPV6 = 41, UDP = 17 };

static const uint8_t here_4[4] = {192, 0, 2, 1}, there_4[4] = {192, 0, 2, 2};
static const uint8_t here_6[16] = {0x20, 1, [15] = 1}, there_6[16] = {0x20, 1, [15] = 2};

static _Alignas(struct nlmsghdr) char buffer[4096];
static struct nlmsghdr *message;
static struct nlattr *linkinfo, *data;

/* Begins a message about interface 7, which is up, of this kind, on interface 3 of its or of another namespace. */
static void
begin_link_on(const char *kind, uint16_t hardware, bool other_namespace)
{
	struct ifinfomsg *header;

	memset(buffer, 0, sizeof buffer);
	message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_NEWLINK;
	header = mnl_nlmsg_put_extra_header(message, sizeof *header);
	*header = (struct ifinfomsg){.ifi_index = 7, .ifi_type = hardware, .ifi_flags = IFF_UP};
	mnl_attr_put_strz(message, IFLA_IFNAME, "if7");
	mnl_attr_put_u32(message, IFLA_MTU, 1400);
	mnl_attr_put_u32(message, IFLA_LINK, 3);
	if (other_namespace)
		mnl_attr_put_u32(message, IFLA_LINK_NETNSID, 0);
	linkinfo = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, kind);
	data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
}

static void
begin_link(const char *kind, uint16_t hardware)
{
	begin_link_on(kind, hardware, false);
}

static struct interface_info
end_link(void)
{
	struct interface_info info;

	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, linkinfo);
	assert_true(rtnl_parse_link(message, &info));
	assert_string_equal(info.name, "if7");
	assert_true(info.up);
	return info;
}

/* An outer packet from this host to the other end of the tunnel, or back. */
static struct packet
outer_packet(uint8_t version, uint8_t protocol, enum inner_layer inner, uint32_t id, bool sent)
{
	struct packet p;
	size_t length = version == 4 ? 4 : 16;

	memset(&p, 0, sizeof p);
	p.direction = sent ? DIRECTION_OUT : DIRECTION_IN;
	p.network = version == 4 ? NETWORK_IPV4 : NETWORK_IPV6;
	p.ip.version = version;
	p.ip.protocol = protocol;
	p.inner = inner;
	p.inner_id = id;
	memcpy(sent ? p.ip.src : p.ip.dst, version == 4 ? here_4 : here_6, length);
	memcpy(sent ? p.ip.dst : p.ip.src, version == 4 ? there_4 : there_6, length);
	return p;
}

static bool
delivers(const struct tunnel_device *device, uint8_t version, uint8_t protocol, enum inner_layer inner, uint32_t id)
{
	struct packet in = outer_packet(version, protocol, inner, id, false);
	struct packet out = outer_packet(version, protocol, inner, id, true);

	assert_int_equal(tunnel_device_matches(device, &in), tunnel_device_matches(device, &out));
	return tunnel_device_matches(device, &in);
}

static bool
delivers_udp(const struct tunnel_device *device, uint8_t version, uint16_t port, uint32_t id)
{
	struct packet p = outer_packet(version, UDP, INNER_ETHERNET, id, false);

	p.transport = TRANSPORT_UDP;
	p.udp.dport = port;
	return tunnel_device_matches(device, &p);
}

static void
test_carried_kinds(void **state)
{
	static const char *const kinds[] = {"vlan", "macvlan", "ipvlan", "veth", "gre", "macvtap"};

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		begin_link(kinds[i], ARPHRD_ETHER);
		assert_int_equal(end_link().carrier, i < 3 ? 3 : 0);
		begin_link_on(kinds[i], ARPHRD_ETHER, true);
		assert_int_equal(end_link().carrier, 0);
	}
}

static void
test_ipvlan_modes(void **state)
{
	(void)state;
	for (uint16_t mode = IPVLAN_MODE_L2; mode <= IPVLAN_MODE_L3S; mode++) {
		begin_link("ipvlan", ARPHRD_ETHER);
		mnl_attr_put_u16(message, IFLA_IPVLAN_MODE, mode);
		assert_int_equal(end_link().sends_only, mode == IPVLAN_MODE_L3S);
	}
}

static void
test_ifb_and_ppp(void **state)
{
	struct interface_info info;

	(void)state;
	begin_link("ifb", ARPHRD_ETHER);
	info = end_link();
	assert_true(info.redirects && !info.ppp);
	begin_link("ppp", ARPHRD_PPP);
	info = end_link();
	assert_true(!info.redirects && info.ppp);
}

static void
test_gre(void **state)
{
	struct tunnel_device device;

	(void)state;
	begin_link("gre", ARPHRD_IPGRE);
	mnl_attr_put(message, IFLA_GRE_LOCAL, 4, here_4);
	mnl_attr_put(message, IFLA_GRE_REMOTE, 4, there_4);
	mnl_attr_put_u32(message, IFLA_GRE_IKEY, htonl(9));
	mnl_attr_put_u32(message, IFLA_GRE_OKEY, htonl(9));
	device = end_link().tunnel;
	assert_true(delivers(&device, 4, GRE, INNER_IP, 9));
	assert_false(delivers(&device, 4, GRE, INNER_IP, 0));
	assert_false(delivers(&device, 4, GRE, INNER_ETHERNET, 9));
	assert_false(delivers(&device, 6, GRE, INNER_IP, 9));
	assert_false(delivers(&device, 4, IPV4, INNER_IP, 9));
	device.remote[3] = 3;
	assert_false(delivers(&device, 4, GRE, INNER_IP, 9));
	memset(device.remote, 0, sizeof device.remote);
	assert_true(delivers(&device, 4, GRE, INNER_IP, 9));
	device.local[3] = 3;
	assert_false(delivers(&device, 4, GRE, INNER_IP, 9));
	begin_link("ip6gretap", ARPHRD_ETHER);
	mnl_attr_put(message, IFLA_GRE_LOCAL, 16, here_6);
	mnl_attr_put(message, IFLA_GRE_REMOTE, 16, there_6);
	device = end_link().tunnel;
	assert_true(delivers(&device, 6, GRE, INNER_ETHERNET, 0));
	assert_false(delivers(&device, 6, GRE, INNER_IP, 0));
}

/* An outer packet for another host, or without a direction, does not end here. */
static void
test_directions(void **state)
{
	struct tunnel_device device;
	struct packet p = outer_packet(4, GRE, INNER_IP, 0, false);

	(void)state;
	begin_link("gre", ARPHRD_IPGRE);
	mnl_attr_put(message, IFLA_GRE_LOCAL, 4, here_4);
	mnl_attr_put_u32(message, IFLA_GRE_IKEY, htonl(1));
	mnl_attr_put_u32(message, IFLA_GRE_OKEY, htonl(2));
	device = end_link().tunnel;
	p.inner_id = 1;
	assert_true(tunnel_device_matches(&device, &p));
	p.direction = DIRECTION_OTHER;
	assert_false(tunnel_device_matches(&device, &p));
	p.direction = DIRECTION_UNKNOWN;
	assert_false(tunnel_device_matches(&device, &p));
	p = outer_packet(4, GRE, INNER_IP, 1, true);
	assert_false(tunnel_device_matches(&device, &p));
	p.inner_id = 2;
	assert_true(tunnel_device_matches(&device, &p));
	p = outer_packet(4, GRE, INNER_IP, 1, false);
	memcpy(p.ip.dst, (const uint8_t[]){239, 1, 1, 1}, 4);
	assert_true(tunnel_device_matches(&device, &p)); /* a tunnel over multicast */
}

static void
test_ip_in_ip(void **state)
{
	struct tunnel_device device;

	(void)state;
	begin_link("sit", ARPHRD_SIT);
	mnl_attr_put(message, IFLA_IPTUN_LOCAL, 4, here_4);
	mnl_attr_put(message, IFLA_IPTUN_REMOTE, 4, there_4);
	mnl_attr_put_u8(message, IFLA_IPTUN_PROTO, IPV6);
	device = end_link().tunnel;
	assert_true(delivers(&device, 4, IPV6, INNER_IP, 0));
	assert_false(delivers(&device, 4, IPV4, INNER_IP, 0));
	begin_link("ip6tnl", ARPHRD_TUNNEL6);
	mnl_attr_put(message, IFLA_IPTUN_LOCAL, 16, here_6);
	mnl_attr_put(message, IFLA_IPTUN_REMOTE, 16, there_6);
	mnl_attr_put_u8(message, IFLA_IPTUN_PROTO, 0); /* any */
	device = end_link().tunnel;
	assert_true(delivers(&device, 6, IPV6, INNER_IP, 0));
	assert_true(delivers(&device, 6, IPV4, INNER_IP, 0));
	assert_false(delivers(&device, 6, GRE, INNER_IP, 0));
	begin_link("ipip", ARPHRD_TUNNEL);
	device = end_link().tunnel;
	assert_true(delivers(&device, 4, IPV4, INNER_IP, 0));
	assert_false(delivers(&device, 4, IPV6, INNER_IP, 0));
}

static void
test_vxlan(void **state)
{
	struct tunnel_device device;

	(void)state;
	begin_link("vxlan", ARPHRD_ETHER);
	mnl_attr_put_u32(message, IFLA_VXLAN_ID, 42);
	mnl_attr_put(message, IFLA_VXLAN_GROUP, 4, (const uint8_t[]){192, 0, 2, 77}); /* the default destination */
	mnl_attr_put(message, IFLA_VXLAN_LOCAL, 4, here_4);
	mnl_attr_put_u16(message, IFLA_VXLAN_PORT, htons(4789));
	mnl_attr_put_u8(message, IFLA_VXLAN_COLLECT_METADATA, 0);
	device = end_link().tunnel;
	assert_true(delivers_udp(&device, 4, 4789, 42));
	assert_false(delivers_udp(&device, 4, 4789, 43));
	assert_false(delivers_udp(&device, 4, 8472, 42));
	assert_false(delivers_udp(&device, 6, 4789, 42));
	begin_link("vxlan", ARPHRD_ETHER);
	mnl_attr_put_u16(message, IFLA_VXLAN_PORT, htons(4789));
	mnl_attr_put_u8(message, IFLA_VXLAN_COLLECT_METADATA, 1);
	device = end_link().tunnel;
	assert_true(delivers_udp(&device, 4, 4789, 43));
	assert_true(delivers_udp(&device, 6, 4789, 43));
}

static void
test_geneve(void **state)
{
	struct tunnel_device device;

	(void)state;
	begin_link("geneve", ARPHRD_ETHER);
	mnl_attr_put_u32(message, IFLA_GENEVE_ID, 44);
	mnl_attr_put(message, IFLA_GENEVE_REMOTE6, 16, there_6);
	mnl_attr_put_u16(message, IFLA_GENEVE_PORT, htons(6081));
	device = end_link().tunnel;
	assert_true(delivers_udp(&device, 6, 6081, 44));
	assert_false(delivers_udp(&device, 4, 6081, 44));
	assert_false(delivers_udp(&device, 6, 6081, 45));
	device.remote[15] = 3;
	assert_false(delivers_udp(&device, 6, 6081, 44));
}

/* Attributes of another length, of another kind, or cut off. */
static void
test_damaged(void **state)
{
	struct interface_info info;

	(void)state;
	begin_link("gre", ARPHRD_IPGRE);
	mnl_attr_put_u8(message, IFLA_GRE_IKEY, 1);
	mnl_attr_put(message, IFLA_GRE_LOCAL, 40, buffer);
	mnl_attr_put_u8(message, 63, 1);
	mnl_attr_put_u8(message, 64, 1);
	mnl_attr_put_u8(message, 200, 1);
	info = end_link();
	assert_int_equal(info.tunnel.id_in, 0);
	assert_int_equal(info.tunnel.local[0], 0);
	begin_link("wireguard", ARPHRD_NONE);
	assert_int_equal(end_link().tunnel.inner, INNER_NONE);
	begin_link("vxlan", ARPHRD_ETHER);
	mnl_attr_put_u8(message, IFLA_VXLAN_PORT, 1);
	assert_int_equal(end_link().tunnel.port, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_carried_kinds), cmocka_unit_test(test_ipvlan_modes),
	    cmocka_unit_test(test_ifb_and_ppp),	  cmocka_unit_test(test_gre),
	    cmocka_unit_test(test_directions),	  cmocka_unit_test(test_ip_in_ip),
	    cmocka_unit_test(test_vxlan),	  cmocka_unit_test(test_geneve),
	    cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
