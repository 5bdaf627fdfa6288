/* SPDX-License-Identifier: BSD-2-Clause */
/* iSCSI: headers, text, logins, digests, boundaries, and contradictory fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "apps/app.h"
#include "apps/iscsi/iscsi.h"
#include "probes/args/args.h"
#include "probes/fire.h"
#include "tests/apps/iscsi/iscsi_fixture.h"

#define LOGIN(s, keys, answer) \
	iscsi_fixture_login((s), (keys), (uint32_t)sizeof(keys) - 1, (answer), (uint32_t)sizeof(answer) - 1)

static struct iscsi_fixture script, *s = &script;
static struct iscsi_buffer bytes;

/* Most app flows of iSCSI. */
static const unsigned all = 1024;

static int
begin(void **state)
{
	(void)state;
	iscsi_fixture_setup(s);
	bytes.length = 0;
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&s->tcp);
	return 0;
}

static void
clear_trace(void)
{
	s->length = 0;
	s->trace[0] = '\0';
}

/* Asserts that exactly these anomalies were reported: a list that ends with ANOMALY_NONE. */
static void
assert_anomalies(const enum anomaly *expected)
{
	unsigned want[ANOMALY_COUNT] = {0};

	for (; *expected != ANOMALY_NONE; expected++)
		want[*expected]++;
	for (unsigned a = 1; a < ANOMALY_COUNT; a++)
		if (s->anomalies[a] != want[a])
			fail_msg("%s: %u, not %u", anomaly_name((enum anomaly)a), s->anomalies[a], want[a]);
}

#define ASSERT_ODD(...) assert_anomalies((const enum anomaly[]){__VA_ARGS__ ANOMALY_NONE})

/* --- one header --- */

static void
test_digests_are_those_of_the_rfc(void **state)
{
	/* RFC 3720 appendix B.4 */
	static const uint8_t of_zeros[4] = {0xaa, 0x36, 0x91, 0x8a}, of_ones[4] = {0x43, 0xab, 0xa8, 0x62};
	static const uint8_t rising_crc[4] = {0x4e, 0x79, 0xdd, 0x46};
	uint8_t zeros[32] = {0}, ones[32], rising[32];

	(void)state;
	memset(ones, 0xff, sizeof ones);
	for (unsigned i = 0; i < 32; i++)
		rising[i] = (uint8_t)i;
	assert_true(iscsi_digest_is_valid(iscsi_digest_update(ISCSI_DIGEST_BEGIN, (struct slice){zeros, 32}),
					  (struct slice){of_zeros, 4}));
	assert_true(iscsi_digest_is_valid(iscsi_digest_update(ISCSI_DIGEST_BEGIN, (struct slice){ones, 32}),
					  (struct slice){of_ones, 4}));
	assert_true(iscsi_digest_is_valid(iscsi_digest_update(ISCSI_DIGEST_BEGIN, (struct slice){rising, 32}),
					  (struct slice){rising_crc, 4}));
	assert_false(iscsi_digest_is_valid(iscsi_digest_update(ISCSI_DIGEST_BEGIN, (struct slice){ones, 32}),
					   (struct slice){of_zeros, 4}));
	assert_false(iscsi_digest_is_valid(0, (struct slice){of_zeros, 3}));
}

static uint32_t
crc_bit_by_bit(uint32_t crc, const uint8_t *at, uint32_t length)
{
	for (uint32_t bit = 0; bit < 8 * length; bit++) {
		uint32_t low = (crc ^ (uint32_t)(at[bit / 8] >> bit % 8)) & 1;

		crc = crc >> 1 ^ (low != 0 ? 0x82f63b78 : 0);
	}
	return crc;
}

static void
test_digests_of_every_length(void **state)
{
	uint8_t at[80];

	(void)state;
	for (uint32_t i = 0; i < sizeof at; i++)
		at[i] = (uint8_t)(i * 151 + 7);
	for (uint32_t from = 0; from < 9; from++)
		for (uint32_t length = 0; length < 70; length++)
			assert_int_equal(iscsi_digest_update(0x12345678, (struct slice){at + from, length}),
					 crc_bit_by_bit(0x12345678, at + from, length));
}

static void
test_logical_units(void **state)
{
	(void)state;
	assert_int_equal(iscsi_decode_lun(0), 0);
	assert_int_equal(iscsi_decode_lun(1ull << 48), 1);
	assert_int_equal(iscsi_decode_lun(255ull << 48), 255);
	assert_int_equal(iscsi_decode_lun(0x4123ull << 48), 0x123);		 /* flat space */
	assert_true(iscsi_decode_lun(0x0201000000000000) == 0x0201000000000000); /* a bus that is not 0 */
	assert_true(iscsi_decode_lun(0x0001000200000000) == 0x0001000200000000); /* two levels */
	assert_true(iscsi_decode_lun(0xc101000000000000) == 0xc101000000000000); /* well known */
}

static void
test_every_field_of_a_command(void **state)
{
	struct iscsi_pdu pdu;
	uint8_t *bhs = bytes.at;

	(void)state;
	iscsi_put_pdu(&bytes, 0x41, 0xa1, 0x11223344, NULL, 0);
	bhs[9] = 3;
	iscsi_put_u32(bhs + 20, 4096);
	iscsi_put_u32(bhs + 24, 77);
	iscsi_put_u32(bhs + 28, 88); /* ExpStatSN is not a StatSN */
	bhs[32] = 0x2a;
	assert_int_equal(iscsi_validate_bhs((struct slice){bhs, 48}, false, 100), ANOMALY_NONE);
	assert_true(iscsi_bhs_is_plausible((struct slice){bhs, 48}, false, 100));
	assert_int_equal(iscsi_parse_header((struct slice){bhs, 48}, &pdu), ANOMALY_NONE);
	assert_int_equal(pdu.opcode, ISCSI_SCSI_COMMAND);
	assert_true(pdu.immediate);
	assert_int_equal(pdu.flags, 0xa1);
	assert_int_equal(pdu.lun, 3);
	assert_int_equal(pdu.itt, 0x11223344);
	assert_int_equal(pdu.ttt, 0);
	assert_int_equal(pdu.transfer_length, 4096);
	assert_int_equal(pdu.cmdsn, 77);
	assert_int_equal(pdu.statsn, 0);
	assert_int_equal(pdu.cdb.len, 10); /* WRITE(10) */
	assert_int_equal(slice_u8(pdu.cdb, 0), 0x2a);
}

