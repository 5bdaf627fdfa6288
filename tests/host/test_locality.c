/* SPDX-License-Identifier: BSD-2-Clause */
/* Which ends of a packet are local, in each view: the contract's section 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/locality.h"

static struct interface wire = {.name = "eth0", .ifindex = 2}, loop = {.name = "lo", .loopback = true};
static struct frame frame;

static struct packet
ipv4(const char *source, const char *destination, enum direction direction)
{
	struct packet p;

	memset(&p, 0, sizeof p);
	frame.interface = &wire;
	p.frame = &frame;
	p.network = NETWORK_IPV4;
	p.direction = direction;
	p.ip.version = 4;
	memcpy(p.ip.src, source, 4);
	memcpy(p.ip.dst, destination, 4);
	return p;
}

#define HERE	       "\x0a\x00\x00\x01"
#define HERE_TOO       "\x0a\x00\x00\x02"
#define ELSEWHERE      "\xc0\x00\x02\x01"
#define FAR	       "\xc6\x33\x64\x01"
#define FASTPATH_GROUP "\xe0\x00\x00\xfb"
#define BROADCAST      "\xff\xff\xff\xff"
#define UNSPECIFIED	       "\x00\x00\x00\x00"

static struct local_addrs *
here(void)
{
	static const uint8_t first[16] = {10, 0, 0, 1}, second[16] = {10, 0, 0, 2};
	struct local_addrs *local_addrs = local_addrs_new(NULL, 0);

	assert_non_null(local_addrs);
	assert_true(local_addrs_add(local_addrs, 4, first));
	assert_true(local_addrs_add(local_addrs, 4, second));
	return local_addrs;
}

static void
expect(const struct packet *p, enum view_mode view, const struct local_addrs *local_addrs, const char *sides)
{
	struct locality s = locality_of_packet(p, view, local_addrs);
	char got[4] = {s.fire_send ? 's' : '-', s.fire_receive ? 'r' : '-', s.foreign ? 'o' : '-'};

	assert_string_equal(got, sides);
	assert_int_equal(s.source_local, view == VIEW_MONITOR || s.fire_send);
	assert_int_equal(s.destination_local, view == VIEW_MONITOR || (s.fire_receive && !s.foreign));
}

static void
test_both_and_monitor(void **state)
{
	struct local_addrs *none = local_addrs_new(NULL, 0);
	struct packet p = ipv4(ELSEWHERE, FAR, DIRECTION_UNKNOWN);

	(void)state;
	expect(&p, VIEW_BOTH, none, "sr-");
	expect(&p, VIEW_MONITOR, none, "-r-");
	local_addrs_free(none);
}

static void
test_host_by_address(void **state)
{
	struct local_addrs *local_addrs = here();
	struct packet p;

	(void)state;
	p = ipv4(HERE, ELSEWHERE, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, local_addrs, "s--");
	p = ipv4(ELSEWHERE, HERE, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	p = ipv4(HERE, HERE_TOO, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, local_addrs, "sr-");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, local_addrs, "-ro");
	p = ipv4(ELSEWHERE, FASTPATH_GROUP, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	p = ipv4(HERE, FASTPATH_GROUP, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, local_addrs, "s--");
	p = ipv4(ELSEWHERE, BROADCAST, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	local_addrs_free(local_addrs);
}

/* Frames that a router forwards come in and go out, but are not local. */
static void
test_host_forwarding(void **state)
{
	struct local_addrs *local_addrs = here();
	struct packet p;

	(void)state;
	p = ipv4(ELSEWHERE, FAR, DIRECTION_IN);
	expect(&p, VIEW_HOST, local_addrs, "-ro");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_OUT);
	expect(&p, VIEW_HOST, local_addrs, "-ro");
	p = ipv4(ELSEWHERE, HERE, DIRECTION_OTHER);
	expect(&p, VIEW_HOST, local_addrs, "-ro");
	local_addrs_free(local_addrs);
}

/* Two interfaces of this host, cabled to each other: each frame is captured going out, then coming in. */
static void
test_host_to_itself(void **state)
{
	struct local_addrs *local_addrs = here();
	struct packet p;

	(void)state;
	p = ipv4(HERE, HERE_TOO, DIRECTION_OUT);
	expect(&p, VIEW_HOST, local_addrs, "s--");
	p = ipv4(HERE, HERE_TOO, DIRECTION_IN);
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	local_addrs_free(local_addrs);
}

