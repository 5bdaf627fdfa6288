/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/args/connection_id.h"

#include <nettle/base64.h>
#include <nettle/sha1.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What is hashed after the addresses: ports, protocol, version, address space, kind of origin, origin. */
#define ORIGIN_SIZE (2 + 2 + 1 + 1 + 2 + 1 + 8)

static uint8_t *
put_network_order(uint8_t *at, uint64_t value, unsigned bytes)
{
	while (bytes > 0)
		*at++ = (uint8_t)(value >> 8 * --bytes);
	return at;
}

static uint8_t *
put_bytes(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/* The length passed to XXH3 is a constant, so that gcc does not compile the branches for other lengths, and warn that
 * they read past the array. */
uint64_t
connection_uid(const struct flow_key *key, const struct connection_origin *origin)
{
	uint8_t bytes[sizeof key->addr + ORIGIN_SIZE], *at = put_bytes(bytes, key->addr, sizeof key->addr);

	at = put_network_order(at, key->port[0], 2);
	at = put_network_order(at, key->port[1], 2);
	*at++ = key->protocol;
	*at++ = key->version;
	at = put_network_order(at, key->address_space, 2);
	*at++ = origin->isn_known;
	put_network_order(at, origin->isn_known ? origin->isn : origin->start, 8);
	return XXH3_64bits(bytes, sizeof bytes);
}

/* The key has the order that the Community ID requires: the smaller address first, or the smaller port. */
void
connection_community(const struct flow_key *key, char text[COMMUNITY_ID_SIZE])
{
	size_t address = key->version == 4 ? 4 : 16;
	uint8_t bytes[2 + sizeof key->addr + 6], *at = put_network_order(bytes, 0, 2);
	uint8_t digest[SHA1_DIGEST_SIZE];
	struct sha1_ctx sha1;

	_Static_assert(2 + BASE64_ENCODE_RAW_LENGTH(SHA1_DIGEST_SIZE) + 1 == COMMUNITY_ID_SIZE, "the text fits");
	at = put_bytes(at, key->addr[0], address);
	at = put_bytes(at, key->addr[1], address);
	*at++ = key->protocol;
	*at++ = 0;
	at = put_network_order(at, key->port[0], 2);
	at = put_network_order(at, key->port[1], 2);
	sha1_init(&sha1);
	sha1_update(&sha1, (size_t)(at - bytes), bytes);
	sha1_digest(&sha1, sizeof digest, digest);
	text[0] = '1';
	text[1] = ':';
	base64_encode_raw(text + 2, sizeof digest, digest);
	text[COMMUNITY_ID_SIZE - 1] = '\0';
}
