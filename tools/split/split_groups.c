/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/split/split_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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

/* Adds a key; 0 is the key of frames that are not IP packets. */
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

/* The key of a verification tag; tags are unique between two ports of two hosts.  Tag 0 is not a tag. */
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

/* ----------------------------------------------------------------------------------------------------------- groups */

/* A power of two. */
#define SLOTS_LEAST 1024u

struct split_node {
	uint64_t key;
	uint32_t parent; /* its own number if it is the root of its tree, the least key of the group */
};

struct split_groups {
	struct split_node *nodes;
	uint32_t count;
	uint32_t *slots;    /* number of a node + 1, 0 free; open addressing, at most half full */
	uint32_t slot_mask; /* slots - 1 */
	uint64_t multiplier; /* of the hash function that selects home slots: odd, and random, since a capture could be
			      * made of keys that have the low bits in common */
};

static uint32_t
split_groups_home_slot(const struct split_groups *groups, uint64_t key, uint32_t mask)
{
	return (uint32_t)(key * groups->multiplier >> 32) & mask;
}

static bool
split_groups_resize(struct split_groups *groups, uint32_t slot_count)
{
	struct split_node *nodes = realloc(groups->nodes, slot_count / 2 * sizeof *nodes);
	uint32_t *slots;

	if (nodes == NULL)
		return false;
	groups->nodes = nodes;
	slots = calloc(slot_count, sizeof *slots);
	if (slots == NULL)
		return false;
	for (uint32_t i = 0; i < groups->count; i++) {
		uint32_t at = split_groups_home_slot(groups, nodes[i].key, slot_count - 1);

		while (slots[at] != 0)
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	free(groups->slots);
	groups->slots = slots;
	groups->slot_mask = slot_count - 1;
	return true;
}

struct split_groups *
split_groups_new(void)
{
	struct split_groups *groups = calloc(1, sizeof *groups);

	if (groups != NULL && getrandom(&groups->multiplier, sizeof groups->multiplier, 0) ==
				  (ssize_t)sizeof groups->multiplier) {
		groups->multiplier |= 1;
		if (split_groups_resize(groups, SLOTS_LEAST))
			return groups;
	}
	split_groups_free(groups);
	return NULL;
}

void
split_groups_free(struct split_groups *groups)
{
	if (groups == NULL)
		return;
	free(groups->nodes);
	free(groups->slots);
	free(groups);
}

size_t
split_groups_count(const struct split_groups *groups)
{
	return groups->count;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t
split_groups_slot(const struct split_groups *groups, uint64_t key)
{
	uint32_t at = split_groups_home_slot(groups, key, groups->slot_mask);

	while (groups->slots[at] != 0 && groups->nodes[groups->slots[at] - 1].key != key)
		at = (at + 1) & groups->slot_mask;
	return at;
}

/* The root of a node's tree. */
static uint32_t
split_groups_root(const struct split_groups *groups, uint32_t node)
{
	struct split_node *nodes = groups->nodes;

	while (nodes[node].parent != node) {
		nodes[node].parent = nodes[nodes[node].parent].parent;
		node = nodes[node].parent;
	}
	return node;
}

/* Adds a key unless it is known, and returns its node in `*node`. */
static bool
split_groups_add(struct split_groups *groups, uint64_t key, uint32_t *node)
{
	uint32_t slot = split_groups_slot(groups, key);

	if (groups->slots[slot] != 0) {
		*node = groups->slots[slot] - 1;
		return true;
	}
	if (groups->count == SPLIT_GROUPS_KEYS_MAX) {
		errno = E2BIG;
		return false;
	}
	if (groups->count == (groups->slot_mask + 1) / 2) {
		if (!split_groups_resize(groups, 2 * (groups->slot_mask + 1)))
			return false;
		slot = split_groups_slot(groups, key);
	}
	*node = groups->count++;
	groups->nodes[*node] = (struct split_node){.key = key, .parent = *node};
	groups->slots[slot] = *node + 1;
	return true;
}

bool
split_groups_join(struct split_groups *groups, uint64_t a, uint64_t b)
{
	uint32_t one, other;

	if (a == b)
		return true;
	if (!split_groups_add(groups, a, &one) || !split_groups_add(groups, b, &other))
		return false;
	one = split_groups_root(groups, one);
	other = split_groups_root(groups, other);
	if (groups->nodes[one].key < groups->nodes[other].key)
		groups->nodes[other].parent = one;
	else
		groups->nodes[one].parent = other;
	return true;
}

uint64_t
split_groups_find(struct split_groups *groups, uint64_t key)
{
	uint32_t slot = split_groups_slot(groups, key);

	if (groups->slots[slot] == 0)
		return key;
	return groups->nodes[split_groups_root(groups, groups->slots[slot] - 1)].key;
}
