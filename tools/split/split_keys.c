/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/split/split_keys.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "dissect/dissect.h"
#include "flow/flow.h"
#include "flow/reassembly/reassembly.h"
#include "flow/sctp/sctp_internal.h"

_Static_assert(SPLIT_KEYS_MAX == 4 * DISSECT_LAYER_BUDGET, "a packet has at most four keys and takes a layer");

/* Kinds of keys: the first byte that is hashed. */
enum split_key_kind { SPLIT_KEY_FLOW = 1, SPLIT_KEY_SCTP_TAG, SPLIT_KEY_DATAGRAM, SPLIT_KEY_ADDRESSES };

/* Bytes to hash, independent of the byte order of the machine. */
struct split_key_text {
	unsigned length;
	uint8_t bytes[64];
};

struct split_dissector {
	struct reassembly *fragments; /* NULL: datagrams are not reassembled */
	struct packet packet, inner, whole;
};

static void
split_on_reassembly_failure(void *context, const struct packet *first, unsigned fragments)
{
	(void)context;
	(void)first;
	(void)fragments;
}

struct split_dissector *
split_dissector_new(bool reassemble)
{
	struct reassembly_limits limits = reassembly_limits_default();
	struct split_dissector *d = calloc(1, sizeof *d);

	if (d == NULL || !reassemble)
		return d;
	d->fragments = reassembly_new(&limits, 0, split_on_reassembly_failure, NULL);
	if (d->fragments != NULL)
		return d;
	free(d);
	return NULL;
}

void
split_dissector_free(struct split_dissector *d)
{
	if (d == NULL)
		return;
	reassembly_free(d->fragments);
	free(d);
}

/* -------------------------------------------------------------------------------------------------- the hash value */

