/* SPDX-License-Identifier: BSD-2-Clause */
/* Which packets are copies of packets captured before, and what is not evidence that they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dissect/dissect.h"
#include "flow/duplicates.h"

enum { UDP = 17, TCP = 6, ACK = 16, SECOND = 1000000000, MS = 1000000, US = 1000 };

/* A packet as a sender sends it, and where it is captured. */
struct sent {
	uint8_t protocol;
	uint8_t host, peer;  /* last bytes of the addresses of sender and receiver */
	uint16_t ident;	     /* of IPv4 */
	uint32_t number;     /* ACK number, or what the payload of a datagram begins with */
	uint16_t sum;	     /* 0: the right one; of a segment */
	uint8_t mac;	     /* last byte of the destination's link address */
	uint16_t vlan, qinq; /* ids of the tags, 0: no tag */
	uint8_t ttl;	     /* 0: 64 */
};

static struct duplicates *duplicates;
static uint64_t now;

static int
begin(void **state)
{
	(void)state;
	duplicates = calloc(1, sizeof *duplicates);
	now = 1700000000ull * SECOND;
	return duplicates == NULL;
}

static int
end(void **state)
{
	(void)state;
	free(duplicates);
	return 0;
}

/* --- packets --- */

struct bytes {
	uint8_t data[128];
	uint32_t len;
};

static void
put(struct bytes *b, uint32_t value, uint32_t len)
{
	assert_true(b->len + len <= sizeof b->data);
	while (len-- != 0)
		b->data[b->len++] = (uint8_t)(value >> 8 * len);
}

