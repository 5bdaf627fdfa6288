/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS: fingerprints, first bytes, handshakes split at every place, gaps, damaged and hostile messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "apps/tls/tls.h"
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
	    .ja4_version = TLS_1_3,
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
	uint8_t records[] = {22, 3, 1, 0, 1, 1, 22, 3, 1, 0, 3, 0, 1, 0xfc, 22, 3, 1, 0, 2, 3, 3};
	uint8_t hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, sslv2[] = {0x80, 46, 1, 3, 1};

	(void)state;
	for (uint32_t n = 0; n < sizeof hello; n++)
		assert_int_equal(tls_recognise((struct slice){hello, n}), APP_MATCH_UNDECIDED);
	assert_int_equal(tls_recognise((struct slice){hello, sizeof hello}), APP_MATCH_YES);
	for (uint32_t n = 0; n < sizeof hello; n++) {
		uint8_t other[sizeof hello];

		memcpy(other, hello, sizeof other);
		other[n] = 0x60; /* a byte of a length may have any value below the highest ones */
		if (n != 4 && n != 7 && n != 8)
			assert_int_equal(tls_recognise((struct slice){other, n + 1}), APP_MATCH_NO);
	}
	for (uint32_t n = 0; n < sizeof records; n++)
		assert_int_equal(tls_recognise((struct slice){records, n}), APP_MATCH_UNDECIDED);
	assert_int_equal(tls_recognise((struct slice){records, sizeof records}), APP_MATCH_YES);
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

/* The ClientHello with these versions in place of those in its list, of which there are two. */
static const char *
fingerprint_with_versions(uint16_t first, uint16_t second)
{
	static char ja4[TLS_JA4_SIZE];
	uint8_t hello[sizeof client_hello];
	size_t at = sizeof hello - 14; /* in front of the extension of signature algorithms */

	memcpy(hello, client_hello, sizeof hello);
	memcpy(hello + at, (uint8_t[]){(uint8_t)(first >> 8), (uint8_t)first, (uint8_t)(second >> 8), (uint8_t)second},
	       4);
	begin(true);
	feed(0, hello, sizeof hello);
	assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 1);
	tls_ja4(&connection.client, ja4);
	assert_string_equal(ja4 + 3, &CLIENT_JA4[3]);
	ja4[3] = '\0';
	return ja4;
}

/* The version of the fingerprint is the highest value of the list, in any order, GREASE excluded. */
static void
test_version_of_the_fingerprint(void **state)
{
	(void)state;
	assert_string_equal(fingerprint_with_versions(0x0304, 0x0303), "t13");
	assert_string_equal(fingerprint_with_versions(0x0303, 0x0304), "t13");
	assert_string_equal(fingerprint_with_versions(0x0303, 0xfafa), "t12");
	assert_string_equal(fingerprint_with_versions(0x0302, 0x0301), "t11");
	assert_string_equal(fingerprint_with_versions(0x0301, 0x0300), "t10");
	assert_string_equal(fingerprint_with_versions(0x0300, 0x0002), "ts3");
	assert_string_equal(fingerprint_with_versions(0x0002, 0x0a0a), "ts2");
	assert_string_equal(fingerprint_with_versions(0xfefc, 0x0304), "td3");
	assert_string_equal(fingerprint_with_versions(0xfefd, 0xfefc), "td2");
	assert_string_equal(fingerprint_with_versions(0xfeff, 0xfefd), "td1");
	assert_string_equal(fingerprint_with_versions(0x0304, 0x0305), "t00");
	assert_string_equal(fingerprint_with_versions(0x1a1a, 0x2a2a), "t00");
	/* A draft of TLS 1.3 is not the version of the connection. */
	assert_string_equal(fingerprint_with_versions(0x7f1c, 0x0303), "t00");
	assert_int_equal(connection.client.version, TLS_1_2);
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
}

static void
test_midstream(void **state)
{
	static const uint8_t data[] = {23, 3, 3, 0, 1, 0}, finished[] = {22, 3, 3, 0, 4, 20, 0, 0, 0};
	static const uint8_t other[] = "GET /";

	(void)state;
	begin(false);
	feed(0, client_hello, sizeof client_hello);
	assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 1);
	assert_int_equal(anomalies[ANOMALY_TLS_LOST], 0);
	for (unsigned i = 0; i < 3; i++) {
		begin(false);
		feed(0, i == 0 ? data : i == 1 ? finished : other, i == 0 ? sizeof data : i == 1 ? sizeof finished : 5);
		assert_int_equal(anomalies[ANOMALY_TLS_LOST], 1);
		assert_false(tls_reader.is_reading(&connection, 0));
	}
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

