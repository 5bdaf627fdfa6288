/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS: fingerprints, first bytes, handshakes split at every place, gaps, damaged and hostile messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "apps/tls/tls_ja4.h"
#include "apps/tls/tls_reader.h"
#include "flow/flow.h"

static void
test_state_is_small(void **state)
{
	(void)state;
	assert_true(sizeof(struct tls_connection) <= 1536);
}

/* The example of the JA4 specification. */
static void
test_fingerprint_of_the_specification(void **state)
{
	struct tls_client client = {
	    .cipher = {0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013, 0xc014, 0x009c,
		       0x009d, 0x002f, 0x0035},
	    .ciphers = 15,
	    .extension = {0x001b, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002d, 0x000d, 0x0005, 0x0023, 0x0012,
			  0x002b, 0xff01, 0x000b, 0x000a, 0x0015},
	    .extensions = 16,
	    .signature = {0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601},
	    .signatures = 8,
	    .version = TLS_1_3,
	    .alpn_first = 'h',
	    .alpn_last = '2',
	    .alpn_length = 2,
	    .named = true,
	};
	char ja4[TLS_JA4_SIZE];

	(void)state;
	tls_ja4(&client, ja4);
	assert_string_equal(ja4, "t13d1516h2_8daaf6152771_e5627efa2ab1");
	client.too_many = true;
	tls_ja4(&client, ja4);
	assert_string_equal(ja4, "");
}

static void
test_first_bytes(void **state)
{
	uint8_t hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, sslv2[] = {0x80, 46, 1, 3, 1};

	(void)state;
	assert_true(tls_is_client_hello((struct slice){hello, sizeof hello}));
	for (uint32_t n = 0; n < sizeof hello; n++)
		assert_false(tls_is_client_hello((struct slice){hello, n}));
	assert_true(tls_is_sslv2_hello((struct slice){sslv2, sizeof sslv2}));
	assert_false(tls_is_sslv2_hello((struct slice){hello, sizeof hello}));
}

/* --- streams --- */

/*
 * A ClientHello with GREASE, whose fingerprint python3 computes from its lists:
 *   h = lambda s: hashlib.sha256(s.encode()).hexdigest()[:12]
 *   "t13d0204h2_" + h("1301,c02f") + "_" + h("000d,002b_0403,0804")
 */
#define CLIENT_JA4 "t13d0204h2_c1929292aa6b_ef5f37ab036a"

static const uint8_t client_hello[] = {
    22, 3, 1, 0, 95, 1, 0, 0, 91, 3, 3,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    0, 0, 6, 0x0a, 0x0a, 0xc0, 0x2f, 0x13, 0x01, 1, 0, 0, 44,
    0x1a, 0x1a, 0, 0,
    0, 0, 0, 8, 0, 6, 0, 0, 3, 'a', '.', 'b',
    0, 16, 0, 5, 0, 3, 2, 'h', '2',
    0, 43, 0, 5, 4, 0x2a, 0x2a, 3, 4,
    0, 13, 0, 6, 0, 4, 4, 3, 8, 4,
};

static struct tls_connection connection;
static struct app_context ctx;
static unsigned reports[4], anomalies[ANOMALY_COUNT], all_anomalies;
static struct tls_message last;

static void
on_message(void *context, unsigned sender, const void *message)
{
	(void)context;
	(void)sender;
	last = *(const struct tls_message *)message;
	reports[last.event]++;
}

static void
on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	anomalies[a]++;
	all_anomalies++;
}

static void
begin(bool beginning)
{
	static struct flow flow = {.kind = FLOW_TCP, .key = {.port = {40000, 443}}};

	memset(&connection, 0, sizeof connection);
	memset(reports, 0, sizeof reports);
	memset(anomalies, 0, sizeof anomalies);
	all_anomalies = 0;
	ctx = (struct app_context){.flow = &flow,
				   .now = 1000000,
				   .server_endpoint = 1,
				   .traced = true,
				   .state = &connection,
				   .on_message = on_message,
				   .on_anomaly = on_anomaly};
	tls_reader.on_start(&ctx, 0, beginning);
	tls_reader.on_start(&ctx, 1, beginning);
}

/* The memory ends where the bytes do, for AddressSanitizer. */
static void
feed(unsigned sender, const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length + (length == 0));

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	if (length > 0)
		tls_reader.on_bytes(&ctx, sender, (struct slice){copy, (uint32_t)length});
	free(copy);
}

static void
assert_client_hello(void)
{
	char ja4[TLS_JA4_SIZE];

	assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 1);
	assert_int_equal(all_anomalies, 0);
	assert_string_equal(connection.client.name, "a.b");
	assert_string_equal(connection.client.alpn, "h2");
	assert_int_equal(connection.client.version, TLS_1_3);
	tls_ja4(&connection.client, ja4);
	assert_string_equal(ja4, CLIENT_JA4);
}

static void
test_client_hello_split_at_every_place(void **state)
{
	(void)state;
	for (size_t cut = 0; cut <= sizeof client_hello; cut++) {
		begin(true);
		feed(0, client_hello, cut);
		assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], cut == sizeof client_hello);
		assert_int_equal(all_anomalies, 0);
		feed(0, client_hello + cut, sizeof client_hello - cut);
		assert_client_hello();
	}
}

/* The message in two records, divided at every place. */
static void
test_client_hello_in_two_records(void **state)
{
	const size_t length = sizeof client_hello - 5;

	(void)state;
	for (size_t cut = 1; cut < length; cut++) {
		uint8_t first[5] = {22, 3, 1, 0, (uint8_t)cut}, second[5] = {22, 3, 1, 0, (uint8_t)(length - cut)};

		begin(true);
		feed(0, first, 5);
		feed(0, client_hello + 5, cut);
		feed(0, second, 5);
		feed(0, client_hello + 5 + cut, length - cut);
		assert_client_hello();
	}
}

