/* SPDX-License-Identifier: BSD-2-Clause */
/* Which frames on "any" are duplicates: bridges, bonds, VLAN, macvlan, ipvlan, ifb and PPP devices, stacks, tunnels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <time.h>

#include "host/lower_dedup.h"

#define ETH0 2
#define ETH1 3
#define VLAN 4
#define BR0  5

static struct interfaces *interfaces;
static struct lower_dedup *dedup;
static struct interface at;
static enum direction direction;
static uint16_t ether_type;
static struct frame frame = {.interface = &at};

static void
update_link(struct interface_info info)
{
	snprintf(info.name, sizeof info.name, "if%u", (unsigned)info.ifindex);
	info.mtu = 1500;
	assert_true(interfaces_update(interfaces, &info));
	interfaces_notify(interfaces);
}

static void
link_is(uint32_t index, uint32_t master, uint32_t carrier, bool up)
{
	update_link((struct interface_info){.ifindex = index, .master = master, .carrier = carrier, .up = up});
}

static void
address_on(uint32_t index, uint8_t last)
{
	const uint8_t addr[16] = {10, 0, 0, last};

	assert_true(lower_dedup_add_address(dedup, index, 4, addr));
}

/* Whether a packet from `from` to `to`, captured on an interface, has a duplicate; 10.0.0.1 to 9 are local. */
static bool
is_duplicate(uint32_t index, uint8_t from, uint8_t to)
{
	struct packet p;

	memset(&p, 0, sizeof p);
	p.frame = &frame;
	p.network = NETWORK_IPV4;
	p.direction = direction;
	p.ether.type = ether_type;
	p.ip.version = 4;
	memcpy(p.ip.src, (const uint8_t[]){10, 0, 0, from}, 4);
	memcpy(p.ip.dst, (const uint8_t[]){10, 0, 0, to}, 4);
	at.ifindex = index;
	if (!lower_dedup_is_duplicate(dedup, &p,
				      (struct locality){.source_local = from < 10, .destination_local = to < 10}))
		return false;
	assert_true(lower_dedup_is_candidate(dedup, &p));
	return true;
}

static int
setup(void **state)
{
	(void)state;
	direction = DIRECTION_UNKNOWN;
	ether_type = 0x0800;
	interfaces = interfaces_new();
	dedup = interfaces != NULL ? lower_dedup_new(interfaces) : NULL;
	if (dedup == NULL)
		return -1;
	link_is(ETH0, 0, 0, true);
	link_is(ETH1, 0, 0, true);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	lower_dedup_free(dedup);
	interfaces_free(interfaces);
	return 0;
}

static void
test_plain(void **state)
{
	(void)state;
	address_on(ETH0, 1);
	assert_false(lower_dedup_is_active(dedup));
	assert_false(is_duplicate(ETH0, 1, 20));
}

static void
test_bridge(void **state)
{
	(void)state;
	link_is(BR0, 0, 0, true);
	link_is(ETH0, BR0, 0, true);
	address_on(BR0, 1);
	assert_true(is_duplicate(ETH0, 1, 20));
	assert_true(is_duplicate(ETH0, 20, 1));
	assert_false(is_duplicate(BR0, 1, 20));
	assert_false(is_duplicate(ETH1, 1, 20));
	assert_false(is_duplicate(ETH0, 20, 21)); /* forwarded */
	link_is(BR0, 0, 0, false);
	assert_false(is_duplicate(ETH0, 1, 20)); /* passes nothing up */
	link_is(BR0, 0, 0, true);
	link_is(ETH0, 0, 0, true);
	assert_false(is_duplicate(ETH0, 1, 20));
}

static void
test_vlan(void **state)
{
	const uint8_t second[16] = {10, 0, 0, 2};

	(void)state;
	link_is(VLAN, 0, ETH0, true);
	address_on(ETH0, 1);
	address_on(VLAN, 2);
	address_on(ETH0, 3);
	address_on(VLAN, 3);
	assert_true(is_duplicate(ETH0, 2, 20));
	assert_true(is_duplicate(ETH0, 20, 2));
	assert_false(is_duplicate(ETH0, 1, 20)); /* without a tag */
	assert_false(is_duplicate(ETH0, 3, 20)); /* either way */
	assert_false(is_duplicate(ETH0, 4, 20)); /* an address of yet another interface */
	assert_false(is_duplicate(VLAN, 2, 20));
	lower_dedup_remove_address(dedup, VLAN, 4, second);
	assert_false(is_duplicate(ETH0, 2, 20));
}

