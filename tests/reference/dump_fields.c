/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump_fields FILE...: one line for every packet of each capture file, as tshark_fields.py reads it.
 *
 *	file <TAB> path <TAB> link type			before a file's packets
 *	packet <TAB> number <TAB> name=value ...	what was dissected, the outermost of each layer
 *	end <TAB> packets <TAB> libpcap's error or ""	after them
 *
 * Names are those of tshark if it has one.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>

#include "dissect/dissect.h"

static void
print_number(const char *name, uint64_t value)
{
	printf("\t%s=%" PRIu64, name, value);
}

static void
print_text_field(const char *name, const char *value)
{
	printf("\t%s=%s", name, value);
}

static void
print_mac(const char *name, struct slice v)
{
	printf("\t%s=", name);
	for (uint32_t i = 0; i < v.len; i++)
		printf("%s%02x", i > 0 ? ":" : "", slice_u8(v, i));
}

static void
print_address(const char *name, int family, const void *bytes)
{
	char printed[INET6_ADDRSTRLEN];

	print_text_field(name, inet_ntop(family, bytes, printed, sizeof printed));
}

static void
print_ether(const struct packet *packet)
{
	const struct ether_layer *ether = &packet->ether;

	if (ether->present) {
		print_mac("eth.dst", (struct slice){ether->dst, sizeof ether->dst});
		print_mac("eth.src", (struct slice){ether->src, sizeof ether->src});
	}
	if (ether->type != 0)
		print_number("ethertype", ether->type);
	if (ether->tagged) {
		print_number("vlan.id", ether->vlan);
		print_number("vlan.priority", ether->priority);
		print_number("vlan.dei", ether->dei);
	}
}

static void
print_arp(const struct arp_layer *arp)
{
	print_number("arp.hw.type", arp->htype);
	print_number("arp.proto.type", arp->ptype);
	print_number("arp.hw.size", arp->hlen);
	print_number("arp.proto.size", arp->plen);
	print_number("arp.opcode", arp->op);
	if (arp->htype == 1 && arp->hlen == 6) {
		print_mac("arp.src.hw_mac", arp->sha);
		print_mac("arp.dst.hw_mac", arp->tha);
	}
	if (arp->ptype == 0x0800 && arp->plen == 4) {
		print_address("arp.src.proto_ipv4", AF_INET, arp->spa.at);
		print_address("arp.dst.proto_ipv4", AF_INET, arp->tpa.at);
	}
}

static void
print_ipv4(const struct ip_layer *ip)
{
	print_number("ip.hdr_len", (slice_u8(ip->header, 0) & 15u) * 4);
	print_number("ip.dsfield", ip->tos);
	print_number("ip.len", ip->super_packet ? ip->length : ip->total_length);
	print_number("ip.id", ip->fragment_id);
	print_number("ip.flags", ip->flags);
	print_number("ip.frag_offset", ip->fragment_offset);
	print_number("ip.ttl", ip->ttl);
	print_number("ip.proto", ip->protocol);
	print_number("ip.checksum", ip->checksum);
	print_address("ip.src", AF_INET, ip->src);
	print_address("ip.dst", AF_INET, ip->dst);
}

static void
print_ipv6(const struct ip_layer *ip)
{
	print_number("ipv6.tclass", ip->tos);
	print_number("ipv6.flow", ip->flow_label);
	print_number("ipv6.plen", ip->payload_length);
	print_number("ipv6.nxt", ip->next_header);
	print_number("ipv6.hlim", ip->ttl);
	print_address("ipv6.src", AF_INET6, ip->src);
	print_address("ipv6.dst", AF_INET6, ip->dst);
	if (ip->fragment) {
		print_number("ipv6.fraghdr.ident", ip->fragment_id);
		print_number("ipv6.fraghdr.offset", ip->fragment_offset);
		print_number("ipv6.fraghdr.more", ip->more_fragments);
	}
}

