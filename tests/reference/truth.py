#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""truth.py [--netobsd PATH] [--shipped DIR] TRUTH_REPLAY DIR...: compares the TCP tracker with the kernel's own record
of the same sockets; with --netobsd the firings of the probes instead of the tracker's output.

Each DIR holds truth.tsv and its captures, plain or compressed with gzip.  Prints TAP: per DIR one line for the states,
one for the retransmissions and one for their kinds, with every difference and every transition that no packet shows as
a diagnostic.  The counts of each DIR below the folder of --shipped must be exactly those of accuracy.expected.

truth.tsv may have more columns than its first seven: how many segments the kernel retransmitted (above, a super-packet
counts as one), how many of them by kind (fast=N,probe=N,syn=N,timeout=N), and these kinds with a super-packet counted as one."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import accuracy  # noqa: E402

KINDS = ("fast", "timeout", "probe", "syn")


def replay(program, capture):
    """The endpoints of a capture: (laddr, lport, raddr, rport) -> their connections in order of time."""
    out = subprocess.run([program, capture], check=True, capture_output=True, text=True).stdout
    endpoints = collections.defaultdict(list)
    for line in out.splitlines():
        if line.startswith("# stray "):
            endpoints[tuple(line[8:].split("\t"))]  # a segment that belongs to no connection
        if line.startswith("#"):
            continue
        laddr, lport, raddr, rport, states, facts = line.split("\t")
        names = [s.removeprefix("state-").upper().replace("-", "_") for s in states.split(",") if s]
        counts = {k: int(v) for k, v in (f.split("=") for f in facts.split())}
        endpoints[(laddr, lport, raddr, rport)].append((names, counts))
    return endpoints


def replay_probes(netobsd, capture, endpoints):
    """Replaces the output of the tracker for the endpoints by the firings of netobsd's probes."""
    states, kinds, owner = collections.defaultdict(list), collections.defaultdict(collections.Counter), {}
    command = [netobsd, "-r", capture, "--view", "both", "--print=tcp-state-change,tcp-retransmit", "--format", "json"]
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        firing = json.loads(line)
        args = firing["args"]
        tcps = args[3] if firing["probe"] == "tcp-retransmit" else args[2]
        cid = args[1]["cs_cid"]
        owner[cid] = (tcps["tcps_laddr"], str(tcps["tcps_lport"]), tcps["tcps_raddr"], str(tcps["tcps_rport"]))
        if firing["probe"] == "tcp-state-change":
            states[cid] += [args[5]["tcps_statestr"]] * (not states[cid]) + [args[3]["tcps_statestr"]]
        elif args[4]["tcp_flags"] & 0x12 != 0x12:
            kinds[cid][args[5]["tcpr_kindstr"].removeprefix("tail-loss-")] += 1
    reported = collections.defaultdict(list)
    for cid in sorted(owner):
        reported[owner[cid]].append(cid)
    for key, connections in endpoints.items():
        # A connection without expected events has no counterpart among those that the probes reported.
        silent = [i for i, (names, facts) in enumerate(connections) if not names and not facts["retransmits"]]
        cids = iter(reported[key])
        for i, (_, facts) in enumerate(connections):
            cid = None if i in silent else next(cids, None)
            names = [s.removeprefix("state-").upper().replace("-", "_") for s in states[cid]]
            facts.update({k: kinds[cid][k] for k in (*KINDS, "spurious")})
            connections[i] = (names, facts)
    return endpoints


def without_repeats(states):
    return [s for i, s in enumerate(states) if i == 0 or s != states[i - 1]]


def as_kernel(states):
    """The kernel closes a socket to hand it to its TIME_WAIT table, whose changes it does not record."""
    if "TIME_WAIT" in states:
        states = states[:states.index("TIME_WAIT")] + ["CLOSED"]
    return states


def explain(kernel, ours, facts):
    """Compares two sequences.  Returns (difference, reasons): the kernel's transitions that no packet shows, with the
    reason, or what is wrong."""
    seen = as_kernel(ours)
    reasons = []
    kernel = list(kernel)
    if seen == kernel:
        return None, reasons
    if facts["fin"] == 0:
        for state in ("FIN_WAIT_1", "LAST_ACK"):
            if state in kernel:
                kernel.remove(state)
                reasons.append(f"{state}: closed with data still queued, its FIN was never sent")
        kernel = without_repeats(kernel)
    if seen == kernel:
        return None, reasons
    if kernel[-3:] == ["FIN_WAIT_1", "CLOSING", "CLOSED"] and seen[:len(kernel) - 3] == kernel[:-3] and \
            seen[len(kernel) - 3:] in (["CLOSE_WAIT", "LAST_ACK", "CLOSED"], ["CLOSE_WAIT", "LAST_ACK"]):
        reasons += [f"{s}: closed with data still queued, the peer's FIN came before its own was sent"
                    for s in ("FIN_WAIT_1", "CLOSING", "CLOSED")]
        return None, reasons
    if kernel[-1] == "CLOSED" and seen == kernel[:-1]:
        last = kernel[-2]
        if last == "SYN_SENT" and facts["rst-in"]:
            reasons.append("CLOSED: the connection attempt was given up; the RST that came does not acknowledge it")
            return None, reasons
        if last == "SYN_SENT":
            reasons.append("CLOSED: the connection attempt was given up, in silence")
        elif last == "FIN_WAIT_2":
            reasons.append("CLOSED: no FIN came, the FIN_WAIT_2 timer or the end of its process closed it")
        else:
            reasons.append(f"CLOSED: the process or its namespace ended in {last} without a packet")
        if facts["rst"] or facts["rst-in"]:
            return f"kernel {kernel} ours {ours}: a RST is there", reasons
        return None, reasons
    return f"kernel {','.join(kernel)} ours {','.join(ours)}", reasons


