/* SPDX-License-Identifier: BSD-2-Clause */
/* DNS: names, records, messages cut at every byte, streams split at every place, requests and their timeouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "apps/dns/dns.h"
#include "flow/flow.h"

#define SECOND UINT64_C(1000000000)

/* --- messages --- */

struct buffer {
	uint8_t at[70000];
	uint32_t length;
};

static struct buffer b;
static struct dns_message message;
static enum anomaly anomaly;

static void
put(const void *bytes, size_t length)
{
	memcpy(b.at + b.length, bytes, length);
	b.length += (uint32_t)length;
}

static void
put_u16(unsigned value)
{
	uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};

	put(bytes, 2);
}

static void
put_header(unsigned id, unsigned flags, unsigned questions, unsigned answers, unsigned additional)
{
	b.length = 0;
	put_u16(id);
	put_u16(flags);
	put_u16(questions);
	put_u16(answers);
	put_u16(0);
	put_u16(additional);
}

#define PUT_BYTES(text) put((text), sizeof(text) - 1)

static void
put_question(void)
{
	PUT_BYTES("\3wWw\7example\3com\0");
	put_u16(1);
	put_u16(1);
}

static void
put_record(unsigned type, unsigned class, uint32_t ttl, unsigned length)
{
	put_u16(type);
	put_u16(class);
	put_u16(ttl >> 16);
	put_u16(ttl & 0xffff);
	put_u16(length);
}

/* A response with a CNAME, an address and EDNS, names compressed. */
static void
make_response(void)
{
	put_header(0x1234, 0x8180, 1, 2, 1);
	put_question();
	put_u16(0xc00c);
	put_record(5, 1, 300, 6);
	PUT_BYTES("\3web\xc0\x10");
	put_u16(0xc02d);
	put_record(1, 1, 60, 4);
	PUT_BYTES("\xc0\x00\x02\x07");
	PUT_BYTES("\0");
	put_record(41, 1232, 0x01008000, 0);
}

static bool
parse(void)
{
	return dns_parse((struct slice){b.at, b.length}, b.length, &message, &anomaly);
}

static void
test_response(void **state)
{
	(void)state;
	make_response();
	assert_true(parse());
	assert_int_equal(anomaly, ANOMALY_NONE);
	assert_int_equal(message.id, 0x1234);
	assert_string_equal(message.qname, "wWw.example.com");
	assert_int_equal(message.qtype, 1);
	assert_string_equal(message.cname, "web.example.com");
	assert_int_equal(message.addr_version, 4);
	assert_memory_equal(message.addr, "\xc0\x00\x02\x07", 4);
	assert_int_equal(message.ttl, 300);
	assert_int_equal(message.edns_size, 1232);
	assert_true(message.dnssec_ok);
	assert_int_equal(message.rcode, 16);
	assert_int_equal(message.latency_us, -1);
}

/* Malformed if the message is that short; only incomplete if the snapshot length cut it. */
static void
test_cut_at_every_byte(void **state)
{
	const uint32_t question_end = 12 + 17 + 4;
	uint32_t whole;

	(void)state;
	make_response();
	whole = b.length;
	for (uint32_t cut = 0; cut < whole; cut++) {
		uint8_t *copy = malloc(cut + 1); /* for AddressSanitizer */

		memcpy(copy, b.at, cut);
		assert_int_equal(dns_parse((struct slice){copy, cut}, cut, &message, &anomaly), cut >= question_end);
		assert_int_equal(anomaly, ANOMALY_DNS_SHORT);
		assert_int_equal(dns_parse((struct slice){copy, cut}, whole, &message, &anomaly), cut >= question_end);
		assert_int_equal(anomaly, ANOMALY_NONE);
		free(copy);
	}
}

static void
put_query_name(const char *name, size_t length)
{
	put_header(1, 0x0100, 1, 0, 0);
	put(name, length);
	put_u16(28);
	put_u16(1);
}

