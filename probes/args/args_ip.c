/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments from IP and ICMP: ipinfo, ipv4info, ipv6info, icmpinfo. */
#include <string.h>

#include "dissect/peek.h"
#include "probes/args/args.h"
#include "probes/names.h"

void
args_ipinfo(struct ipinfo *info, const struct ip_layer *ip)
{
	info->ip_ver = ip->version;
	memset(info->ip_pad, 0, sizeof info->ip_pad);
	info->ip_plength = ip->payload_len;
	field_set_address(info->ip_saddr, sizeof info->ip_saddr, ip->version, ip->src);
	field_set_address(info->ip_daddr, sizeof info->ip_daddr, ip->version, ip->dst);
}

void
args_ipinfo_of_peek(struct ipinfo *info, const struct frame_peek *peek)
{
	info->ip_ver = peek->version;
	info->ip_plength = peek->payload_wire +
			   (peek->protocol == PROTOCOL_TCP ? peek_tcp_header_len(peek) : UDP_HEADER_LEN);
	field_set_address(info->ip_saddr, sizeof info->ip_saddr, peek->version, peek->src);
	field_set_address(info->ip_daddr, sizeof info->ip_daddr, peek->version, peek->dst);
}

void
args_ipv4info(struct ipv4info *info, const struct ip_layer *ip)
{
	*info = (struct ipv4info){
	    .ipv4_ver = 4,
	    .ipv4_ihl = (netobs_u8)((slice_u8(ip->header, 0) & 0x0f) * 4), /* as on the wire, even if invalid */
	    .ipv4_tos = ip->tos,
	    .ipv4_length = ip->total_length,
	    .ipv4_ident = (netobs_u16)ip->fragment_id,
	    .ipv4_flags = ip->flags,
	    .ipv4_offset = ip->fragment_offset,
	    .ipv4_ttl = ip->ttl,
	    .ipv4_protocol = ip->protocol,
	    .ipv4_checksum = ip->checksum,
	    .ipv4_hdr = args_pointer(ip->header.at),
	};
	memcpy(&info->ipv4_src, ip->src, sizeof info->ipv4_src); /* network order, as the contract requires */
	memcpy(&info->ipv4_dst, ip->dst, sizeof info->ipv4_dst);
	field_set_string(info->ipv4_protostr, sizeof info->ipv4_protostr, ip_protocol_name(ip->protocol));
	field_set_address(info->ipv4_saddr, sizeof info->ipv4_saddr, 4, ip->src);
	field_set_address(info->ipv4_daddr, sizeof info->ipv4_daddr, 4, ip->dst);
}

void
args_ipv6info(struct ipv6info *info, const struct ip_layer *ip)
{
	*info = (struct ipv6info){
	    .ipv6_ver = 6,
	    .ipv6_tclass = ip->tos,
	    .ipv6_flow = ip->flow_label,
	    .ipv6_plen = ip->payload_length,
	    .ipv6_nexthdr = ip->next_header,
	    .ipv6_hlim = ip->ttl,
	    .ipv6_src = args_pointer(ip->src),
	    .ipv6_dst = args_pointer(ip->dst),
	    .ipv6_hdr = args_pointer(ip->header.at),
	};
	field_set_string(info->ipv6_nextstr, sizeof info->ipv6_nextstr, ip_protocol_name(ip->next_header));
	field_set_address(info->ipv6_saddr, sizeof info->ipv6_saddr, 6, ip->src);
	field_set_address(info->ipv6_daddr, sizeof info->ipv6_daddr, 6, ip->dst);
}

void
args_icmpinfo(struct icmpinfo *info, const struct packet *packet)
{
	const struct icmp_layer *icmp = &packet->icmp;
	unsigned version = packet->transport == TRANSPORT_ICMP ? 4 : 6;

	*info = (struct icmpinfo){
	    .icmp_version = (netobs_u8)version,
	    .icmp_type = icmp->type,
	    .icmp_code = icmp->code,
	    .icmp_checksum = icmp->checksum,
	    .icmp_echo_id = icmp->echo_id,
	    .icmp_echo_seq = icmp->echo_seq,
	    .icmp_pmtu_update = icmp->mtu,
	    .icmp_param_problem_ptr = icmp->pointer,
	    .icmp_hdr = args_pointer(icmp->header.at),
	};
	field_set_string(info->icmp_typestr, sizeof info->icmp_typestr, icmp_type_name(version, icmp->type));
	field_set_string(info->icmp_codestr, sizeof info->icmp_codestr,
			 icmp_code_name(version, icmp->type, icmp->code));
	if (icmp->has_gateway)
		field_set_address(info->icmp_redirect_gateway, sizeof info->icmp_redirect_gateway, version,
				  icmp->gateway);
	if (icmp->has_target)
		field_set_address(info->icmp6_nd_target, sizeof info->icmp6_nd_target, 6, icmp->target);
	if (icmp->quote.version == 0)
		return;
	if (icmp->quote.version == 4)
		info->icmp_error_ip_hdr = args_pointer(icmp->quote.header.at);
	else
		info->icmp_error_ip6_hdr = args_pointer(icmp->quote.header.at);
	info->icmp_error_protocol = icmp->quote.protocol;
	info->icmp_error_sport = icmp->quote.sport;
	info->icmp_error_dport = icmp->quote.dport;
	field_set_address(info->icmp_error_saddr, sizeof info->icmp_error_saddr, icmp->quote.version, icmp->quote.src);
	field_set_address(info->icmp_error_daddr, sizeof info->icmp_error_daddr, icmp->quote.version, icmp->quote.dst);
}
