/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments from transports and their connections: csinfo, tcpinfo, tcpsinfo, tcplsinfo, tcprinfo,
 * tcpfinfo, sockinfo, udpinfo, dccpinfo. */
#include <string.h>
#include <sys/socket.h>

#include "dissect/peek.h"
#include "flow/tcp/tcp.h"
#include "probes/args/args.h"
#include "probes/names.h"

/* Copies the process name verbatim: a process may choose any bytes.  An empty name becomes "<unknown>": DTrace
 * loses firings with an empty text. */
static void
args_copy_comm(char *to, size_t size, const struct owner *owner)
{
	bool named = owner != NULL && owner->pid >= 0 && owner->comm[0] != '\0';

	field_set_string(to, size, named ? owner->comm : NAME_UNKNOWN);
}

void
args_csinfo(struct csinfo *info, const struct probe_endpoint *of, uint64_t now)
{
	const struct owner *owner = of->owner;
	uint64_t cid = flow_cid(of->table, of->flow, of->end);

	*info = (struct csinfo){
	    .cs_addr = cid,
	    .cs_cid = cid,
	    .cs_pid = owner != NULL ? owner->pid : -1,
	    .cs_zoneid = owner != NULL ? (netobs_i64)owner->netns : -1,
	    .cs_ts = now,
	};
	args_copy_comm(info->cs_comm, sizeof info->cs_comm, owner);
}

void
args_tcpinfo(struct tcpinfo *info, const struct packet *packet)
{
	const struct tcp_layer *tcp = &packet->tcp;

	*info = (struct tcpinfo){
	    .tcp_sport = tcp->sport,
	    .tcp_dport = tcp->dport,
	    .tcp_seq = tcp->seq,
	    .tcp_ack = tcp->ack,
	    .tcp_offset = tcp->header_len,
	    .tcp_flags = tcp->flags,
	    .tcp_window = tcp->window,
	    .tcp_checksum = tcp->checksum,
	    .tcp_urgent = tcp->urgent,
	    .tcp_hdr = args_pointer(tcp->header.at),
	    .tcp_payload = packet->payload_wire,
	};
	field_set_tcp_flags(info->tcp_flagstr, tcp->flags);
}

void
args_tcpinfo_of_error(struct tcpinfo *info, const struct icmp_layer *icmp)
{
	*info = (struct tcpinfo){.tcp_sport = icmp->quote.dport, .tcp_dport = icmp->quote.sport};
}

void
args_tcpinfo_of_peek(struct tcpinfo *info, const struct frame_peek *peek)
{
	static const char common[2][sizeof info->tcp_flagstr] = {"ACK", "PSH|ACK"};
	struct slice header = peek_tcp_header(peek);
	uint8_t flags = slice_u8(header, 13);

	info->tcp_sport = peek->sport;
	info->tcp_dport = peek->dport;
	info->tcp_seq = peek->seq;
	info->tcp_ack = peek->ack;
	info->tcp_offset = peek_tcp_header_len(peek);
	info->tcp_window = peek->window;
	info->tcp_checksum = slice_u16(header, 16);
	info->tcp_urgent = slice_u16(header, 18);
	info->tcp_hdr = args_pointer(header.at);
	info->tcp_payload = peek->payload_wire;
	if (info->tcp_flags == flags)
		return;
	info->tcp_flags = flags;
	if ((flags & ~TCP_PSH) == TCP_ACK)
		memcpy(info->tcp_flagstr, common[(flags & TCP_PSH) != 0], sizeof info->tcp_flagstr);
	else
		field_set_tcp_flags(info->tcp_flagstr, flags);
}

/* 1 active, 0 passive; -1 if neither end's SYN was captured. */
static netobs_i32
args_tcp_active(const struct tcp_endpoint *self, const struct tcp_endpoint *peer)
{
	if ((self->flags & TCP_EP_ACTIVE_OPEN) != 0)
		return 1;
	return (peer->flags & TCP_EP_ACTIVE_OPEN) != 0 ? 0 : -1;
}

/* The window shift of an endpoint is known only if its SYN was captured. */
static netobs_i32
args_tcp_window_shift(const struct tcp_endpoint *of)
{
	return (of->flags & TCP_EP_ISS_KNOWN) != 0 ? of->wscale : -1;
}

