/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS (RFC 8446, RFC 5246): records and alerts, from bytes to fields, and what the reader reports. */
#ifndef NETOBS_APPS_TLS_TLS_H
#define NETOBS_APPS_TLS_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"
#include "flow/stream/app_flow.h"
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

/*
 * ClientHello and ServerHello (RFC 8446 section 4.1), parsed as a stream: a ClientHello with post-quantum key shares
 * has several segments, of which only the fields below are kept.
 */

/* Most values that are kept for the fingerprint.  With more of one kind there is no fingerprint. */
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

/* --- The messages of a connection up to the end of its handshake. --- */

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
	bool finished;	    /* TLS 1.2 and below: and an encrypted handshake message after it */
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
	bool alert_like;     /* TLS 1.3: the server's last record, after encrypted ones, is as long as an alert */
	bool hello_done;     /* TLS 1.2 and below: ServerHelloDone, so the handshake is a full one */
	bool resumed;
	bool done; /* nothing more is read */
};

extern const struct app_reader tls_reader;

/* Writes JA4, the fingerprint (FoxIO, JA4 only) of a complete ClientHello on TCP; "" if it has more values than are
 * kept. */
void tls_ja4(const struct tls_client *client, char ja4[TLS_JA4_SIZE]);

/* The name of a cipher suite; NULL if it has no name. */
const char *tls_cipher_name(uint16_t cipher);

#endif
