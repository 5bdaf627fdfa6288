#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the header fields of every packet of many captures with tshark's.

usage: tshark_fields.py DUMP_FIELDS CAPTURES [SHARED] [--write | --accept]

DUMP_FIELDS is the test program that prints what netobs dissects.  Compared are the captures of the folder CAPTURES, which the
source tree carries, or with SHARED those of this folder whose content is not among them.  A disagreement that is not explained
in tshark_differences.tsv beside this script (capture, frame, field, reason) fails, and so does an explained one that no longer
occurs.  The counts of the shipped captures must be those of accuracy.expected, the sums of both those of
tests/reference/README.md.  --write prints the list with every disagreement of this run, keeping the reasons there are.
--accept writes the counts of this run into these files, if each disagreement is explained.

Compared is the outermost packet of a frame.  Where tshark gives values of several layers at once, frame.protocols
says which of them come first; a disagreement about the network or the transport layer itself is one disagreement,
not one for each of its fields.
"""
import collections
import csv
import ipaddress
import os
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import accuracy  # noqa: E402

sys.path.append(os.path.join(accuracy.HERE, "records"))
import capture_facts  # noqa: E402

NETWORKS = {"ip": "ipv4", "ipv6": "ipv6", "arp": "arp", "rarp": "arp"}
EXTENSIONS = {"ipv6.hopopts", "ipv6.routing", "ipv6.dstopts", "ipv6.fraghdr", "ah", "shim6", "hip", "mipv6"}
TAGS = {"vlan", "ieee8021ad"}

ETHER = ["eth.dst", "eth.src"]
VLAN = ["vlan.id", "vlan.priority", "vlan.dei"]
FIELDS = {
    "arp": ["arp.hw.type", "arp.proto.type", "arp.hw.size", "arp.proto.size", "arp.opcode", "arp.src.hw_mac",
            "arp.dst.hw_mac", "arp.src.proto_ipv4", "arp.dst.proto_ipv4"],
    "ipv4": ["ip.hdr_len", "ip.dsfield", "ip.len", "ip.id", "ip.flags", "ip.frag_offset", "ip.ttl", "ip.proto",
             "ip.checksum", "ip.src", "ip.dst"],
    "ipv6": ["ipv6.tclass", "ipv6.flow", "ipv6.plen", "ipv6.nxt", "ipv6.hlim", "ipv6.src", "ipv6.dst",
             "ipv6.fraghdr.ident", "ipv6.fraghdr.offset", "ipv6.fraghdr.more"],
    "tcp": ["tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.hdr_len", "tcp.flags",
            "tcp.window_size_value", "tcp.checksum", "tcp.urgent_pointer", "tcp.len", "tcp.options.mss_val",
            "tcp.options.wscale.shift", "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr",
            "tcp.options.sack_le", "tcp.options.sack_re"],
    "udp": ["udp.srcport", "udp.dstport", "udp.length", "udp.checksum"],
    "icmp": ["icmp.type", "icmp.code", "icmp.checksum", "icmp.ident", "icmp.seq", "icmp.redir_gw", "icmp.mtu",
             "quote.src", "quote.dst", "quote.proto"],
    "icmpv6": ["icmpv6.type", "icmpv6.code", "icmpv6.checksum", "icmpv6.echo.identifier",
               "icmpv6.echo.sequence_number", "icmpv6.mtu", "icmpv6.target", "quote.src", "quote.dst"],
    "sctp": ["sctp.srcport", "sctp.dstport", "sctp.verification_tag", "sctp.checksum", "sctp.first_chunk",
             "sctp.chunks"],
    # tshark has no raw name for sequence numbers of 24 bits.
    "dccp": ["dccp.srcport", "dccp.dstport", "dccp.data_offset", "dccp.ccval", "dccp.cscov", "dccp.checksum",
             "dccp.type", "dccp.x", "dccp.seq_raw", "dccp.seq", "dccp.ack_raw", "dccp.service_code",
             "dccp.reset_code"],
}
# Fields that have another name in tshark, or that tshark prints once for each of several.
DERIVED = {"quote.src", "quote.dst", "quote.proto", "icmpv6.target", "sctp.first_chunk", "sctp.chunks"}
TRANSPORTS = [name for name in FIELDS if name not in NETWORKS.values()]
STATUS = {name: name + ".checksum.status" for name in TRANSPORTS}
EXTRA = ["frame.number", "frame.len", "frame.cap_len", "frame.protocols", "eth.type", "vlan.etype", "llc.type",
         "sll.etype", "ieee8021ad.id", "ieee8021ad.priority", "ieee8021ad.dei", "icmpv6.nd.ns.target_address",
         "icmpv6.nd.na.target_address", "icmpv6.nd.rd.target_address", "sctp.chunk_type", "ip.checksum.status"]
ASK = EXTRA + ETHER + VLAN + [f for fields in FIELDS.values() for f in fields if f not in DERIVED] + \
    list(STATUS.values())
OPTIONS = ["ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE",
           "tcp.relative_sequence_numbers:FALSE", "ip.check_checksum:TRUE", "tcp.check_checksum:TRUE",
           "udp.check_checksum:TRUE", "sctp.checksum:CRC-32c", "dccp.check_checksum:TRUE", "dccp.relative_sequence_numbers:FALSE",
           "ip.tso_support:TRUE"]


def plain(value):
    """One spelling for every value: numbers in decimal, addresses in their shortest form."""
    if value in ("True", "False"):
        return str(int(value == "True"))
    try:
        return str(int(value, 0))
    except ValueError:
        pass
    try:
        return str(int(value, 10))
    except ValueError:
        pass
    if ":" in value and value.count(":") != 5 or value.count(".") == 3:
        try:
            return str(ipaddress.ip_address(value))
        except ValueError:
            pass
    return value


class Row(dict):
    """Field -> list of values, of one packet; of a field that tshark does not have, an empty list."""

    def __missing__(self, field):
        return []


def run_tshark(path):
    """Frame number -> Row, for every packet that tshark reads."""
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E",
               "aggregator=;"]
    for option in OPTIONS:
        command += ["-o", option]
    for field in ASK:
        command += ["-e", field]
    environment = dict(os.environ, TZ="UTC", LC_ALL="C")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=False)
    packets = {}
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        values = line.split("\t")
        if len(values) != len(ASK):
            continue
        row = Row((f, v.split(";")) for f, v in zip(ASK, values) if v)
        if row["frame.protocols"] != ["data"]:  # of a link type that it does not read, which a file of its own is refused for
            packets[int(row["frame.number"][0])] = row
    return packets


def block(kind, body):
    """A block of a pcapng file."""
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def write_merged(paths, target):
    """Writes the frames of all these captures into one, because tshark takes longer to start than to read them: what is
    compared of a packet depends on no other packet.  Returns the number of frames of each capture."""
    links, blocks, counts = {}, [], []
    for path in paths:
        with open(path, "rb") as file:
            frames = list(capture_facts.frames(file.read()))
        counts.append(len(frames))
        for link, _, length, data in frames:
            number = links.setdefault(link, len(links))
            blocks.append(block(6, struct.pack("<IIIII", number, 0, 0, len(data), length) + data))
    with open(target, "wb") as file:
        file.write(block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
        file.writelines(block(1, struct.pack("<HHI", link, 0, 0)) for link in links)
        file.writelines(blocks)
    return counts


def run_ours(program, paths):
    """Yields (path, link type, number of packets, libpcap's error, packets by number)."""
    # The program prints one line for each packet and keeps no state, so that one run reads all files.
    done = subprocess.run([program] + paths, stdout=subprocess.PIPE, check=True)
    path, link, packets = None, None, {}
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        words = line.split("\t")
        if words[0] == "file":
            path, link, packets = words[1], words[2], {}
        elif words[0] == "packet":
            packets[int(words[1])] = dict(w.split("=", 1) for w in words[2:])
        elif words[0] == "end":
            yield path, link, int(words[1]), words[2], packets


def outermost(protocols):
    """The layers of frame.protocols: link tokens, the outermost network and its transport."""
    tokens = protocols[0].split(":") if protocols else []
    link, network, transport = [], "none", "none"
    for i, token in enumerate(tokens):
        if token in NETWORKS:
            network = NETWORKS[token]
            for follower in tokens[i + 1:]:
                if follower in EXTENSIONS:
                    continue
                transport = follower if follower in TRANSPORTS else "none"
                break
            break
        link.append(token)
    if network == "arp":
        transport = "none"
    return link, network, transport


def tshark_link(row, link):
    """EtherType after all tags and the outermost tag, as tshark has them."""
    values = {}
    tags = []
    for token in link:
        if token in TAGS:
            tags.append(token)
        elif token not in ("eth", "ethertype", "sll"):
            break
    start = row["sll.etype"] if "sll" in link else row["eth.type"]
    if "llc" in link:
        if row["llc.type"]:
            values["ethertype"] = row["llc.type"][0]
    elif not tags and start:
        values["ethertype"] = start[0]
    elif tags and tags[-1] == "vlan" and len(row["vlan.etype"]) >= tags.count("vlan"):
        values["ethertype"] = row["vlan.etype"][tags.count("vlan") - 1]
    if tags:
        for name in ("id", "priority", "dei"):
            given = row[("vlan." if tags[0] == "vlan" else "ieee8021ad.") + name]
            if given:
                values["vlan." + name] = given[0]
    if "eth" in link:
        for name in ETHER:
            if row[name]:
                values[name] = row[name][0]
    return values


def tshark_transport(row, network, transport):
    values = {}
    for name in FIELDS[transport]:
        if name in DERIVED:
            continue
        given = row[name]
        if name in ("tcp.options.sack_le", "tcp.options.sack_re"):
            if given:
                values[name] = ",".join(given[:4])
        elif given:
            # An option given twice counts the second time.
            values[name] = given[-1] if name.startswith("tcp.options") else given[0]
    if transport == "tcp":
        if "tcp.flags" in values:  # tshark's has the reserved bits as well
            values["tcp.flags"] = str(int(values["tcp.flags"], 0) & 0xff)
    if transport == "icmpv6":
        for kind in ("ns", "na", "rd"):
            given = row["icmpv6.nd.%s.target_address" % kind]
            if given:
                values["icmpv6.target"] = given[0]
    if transport == "icmp" and values.get("icmp.type") not in ("0", "8"):  # those of the quoted packet
        values.pop("icmp.ident", None)
        values.pop("icmp.seq", None)
    if transport in ("icmp", "icmpv6"):
        prefix = "ip" if network == "ipv4" else "ipv6"
        for ours, theirs in (("quote.src", ".src"), ("quote.dst", ".dst"), ("quote.proto", ".proto")):
            given = row.get(prefix + theirs, [])
            if len(given) > 1:
                values[ours] = given[1]
    if transport == "sctp" and row["sctp.chunk_type"]:
        values["sctp.first_chunk"] = row["sctp.chunk_type"][0]
        values["sctp.chunks"] = str(len(row["sctp.chunk_type"]))
    return values


def tshark_checksum(row, transport):
    """The verdict of tshark: 0 bad, 1 good, 2 unverified, 3 not present; "" without a verdict."""
    given = row[STATUS[transport] if transport != "none" else "ip.checksum.status"]
    return {"0": "bad", "1": "ok", "Bad": "bad", "Good": "ok"}.get(given[0] if given else "", "")


def compare(ours, row, count):
    """Yields (field, value of netobs, value of tshark) for each difference."""
    link, network, transport = outermost(row["frame.protocols"])
    pairs = [("frame.len", ours.get("frame.len"), row["frame.len"][0]),
             ("frame.cap_len", ours.get("frame.cap_len"), row["frame.cap_len"][0])]
    theirs = tshark_link(row, link)
    names = ETHER + VLAN
    if "ethertype" in theirs:  # tshark does not show the type after an 802.1ad tag
        names = names + ["ethertype"]
    if ours["network"] != network:
        pairs.append(("network", ours["network"], network))
    else:
        names = names + FIELDS.get(network, [])
        for name in FIELDS.get(network, []):
            if row[name]:
                theirs[name] = row[name][0]
        if ours["fragment"] == "1" and ours["transport"] == "none":  # reassembly comes before the transport
            transport = "none"
        if ours["fragment"] == "0":
            for name in ("ident", "offset", "more"):
                theirs.pop("ipv6.fraghdr." + name, None)
        if ours["transport"] != transport:
            pairs.append(("transport", ours["transport"], transport))
        elif network != "arp" and network != "none":
            if transport != "none":
                names = names + FIELDS[transport]
                theirs.update(tshark_transport(row, network, transport))
            verdict = tshark_checksum(row, transport)
            if verdict:
                mine = ours["checksum"]
                pairs.append(("checksum", "bad" if mine == "partial" else mine, verdict))
    pairs += [(name, ours.get(name), theirs.get(name)) for name in names]
    for name, mine, other in pairs:
        if mine is None and other is None:
            continue
        count[0] += 1
        if mine != other and (mine is None or other is None or plain(mine) != plain(other)):
            yield name, mine, other


def read_explained(path):
    explained = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.reader(file, delimiter="\t"):
                if row and not row[0].startswith("#"):
                    explained[(row[0], int(row[1]), row[2])] = row[3]
    return explained


class Comparison:
    """One set of captures: its counts and its differences."""

    def __init__(self):
        self.total = collections.Counter()
        self.found = {}
        self.names = set()
        self.remarks = []

    def compare(self, program, captures, scratch):
        names = {path: name for name, path in captures}
        self.names = set(names.values())
        count, whole = [0], {}
        for path, link, number, error, packets in run_ours(program, list(names)) if names else ():
            self.remark(names[path], link, number, error)
            if link == "supported" and error:
                self.compare_packets(names[path], packets, run_tshark(path) if packets else {}, count)
            elif link == "supported":
                whole[path] = packets
        merged = os.path.join(scratch, "merged.pcapng")
        frames, first = write_merged(whole, merged), 1
        rows = run_tshark(merged)
        for (path, packets), number in zip(whole.items(), frames):
            if number != len(packets):
                sys.exit(f"{path} has {len(packets)} frames, of which {number} are merged")
            self.compare_packets(names[path], packets, {n: rows[first + n - 1] for n in packets if first + n - 1 in rows}, count)
            first += number
        self.total["fields"] = count[0]
        self.total["differences"] = len(self.found)

    def remark(self, name, link, number, error):
        if link == "-":
            self.total["captures-unreadable"] += 1
            self.remarks.append(f"not readable by libpcap: {name}: {error}")
        elif link != "supported":
            self.total["captures-of-other-link-types"] += 1
            self.total["packets-of-other-link-types"] += number
            self.remarks.append(f"link type not supported: {name}: {link}, {number} packets")
        elif error:
            self.total["captures-broken-off"] += 1
            self.remarks.append(f"read to where libpcap stops: {name}: after {number} packets: {error}")

    def compare_packets(self, name, packets, rows, count):
        self.total["captures"] += 1
        for n, ours in packets.items():
            self.total["packets"] += 1
            if n not in rows:
                self.found[(name, n, "packet")] = (ours["frame.len"], None)
                continue
            self.total["fragments"] += int(ours["fragment"])
            for field, mine, other in compare(ours, rows[n], count):
                self.found[(name, n, field)] = (mine, other)

    def text(self):
        t = self.total
        return (f"{t['captures']} captures, {t['packets']} packets ({t['fragments']} fragments, compared up to IP), "
                f"{t['fields'] - t['differences']} of {t['fields']} fields alike, {t['differences']} differ; "
                f"{t['captures-of-other-link-types']} captures with {t['packets-of-other-link-types']} packets of other "
                f"link types, {t['captures-unreadable']} unreadable, {t['captures-broken-off']} broken off")


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    program, folder, *shared = arguments
    explained = read_explained(os.path.join(accuracy.HERE, "tshark_differences.tsv"))
    comparison = Comparison()
    with tempfile.TemporaryDirectory() as scratch:
        captures = accuracy.captures(folder, scratch)
        known = {accuracy.digest(path) for _, path in captures} if shared else set()
        others = {name for name, _ in captures} if shared else set()
        comparison.compare(program, accuracy.captures(shared[0], scratch, known) if shared else captures, scratch)
    if not comparison.names:
        sys.exit("no capture files in " + arguments[-1])
    found, total = comparison.found, comparison.total
    if "--write" in sys.argv:
        absent = {key for key in explained if key[0] not in comparison.names}
        for key in sorted(absent | set(found)):
            print("%s\t%d\t%s\t%s" % (*key, explained.get(key) or "netobs %s, tshark %s" % found[key]))
        return
    wrong = ["unexplained: %s frame %d %s: netobs %s, tshark %s" % (*key, *found[key])
             for key in sorted(found) if key not in explained]
    wrong += ["explained, but no longer so: %s frame %d %s" % key for key in sorted(explained)
              if key not in found and (key[0] in comparison.names or shared and key[0] not in others)]
    accept = "--accept" in sys.argv and not wrong
    if shared:
        wrong += accuracy.wrong_rows(accuracy.rows_with_shared("tshark", total), accept)
    else:
        if accept:
            accuracy.accept_counts("tshark", dict(total))
        wrong += accuracy.wrong_counts("tshark", dict(total))
    print("\n".join(wrong + comparison.remarks))
    print(("further: " if shared else "shipped: ") + comparison.text())
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