def read_explained(path):
    """Differences that were explained one by one: capture, addresses and ports, tab, and the reason."""
    with open(path, encoding="ascii") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return {tuple(row[:5]): row[5] for row in rows}


def check_kinds(where, column, facts, total, notes):
    """Compares the kinds of one endpoint's retransmissions.  Data that the peer had acknowledged before is spurious to
    netobs, whatever made the kernel send it."""
    kernel = {k: int(v) for k, v in (f.split("=") for f in column.split(",") if f)}
    ours = {k: facts[k] for k in KINDS}
    more = {k: kernel.get(k, 0) - ours[k] for k in KINDS}
    wrong = max(sum(v for v in more.values() if v > 0) - facts["spurious"], sum(-v for v in more.values() if v < 0))
    count = sum(ours.values()) + facts["spurious"]
    total["kinds"] += count
    total["kinds_right"] += count - wrong
    if wrong:
        notes.append(f"{where}: kernel {column or 'none'} ours {' '.join(f'{k}={v}' for k, v in ours.items() if v)} "
                     f"spurious={facts['spurious']}")


def capture_file(directory, name, scratch):
    """The path of a capture that truth.tsv names, with or without its suffix."""
    path = os.path.join(directory, name)
    return path if os.path.exists(path) else accuracy.readable(path + ".gz", scratch)


def without_record(cache, taken, hosts):
    """The established endpoints of these hosts, (capture, address), that the kernel never had."""
    for name, endpoints in sorted(cache.items()):
        for key, connections in sorted(endpoints.items()):
            if (name, key[0]) in hosts:
                for states, _ in connections[taken[(name, key)]:]:
                    if "ESTABLISHED" in states:
                        yield f"{name} {key[0]}:{key[1]} {key[2]}:{key[3]}: ours {','.join(states)}, the kernel no states"


def check(program, netobsd, directory, explained, scratch):
    total = collections.Counter()
    unseen = collections.Counter()
    late = collections.Counter()
    listed = collections.Counter()
    notes = {"states": [], "retransmissions": [], "kinds": []}
    cache = {}
    taken = collections.Counter()
    recorded_hosts = set()  # of which the kernel's record is complete
    for line in open(os.path.join(directory, "truth.tsv"), encoding="ascii"):
        if line.startswith("#"):
            continue
        capture, laddr, lport, raddr, rport, states, retransmits, *more = line.rstrip("\n").split("\t")
        name = capture if capture.endswith(".pcap") else capture + ".pcap"
        if name not in cache:
            path = capture_file(directory, name, scratch)
            cache[name] = replay(program, path)
            if netobsd:
                replay_probes(netobsd, path, cache[name])
        key = (laddr, lport, raddr, rport)
        which = taken[(name, key)]
        taken[(name, key)] += 1
        if more:
            recorded_hosts.add((name, laddr))
        where = f"{name} {laddr}:{lport} {raddr}:{rport}"
        kernel = without_repeats(states.split(","))
        total["endpoints"] += 1
        total["transitions"] += len(kernel) - 1
        if key not in cache[name] and key[2:] + key[:2] not in cache[name]:
            total["unseen"] += len(kernel) - 1
            unseen["all: the capture has no packet of this endpoint"] += len(kernel) - 1
            total["absent"] += 1
            total["kernel"] += int(retransmits)
            if int(retransmits):
                notes["retransmissions"].append(f"{where}: kernel {retransmits}, no packet at all")
                total["wrong"] += int(retransmits)
            continue
        if which >= len(cache[name][key]):
            notes["states"].append(f"{where}: no packet, kernel {','.join(kernel)}")
            continue
        ours, facts = cache[name][key][which]
        wrong, reasons = explain(kernel, ours, facts)
        if wrong:
            notes["states"].append(f"{where}: {wrong}")
        else:
            total["unseen"] += len(reasons)
            total["right"] += len(kernel) - 1 - len(reasons)
            for reason in reasons:
                unseen[reason] += 1
        most = sum(facts[k] for k in ("fast", "timeout", "probe", "spurious", "syn"))
        least = most - facts["continued"]
        total["kernel"] += int(retransmits)
        total["ours"] += most
        total["split"] += max(0, most - int(retransmits))
        reason = explained.get((name,) + key)
        if int(retransmits) > most and facts["outstanding"]:
            total["after"] += int(retransmits) - most
            late[f"{where}: {int(retransmits) - most} of {retransmits}"] += 1
        elif int(retransmits) != most and reason:
            listed[f"{where}: kernel {retransmits}, ours {most}: {reason}"] += 1
            total["explained"] += abs(int(retransmits) - most)
        elif not least <= int(retransmits) <= most or (more and most > int(more[0])):
            notes["retransmissions"].append(f"{where}: kernel {retransmits} {more} ours {least}..{most} {facts}")
            total["wrong"] += max(1, abs(int(retransmits) - most))
        if len(more) > 2:
            check_kinds(where, more[1] if most == int(more[0]) else more[2], facts, total, notes["kinds"])
    notes["states"] += without_record(cache, taken, recorded_hosts)
    return total, unseen, late, listed, notes