static void
test_data_in_has_a_status_only_with_its_flag(void **state)
{
	struct iscsi_pdu pdu;
	uint8_t *bhs = bytes.at;

	(void)state;
	iscsi_put_pdu(&bytes, 0x25, 0x80, 5, "data", 4);
	bhs[3] = 2;
	iscsi_put_u32(bhs + 24, 9);
	iscsi_put_u32(bhs + 36, 6);
	iscsi_put_u32(bhs + 40, 8192);
	assert_int_equal(iscsi_parse_header((struct slice){bhs, 48}, &pdu), ANOMALY_NONE);
	assert_int_equal(pdu.statsn, 0);
	assert_int_equal(pdu.status, 0);
	assert_int_equal(pdu.datasn, 6);
	assert_int_equal(pdu.buffer_offset, 8192);
	bhs[1] = 0x81;
	assert_int_equal(iscsi_parse_header((struct slice){bhs, 48}, &pdu), ANOMALY_NONE);
	assert_int_equal(pdu.statsn, 9);
	assert_int_equal(pdu.status, 2);
}

/* A command with additional header segments of these bytes. */
static enum anomaly
read_with_ahs(const uint8_t *ahs, uint32_t length, struct iscsi_pdu *pdu)
{
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x01, 0x81, 1, NULL, 0);
	bytes.at[4] = (uint8_t)(length / 4);
	bytes.at[32] = 0x7f;
	memcpy(bytes.at + 48, ahs, length);
	return iscsi_parse_header((struct slice){bytes.at, 48 + length}, pdu);
}

static void
test_additional_header_segments(void **state)
{
	static const uint8_t extended[] = {0, 9, 1, 0, 16, 17, 18, 19, 20, 21, 22, 23};
	static const uint8_t padded[] = {0, 3, 1, 0, 16, 17, 0, 0, 0, 5, 2, 0, 0, 0, 1, 0};
	static const uint8_t beyond[] = {0, 6, 1, 0, 1, 2, 3, 4};
	static const uint8_t empty[] = {0, 0, 0, 0};
	static const uint8_t twice[] = {0, 2, 1, 0, 1, 0, 0, 0, 0, 2, 1, 0, 1, 0, 0, 0};
	struct iscsi_pdu pdu;

	(void)state;
	assert_int_equal(read_with_ahs(extended, sizeof extended, &pdu), ANOMALY_NONE);
	assert_int_equal(pdu.cdb.len, 16);
	assert_int_equal(pdu.cdb_extension.len, 8);
	assert_int_equal(slice_u8(pdu.cdb_extension, 7), 23);
	assert_int_equal(read_with_ahs(padded, sizeof padded, &pdu), ANOMALY_NONE);
	assert_int_equal(pdu.cdb_extension.len, 2);
	assert_int_equal(read_with_ahs(beyond, sizeof beyond, &pdu), ANOMALY_ISCSI_AHS);
	assert_int_equal(read_with_ahs(empty, sizeof empty, &pdu), ANOMALY_ISCSI_AHS);
	assert_int_equal(read_with_ahs(twice, sizeof twice, &pdu), ANOMALY_ISCSI_AHS);
}

static void
test_invalid_headers(void **state)
{
	uint8_t *bhs = bytes.at;
	struct slice slice = {bhs, 48};

	(void)state;
	iscsi_put_pdu(&bytes, 0x31, 0x80, 5, NULL, 0); /* R2T */
	assert_int_equal(iscsi_validate_bhs(slice, true, 100), ANOMALY_NONE);
	assert_int_equal(iscsi_validate_bhs(slice, false, 100), ANOMALY_ISCSI_OPCODE);
	bhs[7] = 4;
	assert_int_equal(iscsi_validate_bhs(slice, true, 100), ANOMALY_ISCSI_LENGTH);
	bhs[7] = 0;
	bhs[4] = 1;
	assert_int_equal(iscsi_validate_bhs(slice, true, 100), ANOMALY_ISCSI_LENGTH);
	bhs[0] = 0x07;
	assert_int_equal(iscsi_validate_bhs(slice, false, 100), ANOMALY_ISCSI_OPCODE);
	bhs[0] = 0x80;
	assert_int_equal(iscsi_validate_bhs(slice, false, 100), ANOMALY_ISCSI_OPCODE);
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x05, 0x80, 5, "data", 4);
	assert_int_equal(iscsi_validate_bhs(slice, false, 4), ANOMALY_NONE);
	assert_int_equal(iscsi_validate_bhs(slice, false, 3), ANOMALY_ISCSI_LENGTH);
	assert_true(iscsi_bhs_is_plausible(slice, false, 4));
	bhs[46] = 1; /* reserved */
	assert_false(iscsi_bhs_is_plausible(slice, false, 4));
	assert_int_equal(iscsi_validate_bhs(slice, false, 4), ANOMALY_NONE);
	memset(bhs, 0, 48);
	assert_false(iscsi_bhs_is_plausible(slice, false, 4));
}

/* --- text --- */

static char pairs[512];

static void
take_pair(void *context, const char *key, const char *value)
{
	(void)context;
	snprintf(pairs + strlen(pairs), sizeof pairs - strlen(pairs), "%s=%.20s;", key, value);
}

static bool
take_text(struct iscsi_text *text, const char *at, uint32_t length)
{
	return iscsi_text_feed(text, (struct slice){(const uint8_t *)at, length}, take_pair, NULL);
}

#define TAKE(text, literal) take_text((text), (literal), (uint32_t)sizeof(literal) - 1)

static void
test_text(void **state)
{
	static struct iscsi_text text;
	char longer[400];

	(void)state;
	pairs[0] = '\0';
	assert_true(TAKE(&text, "A=1\0B=\0\0\0Ccc"));
	assert_true(TAKE(&text, "c=x="));
	assert_true(TAKE(&text, "y\0"));
	assert_string_equal(pairs, "A=1;B=;Cccc=x=y;");
	assert_true(iscsi_text_end(&text));
	assert_true(TAKE(&text, "D=half"));
	assert_false(iscsi_text_end(&text));
	assert_true(iscsi_text_end(&text));
	assert_false(TAKE(&text, "noequals\0"));
	assert_false(TAKE(&text, "=novalue\0"));
	assert_false(TAKE(&text, "bad\001key=1\0"));
	pairs[0] = '\0';
	memset(longer, 'k', sizeof longer);
	assert_true(take_text(&text, longer, 64));
	assert_false(TAKE(&text, "=1\0"));
	assert_true(TAKE(&text, "V="));
	assert_true(take_text(&text, longer, sizeof longer));
	assert_true(take_text(&text, longer, sizeof longer));
	assert_true(TAKE(&text, "\0E=5\0"));
	assert_string_equal(pairs, "V=;E=5;"); /* a value too long to keep is empty */
}

