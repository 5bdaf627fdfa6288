#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""suricata.py NETOBSD TESTS: compares netobs with the states of TCP connections that Suricata's own tests expect.  TESTS
is the folder tests of a checkout of suricata-verify; nothing of it is in this source tree.  Prints TAP.

Compared are the flow records of every test.yaml that have tcp.state and the addresses and ports of a connection which
occurs once in the capture: Suricata's one state at the end of the capture with the states of both ends.  A difference
is listed in EXPLAINED, or is a failure."""
import collections
import ipaddress
import json
import os
import re
import subprocess
import sys

# The states of both ends, in either order, in which Suricata's session is in its one state.
ENDS = {
    "syn_sent": [{"syn-sent"}, {"syn-sent", "listen"}],
    "syn_recv": [{"syn-sent", "syn-received"}, {"established", "syn-received"}],
    "established": [{"established"}],
    "fin_wait1": [{"fin-wait-1", "established"}, {"fin-wait-1", "close-wait"}],
    "fin_wait2": [{"fin-wait-2", "close-wait"}],
    "close_wait": [{"fin-wait-2", "close-wait"}],
    "last_ack": [{"time-wait", "last-ack"}, {"fin-wait-2", "last-ack"}],
    "closing": [{"closing"}],
    "closed": [{"time-wait", "closed"}, {"closed"}, {"time-wait"}],
}
CAPTURES = (".pcap", ".pcapng")
KEYS = ("src_ip", "src_port", "dest_ip", "dest_port", "tcp.state")
EXPLAINED = {
    ("bug-2646-01/input.pcap", "49584"): "the FINs cross: CLOSING in RFC 9293, where Suricata expects LAST-ACK",
}


def flows_of(text):
    """The connections of a test.yaml whose state it expects: (addresses and ports, state)."""
    for check in re.split(r"^ *- +filter:", text, flags=re.M)[1:]:
        fields = {name: value.strip("\"' ") for name, value in re.findall(r"^ +([\w.]+): *(.*)$", check, re.M)}
        if fields.get("event_type") == "flow" and fields.get("count") == "1" and all(key in fields for key in KEYS):
            source, sport, target, dport, state = (fields[key] for key in KEYS)
            yield (str(ipaddress.ip_address(source)), sport, str(ipaddress.ip_address(target)), dport), state


def capture_of(folder, text):
    """The capture of a test, or None if it has not exactly one."""
    named = re.search(r"^pcap: *(\S+)", text, re.M)
    found = [named.group(1)] if named else [name for name in sorted(os.listdir(folder)) if name.endswith(CAPTURES)]
    path = os.path.normpath(os.path.join(folder, found[0])) if len(found) == 1 else ""
    return path if os.path.isfile(path) else None


def replay(netobsd, capture):
    """By connection id, in order: addresses and ports of an end, and its last state."""
    ends = {}
    command = [netobsd, "-r", capture, "--view", "both", "--print=tcp-state-change", "--format", "json"]
    for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines():
        args = json.loads(line)["args"]
        tcps = args[2]
        end = (tcps["tcps_laddr"], str(tcps["tcps_lport"]), tcps["tcps_raddr"], str(tcps["tcps_rport"]))
        ends[args[1]["cs_cid"]] = (end, args[3]["tcps_statestr"].removeprefix("state-"))
    return ends.values()


def compare(ends, record):
    """The states of both ends; None if the ports were used again."""
    near = [state for end, state in record if end == ends]
    far = [state for end, state in record if end == ends[2:] + ends[:2]]
    return None if len(near) > 1 or len(far) > 1 else set(near + far)


def main():
    netobsd, tests = sys.argv[1:]
    total, notes, records = collections.Counter(), [], {}
    compared = set()
    for folder, _, names in sorted(os.walk(tests)):
        if "test.yaml" not in names:
            continue
        with open(os.path.join(folder, "test.yaml"), encoding="utf-8", errors="replace") as file:
            text = file.read()
        capture = capture_of(folder, text)
        for ends, state in flows_of(text):
            if capture is None or (capture, ends, state) in compared:
                continue
            if capture not in records:
                records[capture] = replay(netobsd, capture)
            states = compare(ends, records[capture])
            if states is None:
                total["reused"] += 1
                continue
            compared.add((capture, ends, state))
            name = os.path.relpath(capture, tests)
            if states in ENDS.get(state, []):
                total["alike"] += 1
            elif (name, ends[1]) in EXPLAINED:
                total["explained"] += 1
                print(f"# explained: {name} {ends[1]}: {EXPLAINED[name, ends[1]]}")
            else:
                notes.append(f"{name} {' '.join(ends)}: Suricata {state}, netobs {' '.join(sorted(states)) or 'none'}")
    captures = len({capture for capture, _, _ in compared})
    print("1..2")
    print(f"{'ok' if compared else 'not ok'} 1 - there are connections\n# {captures} captures, {len(compared)} connections")
    print(f"{'not ok' if notes else 'ok'} 2 - state at the end")
    print(f"# {total['alike']} of {len(compared)} alike, {total['explained']} explained")
    for note in notes:
        print(f"# {note}")
    return 1 if notes or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