def counts_of(total):
    """The counts of a folder that accuracy.expected lists."""
    return {
        "endpoints": total["endpoints"], "without-packets": total["absent"], "transitions-right": total["right"],
        "transitions-visible": total["transitions"] - total["unseen"], "transitions-not-visible": total["unseen"],
        "retransmissions-kernel": total["kernel"] - total["after"], "retransmissions-ours": total["ours"],
        "retransmissions-explained": total["explained"],
    }


def texts_of(total):
    """The counts of the points of a folder, as texts."""
    return {
        "states": f"{total['endpoints']} endpoints ({total['absent']} without any packet), {total['right']} of "
                  f"{total['transitions'] - total['unseen']} visible transitions right, {total['unseen']} that no "
                  "packet shows",
        "retransmissions": f"kernel {total['kernel']} ({total['after']} of them after the capture's end), ours "
                           f"{total['ours']} ({total['split']} of them further segments of one super-packet), "
                           f"{total['explained']} explained",
        "kinds": f"{total['kinds_right']} of {total['kinds']} right" if total["kinds"] else "not recorded",
    }


def report(base, total, unseen, late, listed, notes):
    """Yields (good, name, notes) for the three points of a folder."""
    # Linux may undo a recovery for reasons that are not on the wire: one difference and one in three hundred are allowed.
    few = total["kinds"] - total["kinds_right"] <= 1 + total["kinds"] / 300
    more = {
        "states": [f"{count} not visible: {reason}" for reason, count in sorted(unseen.items())],
        "retransmissions": [f"explained: {text}" for text in sorted(listed)] +
                           [f"not visible, data was outstanding when the capture ended: {text} retransmissions"
                            for text in sorted(late)],
        "kinds": [],
    }
    for kind, text in texts_of(total).items():
        yield not notes[kind] or (kind == "kinds" and few), f"{base} {kind}", [text] + notes[kind] + more[kind]


def summary(sums):
    visible = sums["transitions"] - sums["unseen"]
    kernel = sums["kernel"] - sums["after"]
    return (f"{sums['endpoints']} endpoints, {sums['right']} of {visible} visible transitions right, {sums['unseen']} not "
            f"visible; retransmissions: {kernel - sums['wrong'] - sums['explained']} of {kernel} right, "
            f"{sums['explained']} explained; ours {sums['ours']}, {sums['split']} of them further segments of one "
            f"super-packet; kinds {sums['kinds_right']} of {sums['kinds']}")


def parse(arguments):
    """(netobsd or None, folder of --shipped or None, the other arguments)"""
    options = {"--netobsd": None, "--shipped": None}
    while arguments[:1] and arguments[0] in options:
        options[arguments[0]], arguments = arguments[1], arguments[2:]
    return options["--netobsd"], options["--shipped"], arguments


def main():
    netobsd, shipped, (program, *directories) = parse(sys.argv[1:])
    explained = read_explained(os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth.explained"))
    number = failed = 0
    sums = {"shipped": collections.Counter(), "further": collections.Counter()}
    counts = {}

    def point(good, text, notes):
        nonlocal number, failed
        number += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {text}")
        for note in notes:
            print(f"# {note}")

    with tempfile.TemporaryDirectory() as scratch:
        for directory in directories:
            total, *details = check(program, netobsd, directory, explained, scratch)
            base = os.path.basename(directory.rstrip("/"))
            ours = shipped is not None and os.path.commonpath([shipped, directory]) == shipped
            sums["shipped" if ours else "further"].update(total)
            if ours:
                counts.update({f"{base}:{name}": count for name, count in counts_of(total).items()})
            for good, text, notes in report(base, total, *details):
                point(good, text, notes)
    if shipped is not None:
        wrong = accuracy.wrong_counts("truth", counts)
        point(not wrong, "all of the shipped record was compared: the counts are those of accuracy.expected", wrong)
    print(f"1..{number}")
    for which, total in sums.items():
        if total:
            print(f"# in all{', ' + which if shipped is not None else ''}: {summary(total)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
