/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IEEE 802.11 data frames, and the headers that a capture puts in front of them: radiotap, Prism and AVS.
 *
 * The payload of protected frames and of fragments is opaque; of an aggregate (A-MSDU), the first subframe is
 * dissected.  Other frames than data frames are not dissected.
 */
#include "dissect/header_fields.h"

enum { WLAN_HEADER = 24, WLAN_ADDRESS = 6, WLAN_QOS = 2, WLAN_HT_CONTROL = 4, WLAN_FCS = 4, AMSDU_HEADER = 14 };

/* First byte of the frame control field: version, type, subtype. */
enum { FC_VERSION_TYPE = 0x0f, FC_DATA = 0x08, FC_NO_DATA = 0x40, FC_QOS = 0x80 };

/* Second byte. */
enum { FC_TO_DS = 0x01, FC_FROM_DS = 0x02, FC_MORE_FRAGMENTS = 0x04, FC_PROTECTED = 0x40, FC_ORDER = 0x80 };
enum { SEQUENCE_FRAGMENT = 0x0f, QOS_AMSDU = 0x80 };

enum { RADIOTAP_FIXED = 8, RADIOTAP_TSFT = 1, RADIOTAP_FLAGS = 2 };
enum { RADIOTAP_FLAG_FCS = 0x10, RADIOTAP_FLAG_PAD = 0x20, RADIOTAP_FLAG_BAD_FCS = 0x40 };
#define RADIOTAP_MORE 0x80000000u

enum { PRISM_FIXED = 8 };
#define AVS_MAGIC 0x80211000u
#define AVS_VERSION 0xfffu

static void
wlan_fail(struct packet *packet, const struct cursor *c)
{
	packet_add_cursor_anomaly(packet, c, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT);
}

static void
wlan_record_addresses(struct packet *packet, struct slice header, uint8_t flags)
{
	bool to = (flags & FC_TO_DS) != 0, from = (flags & FC_FROM_DS) != 0;
	struct ether_layer *ether = &packet->ether;

	slice_copy(header, to ? 16 : 4, ether->dst, sizeof ether->dst);
	slice_copy(header, !from ? 10 : to ? 24 : 16, ether->src, sizeof ether->src);
}

/* The first subframe of an A-MSDU: addresses and length. */
static bool
wlan_take_subframe(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;
	uint16_t length;

	if (!cursor_take(&c, AMSDU_HEADER, &header)) {
		wlan_fail(packet, &c);
		return false;
	}
	length = slice_u16(header, 12);
	if (length > c.wire) {
		packet_add_anomaly(packet, ANOMALY_LINK_FIELD);
		return false;
	}
	slice_copy(header, 0, packet->ether.dst, sizeof packet->ether.dst);
	slice_copy(header, 6, packet->ether.src, sizeof packet->ether.src);
	packet_extend_link(packet, &c);
	cursor_limit(&packet->payload, length);
	return true;
}

static uint32_t
wlan_header_length(uint8_t type, uint8_t flags)
{
	uint32_t length = WLAN_HEADER;

	if ((flags & FC_TO_DS) != 0 && (flags & FC_FROM_DS) != 0)
		length += WLAN_ADDRESS;
	if ((type & FC_QOS) != 0)
		length += (flags & FC_ORDER) != 0 ? WLAN_QOS + WLAN_HT_CONTROL : WLAN_QOS;
	return length;
}