/* --- ServerHello --- */

static const uint8_t server_hello[] = {
    22, 3, 3, 0, 65, 2, 0, 0, 61, 3, 3,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0x13, 0x01, 0, 0, 21,
    0, 43, 0, 2, 3, 4,
    0, 51, 0, 2, 0, 29,
    0, 16, 0, 5, 0, 3, 2, 'h', '3',
};

static void
begin_with_client_hello(void)
{
	begin(true);
	feed(0, client_hello, sizeof client_hello);
	ctx.now += 7000;
}

static void
assert_server_hello(void)
{
	assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], 1);
	assert_int_equal(all_anomalies, 0);
	assert_int_equal(connection.server.version, TLS_1_3);
	assert_int_equal(connection.server.cipher, 0x1301);
	assert_int_equal(connection.server.group, 29);
	assert_string_equal(connection.server.alpn, "h3");
	assert_int_equal(connection.hello_us, 7);
	assert_false(connection.resumed);
}

static void
test_server_hello_split_at_every_place(void **state)
{
	(void)state;
	for (size_t cut = 0; cut <= sizeof server_hello; cut++) {
		begin_with_client_hello();
		feed(1, server_hello, cut);
		assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], cut == sizeof server_hello);
		assert_int_equal(all_anomalies, 0);
		feed(1, server_hello + cut, sizeof server_hello - cut);
		assert_server_hello();
	}
}

static void
test_server_hello_in_two_records(void **state)
{
	const size_t length = sizeof server_hello - 5;

	(void)state;
	for (size_t cut = 1; cut < length; cut++) {
		uint8_t first[5] = {22, 3, 3, 0, (uint8_t)cut}, second[5] = {22, 3, 3, 0, (uint8_t)(length - cut)};

		begin_with_client_hello();
		feed(1, first, 5);
		feed(1, server_hello + 5, cut);
		feed(1, second, 5);
		feed(1, server_hello + 5 + cut, length - cut);
		assert_server_hello();
	}
}

/* Without extensions, after the compression method, it is one of TLS 1.2. */
static void
test_server_hello_cut_at_every_byte(void **state)
{
	uint8_t hello[sizeof server_hello];

	(void)state;
	for (size_t cut = 9; cut < sizeof hello; cut++) {
		bool no_extensions = cut == 47;

		begin_with_client_hello();
		memcpy(hello, server_hello, sizeof hello);
		hello[4] = (uint8_t)(cut - 5);
		hello[8] = (uint8_t)(cut - 9);
		feed(1, hello, cut);
		assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], no_extensions);
		assert_int_equal(anomalies[ANOMALY_TLS_HELLO], !no_extensions);
	}
}

static void
test_server_hello_damaged(void **state)
{
	uint8_t hello[sizeof server_hello];

	(void)state;
	for (size_t at = 0; at < sizeof hello; at++) {
		for (unsigned value = 0; value < 256; value++) {
			begin_with_client_hello();
			memcpy(hello, server_hello, sizeof hello);
			hello[at] = (uint8_t)value;
			feed(1, hello, sizeof hello);
			assert_true(reports[TLS_EVENT_SERVER_HELLO] + reports[TLS_EVENT_ALERT] <= 1);
			assert_true(all_anomalies <= 1);
		}
	}
}

/* The server's bytes before those of the client, which were not captured or passed before a probe was enabled. */
static void
test_server_hello_without_client_hello(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < sizeof client_hello; cut++) {
		begin(true);
		feed(0, client_hello, cut);
		feed(1, server_hello, sizeof server_hello);
		assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], 0);
		assert_int_equal(anomalies[ANOMALY_TLS_LOST], 1);
		assert_false(tls_reader.is_reading(&connection, 1));
	}
}

/* RFC 8446 section 4.1.3. */
static const uint8_t retry_random[] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
				       0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
				       0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

