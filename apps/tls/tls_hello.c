/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls.h"

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

enum {
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_SIGNATURES = 13,
	EXTENSION_ALPN = 16,
	EXTENSION_PRE_SHARED_KEY = 41,
	EXTENSION_EARLY_DATA = 42,
	EXTENSION_VERSIONS = 43,
	EXTENSION_KEY_SHARE = 51,
	EXTENSION_ECH = 0xfe0d, /* RFC 9849 */
};

enum tls_extension_step {
	STEP_SKIP, /* the rest is not needed */
	STEP_LIST_LENGTH,
	STEP_NAME_TYPE,
	STEP_NAME_LENGTH,
	STEP_NAME,
	STEP_ITEM, /* numbers of two bytes up to the end */
	STEP_ONE,  /* one number of two bytes */
};

static void
tls_step_expect(struct tls_hello *hello, enum tls_extension_step step, uint8_t bytes)
{
	hello->step = (uint8_t)step;
	hello->need = bytes;
	hello->value = 0;
}

/* The extension contradicts itself: ignore the rest of it. */
static void
tls_step_fail(struct tls_hello *hello)
{
	hello->extension_odd = true;
	hello->step = STEP_SKIP;
}

static void
tls_client_extension_begin(struct tls_hello *hello)
{
	struct tls_client *client = hello->client;

	if (!tls_is_grease(hello->extension)) {
		if (client->extensions == TLS_EXTENSIONS_MAX)
			client->too_many = true;
		else
			client->extension[client->extensions++] = hello->extension;
	}
	switch (hello->extension) {
	case EXTENSION_SERVER_NAME:
		client->named = true;
		if (client->name_length == 0)
			tls_step_expect(hello, STEP_LIST_LENGTH, 2);
		break;
	case EXTENSION_ALPN:
		if (client->alpn_length == 0)
			tls_step_expect(hello, STEP_LIST_LENGTH, 2);
		break;
	case EXTENSION_SIGNATURES: tls_step_expect(hello, STEP_LIST_LENGTH, 2); break;
	case EXTENSION_VERSIONS: tls_step_expect(hello, STEP_LIST_LENGTH, 1); break;
	case EXTENSION_ECH: client->ech = true; break;
	case EXTENSION_EARLY_DATA: client->early_data = true; break;
	}
}

static void
tls_server_extension_begin(struct tls_hello *hello)
{
	switch (hello->extension) {
	case EXTENSION_ALPN:
		if (hello->server->alpn_length == 0)
			tls_step_expect(hello, STEP_LIST_LENGTH, 2);
		break;
	case EXTENSION_VERSIONS:
	case EXTENSION_KEY_SHARE: tls_step_expect(hello, STEP_ONE, 2); break;
	case EXTENSION_PRE_SHARED_KEY: hello->server->psk = true; break;
	}
}

/* Begins the extension hello->extension of hello->list_left bytes. */
static void
tls_extension_begin(struct tls_hello *hello)
{
	hello->step = STEP_SKIP;
	hello->need = 0;
	if (hello->server != NULL)
		tls_server_extension_begin(hello);
	else
		tls_client_extension_begin(hello);
}

/* After the length of a list. */
static void
tls_list_begin(struct tls_hello *hello, uint32_t length)
{
	if (length != hello->list_left)
		tls_step_fail(hello);
	else if (hello->extension == EXTENSION_SERVER_NAME)
		tls_step_expect(hello, STEP_NAME_TYPE, 1);
	else if (hello->extension == EXTENSION_ALPN)
		tls_step_expect(hello, STEP_NAME_LENGTH, 1);
	else
		tls_step_expect(hello, STEP_ITEM, 2);
	/* The list of versions replaces the version of the ClientHello (RFC 8446 section 4.2.1). */
	if (hello->step == STEP_ITEM && hello->extension == EXTENSION_VERSIONS)
		hello->client->version = hello->client->ja4_version = 0;
}

static void
tls_name_begin(struct tls_hello *hello, uint32_t length)
{
	if (length == 0 || length > hello->list_left) {
		tls_step_fail(hello);
		return;
	}
	hello->inner_left = (uint16_t)length;
	hello->name_cut = false;
	hello->step = STEP_NAME;
}

