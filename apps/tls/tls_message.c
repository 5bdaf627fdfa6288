/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_message.h"

#include <string.h>

/* Shortest ClientHello: version, random, an empty session id, one cipher suite, one compression method. */
#define TLS_CLIENT_HELLO_MIN 41u

/* Its first bytes: type, length, version. */
#define TLS_HELLO_BEGINNING 6u

enum anomaly
tls_parse_record(struct slice header, struct tls_record *record)
{
	record->type = slice_u8(header, 0);
	record->length = slice_u16(header, 3);
	if (record->type < TLS_CHANGE_CIPHER_SPEC || record->type > TLS_HEARTBEAT || slice_u8(header, 1) != 3)
		return ANOMALY_TLS_RECORD;
	/* Only application data may be empty (RFC 8446 section 5.1). */
	if (record->length > TLS_RECORD_MAX || (record->length == 0 && record->type != TLS_APPLICATION_DATA))
		return ANOMALY_TLS_RECORD_LENGTH;
	return ANOMALY_NONE;
}

bool
tls_is_sslv2_hello(struct slice first)
{
	uint8_t major = slice_u8(first, 3), minor = slice_u8(first, 4);

	return (slice_u8(first, 0) & 0x80) != 0 && slice_u8(first, 2) == TLS_CLIENT_HELLO &&
	       ((major == 3 && minor <= 3) || (major == 0 && minor == 2));
}

/* Whether the first `have` bytes of a handshake message may be those of a ClientHello: type, length, version. */
static bool
tls_may_be_client_hello(const uint8_t *message, unsigned have)
{
	/* What the missing bytes may be: a length of 255. */
	uint8_t bytes[TLS_HELLO_BEGINNING] = {TLS_CLIENT_HELLO, 0, 0, 255, 3, 3};
	struct slice head = {bytes, sizeof bytes};

	memcpy(bytes, message, have);
	return bytes[0] == TLS_CLIENT_HELLO && bytes[1] == 0 &&
	       (slice_u16(head, 2) >= TLS_CLIENT_HELLO_MIN || have < 4) && bytes[4] == 3 && bytes[5] <= 3;
}

/* Whether the bytes may begin with the header of a record of handshake messages; `*length` is 0 if it is not whole. */
static bool
tls_may_be_handshake_record(struct slice bytes, uint16_t *length)
{
	uint8_t header[TLS_RECORD_HEADER_LEN] = {TLS_HANDSHAKE, 3, 1, 0, 1};
	struct slice whole = {header, sizeof header};

	slice_copy(bytes, 0, header, bytes.len < sizeof header ? bytes.len : sizeof header);
	*length = bytes.len < sizeof header ? 0 : slice_u16(whole, 3);
	return header[0] == TLS_HANDSHAKE && header[1] == 3 && header[2] <= 4 && slice_u16(whole, 3) > 0 &&
	       slice_u16(whole, 3) <= TLS_RECORD_MAX;
}

/* The first bytes of the message may be in several records. */
enum app_match
tls_recognise(struct slice first)
{
	uint8_t message[TLS_HELLO_BEGINNING];
	unsigned have = 0;
	uint32_t at = 0;
	uint16_t length;

	for (;;) {
		struct slice record = slice_sub(first, at, first.len - at);

		if (!tls_may_be_handshake_record(record, &length))
			return APP_MATCH_NO;
		at += TLS_RECORD_HEADER_LEN;
		for (; length > 0 && at < first.len && have < sizeof message; length--)
			message[have++] = slice_u8(first, at++);
		if (!tls_may_be_client_hello(message, have))
			return APP_MATCH_NO;
		if (have == sizeof message)
			return APP_MATCH_YES;
		if (at >= first.len)
			return first.len < APP_FIRST_BYTES_MAX ? APP_MATCH_UNDECIDED : APP_MATCH_NO;
	}
}
