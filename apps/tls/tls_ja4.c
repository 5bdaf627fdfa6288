/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls.h"

#include <nettle/sha2.h>

/* Bytes of a digest that are part of the fingerprint. */
#define JA4_DIGEST_LEN 6

/* server_name and application_layer_protocol_negotiation are counted, but are not part of the digest. */
enum { JA4_SERVER_NAME = 0, JA4_ALPN = 16 };

static const char ja4_digits[] = "0123456789abcdef";

static const char *
ja4_version(uint16_t version)
{
	switch (version) {
	case 0x0304: return "13";
	case 0x0303: return "12";
	case 0x0302: return "11";
	case 0x0301: return "10";
	case 0x0300: return "s3";
	case 0x0002: return "s2";
	case 0xfeff: return "d1";
	case 0xfefd: return "d2";
	case 0xfefc: return "d3";
	default: return "00";
	}
}

/* Two digits; more than 99 is 99. */
static char *
ja4_put_count(char *at, unsigned count)
{
	count = count > 99 ? 99 : count;
	*at++ = (char)('0' + count / 10);
	*at++ = (char)('0' + count % 10);
	return at;
}

static bool
ja4_is_alphanumeric(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/* First and last character of the first protocol name, or of its bytes in hexadecimal. */
static char *
ja4_put_alpn(char *at, const struct tls_client *client)
{
	uint8_t first = client->alpn_first, last = client->alpn_last;
	bool plain = ja4_is_alphanumeric(first) && ja4_is_alphanumeric(last);

	if (client->alpn_length == 0)
		first = last = '0';
	else if (!plain) {
		first = (uint8_t)ja4_digits[first >> 4];
		last = (uint8_t)ja4_digits[last & 15];
	}
	*at++ = (char)first;
	*at++ = (char)last;
	return at;
}

/* Copies values in ascending order; insertion suits lists that are this short. */
static void
ja4_sort(uint16_t *to, const uint16_t *from, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned at = i;

		for (; at > 0 && to[at - 1] > from[i]; at--)
			to[at] = to[at - 1];
		to[at] = from[i];
	}
}

/* Adds values in hexadecimal, with commas between them. */
static void
ja4_digest_list(struct sha256_ctx *sha, const uint16_t *values, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint8_t text[5] = {',', (uint8_t)ja4_digits[values[i] >> 12], (uint8_t)ja4_digits[values[i] >> 8 & 15],
				   (uint8_t)ja4_digits[values[i] >> 4 & 15], (uint8_t)ja4_digits[values[i] & 15]};

		sha256_update(sha, i == 0 ? 4 : 5, text + (i == 0));
	}
}

/* The digest of both lists; zeros if the first one is empty. */
static char *
ja4_put_digest(char *at, const uint16_t *sorted, unsigned count, const uint16_t *more, unsigned more_count)
{
	uint8_t digest[JA4_DIGEST_LEN] = {0};
	struct sha256_ctx sha;

	if (count > 0) {
		sha256_init(&sha);
		ja4_digest_list(&sha, sorted, count);
		if (more_count > 0)
			sha256_update(&sha, 1, (const uint8_t *)"_");
		ja4_digest_list(&sha, more, more_count);
		sha256_digest(&sha, sizeof digest, digest);
	}
	for (unsigned i = 0; i < sizeof digest; i++) {
		*at++ = ja4_digits[digest[i] >> 4];
		*at++ = ja4_digits[digest[i] & 15];
	}
	return at;
}

void
tls_ja4(const struct tls_client *client, char ja4[TLS_JA4_SIZE])
{
	uint16_t sorted[TLS_CIPHERS_MAX], named[TLS_EXTENSIONS_MAX];
	unsigned count = 0;
	char *at = ja4;

	*at = '\0';
	if (client->too_many)
		return;
	*at++ = 't';
	memcpy(at, ja4_version(client->ja4_version), 2);
	at += 2;
	*at++ = client->named ? 'd' : 'i';
	at = ja4_put_count(at, client->ciphers);
	at = ja4_put_count(at, client->extensions);
	at = ja4_put_alpn(at, client);
	*at++ = '_';
	ja4_sort(sorted, client->cipher, client->ciphers);
	at = ja4_put_digest(at, sorted, client->ciphers, NULL, 0);
	*at++ = '_';
	for (unsigned i = 0; i < client->extensions; i++)
		if (client->extension[i] != JA4_SERVER_NAME && client->extension[i] != JA4_ALPN)
			named[count++] = client->extension[i];
	ja4_sort(sorted, named, count);
	at = ja4_put_digest(at, sorted, count, client->signature, client->signatures);
	*at = '\0';
}