/* An item of the list of versions or signature algorithms, or the server's choice. */
static void
tls_extension_item(struct tls_hello *hello, uint16_t item)
{
	struct tls_client *client = hello->client;

	if (hello->server != NULL) {
		if (hello->extension == EXTENSION_VERSIONS)
			hello->server->version = item;
		else
			hello->server->group = item;
	} else if (tls_is_grease(item)) {
		return;
	} else if (hello->extension == EXTENSION_VERSIONS) {
		if (item > client->version && item >> 8 == 3)
			client->version = item;
		if (item > client->ja4_version)
			client->ja4_version = item;
	} else if (client->signatures == TLS_SIGNATURES_MAX) {
		client->too_many = true;
	} else {
		client->signature[client->signatures++] = item;
	}
}

/* Appends a byte to a text.  A NUL becomes \000.  False if the text is full. */
static bool
tls_text_append(char *text, uint16_t size, uint16_t *length, uint8_t byte)
{
	uint16_t n = byte == 0 ? 4 : 1;

	if (*length + n >= size)
		return false;
	memcpy(text + *length, byte == 0 ? "\\000" : (const char *)&byte, n);
	*length = (uint16_t)(*length + n);
	text[*length] = '\0';
	return true;
}

static bool
tls_alpn_append(char *text, uint8_t *length, uint8_t byte)
{
	uint16_t at = *length;
	bool fits = tls_text_append(text, TLS_ALPN_SIZE, &at, byte);

	*length = (uint8_t)at;
	return fits;
}

/* Appends a byte to the text of the name that is read.  False if it does not fit. */
static bool
tls_name_append(struct tls_hello *hello, uint8_t byte)
{
	struct tls_client *client = hello->client;

	if (hello->server != NULL)
		return tls_alpn_append(hello->server->alpn, &hello->server->alpn_length, byte);
	if (hello->extension == EXTENSION_ALPN)
		return tls_alpn_append(client->alpn, &client->alpn_length, byte);
	return tls_text_append(client->name, TLS_NAME_SIZE, &client->name_length, byte);
}

static void
tls_extension_name(struct tls_hello *hello, uint8_t byte)
{
	struct tls_client *client = hello->client;

	if (hello->server == NULL && hello->extension == EXTENSION_ALPN) {
		if (client->alpn_length == 0)
			client->alpn_first = byte;
		client->alpn_last = byte;
	}
	/* After a byte that does not fit, a shorter one would leave a hole. */
	hello->name_cut = hello->name_cut || !tls_name_append(hello, byte);
	hello->name_long |= hello->name_cut;
	if (--hello->inner_left > 0)
		return;
	hello->step = STEP_SKIP;
	/* A reserved name in front keeps peers tolerant (RFC 8701): the next one is the client's first. */
	if (hello->server == NULL && hello->extension == EXTENSION_ALPN && client->alpn_length == 2 &&
	    tls_is_grease((uint16_t)(client->alpn_first << 8 | client->alpn_last))) {
		client->alpn_length = 0;
		client->alpn[0] = '\0';
		if (hello->list_left > 0)
			tls_step_expect(hello, STEP_NAME_LENGTH, 1);
	}
}

/* A number is complete. */
static void
tls_extension_number(struct tls_hello *hello)
{
	uint32_t value = hello->value;

	switch ((enum tls_extension_step)hello->step) {
	case STEP_LIST_LENGTH: tls_list_begin(hello, value); break;
	case STEP_NAME_TYPE:
		/* 0 is host_name; no other type was ever defined (RFC 6066 section 3). */
		if (value == 0)
			tls_step_expect(hello, STEP_NAME_LENGTH, 2);
		else
			tls_step_fail(hello);
		break;
	case STEP_NAME_LENGTH: tls_name_begin(hello, value); break;
	case STEP_ITEM:
		tls_extension_item(hello, (uint16_t)value);
		tls_step_expect(hello, STEP_ITEM, 2);
		break;
	case STEP_ONE:
		tls_extension_item(hello, (uint16_t)value);
		hello->step = STEP_SKIP;
		break;
	case STEP_NAME:
	case STEP_SKIP: break;
	}
}

/* Reads the next bytes of the extension, at most hello->list_left; the number of bytes read. */
static uint32_t
tls_extension_read(struct tls_hello *hello, struct slice bytes)
{
	uint8_t byte = slice_u8(bytes, 0);

	if (hello->step == STEP_SKIP) {
		uint32_t n = bytes.len < hello->list_left ? bytes.len : hello->list_left;

		hello->list_left = (uint16_t)(hello->list_left - n);
		return n;
	}
	hello->list_left--;
	if (hello->step == STEP_NAME) {
		tls_extension_name(hello, byte);
		return 1;
	}
	hello->value = hello->value << 8 | byte;
	if (--hello->need == 0)
		tls_extension_number(hello);
	return 1;
}