/* `padded`: the header is followed by padding to a multiple of 4. */
static void
wlan_dissect(struct packet *packet, bool padded)
{
	struct cursor c = packet_cursor(packet);
	struct slice control, header;
	uint32_t length, qos;
	uint8_t type, flags;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_peek(&c, 2, &control)) {
		cursor_skip(&c, 2);
		wlan_fail(packet, &c);
		return;
	}
	type = slice_u8(control, 0);
	flags = slice_u8(control, 1);
	if ((type & FC_VERSION_TYPE) != FC_DATA)
		return;
	length = wlan_header_length(type, flags);
	if (!cursor_take(&c, length, &header) || (padded && !cursor_skip(&c, -length & 3))) {
		wlan_fail(packet, &c);
		return;
	}
	packet_extend_link(packet, &c);
	wlan_record_addresses(packet, header, flags);
	if ((type & FC_NO_DATA) != 0 || (flags & (FC_PROTECTED | FC_MORE_FRAGMENTS)) != 0 ||
	    (slice_u8(header, 22) & SEQUENCE_FRAGMENT) != 0 || c.wire == 0)
		return;
	qos = (flags & FC_TO_DS) != 0 && (flags & FC_FROM_DS) != 0 ? WLAN_HEADER + WLAN_ADDRESS : WLAN_HEADER;
	if ((type & FC_QOS) != 0 && (slice_u8(header, qos) & QOS_AMSDU) != 0 && !wlan_take_subframe(packet))
		return;
	dissect_llc(packet);
}

void
dissect_wlan(struct packet *packet)
{
	wlan_dissect(packet, false);
}

/* Finds the field of flags in a radiotap header: it follows the words that say which fields there are, and the time
 * stamp, if there is one, at a multiple of 8.  0 if it is absent; false if the header is too short for it. */
static bool
radiotap_find_flags(struct slice header, uint8_t *flags)
{
	uint32_t present = __builtin_bswap32(slice_u32(header, 4)), word = present, at = RADIOTAP_FIXED;

	*flags = 0;
	for (; (word & RADIOTAP_MORE) != 0; at += 4) {
		if (!slice_has(header, at, 4))
			return false;
		word = __builtin_bswap32(slice_u32(header, at));
	}
	if ((present & RADIOTAP_FLAGS) == 0)
		return true;
	if ((present & RADIOTAP_TSFT) != 0)
		at = ((at + 7) & ~7u) + 8;
	*flags = slice_u8(header, at);
	return slice_has(header, at, 1);
}

void
dissect_radiotap(struct packet *packet)
{
	struct cursor c = packet_cursor(packet), start = c;
	struct slice fixed;
	uint16_t length;
	uint8_t flags;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, RADIOTAP_FIXED, &fixed)) {
		wlan_fail(packet, &c);
		return;
	}
	length = __builtin_bswap16(slice_u16(fixed, 2));
	if (slice_u8(fixed, 0) != 0 || length < RADIOTAP_FIXED) {
		packet_add_anomaly(packet, ANOMALY_LINK_FIELD);
		return;
	}
	if (!cursor_skip(&c, (uint32_t)length - RADIOTAP_FIXED)) {
		wlan_fail(packet, &c);
		return;
	}
	if (!radiotap_find_flags(cursor_slice_between(&start, &c), &flags)) {
		packet_add_anomaly(packet, ANOMALY_LINK_FIELD);
		return;
	}
	packet_extend_link(packet, &c);
	if ((flags & RADIOTAP_FLAG_BAD_FCS) != 0) { /* damaged: no receiver accepts it */
		packet_add_anomaly(packet, ANOMALY_WLAN_FCS);
		return;
	}
	if ((flags & RADIOTAP_FLAG_FCS) != 0 && c.wire >= WLAN_FCS)
		cursor_limit(&packet->payload, c.wire - WLAN_FCS);
	wlan_dissect(packet, (flags & RADIOTAP_FLAG_PAD) != 0);
}

/* Prism: message code and length in the byte order of the capturing host.  AVS, also in captures that claim to be
 * Prism: a magic number with the version, and the length, in network order. */
void
dissect_prism(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice fixed;
	uint32_t length;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, PRISM_FIXED, &fixed)) {
		wlan_fail(packet, &c);
		return;
	}
	length = slice_u32(fixed, 4);
	if ((slice_u32(fixed, 0) & ~AVS_VERSION) != AVS_MAGIC && length > 0xffff)
		length = __builtin_bswap32(length);
	if (length < PRISM_FIXED) {
		packet_add_anomaly(packet, ANOMALY_LINK_FIELD);
		return;
	}
	if (!cursor_skip(&c, length - PRISM_FIXED)) {
		wlan_fail(packet, &c);
		return;
	}
	packet_extend_link(packet, &c);
	wlan_dissect(packet, false);
}
