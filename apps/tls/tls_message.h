/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS (RFC 8446, RFC 5246): records and alerts, from bytes to fields, and what the reader reports. */
#ifndef NETOBS_APPS_TLS_TLS_MESSAGE_H
#define NETOBS_APPS_TLS_TLS_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"
#include "flow/stream/app_reader.h"

#define TLS_RECORD_HEADER_LEN 5

/* Most bytes of a record's content (RFC 5246 section 6.2.3: 2^14 and 2048 of encryption and compression). */
#define TLS_RECORD_MAX 18432u

/* Bytes of an alert. */
#define TLS_ALERT_LEN 2

enum tls_content {
	TLS_CHANGE_CIPHER_SPEC = 20,
	TLS_ALERT = 21,
	TLS_HANDSHAKE = 22,
	TLS_APPLICATION_DATA = 23,
	TLS_HEARTBEAT = 24,
};

enum tls_handshake_type {
	TLS_HELLO_REQUEST = 0,
	TLS_CLIENT_HELLO = 1,
	TLS_SERVER_HELLO = 2,
	TLS_SERVER_KEY_EXCHANGE = 12,
	TLS_SERVER_HELLO_DONE = 14,
};

enum tls_version {
	TLS_SSL_3 = 0x0300,
	TLS_1_2 = 0x0303,
	TLS_1_3 = 0x0304,
};

struct tls_record {
	uint8_t type; /* enum tls_content */
	uint16_t length;
};

/* In the order of the probes in probes/netobs.d. */
enum tls_event {
	TLS_EVENT_CLIENT_HELLO,
	TLS_EVENT_SERVER_HELLO,
	TLS_EVENT_ESTABLISHED,
	TLS_EVENT_ALERT,
};

struct tls_connection;

/* What the reader reports. */
struct tls_message {
	enum tls_event event;
	bool from_server;
	int16_t alert_level; /* -1: no alert, or encrypted */
	int16_t alert_description;
	const struct tls_connection *connection;
};

/* Parses the header of a record.  ANOMALY_NONE, or why it cannot be one. */
enum anomaly tls_parse_record(struct slice header, struct tls_record *record);

/* Whether these first bytes of a client are a ClientHello of SSL 2 (RFC 5246 appendix E.2). */
bool tls_is_sslv2_hello(struct slice first);

/* Whether a connection whose client sends these bytes first is TLS: records with the beginning of a ClientHello. */
enum app_match tls_recognise(struct slice first);

/* Whether a value of a list is reserved to keep peers tolerant (RFC 8701). */
static inline bool
tls_is_grease(uint16_t value)
{
	return (value & 0x0f0f) == 0x0a0a && value >> 8 == (value & 0xff);
}

#endif