/* Replaces the estimates by the kernel's values. */
static void
args_apply_tcp_info(struct tcpsinfo *info, const struct owner_tcp *tcp)
{
	info->tcps_kernel = 1;
	info->tcps_cwnd = tcp->cwnd;
	info->tcps_cwnd_ssthresh = tcp->ssthresh;
	info->tcps_rto = tcp->rto_us / 1000;
	info->tcps_mss = tcp->mss;
	info->tcps_rtt = tcp->rtt_us / 1000;
	info->tcps_rtt_sd = tcp->rttvar_us / 1000;
	info->tcps_srtt_us = tcp->rtt_us;
}

void
args_tcpsinfo(struct tcpsinfo *info, const struct probe_endpoint *of)
{
	const struct flow *flow = of->flow;
	const struct tcp_endpoint *self = of->tcp, *peer = &flow->tcp[1 - of->end];
	unsigned version = flow->key.version;
	struct tcp_estimates estimates;

	tcp_estimate_congestion(of->table, flow, of->end, &estimates);
	*info = (struct tcpsinfo){
	    .tcps_addr = flow_cid(of->table, flow, of->end),
	    .tcps_local = flow->same_host,
	    .tcps_active = args_tcp_active(&flow->tcp[of->end], peer),
	    .tcps_lport = flow->key.port[of->end],
	    .tcps_rport = flow->key.port[1 - of->end],
	    .tcps_state = self->state,
	    .tcps_iss = (self->flags & TCP_EP_ISS_KNOWN) != 0 ? self->iss : 0,
	    .tcps_irs = (peer->flags & TCP_EP_ISS_KNOWN) != 0 ? peer->iss : 0,
	    .tcps_suna = self->una,
	    .tcps_snxt = self->nxt,
	    .tcps_rnxt = self->rcv_nxt,
	    .tcps_rack = self->last_ack_sent,
	    .tcps_swnd = peer->wnd,
	    .tcps_rwnd = self->wnd,
	    .tcps_snd_ws = args_tcp_window_shift(peer),
	    .tcps_rcv_ws = args_tcp_window_shift(self),
	    .tcps_cwnd = estimates.cwnd,
	    .tcps_cwnd_ssthresh = estimates.ssthresh,
	    .tcps_sack_fack = estimates.sack_fack,
	    .tcps_sack_snxt = estimates.sack_snxt,
	    .tcps_rto = tcp_rto_us(self) / 1000,
	    .tcps_mss = estimates.mss,
	    .tcps_retransmit = (self->flags & TCP_EP_LAST_RETRANSMITTED) != 0,
	    .tcps_rtt = self->srtt_us / 1000,
	    .tcps_rtt_sd = self->rttvar_us / 1000,
	    .tcps_srtt_us = self->srtt_us,
	    .tcps_snd_bytes = tcp_captured_bytes(self),
	    .tcps_rcv_bytes = tcp_captured_bytes(peer),
	    .tcps_snd_segs = self->segments_sent,
	    .tcps_rcv_segs = peer->segments_sent,
	    .tcps_snd_retrans = tcp_retransmits(of->table, flow, of->end),
	    .tcps_rcv_retrans = tcp_retransmits(of->table, flow, 1 - of->end),
	    .tcps_start = flow_first_seen(of->table, flow),
	};
	if (of->owner != NULL && (of->owner->flags & OWNER_TCP) != 0)
		args_apply_tcp_info(info, &of->owner->tcp);
	field_set_address(info->tcps_laddr, sizeof info->tcps_laddr, version, flow->key.addr[of->end]);
	field_set_address(info->tcps_raddr, sizeof info->tcps_raddr, version, flow->key.addr[1 - of->end]);
	field_set_string(info->tcps_statestr, sizeof info->tcps_statestr, tcp_state_name((enum tcp_state)self->state));
}

void
args_tcplsinfo(struct tcplsinfo *info, enum tcp_state state)
{
	info->tcps_state = (netobs_i32)state;
	field_set_string(info->tcps_statestr, sizeof info->tcps_statestr, tcp_state_name(state));
}

void
args_tcprinfo(struct tcprinfo *info, const struct retransmission *retransmission)
{
	info->tcpr_kind = retransmission->kind;
	field_set_string(info->tcpr_kindstr, sizeof info->tcpr_kindstr,
			 tcp_retransmit_kind_name(retransmission->kind));
	info->tcpr_count = retransmission->count;
	info->tcpr_elapsed_us = retransmission->elapsed_us;
}