static void
test_file_directions(void **state)
{
	struct local_addrs *none = local_addrs_new(NULL, 0);
	struct packet p;

	(void)state;
	p = ipv4(ELSEWHERE, FAR, DIRECTION_OUT);
	expect(&p, VIEW_HOST, none, "s--");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_IN);
	expect(&p, VIEW_HOST, none, "-r-");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_OTHER);
	expect(&p, VIEW_HOST, none, "-ro");
	local_addrs_free(none);
}

static void
test_loopback(void **state)
{
	struct local_addrs *none = local_addrs_new(NULL, 0);
	struct packet p = ipv4(ELSEWHERE, FAR, DIRECTION_IN);

	(void)state;
	frame.interface = &loop;
	expect(&p, VIEW_HOST, none, "sr-");
	p.direction = DIRECTION_OUT;
	expect(&p, VIEW_HOST, none, "sr-");
	frame.interface = &wire;
	expect(&p, VIEW_HOST, none, "s--");
	p.loopback = true;
	expect(&p, VIEW_HOST, none, "sr-");
	local_addrs_free(none);
}

/* Before a host has an address, its link-layer address distinguishes its frames from those of others. */
static void
test_no_address_yet(void **state)
{
	struct local_addrs *local_addrs = here();
	struct packet p = ipv4(UNSPECIFIED, BROADCAST, DIRECTION_UNKNOWN);

	(void)state;
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	wire.has_mac = true;
	memcpy(wire.mac, "\x02\x00\x00\x00\x00\x07", 6);
	p.ether.present = 1;
	memcpy(p.ether.src, wire.mac, 6);
	expect(&p, VIEW_HOST, local_addrs, "s--");
	p.ether.src[5]++;
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	wire.has_mac = false;
	p.direction = DIRECTION_OUT;
	expect(&p, VIEW_HOST, local_addrs, "s--");
	local_addrs_free(local_addrs);
}

static void
test_not_ip(void **state)
{
	struct local_addrs *local_addrs = here();
	struct packet p = ipv4(UNSPECIFIED, UNSPECIFIED, DIRECTION_UNKNOWN);

	(void)state;
	p.network = NETWORK_NONE;
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	p.direction = DIRECTION_OUT;
	expect(&p, VIEW_HOST, local_addrs, "s--");
	p.direction = DIRECTION_OTHER;
	expect(&p, VIEW_HOST, local_addrs, "-ro");
	p.direction = DIRECTION_UNKNOWN;
	p.network = NETWORK_ARP;
	p.arp.spa = (struct slice){(const uint8_t *)HERE, 4};
	expect(&p, VIEW_HOST, local_addrs, "s--");
	p.arp.spa = (struct slice){(const uint8_t *)ELSEWHERE, 4};
	expect(&p, VIEW_HOST, local_addrs, "-r-");
	local_addrs_free(local_addrs);
}

/* On a lower device the direction is that of the device's own MAC address. */
static void
test_ignoring_direction(void **state)
{
	static const enum direction directions[] = {DIRECTION_UNKNOWN, DIRECTION_IN, DIRECTION_OUT, DIRECTION_OTHER};
	struct local_addrs *local_addrs = here();

	(void)state;
	for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++) {
		struct packet p = ipv4(ELSEWHERE, HERE, directions[i]);
		struct locality locality = locality_ignoring_direction(&p, local_addrs);

		assert_true(!locality.source_local && locality.destination_local);
		p = ipv4(HERE, ELSEWHERE, directions[i]);
		locality = locality_ignoring_direction(&p, local_addrs);
		assert_true(locality.source_local && !locality.destination_local);
		p = ipv4(ELSEWHERE, FAR, directions[i]);
		locality = locality_ignoring_direction(&p, local_addrs);
		assert_true(!locality.source_local && !locality.destination_local);
		p = ipv4(ELSEWHERE, BROADCAST, directions[i]); /* the direction decides, as everywhere */
		assert_int_equal(locality_ignoring_direction(&p, local_addrs).destination_local,
				 locality_of_packet(&p, VIEW_HOST, local_addrs).destination_local);
	}
	local_addrs_free(local_addrs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_both_and_monitor), cmocka_unit_test(test_host_by_address),
	    cmocka_unit_test(test_host_forwarding),  cmocka_unit_test(test_host_to_itself),
	    cmocka_unit_test(test_file_directions),  cmocka_unit_test(test_loopback),
	    cmocka_unit_test(test_no_address_yet),   cmocka_unit_test(test_not_ip),
	    cmocka_unit_test(test_ignoring_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