static uint16_t
sum_of(const uint8_t *data, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static uint32_t
address(uint8_t host)
{
	return 0x0a000000u | host;
}

/* Sum of the pseudo-header, which is what the checksum of a segment holds until an interface completes it. */
static uint16_t
partial_sum(const struct sent *s, uint32_t len)
{
	struct bytes b = {.len = 0};

	put(&b, address(s->host), 4);
	put(&b, address(s->peer), 4);
	put(&b, s->protocol, 2);
	put(&b, len, 2);
	return sum_of(b.data, b.len, 0);
}

static void
put_segment(struct bytes *b, const struct sent *s)
{
	uint32_t at = b->len;
	uint16_t sum;

	put(b, 40000, 2);
	put(b, 80, 2);
	put(b, 1001, 4);
	put(b, s->number, 4);
	put(b, 0x5000 | ACK, 2);
	put(b, 65535, 2);
	put(b, s->sum, 2);
	put(b, 0, 2);
	if (s->sum != 0)
		return;
	sum = (uint16_t)~sum_of(b->data + at, b->len - at, partial_sum(s, b->len - at));
	b->data[at + 16] = (uint8_t)(sum >> 8);
	b->data[at + 17] = (uint8_t)sum;
}

static struct bytes
frame_of(const struct sent *s)
{
	struct bytes b = {.len = 0};
	uint32_t at;
	uint16_t sum;

	put(&b, 0x02000000, 4);
	put(&b, 0x0100u | s->mac, 2);
	put(&b, 0x02000000, 4);
	put(&b, 0x0200, 2);
	if (s->vlan != 0)
		put(&b, 0x81000000u | s->vlan, 4);
	if (s->qinq != 0)
		put(&b, 0x81000000u | s->qinq, 4);
	put(&b, 0x0800, 2);
	at = b.len;
	put(&b, 0x4500, 2);
	put(&b, s->protocol == TCP ? 40 : 20 + 8 + 12, 2);
	put(&b, s->ident, 2);
	put(&b, 0x4000, 2);
	put(&b, s->ttl == 0 ? 64 : s->ttl, 1);
	put(&b, s->protocol, 1);
	put(&b, 0, 2);
	put(&b, address(s->host), 4);
	put(&b, address(s->peer), 4);
	sum = (uint16_t)~sum_of(b.data + at, 20, 0);
	b.data[at + 10] = (uint8_t)(sum >> 8);
	b.data[at + 11] = (uint8_t)sum;
	if (s->protocol == TCP) {
		put_segment(&b, s);
		return b;
	}
	put(&b, 50000, 2);
	put(&b, 8125, 2);
	put(&b, 8 + 12, 2);
	put(&b, s->sum, 2);
	put(&b, s->number, 4);
	put(&b, 0x12345678, 4);
	put(&b, 0, 4);
	return b;
}

/* The print by the peek is that by the layers. */
static struct packet_print
print_of(const struct sent *s)
{
	static const struct interface interface = {.ifindex = 2};
	struct bytes b = frame_of(s);
	struct frame frame = {
	    .data = b.data, .interface = &interface, .ts = now, .caplen = b.len, .len = b.len, .dlt = DLT_EN10MB};
	struct frame_peek peek;
	enum peek_kind kind = peek_frame(&peek, &frame);
	struct packet_print print, peeked;
	struct packet packet;
	struct flow_key key;
	unsigned sender;

	dissect_frame(&frame, &packet);
	assert_int_equal(packet.worst_anomaly, ANOMALY_NONE);
	flow_key_from_packet(&packet, &key, &sender);
	print = print_from_packet(&packet, &key, sender);
	print_from_peek(&peeked, &frame, &peek, kind, &key, sender);
	assert_int_equal(print.content, peeked.content);
	assert_int_equal(print.sum, peeked.sum);
	assert_int_equal(print.place, peeked.place);
	assert_int_equal(print.pair, peeked.pair);
	assert_int_equal(print.ident, peeked.ident);
	assert_int_equal(print.ttl, peeked.ttl);
	return print;
}

/* Whether a packet that is captured so long after the one before is a copy. */
static bool
copied(uint64_t after, struct sent s)
{
	struct packet_print print = print_of(&s);

	now += after;
	return duplicates_find(duplicates, &print, DUPLICATE_RULE_ANY, IDENT_UNKNOWN, now);
}

/* --- the place --- */

static void
test_another_place(void **state)
{
	static const struct sent first = {.protocol = UDP, .host = 1, .peer = 2, .number = 7};
	struct sent other = first;

	(void)state;
	assert_false(copied(0, first));
	assert_false(copied(5 * MS, first));
	other.mac = 9;
	assert_true(copied(5 * MS, other));
	other = first;
	other.vlan = 10;
	assert_true(copied(1 * MS, other));
	other.vlan = 11;
	assert_true(copied(1 * MS, other));
	other.qinq = 12;
	assert_true(copied(1 * MS, other));
	other = first;
	other.ttl = 63;
	assert_true(copied(1 * MS, other));
	assert_false(copied(10 * MS, other));
}

/* The same datagram on one VLAN and with one inner tag, twice: a sender may send it again. */
static void
test_one_place(void **state)
{
	static const struct sent tagged = {.protocol = UDP, .host = 1, .peer = 2, .number = 7, .vlan = 10, .qinq = 20};

	(void)state;
	assert_false(copied(0, tagged));
	assert_false(copied(100 * US, tagged));
}

/* --- the checksum --- */

/* On "any" a packet of this host is captured before and after an interface has computed its checksum. */
static void
test_a_checksum_that_an_interface_completes(void **state)
{
	static const uint32_t length[] = {[TCP] = 20, [UDP] = 20};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sent whole = {
		    .protocol = i == 0 ? TCP : UDP, .host = 1, .peer = 2, .number = 5001, .sum = 0x1234};
		struct sent partial = whole;

		partial.mac = 9;
		partial.sum = partial_sum(&partial, length[partial.protocol]);
		assert_false(copied(SECOND, partial));
		assert_true(copied(100 * US, whole));
		assert_false(copied(SECOND, whole));
		assert_true(copied(100 * US, partial));
	}
}

