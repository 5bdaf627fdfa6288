/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers that a capturing system puts in front of an IP packet (NFLOG, IPNET, ENC), and the encapsulations of IP on
 * InfiniBand (RFC 4391) and Fibre Channel (RFC 2625). */
#include "dissect/header_fields.h"

enum { ENC_HEADER = 12, IPNET_HEADER = 24, IPOIB_HEADER = 44, FIBRE_HEADER = 16 };
enum { IPNET_RECEIVED = 0, IPNET_SENT = 1, IPNET_LOCAL = 2 };

enum { NFLOG_HEADER = 4, NFLOG_ATTRIBUTE_HEADER = 4, NFLOG_ATTRIBUTES_MAX = 64 };
enum { NFLOG_TYPE_MASK = 0x3fff }; /* <linux/netlink.h>: the two highest bits of a type are flags */
enum { NFLOG_PACKET = 1, NFLOG_PAYLOAD = 9, NFLOG_HARDWARE_TYPE = 15 }; /* <linux/netfilter/nfnetlink_log.h> */
enum { NFPROTO_IPV4 = 2, NFPROTO_ARP = 3, NFPROTO_IPV6 = 10 };		/* <linux/netfilter.h> */

/* Takes a header of fixed length, which becomes the link header. */
static bool
pseudo_take_header(struct packet *packet, uint32_t length, struct slice *header)
{
	struct cursor c = packet_cursor(packet);

	if (!packet_enter_layer(packet))
		return false;
	if (!cursor_take(&c, length, header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT);
		return false;
	}
	packet_extend_link(packet, &c);
	return true;
}

/* IPsec interfaces of BSD: the address family in the byte order of the capturing host, SPI, flags. */
void
dissect_enc(struct packet *packet)
{
	struct slice header;

	if (pseudo_take_header(packet, ENC_HEADER, &header))
		dissect_ethertype(packet, null_ether_type(slice_u32(header, 0)));
}

/* Solaris: version, family, hook, length, interface and its group, zones of source and destination. */
void
dissect_ipnet(struct packet *packet)
{
	struct slice header;
	unsigned hook;

	if (!pseudo_take_header(packet, IPNET_HEADER, &header))
		return;
	hook = slice_u8(header, 2) | slice_u8(header, 3); /* version 1 has the byte order of the capturing host */
	if (hook == IPNET_RECEIVED)
		packet->direction = DIRECTION_IN;
	else if (hook == IPNET_SENT)
		packet->direction = DIRECTION_OUT;
	packet->loopback = hook == IPNET_LOCAL; /* captured once, between two zones or inside one */
	dissect_ethertype(packet, null_ether_type(slice_u8(header, 1)));
}

/* The global routing header, or in its place the two addresses of 20 bytes; EtherType, 2 reserved bytes. */
void
dissect_ipoib(struct packet *packet)
{
	struct slice header;

	if (!pseudo_take_header(packet, IPOIB_HEADER, &header))
		return;
	packet->ether.type = slice_u16(header, 40);
	dissect_ethertype(packet, packet->ether.type);
}

/* The two network addresses; the lower 48 bits of each are a MAC address. */
void
dissect_ip_over_fc(struct packet *packet)
{
	struct slice header;

	if (!pseudo_take_header(packet, FIBRE_HEADER, &header))
		return;
	slice_copy(header, 2, packet->ether.dst, sizeof packet->ether.dst);
	slice_copy(header, 10, packet->ether.src, sizeof packet->ether.src);
	dissect_llc(packet);
}

/* The direction at a netfilter hook, as a cooked capture has it: a packet that is still to be routed was received. */
static enum direction
nflog_direction(uint8_t hook)
{
	switch (hook) {
	case 0: /* prerouting */
	case 1: /* input */
		return DIRECTION_IN;
	case 2: /* forward */
		return DIRECTION_OTHER;
	case 3: /* output */
	case 4: /* postrouting */
		return DIRECTION_OUT;
	default:
		return DIRECTION_UNKNOWN;
	}
}

struct nflog {
	uint8_t family;
	uint16_t protocol; /* EtherType in the attribute of the packet, 0 without */
};

static void
nflog_record(struct packet *packet, struct nflog *nflog, uint8_t attribute, struct slice value)
{
	if (attribute == NFLOG_PACKET && value.len >= 3) {
		nflog->protocol = slice_u16(value, 0);
		if (nflog->family == NFPROTO_IPV4 || nflog->family == NFPROTO_IPV6)
			packet->direction = nflog_direction(slice_u8(value, 2));
	} else if (attribute == NFLOG_HARDWARE_TYPE && value.len >= 2) {
		packet->loopback = slice_u16(value, 0) == ARPHRD_LOOPBACK;
	}
}

static void
nflog_dissect_payload(struct packet *packet, const struct nflog *nflog)
{
	if (nflog->family == NFPROTO_IPV4)
		dissect_ipv4(packet);
	else if (nflog->family == NFPROTO_IPV6)
		dissect_ipv6(packet);
	else
		dissect_ethertype(packet, nflog->family == NFPROTO_ARP ? ETHER_ARP : nflog->protocol);
}

/* Takes one attribute, the payload only up to its first byte: then `*payload` is set.  False: the cursor failed or an
 * anomaly was added. */
static bool
nflog_take_attribute(struct packet *packet, struct cursor *c, struct nflog *nflog, bool *payload)
{
	uint16_t length, attribute;
	struct slice header, value;

	if (!cursor_take(c, NFLOG_ATTRIBUTE_HEADER, &header))
		return false;
	length = slice_u16(header, 0);
	attribute = slice_u16(header, 2);
	/* Both have the byte order of the capturing host.  Types are below 64: only a swapped one exceeds a byte. */
	if ((attribute & NFLOG_TYPE_MASK) > 0xff) {
		length = __builtin_bswap16(length);
		attribute = __builtin_bswap16(attribute);
	}
	attribute &= NFLOG_TYPE_MASK;
	if (attribute > 0xff || length < NFLOG_ATTRIBUTE_HEADER ||
	    (uint32_t)length - NFLOG_ATTRIBUTE_HEADER > c->wire) {
		packet_add_anomaly(packet, ANOMALY_LINK_FIELD);
		return false;
	}
	length = (uint16_t)(length - NFLOG_ATTRIBUTE_HEADER);
	*payload = attribute == NFLOG_PAYLOAD;
	if (*payload) {
		cursor_limit(c, length);
		return true;
	}
	if (!cursor_take(c, length, &value))
		return false;
	nflog_record(packet, nflog, (uint8_t)attribute, value);
	/* Padding to a multiple of 4, which the last attribute may lack. */
	return c->wire == 0 || cursor_skip(c, -(uint32_t)length & 3);
}

void
dissect_nflog(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	bool payload = false;
	struct nflog nflog;
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (cursor_take(&c, NFLOG_HEADER, &header)) {
		nflog = (struct nflog){.family = slice_u8(header, 0)};
		if (slice_u8(header, 1) != 0) { /* version */
			packet_add_anomaly(packet, ANOMALY_LINK_FIELD);
			return;
		}
		for (unsigned n = 0; c.wire > 0 && !payload; n++) {
			if (n == NFLOG_ATTRIBUTES_MAX) {
				packet_add_anomaly(packet, ANOMALY_LAYER_BUDGET);
				return;
			}
			if (!nflog_take_attribute(packet, &c, &nflog, &payload))
				break;
		}
	}
	if (c.error != CURSOR_OK)
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT);
	if (!payload || c.error != CURSOR_OK)
		return;
	packet_extend_link(packet, &c);
	nflog_dissect_payload(packet, &nflog);
}