static void
test_stack(void **state)
{
	(void)state;
	/* A bridge on a VLAN device on a port. */
	link_is(BR0, 0, 0, true);
	link_is(VLAN, BR0, ETH0, true);
	address_on(BR0, 1);
	address_on(ETH0, 2);
	assert_true(is_duplicate(ETH0, 1, 20));
	assert_true(is_duplicate(VLAN, 1, 20));
	assert_false(is_duplicate(BR0, 1, 20));
	assert_false(is_duplicate(ETH0, 2, 20));
	interfaces_remove(interfaces, BR0);
	interfaces_notify(interfaces);
	assert_false(is_duplicate(VLAN, 1, 20));
}

/* Configurations that the kernel does not allow must end, too. */
static void
test_circle(void **state)
{
	(void)state;
	link_is(ETH0, ETH1, VLAN, true);
	link_is(ETH1, ETH0, ETH0, true);
	link_is(VLAN, ETH0, ETH1, true);
	for (uint8_t i = 1; i < 9; i++)
		address_on(i % 2 == 0 ? ETH1 : VLAN, i);
	assert_true(is_duplicate(ETH0, 1, 20));
}

/* An ipvlan device in mode l3s receives nothing itself. */
static void
test_sends_only(void **state)
{
	(void)state;
	update_link((struct interface_info){.ifindex = VLAN, .carrier = ETH0, .up = true, .sends_only = true});
	address_on(VLAN, 2);
	direction = DIRECTION_OUT;
	assert_true(is_duplicate(ETH0, 2, 20));
	direction = DIRECTION_IN;
	assert_false(is_duplicate(ETH0, 20, 2));
	assert_false(is_duplicate(VLAN, 2, 20));
}

static void
test_redirects(void **state)
{
	(void)state;
	update_link((struct interface_info){.ifindex = VLAN, .up = true, .redirects = true});
	address_on(ETH0, 1);
	assert_true(is_duplicate(VLAN, 20, 1));
	assert_true(is_duplicate(VLAN, 20, 21));
	assert_false(is_duplicate(ETH0, 20, 1));
}

static void
test_pppoe(void **state)
{
	(void)state;
	address_on(VLAN, 2);
	address_on(ETH0, 1);
	ether_type = 0x8864;
	assert_false(is_duplicate(ETH0, 2, 20));
	update_link((struct interface_info){.ifindex = VLAN, .up = true, .ppp = true});
	assert_true(is_duplicate(ETH0, 2, 20));
	assert_true(is_duplicate(ETH0, 20, 2));
	assert_false(is_duplicate(ETH0, 1, 20));
	assert_false(is_duplicate(ETH0, 20, 21)); /* forwarded */
	ether_type = 0x0800;
	assert_false(is_duplicate(ETH0, 2, 20));
}

/* GRE with a key from or to this host, 192.0.2.1. */
static bool
is_keyed_inner_duplicate(enum direction towards, bool local, uint32_t key)
{
	struct packet p;

	memset(&p, 0, sizeof p);
	p.frame = &frame;
	p.network = NETWORK_IPV4;
	p.direction = towards;
	p.ip.version = 4;
	p.ip.protocol = 47;
	p.inner = INNER_IP;
	p.inner_id = key;
	memcpy(towards == DIRECTION_OUT ? p.ip.src : p.ip.dst, (const uint8_t[]){192, 0, 2, 1}, 4);
	memcpy(towards == DIRECTION_OUT ? p.ip.dst : p.ip.src, (const uint8_t[]){192, 0, 2, 2}, 4);
	at.ifindex = ETH0;
	return lower_dedup_is_inner_duplicate(dedup, &p,
					      (struct locality){.source_local = local && towards == DIRECTION_OUT,
								.destination_local = local && towards == DIRECTION_IN});
}

static bool
is_inner_duplicate(enum direction towards, bool local)
{
	return is_keyed_inner_duplicate(towards, local, 0);
}

