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
	info->pkt_data = address_of(frame->data);
	info->pkt_link = (netobs_u32)frame->dlt;
	word_copy(info->pkt_csum, sizeof info->pkt_csum, verdicts[checksum]);
	word_copy(info->pkt_reason, sizeof info->pkt_reason, anomaly_word(packet->reason));
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
	word_copy(info->if_name, sizeof info->if_name, interface->name[0] != '\0' ? interface->name : WORD_UNKNOWN);
}

/* Formats a MAC address; "<unknown>" if it is zero and not from an Ethernet header, because the link type has no such
 * address. */
static void
link_address(char text[18], const uint8_t mac[6], bool ethernet)
{
	static const uint8_t none[6];

	if (!ethernet && memcmp(mac, none, sizeof none) == 0)
		word_copy(text, 18, WORD_UNKNOWN);
	else
		word_mac(text, mac);
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
	    .eth_header = address_of(ether->header.at),
	    .eth_length = packet->frame->len,
	};
	memcpy(info->eth_dst, ether->dst, sizeof info->eth_dst);
	memcpy(info->eth_src, ether->src, sizeof info->eth_src);
	link_address(info->eth_shost, ether->src, ether->present);
	link_address(info->eth_dhost, ether->dst, ether->present);
}

static void
arp_hardware(char text[18], struct view address)
{
	uint8_t mac[6];

	if (address.len != sizeof mac) {
		word_copy(text, 18, WORD_UNKNOWN);
		return;
	}
	view_copy(address, 0, mac, sizeof mac);
	word_mac(text, mac);
}

static void
arp_protocol(char text[16], const struct arp_layer *arp, struct view address)
{
	uint8_t ip[4];

	if (address.len != sizeof ip || arp->ptype != 0x0800) {
		word_copy(text, 16, WORD_UNKNOWN);
		return;
	}
	view_copy(address, 0, ip, sizeof ip);
	word_address(text, 16, 4, ip);
}

/* The operation as a word.  For ARP over IPv4 the word is more precise than the number: a "probe" asks whether an
 * address is in use and has no sender address, an "announcement" requests the sender's own address (RFC 5227), and a
 * "gratuitous-reply" is a reply for it that was not requested (RFC 2002 section 4.6). */
static const char *
arp_operation(const struct arp_layer *arp)
{
	uint32_t sender = view_u32(arp->spa, 0), target = view_u32(arp->tpa, 0);

	if (arp->ptype != 0x0800 || arp->spa.len != 4 || arp->tpa.len != 4 || arp->op > 2)
		return word_arp_operation(arp->op);
	if (arp->op == 1 && sender == 0)
		return "probe";
	if (sender == target)
		return arp->op == 1 ? "announcement" : "gratuitous-reply";
	return word_arp_operation(arp->op);
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
	word_copy(info->arp_opstr, sizeof info->arp_opstr, arp_operation(arp));
	arp_hardware(info->arp_sha, arp->sha);
	arp_hardware(info->arp_tha, arp->tha);
	arp_protocol(info->arp_spa, arp, arp->spa);
	arp_protocol(info->arp_tpa, arp, arp->tpa);
}