/* The extension has ended. */
static void
tls_extension_end(struct tls_hello *hello)
{
	bool whole = hello->step == STEP_SKIP || (hello->step == STEP_ITEM && hello->need == 2);

	/* A server that accepts a name answers with an empty extension, of which nothing is read. */
	if (!whole)
		hello->extension_odd = true;
}

enum tls_hello_state {
	HELLO_VERSION,
	HELLO_RANDOM,
	HELLO_ID_LENGTH,
	HELLO_ID,
	HELLO_CIPHERS_LENGTH,
	HELLO_CIPHER,
	HELLO_METHODS_LENGTH,
	HELLO_METHODS,
	HELLO_EXTENSIONS_LENGTH,
	HELLO_EXTENSION_TYPE,
	HELLO_EXTENSION_LENGTH,
	HELLO_EXTENSION,
	HELLO_END,
	HELLO_BAD,
};

/* The random of a HelloRetryRequest (RFC 8446 section 4.1.3). */
static const uint8_t tls_retry_random[TLS_RANDOM_LEN] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static void
tls_hello_expect(struct tls_hello *hello, enum tls_hello_state state, uint8_t bytes)
{
	hello->state = (uint8_t)state;
	hello->need = bytes;
	hello->value = 0;
}

void
tls_hello_begin(struct tls_hello *hello, struct tls_client *client, struct tls_server *server, uint32_t length)
{
	*hello = (struct tls_hello){
	    .client = client, .server = server, .left = length, .same_random = true, .same_id = true};
	if (server != NULL)
		*server = (struct tls_server){0};
	else
		*client = (struct tls_client){0};
	tls_hello_expect(hello, HELLO_VERSION, 2);
}

/* A field of `length` bytes follows, in `state`; after it a number of `bytes` bytes in `next`. */
static void
tls_hello_expect_field(struct tls_hello *hello, enum tls_hello_state state, uint32_t length)
{
	hello->list_left = (uint16_t)length;
	hello->state = length > hello->left ? HELLO_BAD : (uint8_t)state;
}

static void
tls_hello_expect_extension(struct tls_hello *hello)
{
	if (hello->extensions_left == 0)
		hello->state = hello->left == 0 ? HELLO_END : HELLO_BAD;
	else
		tls_hello_expect(hello, HELLO_EXTENSION_TYPE, 2);
}

/* A field has ended. */
static void
tls_hello_end_field(struct tls_hello *hello)
{
	switch ((enum tls_hello_state)hello->state) {
	case HELLO_RANDOM: tls_hello_expect(hello, HELLO_ID_LENGTH, 1); break;
	case HELLO_ID:
		if (hello->server != NULL)
			hello->server->same_id = hello->same_id && hello->client->id_length > 0;
		tls_hello_expect(hello, hello->server != NULL ? HELLO_CIPHER : HELLO_CIPHERS_LENGTH, 2);
		break;
	case HELLO_METHODS: tls_hello_expect(hello, HELLO_EXTENSIONS_LENGTH, 2); break;
	case HELLO_EXTENSION:
		tls_extension_end(hello);
		tls_hello_expect_extension(hello);
		break;
	default: hello->state = HELLO_BAD; break;
	}
}

static void
tls_hello_field(struct tls_hello *hello, enum tls_hello_state state, uint32_t length)
{
	tls_hello_expect_field(hello, state, length);
	if (hello->state != HELLO_BAD && length == 0)
		tls_hello_end_field(hello);
}

static void
tls_hello_id_length(struct tls_hello *hello, uint32_t length)
{
	if (length > TLS_ID_MAX) {
		hello->state = HELLO_BAD;
		return;
	}
	if (hello->server == NULL)
		hello->client->id_length = (uint8_t)length;
	else
		hello->same_id = hello->client->complete && length == hello->client->id_length;
	tls_hello_field(hello, HELLO_ID, length);
}

static void
tls_hello_cipher(struct tls_hello *hello, uint16_t cipher)
{
	struct tls_client *client = hello->client;

	if (hello->server != NULL) {
		hello->server->cipher = cipher;
		tls_hello_field(hello, HELLO_METHODS, 1);
		return;
	}
	if (!tls_is_grease(cipher)) {
		if (client->ciphers == TLS_CIPHERS_MAX)
			client->too_many = true;
		else
			client->cipher[client->ciphers++] = cipher;
	}
	hello->list_left = (uint16_t)(hello->list_left - 2);
	if (hello->list_left == 0)
		tls_hello_expect(hello, HELLO_METHODS_LENGTH, 1);
	else
		tls_hello_expect(hello, HELLO_CIPHER, 2);
}