/* A ClientHello with a session id of 32 bytes: it is as the one above but for that. */
static void
feed_client_hello_with_id(void)
{
	uint8_t hello[sizeof client_hello + TLS_ID_MAX] = {0};

	memcpy(hello, client_hello, 43);
	hello[4] += TLS_ID_MAX;
	hello[8] += TLS_ID_MAX;
	hello[43] = TLS_ID_MAX;
	memset(hello + 44, 0xaa, TLS_ID_MAX);
	memcpy(hello + 44 + TLS_ID_MAX, client_hello + 44, sizeof client_hello - 44);
	feed(0, hello, sizeof hello);
}

/* A second ClientHello replaces the session id that the rest of the ServerHello is compared with. */
static void
test_client_hello_inside_a_retry(void **state)
{
	uint8_t retry[80] = {22, 3, 3, 0, 75, 2, 0, 0, 71, 3, 3};

	(void)state;
	memcpy(retry + 11, retry_random, sizeof retry_random);
	retry[43] = TLS_ID_MAX;
	memset(retry + 44, 0xaa, TLS_ID_MAX);
	for (size_t cut = 43; cut < sizeof retry; cut++) {
		begin(true);
		feed_client_hello_with_id();
		feed(1, retry, cut);
		feed(0, client_hello, sizeof client_hello);
		feed(1, retry + cut, sizeof retry - cut);
		assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 1);
		assert_int_equal(anomalies[ANOMALY_TLS_UNEXPECTED], 1);
	}
}

/* --- whole handshakes --- */

static void
feed_record(unsigned sender, uint8_t type, const uint8_t *bytes, size_t length)
{
	uint8_t header[5] = {type, 3, 3, (uint8_t)(length >> 8), (uint8_t)length};

	feed(sender, header, sizeof header);
	feed(sender, bytes, length);
}

static void
feed_zeros(unsigned sender, uint8_t type, size_t length)
{
	static const uint8_t zeros[TLS_RECORD_MAX + 1];

	feed_record(sender, type, zeros, length);
}

/* ChangeCipherSpec and an encrypted Finished of TLS 1.2. */
static void
feed_finished(unsigned sender)
{
	const uint8_t one = 1;

	feed_record(sender, TLS_CHANGE_CIPHER_SPEC, &one, 1);
	feed_zeros(sender, TLS_HANDSHAKE, 40);
}

/* TLS 1.2 with TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 and the session id of the client. */
static void
feed_server_hello_12(void)
{
	uint8_t hello[74] = {2, 0, 0, 70, 3, 3};

	hello[38] = TLS_ID_MAX;
	memset(hello + 39, 0xaa, TLS_ID_MAX);
	hello[71] = 0xc0;
	hello[72] = 0x2f;
	feed_record(1, TLS_HANDSHAKE, hello, sizeof hello);
}

static void
test_handshake_of_tls_12(void **state)
{
	const uint8_t certificate[] = {11, 0, 0, 3, 0, 0, 0}, key_exchange[] = {12, 0, 0, 5, 3, 0, 23, 1, 4};
	const uint8_t done[] = {14, 0, 0, 0}, client_key_exchange[] = {16, 0, 0, 2, 1, 4};

	(void)state;
	begin(true);
	feed_client_hello_with_id();
	feed_server_hello_12();
	assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], 1);
	feed_record(1, TLS_HANDSHAKE, certificate, sizeof certificate);
	feed_record(1, TLS_HANDSHAKE, key_exchange, sizeof key_exchange);
	feed_record(1, TLS_HANDSHAKE, done, sizeof done);
	assert_int_equal(connection.server.group, 23);
	feed_record(0, TLS_HANDSHAKE, client_key_exchange, sizeof client_key_exchange);
	ctx.now += 9000;
	feed_finished(0);
	assert_int_equal(reports[TLS_EVENT_ESTABLISHED], 0);
	feed_finished(1);
	assert_int_equal(reports[TLS_EVENT_ESTABLISHED], 1);
	assert_int_equal(connection.handshake_us, 9);
	/* The server has returned the session id, but has sent a certificate. */
	assert_false(connection.resumed);
	assert_int_equal(all_anomalies, 0);
	assert_false(tls_reader.is_reading(&connection, 0));
}