/* --- logins --- */

static void
test_login(void **state)
{
	(void)state;
	tcp_fixture_handshake(&s->tcp);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, SCRIPT_NAMES, sizeof SCRIPT_NAMES - 1);
	assert_string_equal(s->trace, "03:1");
	assert_string_equal(s->session.initiator, "iqn.a"); /* of the PDU that contains it */
	assert_string_equal(s->session.target, "iqn.b");
	assert_false(s->session.full_feature);
	iscsi_fixture_feed_pdu(s, TARGET, 0x23, 0x87, 1, NULL, 0);
	assert_true(s->session.full_feature);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x01, 0x81, 2, NULL, 0);
	iscsi_fixture_feed_pdu(s, TARGET, 0x21, 0x80, 2, NULL, 0);
	assert_string_equal(s->trace, "03:1 23:1 01:2 21:2");
	assert_string_equal(s->session.target, "iqn.b");
	ASSERT_ODD();
}

static void
test_login_text_goes_on_in_the_next_pdu(void **state)
{
	(void)state;
	tcp_fixture_handshake(&s->tcp);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x40, 1, "InitiatorName=iq", 16);
	assert_string_equal(s->session.initiator, "");
	iscsi_fixture_feed_pdu(s, TARGET, 0x23, 0x00, 1, NULL, 0);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x40, 1, "n.split\0TargetNam", 17);
	assert_string_equal(s->session.initiator, "iqn.split");
	iscsi_fixture_feed_pdu(s, TARGET, 0x23, 0x00, 1, NULL, 0);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, "e=iqn.t\0", 8);
	assert_string_equal(s->session.target, "iqn.t");
	ASSERT_ODD();
	/* Without the flag, half a pair does not count. */
	iscsi_fixture_feed_pdu(s, TARGET, 0x23, 0x07, 1, "Half=", 5);
	ASSERT_ODD(ANOMALY_ISCSI_TEXT, );
	assert_int_equal(s->messages, 6);
}

static void
test_a_login_that_fails(void **state)
{
	(void)state;
	tcp_fixture_handshake(&s->tcp);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, SCRIPT_NAMES, sizeof SCRIPT_NAMES - 1);
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x23, 0x87, 1, NULL, 0);
	bytes.at[36] = 2;
	bytes.at[37] = 1;
	tcp_fixture_feed(&s->tcp, TARGET, bytes.at, bytes.length);
	assert_int_equal(s->pdu.status, 0x201);
	assert_false(s->session.full_feature);
	ASSERT_ODD();
}

static void
test_a_second_connection_takes_the_names_of_its_session(void **state)
{
	(void)state;
	tcp_fixture_handshake(&s->tcp);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, SCRIPT_NAMES, sizeof SCRIPT_NAMES - 1);
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x23, 0x87, 1, NULL, 0);
	bytes.at[15] = 9; /* TSIH */
	tcp_fixture_feed(&s->tcp, TARGET, bytes.at, bytes.length);
	s->tcp.port[CLIENT]++;
	tcp_fixture_handshake(&s->tcp);
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x43, 0x87, 1, NULL, 0);
	bytes.at[15] = 9;
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	assert_string_equal(s->session.initiator, "iqn.a");
	assert_string_equal(s->session.target, "iqn.b");
	/* Another session has no names yet. */
	s->tcp.port[CLIENT]++;
	tcp_fixture_handshake(&s->tcp);
	bytes.at[15] = 8;
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	assert_string_equal(s->session.initiator, "");
	bytes.at[15] = 9;
	for (unsigned byte = 8; byte < 14; byte++) { /* of the ISID */
		s->tcp.port[CLIENT]++;
		tcp_fixture_handshake(&s->tcp);
		bytes.at[byte] = 1;
		tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
		bytes.at[byte] = 0;
		assert_string_equal(s->session.initiator, "");
	}
	ASSERT_ODD();
}

/* --- boundaries --- */

/* A login, then a run of PDUs of all kinds from the initiator, with or without digests. */
static void
make_run(unsigned digests)
{
	bytes.length = 0;
	for (uint32_t i = 0; i < 20; i++) {
		iscsi_put_pdu_digests(&bytes, 0x01, 0xa1, 0x100 + i, "immediate", i % 10, digests);
		iscsi_put_pdu_digests(&bytes, 0x05, 0x80, 0x100 + i, "data out data out", 1 + i % 17, digests);
		iscsi_put_pdu_digests(&bytes, 0x40, 0x80, 0x200 + i, "ping", i % 5, digests);
	}
}

#define DIGESTS_ON    "HeaderDigest=CRC32C,None\0DataDigest=CRC32C\0"
#define DIGESTS_TAKEN "HeaderDigest=CRC32C\0DataDigest=CRC32C\0"

static void
log_in(unsigned digests)
{
	tcp_fixture_handshake(&s->tcp);
	if (digests == 0)
		LOGIN(s, "MaxRecvDataSegmentLength=65536\0", "MaxRecvDataSegmentLength=65536\0");
	else if (digests == WITH_HEADER_DIGEST)
		LOGIN(s, "HeaderDigest=CRC32C,None\0DataDigest=None\0", "HeaderDigest=CRC32C\0");
	else if (digests == WITH_DATA_DIGEST)
		LOGIN(s, "DataDigest=CRC32C,None\0HeaderDigest=CRC32C,None\0",
		      "DataDigest=CRC32C\0HeaderDigest=None\0");
	else
		LOGIN(s, DIGESTS_ON, DIGESTS_TAKEN);
}

static void
test_any_segmentation(void **state)
{
	static char want[sizeof s->trace];

	(void)state;
	for (unsigned digests = 0; digests < 4; digests++) {
		make_run(digests);
		for (uint32_t size = 1; size < 400; size += size < 60 ? 1 : 37) {
			s->tcp.port[CLIENT]++;
			log_in(digests);
			clear_trace();
			for (uint32_t at = 0; at < bytes.length; at += size)
				tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at + at,
						 bytes.length - at < size ? bytes.length - at : size);
			if (digests == 0 && size == 1)
				memcpy(want, s->trace, sizeof want);
			assert_string_equal(s->trace, want);
		}
	}
	assert_non_null(strstr(want, "01:100 05:100 00:200 01:101"));
	assert_non_null(strstr(want, "00:213"));
	ASSERT_ODD();
}