/* A message that ends early at any byte, with its lengths of record and message made to agree. */
static void
test_client_hello_cut_at_every_byte(void **state)
{
	uint8_t hello[sizeof client_hello];

	(void)state;
	for (size_t cut = 9; cut < sizeof hello; cut++) {
		bool no_extensions = cut == 54;

		begin(true);
		memcpy(hello, client_hello, sizeof hello);
		hello[4] = (uint8_t)(cut - 5);
		hello[8] = (uint8_t)(cut - 9);
		feed(0, hello, cut);
		assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], no_extensions);
		assert_int_equal(anomalies[ANOMALY_TLS_HELLO], !no_extensions);
	}
}

static void
test_gap_and_middle(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < sizeof client_hello; cut++) {
		begin(true);
		feed(0, client_hello, cut);
		tls_reader.on_gap(&ctx, 0, 1);
		feed(0, client_hello, sizeof client_hello);
		assert_int_equal(anomalies[ANOMALY_TLS_LOST], 1);
		assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 0);
		assert_false(tls_reader.is_reading(&connection, 0));
	}
	begin(false);
	feed(0, client_hello, sizeof client_hello);
	assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 0);
}

/* Every byte with every value: at most one message, and no more than the anomalies of one hello. */
static void
test_every_byte_damaged(void **state)
{
	uint8_t hello[sizeof client_hello];

	(void)state;
	for (size_t at = 0; at < sizeof hello; at++) {
		for (unsigned value = 0; value < 256; value++) {
			begin(true);
			memcpy(hello, client_hello, sizeof hello);
			hello[at] = (uint8_t)value;
			feed(0, hello, sizeof hello);
			assert_true(reports[TLS_EVENT_CLIENT_HELLO] <= 1 && all_anomalies <= 1);
		}
	}
}

static void
test_not_tls(void **state)
{
	const uint8_t sslv2[] = {0x80, 46, 1, 3, 1, 0}, text[] = "GET / HTTP/1.1", empty[] = {22, 3, 1, 0, 0};

	(void)state;
	begin(true);
	feed(0, sslv2, sizeof sslv2);
	assert_int_equal(anomalies[ANOMALY_TLS_SSLV2], 1);
	begin(true);
	feed(0, text, sizeof text);
	assert_int_equal(anomalies[ANOMALY_TLS_NOT_TLS], 1);
	begin(true);
	feed(0, client_hello, sizeof client_hello);
	feed(0, empty, sizeof empty);
	assert_int_equal(anomalies[ANOMALY_TLS_RECORD_LENGTH], 1);
}

static void
test_alerts(void **state)
{
	const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 40};

	(void)state;
	begin(true);
	feed(0, client_hello, sizeof client_hello);
	feed(1, alert, sizeof alert);
	assert_int_equal(reports[TLS_EVENT_ALERT], 1);
	assert_int_equal(last.alert_level, 2);
	assert_int_equal(last.alert_description, 40);
	assert_true(last.from_server);
	assert_false(tls_reader.is_reading(&connection, 0));
}

/* A ServerHello, a HelloRetryRequest if `random` is its own, of TLS 1.3 with TLS_AES_128_GCM_SHA256. */
static void
feed_server_hello(const uint8_t *random)
{
	uint8_t hello[] = {22, 3, 3, 0, 56, 2, 0, 0, 52, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x13, 0x01, 0, 0, 12, 0, 43, 0, 2, 3, 4, 0, 51, 0,
			   2, 0, 29};

	if (random != NULL)
		memcpy(hello + 11, random, TLS_RANDOM_LEN);
	for (size_t i = 0; i < sizeof hello; i++)
		feed(1, hello + i, 1);
}

static void
feed_encrypted(unsigned sender, uint8_t length)
{
	uint8_t record[5 + 255] = {23, 3, 3, 0, length};

	feed(sender, record, 5u + length);
}

static void
test_handshake_with_retry(void **state)
{
	/* RFC 8446 section 4.1.3. */
	const uint8_t retry[] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
				 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
				 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

	(void)state;
	begin(true);
	feed(0, client_hello, sizeof client_hello);
	feed_server_hello(retry);
	assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], 0);
	feed(0, client_hello, sizeof client_hello);
	assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 2);
	ctx.now += 5000;
	feed_server_hello(NULL);
	assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], 1);
	assert_int_equal(connection.hello_us, 5);
	assert_int_equal(connection.server.group, 29);
	feed_encrypted(1, 200);
	feed_encrypted(0, 19);
	assert_int_equal(reports[TLS_EVENT_ALERT], 1);
	assert_int_equal(last.alert_level, -1);
	feed_encrypted(0, 53);
	assert_int_equal(reports[TLS_EVENT_ESTABLISHED], 1);
	assert_int_equal(all_anomalies, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_state_is_small),
	    cmocka_unit_test(test_fingerprint_of_the_specification),
	    cmocka_unit_test(test_first_bytes),
	    cmocka_unit_test(test_client_hello_split_at_every_place),
	    cmocka_unit_test(test_client_hello_in_two_records),
	    cmocka_unit_test(test_client_hello_cut_at_every_byte),
	    cmocka_unit_test(test_gap_and_middle),
	    cmocka_unit_test(test_every_byte_damaged),
	    cmocka_unit_test(test_not_tls),
	    cmocka_unit_test(test_alerts),
	    cmocka_unit_test(test_handshake_with_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