static void
test_tunnel(void **state)
{
	struct interface_info gre = {
	    .ifindex = VLAN, .tunnel = {.inner = INNER_IP, .version = 4, .protocol = 47, .remote = {192, 0, 2, 2}}};

	(void)state;
	update_link(gre);
	assert_false(is_inner_duplicate(DIRECTION_IN, true)); /* the device is down */
	assert_int_equal(lower_dedup_hint(dedup), 0);
	gre.up = true;
	update_link(gre);
	assert_true(lower_dedup_is_active(dedup));
	assert_int_equal(lower_dedup_hint(dedup), 0); /* plain frames keep the fast path */
	assert_true(is_inner_duplicate(DIRECTION_IN, true));
	assert_true(is_inner_duplicate(DIRECTION_OUT, true));
	assert_false(is_inner_duplicate(DIRECTION_IN, false)); /* forwarded: the tunnel ends elsewhere */
	assert_false(is_inner_duplicate(DIRECTION_OUT, false));
	interfaces_remove(interfaces, VLAN);
	interfaces_notify(interfaces);
	assert_false(is_inner_duplicate(DIRECTION_IN, true));
}

/* Each of many tunnels is found by its key, which differs by direction; a device for every key has all others. */
static void
test_many_tunnels(void **state)
{
	const struct tunnel_device gre = {.inner = INNER_IP, .version = 4, .protocol = 47, .remote = {192, 0, 2, 2}};
	struct interface_info info = {.up = true, .tunnel = gre};

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		info.ifindex = 1000 + i;
		info.tunnel.id_in = 10 * (i * 37 % 100) + 10;
		info.tunnel.id_out = info.tunnel.id_in + 5;
		update_link(info);
	}
	for (uint32_t key = 0; key < 1020; key++) {
		bool configured = key >= 10 && key < 1010;

		assert_int_equal(is_keyed_inner_duplicate(DIRECTION_IN, true, key), configured && key % 10 == 0);
		assert_int_equal(is_keyed_inner_duplicate(DIRECTION_OUT, true, key), configured && key % 10 == 5);
	}
	info = (struct interface_info){.ifindex = 2000, .up = true, .tunnel = gre};
	info.tunnel.every_id = true;
	update_link(info);
	assert_true(is_keyed_inner_duplicate(DIRECTION_IN, true, 7));
	assert_true(is_keyed_inner_duplicate(DIRECTION_IN, true, 20));
	assert_true(is_keyed_inner_duplicate(DIRECTION_OUT, true, UINT32_MAX));
}

static double
least_of(double a, double b)
{
	return a < b ? a : b;
}

/* Processor time of one check of each kind with `count` devices, ns: the smallest of many. */
static double
least_check_ns(uint32_t count)
{
	struct interface_info info = {.up = true};
	double least = 1e18;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t addr[16] = {10, 1, (uint8_t)(i >> 8), (uint8_t)i};
		const struct tunnel_device gre = {.inner = INNER_IP, .version = 4, .protocol = 47,
						  .remote = {198, 51, (uint8_t)(i >> 8), (uint8_t)i}};

		info.ifindex = 1000 + 3 * i;
		info.carrier = i % 2 == 0 ? ETH0 : 0;
		info.ppp = i % 2 == 1;
		info.tunnel = gre;
		assert_true(interfaces_update(interfaces, &info));
		assert_true(lower_dedup_add_address(dedup, info.ifindex, 4, addr));
	}
	interfaces_notify(interfaces);
	assert_int_not_equal(lower_dedup_hint(dedup), 0);
	ether_type = 0x8864;
	for (unsigned round = 0; round < 300; round++) {
		struct timespec begin, end;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		for (unsigned i = 0; i < 10; i++) {
			(void)is_duplicate(ETH0, 9, 20);
			(void)is_inner_duplicate(DIRECTION_IN, true);
			(void)interfaces_find(interfaces, 1000 + 3 * (count - 1));
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		least = least_of(least, (double)(end.tv_sec - begin.tv_sec) * 1e9 +
				 (double)(end.tv_nsec - begin.tv_nsec));
	}
	return least / 10;
}

/* With 4,000 devices, addresses and tunnels a check costs hardly more than with 40; a walk costs 100 times as much. */
static void
test_cost_is_flat(void **state)
{
	double few, many;

	(void)state;
	few = least_check_ns(40);
	many = least_check_ns(4000);
	printf("# %.0f ns with 40 devices, %.0f ns with 4,000\n", few, many);
	assert_true(many < 8 * few);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_plain),	   TEST(test_bridge),	 TEST(test_vlan),  TEST(test_stack),  TEST(test_circle),
	    TEST(test_sends_only), TEST(test_redirects), TEST(test_pppoe), TEST(test_tunnel), TEST(test_many_tunnels),
	    TEST(test_cost_is_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