static void
tls_hello_version(struct tls_hello *hello, uint16_t version)
{
	if (hello->server != NULL)
		hello->server->version = version;
	else
		hello->client->version = hello->client->ja4_version = version;
	if (version >> 8 != 3)
		hello->state = HELLO_BAD;
	else
		tls_hello_field(hello, HELLO_RANDOM, TLS_RANDOM_LEN);
}

/* A number is complete. */
static void
tls_hello_number(struct tls_hello *hello)
{
	uint32_t value = hello->value;

	switch ((enum tls_hello_state)hello->state) {
	case HELLO_VERSION: tls_hello_version(hello, (uint16_t)value); break;
	case HELLO_ID_LENGTH: tls_hello_id_length(hello, value); break;
	case HELLO_CIPHERS_LENGTH:
		tls_hello_expect_field(hello, HELLO_CIPHER, value);
		if (hello->state == HELLO_BAD || value == 0 || value % 2 != 0)
			hello->state = HELLO_BAD;
		else
			tls_hello_expect(hello, HELLO_CIPHER, 2);
		break;
	case HELLO_CIPHER: tls_hello_cipher(hello, (uint16_t)value); break;
	case HELLO_METHODS_LENGTH: tls_hello_field(hello, HELLO_METHODS, value); break;
	case HELLO_EXTENSIONS_LENGTH:
		hello->extensions_left = (uint16_t)value;
		hello->state = HELLO_BAD;
		if (value == hello->left)
			tls_hello_expect_extension(hello);
		break;
	case HELLO_EXTENSION_TYPE:
		hello->extension = (uint16_t)value;
		tls_hello_expect(hello, HELLO_EXTENSION_LENGTH, 2);
		break;
	case HELLO_EXTENSION_LENGTH:
		if (hello->extensions_left < 4 + value) {
			hello->state = HELLO_BAD;
			break;
		}
		hello->extensions_left = (uint16_t)(hello->extensions_left - 4 - value);
		hello->list_left = (uint16_t)value;
		tls_extension_begin(hello);
		tls_hello_field(hello, HELLO_EXTENSION, value);
		break;
	default: hello->state = HELLO_BAD; break;
	}
}

static void
tls_hello_field_byte(struct tls_hello *hello, uint8_t byte)
{
	uint16_t at;

	if (hello->state == HELLO_RANDOM) {
		at = (uint16_t)(TLS_RANDOM_LEN - hello->list_left);
		hello->same_random &= byte == tls_retry_random[at];
		if (at == TLS_RANDOM_LEN - 1 && hello->server != NULL)
			hello->server->retry = hello->same_random;
	} else if (hello->state == HELLO_ID && hello->server == NULL) {
		hello->client->id[hello->client->id_length - hello->list_left] = byte;
	} else if (hello->state == HELLO_ID && hello->same_id) {
		hello->same_id = byte == hello->client->id[hello->client->id_length - hello->list_left];
	}
	hello->list_left--;
}

/* Reads the beginning of `bytes`; the number of bytes read. */
static uint32_t
tls_hello_step(struct tls_hello *hello, struct slice bytes)
{
	uint32_t n = 1;

	switch ((enum tls_hello_state)hello->state) {
	case HELLO_RANDOM:
	case HELLO_ID:
	case HELLO_METHODS: tls_hello_field_byte(hello, slice_u8(bytes, 0)); break;
	case HELLO_EXTENSION: n = tls_extension_read(hello, bytes); break;
	default:
		hello->value = hello->value << 8 | slice_u8(bytes, 0);
		hello->left--;
		if (--hello->need == 0)
			tls_hello_number(hello);
		return 1;
	}
	hello->left -= n;
	if (hello->list_left == 0)
		tls_hello_end_field(hello);
	return n;
}

bool
tls_hello_read(struct tls_hello *hello, struct slice bytes)
{
	uint32_t done = 0;

	while (done < bytes.len && hello->left > 0 && hello->state < HELLO_END)
		done += tls_hello_step(hello, slice_sub(bytes, done, bytes.len));
	if (hello->left > 0)
		return hello->state != HELLO_BAD;
	/* Before TLS 1.3 there may be no extensions at all (RFC 5246 section 7.4.1.2). */
	if (hello->state == HELLO_EXTENSIONS_LENGTH && hello->need == 2)
		hello->state = HELLO_END;
	return hello->state == HELLO_END;
}