static void
test_segments_out_of_order(void **state)
{
	uint32_t seq;

	(void)state;
	log_in(3);
	make_run(3);
	clear_trace();
	seq = s->tcp.next[INITIATOR];
	s->tcp.next[INITIATOR] += bytes.length;
	for (uint32_t at = bytes.length / 100 * 100; at + 100 > 0; at -= 100)
		tcp_fixture_feed_segment(&s->tcp, INITIATOR, TCP_ACK, seq + at, bytes.at + at,
					 bytes.length - at < 100 ? bytes.length - at : 100,
					 bytes.length - at < 100 ? bytes.length - at : 100);
	assert_int_equal(strncmp(s->trace, "01:100 05:100 00:200 01:101", 27), 0);
	assert_non_null(strstr(s->trace, "00:213"));
	ASSERT_ODD();
}

static void
test_every_byte_of_every_digest_counts(void **state)
{
	(void)state;
	log_in(3);
	for (unsigned place = 0; place < 4; place++) {
		/* Data: the PDU is dropped and the next one is found. */
		bytes.length = 0;
		iscsi_put_pdu_digests(&bytes, 0x05, 0x80, 7, "data", 4, 3);
		bytes.at[bytes.length - 1 - place] ^= 1;
		iscsi_put_pdu_digests(&bytes, 0x40, 0x80, 8, NULL, 0, 3);
		clear_trace();
		tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
		assert_string_equal(s->trace, "00:8");
	}
	assert_int_equal(s->anomalies[ANOMALY_ISCSI_DATA_DIGEST], 4);
	assert_int_equal(s->anomalies[ANOMALY_ISCSI_SYNC_LOST], 0);
	/* Header: the end of the PDU is unknown; resync finds the next valid header. */
	bytes.length = 0;
	iscsi_put_pdu_digests(&bytes, 0x05, 0x80, 7, "data", 4, 3);
	bytes.at[5] ^= 1;
	clear_trace();
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	assert_string_equal(s->trace, "");
	bytes.length = 0;
	iscsi_put_pdu_digests(&bytes, 0x40, 0x80, 8, NULL, 0, 3);
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	assert_string_equal(s->trace, "00:8");
	assert_int_equal(s->anomalies[ANOMALY_ISCSI_HEADER_DIGEST], 1);
	assert_int_equal(s->anomalies[ANOMALY_ISCSI_SYNC_LOST], 1);
	assert_int_equal(s->anomalies[ANOMALY_ISCSI_SYNC_FOUND], 1);
}

/* --- contradictions --- */

static void
test_a_wrong_length(void **state)
{
	(void)state;
	log_in(0);
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x05, 0x80, 7, "data", 4);
	bytes.at[5] = 0xff;
	clear_trace();
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 8, NULL, 0);
	assert_string_equal(s->trace, "00:8");
	ASSERT_ODD(ANOMALY_ISCSI_LENGTH, ANOMALY_ISCSI_SYNC_LOST, ANOMALY_ISCSI_SYNC_FOUND, );
}

static void
test_an_opcode_of_the_wrong_sender(void **state)
{
	(void)state;
	log_in(0);
	clear_trace();
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x25, 0x80, 7, "data", 4);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 8, NULL, 0);
	assert_string_equal(s->trace, "00:8");
	ASSERT_ODD(ANOMALY_ISCSI_OPCODE, ANOMALY_ISCSI_SYNC_LOST, ANOMALY_ISCSI_SYNC_FOUND, );
}

static void
test_bad_additional_headers_cost_their_own_pdu_only(void **state)
{
	(void)state;
	log_in(0);
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x01, 0x81, 7, NULL, 0);
	bytes.at[4] = 255; /* a kilobyte of nothing */
	memset(bytes.at + 48, 0, 1020);
	bytes.length += 1020;
	iscsi_put_pdu(&bytes, 0x40, 0x80, 8, NULL, 0);
	clear_trace();
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	assert_string_equal(s->trace, "00:8");
	ASSERT_ODD(ANOMALY_ISCSI_AHS, );
}

static void
test_text_without_end(void **state)
{
	static char text[8192];

	(void)state;
	memset(text, 'x', sizeof text);
	tcp_fixture_handshake(&s->tcp);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, text, sizeof text);
	assert_string_equal(s->trace, "03:1");
	assert_string_equal(s->session.initiator, "");
	ASSERT_ODD(ANOMALY_ISCSI_TEXT, );
	/* A name that is longer than any. */
	memcpy(text, "InitiatorName=", 14);
	text[sizeof text - 1] = '\0';
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, text, sizeof text);
	assert_string_equal(s->session.initiator, "");
	ASSERT_ODD(ANOMALY_ISCSI_TEXT, ANOMALY_ISCSI_TEXT, );
}

static void
test_what_is_not_iscsi_is_left_alone(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: none\r\n\r\n";

	(void)state;
	tcp_fixture_handshake(&s->tcp);
	for (unsigned i = 0; i < 10; i++)
		tcp_fixture_feed(&s->tcp, INITIATOR, (const uint8_t *)request, sizeof request - 1);
	iscsi_fixture_feed_pdu(s, TARGET, 0x20, 0x80, 8, NULL, 0);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 8, NULL, 0);
	assert_int_equal(s->messages, 0);
	ASSERT_ODD(ANOMALY_ISCSI_NOT_ISCSI, );
}

/* --- gaps --- */

static void
test_a_gap_in_data_keeps_the_boundaries(void **state)
{
	static char data[4096];
	uint32_t seq;

	(void)state;
	for (unsigned digests = 0; digests < 4; digests++) {
		s->tcp.port[CLIENT]++;
		log_in(digests);
		bytes.length = 0;
		iscsi_put_pdu_digests(&bytes, 0x05, 0x80, 7, data, sizeof data, digests);
		clear_trace();
		/* Cut by the snapshot length after the header, to the end of the PDU. */
		seq = s->tcp.next[INITIATOR];
		s->tcp.next[INITIATOR] += bytes.length;
		tcp_fixture_feed_segment(&s->tcp, INITIATOR, TCP_ACK, seq, bytes.at, 100, bytes.length);
		bytes.length = 0;
		iscsi_put_pdu_digests(&bytes, 0x40, 0x80, 8, NULL, 0, digests);
		tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
		assert_string_equal(s->trace, "05:7 00:8");
	}
	ASSERT_ODD(ANOMALY_STREAM_GAP, ANOMALY_STREAM_GAP, ANOMALY_STREAM_GAP, ANOMALY_STREAM_GAP, );
}

