/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection on "any", captured on every device of a stack as Linux captures it, is observed once: with the tables of
 * devices that the kernel would report, traced and untraced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pcap/pcap.h>

#include "host/lower_dedup.h"
#include "observe/observer.h"
#include "flow/tcp/tcp.h"
#include "probes/sites.h"

enum { ETHERNET = 1, SECOND = 1000000000 }; /* hardware type; ns */
enum { FIN = 1, SYN = 2, PSH = 8, ACK = 16 };
enum { TO_HOST = 0, TO_OTHER = 3, OUTGOING = 4 }; /* packet types of the cooked header */
enum { GRE = 47, UDP = 17, VXLAN_PORT = 4789 };

/* Index of each device; the name is in devices[]. */
enum { ETH0 = 2, GRE1, VXLAN, BRIDGE, MACVLAN, IFB, DEVICES };

/* One capture of a packet: the device, and what it carries there. */
enum shape { SHAPE_PLAIN, SHAPE_GRE, SHAPE_VXLAN };

struct sight {
	unsigned device; /* 0 ends the list */
	enum shape shape;
	uint8_t received_as; /* packet type of a received packet there */
};

/* A stack of devices, from the upper one down: the order in which a sent packet passes them. */
struct stack {
	const char *name;
	unsigned address_on; /* device with this host's inner address */
	struct interface_info devices[4];
	struct sight sights[4];
};

static const uint8_t here[4] = {10, 2, 0, 1}, there[4] = {10, 2, 0, 2};
static const uint8_t outer_here[4] = {192, 0, 2, 1}, outer_there[4] = {192, 0, 2, 2};

/* --- frames --- */

struct bytes {
	uint8_t data[512];
	uint32_t len;
};

