/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump_fields FILE...: one line for every packet of each capture file, as tshark_fields.py reads it.
 *
 *	file <TAB> path <TAB> link type			before a file's packets
 *	packet <TAB> number <TAB> name=value ...	what was dissected, the outermost of each layer
 *	end <TAB> packets <TAB> libpcap's error or ""	behind them
 *
 * Names are tshark's wherever tshark has one for the same thing.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>

#include "dissect/dissect.h"

static void
number(const char *name, uint64_t value)
{
	printf("\t%s=%" PRIu64, name, value);
}

static void
text(const char *name, const char *value)
{
	printf("\t%s=%s", name, value);
}

static void
mac(const char *name, struct view v)
{
	printf("\t%s=", name);
	for (uint32_t i = 0; i < v.len; i++)
		printf("%s%02x", i > 0 ? ":" : "", view_u8(v, i));
}

static void
address(const char *name, int family, const void *bytes)
{
	char printed[INET6_ADDRSTRLEN];

	text(name, inet_ntop(family, bytes, printed, sizeof printed));
}

static void
print_ether(const struct packet *packet)
{
	const struct ether_layer *ether = &packet->ether;

	if (ether->present) {
		mac("eth.dst", (struct view){ether->dst, sizeof ether->dst});
		mac("eth.src", (struct view){ether->src, sizeof ether->src});
	}
	if (ether->type != 0)
		number("ethertype", ether->type);
	if (ether->tagged) {
		number("vlan.id", ether->vlan);
		number("vlan.priority", ether->priority);
		number("vlan.dei", ether->dei);
	}
}

static void
print_arp(const struct arp_layer *arp)
{
	number("arp.hw.type", arp->htype);
	number("arp.proto.type", arp->ptype);
	number("arp.hw.size", arp->hlen);
	number("arp.proto.size", arp->plen);
	number("arp.opcode", arp->op);
	if (arp->htype == 1 && arp->hlen == 6) {
		mac("arp.src.hw_mac", arp->sha);
		mac("arp.dst.hw_mac", arp->tha);
	}
	if (arp->ptype == 0x0800 && arp->plen == 4) {
		address("arp.src.proto_ipv4", AF_INET, arp->spa.at);
		address("arp.dst.proto_ipv4", AF_INET, arp->tpa.at);
	}
}

static void
print_ipv4(const struct ip_layer *ip)
{
	number("ip.hdr_len", (view_u8(ip->header, 0) & 15u) * 4);
	number("ip.dsfield", ip->tos);
	number("ip.len", ip->super ? ip->length : ip->total_length);
	number("ip.id", ip->fragment_id);
	number("ip.flags", ip->flags);
	number("ip.frag_offset", ip->fragment_offset);
	number("ip.ttl", ip->ttl);
	number("ip.proto", ip->protocol);
	number("ip.checksum", ip->checksum);
	address("ip.src", AF_INET, ip->src);
	address("ip.dst", AF_INET, ip->dst);
}

static void
print_ipv6(const struct ip_layer *ip)
{
	number("ipv6.tclass", ip->tos);
	number("ipv6.flow", ip->flow_label);
	number("ipv6.plen", ip->payload_length);
	number("ipv6.nxt", ip->next_header);
	number("ipv6.hlim", ip->ttl);
	address("ipv6.src", AF_INET6, ip->src);
	address("ipv6.dst", AF_INET6, ip->dst);
	if (ip->fragment) {
		number("ipv6.fraghdr.ident", ip->fragment_id);
		number("ipv6.fraghdr.offset", ip->fragment_offset);
		number("ipv6.fraghdr.more", ip->more_fragments);
	}
}