static void
test_a_gap_in_a_header_loses_the_boundaries(void **state)
{
	(void)state;
	log_in(0);
	clear_trace();
	script_scratch.length = 0;
	iscsi_put_pdu(&script_scratch, 0x40, 0x80, 6, NULL, 0);
	tcp_fixture_feed(&s->tcp, INITIATOR, script_scratch.at, 20);
	s->tcp.next[INITIATOR] += 28; /* lost by the capture, and acknowledged */
	iscsi_fixture_feed_pdu(s, TARGET, 0x20, 0x80, 6, NULL, 0);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 7, NULL, 0);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 8, NULL, 0);
	assert_string_equal(s->trace, "20:6 00:7 00:8");
	ASSERT_ODD(ANOMALY_STREAM_GAP, ANOMALY_ISCSI_SYNC_LOST, ANOMALY_ISCSI_SYNC_FOUND, );
}

/* --- mid-stream --- */

static void
test_mid_stream(void **state)
{
	(void)state;
	for (unsigned digests = 0; digests < 4; digests++) {
		static uint8_t middle[5000];

		s->tcp.port[CLIENT]++;
		s->tcp.next[INITIATOR] = 90000;
		s->tcp.next[TARGET] = 80000;
		tcp_fixture_pick_up(&s->tcp);
		clear_trace();
		for (unsigned i = 0; i < sizeof middle; i++)
			middle[i] = (uint8_t)(i * 7 + (i >> 8) * 31);
		tcp_fixture_feed(&s->tcp, INITIATOR, middle, sizeof middle); /* the end of some data */
		make_run(digests);
		for (uint32_t at = 0; at < bytes.length; at += 1448)
			tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at + at,
					 bytes.length - at < 1448 ? bytes.length - at : 1448);
		/* Nearly all of them, and always the last. */
		assert_non_null(strstr(s->trace, "01:102 05:102 00:202"));
		assert_non_null(strstr(s->trace, "01:113 05:113 00:213"));
		assert_string_equal(s->session.target, "");
		assert_false(s->session.from_start);
		assert_int_equal(s->anomalies[ANOMALY_ISCSI_SYNC_FOUND], digests + 1);
	}
	assert_int_equal(s->anomalies[ANOMALY_ISCSI_SYNC_LOST], 0);
	assert_int_equal(s->anomalies[ANOMALY_ISCSI_DATA_DIGEST], 0);
}

static void
test_no_boundary_is_found(void **state)
{
	static uint8_t noise[60000];
	uint32_t random = 1;

	(void)state;
	s->tcp.next[INITIATOR] = 90000;
	s->tcp.next[TARGET] = 80000;
	tcp_fixture_pick_up(&s->tcp);
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < sizeof noise; i++) {
			random = random * 1664525 + 1013904223;
			noise[i] = (uint8_t)(random >> 24);
		}
		tcp_fixture_feed(&s->tcp, INITIATOR, noise, sizeof noise);
	}
	assert_int_equal(s->messages, 0);
	ASSERT_ODD(ANOMALY_ISCSI_SYNC_GIVEN_UP, );
}

/* No probe is enabled during the login and for a while: the settings of the login are known nevertheless. */
static void
test_probes_enabled_later(void **state)
{
	(void)state;
	s->tcp.ctx.traced = false;
	log_in(3);
	make_run(3);
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, 100); /* and the rest of it is dropped */
	s->tcp.next[INITIATOR] += bytes.length - 100;
	s->tcp.ctx.traced = true;
	clear_trace();
	s->messages = 0;
	make_run(3);
	tcp_fixture_feed(&s->tcp, INITIATOR, bytes.at, bytes.length);
	assert_int_equal(s->messages, 60);
	assert_string_equal(s->session.initiator, "iqn.a");
	assert_string_equal(s->session.target, "iqn.b");
	ASSERT_ODD(ANOMALY_ISCSI_SYNC_FOUND, );
}

static void
test_a_connection_ends_and_another_begins(void **state)
{
	(void)state;
	log_in(0);
	tcp_fixture_feed_segment(&s->tcp, INITIATOR, TCP_FIN | TCP_ACK, s->tcp.next[INITIATOR]++, NULL, 0, 0);
	tcp_fixture_feed_segment(&s->tcp, TARGET, TCP_FIN | TCP_ACK, s->tcp.next[TARGET]++, NULL, 0, 0);
	assert_int_equal(app_flow_table_counters(s->tcp.app_flows)->active, 0);
	clear_trace();
	log_in(0);
	assert_int_equal(app_flow_table_counters(s->tcp.app_flows)->active, 1);
	assert_int_equal(app_flow_table_counters(s->tcp.app_flows)->begun, 2);
	assert_string_equal(s->trace, "03:1 23:1");
	tcp_fixture_feed_segment(&s->tcp, TARGET, TCP_RST | TCP_ACK, s->tcp.next[TARGET], NULL, 0, 0);
	assert_int_equal(app_flow_table_counters(s->tcp.app_flows)->active, 0);
	ASSERT_ODD();
}

static const struct app_flow_counters *
app_flows(void)
{
	return app_flow_table_counters(s->tcp.app_flows);
}

static void
test_more_connections_than_the_table_holds(void **state)
{
	unsigned n;

	(void)state;
	for (n = 0; n < 3 * all; n++) {
		/* The table holds 100 at once; app flows outlive their flows until they are the oldest. */
		s->tcp.port[CLIENT] = (uint16_t)(10000 + n);
		log_in(0);
	}
	assert_int_equal(app_flows()->active, all);
	/* The last to be evicted were unconfirmed when the next connection began. */
	assert_int_equal(app_flows()->evicted + app_flows()->evicted_unconfirmed, 2 * all);
	assert_int_equal(app_flows()->evicted_unconfirmed, 0);
	ASSERT_ODD();
}

/* --- forged and idle connections --- */

/* A target with a session that has to survive what others send. */
static void
begin_session(void)
{
	tcp_fixture_teardown(&s->tcp);
	iscsi_fixture_setup_flows(s, 20000);
	log_in(0);
	assert_int_equal(s->messages, 2);
}

