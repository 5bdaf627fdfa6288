/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of checksum validation, against sums computed here pair by pair.  The captures compared with tshark have some
 * thirty thousand right checksums of other implementations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "dissect/crc32c.h"
#include "dissect/layers.h"
#include "tests/dissect/frame_buffer.h"

static uint32_t
add(uint32_t sum, const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Folded sum of addresses, protocol and length: the pseudo header. */
static uint32_t
pseudo(const uint8_t *addresses, uint32_t addresses_len, uint8_t protocol, uint32_t length)
{
	return add(add(protocol + (length >> 16), addresses, addresses_len) + (length & 0xffff), NULL, 0);
}

static enum checksum_verdict
result(int dlt, const struct frame_buffer *frame)
{
	return checksum_verify(frame_dissect(dlt, frame));
}

/* The datagram `inside` in IPv4 and IPv6, its checksum field at `at`: right, wrong, left to the interface in both
 * ways, and cut. */
static void
check_transport(uint8_t protocol, struct frame_buffer inside, uint32_t at)
{
	for (int version = 4; version <= 6; version += 2) {
		int dlt = version == 4 ? DLT_IPV4 : DLT_IPV6;
		uint32_t header = version == 4 ? 20 : 40, first = version == 4 ? 12 : 8;
		struct frame_buffer frame =
		    version == 4 ? frame_wrap_ipv4(protocol, &inside) : frame_wrap_ipv6(protocol, &inside);
		uint8_t *field = frame.data + header + at;
		uint32_t sum = pseudo(frame.data + first, header - first, protocol, inside.len);
		uint32_t all;

		put16(field, 0);
		all = add(sum, frame.data + header, inside.len);
		put16(field, ~all);
		assert_int_equal(result(dlt, &frame), CHECKSUM_OK);
		assert_int_equal(checksum_verify(frame_dissect_cut(dlt, frame.data, frame.len - 1, frame.len)),
				 CHECKSUM_UNVERIFIED);
		put16(field, ~all ^ 0x100);
		assert_int_equal(result(dlt, &frame), CHECKSUM_BAD);
		put16(field, sum); /* Linux */
		assert_int_equal(result(dlt, &frame), CHECKSUM_PARTIAL);
		put16(field, pseudo(frame.data + first, header - first, protocol, 0)); /* without the length */
		assert_int_equal(result(dlt, &frame), CHECKSUM_PARTIAL);
	}
}

static void
tcp(void **state)
{
	static const uint8_t segment[] = {0x01, 0xbb, 0xc3, 0x50, 1, 2, 3, 4, 5, 6, 7,	 8,
					  0x50, 0x10, 1,    0,	  0, 0, 0, 0, 'o', 'd', 'd'};

	(void)state;
	check_transport(6, frame_buffer_from(segment, sizeof segment), 16);
	check_transport(6, frame_buffer_from(segment, sizeof segment - 1), 16);
}

static void
udp(void **state)
{
	static const uint8_t datagram[] = {0, 1, 0, 2, 0, 11, 0, 0, 'o', 'd', 'd'};
	struct frame_buffer inside = frame_buffer_from(datagram, sizeof datagram), frame = frame_wrap_ipv4(17, &inside);

	(void)state;
	check_transport(17, inside, 6);
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_UNVERIFIED); /* 0: the sender did not compute it */
}

/* The sum is over UDP's length, not over what IP carries after it. */
static void
udp_surplus(void **state)
{
	static const uint8_t datagram[] = {0, 1, 0, 2, 0, 9, 0, 0, 'a', 'b', 'c'};
	struct frame_buffer inside = frame_buffer_from(datagram, sizeof datagram), frame = frame_wrap_ipv4(17, &inside);

	(void)state;
	put16(frame.data + 26, ~add(pseudo(frame.data + 12, 8, 17, 9), frame.data + 20, 9));
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_OK);
	assert_int_equal(checksum_verify(frame_dissect_cut(DLT_IPV4, frame.data, 29, 31)), CHECKSUM_OK);
	assert_int_equal(checksum_verify(frame_dissect_cut(DLT_IPV4, frame.data, 28, 31)), CHECKSUM_UNVERIFIED);
}

static void
icmp(void **state)
{
	static const uint8_t request[] = {8, 0, 0, 0, 0x12, 0x34, 0, 7, 'o', 'd', 'd'};
	struct frame_buffer inside = frame_buffer_from(request, sizeof request), frame;

	(void)state;
	put16(inside.data + 2, ~add(0, inside.data, inside.len));
	frame = frame_wrap_ipv4(1, &inside);
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_OK);
	frame.data[30] ^= 1;
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_BAD);
}

static void
icmpv6(void **state)
{
	static const uint8_t request[] = {128, 0, 0, 0, 0x12, 0x34, 0, 7, 'o', 'd', 'd'};
	struct frame_buffer inside = frame_buffer_from(request, sizeof request), frame = frame_wrap_ipv6(58, &inside);

	(void)state;
	put16(frame.data + 42, ~add(pseudo(frame.data + 8, 32, 58, inside.len), frame.data + 40, inside.len));
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_OK);
	frame.data[50] ^= 1;
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_BAD);
}