static void
print_tcp(const struct packet *packet)
{
	const struct tcp_layer *tcp = &packet->tcp;

	number("tcp.srcport", tcp->sport);
	number("tcp.dstport", tcp->dport);
	number("tcp.seq_raw", tcp->seq);
	number("tcp.ack_raw", tcp->ack);
	number("tcp.hdr_len", tcp->offset);
	number("tcp.flags", tcp->flags);
	number("tcp.window_size_value", tcp->window);
	number("tcp.checksum", tcp->checksum);
	number("tcp.urgent_pointer", tcp->urgent);
	number("tcp.len", packet->segment);
	if ((tcp->options & TCP_OPTION_MSS) != 0)
		number("tcp.options.mss_val", tcp->mss);
	if ((tcp->options & TCP_OPTION_WSCALE) != 0)
		number("tcp.options.wscale.shift", tcp->wscale);
	if ((tcp->options & TCP_OPTION_TIMESTAMPS) != 0) {
		number("tcp.options.timestamp.tsval", tcp->tsval);
		number("tcp.options.timestamp.tsecr", tcp->tsecr);
	}
	if ((tcp->options & TCP_OPTION_SACK) != 0) {
		printf("\ttcp.options.sack_le=");
		for (unsigned i = 0; i < tcp->sacks; i++)
			printf("%s%" PRIu32, i > 0 ? "," : "", tcp->sack[i][0]);
		printf("\ttcp.options.sack_re=");
		for (unsigned i = 0; i < tcp->sacks; i++)
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
	number("icmp.type", icmp->type);
	number("icmp.code", icmp->code);
	number("icmp.checksum", icmp->checksum);
	if (icmp_is_echo(icmp->type) && icmp->header.len == 8) {
		number("icmp.ident", icmp->echo_id);
		number("icmp.seq", icmp->echo_seq);
	}
	if (icmp->has_gateway)
		address("icmp.redir_gw", AF_INET, icmp->gateway);
	if (icmp->type == 3 && icmp->code == 4 && icmp->header.len == 8)
		number("icmp.mtu", icmp->mtu);
	if (icmp->error && icmp->quote.version == 4) {
		address("quote.src", AF_INET, icmp->quote.src);
		address("quote.dst", AF_INET, icmp->quote.dst);
		number("quote.proto", icmp->quote.protocol);
	}
}

static void
print_icmpv6(const struct icmp_layer *icmp)
{
	number("icmpv6.type", icmp->type);
	number("icmpv6.code", icmp->code);
	number("icmpv6.checksum", icmp->checksum);
	if ((icmp->type == 128 || icmp->type == 129) && icmp->header.len == 8) {
		number("icmpv6.echo.identifier", icmp->echo_id);
		number("icmpv6.echo.sequence_number", icmp->echo_seq);
	}
	if (icmp->type == 2 && icmp->header.len == 8)
		number("icmpv6.mtu", icmp->mtu);
	if (icmp->has_target)
		address("icmpv6.target", AF_INET6, icmp->target);
	if (icmp->error && icmp->quote.version == 6) {
		address("quote.src", AF_INET6, icmp->quote.src);
		address("quote.dst", AF_INET6, icmp->quote.dst);
	}
}

static void
print_transport(const struct packet *packet)
{
	static const char *const names[] = {"none", "tcp", "udp", "icmp", "icmpv6", "sctp"};

	text("transport", names[packet->transport]);
	switch (packet->transport) {
	case TRANSPORT_TCP:
		print_tcp(packet);
		break;
	case TRANSPORT_UDP:
		number("udp.srcport", packet->udp.sport);
		number("udp.dstport", packet->udp.dport);
		number("udp.length", packet->udp.length);
		number("udp.checksum", packet->udp.checksum);
		break;
	case TRANSPORT_ICMP:
		print_icmp(&packet->icmp);
		break;
	case TRANSPORT_ICMPV6:
		print_icmpv6(&packet->icmp);
		break;
	case TRANSPORT_SCTP:
		number("sctp.srcport", packet->sctp.sport);
		number("sctp.dstport", packet->sctp.dport);
		number("sctp.verification_tag", packet->sctp.verify);
		number("sctp.checksum", packet->sctp.checksum);
		number("sctp.first_chunk", packet->sctp.first_chunk);
		number("sctp.chunks", packet->sctp.chunk_count);
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
	number("frame.len", packet->frame->len);
	number("frame.cap_len", packet->frame->caplen);
	text("reason", anomaly_word(packet->reason));
	print_ether(packet);
	text("network", networks[packet->network]);
	if (packet->network == NETWORK_ARP)
		print_arp(&packet->arp);
	else if (packet->network == NETWORK_IPV4)
		print_ipv4(&packet->ip);
	else if (packet->network == NETWORK_IPV6)
		print_ipv6(&packet->ip);
	print_transport(packet);
	number("fragment", packet->network >= NETWORK_IPV4 && packet->ip.fragment);
	text("checksum", verdicts[dissect_checksum(packet)]);
	printf("\n");
}

static const char *
link_name(int dlt)
{
	const char *name = pcap_datalink_val_to_name(dlt);

	if (dissect_link_supported(dlt))
		return "supported";
	return name != NULL ? name : "without a name";
}

static void
dump(const char *path)
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
	printf("file\t%s\t%s\n", path, link_name(pcap_datalink(capture)));
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
		dump(argv[i]);
	return 0;
}
