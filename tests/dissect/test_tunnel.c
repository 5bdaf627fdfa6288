/* SPDX-License-Identifier: BSD-2-Clause */
/* What tunnels carry, and how deep one may go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

enum { IPV4 = 4, UDP = 17, IPV6 = 41, GRE = 47, ETHERIP = 97, MPLS = 137 };

static struct frame_buffer
innermost(int version)
{
	static const uint8_t udp[] = {0, 1, 0, 2, 0, 8, 0, 0};
	struct frame_buffer inside = frame_buffer_from(udp, sizeof udp);

	return version == 4 ? frame_wrap_ipv4(UDP, &inside) : frame_wrap_ipv6(UDP, &inside);
}

/* `header`, then what is inside, as the payload of an IPv4 packet. */
static struct frame_buffer
tunnel(uint8_t protocol, const void *header, uint32_t len, const struct frame_buffer *inside)
{
	struct frame_buffer payload = frame_buffer_from(header, len);

	frame_buffer_append(&payload, inside->data, inside->len);
	return frame_wrap_ipv4(protocol, &payload);
}

static struct frame_buffer
udp_tunnel(uint16_t port, const void *header, uint32_t len, const struct frame_buffer *inside)
{
	uint32_t length = 8 + len + inside->len;
	const uint8_t udp[8] = {0xc0, 0, (uint8_t)(port >> 8), (uint8_t)port, (uint8_t)(length >> 8), (uint8_t)length};
	struct frame_buffer payload = frame_buffer_from(udp, sizeof udp);

	frame_buffer_append(&payload, header, len);
	frame_buffer_append(&payload, inside->data, inside->len);
	return frame_wrap_ipv4(UDP, &payload);
}

/* The packet carries `inner`, and in it is the UDP datagram of innermost(). */
static void
carries(const struct frame_buffer *frame, enum inner_layer inner, enum network_layer network)
{
	const struct packet *outer = frame_dissect(DLT_IPV4, frame), *inside;

	assert_worst_anomaly(outer, ANOMALY_NONE);
	assert_int_equal(outer->inner, inner);
	inside = frame_dissect_inner(outer);
	assert_worst_anomaly(inside, ANOMALY_NONE);
	assert_int_equal(inside->network, network);
	assert_int_equal(inside->transport, TRANSPORT_UDP);
	assert_int_equal(inside->udp.dport, 2);
	assert_int_equal(inside->ether.present, inner == INNER_ETHERNET);
	assert_int_equal(inside->inner, INNER_NONE);
	assert_ptr_equal(inside->frame, outer->frame);
	assert_true(inside->layers_spent > outer->layers_spent);
}

static void
has_id(const struct frame_buffer *frame, uint32_t id)
{
	assert_int_equal(frame_dissect(DLT_IPV4, frame)->inner_id, id);
}

static void
carries_nothing(const struct frame_buffer *frame, enum anomaly reason)
{
	const struct packet *outer = frame_dissect(DLT_IPV4, frame);

	assert_worst_anomaly(outer, reason);
	assert_int_equal(outer->network, NETWORK_IPV4);
	assert_int_equal(outer->inner, INNER_NONE);
}

static void
ip_in_ip(void **state)
{
	struct frame_buffer v4 = innermost(4), v6 = innermost(6), frame;

	(void)state;
	frame = frame_wrap_ipv4(IPV4, &v4);
	carries(&frame, INNER_IP, NETWORK_IPV4);
	frame = frame_wrap_ipv4(IPV6, &v6);
	carries(&frame, INNER_IP, NETWORK_IPV6);
	assert_int_equal(frame_dissect(DLT_IPV4, &frame)->inner_type, 0x86dd);
	frame = frame_wrap_ipv4(IPV4, &v6); /* protocol 4 is IPv4 */
	assert_worst_anomaly(frame_dissect_inner(frame_dissect(DLT_IPV4, &frame)), ANOMALY_IP_VERSION);
	frame = frame_wrap_ipv6(IPV4, &v4);
	assert_int_equal(frame_dissect(DLT_IPV6, &frame)->inner, INNER_IP);
	frame = frame_wrap_ipv4_fragment(IPV4, 0x2000, &v4); /* not before it is whole */
	assert_int_equal(frame_dissect(DLT_IPV4, &frame)->inner, INNER_NONE);
}

static void
mpls_in_ip(void **state)
{
	static const uint8_t label[] = {0, 1, 1, 64};
	struct frame_buffer inside = innermost(4), frame = tunnel(MPLS, label, sizeof label, &inside);

	(void)state;
	carries(&frame, INNER_IP, NETWORK_IPV4);
}