static void
test_resumption_of_tls_12(void **state)
{
	(void)state;
	begin(true);
	feed_client_hello_with_id();
	feed_server_hello_12();
	assert_true(connection.resumed);
	feed_finished(1);
	assert_int_equal(reports[TLS_EVENT_ESTABLISHED], 0);
	/* An encrypted alert, whose level and description are unknown. */
	feed_zeros(1, TLS_ALERT, 26);
	assert_int_equal(reports[TLS_EVENT_ALERT], 1);
	assert_int_equal(last.alert_level, -1);
	feed_finished(0);
	assert_int_equal(reports[TLS_EVENT_ESTABLISHED], 1);
	assert_true(connection.resumed);
	assert_int_equal(all_anomalies, 0);
}

/* Of 0-RTT data only a record as long as Finished ends the handshake; it is not an alert. */
static void
test_early_data(void **state)
{
	uint8_t hello[sizeof client_hello + 4];
	const uint8_t one = 1;

	(void)state;
	begin(true);
	memcpy(hello, client_hello, sizeof client_hello);
	memcpy(hello + sizeof client_hello, (uint8_t[]){0, 42, 0, 0}, 4);
	hello[4] += 4;
	hello[8] += 4;
	hello[55] += 4;
	feed(0, hello, sizeof hello);
	assert_true(connection.client.early_data);
	feed_record(0, TLS_CHANGE_CIPHER_SPEC, &one, 1);
	feed_zeros(0, TLS_APPLICATION_DATA, 53);
	feed_zeros(0, TLS_APPLICATION_DATA, 19);
	feed(1, server_hello, sizeof server_hello);
	feed_zeros(1, TLS_APPLICATION_DATA, 200);
	for (size_t length = 1; length < 300; length++)
		if (length != 53)
			feed_zeros(0, TLS_APPLICATION_DATA, length);
	assert_int_equal(reports[TLS_EVENT_ALERT] + reports[TLS_EVENT_ESTABLISHED], 0);
	feed_zeros(0, TLS_APPLICATION_DATA, 53);
	assert_int_equal(reports[TLS_EVENT_ESTABLISHED], 0); /* a certificate may be in front of it */
	feed_zeros(1, TLS_APPLICATION_DATA, 100);
	assert_int_equal(reports[TLS_EVENT_ESTABLISHED], 1);
	assert_int_equal(reports[TLS_EVENT_ALERT], 0);
	assert_int_equal(all_anomalies, 0);
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
	(void)state;
	begin(true);
	feed(0, client_hello, sizeof client_hello);
	feed_server_hello(retry_random);
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

static void
test_second_retry(void **state)
{
	(void)state;
	begin_with_client_hello();
	feed_server_hello(retry_random);
	feed(0, client_hello, sizeof client_hello);
	feed_server_hello(retry_random);
	assert_int_equal(anomalies[ANOMALY_TLS_UNEXPECTED], 1);
	assert_int_equal(reports[TLS_EVENT_SERVER_HELLO], 0);
}

/* Up to the end of the server's flight. */
static void
begin_handshake_13(void)
{
	begin_with_client_hello();
	feed_server_hello(NULL);
	feed_encrypted(1, 255);
	ctx.now += 7000;
}

/* Firings of tls-established, and then those of tls-alert. */
static unsigned
ends(void)
{
	return 10 * reports[TLS_EVENT_ESTABLISHED] + reports[TLS_EVENT_ALERT];
}

/* A client without a certificate, and its Finished. */
static void
feed_empty_certificate(void)
{
	feed_encrypted(0, 25);
	feed_encrypted(0, 53);
}

/* A certificate is refused by an alert in place of an answer, and what is as long as one is known by what follows. */
static void
test_client_certificate_of_tls_13(void **state)
{
	(void)state;
	begin_handshake_13();
	feed_encrypted(0, 250);
	assert_int_equal(ends(), 0);
	assert_false(tls_reader.is_reading(&connection, 0));
	assert_true(tls_reader.is_reading(&connection, 1));
	ctx.now += 4000;
	feed_encrypted(1, 200); /* a ticket */
	assert_int_equal(ends(), 10);
	assert_int_equal(connection.handshake_us, connection.hello_us + 7);
	assert_true(last.from_server);

	begin_handshake_13();
	feed_empty_certificate();
	feed_encrypted(1, 19);
	tls_reader.on_end(&ctx, 0);
	assert_int_equal(ends(), 0);
	tls_reader.on_end(&ctx, 1);
	assert_int_equal(ends(), 1);
	assert_true(last.from_server);
	assert_int_equal(last.alert_level, -1);
	assert_int_equal(connection.handshake_us, -1);
	assert_false(tls_reader.is_reading(&connection, 1));

	/* Two bytes of data, and more. */
	for (uint8_t length = 18; length <= 20; length++) {
		begin_handshake_13();
		feed_empty_certificate();
		feed_encrypted(1, 19);
		feed_encrypted(1, length);
		assert_int_equal(ends(), 10);
		tls_reader.on_end(&ctx, 1);
		assert_int_equal(ends(), 10);
	}

	/* No answer: it is not known. */
	begin_handshake_13();
	feed_empty_certificate();
	tls_reader.on_end(&ctx, 1);
	assert_int_equal(ends(), 0);

	/* Finished alone has nothing that can be refused: what follows is not part of the handshake. */
	begin_handshake_13();
	feed_encrypted(0, 53);
	assert_int_equal(ends(), 10);
	assert_false(last.from_server);
	feed_encrypted(1, 19);
	tls_reader.on_end(&ctx, 1);
	assert_int_equal(ends(), 10);
	assert_int_equal(all_anomalies, 0);
}

/* In the place of encrypted extensions, and in the place of a client's flight, only an alert is that short. */
static void
test_early_alerts_of_tls_13(void **state)
{
	(void)state;
	begin_with_client_hello();
	feed_server_hello(NULL);
	feed_encrypted(1, 19);
	assert_int_equal(ends(), 1);
	begin_handshake_13();
	feed_encrypted(0, 19);
	assert_int_equal(ends(), 1);
	assert_false(last.from_server);
	/* After the server's flight it may be data that do not wait for the client. */
	begin_handshake_13();
	feed_encrypted(1, 19);
	feed_encrypted(0, 53);
	assert_int_equal(ends(), 10);
	begin_handshake_13();
	feed_encrypted(1, 19);
	assert_int_equal(ends(), 0);
	tls_reader.on_end(&ctx, 1);
	assert_int_equal(ends(), 1);
	assert_int_equal(all_anomalies, 0);
}

/* --- limits --- */

/* A ClientHello with these numbers of cipher suites, extensions and signature algorithms, and names of these lengths;
 * a name of no length is not there. */
struct hello_of {
	unsigned ciphers, extensions, signatures, name, alpn;
};

static uint8_t *
put_u16(uint8_t *at, size_t value)
{
	*at++ = (uint8_t)(value >> 8);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *
put_extensions(uint8_t *at, const struct hello_of *of)
{
	for (size_t i = 0; i < of->extensions; i++)
		at = put_u16(put_u16(at, 0x8000 + i), 0);
	if (of->signatures > 0) {
		at = put_u16(put_u16(put_u16(at, 13), 2 + 2 * of->signatures), 2 * of->signatures);
		for (size_t i = 0; i < of->signatures; i++)
			at = put_u16(at, 0x0401 + i);
	}
	if (of->name > 0) {
		at = put_u16(put_u16(put_u16(at, 0), 5 + of->name), 3 + of->name);
		*at++ = 0;
		at = put_u16(at, of->name);
		memset(at, 'n', of->name);
		at += of->name;
	}
	if (of->alpn > 0) {
		at = put_u16(put_u16(put_u16(at, 16), 3 + of->alpn), 1 + of->alpn);
		*at++ = (uint8_t)of->alpn;
		memset(at, 'n', of->alpn);
		at += of->alpn;
	}
	return at;
}

static void
feed_hello_of(struct hello_of of)
{
	static uint8_t hello[4096];
	uint8_t *at = hello + 39, *lengths;

	begin(true);
	memset(hello, 0, sizeof hello);
	hello[0] = TLS_CLIENT_HELLO;
	hello[4] = hello[5] = 3;
	at = put_u16(at, 2 * of.ciphers);
	for (size_t i = 0; i < of.ciphers; i++)
		at = put_u16(at, 0xc000 + i);
	*at++ = 1;
	*at++ = 0;
	lengths = at;
	at = put_extensions(at + 2, &of);
	put_u16(lengths, (size_t)(at - lengths) - 2);
	put_u16(hello + 2, (size_t)(at - hello) - 4);
	feed_record(0, TLS_HANDSHAKE, hello, (size_t)(at - hello));
	assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 1);
}

static void
test_limits_of_the_fingerprint(void **state)
{
	(void)state;
	feed_hello_of((struct hello_of){.ciphers = TLS_CIPHERS_MAX,
					.extensions = TLS_EXTENSIONS_MAX - 1,
					.signatures = TLS_SIGNATURES_MAX});
	assert_int_equal(all_anomalies, 0);
	assert_int_equal(connection.client.ciphers, TLS_CIPHERS_MAX);
	feed_hello_of((struct hello_of){.ciphers = TLS_CIPHERS_MAX + 1});
	assert_int_equal(anomalies[ANOMALY_TLS_JA4_LIMIT], 1);
	feed_hello_of((struct hello_of){.ciphers = 1, .extensions = TLS_EXTENSIONS_MAX + 1});
	assert_int_equal(anomalies[ANOMALY_TLS_JA4_LIMIT], 1);
	feed_hello_of((struct hello_of){.ciphers = 1, .signatures = TLS_SIGNATURES_MAX + 1});
	assert_int_equal(anomalies[ANOMALY_TLS_JA4_LIMIT], 1);
}

/* The example values of the JA4 specification, and others. */
static void
test_protocol_of_the_fingerprint(void **state)
{
	static const struct {
		const char *protocols; /* with their lengths */
		uint8_t size;
		char is[3];
	} cases[] = {
	    {"\x01\xab", 2, "ab"}, {"\x02\xab\xcd", 3, "ad"}, {"\x02\x30\xab", 3, "3b"},
	    {"\x04\x30\x31\xab\xcd", 5, "3d"}, {"\x04\x30\xab\xcd\x31", 5, "01"}, {"\x01h", 2, "hh"},
	    {"\x08http/1.1\x02h2", 12, "h1"}, {"\x03h2/", 4, "6f"}, {"\x01\x00", 2, "00"},
	    {"\x02\x0a\x0a\x02h2", 6, "h2"}, {"\x02\xfa\xfa", 3, "00"}, {"\x02\x0a\x1a", 3, "0a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t hello[100] = {1, 0, 0, 0, 3, 3}, *at = hello + 39;
		char ja4[TLS_JA4_SIZE];
		uint8_t size = cases[i].size;

		begin(true);
		memcpy(at, (uint8_t[]){0, 2, 0x13, 1, 1, 0, 0, (uint8_t)(6 + size), 0, 16, 0}, 11);
		memcpy(at + 11, (uint8_t[]){(uint8_t)(2 + size), 0, size}, 3);
		memcpy(at + 14, cases[i].protocols, size);
		hello[3] = (uint8_t)(39 + 14 + size - 4);
		feed_record(0, TLS_HANDSHAKE, hello, 39u + 14 + size);
		assert_int_equal(reports[TLS_EVENT_CLIENT_HELLO], 1);
		tls_ja4(&connection.client, ja4);
		assert_memory_equal(ja4, "t12i0101", 8);
		assert_memory_equal(ja4 + 8, cases[i].is, 2);
		assert_string_equal(ja4 + 23, "_000000000000");
	}
}

static void
test_limits_of_names(void **state)
{
	(void)state;
	feed_hello_of((struct hello_of){.ciphers = 1, .name = TLS_NAME_SIZE - 1, .alpn = TLS_ALPN_SIZE - 1});
	assert_int_equal(strlen(connection.client.name), TLS_NAME_SIZE - 1);
	assert_int_equal(strlen(connection.client.alpn), TLS_ALPN_SIZE - 1);
	assert_int_equal(all_anomalies, 0);
	feed_hello_of((struct hello_of){.ciphers = 1, .name = TLS_NAME_SIZE});
	assert_int_equal(strlen(connection.client.name), TLS_NAME_SIZE - 1);
	assert_int_equal(anomalies[ANOMALY_TLS_NAME_LENGTH], 1);
	feed_hello_of((struct hello_of){.ciphers = 1, .alpn = TLS_ALPN_SIZE});
	assert_int_equal(strlen(connection.client.alpn), TLS_ALPN_SIZE - 1);
	assert_int_equal(anomalies[ANOMALY_TLS_NAME_LENGTH], 1);
}

static void
test_a_cut_name_has_no_hole(void **state)
{
	static const uint8_t tail[] = {'e', 'n', 'd'};
	struct tls_client client;
	struct tls_hello hello;
	uint8_t message[400] = {3, 3};
	uint8_t *at = message + 34;

	(void)state;
	*at++ = 0;
	at = put_u16(put_u16(at, 2), 0x1301);
	*at++ = 1;
	*at++ = 0;
	at = put_u16(at, 4 + 5 + 67);
	at = put_u16(put_u16(put_u16(at, 0), 5 + 67), 3 + 67);
	*at++ = 0;
	at = put_u16(at, 67) + 64;
	memcpy(at, tail, sizeof tail);
	at += sizeof tail;
	tls_hello_begin(&hello, &client, NULL, (uint32_t)(at - message));
	assert_true(tls_hello_read(&hello, (struct slice){message, (uint32_t)(at - message)}));
	assert_int_equal(client.name_length, 63 * 4);
	assert_true(hello.name_long);
}

static void
test_limits_of_records(void **state)
{
	const uint8_t alerts[] = {1, 90, 2, 40};

	(void)state;
	begin_with_client_hello();
	feed(1, server_hello, sizeof server_hello);
	feed_zeros(1, TLS_APPLICATION_DATA, TLS_RECORD_MAX);
	assert_int_equal(all_anomalies, 0);
	feed_zeros(1, TLS_APPLICATION_DATA, TLS_RECORD_MAX + 1);
	assert_int_equal(anomalies[ANOMALY_TLS_RECORD_LENGTH], 1);
	/* An alert that is not encrypted has two bytes. */
	for (size_t length = 1; length <= sizeof alerts; length++) {
		begin_with_client_hello();
		feed_record(1, TLS_ALERT, alerts, length);
		assert_int_equal(reports[TLS_EVENT_ALERT], length == 2);
		assert_int_equal(anomalies[ANOMALY_TLS_RECORD_LENGTH], length != 2);
	}
}

static void
test_limit_of_bytes(void **state)
{
	(void)state;
	begin_with_client_hello();
	feed(1, server_hello, sizeof server_hello);
	for (size_t left = TLS_BYTES_MAX - sizeof server_hello; left > 0;) {
		size_t n = left > 10005 ? 10005 : left;

		feed_zeros(1, TLS_APPLICATION_DATA, n - 5);
		left -= n;
	}
	assert_int_equal(all_anomalies, 0);
	assert_true(tls_reader.is_reading(&connection, 1));
	feed(1, server_hello, 1);
	assert_int_equal(anomalies[ANOMALY_TLS_LIMIT], 1);
	assert_false(tls_reader.is_reading(&connection, 1));
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
	    cmocka_unit_test(test_version_of_the_fingerprint),
	    cmocka_unit_test(test_client_hello_cut_at_every_byte),
	    cmocka_unit_test(test_gap_and_middle),
	    cmocka_unit_test(test_midstream),
	    cmocka_unit_test(test_every_byte_damaged),
	    cmocka_unit_test(test_not_tls),
	    cmocka_unit_test(test_alerts),
	    cmocka_unit_test(test_server_hello_split_at_every_place),
	    cmocka_unit_test(test_server_hello_in_two_records),
	    cmocka_unit_test(test_server_hello_cut_at_every_byte),
	    cmocka_unit_test(test_server_hello_damaged),
	    cmocka_unit_test(test_server_hello_without_client_hello),
	    cmocka_unit_test(test_client_hello_inside_a_retry),
	    cmocka_unit_test(test_handshake_of_tls_12),
	    cmocka_unit_test(test_resumption_of_tls_12),
	    cmocka_unit_test(test_early_data),
	    cmocka_unit_test(test_handshake_with_retry),
	    cmocka_unit_test(test_second_retry),
	    cmocka_unit_test(test_client_certificate_of_tls_13),
	    cmocka_unit_test(test_early_alerts_of_tls_13),
	    cmocka_unit_test(test_limits_of_the_fingerprint),
	    cmocka_unit_test(test_protocol_of_the_fingerprint),
	    cmocka_unit_test(test_limits_of_names),
	    cmocka_unit_test(test_a_cut_name_has_no_hole),
	    cmocka_unit_test(test_limits_of_records),
	    cmocka_unit_test(test_limit_of_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
