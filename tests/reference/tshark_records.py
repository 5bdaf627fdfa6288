#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares connection records with tshark's tables of conversations (-z conv,tcp -z conv,udp).

usage: tshark_records.py NETOBSD CAPTURES TRUTH [SHARED] [--few] [--write | --accept]

tshark_classes.py says which captures are compared and what the options do.  Compared are the TCP and UDP connections that
either lists, and of each the frames and the bytes of frames in both directions; and the client, if tshark has a SYN or SYN,ACK
of it.  tshark rounds the bytes of its tables, so they are summed up from the lengths of the same frames, whose number must be
that of the table.  A difference belongs to one of the classes of class_of(), each with its reason in tshark_records.tsv."""
import collections
import hashlib
import itertools
import json
import math
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import tshark_classes  # noqa: E402

FIELDS = ("frame.number", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.protocols", "ip.src", "ip.dst", "ipv6.src",
          "ipv6.dst", "tcp.stream", "tcp.srcport", "tcp.dstport", "tcp.flags", "udp.stream", "udp.srcport", "udp.dstport",
          "ip.id", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "ip.flags.mf", "ip.frag_offset", "ipv6.fraghdr.nxt",
          "tcp.options.timestamp.tsval", "_ws.malformed")
SAME = ("ip.src", "ip.id", "tcp.stream", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.flags", "tcp.options.timestamp.tsval")
ROW = re.compile(r"^(\S+):(\d+)\s+<->\s+(\S+):(\d+)\s+(\d+) [\d,]+ \w+\s+(\d+) [\d,]+ \w+\s+")
IGNORED = re.compile(r'"pkt_reason":"tcp-((syn|rst|ack|outside|old)-|flags")')
DAMAGED = '"pkt_reason":"checksum-wrong"'
FRAME = re.compile(r'"pkt_addr":(\d+),')
FIN, SYN, RST, ACK = 1, 2, 4, 16
# Sets of frames that tshark counts and netobs does not, in the order in which they are tried.
SETS = ("unreadable", "fragment", "tunnel", "undelivered", "damaged", "ignored", "duplicate", "after", "stray")

Frame = collections.namedtuple("Frame", ("number", "time", "end", "length", "marks"))


class Conversation:
    """The frames and bytes of both directions: index 0 is the end that sorts first."""

    def __init__(self):
        self.frames, self.bytes, self.opener, self.packets = [0, 0], [0, 0], None, []

    def add(self, frame):
        self.frames[frame.end] += 1
        self.bytes[frame.end] += frame.length
        self.packets.append(frame)


def key_of(proto, first, second):
    """The same for both directions, and the index of `first`."""
    low, high = sorted((first, second))
    return (proto, low, high), 0 if first == low else 1


def transports_of(row):
    """(protocol, stream, source, target, TCP flags) of each TCP and UDP header of a frame, without those that ICMP quotes.
    In a tunnel, fields have a value for each header."""
    values = {name: row[name].split(",") for name in FIELDS}
    seen = collections.Counter()
    version = None
    for layer in row["frame.protocols"].split(":"):
        if layer.startswith("icmp"):
            return
        if layer in ("ip", "ipv6"):
            version = layer
        if layer in ("tcp", "udp") and version and values[layer + ".stream"][0] and seen[layer] < len(
                values[layer + ".stream"]):
            at, ip = seen[layer], seen[version] - 1
            flags = int((values["tcp.flags"] + [""] * at)[at] or "0", 16) if layer == "tcp" else 0
            source, target = ((values[f"{version}.{side}"][ip], values[f"{layer}.{side}port"][at])
                              for side in ("src", "dst"))
            yield layer, values[layer + ".stream"][at], source, target, flags
        seen[layer] += 1


def flags_of(row):
    return int(row["tcp.flags"].rsplit(",", 1)[-1] or "10", 16)  # UDP has no flags that count


def is_sequenced(row):
    """Whether the frame has sequence space, so that a retransmission has another TSval than its first copy."""
    return (row["tcp.len"].rsplit(",", 1)[-1] or "0") != "0" or flags_of(row) & (SYN | FIN)


def marks_of(row, known):
    """What is unusual about a frame.  `known`: the numbers of frames before."""
    layers, same = row["frame.protocols"].split(":"), tuple(row[field] for field in SAME)
    if layers.count("ip") + layers.count("ipv6") > 1:
        yield "tunnel"
    if "1" in row["ip.flags.mf"] or re.search("[1-9]", row["ip.frag_offset"]) or row["ipv6.fraghdr.nxt"]:
        yield "fragment"
    if same in known and (row["ip.id"] not in ("", "0x0000") or (row[SAME[-1]] and is_sequenced(row))):
        yield "duplicate"
    flags = flags_of(row)
    if flags & RST or not flags & (SYN | ACK):
        yield "stray"
    known.add(same)


def add_frame(found, row, known):
    marks = frozenset(marks_of(row, known))
    time = float(row["frame.time_epoch"] or 0)  # a Simple Packet Block has no time
    for proto, stream, source, target, flags in transports_of(row):
        key, end = key_of(proto, source, target)
        conversation = found[key].setdefault(stream, Conversation())
        conversation.add(Frame(int(row["frame.number"]), time, end, int(row["frame.len"]), marks))
        if flags & SYN and conversation.opener is None:
            conversation.opener = 1 - end if flags & ACK else end


def run_tshark(path):
    """Key -> conversations by stream, from the frames; key -> frames in both directions of each, from the tables."""
    command = ["tshark", "-n", "-r", path, "-z", "conv,tcp", "-z", "conv,udp", "-Y", "tcp or udp", "-T", "fields",
               "-E", "occurrence=a", "-E", "aggregator=,"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          env=dict(os.environ, TZ="UTC", LC_ALL="C"))
    found, tables = collections.defaultdict(dict), collections.defaultdict(list)
    proto, known = None, set()
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        values, row = line.split("\t"), ROW.match(line)
        if len(values) == len(FIELDS):
            add_frame(found, dict(zip(FIELDS, values)), known)
        elif line.endswith(" Conversations"):
            proto = line.split()[0].lower()
        elif row:
            key, end = key_of(proto, (row[1], row[2]), (row[3], row[4]))
            counts = [int(row[6]), int(row[5])]
            tables[key].append(counts if end == 0 else counts[::-1])
    return found, tables


class Ours:
    """The records of a capture: by key in order of their start, and of each frame whether netobs has sent and ignored it."""

    def __init__(self, netobsd, path, scratch):
        self.records, self.sent, self.ignored, self.damaged = collections.defaultdict(list), set(), set(), set()
        target = os.path.join(scratch, "records-" + hashlib.sha1(path.encode()).hexdigest())
        done = subprocess.run([netobsd, "-r", path, "--view", "both", "--format", "json", "--records=" + target, "--summary",
                               "--print=tcp-send,udp-send"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            number = int(FRAME.search(line).group(1))
            self.sent.add(number)
            if IGNORED.search(line):
                self.ignored.add(number)
            elif DAMAGED in line:
                self.damaged.add(number)
        read = re.search(r"^frames (\d+)$", done.stderr.decode("utf-8", "replace"), re.M)
        self.frames = int(read[1]) if read else 0
        if os.path.exists(target):
            with open(target, encoding="utf-8") as file:
                for row in sorted((json.loads(line) for line in file), key=lambda row: row["cr_start"]):
                    self.add(row)

    def add(self, row):
        proto = row["cr_protostr"].lower()
        client, server = ((row["cr_" + end], str(row[f"cr_{end}_port"])) for end in ("client", "server"))
        key, at = key_of(proto, client, server)
        conversation = Conversation()
        for end, name in ((at, "client"), (1 - at, "server")):
            conversation.frames[end], conversation.bytes[end] = row[f"cr_{name}_segments"], row[f"cr_{name}_wire"]
        conversation.start, conversation.end = row["cr_start"] / 1e9, row["cr_end"] / 1e9
        conversation.opener = at
        if proto in ("tcp", "udp"):
            self.records[key].append(conversation)

    def sets_of(self, key, packets):
        """Which of SETS each frame belongs to: name -> frame numbers."""
        end = max((record.end for record in self.records.get(key, [])), default=0)
        found = {name: {frame.number for frame in packets if name in frame.marks}
                 for name in ("fragment", "tunnel", "duplicate", "stray")}
        start = min((record.start for record in self.records.get(key, [])), default=math.inf)
        found["stray"] &= {frame.number for frame in packets if frame.time < start - 1e-6}
        numbers = {frame.number for frame in packets}
        found["unreadable"] = {number for number in numbers if number > self.frames}
        found["undelivered"] = numbers - self.sent
        found["ignored"] = numbers & self.ignored
        found["damaged"] = numbers & self.damaged
        found["after"] = {frame.number for frame in packets if end and frame.time > end + 1e-6}
        return {name: frames for name, frames in found.items() if frames}


def total_of(conversations):
    return ([sum(c.frames[end] for c in conversations) for end in (0, 1)],
            [sum(c.bytes[end] for c in conversations) for end in (0, 1)])


def total_without(packets, left_out):
    frames, lengths = [0, 0], [0, 0]
    for frame in packets:
        if frame.number not in left_out:
            frames[frame.end] += 1
            lengths[frame.end] += frame.length
    return frames, lengths


def class_of(sets, packets, wanted):
    """The smallest number of sets of frames without which tshark's sums are those of the records, or None."""
    names = [name for name in SETS if name in sets]
    for count in range(1, len(names) + 1):
        for chosen in itertools.combinations(names, count):
            if total_without(packets, set().union(*(sets[name] for name in chosen))) == wanted:
                return "+".join(chosen)
    return None