static void
split_text_add(struct split_key_text *text, const void *bytes, unsigned length)
{
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

static void
split_text_add_number(struct split_key_text *text, uint32_t number, unsigned length)
{
	for (unsigned i = length; i-- > 0;)
		text->bytes[text->length++] = (uint8_t)(number >> 8 * i);
}

/* Adds a key; 0 is the key of frames that are no IP packets. */
static void
split_keys_add(struct split_keys *keys, const struct split_key_text *text)
{
	uint64_t hash = XXH3_64bits(text->bytes, text->length);

	if (keys->count < SPLIT_KEYS_MAX)
		keys->key[keys->count++] = hash != 0 ? hash : 1;
}

static void
split_keys_add_flow(struct split_keys *keys, const struct flow_key *key)
{
	struct split_key_text text = {.length = 0};

	split_text_add_number(&text, SPLIT_KEY_FLOW, 1);
	split_text_add(&text, key->addr, sizeof key->addr);
	split_text_add_number(&text, key->port[0], 2);
	split_text_add_number(&text, key->port[1], 2);
	split_text_add_number(&text, key->protocol, 1);
	split_text_add_number(&text, key->version, 1);
	split_text_add_number(&text, key->address_space, 2);
	split_keys_add(keys, &text);
}

/* The key of two addresses in either order. */
static void
split_keys_add_addresses(struct split_keys *keys, const uint8_t a[16], const uint8_t b[16], uint8_t version)
{
	struct split_key_text text = {.length = 0};
	bool ordered = memcmp(a, b, 16) <= 0;

	split_text_add_number(&text, SPLIT_KEY_ADDRESSES, 1);
	split_text_add(&text, ordered ? a : b, 16);
	split_text_add(&text, ordered ? b : a, 16);
	split_text_add_number(&text, version, 1);
	split_keys_add(keys, &text);
}

/* The key by which reassembly finds the datagram of a fragment. */
static void
split_keys_add_datagram(struct split_keys *keys, const struct ip_layer *ip)
{
	struct split_key_text text = {.length = 0};

	split_text_add_number(&text, SPLIT_KEY_DATAGRAM, 1);
	split_text_add(&text, ip->src, sizeof ip->src);
	split_text_add(&text, ip->dst, sizeof ip->dst);
	split_text_add_number(&text, ip->fragment_id, 4);
	split_text_add_number(&text, ip->version, 1);
	split_text_add_number(&text, ip->version == 4 ? ip->protocol : 0, 1);
	split_keys_add(keys, &text);
}

/* The key of a verification tag; tags are unique between two ports of two hosts.  Tag 0 is none. */
static void
split_keys_add_tag(struct split_keys *keys, uint32_t tag, uint16_t port, uint16_t peer_port)
{
	struct split_key_text text = {.length = 0};

	if (tag == 0)
		return;
	split_text_add_number(&text, SPLIT_KEY_SCTP_TAG, 1);
	split_text_add_number(&text, tag, 4);
	split_text_add_number(&text, port, 2);
	split_text_add_number(&text, peer_port, 2);
	split_keys_add(keys, &text);
}

/* -------------------------------------------------------------------------------------------- the keys of a packet */

/* The tags by which a packet is found on another path, and those that it makes known. */
static void
split_keys_add_tags(struct split_keys *keys, const struct packet *packet)
{
	const struct sctp_layer *sctp = &packet->sctp;
	struct sctp_bundle bundle = sctp_bundle_scan(packet);

	if (bundle.reflected)
		split_keys_add_tag(keys, sctp->verification_tag, sctp->sport, sctp->dport);
	else
		split_keys_add_tag(keys, sctp->verification_tag, sctp->dport, sctp->sport);
	split_keys_add_tag(keys, bundle.init_tag, sctp->sport, sctp->dport);
}

static void
split_keys_add_icmp(struct split_keys *keys, const struct packet *packet)
{
	struct flow_key key;
	unsigned sender;

	if (!packet->icmp.error || packet->icmp.quote.version == 0)
		return;
	if (flow_key_from_icmp_error(packet, &key, &sender))
		split_keys_add_flow(keys, &key);
}

static void
split_keys_add_packet(struct split_keys *keys, const struct packet *packet)
{
	struct flow_key key;
	unsigned sender;

	switch (packet->transport) {
	case TRANSPORT_SCTP:
	case TRANSPORT_TCP:
	case TRANSPORT_UDP:
		flow_key_from_packet(packet, &key, &sender);
		split_keys_add_flow(keys, &key);
		if (packet->transport == TRANSPORT_SCTP)
			split_keys_add_tags(keys, packet);
		return;
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		split_keys_add_icmp(keys, packet);
		return;
	case TRANSPORT_DCCP:
	case TRANSPORT_NONE:
		return;
	}
}

/* Adds the datagram's key of a fragment.  Returns the datagram that the fragment completes, or NULL. */
static const struct packet *
split_reassemble(struct split_dissector *d, const struct packet *fragment, uint64_t now, struct split_keys *keys)
{
	struct reassembly_result result;

	split_keys_add_datagram(keys, &fragment->ip);
	if (d->fragments == NULL || anomaly_severity(fragment->worst_anomaly) == SEVERITY_DROP ||
	    reassembly_add(d->fragments, fragment, 0, now, &result) != REASSEMBLY_COMPLETE)
		return NULL;
	dissect_reassembled(fragment, result.first, result.bytes, result.captured, result.wire, &d->whole);
	return &d->whole;
}

static bool
split_packet_is_ip(const struct packet *packet)
{
	return packet->network == NETWORK_IPV4 || packet->network == NETWORK_IPV6;
}

void
split_keys_of_frame(struct split_dissector *d, const struct frame *frame, uint64_t now, struct split_keys *keys)
{
	const struct packet *packet = &d->packet;

	keys->count = 0;
	if (d->fragments != NULL)
		reassembly_run_timers(d->fragments, now);
	dissect_frame(frame, &d->packet);
	for (;;) {
		struct packet outer;

		if (split_packet_is_ip(packet) && packet->ip.fragment) {
			packet = split_reassemble(d, packet, now, keys);
			if (packet == NULL)
				break;
		}
		split_keys_add_packet(keys, packet);
		if (packet->inner == INNER_NONE)
			break;
		outer = *packet;
		dissect_inner(&outer, &d->inner);
		packet = &d->inner;
	}
	if (keys->count > 0)
		return;
	packet = &d->packet;
	if (split_packet_is_ip(packet))
		split_keys_add_addresses(keys, packet->ip.src, packet->ip.dst, packet->ip.version);
	else
		keys->key[keys->count++] = 0;
}