/* The session of begin_session() sends a NOP. */
static void
assert_session_is_read(const uint32_t next[2])
{
	s->tcp.port[CLIENT] = 40000;
	s->tcp.network = 0;
	s->tcp.next[INITIATOR] = next[INITIATOR];
	s->tcp.next[TARGET] = next[TARGET];
	s->messages = 0;
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 77, NULL, 0);
	assert_int_equal(s->messages, 1);
	assert_int_equal(s->pdu.itt, 77);
	assert_string_equal(s->session.initiator, "iqn.a");
}

static void
test_forged_segments_get_no_state(void **state)
{
	uint32_t next[2];

	(void)state;
	begin_session();
	memcpy(next, s->tcp.next, sizeof next);
	for (unsigned n = 0; n < 3 * all; n++) {
		s->tcp.network = (uint8_t)n;
		s->tcp.port[CLIENT] = (uint16_t)(2000 + n);
		s->tcp.next[INITIATOR] = 7000 * n;
		if (n % 3 == 0) { /* no answer to the SYN */
			tcp_fixture_feed_segment(&s->tcp, INITIATOR, TCP_SYN, s->tcp.next[INITIATOR]++, NULL, 0, 0);
		} else if (n % 3 == 1) { /* an ACK that does not acknowledge the SYN,ACK */
			tcp_fixture_feed_segment(&s->tcp, INITIATOR, TCP_SYN, s->tcp.next[INITIATOR]++, NULL, 0, 0);
			tcp_fixture_feed_segment(&s->tcp, TARGET, TCP_SYN | TCP_ACK, 1u << 30, NULL, 0, 0);
		}
		for (unsigned i = 0; i < 3; i++)
			iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, SCRIPT_NAMES, sizeof SCRIPT_NAMES - 1);
	}
	assert_int_equal(app_flows()->begun, 1);
	assert_int_equal(app_flows()->active, 1);
	assert_session_is_read(next);
	ASSERT_ODD();
}

/* In mid-stream data of one end are not enough; an acknowledgement by the other one that uses the right numbers is. */
static void
test_mid_stream_needs_both_ends(void **state)
{
	static const uint8_t data[100];

	(void)state;
	s->tcp.next[INITIATOR] = 90000;
	s->tcp.next[TARGET] = 80000;
	for (unsigned i = 0; i < 5; i++)
		tcp_fixture_feed(&s->tcp, INITIATOR, data, sizeof data);
	assert_int_equal(app_flows()->begun, 0);
	tcp_fixture_feed_segment(&s->tcp, TARGET, TCP_ACK, s->tcp.next[TARGET], NULL, 0, 0);
	tcp_fixture_feed(&s->tcp, INITIATOR, data, sizeof data);
	assert_int_equal(app_flows()->begun, 1);
}

/* More than 2 GiB before a probe is enabled: half of the sequence space and more lies after the first byte. */
static void
test_mid_stream_after_gigabytes(void **state)
{
	static const uint8_t data[100];

	(void)state;
	s->tcp.ctx.traced = false;
	s->tcp.next[INITIATOR] = 90000;
	s->tcp.next[TARGET] = 80000;
	for (unsigned i = 0; i < 60000; i++)
		for (unsigned from = 0; from < 2; from++) {
			tcp_fixture_feed_segment(&s->tcp, from, TCP_ACK, s->tcp.next[from], NULL, 0, 60000);
			s->tcp.next[from] += 60000;
		}
	assert_int_equal(app_flows()->begun, 0);
	s->tcp.ctx.traced = true;
	tcp_fixture_feed(&s->tcp, INITIATOR, data, sizeof data);
	assert_int_equal(app_flows()->begun, 1);
}

/* Connections that are opened, send a login, and get no answer. */
static void
open_without_answer(unsigned count, bool one_network)
{
	for (unsigned n = 0; n < count; n++) {
		s->tcp.network = one_network ? 9 : (uint8_t)(n % 200 + 10);
		s->tcp.port[CLIENT] = (uint16_t)(2000 + n);
		tcp_fixture_handshake(&s->tcp);
		iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, SCRIPT_NAMES, sizeof SCRIPT_NAMES - 1);
	}
}

static void
test_unconfirmed_connections_have_a_share(void **state)
{
	uint32_t next[2];

	(void)state;
	begin_session();
	memcpy(next, s->tcp.next, sizeof next);
	open_without_answer(3 * all, true);
	assert_int_equal(app_flows()->active, 1 + APP_FLOWS_SOURCE_MAX(all));
	assert_int_equal(app_flows()->evicted_unconfirmed, 3 * all - APP_FLOWS_SOURCE_MAX(all));
	open_without_answer(3 * all, false);
	assert_int_equal(app_flows()->active, 1 + APP_FLOWS_UNCONFIRMED_MAX(all));
	assert_int_equal(app_flows()->evicted, 0);
	assert_session_is_read(next);
	ASSERT_ODD();
}

/* With a table full of sessions, another one can log in while others fail to. */
static void
test_a_login_while_the_table_is_full(void **state)
{
	(void)state;
	begin_session();
	for (unsigned n = 0; n < all; n++) {
		s->tcp.port[CLIENT] = (uint16_t)(41000 + n);
		log_in(0);
	}
	assert_int_equal(app_flows()->active, all);
	assert_int_equal(app_flows()->evicted, 1);
	open_without_answer(all, false);
	assert_int_equal(app_flows()->evicted, 1 + APP_FLOWS_UNCONFIRMED_MIN(all) + 1);
	s->tcp.port[CLIENT] = 50000;
	s->tcp.network = 0;
	s->messages = 0;
	log_in(0);
	assert_int_equal(s->messages, 2);
}

/* Every 16 bytes a header may begin, until the limit; then the boundaries are found in the next segment. */
static void
test_the_search_has_a_limit(void **state)
{
	static const uint8_t candidate[16] = {0x01, 0xa0, [7] = 4};
	static uint8_t many[16 * 90];

	(void)state;
	s->tcp.next[INITIATOR] = 90000;
	s->tcp.next[TARGET] = 80000;
	tcp_fixture_pick_up(&s->tcp);
	for (unsigned i = 0; i < sizeof many; i++)
		many[i] = candidate[i % 16];
	tcp_fixture_feed(&s->tcp, INITIATOR, many, sizeof many);
	ASSERT_ODD(ANOMALY_ISCSI_SEARCH_LIMIT, );
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 5, NULL, 0);
	assert_string_equal(s->trace, "00:5");
	ASSERT_ODD(ANOMALY_ISCSI_SEARCH_LIMIT, ANOMALY_ISCSI_SYNC_FOUND, );
}