/* An IPv6 datagram sums the final destination and the home address (RFC 8200 section 8.1, RFC 6275 section 6.3). */
static void
addresses_in_extension_headers(void **state)
{
	uint8_t chain[24 + 24 + 11] = {
		43, 2, 0xc9, 16, [4] = 1,	/* destination: home address 01 00 .. */
		[24] = 17, 2, 2, 1, [32] = 2,	/* routing type 2, one segment left: 02 00 .. */
		[48] = 0, 1, 0, 2, 0, 11, 0, 0, 'o', 'd', 'd',
	};
	uint8_t addresses[32] = {1, [16] = 2};
	struct frame_buffer inside, frame;

	(void)state;
	put16(chain + 54, ~add(pseudo(addresses, 32, 17, 11), chain + 48, 11));
	chain[2] = 1; /* first without the home address: PadN, with its own length */
	chain[3] = 20;
	inside = frame_buffer_from(chain, sizeof chain);
	frame = frame_wrap_ipv6(60, &inside);
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_BAD);
	frame.data[42] = 0xc9;
	frame.data[43] = 16;
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_OK);
	frame.data[40 + 24 + 2] = 4; /* segment routing: the list is written backwards, one entry is either */
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_OK);
	frame.data[40 + 24 + 2] = 3; /* RPL compresses addresses */
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_UNVERIFIED);
	frame.data[40 + 24 + 3] = 0; /* no segments left: the destination is where it belongs */
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_BAD);
}

static void
crc32c(void **state)
{
	static const uint8_t check[] = "123456789";
	uint8_t zeros[32] = {0};

	(void)state;
	assert_int_equal(~crc32c_update(0xffffffff, (struct slice){check, 9}), 0xe3069283);
	assert_int_equal(~crc32c_update(0xffffffff, (struct slice){zeros, 32}), 0x8a9136aa); /* RFC 3720 B.4 */
}

static void
sctp(void **state)
{
	static const uint8_t packet[] = {0, 1, 0, 2, 1, 2, 3, 4, 0, 0, 0, 0, 3, 0, 0, 4};
	struct frame_buffer inside = frame_buffer_from(packet, sizeof packet), frame;
	uint32_t crc = ~crc32c_update(0xffffffff, (struct slice){packet, sizeof packet});

	(void)state;
	frame = frame_wrap_ipv4(132, &inside);
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_PARTIAL); /* 0: left to the interface */
	for (unsigned i = 0; i < 4; i++) /* RFC 9260 appendix A: least significant byte first */
		frame.data[28 + i] = (uint8_t)(crc >> 8 * i);
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_OK);
	frame.data[28] ^= 1;
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_BAD);
}

/* RFC 4340 section 9.2: the checksum covers the header and the first part of the data; the pseudo header has the whole
 * length. */
static void
dccp(void **state)
{
	static const uint8_t addresses[8] = {10, 0, 0, 1, 10, 0, 0, 2};
	uint8_t packet[] = {0, 1, 0, 2, 3, 0, 0, 0, 2 << 1, 1, 2, 3, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'};
	struct frame_buffer inside, frame;

	(void)state;
	for (uint8_t coverage = 0; coverage <= 3; coverage++) { /* 9 bytes of data */
		unsigned covered = coverage == 0 ? sizeof packet : 12 + (coverage - 1u) * 4;

		packet[5] = coverage;
		put16(packet + 6, 0);
		put16(packet + 6, ~add(pseudo(addresses, 8, 33, sizeof packet), packet, covered));
		inside = frame_buffer_from(packet, sizeof packet);
		frame = frame_wrap_ipv4(33, &inside);
		assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_OK);
		for (unsigned i = 0; i < sizeof packet; i++) {
			if (i == 4 || i == 5)
				continue; /* the data offset and the coverage itself */
			frame.data[20 + i] ^= 0x10;
			assert_int_equal(result(DLT_IPV4, &frame), i < covered ? CHECKSUM_BAD : CHECKSUM_OK);
			frame.data[20 + i] ^= 0x10;
		}
		/* Only what is covered must be captured. */
		assert_int_equal(checksum_verify(frame_dissect_cut(DLT_IPV4, frame.data, 20 + covered, frame.len)),
				 CHECKSUM_OK);
		assert_int_equal(checksum_verify(frame_dissect_cut(DLT_IPV4, frame.data, 19 + covered, frame.len)),
				 covered > 12 ? CHECKSUM_UNVERIFIED : CHECKSUM_OK);
	}
	frame.data[20 + 5] = 4; /* 12 bytes, more than there are */
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_UNVERIFIED);
}

/* Without a transport the result is that of the IPv4 header. */
static void
ipv4_header(void **state)
{
	static const uint8_t data[8] = {1};
	struct frame_buffer inside = frame_buffer_from(data, sizeof data),
			    frame = frame_wrap_ipv4_fragment(17, 0x2000, &inside);

	(void)state;
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_OK);
	assert_int_equal(checksum_verify(frame_dissect_cut(DLT_IPV4, frame.data, 20, 28)), CHECKSUM_OK);
	assert_int_equal(checksum_verify(frame_dissect_cut(DLT_IPV4, frame.data, 19, 28)), CHECKSUM_UNVERIFIED);
	frame.data[4] ^= 1;
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_BAD);
	put16(frame.data + 10, 0);
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_PARTIAL);
	frame.data[0] = 0x44; /* an invalid header length */
	assert_int_equal(result(DLT_IPV4, &frame), CHECKSUM_UNVERIFIED);
	frame = frame_wrap_ipv6(59, &inside);
	assert_int_equal(result(DLT_IPV6, &frame), CHECKSUM_UNVERIFIED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp),
		cmocka_unit_test(udp),
		cmocka_unit_test(udp_surplus),
		cmocka_unit_test(icmp),
		cmocka_unit_test(icmpv6),
		cmocka_unit_test(addresses_in_extension_headers),
		cmocka_unit_test(crc32c),
		cmocka_unit_test(sctp),
		cmocka_unit_test(dccp),
		cmocka_unit_test(ipv4_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
