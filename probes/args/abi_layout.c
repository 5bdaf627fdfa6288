/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frozen layout of netobs.h: a script compiled against one release reads the memory of another.  Lines are never
 * changed.  A new field adds a line at the end of its struct, which changes only the SIZE line of that struct and
 * increments NETOBS_ABI_VERSION.
 */
#include <stddef.h>
#include <stdint.h>

#include "probes/netobs.h"

#define STRUCT_SIZE(tag, bytes) _Static_assert(sizeof(struct tag) == (bytes), "struct " #tag " has another size")

/* Offset and size of a field. */
#define FIELD_AT(tag, field, offset, bytes)                                                                    \
	_Static_assert(offsetof(struct tag, field) == (offset), "struct " #tag ": " #field " has moved");      \
	_Static_assert(sizeof(((struct tag *)0)->field) == (bytes), "struct " #tag ": " #field " has another size")

#define SAME_TYPE(ours, standard) \
	_Static_assert(_Generic((ours)0, standard : 1, default : 0), #ours " is not " #standard)

SAME_TYPE(netobs_u8, uint8_t);
SAME_TYPE(netobs_u16, uint16_t);
SAME_TYPE(netobs_u32, uint32_t);
SAME_TYPE(netobs_u64, uint64_t);
SAME_TYPE(netobs_i8, int8_t);
SAME_TYPE(netobs_i32, int32_t);
SAME_TYPE(netobs_i64, int64_t);
SAME_TYPE(netobs_ptr, uint64_t);
_Static_assert(sizeof(void *) <= sizeof(netobs_ptr), "an address does not fit");

STRUCT_SIZE(pktinfo, 88);
FIELD_AT(pktinfo, pkt_addr, 0, 8);
FIELD_AT(pktinfo, pkt_ts, 8, 8);
FIELD_AT(pktinfo, pkt_len, 16, 4);
FIELD_AT(pktinfo, pkt_caplen, 20, 4);
FIELD_AT(pktinfo, pkt_data, 24, 8);
FIELD_AT(pktinfo, pkt_link, 32, 4);
FIELD_AT(pktinfo, pkt_csum, 36, 12);
FIELD_AT(pktinfo, pkt_reason, 48, 32);
FIELD_AT(pktinfo, pkt_seq, 80, 8);

STRUCT_SIZE(csinfo, 64);
FIELD_AT(csinfo, cs_addr, 0, 8);
FIELD_AT(csinfo, cs_cid, 8, 8);
FIELD_AT(csinfo, cs_pid, 16, 4);
FIELD_AT(csinfo, cs_zoneid, 24, 8);
FIELD_AT(csinfo, cs_ts, 32, 8);
FIELD_AT(csinfo, cs_seq, 40, 8);
FIELD_AT(csinfo, cs_comm, 48, 16);

STRUCT_SIZE(ipinfo, 100);
FIELD_AT(ipinfo, ip_ver, 0, 1);
FIELD_AT(ipinfo, ip_plength, 4, 4);
FIELD_AT(ipinfo, ip_saddr, 8, 46);
FIELD_AT(ipinfo, ip_daddr, 54, 46);

STRUCT_SIZE(illinfo, 40);
FIELD_AT(illinfo, if_name, 0, 16);
FIELD_AT(illinfo, if_local, 16, 1);
FIELD_AT(illinfo, if_ipstack, 24, 8);
FIELD_AT(illinfo, if_addr, 32, 8);

STRUCT_SIZE(ifinfo, 40);
FIELD_AT(ifinfo, if_name, 0, 16);
FIELD_AT(ifinfo, if_local, 16, 1);
FIELD_AT(ifinfo, if_ipstack, 24, 8);
FIELD_AT(ifinfo, if_addr, 32, 8);

STRUCT_SIZE(etherinfo, 72);
FIELD_AT(etherinfo, eth_dst, 0, 6);
FIELD_AT(etherinfo, eth_src, 6, 6);
FIELD_AT(etherinfo, eth_type, 12, 2);
FIELD_AT(etherinfo, eth_istagged, 14, 1);
FIELD_AT(etherinfo, eth_priority, 15, 1);
FIELD_AT(etherinfo, eth_dei, 16, 1);
FIELD_AT(etherinfo, eth_vlanid, 18, 2);
FIELD_AT(etherinfo, eth_header, 24, 8);
FIELD_AT(etherinfo, eth_shost, 32, 18);
FIELD_AT(etherinfo, eth_dhost, 50, 18);
FIELD_AT(etherinfo, eth_length, 68, 4);

STRUCT_SIZE(arpinfo, 96);
FIELD_AT(arpinfo, arp_htype, 0, 2);
FIELD_AT(arpinfo, arp_ptype, 2, 2);
FIELD_AT(arpinfo, arp_hlen, 4, 1);
FIELD_AT(arpinfo, arp_plen, 5, 1);
FIELD_AT(arpinfo, arp_op, 6, 2);
FIELD_AT(arpinfo, arp_opstr, 8, 20);
FIELD_AT(arpinfo, arp_sha, 28, 18);
FIELD_AT(arpinfo, arp_tha, 46, 18);
FIELD_AT(arpinfo, arp_spa, 64, 16);
FIELD_AT(arpinfo, arp_tpa, 80, 16);

STRUCT_SIZE(ipv4info, 80);
FIELD_AT(ipv4info, ipv4_ver, 0, 1);
FIELD_AT(ipv4info, ipv4_ihl, 1, 1);
FIELD_AT(ipv4info, ipv4_tos, 2, 1);
FIELD_AT(ipv4info, ipv4_length, 4, 2);
FIELD_AT(ipv4info, ipv4_ident, 6, 2);
FIELD_AT(ipv4info, ipv4_flags, 8, 1);
FIELD_AT(ipv4info, ipv4_offset, 10, 2);
FIELD_AT(ipv4info, ipv4_ttl, 12, 1);
FIELD_AT(ipv4info, ipv4_protocol, 13, 1);
FIELD_AT(ipv4info, ipv4_protostr, 14, 16);
FIELD_AT(ipv4info, ipv4_checksum, 30, 2);
FIELD_AT(ipv4info, ipv4_src, 32, 4);
FIELD_AT(ipv4info, ipv4_dst, 36, 4);
FIELD_AT(ipv4info, ipv4_saddr, 40, 16);
FIELD_AT(ipv4info, ipv4_daddr, 56, 16);
FIELD_AT(ipv4info, ipv4_hdr, 72, 8);

STRUCT_SIZE(ipv6info, 152);
FIELD_AT(ipv6info, ipv6_ver, 0, 1);
FIELD_AT(ipv6info, ipv6_tclass, 1, 1);
FIELD_AT(ipv6info, ipv6_flow, 4, 4);
FIELD_AT(ipv6info, ipv6_plen, 8, 2);
FIELD_AT(ipv6info, ipv6_nexthdr, 10, 1);
FIELD_AT(ipv6info, ipv6_nextstr, 11, 16);
FIELD_AT(ipv6info, ipv6_hlim, 27, 1);
FIELD_AT(ipv6info, ipv6_src, 32, 8);
FIELD_AT(ipv6info, ipv6_dst, 40, 8);
FIELD_AT(ipv6info, ipv6_saddr, 48, 46);
FIELD_AT(ipv6info, ipv6_daddr, 94, 46);
FIELD_AT(ipv6info, ipv6_hdr, 144, 8);

STRUCT_SIZE(icmpinfo, 304);
FIELD_AT(icmpinfo, icmp_version, 0, 1);
FIELD_AT(icmpinfo, icmp_type, 1, 1);
FIELD_AT(icmpinfo, icmp_code, 2, 1);
FIELD_AT(icmpinfo, icmp_checksum, 4, 2);
FIELD_AT(icmpinfo, icmp_echo_id, 6, 2);
FIELD_AT(icmpinfo, icmp_echo_seq, 8, 2);
FIELD_AT(icmpinfo, icmp_pmtu_update, 12, 4);
FIELD_AT(icmpinfo, icmp_redirect_gateway, 16, 46);
FIELD_AT(icmpinfo, icmp_param_problem_ptr, 64, 4);
FIELD_AT(icmpinfo, icmp_error_sport, 68, 2);
FIELD_AT(icmpinfo, icmp_error_dport, 70, 2);
FIELD_AT(icmpinfo, icmp_error_ip_hdr, 72, 8);
FIELD_AT(icmpinfo, icmp_error_ip6_hdr, 80, 8);
FIELD_AT(icmpinfo, icmp6_nd_target, 88, 46);
FIELD_AT(icmpinfo, icmp_hdr, 136, 8);
FIELD_AT(icmpinfo, icmp_typestr, 144, 32);
FIELD_AT(icmpinfo, icmp_codestr, 176, 32);
FIELD_AT(icmpinfo, icmp_error_saddr, 208, 46);
FIELD_AT(icmpinfo, icmp_error_daddr, 254, 46);
FIELD_AT(icmpinfo, icmp_error_protocol, 300, 1);

STRUCT_SIZE(tcpinfo, 64);
FIELD_AT(tcpinfo, tcp_sport, 0, 2);
FIELD_AT(tcpinfo, tcp_dport, 2, 2);
FIELD_AT(tcpinfo, tcp_seq, 4, 4);
FIELD_AT(tcpinfo, tcp_ack, 8, 4);
FIELD_AT(tcpinfo, tcp_offset, 12, 1);
FIELD_AT(tcpinfo, tcp_flags, 13, 1);
FIELD_AT(tcpinfo, tcp_window, 14, 2);
FIELD_AT(tcpinfo, tcp_checksum, 16, 2);
FIELD_AT(tcpinfo, tcp_urgent, 18, 2);
FIELD_AT(tcpinfo, tcp_hdr, 24, 8);
FIELD_AT(tcpinfo, tcp_payload, 32, 4);
FIELD_AT(tcpinfo, tcp_flagstr, 36, 24);

STRUCT_SIZE(tcpsinfo, 280);
FIELD_AT(tcpsinfo, tcps_addr, 0, 8);
FIELD_AT(tcpsinfo, tcps_local, 8, 4);
FIELD_AT(tcpsinfo, tcps_active, 12, 4);
FIELD_AT(tcpsinfo, tcps_lport, 16, 2);
FIELD_AT(tcpsinfo, tcps_rport, 18, 2);
FIELD_AT(tcpsinfo, tcps_laddr, 20, 46);
FIELD_AT(tcpsinfo, tcps_raddr, 66, 46);
FIELD_AT(tcpsinfo, tcps_state, 112, 4);
FIELD_AT(tcpsinfo, tcps_iss, 116, 4);
FIELD_AT(tcpsinfo, tcps_irs, 120, 4);
FIELD_AT(tcpsinfo, tcps_suna, 124, 4);
FIELD_AT(tcpsinfo, tcps_snxt, 128, 4);
FIELD_AT(tcpsinfo, tcps_rnxt, 132, 4);
FIELD_AT(tcpsinfo, tcps_rack, 136, 4);
FIELD_AT(tcpsinfo, tcps_swnd, 140, 4);
FIELD_AT(tcpsinfo, tcps_rwnd, 144, 4);
FIELD_AT(tcpsinfo, tcps_snd_ws, 148, 4);
FIELD_AT(tcpsinfo, tcps_rcv_ws, 152, 4);
FIELD_AT(tcpsinfo, tcps_cwnd, 156, 4);
FIELD_AT(tcpsinfo, tcps_cwnd_ssthresh, 160, 4);
FIELD_AT(tcpsinfo, tcps_sack_fack, 164, 4);
FIELD_AT(tcpsinfo, tcps_sack_snxt, 168, 4);
FIELD_AT(tcpsinfo, tcps_rto, 172, 4);
FIELD_AT(tcpsinfo, tcps_mss, 176, 4);
FIELD_AT(tcpsinfo, tcps_retransmit, 180, 4);
FIELD_AT(tcpsinfo, tcps_rtt, 184, 4);
FIELD_AT(tcpsinfo, tcps_rtt_sd, 188, 4);
FIELD_AT(tcpsinfo, tcps_srtt_us, 192, 4);
FIELD_AT(tcpsinfo, tcps_statestr, 196, 20);
FIELD_AT(tcpsinfo, tcps_snd_bytes, 216, 8);
FIELD_AT(tcpsinfo, tcps_rcv_bytes, 224, 8);
FIELD_AT(tcpsinfo, tcps_snd_segs, 232, 8);
FIELD_AT(tcpsinfo, tcps_rcv_segs, 240, 8);
FIELD_AT(tcpsinfo, tcps_snd_retrans, 248, 8);
FIELD_AT(tcpsinfo, tcps_rcv_retrans, 256, 8);
FIELD_AT(tcpsinfo, tcps_start, 264, 8);
FIELD_AT(tcpsinfo, tcps_kernel, 272, 4);

STRUCT_SIZE(tcpnsinfo, 280);
FIELD_AT(tcpnsinfo, tcps_addr, 0, 8);
FIELD_AT(tcpnsinfo, tcps_local, 8, 4);
FIELD_AT(tcpnsinfo, tcps_active, 12, 4);
FIELD_AT(tcpnsinfo, tcps_lport, 16, 2);
FIELD_AT(tcpnsinfo, tcps_rport, 18, 2);
FIELD_AT(tcpnsinfo, tcps_laddr, 20, 46);
FIELD_AT(tcpnsinfo, tcps_raddr, 66, 46);
FIELD_AT(tcpnsinfo, tcps_state, 112, 4);
FIELD_AT(tcpnsinfo, tcps_iss, 116, 4);
FIELD_AT(tcpnsinfo, tcps_irs, 120, 4);
FIELD_AT(tcpnsinfo, tcps_suna, 124, 4);
FIELD_AT(tcpnsinfo, tcps_snxt, 128, 4);
FIELD_AT(tcpnsinfo, tcps_rnxt, 132, 4);
FIELD_AT(tcpnsinfo, tcps_rack, 136, 4);
FIELD_AT(tcpnsinfo, tcps_swnd, 140, 4);
FIELD_AT(tcpnsinfo, tcps_rwnd, 144, 4);
FIELD_AT(tcpnsinfo, tcps_snd_ws, 148, 4);
FIELD_AT(tcpnsinfo, tcps_rcv_ws, 152, 4);
FIELD_AT(tcpnsinfo, tcps_cwnd, 156, 4);
FIELD_AT(tcpnsinfo, tcps_cwnd_ssthresh, 160, 4);
FIELD_AT(tcpnsinfo, tcps_sack_fack, 164, 4);
FIELD_AT(tcpnsinfo, tcps_sack_snxt, 168, 4);
FIELD_AT(tcpnsinfo, tcps_rto, 172, 4);
FIELD_AT(tcpnsinfo, tcps_mss, 176, 4);
FIELD_AT(tcpnsinfo, tcps_retransmit, 180, 4);
FIELD_AT(tcpnsinfo, tcps_rtt, 184, 4);
FIELD_AT(tcpnsinfo, tcps_rtt_sd, 188, 4);
FIELD_AT(tcpnsinfo, tcps_srtt_us, 192, 4);
FIELD_AT(tcpnsinfo, tcps_statestr, 196, 20);
FIELD_AT(tcpnsinfo, tcps_snd_bytes, 216, 8);
FIELD_AT(tcpnsinfo, tcps_rcv_bytes, 224, 8);
FIELD_AT(tcpnsinfo, tcps_snd_segs, 232, 8);
FIELD_AT(tcpnsinfo, tcps_rcv_segs, 240, 8);
FIELD_AT(tcpnsinfo, tcps_snd_retrans, 248, 8);
FIELD_AT(tcpnsinfo, tcps_rcv_retrans, 256, 8);
FIELD_AT(tcpnsinfo, tcps_start, 264, 8);
FIELD_AT(tcpnsinfo, tcps_kernel, 272, 4);

STRUCT_SIZE(tcplsinfo, 24);
FIELD_AT(tcplsinfo, tcps_state, 0, 4);
FIELD_AT(tcplsinfo, tcps_statestr, 4, 20);

STRUCT_SIZE(tcprinfo, 32);
FIELD_AT(tcprinfo, tcpr_kind, 0, 4);
FIELD_AT(tcprinfo, tcpr_kindstr, 4, 16);
FIELD_AT(tcprinfo, tcpr_count, 20, 4);
FIELD_AT(tcprinfo, tcpr_elapsed_us, 24, 8);

STRUCT_SIZE(tcpfinfo, 24);
FIELD_AT(tcpfinfo, tcpf_len, 0, 4);
FIELD_AT(tcpfinfo, tcpf_seq, 4, 4);
FIELD_AT(tcpfinfo, tcpf_peer_cid, 8, 8);
FIELD_AT(tcpfinfo, tcpf_peer_pid, 16, 4);

STRUCT_SIZE(udpinfo, 152);
FIELD_AT(udpinfo, udp_sport, 0, 2);
FIELD_AT(udpinfo, udp_dport, 2, 2);
FIELD_AT(udpinfo, udp_length, 4, 2);
FIELD_AT(udpinfo, udp_checksum, 6, 2);
FIELD_AT(udpinfo, udp_hdr, 8, 8);
FIELD_AT(udpinfo, udps_addr, 16, 8);
FIELD_AT(udpinfo, udps_lport, 24, 2);
FIELD_AT(udpinfo, udps_rport, 26, 2);
FIELD_AT(udpinfo, udps_laddr, 28, 46);
FIELD_AT(udpinfo, udps_raddr, 74, 46);
FIELD_AT(udpinfo, udps_snd_bytes, 120, 8);
FIELD_AT(udpinfo, udps_rcv_bytes, 128, 8);
FIELD_AT(udpinfo, udps_snd_datagrams, 136, 8);
FIELD_AT(udpinfo, udps_rcv_datagrams, 144, 8);

STRUCT_SIZE(sctpinfo, 32);
FIELD_AT(sctpinfo, sctp_sport, 0, 2);
FIELD_AT(sctpinfo, sctp_dport, 2, 2);
FIELD_AT(sctpinfo, sctp_verify, 4, 4);
FIELD_AT(sctpinfo, sctp_checksum, 8, 4);
FIELD_AT(sctpinfo, sctp_hdr, 16, 8);
FIELD_AT(sctpinfo, sctp_chunk_type, 24, 4);
FIELD_AT(sctpinfo, sctp_chunk_count, 28, 4);

STRUCT_SIZE(sctpsinfo, 488);
FIELD_AT(sctpsinfo, sctps_addr, 0, 8);
FIELD_AT(sctpsinfo, sctps_num_raddrs, 8, 4);
FIELD_AT(sctpsinfo, sctps_raddrs, 12, 184);
FIELD_AT(sctpsinfo, sctps_num_laddrs, 196, 4);
FIELD_AT(sctpsinfo, sctps_laddrs, 200, 184);
FIELD_AT(sctpsinfo, sctps_lport, 384, 2);
FIELD_AT(sctpsinfo, sctps_rport, 386, 2);
FIELD_AT(sctpsinfo, sctps_laddr, 388, 46);
FIELD_AT(sctpsinfo, sctps_raddr, 434, 46);
FIELD_AT(sctpsinfo, sctps_state, 480, 4);

STRUCT_SIZE(sctplsinfo, 4);
FIELD_AT(sctplsinfo, sctps_state, 0, 4);

STRUCT_SIZE(sockinfo, 152);
FIELD_AT(sockinfo, so_family, 0, 4);
FIELD_AT(sockinfo, so_type, 4, 4);
FIELD_AT(sockinfo, so_protocol, 8, 4);
FIELD_AT(sockinfo, so_laddr, 12, 46);
FIELD_AT(sockinfo, so_raddr, 58, 46);
FIELD_AT(sockinfo, so_lport, 104, 2);
FIELD_AT(sockinfo, so_rport, 106, 2);
FIELD_AT(sockinfo, so_bytes, 108, 4);
FIELD_AT(sockinfo, so_offset, 112, 8);
FIELD_AT(sockinfo, so_pid, 120, 4);
FIELD_AT(sockinfo, so_uid, 128, 8);
FIELD_AT(sockinfo, so_execname, 136, 16);

STRUCT_SIZE(conninfo, 144);
FIELD_AT(conninfo, ci_local, 0, 46);
FIELD_AT(conninfo, ci_remote, 46, 46);
FIELD_AT(conninfo, ci_protocol, 92, 12);
FIELD_AT(conninfo, ci_lport, 104, 2);
FIELD_AT(conninfo, ci_rport, 106, 2);
FIELD_AT(conninfo, ci_cid, 112, 8);
FIELD_AT(conninfo, ci_pkt, 120, 8);
FIELD_AT(conninfo, ci_ts, 128, 8);
FIELD_AT(conninfo, ci_seq, 136, 8);

STRUCT_SIZE(iscsiinfo, 504);
FIELD_AT(iscsiinfo, ii_target, 0, 224);
FIELD_AT(iscsiinfo, ii_initiator, 224, 224);
FIELD_AT(iscsiinfo, ii_lun, 448, 8);
FIELD_AT(iscsiinfo, ii_itt, 456, 4);
FIELD_AT(iscsiinfo, ii_ttt, 460, 4);
FIELD_AT(iscsiinfo, ii_cmdsn, 464, 4);
FIELD_AT(iscsiinfo, ii_statsn, 468, 4);
FIELD_AT(iscsiinfo, ii_datasn, 472, 4);
FIELD_AT(iscsiinfo, ii_datalen, 476, 4);
FIELD_AT(iscsiinfo, ii_flags, 480, 4);
FIELD_AT(iscsiinfo, ii_status, 484, 4);
FIELD_AT(iscsiinfo, ii_response, 488, 4);
FIELD_AT(iscsiinfo, ii_opcode, 492, 4);
FIELD_AT(iscsiinfo, ii_offset, 496, 4);
FIELD_AT(iscsiinfo, ii_xferlen, 500, 4);

STRUCT_SIZE(iscsicmd, 64);
FIELD_AT(iscsicmd, ic_len, 0, 8);
FIELD_AT(iscsicmd, ic_cdb, 8, 8);
FIELD_AT(iscsicmd, ic_opcode, 16, 4);
FIELD_AT(iscsicmd, ic_opstr, 20, 28);
FIELD_AT(iscsicmd, ic_cdb16, 48, 16);
