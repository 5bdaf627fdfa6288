#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""records.py NETOBSD zeek BTEST | suricata TESTS: compares the connection records of netobs with what the tests of Zeek or
Suricata expect of the same captures (expectations.py).  Prints TAP.

For each figure the wanted value and that of the record are equal, differ for a reason of REASONS, or fail the test.  The
counts are those of the table of results in README.md."""
import collections
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import capture_facts  # noqa: E402
import expectations  # noqa: E402
import reasons  # noqa: E402
import states  # noqa: E402


TURNED = {"reset-by-client": "reset-by-server", "reset-by-server": "reset-by-client"}


class Record:
    """A connection record from the side of the expectation: index 0 is the end that it names first."""

    def __init__(self, fields, turned, facts):
        ends = ("server", "client") if turned else ("client", "server")
        self.fields, self.turned, self.tcp = fields, turned, fields["cr_protostr"].lower() == "tcp"
        self.role, self.reason = fields["cr_role"], fields["cr_reason"]
        if turned and self.reason in TURNED:
            self.reason = TURNED[self.reason]
        self.packets, self.payload, self.frames, self.flags, self.resent, self.states = (
            tuple(fields[f"cr_{end}_{name}"] for end in ends)
            for name in ("segments", "bytes", "wire", "flags", "resent", "state"))
        self.seconds, self.community = fields["cr_duration_us"] / 1e6, fields["cr_community"]
        self.end = fields["cr_end"] / 1e9
        self.ends = tuple(str(fields[f"cr_{end}{part}"]) for end in ends for part in ("", "_port"))
        proto = "tcp" if self.tcp else "udp"
        self.facts = (facts[(proto, *self.ends)], facts[(proto, *self.ends[2:], *self.ends[:2])])


def replay(netobsd, capture):
    """The records of a capture, in order of their start."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "records")
        subprocess.run([netobsd, "-r", capture, "--view", "both", "--records=" + path, "--format", "json"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if not os.path.exists(path):  # a capture that netobs cannot read
            return []
        with open(path, encoding="utf-8") as file:
            return sorted((json.loads(line) for line in file), key=lambda fields: fields["cr_start"])


def candidates(expected, fields, facts):
    """The records that an expectation can mean."""
    wanted, found = (expected.client, expected.client_port, expected.server, expected.server_port), []
    for row in fields:
        if expected.proto and row["cr_protostr"].lower() != expected.proto:
            continue
        for turned in (False, True):
            record = Record(row, turned, facts)
            if all(value in ("", end) for value, end in zip(wanted, record.ends)):
                found.append(record)
                break
    return found


def ip_bytes(record):
    """The bytes of IP packets, if the facts of the capture have the same packets: frames less what is beside them."""
    beside = [facts.beside if facts.packets == packets else None for facts, packets in zip(record.facts, record.packets)]
    return None if None in beside else tuple(frames - other for frames, other in zip(record.frames, beside))


VALUES = {
    "packets": lambda record: record.packets, "payload": lambda record: record.payload, "ip": ip_bytes,
    "frames": lambda record: record.frames, "flags": lambda record: record.flags,
    "seconds": lambda record: record.seconds, "community": lambda record: record.community,
    "state": lambda record: (record.reason, *record.states), "tcp": lambda record: record.states,
}


def equal(source, figure, wanted, value, record):
    """Whether the value of a record is the wanted one."""
    if figure == "state":
        return (states.zeek_state if source == "zeek" else states.suricata_state)(wanted, record)
    if figure == "tcp":
        return states.suricata_tcp(wanted, record)
    if figure == "flags" and source == "zeek":  # a history has a letter for each of these flags, but not for each ACK
        return wanted == tuple(flags & expectations.HISTORY for flags in value)
    if figure == "seconds":
        return abs(wanted - value) < 2e-6
    if figure == "community":
        identity, seed = wanted
        return expectations.community(seed, record) == identity and \
            expectations.community(0, record) == value
    return wanted == value


def sums_of(expected):
    """The expectation of all rows with these ends together."""
    sums = {}
    for figure in ("packets", "payload", "ip"):
        pairs = [row[figure] for row in expected.rows if figure in row]
        sums[figure] = tuple(map(sum, zip(*pairs)))
    return expected._replace(figures={figure: value for figure, value in sums.items() if value})


def sum_of_records(records):
    """A record with the sums of several and the end of the last one."""
    whole = copy.copy(records[0])
    for figure in ("packets", "payload", "frames"):
        setattr(whole, figure, tuple(map(sum, zip(*(getattr(record, figure) for record in records)))))
    whole.end = max(record.end for record in records)
    return whole


class Comparison:
    def __init__(self, source, netobsd, folder):
        self.source, self.netobsd, self.folder = source, netobsd, folder
        self.equal, self.compared = collections.Counter(), collections.Counter()
        self.reasons, self.wrong, self.records, self.facts = collections.Counter(), [], {}, {}
        self.connections = 0

    def figures_of(self, expected, record):
        """(figure, wanted, value, equal) of an expectation and a record."""
        for figure, wanted in expected.figures.items():
            value = VALUES[figure](record)
            if value is not None:
                yield figure, wanted, value, equal(self.source, figure, wanted, value, record)

    def choose(self, expected, found):
        """The records of an expectation: its place among those with its ends or, if the test does not name the ends, those
        that agree best."""
        if len(expected.rows) == len(found):
            return [found[expected.order]]
        found = sorted(found, key=lambda record: -sum(row[3] for row in self.figures_of(expected, record)))
        return found[:expected.count]

    def compare(self, expected):
        if expected.capture not in self.records:
            self.records[expected.capture] = replay(self.netobsd, expected.capture)
            self.facts[expected.capture] = capture_facts.read(expected.capture)
        name = os.path.relpath(expected.capture, self.folder)
        found = candidates(expected, self.records[expected.capture], self.facts[expected.capture])
        self.connections += expected.count
        self.compared["connections"] += expected.count
        if self.source == "zeek" and len(expected.rows) != len(found) > 0:
            self.note(name, expected, found[0], "connections", len(expected.rows), len(found))
            if expected.order == 0:
                expected, found = sums_of(expected), [sum_of_records(found)]
                self.compare_figures(name, expected, found[0])
            return
        chosen = self.choose(expected, found)
        self.equal["connections"] += len(chosen)
        for _ in range(expected.count - len(chosen)):
            self.note(name, expected, None, "connections", "one", "none")
        for record in chosen:
            self.compare_figures(name, expected, record)

    def compare_figures(self, name, expected, record):
        for figure, wanted, value, same in self.figures_of(expected, record):
            self.compared[figure] += 1
            if same:
                self.equal[figure] += 1
            else:
                self.note(name, expected, record, figure, wanted, value)

    def note(self, name, expected, record, figure, wanted, value):
        reason = reasons.reason_of(self.source, name, expected, record, figure, wanted, value)
        if reason:
            self.reasons[figure, reason] += 1
        else:
            ends = f"{expected.proto} {expected.client}:{expected.client_port} {expected.server}:{expected.server_port}"
            self.wrong.append((figure, f"{name} {ends}: {figure}: {self.source} {wanted}, netobs {value}"))


def main():
    netobsd, source, folder = sys.argv[1:]
    comparison = Comparison(source, netobsd, folder)
    for expected in expectations.read_expectations(source, folder):
        comparison.compare(expected)
    figures = [name for name in ("connections",) + expectations.FIGURES if comparison.compared[name]]
    print(f"1..{1 + len(figures)}")
    enough = any(comparison.equal.values())
    print(f"{'ok' if enough else 'not ok'} 1 - {source}")
    print(f"# {len(comparison.records)} captures, {comparison.connections} connections")
    for number, figure in enumerate(figures, 2):
        wrong = [text for name, text in comparison.wrong if name == figure]
        compared, same = comparison.compared[figure], comparison.equal[figure]
        print(f"{'not ok' if wrong else 'ok'} {number} - {figure}")
        print(f"# {figure}: {same} of {compared} equal, {compared - same - len(wrong)} explained")
        for (name, reason), count in sorted(comparison.reasons.items()):
            if name == figure:
                print(f"# {count} explained: {reasons.WHY[reason]}")
        for text in wrong:
            print(f"# {text}")
    return 0 if enough and not comparison.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