/* The search stops at every first and second byte that a valid header has. */
static void
test_the_search_misses_no_header(void **state)
{
	bool begins[2][256] = {{false}};
	unsigned count[2] = {0};

	(void)state;
	for (unsigned n = 0; n < 1 << 17; n++) {
		uint8_t header[ISCSI_BHS_LEN + 1] = {(uint8_t)n, (uint8_t)(n >> 8)};
		struct slice bhs = {header, ISCSI_BHS_LEN};
		bool from_target = n >> 16 != 0, plausible = false;

		for (unsigned data = 0; data < 4; data++) {
			memset(header + 16, data < 2 ? 0xff : 0, 4);
			header[7] = data & 1;
			header[15] = header[ISCSI_BHS_LEN - 1] = 1; /* the latter is a length */
			plausible |= iscsi_bhs_is_plausible(bhs, from_target, 1000);
			header[15] = header[ISCSI_BHS_LEN - 1] = 0;
			plausible |= iscsi_bhs_is_plausible(bhs, from_target, 1000);
		}
		if (plausible)
			assert_int_equal(iscsi_bhs_search(bhs, 0, from_target), 0);
		begins[from_target][header[0]] |= plausible;
	}
	for (unsigned first = 0; first < 512; first++)
		count[first >> 8] += begins[first >> 8][first & 0xff];
	assert_int_equal(count[0], 2 * 8 - 1); /* with and without the bit for immediate delivery; a login has it */
	assert_int_equal(count[1], 10);
}

/* --- the arguments --- */

static void
test_arguments_of_a_message(void **state)
{
	static struct iscsi_connection session = {.from_start = true, .target = "iqn.b", .initiator = "iqn.a"};
	static const uint8_t cdb[16] = {0x88, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, more[] = {16, 17};
	struct iscsi_pdu pdu = {.opcode = 1,
				.flags = 0xc1,
				.response = 3,
				.status = 0x201,
				.lun = 4,
				.itt = 5,
				.ttt = 6,
				.cmdsn = 7,
				.statsn = 8,
				.datasn = 9,
				.buffer_offset = 10,
				.transfer_length = 11,
				.data_length = 12,
				.cdb = {cdb, 16},
				.cdb_extension = {more, 2}};
	struct iscsi_message message = {&pdu, &session};
	struct iscsiinfo ii;
	struct iscsicmd ic;
	uint8_t room[ISCSI_CDB_MAX];

	(void)state;
	memset(&ii, 0xa5, sizeof ii);
	memset(&ic, 0xa5, sizeof ic);
	args_iscsiinfo(&ii, &message);
	assert_string_equal(ii.ii_target, "iqn.b");
	assert_string_equal(ii.ii_initiator, "iqn.a");
	assert_int_equal(ii.ii_target[223], 0);
	assert_int_equal(ii.ii_lun, 4);
	assert_int_equal(ii.ii_itt, 5);
	assert_int_equal(ii.ii_ttt, 6);
	assert_int_equal(ii.ii_cmdsn, 7);
	assert_int_equal(ii.ii_statsn, 8);
	assert_int_equal(ii.ii_datasn, 9);
	assert_int_equal(ii.ii_datalen, 12);
	assert_int_equal(ii.ii_flags, 0xc1);
	assert_int_equal(ii.ii_status, 0x201);
	assert_int_equal(ii.ii_response, 3);
	assert_int_equal(ii.ii_opcode, 1);
	assert_int_equal(ii.ii_offset, 10);
	assert_int_equal(ii.ii_xferlen, 11);
	args_iscsicmd(&ic, room, &pdu);
	assert_int_equal(ic.ic_len, 18);
	assert_true(ic.ic_cdb == (uintptr_t)room);
	assert_memory_equal(room, cdb, 16);
	assert_memory_equal(room + 16, more, 2);
	assert_int_equal(ic.ic_opcode, 0x88);
	assert_string_equal(ic.ic_opstr, "read(16)");
	assert_memory_equal(ic.ic_cdb16, cdb, 16);
	/* Fields that were not captured are unknown; fields that were not sent are empty. */
	session = (struct iscsi_connection){.from_start = true};
	args_iscsiinfo(&ii, &message);
	assert_string_equal(ii.ii_target, "");
	session.from_start = false;
	args_iscsiinfo(&ii, &message);
	assert_string_equal(ii.ii_target, "<unknown>");
}

static void
test_arguments_of_a_connection(void **state)
{
	static const uint8_t ends[2][16] = {{0x20, 1, 0xd, 0xb8, [15] = 1}, {0x20, 1, 0xd, 0xb8, [15] = 2}};
	struct flow_key key = {.port = {40000, 3260}, .protocol = 6, .version = 6};
	struct packet packet = {.network = NETWORK_IPV6,
				.transport = TRANSPORT_TCP,
				.tcp = {.sport = 40000, .dport = 3260, .flags = TCP_SYN}};
	struct conninfo ci;
	struct flow *flow;

	(void)state;
	memcpy(key.addr, ends, sizeof ends);
	flow = flow_table_lookup_tcp(s->tcp.flows, &packet, &key, flow_key_hash(s->tcp.flows, &key), 0, s->tcp.ctx.now);
	memset(&ci, 0xa5, sizeof ci);
	args_conninfo(&ci, &(struct probe_endpoint){.table = s->tcp.flows, .flow = flow, .end = 1}, 77, 88);
	assert_string_equal(ci.ci_local, "2001:db8::2");
	assert_string_equal(ci.ci_remote, "2001:db8::1");
	assert_string_equal(ci.ci_protocol, "ipv6");
	assert_int_equal(ci.ci_lport, 3260);
	assert_int_equal(ci.ci_rport, 40000);
	assert_int_equal(ci.ci_cid, flow_cid(s->tcp.flows, flow, 1));
	assert_int_equal(ci.ci_pkt, 77);
	assert_int_equal(ci.ci_ts, 88);
	assert_int_equal(ci.ci_seq, 0);
}

/* Each opcode has its probe, or does not fire. */
static void
test_probes_of_every_pdu(void **state)
{
	static const struct {
		uint8_t opcode;
		enum probe_id probe;
	} pairs_wanted[] = {
	    {0x00, PROBE_ISCSI_NOP_RECEIVE},
	    {0x01, PROBE_ISCSI_SCSI_COMMAND},
	    {0x02, PROBE_ISCSI_TASK_COMMAND},
	    {0x03, PROBE_ISCSI_LOGIN_COMMAND},
	    {0x04, PROBE_ISCSI_TEXT_COMMAND},
	    {0x05, PROBE_ISCSI_DATA_RECEIVE},
	    {0x06, PROBE_ISCSI_LOGOUT_COMMAND},
	    {0x20, PROBE_ISCSI_NOP_SEND},
	    {0x21, PROBE_ISCSI_SCSI_RESPONSE},
	    {0x22, PROBE_ISCSI_TASK_RESPONSE},
	    {0x23, PROBE_ISCSI_LOGIN_RESPONSE},
	    {0x24, PROBE_ISCSI_TEXT_RESPONSE},
	    {0x25, PROBE_ISCSI_DATA_SEND},
	    {0x26, PROBE_ISCSI_LOGOUT_RESPONSE},
	    {0x31, PROBE_ISCSI_DATA_REQUEST},
	    {0x32, PROBE_ISCSI_ASYNC_SEND},
	    {0x10, PROBE_COUNT},
	    {0x3f, PROBE_COUNT},
	    {0x1c, PROBE_COUNT},
	    {0x3e, PROBE_COUNT},
	};
	static struct iscsi_connection session;
	struct flow_key key = {.port = {40000, 3260}, .protocol = 6, .version = 4};
	struct packet packet = {.network = NETWORK_IPV4, .transport = TRANSPORT_TCP, .tcp = {.flags = TCP_SYN}};
	struct flow *flow =
	    flow_table_lookup_tcp(s->tcp.flows, &packet, &key, flow_key_hash(s->tcp.flows, &key), 0, s->tcp.ctx.now);
	struct emitter *emitter = emitter_new(NULL, s->tcp.flows);

	(void)state;
	assert_false(app_probes_enabled(&iscsi_app));
	for (unsigned i = 0; i < sizeof pairs_wanted / sizeof pairs_wanted[0]; i++) {
		struct iscsi_pdu pdu = {.opcode = pairs_wanted[i].opcode};
		struct iscsi_message message = {&pdu, &session};
		enum probe_id probe = pairs_wanted[i].probe;

		iscsi_fire(emitter, flow, 1, &message); /* disabled */
		if (probe == PROBE_COUNT)
			continue;
		assert_int_equal(emitter_firings(emitter, probe), 0);
		(*probe_semaphores[probe])++;
		assert_true(app_probes_enabled(&iscsi_app));
		iscsi_fire(emitter, flow, 1, &message);
		(*probe_semaphores[probe])--;
		assert_int_equal(emitter_firings(emitter, probe), 1);
	}
	assert_false(app_probes_enabled(&iscsi_app));
	emitter_free(emitter);
}

/* Every kind of PDU that the target and the initiators of iscsi.sh never send. */
static void
test_rare_pdus(void **state)
{
	(void)state;
	log_in(0);
	clear_trace();
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x32, 0x80, ISCSI_RESERVED_TAG, "sense", 5); /* asynchronous message */
	bytes.at[9] = 2;
	bytes.at[27] = 40;
	bytes.at[36] = 1;
	tcp_fixture_feed(&s->tcp, TARGET, bytes.at, bytes.length);
	assert_int_equal(s->pdu.opcode, ISCSI_ASYNC);
	assert_int_equal(s->pdu.lun, 2);
	assert_int_equal(s->pdu.statsn, 40);
	assert_int_equal(s->pdu.status, 1);
	assert_int_equal(s->pdu.data_length, 5);
	bytes.length = 0;
	iscsi_put_pdu(&bytes, 0x3f, 0x80, ISCSI_RESERVED_TAG, bytes.at, 48); /* reject, with the header that is */
	bytes.at[2] = 4;
	tcp_fixture_feed(&s->tcp, TARGET, bytes.at, bytes.length);
	assert_int_equal(s->pdu.response, 4);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x10, 0x80, 3, NULL, 0);	/* SNACK */
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x1c, 0x00, 4, "ours", 4); /* a vendor's */
	iscsi_fixture_feed_pdu(s, TARGET, 0x3d, 0x00, 5, NULL, 0);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x40, 0x80, 6, NULL, 0);
	assert_string_equal(s->trace, "32:ffffffff 3f:ffffffff 10:3 1c:0 3d:0 00:6");
	ASSERT_ODD();
}