static void
test_another_checksum(void **state)
{
	struct sent good = {.protocol = TCP, .host = 1, .peer = 2, .number = 5001, .ident = 9};
	struct sent bad = good;

	(void)state;
	bad.sum = 0xbad;
	assert_false(copied(0, bad));
	good.mac = 9;
	assert_false(copied(100 * US, good));
	assert_false(copied(100 * US, bad));
	bad.mac = 9;
	assert_true(copied(100 * US, bad));
}

/* --- the identification --- */

/* A sender that counts its identifications. */
static void
test_identifications_that_change(void **state)
{
	struct sent s = {.protocol = UDP, .host = 1, .peer = 2, .number = 7, .ident = 100};

	(void)state;
	assert_false(copied(SECOND, s));
	assert_true(copied(900 * US, s));
	for (unsigned i = 0; i < 3; i++) {
		s.ident++;
		assert_false(copied(SECOND, s));
		assert_true(copied(39 * MS, s));
	}
	assert_false(copied(41 * MS, s));
}

/* A sender with one for all packets sends the same datagram again at once. */
static void
test_identifications_that_repeat(void **state)
{
	struct sent s = {.protocol = UDP, .host = 1, .peer = 2, .ident = 1};
	struct sent other = {.protocol = UDP, .host = 3, .peer = 4, .ident = 50};

	(void)state;
	assert_false(copied(SECOND, s));
	assert_false(copied(2 * MS, s));
	for (s.number = 1; s.number < 9; s.number++) {
		assert_false(copied(SECOND, s));
		assert_false(copied(100 * US, s));
		assert_false(copied(5 * MS, s));
		/* Others are not affected. */
		other.ident++;
		assert_false(copied(0, other));
		assert_true(copied(other.ident == 51 ? 100 * US : 5 * MS, other));
	}
}

/* One to each receiver. */
static void
test_an_identification_for_each_receiver(void **state)
{
	struct sent s = {.protocol = TCP, .host = 1, .number = 5000};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		s.peer = (uint8_t)(2 + i % 2);
		s.ident = 300 + s.peer;
		s.number += i % 2;
		assert_false(copied(2 * MS, s));
		assert_false(copied(2 * MS, s));
	}
}

/* --- evidence of others --- */

/* A sender whose packets are captured twice `count` times, which its identifications prove. */
static void
prove(uint8_t host, unsigned count)
{
	struct sent s = {.protocol = UDP, .host = host, .peer = 200, .number = 99, .ident = 100};

	assert_false(copied(2 * MS, s));
	for (unsigned i = 0; i < count; i++) {
		s.ident++;
		assert_false(copied(2 * MS, s));
		assert_true(copied(100 * US, s));
	}
}

/* Only other packets can show whether this packet is a copy. */
static struct sent
unmarked(uint8_t host, uint32_t number)
{
	return (struct sent){.protocol = UDP, .host = host, .peer = 201, .number = number};
}

static void
test_evidence_of_the_sender(void **state)
{
	(void)state;
	prove(1, 1);
	assert_false(copied(SECOND, unmarked(1, 1)));
	assert_true(copied(100 * US, unmarked(1, 1)));
	/* Each packet is captured twice, not more often. */
	assert_false(copied(100 * US, unmarked(1, 1)));
	assert_true(copied(100 * US, unmarked(1, 1)));
	/* It does not last, and what it tells is not evidence itself. */
	for (unsigned i = 2; i < 20; i++) {
		bool expected = i < 10;

		assert_false(copied(SECOND, unmarked(1, i)));
		assert_int_equal(copied(100 * US, unmarked(1, i)), expected);
	}
}

/* Another sender, however often its packets are captured twice, proves nothing. */
static void
test_evidence_of_one_other(void **state)
{
	(void)state;
	prove(1, 50);
	for (unsigned i = 0; i < 20; i++) {
		assert_false(copied(MS, unmarked(2, i)));
		assert_false(copied(100 * US, unmarked(2, i)));
	}
}

