/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS (RFC 8446, RFC 5246): the messages of a connection up to the end of its handshake. */
#ifndef NETOBS_APPS_TLS_TLS_READER_H
#define NETOBS_APPS_TLS_TLS_READER_H

#include "apps/tls/tls_hello.h"
#include "flow/stream/app_flow.h"

/* Most bytes of one end that are read. */
#define TLS_BYTES_MAX 65536u

#define TLS_MESSAGE_HEADER_LEN 4

/* One direction. */
struct tls_stream {
	struct tls_hello hello;
	struct tls_record record;
	uint32_t bytes;	       /* read until now */
	uint32_t message_left; /* bytes of the handshake message */
	uint16_t record_left;
	uint8_t header[TLS_RECORD_HEADER_LEN], header_have;
	uint8_t message[TLS_MESSAGE_HEADER_LEN], message_have; /* its type and length */
	uint8_t head[3], head_have; /* the first bytes of an alert or ServerKeyExchange */
	bool in_message;
	bool midstream;	    /* the first byte read may be anything */
	bool change_cipher; /* ChangeCipherSpec was sent */
	bool unread;	    /* nothing more of it is read */
	bool finished;	    /* TLS 1.2 and below: and an encrypted handshake message behind it */
};

struct tls_connection {
	struct tls_client client;
	struct tls_server server;
	struct tls_stream stream[2]; /* by endpoint */
	uint64_t hello_at;	     /* packet time of the first ClientHello; 0 unknown */
	int64_t hello_us, handshake_us;
	int64_t flight_us; /* TLS 1.3: like handshake_us, of the client's last flight, while `asked` */
	bool client_greeted; /* the first ClientHello was read */
	bool retry;	     /* a HelloRetryRequest waits for the second ClientHello */
	bool retried;	     /* a HelloRetryRequest was read */
	bool negotiated;     /* the ServerHello was read */
	bool version_13;     /* a ServerHello or HelloRetryRequest selected TLS 1.3 */
	bool encrypted;	     /* TLS 1.3: the server has sent an encrypted record */
	bool asked;	     /* TLS 1.3: the client's flight may have a certificate, and the server has not answered */
	bool alert_like;     /* TLS 1.3: the server's last record, behind encrypted ones, is as long as an alert */
	bool hello_done;     /* TLS 1.2 and below: ServerHelloDone, so the handshake is a full one */
	bool resumed;
	bool done; /* nothing more is read */
};

extern const struct app_reader tls_reader;

#endif
