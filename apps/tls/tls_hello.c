/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_hello.h"

#include "apps/tls/tls_extension.h"

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

/* A field of `length` bytes follows, in `state`; behind it a number of `bytes` bytes in `next`. */
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
