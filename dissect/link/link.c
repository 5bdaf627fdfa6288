/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry of the dissector: dispatch on link type, then on EtherType. */
#include <pcap/dlt.h>

#include "dissect/header_fields.h"

static void
dissect_null(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, NULL_HEADER, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_LINK, ANOMALY_NULL_SHORT);
		return;
	}
	packet->ether.header = header;
	packet->loopback = true;
	packet_advance(packet, &c);
	dissect_ethertype(packet, null_ether_type(slice_u32(header, 0)));
}

/* Link types, in the order in which an error message lists them. */
#define LINK_TYPES(row)                                \
	row(EN10MB, dissect_ethernet)                  \
	row(LINUX_SLL, dissect_sll)                    \
	row(LINUX_SLL2, dissect_sll2)                  \
	row(NULL, dissect_null)                        \
	row(LOOP, dissect_null)                        \
	row(RAW, dissect_ip)                           \
	row(IPV4, dissect_ipv4)                        \
	row(IPV6, dissect_ipv6)                        \
	row(PPP, dissect_ppp)                          \
	row(PPP_SERIAL, dissect_ppp_serial)            \
	row(PPP_ETHER, dissect_pppoe)                  \
	row(PPP_PPPD, dissect_ppp_pppd)                \
	row(PPP_WITH_DIR, dissect_ppp_with_dir)        \
	row(C_HDLC, dissect_c_hdlc)                    \
	row(C_HDLC_WITH_DIR, dissect_c_hdlc_with_dir)  \
	row(FRELAY, dissect_frelay)                    \
	row(FRELAY_WITH_DIR, dissect_frelay_with_dir)  \
	row(NFLOG, dissect_nflog)                      \
	row(IPNET, dissect_ipnet)                      \
	row(ENC, dissect_enc)                          \
	row(IPOIB, dissect_ipoib)                      \
	row(IP_OVER_FC, dissect_ip_over_fc)            \
	row(IEEE802_11, dissect_wlan)                  \
	row(IEEE802_11_RADIO, dissect_radiotap)        \
	row(PRISM_HEADER, dissect_prism)               \
	row(IEEE802_11_RADIO_AVS, dissect_prism)

static int
link_canonical_dlt(int dlt)
{
	return dlt == DLT_RAW_OPENBSD || dlt == DLT_RAW_FILE ? DLT_RAW : dlt;
}

bool
dissect_link_supported(int dlt)
{
	switch (link_canonical_dlt(dlt)) {
#define ROW(name, function) case DLT_##name:
		LINK_TYPES(ROW)
#undef ROW
		return true;
	default:
		return false;
	}
}

const char *
dissect_link_names(void)
{
#define ROW(name, function) ", " #name
	static const char names[] = LINK_TYPES(ROW);
#undef ROW

	return names + strlen(", ");
}

/* Sets only the fields that later code tests: the structure is large, and this runs for every frame. */
void
packet_init(struct packet *packet, const struct frame *frame, struct cursor bytes)
{
	packet->frame = frame;
	packet->direction = DIRECTION_UNKNOWN;
	packet->loopback = false;
	packet->tunnelled = false;
	packet->tunnels = 0;
	packet->ifindex = 0;
	packet->network = NETWORK_NONE;
	packet->transport = TRANSPORT_NONE;
	packet->worst_anomaly = ANOMALY_NONE;
	packet->anomalies = (struct anomaly_set){{0, 0}};
	packet->layers_spent = 0;
	packet->ether = (struct ether_layer){0};
	packet->datagram = (struct cursor){0};
	packet->payload.error = CURSOR_OK;
	packet_advance(packet, &bytes);
	packet->payload_wire = 0;
	packet->inner = INNER_NONE;
	packet->inner_type = 0;
}

void
dissect_frame(const struct frame *frame, struct packet *packet)
{
	if (__builtin_expect(frame->dlt != DLT_EN10MB || !dissect_common_frame(packet, frame), 0))
		dissect_layers(frame, packet);
}

void
dissect_layers(const struct frame *frame, struct packet *packet)
{
	packet_init(packet, frame, cursor_init(frame->data, frame->caplen, frame->len));
	switch (link_canonical_dlt(frame->dlt)) {
#define ROW(name, function)       \
	case DLT_##name:          \
		function(packet); \
		break;
		LINK_TYPES(ROW)
#undef ROW
	default:
		packet_add_anomaly(packet, ANOMALY_LINK_UNSUPPORTED);
		break;
	}
}

/* A protocol other than IP and ARP is not an anomaly: it is out of scope. */
void
dissect_ethertype(struct packet *packet, uint16_t type)
{
	switch (type) {
	case ETHER_IPV4:
		dissect_ipv4(packet);
		break;
	case ETHER_IPV6:
		dissect_ipv6(packet);
		break;
	case ETHER_ARP:
	case ETHER_RARP:
		dissect_arp(packet, type == ETHER_RARP);
		break;
	case ETHER_MPLS:
	case ETHER_MPLS_UP:
		dissect_mpls(packet);
		break;
	case ETHER_PPPOE:
		dissect_pppoe(packet);
		break;
	default:
		break;
	}
}