static void
put(struct bytes *b, const void *data, uint32_t len)
{
	assert_true(b->len + len <= sizeof b->data);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void
put_u16(struct bytes *b, uint32_t value)
{
	const uint8_t two[] = {(uint8_t)(value >> 8), (uint8_t)value};

	put(b, two, sizeof two);
}

static uint16_t
checksum(const uint8_t *data, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static struct bytes
ipv4(const uint8_t source[4], const uint8_t destination[4], uint8_t protocol, const struct bytes *payload)
{
	const uint8_t head[] = {0x45, 0}, rest[] = {0, 1, 0x40, 0, 64, protocol, 0, 0};
	struct bytes b = {.len = 0};
	uint16_t sum;

	put(&b, head, sizeof head);
	put_u16(&b, 20 + payload->len);
	put(&b, rest, sizeof rest);
	put(&b, source, 4);
	put(&b, destination, 4);
	sum = checksum(b.data, b.len, 0);
	b.data[10] = (uint8_t)(sum >> 8);
	b.data[11] = (uint8_t)sum;
	put(&b, payload->data, payload->len);
	return b;
}

struct segment {
	bool sent; /* by this host, the client */
	uint8_t flags;
	uint32_t seq, ack, payload;
};

static struct bytes
tcp(const struct segment *s)
{
	static const uint8_t zero[400];
	const uint8_t *source = s->sent ? here : there, *destination = s->sent ? there : here;
	struct bytes b = {.len = 0}, pseudo = {.len = 0};
	uint16_t sum;

	put_u16(&b, s->sent ? 40000 : 80);
	put_u16(&b, s->sent ? 80 : 40000);
	put_u16(&b, s->seq >> 16);
	put_u16(&b, s->seq & 0xffff);
	put_u16(&b, s->ack >> 16);
	put_u16(&b, s->ack & 0xffff);
	put_u16(&b, 0x5000u | s->flags);
	put_u16(&b, 65535);
	put_u16(&b, 0);
	put_u16(&b, 0);
	put(&b, zero, s->payload);
	put(&pseudo, source, 4);
	put(&pseudo, destination, 4);
	put_u16(&pseudo, 6);
	put_u16(&pseudo, b.len);
	put(&pseudo, b.data, b.len);
	sum = checksum(pseudo.data, pseudo.len, 0);
	b.data[16] = (uint8_t)(sum >> 8);
	b.data[17] = (uint8_t)sum;
	return ipv4(source, destination, 6, &b);
}

static struct bytes
tunnelled(enum shape shape, bool sent, const struct bytes *inside)
{
	static const uint8_t gre[] = {0, 0, 8, 0}, vxlan[] = {8, 0, 0, 0, 0, 0, 42, 0};
	static const uint8_t ether[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
	struct bytes b = {.len = 0};

	if (shape == SHAPE_GRE) {
		put(&b, gre, sizeof gre);
	} else {
		put_u16(&b, 50000);
		put_u16(&b, VXLAN_PORT);
		put_u16(&b, 8 + sizeof vxlan + sizeof ether + inside->len);
		put_u16(&b, 0); /* no checksum */
		put(&b, vxlan, sizeof vxlan);
		put(&b, ether, sizeof ether);
	}
	put(&b, inside->data, inside->len);
	return ipv4(sent ? outer_here : outer_there, sent ? outer_there : outer_here, shape == SHAPE_GRE ? GRE : UDP,
		    &b);
}

/* The frame on "any" of one capture of a segment. */
static struct bytes
cooked(const struct sight *sight, const struct segment *s)
{
	const uint8_t head[20] = {8, 0, [7] = (uint8_t)sight->device, [9] = ETHERNET,
				  [10] = s->sent ? OUTGOING : sight->received_as, [11] = 6};
	struct bytes packet = tcp(s), b = {.len = 0};

	if (sight->shape != SHAPE_PLAIN)
		packet = tunnelled(sight->shape, s->sent, &packet);
	put(&b, head, sizeof head);
	put(&b, packet.data, packet.len);
	return b;
}

/* --- one connection through a stack --- */

static const struct segment segments[] = {
    {true, SYN, 1000, 0, 0},		{false, SYN | ACK, 5000, 1001, 0},  {true, ACK, 1001, 5001, 0},
    {true, ACK | PSH, 1001, 5001, 100}, {false, ACK, 5001, 1101, 0},	    {false, ACK | PSH, 5001, 1101, 300},
    {false, ACK, 5301, 1101, 200},	{true, ACK, 1101, 5501, 0},	    {true, ACK | FIN, 1101, 5501, 0},
    {false, ACK | FIN, 5501, 1102, 0},	{true, ACK, 1102, 5502, 0},
};

enum { SEGMENTS = sizeof segments / sizeof segments[0], SENT_BYTES = 100, RECEIVED_BYTES = 500 };

static void
observe_segment(struct observer *o, const struct stack *stack, const struct segment *s)
{
	static uint64_t now = 1700000000ull * SECOND;
	unsigned count = 0;

	while (stack->sights[count].device != 0)
		count++;
	for (unsigned i = 0; i < count; i++) {
		/* A received packet passes the devices from the lower one up. */
		const struct sight *sight = &stack->sights[s->sent ? i : count - 1 - i];
		const struct interface at = {.ifindex = sight->device};
		struct bytes b = cooked(sight, s);
		struct frame frame = {.data = b.data, .interface = &at, .ts = now += 1000,
				      .caplen = b.len, .len = b.len, .dlt = DLT_LINUX_SLL2};

		observe_frames(o, &frame, 1);
	}
	now += SECOND / 1000;
}

struct totals {
	unsigned connections;
	uint64_t bytes[2], retransmissions, segments;
	const struct flow_table *table;
};

static void
add_flow(void *context, const struct flow *flow)
{
	struct totals *totals = context;

	if (flow->kind != FLOW_TCP)
		return;
	totals->connections++;
	for (unsigned i = 0; i < 2; i++) {
		const struct tcp_endpoint *e = &flow->tcp[i];

		totals->bytes[flow->key.port[i] == 80] += e->bytes;
		totals->retransmissions += tcp_retransmits(totals->table, flow, i);
		totals->segments += e->segments_sent;
	}
}

static struct lower_dedup *
report_devices(const struct stack *stack, struct interfaces *interfaces, struct local_addrs *local_addrs)
{
	struct lower_dedup *dedup = lower_dedup_new(interfaces);
	uint8_t addr[16] = {0};

	assert_non_null(dedup);
	for (size_t i = 0; i < 4 && stack->devices[i].ifindex != 0; i++) {
		struct interface_info info = stack->devices[i];

		info.mtu = 1500;
		info.up = true;
		snprintf(info.name, sizeof info.name, "if%u", (unsigned)info.ifindex);
		assert_true(interfaces_update(interfaces, &info));
	}
	interfaces_notify(interfaces);
	memcpy(addr, here, sizeof here);
	assert_true(local_addrs_add(local_addrs, 4, addr));
	assert_true(lower_dedup_add_address(dedup, stack->address_on, 4, addr));
	memcpy(addr, outer_here, sizeof outer_here);
	assert_true(local_addrs_add(local_addrs, 4, addr));
	assert_true(lower_dedup_add_address(dedup, ETH0, 4, addr));
	return dedup;
}

/* Observes the connection.  Gives the number of captures that were ignored. */
static uint64_t
observe_stack(const struct stack *stack, bool traced, struct totals *totals)
{
	const struct config config = {.observe_inner = true, .flow_limits = flow_limits_default()};
	struct local_addrs *local_addrs = local_addrs_new(NULL, 0);
	struct interfaces *interfaces = interfaces_new();
	struct lower_dedup *dedup;
	struct observer *o;
	uint64_t ignored;

	assert_true(local_addrs != NULL && interfaces != NULL);
	dedup = report_devices(stack, interfaces, local_addrs);
	o = observer_new(&config, VIEW_HOST, local_addrs, NULL, 42, NULL);
	assert_non_null(o);
	observer_set_lower_dedup(o, dedup);
	*probe_semaphores[PROBE_IP_PACKET_FREE] += traced;
	for (size_t i = 0; i < SEGMENTS; i++)
		observe_segment(o, stack, &segments[i]);
	*probe_semaphores[PROBE_IP_PACKET_FREE] -= traced;
	*totals = (struct totals){.connections = 0};
	totals->table = observer_flows(o);
	flow_table_visit(observer_flows(o), add_flow, totals);
	for (size_t i = 0; i <= RETRANSMIT_SYN; i++)
		totals->retransmissions += observer_counters(o)->retransmissions[i];
	ignored = observer_counters(o)->lower_duplicates;
	observer_free(o);
	lower_dedup_free(dedup);
	interfaces_free(interfaces);
	local_addrs_free(local_addrs);
	return ignored;
}

static void
assert_once(const struct stack *stack, unsigned ignored)
{
	for (unsigned traced = 0; traced < 2; traced++) {
		struct totals totals;

		print_message("%s%s\n", stack->name, traced ? ", traced" : "");
		assert_int_equal(observe_stack(stack, traced, &totals), ignored * SEGMENTS);
		assert_int_equal(totals.connections, 1);
		assert_int_equal(totals.bytes[0], SENT_BYTES);
		assert_int_equal(totals.bytes[1], RECEIVED_BYTES);
		assert_int_equal(totals.segments, SEGMENTS);
		assert_int_equal(totals.retransmissions, 0);
	}
}

/* --- the stacks --- */

#define GRE_DEVICE    {.ifindex = GRE1, .tunnel = {.inner = INNER_IP, .version = 4, .protocol = GRE}}
#define VXLAN_DEVICE  {.ifindex = VXLAN, .tunnel = {.inner = INNER_ETHERNET, .version = 4, .protocol = UDP, \
						   .port = VXLAN_PORT, .id_in = 42, .id_out = 42}}

static void
test_tunnels(void **state)
{
	static const struct stack gre = {"GRE", GRE1, {{.ifindex = ETH0}, GRE_DEVICE},
					 {{GRE1, SHAPE_PLAIN, TO_HOST}, {ETH0, SHAPE_GRE, TO_HOST}}};
	static const struct stack vxlan = {"VXLAN", VXLAN, {{.ifindex = ETH0}, VXLAN_DEVICE},
					   {{VXLAN, SHAPE_PLAIN, TO_HOST}, {ETH0, SHAPE_VXLAN, TO_HOST}}};
	static const struct stack bridged = {
	    "a bridge on VXLAN", BRIDGE,
	    {{.ifindex = ETH0}, {.ifindex = BRIDGE},
	     {.ifindex = VXLAN, .master = BRIDGE, .tunnel = {.inner = INNER_ETHERNET, .protocol = UDP,
							     .port = VXLAN_PORT, .every_id = true}}},
	    {{BRIDGE, SHAPE_PLAIN, TO_HOST}, {VXLAN, SHAPE_PLAIN, TO_OTHER}, {ETH0, SHAPE_VXLAN, TO_HOST}}};

	(void)state;
	assert_once(&gre, 1);
	assert_once(&vxlan, 1);
	assert_once(&bridged, 2);
}

/* Only the outer packet is captured: the tunnel has no device here, or another one. */
static void
test_tunnel_without_device(void **state)
{
	static const struct stack gre = {
	    "GRE without a device", GRE1, {{.ifindex = ETH0}}, {{ETH0, SHAPE_GRE, TO_HOST}}};
	static const struct stack other = {"VXLAN of another VNI", VXLAN,
					   {{.ifindex = ETH0},
					    {.ifindex = VXLAN, .tunnel = {.inner = INNER_ETHERNET, .version = 4,
									  .protocol = UDP, .port = VXLAN_PORT,
									  .id_in = 43, .id_out = 43}}},
					   {{ETH0, SHAPE_VXLAN, TO_HOST}}};

	(void)state;
	assert_once(&gre, 0);
	assert_once(&other, 0);
}

/* The upper device has a MAC address of its own: on the lower one the frames are marked as for another host. */
static void
test_other_mac(void **state)
{
	static const struct stack bridge = {"a bridge", BRIDGE,
					    {{.ifindex = ETH0, .master = BRIDGE}, {.ifindex = BRIDGE}},
					    {{BRIDGE, SHAPE_PLAIN, TO_HOST}, {ETH0, SHAPE_PLAIN, TO_OTHER}}};
	static const struct stack macvlan = {"macvlan", MACVLAN,
					     {{.ifindex = ETH0}, {.ifindex = MACVLAN, .carrier = ETH0}},
					     {{MACVLAN, SHAPE_PLAIN, TO_HOST}, {ETH0, SHAPE_PLAIN, TO_OTHER}}};

	(void)state;
	assert_once(&bridge, 1);
	assert_once(&macvlan, 1);
}

/* Redirected to an ifb device on receipt: a copy with the direction outgoing. */
static void
test_ifb(void **state)
{
	static const struct stack ifb = {"ifb", ETH0, {{.ifindex = ETH0}, {.ifindex = IFB, .redirects = true}},
					 {{IFB, SHAPE_PLAIN, OUTGOING}, {ETH0, SHAPE_PLAIN, TO_HOST}}};

	(void)state;
	assert_once(&ifb, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tunnels),
	    cmocka_unit_test(test_tunnel_without_device),
	    cmocka_unit_test(test_other_mac),
	    cmocka_unit_test(test_ifb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