static void
print_tcp(const struct packet *packet)
{
	const struct tcp_layer *tcp = &packet->tcp;

	print_number("tcp.srcport", tcp->sport);
	print_number("tcp.dstport", tcp->dport);
	print_number("tcp.seq_raw", tcp->seq);
	print_number("tcp.ack_raw", tcp->ack);
	print_number("tcp.hdr_len", tcp->header_len);
	print_number("tcp.flags", tcp->flags);
	print_number("tcp.window_size_value", tcp->window);
	print_number("tcp.checksum", tcp->checksum);
	print_number("tcp.urgent_pointer", tcp->urgent);
	print_number("tcp.len", packet->payload_wire);
	if ((tcp->options & TCP_OPTION_MSS) != 0)
		print_number("tcp.options.mss_val", tcp->mss);
	if ((tcp->options & TCP_OPTION_WSCALE) != 0)
		print_number("tcp.options.wscale.shift", tcp->wscale);
	if ((tcp->options & TCP_OPTION_TIMESTAMPS) != 0) {
		print_number("tcp.options.timestamp.tsval", tcp->tsval);
		print_number("tcp.options.timestamp.tsecr", tcp->tsecr);
	}
	if ((tcp->options & TCP_OPTION_SACK) != 0) {
		printf("\ttcp.options.sack_le=");
		for (unsigned i = 0; i < tcp->sack_count; i++)
			printf("%s%" PRIu32, i > 0 ? "," : "", tcp->sack[i][0]);
		printf("\ttcp.options.sack_re=");
		for (unsigned i = 0; i < tcp->sack_count; i++)
			printf("%s%" PRIu32, i > 0 ? "," : "", tcp->sack[i][1]);
	}
}

static bool
icmp_is_echo(uint8_t type)
{
	return type == 0 || type == 8;
}

static void
print_icmp(const struct icmp_layer *icmp)
{
	print_number("icmp.type", icmp->type);
	print_number("icmp.code", icmp->code);
	print_number("icmp.checksum", icmp->checksum);
	if (icmp_is_echo(icmp->type) && icmp->header.len == 8) {
		print_number("icmp.ident", icmp->echo_id);
		print_number("icmp.seq", icmp->echo_seq);
	}
	if (icmp->has_gateway)
		print_address("icmp.redir_gw", AF_INET, icmp->gateway);
	if (icmp->type == 3 && icmp->code == 4 && icmp->header.len == 8)
		print_number("icmp.mtu", icmp->mtu);
	if (icmp->error && icmp->quote.version == 4) {
		print_address("quote.src", AF_INET, icmp->quote.src);
		print_address("quote.dst", AF_INET, icmp->quote.dst);
		print_number("quote.proto", icmp->quote.protocol);
	}
}

static void
print_icmpv6(const struct icmp_layer *icmp)
{
	print_number("icmpv6.type", icmp->type);
	print_number("icmpv6.code", icmp->code);
	print_number("icmpv6.checksum", icmp->checksum);
	if ((icmp->type == 128 || icmp->type == 129) && icmp->header.len == 8) {
		print_number("icmpv6.echo.identifier", icmp->echo_id);
		print_number("icmpv6.echo.sequence_number", icmp->echo_seq);
	}
	if (icmp->type == 2 && icmp->header.len == 8)
		print_number("icmpv6.mtu", icmp->mtu);
	if (icmp->has_target)
		print_address("icmpv6.target", AF_INET6, icmp->target);
	if (icmp->error && icmp->quote.version == 6) {
		print_address("quote.src", AF_INET6, icmp->quote.src);
		print_address("quote.dst", AF_INET6, icmp->quote.dst);
	}
}

static void
print_dccp(const struct dccp_layer *dccp)
{
	print_number("dccp.srcport", dccp->sport);
	print_number("dccp.dstport", dccp->dport);
	print_number("dccp.data_offset", dccp->header_len / 4u);
	print_number("dccp.ccval", dccp->ccval);
	print_number("dccp.cscov", dccp->coverage);
	print_number("dccp.checksum", dccp->checksum);
	print_number("dccp.type", dccp->type);
	print_number("dccp.x", dccp->extended);
	print_number(dccp->extended ? "dccp.seq_raw" : "dccp.seq", dccp->seq);
	if (dccp->has_ack)
		print_number("dccp.ack_raw", dccp->ack);
	if (dccp->extended && (dccp->type == DCCP_REQUEST || dccp->type == DCCP_RESPONSE))
		print_number("dccp.service_code", dccp->service);
	if (dccp->extended && dccp->type == DCCP_RESET)
		print_number("dccp.reset_code", dccp->reset_code);
}

