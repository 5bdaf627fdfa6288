/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_message.h"

/* Shortest ClientHello: version, random, an empty session id, one cipher suite, one compression method. */
#define TLS_CLIENT_HELLO_MIN 41u

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

bool
tls_is_client_hello(struct slice first)
{
	uint16_t length = slice_u16(first, 3);

	return first.len >= 11 && slice_u8(first, 0) == TLS_HANDSHAKE && slice_u8(first, 1) == 3 &&
	       slice_u8(first, 2) <= 4 && length >= 4 && length <= TLS_RECORD_MAX &&
	       slice_u8(first, 5) == TLS_CLIENT_HELLO && slice_u8(first, 6) == 0 &&
	       slice_u16(first, 7) >= TLS_CLIENT_HELLO_MIN && slice_u8(first, 9) == 3 && slice_u8(first, 10) <= 3;
}

enum app_match
tls_recognise(struct slice first)
{
	/* What the missing bytes may be: lengths of 255. */
	uint8_t bytes[] = {TLS_HANDSHAKE, 3, 1, 0, 255, TLS_CLIENT_HELLO, 0, 0, 255, 3, 3};

	if (first.len >= sizeof bytes)
		return tls_is_client_hello(first) ? APP_MATCH_YES : APP_MATCH_NO;
	slice_copy(first, 0, bytes, first.len);
	return tls_is_client_hello((struct slice){bytes, sizeof bytes}) ? APP_MATCH_UNDECIDED : APP_MATCH_NO;
}
