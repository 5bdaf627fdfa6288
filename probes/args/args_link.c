/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments from the link layer and below: pktinfo, illinfo, etherinfo, arpinfo. */
#include <string.h>

#include "probes/args/args.h"
#include "probes/names.h"

void
args_pktinfo(struct pktinfo *info, const struct packet *packet, uint64_t id, enum checksum_verdict checksum)
{
	static const char *const verdicts[] = {
	    [CHECKSUM_UNVERIFIED] = "unverified",
	    [CHECKSUM_OK] = "ok",
	    [CHECKSUM_BAD] = "bad",
	    [CHECKSUM_PARTIAL] = "partial",
	};
	const struct frame *frame = packet->frame;

	info->pkt_addr = id;
	info->pkt_ts = frame->ts;
	info->pkt_len = frame->len;
	info->pkt_caplen = frame->caplen;
	info->pkt_data = args_pointer(frame->data);
	info->pkt_link = (netobs_u32)frame->dlt;
	field_set_string(info->pkt_csum, sizeof info->pkt_csum, verdicts[checksum]);
	field_set_string(info->pkt_reason, sizeof info->pkt_reason, anomaly_name(packet->worst_anomaly));
	info->pkt_seq = 0;
}

void
args_illinfo(struct illinfo *info, const struct interface *interface, bool loopback)
{
	*info = (struct illinfo){
	    .if_local = loopback || interface->loopback,
	    .if_ipstack = interface->netns,
	    .if_addr = interface->ifindex,
	};
	field_set_string(info->if_name, sizeof info->if_name,
			 interface->name[0] != '\0' ? interface->name : NAME_UNKNOWN);
}

/* Formats a MAC address; "<unknown>" if it is zero and not from an Ethernet header, because the link type has no such
 * address. */
static void
args_format_mac(char text[18], const uint8_t mac[6], bool ethernet)
{
	static const uint8_t none[6];

	if (!ethernet && memcmp(mac, none, sizeof none) == 0)
		field_set_string(text, 18, NAME_UNKNOWN);
	else
		field_set_mac(text, mac);
}

void
args_etherinfo(struct etherinfo *info, const struct packet *packet)
{
	const struct ether_layer *ether = &packet->ether;

	*info = (struct etherinfo){
	    .eth_type = ether->type,
	    .eth_istagged = ether->tagged,
	    .eth_priority = ether->priority,
	    .eth_dei = ether->dei,
	    .eth_vlanid = ether->vlan,
	    .eth_header = args_pointer(ether->header.at),
	    .eth_length = packet->frame->len,
	};
	memcpy(info->eth_dst, ether->dst, sizeof info->eth_dst);
	memcpy(info->eth_src, ether->src, sizeof info->eth_src);
	args_format_mac(info->eth_shost, ether->src, ether->present);
	args_format_mac(info->eth_dhost, ether->dst, ether->present);
}

static void
args_format_arp_mac(char text[18], struct slice address)
{
	uint8_t mac[6];

	if (address.len != sizeof mac) {
		field_set_string(text, 18, NAME_UNKNOWN);
		return;
	}
	slice_copy(address, 0, mac, sizeof mac);
	field_set_mac(text, mac);
}

static void
args_format_arp_ip(char text[16], const struct arp_layer *arp, struct slice address)
{
	uint8_t ip[4];

	if (address.len != sizeof ip || arp->ptype != 0x0800) {
		field_set_string(text, 16, NAME_UNKNOWN);
		return;
	}
	slice_copy(address, 0, ip, sizeof ip);
	field_set_address(text, 16, 4, ip);
}

/* The operation as a word.  For ARP over IPv4 the word is more precise than the number: a "probe" asks whether an
 * address is in use and has no sender address, an "announcement" requests the sender's own address (RFC 5227), and a
 * "gratuitous-reply" is a reply for it that was not requested (RFC 2002 section 4.6). */
static const char *
args_arp_operation_name(const struct arp_layer *arp)
{
	uint32_t sender = slice_u32(arp->spa, 0), target = slice_u32(arp->tpa, 0);

	if (arp->ptype != 0x0800 || arp->spa.len != 4 || arp->tpa.len != 4 || arp->op > 2)
		return arp_operation_name(arp->op);
	if (arp->op == 1 && sender == 0)
		return "probe";
	if (sender == target)
		return arp->op == 1 ? "announcement" : "gratuitous-reply";
	return arp_operation_name(arp->op);
}

void
args_arpinfo(struct arpinfo *info, const struct arp_layer *arp)
{
	*info = (struct arpinfo){
	    .arp_htype = arp->htype,
	    .arp_ptype = arp->ptype,
	    .arp_hlen = arp->hlen,
	    .arp_plen = arp->plen,
	    .arp_op = arp->op,
	};
	field_set_string(info->arp_opstr, sizeof info->arp_opstr, args_arp_operation_name(arp));
	args_format_arp_mac(info->arp_sha, arp->sha);
	args_format_arp_mac(info->arp_tha, arp->tha);
	args_format_arp_ip(info->arp_spa, arp, arp->spa);
	args_format_arp_ip(info->arp_tpa, arp, arp->tpa);
}