def class_of_some(sets, packets, wanted):
    """Whether only some of the frames that look like duplicates are missing."""
    few, _ = total_without(packets, set().union(*sets.values()) if "duplicate" in sets else set())
    most, _ = total_without(packets, set())
    if "duplicate" in sets and all(low <= count <= high for low, count, high in zip(few, wanted[0], most)):
        return "duplicate"
    return None


def compare_ends(key, ours, theirs, result):
    """One pair of ends: their records and tshark's conversations."""
    total, classes, unexplained = result
    mine, packets = ours.records.get(key, []), [frame for their in theirs for frame in their.packets]
    same = len(mine) == len(theirs)
    total["connections"] += max(len(mine), len(theirs))
    alike = [own.frames == their.frames and own.bytes == their.bytes for own, their in zip(mine, theirs)] if same else []
    total["alike"] += sum(alike)
    for own, their in zip(mine, theirs) if same else ():
        if their.opener is not None:
            total["clients"] += 1
            total["clients-alike"] += own.opener == their.opener
            if own.opener != their.opener:
                unexplained.append(f"{key}: client {own.opener}, tshark {their.opener}")
    if same and all(alike):
        return
    if not theirs:
        name = "tshark-none"
    elif total_of(mine) == total_of(theirs):
        name = "divided"
    else:
        sets = ours.sets_of(key, packets)
        name = class_of(sets, packets, total_of(mine)) or class_of_some(sets, packets, total_of(mine))
    if name:
        classes[name] += max(len(mine), len(theirs)) - sum(alike)
    else:
        unexplained.append(f"{key}: netobs {len(mine)} {total_of(mine)}, tshark {len(theirs)} {total_of(theirs)} "
                           f"{ours.sets_of(key, packets)}")


def compare(netobsd, path, scratch):
    """The result for one capture: counts, counts by class, and what belongs to no class."""
    result = total, _, unexplained = collections.Counter(), collections.Counter(), []
    ours, (found, tables) = Ours(netobsd, path, scratch), run_tshark(path)
    if not ours.records and not found:
        return result
    total["captures"] += 1
    for key in sorted(set(ours.records) | set(found)):
        theirs = list(found.get(key, {}).values())
        if sorted(c.frames for c in theirs) == sorted(tables.get(key, [])):
            total["tables"] += 1
        else:
            total["other-tables"] += 1
        compare_ends(key, ours, theirs, result)
    return result


def text(t):
    return (f"{t['captures']} captures, {t['connections']} connections; frames and bytes of {t['alike']} alike, "
            f"{t['differences']} explained differences; client of {t['clients-alike']} of {t['clients']} alike")


if __name__ == "__main__":
    tshark_classes.main("tshark_records", compare, text)
