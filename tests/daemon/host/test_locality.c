/* SPDX-License-Identifier: BSD-2-Clause */
/* Which sides of a packet are local, in each view: the contract's section 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/host/locality.h"

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

#define HERE	  "\x0a\x00\x00\x01"
#define HERE_TOO  "\x0a\x00\x00\x02"
#define ELSEWHERE "\xc0\x00\x02\x01"
#define FAR	  "\xc6\x33\x64\x01"
#define GROUP	  "\xe0\x00\x00\xfb"
#define BROADCAST "\xff\xff\xff\xff"
#define NOBODY	  "\x00\x00\x00\x00"

static struct locals *
here(void)
{
	static const uint8_t first[16] = {10, 0, 0, 1}, second[16] = {10, 0, 0, 2};
	struct locals *locals = locals_new(NULL, 0);

	assert_non_null(locals);
	assert_true(locals_add(locals, 4, first));
	assert_true(locals_add(locals, 4, second));
	return locals;
}

static void
expect(const struct packet *p, enum view_kind view, const struct locals *locals, const char *sides)
{
	struct sides s = sides_of(p, view, locals);
	char got[4] = {s.send ? 's' : '-', s.receive ? 'r' : '-', s.overheard ? 'o' : '-'};

	assert_string_equal(got, sides);
	assert_int_equal(s.source_local, view == VIEW_MONITOR || s.send);
	assert_int_equal(s.destination_local, view == VIEW_MONITOR || (s.receive && !s.overheard));
}

static void
test_both_and_monitor(void **state)
{
	struct locals *none = locals_new(NULL, 0);
	struct packet p = ipv4(ELSEWHERE, FAR, DIRECTION_UNKNOWN);

	(void)state;
	expect(&p, VIEW_BOTH, none, "sr-");
	expect(&p, VIEW_MONITOR, none, "-r-");
	locals_free(none);
}

static void
test_host_by_address(void **state)
{
	struct locals *locals = here();
	struct packet p;

	(void)state;
	p = ipv4(HERE, ELSEWHERE, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, locals, "s--");
	p = ipv4(ELSEWHERE, HERE, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, locals, "-r-");
	p = ipv4(HERE, HERE_TOO, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, locals, "sr-");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, locals, "-ro");
	p = ipv4(ELSEWHERE, GROUP, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, locals, "-r-");
	p = ipv4(HERE, GROUP, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, locals, "s--");
	p = ipv4(ELSEWHERE, BROADCAST, DIRECTION_UNKNOWN);
	expect(&p, VIEW_HOST, locals, "-r-");
	locals_free(locals);
}

/* Frames that a router forwards come in and go out, but are not local. */
static void
test_host_forwarding(void **state)
{
	struct locals *locals = here();
	struct packet p;

	(void)state;
	p = ipv4(ELSEWHERE, FAR, DIRECTION_IN);
	expect(&p, VIEW_HOST, locals, "-ro");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_OUT);
	expect(&p, VIEW_HOST, locals, "-ro");
	p = ipv4(ELSEWHERE, HERE, DIRECTION_OTHER);
	expect(&p, VIEW_HOST, locals, "-ro");
	locals_free(locals);
}

/* Two interfaces of this host, cabled to each other: each frame is seen going out, then coming in. */
static void
test_host_to_itself(void **state)
{
	struct locals *locals = here();
	struct packet p;

	(void)state;
	p = ipv4(HERE, HERE_TOO, DIRECTION_OUT);
	expect(&p, VIEW_HOST, locals, "s--");
	p = ipv4(HERE, HERE_TOO, DIRECTION_IN);
	expect(&p, VIEW_HOST, locals, "-r-");
	locals_free(locals);
}

static void
test_file_directions(void **state)
{
	struct locals *none = locals_new(NULL, 0);
	struct packet p;

	(void)state;
	p = ipv4(ELSEWHERE, FAR, DIRECTION_OUT);
	expect(&p, VIEW_HOST, none, "s--");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_IN);
	expect(&p, VIEW_HOST, none, "-r-");
	p = ipv4(ELSEWHERE, FAR, DIRECTION_OTHER);
	expect(&p, VIEW_HOST, none, "-ro");
	locals_free(none);
}

static void
test_loopback(void **state)
{
	struct locals *none = locals_new(NULL, 0);
	struct packet p = ipv4(ELSEWHERE, FAR, DIRECTION_IN);

	(void)state;
	frame.interface = &loop;
	expect(&p, VIEW_HOST, none, "sr-");
	assert_false(sides_is_loopback_copy(&p));
	p.direction = DIRECTION_OUT;
	assert_true(sides_is_loopback_copy(&p));
	frame.interface = &wire;
	assert_false(sides_is_loopback_copy(&p));
	p.loopback = true;
	assert_true(sides_is_loopback_copy(&p));
	locals_free(none);
}

/* Before a host has an address, its link-layer address distinguishes its frames from those of others. */
static void
test_no_address_yet(void **state)
{
	struct locals *locals = here();
	struct packet p = ipv4(NOBODY, BROADCAST, DIRECTION_UNKNOWN);

	(void)state;
	expect(&p, VIEW_HOST, locals, "-r-");
	wire.has_mac = true;
	memcpy(wire.mac, "\x02\x00\x00\x00\x00\x07", 6);
	p.ether.present = 1;
	memcpy(p.ether.src, wire.mac, 6);
	expect(&p, VIEW_HOST, locals, "s--");
	p.ether.src[5]++;
	expect(&p, VIEW_HOST, locals, "-r-");
	wire.has_mac = false;
	p.direction = DIRECTION_OUT;
	expect(&p, VIEW_HOST, locals, "s--");
	locals_free(locals);
}

static void
test_not_ip(void **state)
{
	struct locals *locals = here();
	struct packet p = ipv4(NOBODY, NOBODY, DIRECTION_UNKNOWN);

	(void)state;
	p.network = NETWORK_NONE;
	expect(&p, VIEW_HOST, locals, "-r-");
	p.direction = DIRECTION_OUT;
	expect(&p, VIEW_HOST, locals, "s--");
	p.direction = DIRECTION_OTHER;
	expect(&p, VIEW_HOST, locals, "-ro");
	p.direction = DIRECTION_UNKNOWN;
	p.network = NETWORK_ARP;
	p.arp.spa = (struct view){(const uint8_t *)HERE, 4};
	expect(&p, VIEW_HOST, locals, "s--");
	p.arp.spa = (struct view){(const uint8_t *)ELSEWHERE, 4};
	expect(&p, VIEW_HOST, locals, "-r-");
	locals_free(locals);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_both_and_monitor), cmocka_unit_test(test_host_by_address),
	    cmocka_unit_test(test_host_forwarding),  cmocka_unit_test(test_host_to_itself),
	    cmocka_unit_test(test_file_directions),  cmocka_unit_test(test_loopback),
	    cmocka_unit_test(test_no_address_yet),   cmocka_unit_test(test_not_ip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