#define QUERY(name) put_query_name((name), sizeof(name) - 1)

static void
test_names(void **state)
{
	(void)state;
	QUERY("\0");
	assert_true(parse());
	assert_string_equal(message.qname, ".");
	QUERY("\x05" "a.b\\\"" "\x06" "\0\xff " "\x7f" "()" "\0");
	assert_true(parse());
	assert_string_equal(message.qname, "a\\.b\\\\\\\".\\000\\255\\032\\127\\(\\)");
	QUERY("\xc0\x0c"); /* points to itself */
	assert_false(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_POINTER);
	QUERY("\xc0\x20"); /* forward */
	assert_false(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_POINTER);
	QUERY("\1a\xc0\x0c"); /* a loop */
	assert_false(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_POINTER);
	QUERY("\x41" "aa");
	assert_false(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_LABEL);
}

/* Data full of pointers, each to the one before it, and a record whose name is the last of them. */
static void
test_chains_of_pointers(void **state)
{
	(void)state;
	for (unsigned pointers = DNS_POINTERS_MAX; pointers <= DNS_POINTERS_MAX + 1; pointers++) {
		put_header(1, 0x8000, 1, 1, 0);
		PUT_BYTES("\0");
		put_u16(1);
		put_u16(1);
		PUT_BYTES("\0");
		put_record(16, 1, 0, 2 * (pointers - 1));
		put_u16(0xc00c);
		for (unsigned i = 1; i < pointers - 1; i++)
			put_u16(0xc000 | (b.length - 2));
		b.at[7] = 2;
		put_u16(0xc000 | (b.length - 2));
		put_record(16, 1, 0, 0);
		assert_true(parse());
		assert_int_equal(anomaly, pointers > DNS_POINTERS_MAX ? ANOMALY_DNS_POINTER : ANOMALY_NONE);
	}
}

/* A name of `labels` labels with 62 bytes, one of `rest` bytes, and the root. */
static void
put_long_name(unsigned labels, unsigned rest)
{
	uint8_t label[64];

	put_header(1, 0x0100, 1, 0, 0);
	memset(label, 'x', sizeof label);
	for (unsigned i = 0; i <= labels; i++) {
		label[0] = (uint8_t)(i < labels ? 62 : rest);
		put(label, label[0] + 1u);
	}
	PUT_BYTES("\0");
	put_u16(1);
	put_u16(1);
}

static void
test_length_of_a_name(void **state)
{
	(void)state;
	put_long_name(4, 1); /* 4 * 63 + 2 + 1 = 255 */
	assert_true(parse());
	assert_int_equal(strlen(message.qname), 4 * 63 + 1);
	put_long_name(4, 2);
	assert_false(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_NAME_LENGTH);
}

static void
test_counts_that_lie(void **state)
{
	(void)state;
	put_header(1, 0x8000, 1, 65535, 65535);
	put_question();
	assert_true(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_SHORT);
	put_header(1, 0x8000, 1, 1000, 0);
	put_question();
	for (unsigned i = 0; i < 1000; i++) {
		put_u16(0xc00c);
		put_record(16, 1, 0, 0);
	}
	assert_true(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_RECORD_LIMIT);
	put_header(1, 0x8000, 1, 1, 0);
	put_question();
	put_u16(0xc00c);
	put_record(28, 1, 0, 4);
	PUT_BYTES("abcd");
	assert_true(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_RECORD);
	put_header(1, 0x0100, 1, 0, 0);
	put_question();
	PUT_BYTES("more");
	assert_true(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_TRAILING);
}