/* What an application sends twice at once is not evidence. */
static void
test_no_evidence_by_time(void **state)
{
	struct packet_print print;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct sent query = unmarked(1, i);

		print = print_of(&query);
		now += MS;
		assert_false(duplicates_find(duplicates, &print, DUPLICATE_RULE_TIMER, IDENT_UNKNOWN, now));
		now += 20 * US;
		assert_true(duplicates_find(duplicates, &print, DUPLICATE_RULE_TIMER, IDENT_UNKNOWN, now));
	}
	assert_false(copied(MS, unmarked(1, 1000)));
	assert_false(copied(100 * US, unmarked(1, 1000)));
}

static void
test_evidence_of_several(void **state)
{
	(void)state;
	for (uint8_t host = 1; host <= DUPLICATE_SENDERS; host++) {
		assert_false(copied(MS, unmarked(100, host)));
		assert_false(copied(100 * US, unmarked(100, host)));
		prove(host, 1);
	}
	assert_false(copied(MS, unmarked(100, 20)));
	assert_true(copied(100 * US, unmarked(100, 20)));
	/* Not at another place. */
	for (unsigned i = 0; i < 2; i++) {
		struct sent elsewhere = unmarked(100, 21);

		elsewhere.mac = 9;
		assert_false(copied(100 * US, elsewhere));
	}
}

/* A packet that is sent again without a copy of the first shows that not all are copied. */
static void
test_evidence_against(void **state)
{
	(void)state;
	prove(1, 3);
	assert_false(copied(MS, unmarked(1, 1)));
	assert_true(copied(100 * US, unmarked(1, 1)));
	assert_false(copied(MS, unmarked(1, 2)));
	assert_false(copied(20 * MS, unmarked(1, 2)));
	assert_false(copied(20 * MS, unmarked(1, 2)));
	assert_false(copied(MS, unmarked(1, 3)));
	assert_false(copied(100 * US, unmarked(1, 3)));
}

/* duplicates_have() does not change what duplicates_find() finds: a packet that leaves the fast path asks both. */
static void
test_asked_twice(void **state)
{
	struct sent again = unmarked(1, 2);
	struct packet_print print;

	(void)state;
	prove(1, 2);
	assert_false(copied(MS, again));
	print = print_of(&again);
	now += 20 * MS;
	for (unsigned i = 0; i < 9; i++)
		assert_false(duplicates_have(duplicates, &print, DUPLICATE_RULE_ANY, IDENT_UNKNOWN, now));
	assert_false(copied(0, again));
	assert_false(copied(MS, unmarked(1, 3)));
	assert_true(copied(100 * US, unmarked(1, 3)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_another_place, begin, end),
	    cmocka_unit_test_setup_teardown(test_one_place, begin, end),
	    cmocka_unit_test_setup_teardown(test_a_checksum_that_an_interface_completes, begin, end),
	    cmocka_unit_test_setup_teardown(test_another_checksum, begin, end),
	    cmocka_unit_test_setup_teardown(test_identifications_that_change, begin, end),
	    cmocka_unit_test_setup_teardown(test_identifications_that_repeat, begin, end),
	    cmocka_unit_test_setup_teardown(test_an_identification_for_each_receiver, begin, end),
	    cmocka_unit_test_setup_teardown(test_evidence_of_the_sender, begin, end),
	    cmocka_unit_test_setup_teardown(test_evidence_of_one_other, begin, end),
	    cmocka_unit_test_setup_teardown(test_no_evidence_by_time, begin, end),
	    cmocka_unit_test_setup_teardown(test_evidence_of_several, begin, end),
	    cmocka_unit_test_setup_teardown(test_evidence_against, begin, end),
	    cmocka_unit_test_setup_teardown(test_asked_twice, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