static void
gre(void **state)
{
	static const uint8_t plain[] = {0, 0, 0x08, 0x00};
	static const uint8_t all[] = {0xb0, 0, 0x86, 0xdd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	static const uint8_t bridged[] = {0x20, 0, 0x65, 0x58, 0, 0, 0, 1};
	static const uint8_t other[] = {0, 0, 0x88, 0xcc};
	struct frame_buffer v4 = innermost(4), v6 = innermost(6), frame = frame_wrap_ether(0x0800, &v4), bytes;

	(void)state;
	bytes = tunnel(GRE, plain, sizeof plain, &v4);
	carries(&bytes, INNER_IP, NETWORK_IPV4);
	has_id(&bytes, 0);
	bytes = tunnel(GRE, all, sizeof all, &v6); /* checksum, key, sequence */
	carries(&bytes, INNER_IP, NETWORK_IPV6);
	has_id(&bytes, 0x05060708);
	for (uint32_t n = 0; n < sizeof all; n++) {
		struct frame_buffer none = {.len = 0};

		bytes = tunnel(GRE, all, n, &none);
		carries_nothing(&bytes, ANOMALY_GRE_SHORT);
	}
	bytes = tunnel(GRE, bridged, sizeof bridged, &frame);
	carries(&bytes, INNER_ETHERNET, NETWORK_IPV4);
	has_id(&bytes, 1);
	bytes = tunnel(GRE, other, sizeof other, &v4);
	carries_nothing(&bytes, ANOMALY_NONE);
}

static void
gre_invalid(void **state)
{
	static const uint8_t routed[] = {0x40, 0, 0x08, 0x00}, version[] = {0, 2, 0x08, 0x00};
	static const uint8_t reserved[] = {0x08, 0, 0x08, 0x00};
	struct frame_buffer inside = innermost(4), frame;
	const struct packet *packet;

	(void)state;
	frame = tunnel(GRE, routed, sizeof routed, &inside);
	carries_nothing(&frame, ANOMALY_GRE_ROUTING);
	frame = tunnel(GRE, version, sizeof version, &inside);
	carries_nothing(&frame, ANOMALY_GRE_VERSION);
	frame = tunnel(GRE, reserved, sizeof reserved, &inside);
	packet = frame_dissect(DLT_IPV4, &frame);
	assert_worst_anomaly(packet, ANOMALY_GRE_FLAGS);
	assert_int_equal(packet->inner, INNER_IP);
}

static void
pptp(void **state)
{
	/* key (length, call), sequence, acknowledgment; PPP with address and control, then compressed without */
	static const uint8_t both[] = {0x30, 0x81, 0x88, 0x0b, 0, 40, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 3, 0, 0x21};
	static const uint8_t compressed[] = {0x30, 0x01, 0x88, 0x0b, 0, 37, 0, 1, 0, 0, 0, 1, 0x57};
	static const uint8_t ack[] = {0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 1, 0, 0, 0, 1};
	static const uint8_t lcp[] = {0x30, 0x01, 0x88, 0x0b, 0, 4, 0, 1, 0, 0, 0, 1, 0xc0, 0x21, 1, 1};
	static const uint8_t no_key[] = {0x10, 0x01, 0x88, 0x0b, 0, 0, 0, 1, 0, 0x21};
	struct frame_buffer v4 = innermost(4), v6 = innermost(6), none = {.len = 0}, frame;

	(void)state;
	frame = tunnel(GRE, both, sizeof both, &v4);
	carries(&frame, INNER_IP, NETWORK_IPV4);
	frame = tunnel(GRE, compressed, sizeof compressed, &v6);
	carries(&frame, INNER_IP, NETWORK_IPV6);
	frame = tunnel(GRE, ack, sizeof ack, &none);
	carries_nothing(&frame, ANOMALY_NONE);
	frame = tunnel(GRE, lcp, sizeof lcp, &none);
	carries_nothing(&frame, ANOMALY_NONE);
	frame = tunnel(GRE, lcp, sizeof lcp - 3, &none);
	carries_nothing(&frame, ANOMALY_GRE_SHORT);
	frame = tunnel(GRE, no_key, sizeof no_key, &v4);
	assert_worst_anomaly(frame_dissect(DLT_IPV4, &frame), ANOMALY_GRE_FLAGS);
}

static void
vxlan(void **state)
{
	static const uint8_t header[] = {8, 0, 0, 0, 0, 0, 42, 0};
	uint8_t without[8] = {0};
	struct frame_buffer inside = innermost(4), frame = frame_wrap_ether(0x0800, &inside), none = {.len = 0}, bytes;
	const struct packet *packet;

	(void)state;
	bytes = udp_tunnel(4789, header, sizeof header, &frame);
	carries(&bytes, INNER_ETHERNET, NETWORK_IPV4);
	has_id(&bytes, 42);
	packet = frame_dissect(DLT_IPV4, &bytes);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->payload_wire, 8 + frame.len); /* of the outer datagram, VXLAN included */
	assert_int_equal(packet->payload.wire, frame.len);
	bytes = udp_tunnel(4789, without, sizeof without, &frame);
	carries_nothing(&bytes, ANOMALY_VXLAN_FLAGS);
	for (uint32_t n = 0; n < 8; n++) {
		bytes = udp_tunnel(4789, header, n, &none);
		carries_nothing(&bytes, ANOMALY_VXLAN_SHORT);
		assert_int_equal(frame_dissect(DLT_IPV4, &bytes)->transport, TRANSPORT_UDP);
		assert_worst_anomaly(frame_dissect_cut(DLT_IPV4, bytes.data, bytes.len - n, bytes.len),
				     ANOMALY_VXLAN_SHORT); /* the wire had no more, whatever was captured */
	}
	bytes = udp_tunnel(4789, header, sizeof header, &frame);
	assert_worst_anomaly(frame_dissect_cut(DLT_IPV4, bytes.data, 30, bytes.len), ANOMALY_TRUNCATED_TUNNEL);
	bytes = udp_tunnel(4790, header, sizeof header, &frame); /* another port is another protocol */
	carries_nothing(&bytes, ANOMALY_NONE);
}