/* Data of a CNAME record that is damaged, or longer or shorter than its name. */
static void
test_cname_that_lies(void **state)
{
	static const unsigned lengths[] = {6, 5, 8, 0};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		put_header(1, 0x8000, 1, 1, 0);
		put_question();
		put_u16(0xc00c);
		put_record(5, 1, 0, lengths[i]);
		PUT_BYTES("\3web\xc0\x10");
		if (lengths[i] > 6)
			PUT_BYTES("  ");
		assert_true(parse());
		assert_int_equal(anomaly, i == 0 ? ANOMALY_NONE : ANOMALY_DNS_RECORD);
		assert_string_equal(message.cname, i == 0 ? "web.example.com" : "");
	}
	put_header(1, 0x8000, 1, 1, 0);
	put_question();
	put_u16(0xc00c);
	put_record(5, 1, 0, 6);
	PUT_BYTES("\3web\xc0\xff");
	assert_true(parse());
	assert_int_equal(anomaly, ANOMALY_DNS_POINTER);
	assert_string_equal(message.cname, "");
}

/* The name of a second question runs from an earlier place into bytes that were not captured. */
static void
test_cut_after_a_pointer(void **state)
{
	(void)state;
	put_header(1, 0x8000, 2, 1, 0);
	PUT_BYTES("\0\0\x3f\0\1"); /* root; its type is the length of a label, too */
	PUT_BYTES("\xc0\x0e\0\1\0\1\0");
	put_record(1, 1, 60, 4);
	PUT_BYTES("\xc0\x00\x02\x07");
	assert_true(dns_parse((struct slice){b.at, b.length}, 1000, &message, &anomaly));
	assert_int_equal(anomaly, ANOMALY_NONE);
	assert_int_equal(message.addr_version, 0);
}

static void
test_words(void **state)
{
	char word[12];

	(void)state;
	dns_put_type(word, sizeof word, 65);
	assert_string_equal(word, "HTTPS");
	dns_put_type(word, sizeof word, 65535);
	assert_string_equal(word, "TYPE65535");
	dns_put_rcode(word, sizeof word, 3);
	assert_string_equal(word, "NXDOMAIN");
	dns_put_rcode(word, sizeof word, 4095);
	assert_string_equal(word, "RCODE4095");
}

/* --- the reader --- */

static struct flow flow = {.kind = FLOW_TCP, .key = {.port = {40000, 53}}};
static struct dns_message reported[8];
static unsigned reports, anomalies[ANOMALY_COUNT], timeouts;
static char name[256];

static void
on_message(void *context, unsigned sender, const void *found)
{
	(void)context;
	(void)sender;
	assert_true(reports < 8);
	reported[reports++] = *(const struct dns_message *)found;
}

static void
on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	anomalies[a]++;
}

static void
on_name(void *context, const char *found)
{
	(void)context;
	memcpy(name, found, strlen(found) + 1);
}

static bool
on_timeout(void *context, const struct flow *of, uint64_t cid, uint64_t time, const void *found)
{
	const struct dns_message *query = found;

	(void)context;
	assert_ptr_equal(of, &flow);
	assert_int_equal(cid, 7);
	assert_true(time % SECOND == 0);
	assert_true(query->timed_out);
	timeouts++;
	return true;
}

static struct app_context ctx = {.flow = &flow,
				 .cid = 7,
				 .server_endpoint = 1,
				 .traced = true,
				 .on_message = on_message,
				 .on_anomaly = on_anomaly,
				 .on_name = on_name,
				 .on_timeout = on_timeout};

static int
begin(void **state)
{
	const struct app_settings settings = {.seed = 1, .timeout_ns = 5 * SECOND};

	(void)state;
	reports = timeouts = 0;
	memset(anomalies, 0, sizeof anomalies);
	name[0] = '\0';
	flow.kind = FLOW_TCP;
	flow.key.port[1] = 53;
	ctx.now = 100 * SECOND;
	ctx.state = calloc(1, dns_reader.state_size);
	ctx.shared = dns_reader.open(&settings);
	return ctx.state == NULL || ctx.shared == NULL;
}

static int
end(void **state)
{
	(void)state;
	dns_reader.close(ctx.shared);
	free(ctx.state);
	return 0;
}

