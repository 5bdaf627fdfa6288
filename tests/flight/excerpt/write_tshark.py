#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Points of write.sh and write_tshark.sh: a capture of --write has the frames that tshark finds, byte for byte.

usage: write_tshark.py NETOBSD CAPTURES DIRECTORY some|more

DIRECTORY has the captures of write_captures.py, and gets those that netobsd writes.  The cases of `some` are in
write.sh, those of `more` in write_tshark.sh.  tshark reads each capture once, because it is slow to start.
"""
import functools
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import capture_frames  # noqa: E402
from points import point  # noqa: E402

FIELDS = ("tcp.stream", "udp.stream", "tcp.flags.reset", "tcp.analysis.retransmission", "udp.dstport", "udp.port",
          "icmp.type", "ip.version", "ipv6.version")
RESET = "x = tcp-send where tcp_flags & RST"
SECOND = 10**9
netobsd, captures, directory, cases = sys.argv[1:]


@functools.cache
def frames(path):
    return capture_frames.read(path)


@functools.cache
def dissect(path):
    """The values of the fields in each frame, as tshark finds them."""
    options = [word for field in FIELDS for word in ("-e", field)]
    lines = subprocess.run(["tshark", "-r", path, "-T", "fields", *options], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=True).stdout.split("\n")[:-1]
    return [{field: set(text.split(",")) - {""} for field, text in zip(FIELDS, line.split("\t"))} for line in lines]


def having(field, *values):
    """Selects the frames with one of these values of a field, or with any."""
    def select(path):
        return [bool(row[field] & set(values) if values else row[field]) for row in dissect(path)]
    return select


def reset(path):
    """Selects the RSTs, but not those that an ICMP error quotes."""
    return [bool(row["tcp.flags.reset"] & {"1", "True"}) and not row["icmp.type"] for row in dissect(path)]


def in_streams(field, begins):
    """Selects the frames of the streams, which `field` numbers, of the frames that `begins` selects."""
    def select(path):
        rows = dissect(path)
        streams = set().union(*(row[field] for row, begin in zip(rows, begins(path)) if begin))
        return [bool(row[field] & streams) for row in rows]
    return select


def record(path, output, probe, *options):
    """Replays the capture; returns netobsd's messages."""
    return subprocess.run([netobsd, "-r", path, *options, "--write", f"{probe}={output}"], capture_output=True,
                          stdin=subprocess.DEVNULL, text=True).stderr


def compare(name, wanted, output, message):
    """The frames of the file are those that are wanted, of which there are some."""
    got = capture_frames.read(output) if os.path.exists(output) else []
    point(name, wanted and got == wanted, message, f"{len(wanted)} frames wanted, {len(got)} recorded",
          *[f"missing: {frame}" for frame in wanted if frame not in got][:5],
          *[f"too many: {frame}" for frame in got if frame not in wanted][:5])


def same(name, path, formula, select):
    """The capture of the formula has the frames that are selected."""
    output = f"{directory}/x.pcapng"
    if os.path.exists(output):
        os.remove(output)
    message = record(path, output, "x", "--formula", formula, "--view", "both")
    compare(name, [frame for frame, chosen in zip(frames(path), select(path)) if chosen], output, message)


def resets(name):
    path = f"{captures}/{name}.pcap"
    same(f"{name}: connections with a RST", path, RESET, in_streams("tcp.stream", reset))


def through_pipe(path):
    """A pipe gives the bytes of the last capture."""
    with open(path, "rb") as file:
        message = subprocess.run([netobsd, "-r", "-", "--formula", "x = udp-send", "--write", f"x={directory}/pipe.pcapng",
                                  "--view", "both"], input=file.read(), capture_output=True).stderr
    with open(f"{directory}/x.pcapng", "rb") as file, open(f"{directory}/pipe.pcapng", "rb") as pipe:
        point("and the same bytes from a pipe", file.read() == pipe.read(), message)


def window(path):
    """Frames before the window belong to the connections; those after it are not read."""
    begin = frames(path)[299].time // SECOND
    end = begin + 60
    times = [frame.time for frame in frames(path)]
    inside = [begin * SECOND <= time < end * SECOND for time in times]
    chosen = in_streams("tcp.stream", lambda of: inside)(path)
    wanted = [frame for frame, of_stream in zip(frames(path), chosen)
              if of_stream and (begin - 600) * SECOND <= frame.time < end * SECOND]
    for output, more in (("window.pcapng", ()), ("beside.pcapng", (f"--records={directory}/window.jsonl",))):
        message = record(path, f"{directory}/{output}", "tcp-send", "--from", str(begin), "--to", str(end), *more)
    with open(f"{directory}/window.pcapng", "rb") as alone, open(f"{directory}/beside.pcapng", "rb") as beside:
        point("with a window, --records changes nothing", alone.read() == beside.read(), message)
    compare("frames of the lead-in belong to their connections", wanted, f"{directory}/window.pcapng", message)


home, questions = f"{captures}/home-network.pcap", f"{captures}/questions.pcap"
if cases == "some":
    for name in "home-network", "questions":
        resets(name)
    same("connections with a zero window or a retransmission", home, "x = tcp-retransmit",
         in_streams("tcp.stream", having("tcp.analysis.retransmission")))
    same("UDP streams", home, "x = udp-send where udp_dport == 53", in_streams("udp.stream", having("udp.dstport", "53")))
    same("connections of a port, with the ICMP errors that quote them", questions, "x = udp-send where udp_dport == 53",
         having("udp.port", "53"))
    same("the fragments of a datagram", f"{captures}/ipv4-fragments.pcap", "x = udp-send", having("ip.version"))
    same("both copies of the frames of a loopback interface", f"{directory}/lo.pcap", RESET, in_streams("tcp.stream", reset))
    for number in 1, 3:
        path = f"{directory}/fragments-{number}.pcap"
        same(f"both copies of the fragments of a datagram, {number} at once", path, "x = udp-send", having("ip.version"))
        through_pipe(path)
    window(home)
else:
    for name in ("evasion-windows", "mptcp-fclose", "null-tcp", "pppoe-qinq-reset", "split-handshake", "vlan-refused-reuse",
                 "cooked-refused"):
        resets(name)
    same("the fragments of a segment", f"{captures}/raw-ipv6-fragments.pcap", "x = tcp-send", having("ipv6.version"))
    same("a connection in a tunnel", f"{captures}/dccp-tunnels.pcap", "x = udp-send", having("udp.port"))