static void
geneve(void **state)
{
	/* two words of options */
	static const uint8_t ether[] = {2, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	static const uint8_t ip[] = {0, 0, 0x86, 0xdd, 0, 0, 42, 0};
	static const uint8_t version[] = {0x40, 0, 0x86, 0xdd, 0, 0, 42, 0};
	static const uint8_t options[] = {0x20, 0, 0x86, 0xdd, 0, 0, 42, 0};
	struct frame_buffer v4 = innermost(4), v6 = innermost(6), frame = frame_wrap_ether(0x0800, &v4),
			    none = {.len = 0}, bytes;

	(void)state;
	bytes = udp_tunnel(6081, ether, sizeof ether, &frame);
	carries(&bytes, INNER_ETHERNET, NETWORK_IPV4);
	bytes = udp_tunnel(6081, ip, sizeof ip, &v6);
	carries(&bytes, INNER_IP, NETWORK_IPV6);
	has_id(&bytes, 42);
	bytes = udp_tunnel(6081, options, sizeof options, &v6); /* 128 bytes of options, more than there are */
	carries_nothing(&bytes, ANOMALY_GENEVE_SHORT);
	bytes = udp_tunnel(6081, version, sizeof version, &v6);
	carries_nothing(&bytes, ANOMALY_GENEVE_VERSION);
	for (uint32_t n = 0; n < sizeof ether; n++) {
		bytes = udp_tunnel(6081, ether, n, &none);
		carries_nothing(&bytes, ANOMALY_GENEVE_SHORT);
	}
}

static void
etherip(void **state)
{
	static const uint8_t header[] = {0x30, 0}, version[] = {0x40, 0};
	struct frame_buffer inside = innermost(6), frame = frame_wrap_ether(0x86dd, &inside), none = {.len = 0}, bytes;

	(void)state;
	bytes = tunnel(ETHERIP, header, sizeof header, &frame);
	carries(&bytes, INNER_ETHERNET, NETWORK_IPV6);
	bytes = tunnel(ETHERIP, version, sizeof version, &frame);
	carries_nothing(&bytes, ANOMALY_ETHERIP_VERSION);
	bytes = tunnel(ETHERIP, header, 1, &none);
	carries_nothing(&bytes, ANOMALY_ETHERIP_SHORT);
}

/* What is inside is cut like anything else: by the capture, or where the outer packet ends. */
static void
cut_inside(void **state)
{
	struct frame_buffer inside = innermost(4), frame = frame_wrap_ipv4(IPV4, &inside);

	(void)state;
	for (uint32_t n = 20; n < frame.len; n++) {
		const struct packet *outer = frame_dissect_cut(DLT_IPV4, frame.data, n, frame.len);

		assert_worst_anomaly(outer, ANOMALY_NONE);
		assert_worst_anomaly(frame_dissect_inner(outer),
				     n < 40 ? ANOMALY_TRUNCATED_NETWORK : ANOMALY_TRUNCATED_TRANSPORT);
	}
	inside.len -= 1;
	frame = frame_wrap_ipv4(IPV4, &inside);
	frame_buffer_append(&frame, "pad", 3); /* the link's padding is not the inner packet's */
	assert_worst_anomaly(frame_dissect_inner(frame_dissect(DLT_IPV4, &frame)), ANOMALY_IPV4_TOTAL_LENGTH);
}

static void
tunnels_are_limited(void **state)
{
	static const struct interface interface;
	struct frame_buffer bytes = innermost(4);
	struct frame frame;
	struct packet packets[2];
	unsigned depth = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		bytes = frame_wrap_ipv4(IPV4, &bytes);
	frame = (struct frame){
		.data = bytes.data, .interface = &interface, .caplen = bytes.len, .len = bytes.len, .dlt = DLT_IPV4};
	dissect_frame(&frame, &packets[0]);
	while (packets[depth % 2].inner != INNER_NONE) {
		dissect_inner(&packets[depth % 2], &packets[(depth + 1) % 2]);
		depth++;
	}
	assert_worst_anomaly(&packets[depth % 2], ANOMALY_LAYER_BUDGET);
	assert_int_equal(depth, DISSECT_TUNNELS_MAX + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ip_in_ip),	  cmocka_unit_test(mpls_in_ip),
	    cmocka_unit_test(gre),	  cmocka_unit_test(gre_invalid),
	    cmocka_unit_test(pptp),	  cmocka_unit_test(vxlan),
	    cmocka_unit_test(geneve),	  cmocka_unit_test(etherip),
	    cmocka_unit_test(cut_inside), cmocka_unit_test(tunnels_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