static void
feed(unsigned sender, uint32_t from, uint32_t to)
{
	dns_reader.on_bytes(&ctx, sender, (struct slice){b.at + from, to - from});
}

/* Two messages after their lengths. */
static void
make_stream(void)
{
	static struct buffer both;

	both.length = 0;
	for (unsigned i = 0; i < 2; i++) {
		make_response();
		b.at[1] = (uint8_t)i;
		both.at[both.length++] = (uint8_t)(b.length >> 8);
		both.at[both.length++] = (uint8_t)b.length;
		memcpy(both.at + both.length, b.at, b.length);
		both.length += b.length;
	}
	b = both;
}

static void
test_stream_split_at_every_place(void **state)
{
	(void)state;
	make_stream();
	for (uint32_t cut = 0; cut <= b.length; cut++) {
		reports = 0;
		dns_reader.on_start(&ctx, 1, true);
		feed(1, 0, cut);
		feed(1, cut, b.length);
		assert_int_equal(reports, 2);
		assert_int_equal(reported[0].id, 0x1200);
		assert_int_equal(reported[1].id, 0x1201);
		assert_int_equal(reported[1].transport, DNS_TCP);
		assert_string_equal(reported[1].cname, "web.example.com");
	}
	reports = 0;
	dns_reader.on_start(&ctx, 1, true);
	for (uint32_t i = 0; i < b.length; i++)
		feed(1, i, i + 1);
	assert_int_equal(reports, 2);
	assert_string_equal(name, "wWw.example.com");
}

static void
test_gaps(void **state)
{
	uint32_t half;

	(void)state;
	make_stream();
	half = b.length / 2;
	dns_reader.on_start(&ctx, 1, true);
	feed(1, 0, 60);
	dns_reader.on_gap(&ctx, 1, half - 60);
	feed(1, half, b.length);
	assert_int_equal(reports, 2); /* the first without its answers */
	assert_int_equal(reported[0].addr_version, 0);
	assert_int_equal(reported[1].addr_version, 4);
	dns_reader.on_gap(&ctx, 1, 1);
	feed(1, 1, half); /* not the beginning of a message */
	assert_int_equal(anomalies[ANOMALY_DNS_UNFOUND], 1);
	feed(1, half, b.length);
	assert_int_equal(reports, 3);
	dns_reader.on_start(&ctx, 0, false);
	feed(0, 0, half); /* responses, but sent by the client */
	assert_int_equal(anomalies[ANOMALY_DNS_UNFOUND], 2);
	assert_int_equal(reports, 3);
}

static void
test_long_message_on_tcp(void **state)
{
	uint8_t length[2] = {0xff, 0xff};

	(void)state;
	put_header(1, 0x8000, 1, 250, 0);
	put_question();
	b.length = 65535;
	dns_reader.on_start(&ctx, 1, true);
	dns_reader.on_bytes(&ctx, 1, (struct slice){length, 2});
	for (uint32_t i = 0; i < b.length; i += 1000)
		feed(1, i, i + 1000 < b.length ? i + 1000 : b.length);
	assert_int_equal(reports, 1);
	assert_int_equal(reported[0].size, 65535);
	assert_int_equal(anomalies[ANOMALY_DNS_SHORT], 0);
	assert_int_equal(anomalies[ANOMALY_DNS_MESSAGE_LIMIT], 1);
	feed(1, 0, 0);
	b.at[0] = b.at[1] = 0xff;
	feed(1, 0, b.length);
	assert_int_equal(anomalies[ANOMALY_DNS_MESSAGE_LIMIT], 1); /* not if one segment has all of it */
}

/* A damaged message is not reported; the next one is. */
static void
test_damage_on_tcp(void **state)
{
	(void)state;
	make_stream();
	dns_reader.on_start(&ctx, 1, true);
	feed(1, 0, b.length);
	b.at[2 + 12] = 0x80;
	feed(1, 0, b.length);
	assert_int_equal(reports, 3);
	assert_int_equal(reported[2].id, 0x1201);
	assert_int_equal(anomalies[ANOMALY_DNS_LABEL], 1);
	assert_true(dns_reader.is_reading(ctx.state, 1));
}

