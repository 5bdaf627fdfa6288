/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_extension.h"

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

void
tls_extension_begin(struct tls_hello *hello)
{
	hello->step = STEP_SKIP;
	hello->need = 0;
	if (hello->server != NULL)
		tls_server_extension_begin(hello);
	else
		tls_client_extension_begin(hello);
}

/* Behind the length of a list. */
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
	/* Behind a byte that does not fit, a shorter one would leave a hole. */
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

uint32_t
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

void
tls_extension_end(struct tls_hello *hello)
{
	bool whole = hello->step == STEP_SKIP || (hello->step == STEP_ITEM && hello->need == 2);

	/* A server that accepts a name answers with an empty extension, of which nothing is read. */
	if (!whole)
		hello->extension_odd = true;
}
