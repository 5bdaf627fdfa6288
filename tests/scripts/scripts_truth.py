#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the aggregating scripts of scripts/ must print, worked out from the firings of the built-in printer.

    netobsd -r CAPTURE --print --format json | tests/scripts/scripts_truth.py NAME

prints the lines of the maps of script NAME, in any order; nothing and status 3 if it has no entry for the script.

    tests/scripts/scripts_truth.py --each DIRECTORY

does so for each DIRECTORY/NAME.json, with the output in DIRECTORY/NAME.truth, which is missing if there is no entry.
"""
import collections
import json
import pathlib
import sys

FIRINGS = []


def shown(name):
    """A part of a key as netobs(1) shows it: bytes other than printable ASCII as \\xNN, backslashes doubled."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else "\\\\" if byte == 92 else "\\x%02x" % byte
                   for byte in str(name).encode())


def of(*probes):
    """The arguments of each firing of these probes."""
    return (firing["args"] for firing in FIRINGS if firing["probe"] in probes)


class Map:
    """One map of a script: keys with counts, sums, averages or histograms."""

    def __init__(self, name):
        self.name = name
        self.values = collections.defaultdict(list)

    def add(self, key, value=1):
        self.values[key].append(value)

    def label(self, key):
        return "@" + self.name + ("[%s]" % ", ".join(map(shown, key)) if key else "")

    def sums(self):
        return ["%s: %d" % (self.label(key), sum(values)) for key, values in self.values.items()]

    def averages(self):
        return ["%s: %d" % (self.label(key), sum(values) // len(values)) for key, values in self.values.items()]

    def histograms(self):
        """Rows without their bars, empty ones left out."""
        lines = []
        for key, values in self.values.items():
            rows = collections.Counter(value.bit_length() for value in values)
            lines += [self.label(key) + ":"] + ["%s %d" % (bucket(bits), count) for bits, count in rows.items()]
        return lines


def bucket(bits):
    """bpftrace's name of the range of numbers with that many bits."""
    def short(number):
        for unit in "", "K", "M", "G":
            if number < 1024:
                return "%d%s" % (number, unit)
            number //= 1024
        return "?"
    if bits < 2:
        return "[%d]" % bits
    return "[%s, %s)" % (short(2 ** (bits - 1)), short(2 ** bits))


def counted(name, probe, key, value=lambda args: 1):
    result = Map(name)
    for args in of(probe):
        if value(args):
            result.add(key(args), value(args))
    return result


def waits(began, ended):
    """(end's arguments, microseconds) of each connection between two probes."""
    since = {}
    for firing in FIRINGS:
        args = firing["args"]
        if firing["probe"] == began:
            since[args[1]["cs_cid"]] = args[0]["pkt_ts"]
        elif firing["probe"] == ended and args[1] and args[1]["cs_cid"] in since:
            yield args, (args[0]["pkt_ts"] - since.pop(args[1]["cs_cid"])) // 1000


def waited(name, began, ended):
    result = Map(name)
    for args, microseconds in waits(began, ended):
        result.add((args[3]["tcps_raddr"],), microseconds)
    return result


def answers():
    """(arguments, microseconds) of the first byte of each answer since the last byte of its request."""
    asked = {}
    for firing in FIRINGS:
        args = firing["args"]
        if firing["probe"] not in ("tcp-send", "tcp-receive") or not args[1] or not args[4]["tcp_payload"]:
            continue
        cid = args[1]["cs_cid"]
        if firing["probe"] == "tcp-send":
            if args[3]["tcps_active"] == 1 and not args[3]["tcps_retransmit"]:
                asked[cid] = args[0]["pkt_ts"]
        elif cid in asked:
            yield args, (args[0]["pkt_ts"] - asked.pop(cid)) // 1000


def answered(name):
    result = Map(name)
    for args, microseconds in answers():
        result.add((args[3]["tcps_raddr"],), microseconds)
    return result


def rates():
    """Bytes per second after the first segment of each answer, by connection that has ended."""
    result, first = Map("bytes_per_second"), {(args[1]["cs_cid"], args[0]["pkt_addr"]) for args, _ in answers()}
    last, size, spent = {}, collections.Counter(), collections.Counter()
    for firing in FIRINGS:
        args = firing["args"]
        cid = args[1].get("cs_cid") if len(args) > 1 and args[1] else None
        if firing["probe"] == "tcp-receive" and cid and args[4]["tcp_payload"] and args[3]["tcps_active"] == 1:
            if cid in last and (cid, args[0]["pkt_addr"]) not in first:
                size[cid] += args[4]["tcp_payload"]
                spent[cid] += args[0]["pkt_ts"] - last[cid]
            last[cid] = args[0]["pkt_ts"]
        if firing["probe"] == "tcp-state-change" and args[3]["tcps_state"] in (6, 7):
            if spent[cid] >= 1000:
                result.add((args[3]["tcps_raddr"],), size[cid] * 1000000 // (spent[cid] // 1000))
            for values in last, size, spent:
                values.pop(cid, None)
    return result


def outbound():
    return (waited("connect_us", "tcp-connect-request", "tcp-connect-established").averages()
            + answered("answer_us").averages() + rates().averages())


def retransmits():
    result, received, packet = Map("again"), {}, 0
    for firing in FIRINGS:
        args = firing["args"]
        if firing["probe"] not in ("tcp-retransmit", "tcp-receive"):
            continue
        ends = args[2]["ip_saddr"], args[4]["tcp_sport"], args[2]["ip_daddr"], args[4]["tcp_dport"]
        if firing["probe"] == "tcp-retransmit":
            packet = args[0]["pkt_addr"]
            result.add((args[5]["tcpr_kindstr"],) + ends)
        elif args[1]:
            cid, now = args[1]["cs_cid"], args[3]["tcps_rcv_retrans"]
            if now > received.get(cid, now) and packet != args[0]["pkt_addr"]:
                result.add(("received",) + ends)
            received[cid] = now
    return result.sums()


def service(args):
    tcp, active = args[4], args[3]["tcps_active"] if args[3] else -1
    return {1: tcp["tcp_sport"], 0: tcp["tcp_dport"]}.get(active, min(tcp["tcp_sport"], tcp["tcp_dport"]))


def window_closed():
    result, since, never = Map("closed_us"), {}, {}
    for args in of("tcp-send"):
        if args[1] is None or args[4]["tcp_flags"] & 4:
            continue
        cid = args[1]["cs_cid"]
        ends = args[2]["ip_saddr"], args[4]["tcp_sport"], args[2]["ip_daddr"], args[4]["tcp_dport"]
        if args[4]["tcp_window"] == 0:
            since.setdefault(cid, args[0]["pkt_ts"])
            never[ends] = (args[0]["pkt_ts"] - since[cid]) // 1000
        elif cid in since:
            result.add(ends[:2], (args[0]["pkt_ts"] - since.pop(cid)) // 1000)
            del never[ends]
    return result.histograms() + ["%s: %d" % (Map("never_opened").label(ends), lasted) for ends, lasted in never.items()]


def sockets(protocol):
    fields = "so_pid", "so_execname", "so_laddr", "so_lport", "so_raddr", "so_rport"
    return sum((counted(name, probe, lambda a: tuple(a[3][field] for field in fields),
                        lambda a: a[3]["so_bytes"] if a[3]["so_protocol"] == protocol else 0).sums()
                for name, probe in (("sent", "socket-send"), ("received", "socket-receive"))), [])


def size(name, probe):
    result = Map(name)
    for args in of(probe):
        result.add((), args[4]["tcp_payload"])
    return result.histograms()


def quoted(args):
    i = args[4]
    return (i["icmp_typestr"], i["icmp_codestr"], i["icmp_error_protocol"], i["icmp_error_saddr"], i["icmp_error_sport"],
            i["icmp_error_daddr"], i["icmp_error_dport"])


def commands_took():
    result, began = Map("us"), {}
    for firing in FIRINGS:
        args = firing["args"]
        if not firing["probe"].startswith("iscsi-"):
            continue
        command = (args[0]["ci_cid"], args[1]["ii_itt"])
        if firing["probe"] == "iscsi-scsi-command":
            began[command] = (args[0]["ci_ts"], args[2]["ic_opstr"])
        elif firing["probe"] == "iscsi-scsi-response" or (firing["probe"] == "iscsi-data-send"
                                                          and args[1]["ii_flags"] & 1):
            if command in began:
                since, operation = began.pop(command)
                result.add((operation,), (args[0]["ci_ts"] - since) // 1000)
    return result.histograms()


def http_failed(args):
    return args[1]["rq_status"] == 0 or args[1]["rq_status"] >= 400


def requests_took():
    result = Map("us")
    for args in of("http-request-done"):
        if args[1]["rq_total_us"] >= 0:
            result.add((args[1]["rq_status"], args[1]["rq_uri"]), args[1]["rq_total_us"])
    return result.histograms()


def messages():
    result = Map("messages")
    for firing in FIRINGS:
        first = firing["args"][0]
        if first and "ci_remote" in first:
            result.add((first["ci_remote"], first["ci_lport"]))
    return result.sums()


def iscsi_bytes():
    written = counted("written", "iscsi-data-receive", lambda a: (a[0]["ci_remote"],), lambda a: a[1]["ii_datalen"])
    for args in of("iscsi-scsi-command"):
        if args[1]["ii_datalen"]:
            written.add((args[0]["ci_remote"],), args[1]["ii_datalen"])
    return written.sums() + counted("read", "iscsi-data-send", lambda a: (a[0]["ci_remote"],),
                                    lambda a: a[1]["ii_datalen"]).sums()


def logical_unit(args):
    return args[1]["ii_target"], args[1]["ii_lun"]


def answers_took():
    result = Map("us")
    for args in of("dns-response"):
        if args[1]["dns_latency_us"] >= 0:
            result.add((args[1]["dns_qname"],), args[1]["dns_latency_us"])
    return result.histograms()


def handshakes_took():
    result = Map("us")
    for args in of("tls-established"):
        if args[1]["tls_handshake_us"] >= 0:
            ends = (args[0]["ci_lport"], args[0]["ci_local"]), (args[0]["ci_rport"], args[0]["ci_remote"])
            port, address = min(ends, key=lambda end: end[0])
            result.add((address, port), args[1]["tls_handshake_us"])
    return result.histograms()


def operations_took():
    result = Map("us")
    for args in of("smb-op-done"):
        if args[1]["soi_latency_us"] >= 0:
            result.add((args[1]["soi_opstr"],), args[1]["soi_latency_us"])
    return result.histograms()


def transferred(args):
    return args[1]["soi_count"] if args[1]["soi_opstr"] in ("read", "write") else 0


def failed_answers():
    maps = {2: Map("servfail"), 3: Map("nxdomain"), 5: Map("refused")}
    others = Map("others")
    for args in of("dns-response"):
        if args[1]["dns_rcode"] != 0:
            maps.get(args[1]["dns_rcode"], others).add((args[1]["dns_qname"],))
    return sum((result.sums() for result in (*maps.values(), others)), [])


def windows():
    """The scaled windows that timeline prints, in order."""
    return [str(args[4]["tcp_window"] << (0 if args[4]["tcp_flags"] & 2 else max(args[3]["tcps_rcv_ws"], 0)))
            for args in of("tcp-send")]


SCRIPTS = {
    "appwho": messages,
    "dnsfailed": failed_answers,
    "dnsslow": answers_took,
    "dnsunanswered": lambda: counted("unanswered", "dns-timeout", lambda a: (a[1]["dns_qname"],)).sums(),
    "httpfailed": lambda: counted("clients", "http-request-done", lambda a: (a[0]["ci_remote"],), http_failed).sums()
    + counted("failed", "http-request-done", lambda a: (a[1]["rq_status"], a[1]["rq_uri"]), http_failed).sums(),
    "httplatency": requests_took,
    "httpwho": lambda: counted("requests", "http-request-done", lambda a: (a[0]["ci_remote"], a[1]["rq_status"])).sums(),
    "smbfailed": lambda: counted("failed", "smb-op-done", lambda a: (
        a[0]["ci_remote"], a[1]["soi_opstr"], a[1]["soi_statusstr"]),
        lambda a: a[1]["soi_status"] >= 0xc0000000 and a[1]["soi_status"] != 0xc0000016).sums(),
    "smbfiles": lambda: counted("shares", "smb-op-done", lambda a: (a[1]["soi_share"], a[1]["soi_opstr"]), transferred).sums()
    + counted("files", "smb-op-done", lambda a: (a[1]["soi_curpath"],), transferred).sums(),
    "smbops": operations_took,
    "tlsalerts": lambda: counted("alerts", "tls-alert", lambda a: (
        a[0]["ci_remote"], a[1]["tls_from"], a[1]["tls_alertstr"])).sums(),
    "tlslatency": handshakes_took,
    "tlssni": lambda: counted("hellos", "tls-client-hello", lambda a: (a[1]["tls_sni"],)).sums(),
    "iscsibytes": iscsi_bytes,
    "iscsilatency": commands_took,
    "iscsilun": lambda: counted("commands", "iscsi-scsi-command", logical_unit).sums()
    + counted("bytes", "iscsi-scsi-command", logical_unit, lambda a: a[1]["ii_xferlen"]).sums(),
    "iscsiwho": lambda: counted("commands", "iscsi-scsi-command", lambda a: (
        a[0]["ci_remote"], a[1]["ii_target"])).sums(),
    "drops": lambda: sum((counted(name, probe, lambda a: (a[0]["pkt_reason"], a[2]["ip_saddr"])).sums()
                          for name, probe in (("in", "ip-drop-in"), ("out", "ip-drop-out"))), []),
    "hosts": lambda: counted("from", "ip-receive", lambda a: (a[2]["ip_saddr"],), lambda a: a[2]["ip_plength"]).sums()
    + counted("to", "ip-send", lambda a: (a[2]["ip_daddr"],), lambda a: a[2]["ip_plength"]).sums(),
    "icmperrors": lambda: counted("errors", "icmp-receive", quoted, lambda a: a[4]["icmp_error_saddr"] != "").sums(),
    "ipproto": lambda: counted("packets", "ip-send", lambda a: (
        a[2]["ip_saddr"], a[2]["ip_daddr"], a[4]["ipv4_protostr"] if a[4] else a[5]["ipv6_nextstr"])).sums(),
    "outbound": outbound,
    "refused": lambda: counted("by_me", "tcp-accept-refused", lambda a: (a[4]["tcp_sport"], a[2]["ip_daddr"])).sums()
    + counted("by_others", "tcp-connect-refused", lambda a: (a[2]["ip_saddr"], a[4]["tcp_sport"]),
              lambda a: a[4]["tcp_flags"] != 0).sums()
    + counted("unreachable", "connection-end", lambda a: (
        a[0]["cr_server"], a[0]["cr_server_port"], a[0]["cr_icmp_str"], a[0]["cr_icmp_sender"]),
        lambda a: a[0]["cr_icmp_type"] >= 0).sums(),
    "retransmits": retransmits,
    "scanned": lambda: counted("flags", "tcp-receive", lambda a: (a[2]["ip_saddr"], a[4]["tcp_flagstr"])).sums()
    + counted("ports", "tcp-accept-refused", lambda a: (a[2]["ip_daddr"], a[4]["tcp_sport"])).sums(),
    "services": lambda: counted("tcp_bytes", "tcp-receive", lambda a: (service(a),), lambda a: a[4]["tcp_payload"]).sums()
    + counted("udp_bytes", "udp-receive", lambda a: (min(a[4]["udp_sport"], a[4]["udp_dport"]),),
              lambda a: a[4]["udp_length"] - 8).sums(),
    "tcp1stbyte": lambda: answered("first_byte_us").histograms(),
    "tcp_rwndclosed": window_closed,
    "tcpaccept": lambda: counted("accepted", "tcp-accept-established", lambda a: (
        a[3]["tcps_raddr"], a[3]["tcps_lport"])).sums(),
    "tcpbytes": lambda: counted("sent", "tcp-send", lambda a: (a[2]["ip_daddr"], a[4]["tcp_dport"]),
                                lambda a: a[4]["tcp_payload"]).sums()
    + counted("received", "tcp-receive", lambda a: (a[2]["ip_saddr"], a[4]["tcp_sport"]), lambda a: a[4]["tcp_payload"]).sums(),
    "tcpconnlat": lambda: waited("connect_us", "tcp-connect-request", "tcp-connect-established").histograms(),
    "tcpsize": lambda: size("sent", "tcp-send") + size("received", "tcp-receive"),
    "tcptop": lambda: sockets(6),
    "udptop": lambda: sockets(17),
    "windows": windows,
    "webconn": lambda: counted("connections", "tcp-accept-established", lambda a: (a[3]["tcps_raddr"],),
                               lambda a: a[3]["tcps_lport"] == 80).sums(),
}


def truth(name, lines):
    FIRINGS[:] = map(json.loads, lines)
    return "\n".join(SCRIPTS[name]()) + "\n"


if sys.argv[1] == "--each":
    for path in pathlib.Path(sys.argv[2]).glob("*.json"):
        if path.stem in SCRIPTS:
            with path.open(encoding="utf-8") as firings:
                path.with_suffix(".truth").write_text(truth(path.stem, firings), encoding="utf-8")
elif sys.argv[1] in SCRIPTS:
    print(truth(sys.argv[1], sys.stdin), end="")
else:
    sys.exit(3)