int
main(void)
{
#define POINT(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
	    POINT(test_digests_are_those_of_the_rfc),
	    POINT(test_digests_of_every_length),
	    POINT(test_logical_units),
	    POINT(test_every_field_of_a_command),
	    POINT(test_data_in_has_a_status_only_with_its_flag),
	    POINT(test_additional_header_segments),
	    POINT(test_invalid_headers),
	    POINT(test_text),
	    POINT(test_login),
	    POINT(test_login_text_goes_on_in_the_next_pdu),
	    POINT(test_a_login_that_fails),
	    POINT(test_a_second_connection_takes_the_names_of_its_session),
	    POINT(test_any_segmentation),
	    POINT(test_segments_out_of_order),
	    POINT(test_every_byte_of_every_digest_counts),
	    POINT(test_a_wrong_length),
	    POINT(test_an_opcode_of_the_wrong_sender),
	    POINT(test_bad_additional_headers_cost_their_own_pdu_only),
	    POINT(test_text_without_end),
	    POINT(test_what_is_not_iscsi_is_left_alone),
	    POINT(test_a_gap_in_data_keeps_the_boundaries),
	    POINT(test_a_gap_in_a_header_loses_the_boundaries),
	    POINT(test_mid_stream),
	    POINT(test_no_boundary_is_found),
	    POINT(test_probes_enabled_later),
	    POINT(test_a_connection_ends_and_another_begins),
	    POINT(test_more_connections_than_the_table_holds),
	    POINT(test_forged_segments_get_no_state),
	    POINT(test_mid_stream_needs_both_ends),
	    POINT(test_mid_stream_after_gigabytes),
	    POINT(test_unconfirmed_connections_have_a_share),
	    POINT(test_a_login_while_the_table_is_full),
	    POINT(test_the_search_has_a_limit),
	    POINT(test_the_search_misses_no_header),
	    POINT(test_arguments_of_a_message),
	    POINT(test_arguments_of_a_connection),
	    POINT(test_probes_of_every_pdu),
	    POINT(test_rare_pdus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