static void
test_another_protocol(void **state)
{
	(void)state;
	b.length = 0;
	PUT_BYTES("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
	dns_reader.on_start(&ctx, 0, true);
	for (unsigned i = 0; i < 2000 && dns_reader.is_reading(ctx.state, 0); i++)
		feed(0, 0, b.length);
	assert_false(dns_reader.is_reading(ctx.state, 0));
	assert_int_equal(reports, 0);
}

/* --- requests --- */

static void
send_datagram(unsigned id, unsigned flags, uint64_t at)
{
	ctx.now = at;
	flow.kind = FLOW_UDP;
	put_header(id, flags, 1, 0, 0);
	put_question();
	dns_reader.on_datagram(&ctx, (flags & DNS_RESPONSE) != 0, (struct slice){b.at, b.length}, b.length);
}

static const struct app_request_counters *
counters(void)
{
	return dns_reader.request_counters(ctx.shared);
}

static void
test_latency_and_tries(void **state)
{
	(void)state;
	send_datagram(1, 0x0100, 100 * SECOND);
	send_datagram(2, 0x0100, 100 * SECOND);
	send_datagram(1, 0x0100, 101 * SECOND);
	send_datagram(1, 0x8180, 101 * SECOND + 250000);
	send_datagram(1, 0x8180, 102 * SECOND);
	assert_int_equal(reports, 5);
	assert_int_equal(reported[0].tries, 1);
	assert_int_equal(reported[2].tries, 2);
	assert_int_equal(reported[3].tries, 2);
	assert_int_equal(reported[3].latency_us, 1000250);
	assert_int_equal(reported[4].latency_us, -1); /* a second response */
	assert_int_equal(reported[4].tries, 0);
	assert_int_equal(counters()->now, 1);
	assert_int_equal(counters()->answered, 1);
}

/* The next query with the same id and name is timed by its own response. */
static void
test_a_second_response(void **state)
{
	(void)state;
	send_datagram(1, 0x0100, 100 * SECOND);
	send_datagram(1, 0x8180, 100 * SECOND + 1000);
	send_datagram(1, 0x8180, 100 * SECOND + 2000); /* superfluous */
	send_datagram(1, 0x8180, 100 * SECOND + 3000);
	send_datagram(1, 0x0100, 100 * SECOND + 500000);
	send_datagram(1, 0x8180, 100 * SECOND + 504000);
	assert_int_equal(reported[5].latency_us, 4);
	assert_int_equal(counters()->answered, 2);
	assert_int_equal(counters()->now, 0);
}

/* So is one after a query that was answered after its timeout. */
static void
test_a_response_after_the_timeout(void **state)
{
	(void)state;
	send_datagram(1, 0x0100, 100 * SECOND);
	ctx.now = 105 * SECOND;
	dns_reader.on_time(&ctx);
	assert_int_equal(timeouts, 1);
	send_datagram(1, 0x8180, 105 * SECOND + 300000);
	send_datagram(1, 0x0100, 105 * SECOND + 500000);
	send_datagram(1, 0x8180, 105 * SECOND + 504000);
	assert_int_equal(reported[3].latency_us, 4);
}

/* Each response that is captured before its query answers one. */
static void
test_responses_before_their_queries(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		send_datagram(1, i < 2 ? 0x8180 : 0x0100, 100 * SECOND + i * 1000);
	assert_int_equal(counters()->now, 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(reported[i].latency_us, -1);
	send_datagram(1, 0x0100, 100 * SECOND + 5000);
	assert_int_equal(counters()->now, 1);
}

/* A message with the id and name of a query answers it only if it comes from the other end. */
static void
test_senders(void **state)
{
	(void)state;
	send_datagram(1, 0x0100, 100 * SECOND);
	dns_reader.on_datagram(&ctx, 1, (struct slice){b.at, b.length}, b.length);
	assert_int_equal(reported[1].tries, 1); /* the other end asks the same */
	assert_int_equal(counters()->begun, 2);
	b.at[2] |= 0x80;
	dns_reader.on_datagram(&ctx, 0, (struct slice){b.at, b.length}, b.length);
	dns_reader.on_datagram(&ctx, 0, (struct slice){b.at, b.length}, b.length);
	assert_int_equal(reported[2].latency_us, 0);
	assert_int_equal(reported[3].latency_us, -1);
	assert_int_equal(counters()->now, 1);
}

static void
test_timeouts(void **state)
{
	(void)state;
	assert_true(dns_reader.next_timeout(ctx.shared) == UINT64_MAX);
	send_datagram(1, 0x0100, 100 * SECOND);
	send_datagram(2, 0x0100, 101 * SECOND);
	send_datagram(3, 0x0100, 102 * SECOND);
	send_datagram(2, 0x8180, 103 * SECOND);
	assert_true(dns_reader.next_timeout(ctx.shared) == 105 * SECOND);
	ctx.now = 106 * SECOND;
	dns_reader.on_time(&ctx);
	assert_int_equal(timeouts, 1);
	assert_true(dns_reader.next_timeout(ctx.shared) == 107 * SECOND);
	ctx.now = 107 * SECOND;
	dns_reader.on_time(&ctx);
	assert_int_equal(timeouts, 2);
	assert_int_equal(counters()->now, 0);
	assert_int_equal(counters()->timed_out, 2);
}

/* Groups: each host that knows the name answers from an address of its own. */
static void
test_mdns_has_no_timeouts(void **state)
{
	(void)state;
	flow.key.port[1] = 5353;
	send_datagram(0, 0, 100 * SECOND);
	flow.key.port[1] = 5355;
	send_datagram(0, 0, 100 * SECOND);
	assert_int_equal(reported[0].transport, DNS_MDNS);
	assert_int_equal(reported[1].transport, DNS_LLMNR);
	assert_int_equal(counters()->begun, 0);
}

static void
test_requests_are_bounded(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DNS_REQUESTS_MAX + 100; i++) {
		reports = 0;
		ctx.cid = 7 + 2 * (i / 65536);
		send_datagram(i & 0xffff, 0x0100, 100 * SECOND);
	}
	assert_int_equal(counters()->now, DNS_REQUESTS_MAX);
	assert_int_equal(counters()->evicted, 100);
	ctx.cid = 7;
	reports = 0;
	send_datagram(99, 0x8180, 101 * SECOND);
	assert_int_equal(reported[0].latency_us, -1);
	send_datagram(100, 0x8180, 101 * SECOND);
	assert_int_equal(reported[1].latency_us, 1000000);
}

#define WITH_READER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_response),
	    cmocka_unit_test(test_cut_at_every_byte),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_chains_of_pointers),
	    cmocka_unit_test(test_length_of_a_name),
	    cmocka_unit_test(test_counts_that_lie),
	    cmocka_unit_test(test_cname_that_lies),
	    cmocka_unit_test(test_cut_after_a_pointer),
	    cmocka_unit_test(test_words),
	    WITH_READER(test_stream_split_at_every_place),
	    WITH_READER(test_gaps),
	    WITH_READER(test_long_message_on_tcp),
	    WITH_READER(test_damage_on_tcp),
	    WITH_READER(test_another_protocol),
	    WITH_READER(test_latency_and_tries),
	    WITH_READER(test_a_second_response),
	    WITH_READER(test_a_response_after_the_timeout),
	    WITH_READER(test_responses_before_their_queries),
	    WITH_READER(test_senders),
	    WITH_READER(test_timeouts),
	    WITH_READER(test_mdns_has_no_timeouts),
	    WITH_READER(test_requests_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
