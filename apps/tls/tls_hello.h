/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ClientHello and ServerHello (RFC 8446 section 4.1), parsed as a stream: a ClientHello with post-quantum key shares
 * has several segments, of which only the fields below are kept.
 */
#ifndef NETOBS_APPS_TLS_TLS_HELLO_H
#define NETOBS_APPS_TLS_TLS_HELLO_H

#include "apps/tls/tls_message.h"

/* Most values that are kept for the fingerprint.  With more of one kind there is none. */
#define TLS_CIPHERS_MAX	   192
#define TLS_EXTENSIONS_MAX 128
#define TLS_SIGNATURES_MAX 64

#define TLS_NAME_SIZE 256
#define TLS_ALPN_SIZE 32
#define TLS_JA4_SIZE  40
#define TLS_ID_MAX    32 /* bytes of a session id */
#define TLS_RANDOM_LEN 32

/* The fields of the ClientHello that is read, or was read last. */
struct tls_client {
	uint16_t cipher[TLS_CIPHERS_MAX], extension[TLS_EXTENSIONS_MAX], signature[TLS_SIGNATURES_MAX];
	uint16_t ciphers, extensions, signatures; /* of all of these, GREASE excluded, those kept */
	uint16_t version;			  /* highest of SSL 3 and TLS */
	uint16_t ja4_version;			  /* highest of all, drafts and other protocols too */
	uint16_t name_length;			  /* characters of `name` */
	uint8_t alpn_first, alpn_last;		  /* bytes of the first protocol name */
	uint8_t alpn_length;			  /* characters of `alpn` */
	uint8_t id_length;
	bool named;	 /* the extension server_name is there */
	bool too_many;	 /* for the fingerprint */
	bool ech;	 /* the extension encrypted_client_hello is there */
	bool early_data; /* the extension early_data is there */
	bool complete;	 /* all of the ClientHello was read */
	uint8_t id[TLS_ID_MAX];
	char name[TLS_NAME_SIZE];
	char alpn[TLS_ALPN_SIZE];
};

/* The fields of the ServerHello. */
struct tls_server {
	uint16_t version, cipher, group;
	bool same_id; /* the session id is the client's, and not empty */
	bool psk;     /* a pre-shared key is selected */
	bool retry;   /* the last one was a HelloRetryRequest */
	uint8_t alpn_length;
	char alpn[TLS_ALPN_SIZE];
};

/* The place in a message that is read. */
struct tls_hello {
	struct tls_client *client;
	struct tls_server *server;	 /* NULL: a ClientHello is read */
	uint32_t left;			 /* bytes of the message */
	uint32_t value;			 /* the number that is read */
	uint16_t list_left;		 /* bytes of the list or field that is read */
	uint16_t extensions_left;	 /* bytes of all extensions */
	uint16_t extension;		 /* type of the extension that is read */
	uint16_t inner_left;		 /* bytes of a name in it */
	uint8_t need;			 /* bytes of the number that are missing */
	uint8_t state;			 /* enum tls_hello_state */
	uint8_t step;			 /* enum tls_extension_step */
	bool same_random;		 /* until now the random is that of a HelloRetryRequest */
	bool same_id;			 /* until now the session id is the client's */
	bool name_cut;			 /* the rest of the name that is read does not fit */
	bool extension_odd, name_long;	 /* anomalies found */
};

/* Begins a ClientHello of `length` bytes, whose fields go to `client`; with `server`, a ServerHello. */
void tls_hello_begin(struct tls_hello *hello, struct tls_client *client, struct tls_server *server, uint32_t length);

/* Reads the next bytes, of which there are no more than hello->left.  False if the message contradicts itself. */
bool tls_hello_read(struct tls_hello *hello, struct slice bytes);

#endif
