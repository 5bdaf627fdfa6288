#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tracers_truth.py PROGRAM DIRECTORY: reads DIRECTORY/firings, which --print has printed as JSON, and DIRECTORY/manifest, and
writes there

    count.bt, count.expected    a script for bpftrace that counts the firings of every probe, and what it must print
    values.bt, values.expected  likewise, one that reads arguments
    names, silent               the probes, and those that have not fired
"""
import collections
import json
import sys

program, tmp = sys.argv[1:]
firings = [json.loads(line) for line in open(tmp + "/firings")]
probes = [probe["name"].replace("-", "__") for probe in json.load(open(tmp + "/manifest"))["probes"]]
expected = []
count = collections.Counter(firing["probe"].replace("-", "__") for firing in firings)
script, silent = "", []
for probe in probes:
    # If there may be no packet, the connection has the number, or its record.
    sequence = "((struct connrec *)arg0)->cr_seq" if probe.startswith("connection__") \
        else "((struct csinfo *)arg1)->cs_seq" if any(word in probe for word in ("change", "timeout", "stream__end")) \
        else "((struct pktinfo *)arg0)->pkt_seq"
    numbered = not probe.startswith(("iscsi", "dns", "http", "smb", "tls")) # applications have neither struct
    script += "usdt:%s:netobs:%s { @count[\"%s\"] = count(); %s }\n" % (
        program, probe, probe, "@last[\"%s\"] = max(%s);" % (probe, sequence) if numbered else "")
    if count[probe] == 0:
        silent.append(probe)
        continue
    expected += ["@count[%s]: %d" % (probe, count[probe])]
    expected += ["@last[%s]: %d" % (probe, count[probe])] if numbered else []
open(tmp + "/count.bt", "w").write(script)
open(tmp + "/count.expected", "w").write("".join(line + "\n" for line in sorted(expected)))
open(tmp + "/silent", "w").write(" ".join(silent))
open(tmp + "/names", "w").write("".join(probe + "\n" for probe in sorted(probes)))

# Aggregations: (name, probe, aggregation, [(argument, struct, key field)], (argument, struct, summed field) or None)
questions = [
    ("gld", "gld-send", [(4, "etherinfo", "eth_shost"), (4, "etherinfo", "eth_type")], (0, "pktinfo", "pkt_len")),
    ("frame", "gld-receive", [(0, "pktinfo", "pkt_csum"), (0, "pktinfo", "pkt_link")], (0, "pktinfo", "pkt_caplen")),
    ("arp", "arp-send", [(4, "arpinfo", "arp_opstr"), (4, "arpinfo", "arp_tpa")], None),
    ("rarp", "arp-receive", [(4, "arpinfo", "arp_sha"), (4, "arpinfo", "arp_op")], None),
    ("ip", "ip-send", [(2, "ipinfo", "ip_saddr"), (2, "ipinfo", "ip_daddr")], (2, "ipinfo", "ip_plength")),
    ("ttl", "ip-receive", [(2, "ipinfo", "ip_ver"), (2, "ipinfo", "ip_saddr")], (2, "ipinfo", "ip_plength")),
    ("icmp", "icmp-send", [(4, "icmpinfo", "icmp_typestr"), (4, "icmpinfo", "icmp_code")], None),
    ("ping", "icmp-receive", [(4, "icmpinfo", "icmp_echo_id")], (4, "icmpinfo", "icmp_echo_seq")),
    ("udp", "udp-send", [(3, "udpinfo", "udps_raddr"), (4, "udpinfo", "udp_dport")], (4, "udpinfo", "udp_length")),
    ("stream", "udp-receive", [(1, "csinfo", "cs_cid")], (3, "udpinfo", "udps_rcv_bytes")),
    ("payload", "tcp-send", [(2, "ipinfo", "ip_saddr"), (4, "tcpinfo", "tcp_flagstr")], (4, "tcpinfo", "tcp_payload")),
    ("window", "tcp-receive", [(4, "tcpinfo", "tcp_flags"), (4, "tcpinfo", "tcp_offset")], (4, "tcpinfo", "tcp_window")),
    ("drop", "ip-drop-in", [(0, "pktinfo", "pkt_reason"), (4, "ipv4info", "ipv4_ttl")], None),
    ("deliver", "ip-deliver", [(2, "ipinfo", "ip_daddr")], (2, "ipinfo", "ip_plength")),
    ("again", "tcp-retransmit", [(5, "tcprinfo", "tcpr_kindstr"), (5, "tcprinfo", "tcpr_count")], None),
    ("timer", "tcp-timeout-retransmit", [(3, "tcpsinfo", "tcps_rto")], (5, "tcprinfo", "tcpr_elapsed_us")),
    ("sctp", "sctp-send", [(3, "sctpsinfo", "sctps_state"), (4, "sctpinfo", "sctp_chunk_type")],
        (4, "sctpinfo", "sctp_chunk_count")),
    ("dccp", "dccp-receive", [(4, "dccpinfo", "dccp_typestr"), (4, "dccpinfo", "dccp_seq")], (4, "dccpinfo", "dccp_payload")),
    ("scsi", "iscsi-scsi-command", [(0, "conninfo", "ci_local"), (1, "iscsiinfo", "ii_lun")], (2, "iscsicmd", "ic_len")),
    ("fusion", "tcpf-send", [(4, "tcpfinfo", "tcpf_peer_cid")], (4, "tcpfinfo", "tcpf_len")),
    ("written", "socket-send", [(3, "sockinfo", "so_protocol"), (3, "sockinfo", "so_raddr")], (3, "sockinfo", "so_bytes")),
    ("read", "socket-receive", [(3, "sockinfo", "so_lport")], (3, "sockinfo", "so_offset")),
    ("sequence", "tcp-receive", [(4, "tcpinfo", "tcp_dport")], (4, "tcpinfo", "tcp_seq")),
]
lines = [
    ("tcp-state-change", "change %lu %lu %s %d %s %d %s", [(1, "csinfo", "cs_cid"), (1, "csinfo", "cs_ts"),
        (5, "tcplsinfo", "tcps_statestr"), (5, "tcplsinfo", "tcps_state"), (2, "tcpsinfo", "tcps_statestr"),
        (3, "tcpsinfo", "tcps_state"), (3, "tcpnsinfo", "tcps_statestr")]),
]
for event in "accept-established", "connect-request", "connect-established", "connect-refused":
    lines += [("tcp-" + event, event + " %lu %s:%d %s:%d %u %lu", [(1, "csinfo", "cs_cid"), (3, "tcpsinfo", "tcps_laddr"),
        (3, "tcpsinfo", "tcps_lport"), (3, "tcpsinfo", "tcps_raddr"), (3, "tcpsinfo", "tcps_rport"),
        (3, "tcpsinfo", "tcps_iss"), (0, "pktinfo", "pkt_addr")])]
lines += [("sctp-state-change", "association %lu %d %d %s", [(1, "csinfo", "cs_cid"), (5, "sctplsinfo", "sctps_state"),
    (3, "sctpsinfo", "sctps_state"), (3, "sctpsinfo", "sctps_laddr")])]
lines += [("tcp-accept-refused", "accept-refused %s %d %s", [(2, "ipinfo", "ip_saddr"), (4, "tcpinfo", "tcp_sport"),
    (4, "tcpinfo", "tcp_flagstr")])]

script, expected = "", []
for name, probe, keys, summed in questions:
    field = lambda f: "((struct %s *)arg%d)->%s" % (f[1], f[0], f[2])
    script += "usdt:%s:netobs:%s { @%s[%s] = %s; }\n" % (program, probe.replace("-", "__"), name,
        ", ".join(map(field, keys)), "sum(%s)" % field(summed) if summed else "count()")
    answer = collections.Counter()
    for args in (firing["args"] for firing in firings if firing["probe"] == probe):
        answer[", ".join(str(args[k[0]][k[2]]) for k in keys)] += args[summed[0]][summed[2]] if summed else 1
    expected += ["@%s[%s]: %d" % (name, key, value) for key, value in answer.items()]
for probe, text, fields in lines:
    script += "usdt:%s:netobs:%s { printf(\"%s\\n\", %s); }\n" % (program, probe.replace("-", "__"), text,
        ", ".join(map(field, fields)))
    expected += [text % tuple(firing["args"][f[0]][f[2]] for f in fields) for firing in firings if firing["probe"] == probe]
# What is NULL for the one must be NULL for the other.
script += "usdt:%s:netobs:tcp__receive /arg1 == 0 && arg3 == 0/ { @no_flow = count(); }\n" % program
script += "usdt:%s:netobs:gld__receive /arg1 == 0 && arg2 == 0/ { @not_ip = count(); }\n" % program
script += "usdt:%s:netobs:tcp__state__change /arg0 == 0 && arg4 == 0/ { @no_packet = count(); }\n" % program
null = lambda probe, position: sum(f["args"][position] is None for f in firings if f["probe"] == probe)
expected += ["@no_flow: %d" % null("tcp-receive", 1), "@not_ip: %d" % null("gld-receive", 2),
    "@no_packet: %d" % null("tcp-state-change", 0)]
open(tmp + "/values.bt", "w").write(script)
open(tmp + "/values.expected", "w").write("".join(line + "\n" for line in sorted(expected)))