void
args_tcpfinfo(struct tcpfinfo *info, const struct packet *packet, const struct probe_endpoint *of,
	      const struct owner *peer)
{
	*info = (struct tcpfinfo){
	    .tcpf_len = packet->payload_wire,
	    .tcpf_seq = packet->tcp.seq,
	    .tcpf_peer_cid = flow_cid(of->table, of->flow, 1 - of->end),
	    .tcpf_peer_pid = peer != NULL ? peer->pid : -1,
	};
}

void
args_sockinfo(struct sockinfo *info, const struct probe_endpoint *of, uint32_t bytes, uint64_t offset)
{
	const struct flow *flow = of->flow;
	const struct owner *owner = of->owner;
	unsigned endpoint = of->end;
	bool tcp = flow->kind == FLOW_TCP;

	*info = (struct sockinfo){
	    .so_family = flow->key.version == 4 ? AF_INET : AF_INET6,
	    .so_type = tcp ? SOCK_STREAM : SOCK_DGRAM,
	    .so_protocol = flow->key.protocol,
	    .so_lport = flow->key.port[endpoint],
	    .so_rport = flow->key.port[1 - endpoint],
	    .so_bytes = bytes,
	    .so_offset = offset,
	    .so_pid = owner != NULL ? owner->pid : -1,
	    .so_uid = owner != NULL && owner->uid != OWNER_UID_UNKNOWN ? (netobs_i64)owner->uid : -1,
	};
	field_set_address(info->so_laddr, sizeof info->so_laddr, flow->key.version, flow->key.addr[endpoint]);
	field_set_address(info->so_raddr, sizeof info->so_raddr, flow->key.version, flow->key.addr[1 - endpoint]);
	args_copy_comm(info->so_execname, sizeof info->so_execname, owner);
}

void
args_udpinfo(struct udpinfo *info, const struct packet *packet, const struct probe_endpoint *of)
{
	const struct flow *flow = of->flow;

	*info = (struct udpinfo){.udps_addr = 0};
	if (packet != NULL) {
		info->udp_sport = packet->udp.sport;
		info->udp_dport = packet->udp.dport;
		info->udp_length = packet->udp.length;
		info->udp_checksum = packet->udp.checksum;
		info->udp_hdr = args_pointer(packet->udp.header.at);
	}
	if (flow == NULL)
		return;
	info->udps_addr = flow_cid(of->table, flow, of->end);
	info->udps_lport = flow->key.port[of->end];
	info->udps_rport = flow->key.port[1 - of->end];
	field_set_address(info->udps_laddr, sizeof info->udps_laddr, flow->key.version, flow->key.addr[of->end]);
	field_set_address(info->udps_raddr, sizeof info->udps_raddr, flow->key.version, flow->key.addr[1 - of->end]);
	info->udps_snd_bytes = flow->udp[of->end].bytes;
	info->udps_rcv_bytes = flow->udp[1 - of->end].bytes;
	info->udps_snd_datagrams = flow->udp[of->end].datagrams;
	info->udps_rcv_datagrams = flow->udp[1 - of->end].datagrams;
}

void
args_dccpinfo(struct dccpinfo *info, const struct packet *packet)
{
	const struct dccp_layer *dccp = &packet->dccp;

	*info = (struct dccpinfo){
	    .dccp_sport = dccp->sport,
	    .dccp_dport = dccp->dport,
	    .dccp_type = dccp->type,
	    .dccp_ccval = dccp->ccval,
	    .dccp_cscov = dccp->coverage,
	    .dccp_reset = dccp->reset_code,
	    .dccp_seq = dccp->seq,
	    .dccp_ack = dccp->ack,
	    .dccp_offset = dccp->header_len,
	    .dccp_service = dccp->service,
	    .dccp_payload = packet->payload_wire,
	    .dccp_checksum = dccp->checksum,
	    .dccp_x = dccp->extended,
	    .dccp_hdr = args_pointer(dccp->header.at),
	};
	field_set_string(info->dccp_typestr, sizeof info->dccp_typestr, dccp_type_name(dccp->type));
	if (dccp->type == DCCP_RESET && dccp->has_ack)
		field_set_string(info->dccp_resetstr, sizeof info->dccp_resetstr, dccp_reset_name(dccp->reset_code));
}