static void
print_transport(const struct packet *packet)
{
	static const char *const names[] = {"none", "tcp", "udp", "icmp", "icmpv6", "sctp", "dccp"};

	print_text_field("transport", names[packet->transport]);
	switch (packet->transport) {
	case TRANSPORT_TCP:
		print_tcp(packet);
		break;
	case TRANSPORT_UDP:
		print_number("udp.srcport", packet->udp.sport);
		print_number("udp.dstport", packet->udp.dport);
		print_number("udp.length", packet->udp.length);
		print_number("udp.checksum", packet->udp.checksum);
		break;
	case TRANSPORT_ICMP:
		print_icmp(&packet->icmp);
		break;
	case TRANSPORT_ICMPV6:
		print_icmpv6(&packet->icmp);
		break;
	case TRANSPORT_SCTP:
		print_number("sctp.srcport", packet->sctp.sport);
		print_number("sctp.dstport", packet->sctp.dport);
		print_number("sctp.verification_tag", packet->sctp.verification_tag);
		print_number("sctp.checksum", packet->sctp.checksum);
		print_number("sctp.first_chunk", packet->sctp.first_chunk);
		print_number("sctp.chunks", packet->sctp.chunk_count);
		break;
	case TRANSPORT_DCCP:
		print_dccp(&packet->dccp);
		break;
	case TRANSPORT_NONE:
		break;
	}
}

static void
print_packet(unsigned long n, const struct packet *packet)
{
	static const char *const networks[] = {"none", "arp", "ipv4", "ipv6"};
	static const char *const verdicts[] = {"unverified", "ok", "bad", "partial"};

	printf("packet\t%lu", n);
	print_number("frame.len", packet->frame->len);
	print_number("frame.cap_len", packet->frame->caplen);
	print_text_field("reason", anomaly_name(packet->worst_anomaly));
	print_ether(packet);
	print_text_field("network", networks[packet->network]);
	if (packet->network == NETWORK_ARP)
		print_arp(&packet->arp);
	else if (packet->network == NETWORK_IPV4)
		print_ipv4(&packet->ip);
	else if (packet->network == NETWORK_IPV6)
		print_ipv6(&packet->ip);
	print_transport(packet);
	print_number("fragment", packet->network >= NETWORK_IPV4 && packet->ip.fragment);
	print_text_field("checksum", verdicts[checksum_verify(packet)]);
	printf("\n");
}

static const char *
dlt_name(int dlt)
{
	const char *name = pcap_datalink_val_to_name(dlt);

	if (dissect_link_supported(dlt))
		return "supported";
	return name != NULL ? name : "without a name";
}

static void
dump_capture(const char *path)
{
	static const struct interface interface;
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	struct packet packet;
	const uint8_t *bytes;
	unsigned long n = 0;
	pcap_t *capture = pcap_open_offline(path, error);

	if (capture == NULL) {
		printf("file\t%s\t-\nend\t0\t%s\n", path, error);
		return;
	}
	printf("file\t%s\t%s\n", path, dlt_name(pcap_datalink(capture)));
	while (pcap_next_ex(capture, &header, &bytes) == 1) {
		struct frame frame = {
			.data = bytes,
			.interface = &interface,
			.caplen = header->caplen,
			.len = header->len,
			.dlt = pcap_datalink(capture),
		};

		n++;
		if (!dissect_link_supported(frame.dlt))
			continue;
		dissect_frame(&frame, &packet);
		print_packet(n, &packet);
	}
	printf("end\t%lu\t%s\n", n, pcap_geterr(capture));
	pcap_close(capture);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		dump_capture(argv[i]);
	return 0;
}
