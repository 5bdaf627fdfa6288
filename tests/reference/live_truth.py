#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""live_truth.py KERNEL PROBES STOPPED CONNECTIONS NEAR FAR ADDRESS...

Compares the kernel's record of its sockets with the firings of netobsd's probes for the same connections at the same
time, connection by connection and by the rules of truth.py, for tests/reference/live_truth.sh.  Prints TAP points.

KERNEL is the text of an ftrace instance: inet_sock_set_state, and tcp_retransmit_skb with its stack.  PROBES is the
output of tests/reference/live_truth.bt.  STOPPED has the monotonic clock and the time up to which both are compared, in
ns.  NEAR and FAR are captures of what each host sent by IPv6.  The ADDRESSes are those of both hosts; on each a netobsd
reports its own endpoints."""
import collections
import re
import socket
import struct
import sys

sys.dont_write_bytecode = True
import truth  # noqa: E402

STATES = ("NONE", "ESTABLISHED", "SYN_SENT", "SYN_RECEIVED", "FIN_WAIT_1", "FIN_WAIT_2", "TIME_WAIT", "CLOSED",
          "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING")
KERNEL_STATES = {"TCP_ESTABLISHED": "ESTABLISHED", "TCP_SYN_SENT": "SYN_SENT", "TCP_SYN_RECV": "SYN_RECEIVED",
                 "TCP_FIN_WAIT1": "FIN_WAIT_1", "TCP_FIN_WAIT2": "FIN_WAIT_2", "TCP_TIME_WAIT": "TIME_WAIT",
                 "TCP_CLOSE": "CLOSED", "TCP_CLOSE_WAIT": "CLOSE_WAIT", "TCP_LAST_ACK": "LAST_ACK",
                 "TCP_LISTEN": "LISTEN", "TCP_CLOSING": "CLOSING", "TCP_NEW_SYN_RECV": "SYN_RECEIVED"}
WARM_UP = "7007"
SPLIT_NS = 30000  # most time between frames of one retransmitted super-packet
SYN, RST, FIN = 2, 4, 1
# States that a run of the traffic must reach, so that a comparison of nothing fails.
WANTED = ("FIN_WAIT_2", "TIME_WAIT", "LAST_ACK", "SYN_SENT", "SYN_RECEIVED")


class Endpoint:
    """One record of one endpoint: that of the kernel, or that of the probes."""

    def __init__(self, states=()):
        self.states = list(states)
        self.retransmissions = []  # monotonic times, ns
        self.timers = collections.Counter()
        self.facts = collections.Counter()


# --- the kernel's record ---

EVENT = re.compile(r"\[(\d+)\] \S+ +(\d+)\.(\d+): ([a-z_]+|<stack trace>)(?:: (.*))?$")


def kernel_events(path):
    """Yields (time, name, fields, functions on the stack)."""
    last = {}  # by CPU: a stack follows its event there
    stack = None
    events = []
    with open(path, encoding="ascii", errors="replace") as lines:
        for line in lines:
            found = EVENT.search(line)
            if not found:
                if stack is not None and line.startswith(" => "):
                    stack.append(line[4:].strip().split("+")[0])
                continue
            cpu, seconds, fraction, name, text = found.groups()
            if name == "<stack trace>":
                stack = last[cpu][3] if cpu in last else None
                continue
            stack = None
            fields = dict(word.split("=", 1) for word in text.split() if "=" in word)
            last[cpu] = (int(seconds) * 10**9 + int(fraction.ljust(9, "0")), name, fields, [])
            events.append(last[cpu])
    return events


def ends_of(fields):
    v6 = fields["family"] == "AF_INET6"
    return (fields["saddrv6" if v6 else "saddr"], fields["sport"], fields["daddrv6" if v6 else "daddr"],
            fields["dport"])


def read_kernel(path, addresses, stopped):
    """The endpoints by their addresses and ports, in order of time, up to the time `stopped`."""
    endpoints, open_now = collections.defaultdict(list), {}
    discarded = set()
    for time, name, fields, stack in kernel_events(path):
        ends = ends_of(fields)
        if time > stopped or ends[0] not in addresses or ends[2] in ("0.0.0.0", "::") or "0" in (ends[1], ends[3]) or \
                WARM_UP in ends:
            continue
        old = KERNEL_STATES[fields["oldstate" if name == "inet_sock_set_state" else "state"]]
        if name == "inet_sock_set_state":
            # Two acknowledgments of one SYN,ACK that are received by two processors at once make two sockets, of which
            # the kernel then discards one; which one does not matter.
            new = KERNEL_STATES[fields["newstate"]]
            if ends in open_now and (old, new) == ("LISTEN", "SYN_RECEIVED"):
                discarded.add(ends)
                continue
            if ends in discarded and (old, new) == ("SYN_RECEIVED", "CLOSED"):
                discarded.remove(ends)
                continue
        if ends not in open_now:
            # A client has no port yet, and so is not recognized, when it leaves CLOSED.
            open_now[ends] = Endpoint(["CLOSED", "SYN_SENT"] if old == "SYN_SENT" else [old])
            endpoints[ends].append(open_now[ends])
        end = open_now[ends]
        if name == "inet_sock_set_state":
            end.states.append(new)
            if end.states[-1] == "CLOSED":
                del open_now[ends]
        elif fields.get("err", "0") == "0":  # the tracepoint fires for an attempt that fails, too
            end.retransmissions.append(time)
            if old in ("SYN_SENT", "SYN_RECEIVED"):
                end.timers["syn"] += 1
            else:
                end.timers["timeout"] += "tcp_retransmit_timer" in stack
                end.timers["probe"] += "tcp_send_loss_probe" in stack
                end.timers["known" if stack else "unknown"] += 1
    return endpoints


# --- the firings of the probes ---

def lines_in_order(path):
    """The words of each line, by the clock: bpftrace reads the buffers of several processors one after the other."""
    with open(path, encoding="ascii", errors="replace") as file:
        lines = [line.split() for line in file]
    return sorted((words for words in lines if len(words) >= 5 and words[0] in ("S", "R", "T", "O", "I")),
                  key=lambda words: int(words[1]))


def read_probes(path, addresses, clock, stopped):
    """The endpoints of the probes with these addresses, up to the time `stopped`."""
    # The words of a line: the clock, which of the two netobsd, its connection id, and what the letter is about.
    known = collections.defaultdict(Endpoint)
    ends, last = {}, {}
    for words in lines_in_order(path):
        which, rest = (words[2], int(words[3])), words[4:]
        end = known[which]
        if words[0] == "O":
            end.facts["fin"] += (int(rest[0]) & FIN) != 0
            end.facts["rst"] += (int(rest[0]) & RST) != 0
            continue
        if words[0] == "I":
            end.facts["rst-in"] += 1
            continue
        time = int(rest[0]) - clock
        if time > stopped:
            continue
        if words[0] == "T":
            end.timers["timeout"] += (int(rest[1]) & SYN) == 0
            continue
        ends[which] = tuple(rest[1:5])
        if words[0] == "S":
            before, after = (STATES[int(word)] for word in rest[5:7])
            if end.states and end.states[-1] != before:
                end.states.append("GAP")
            end.states += [before] * (not end.states) + [after]
            continue
        seq, payload, flags = (int(word) for word in rest[5:8])
        if flags & SYN and flags & 0x10:
            continue  # SYN,ACKs have a tracepoint of their own
        end.retransmissions.append(time)
        end.timers["probe"] += rest[8] == "tail-loss-probe"
        if last.get(which, (None, 0))[0] == seq and time - last[which][1] <= SPLIT_NS:
            end.facts["continued"] += 1
        last[which] = ((seq + payload + (flags & FIN)) % 2**32, time)
    endpoints = collections.defaultdict(list)
    for which in sorted(ends):
        if WARM_UP not in ends[which] and ends[which][0] in addresses:
            endpoints[ends[which]].append(known[which])
    return endpoints


# --- the captures ---

def count_copies(path, copies):
    """Adds to `copies`, by the ends of the sender, the segments with sequence space of which every byte is as in one
    before.  IPv6 has no identification: what the kernel sends again within a tick of its timestamp clock, a millisecond,
    cannot be told from a frame that is captured twice, and by netobs(7) is not a retransmission."""
    seen = set()
    with open(path, "rb") as file:
        file.read(24)
        while len(header := file.read(16)) == 16:
            packet = file.read(struct.unpack("<8xI4x", header)[0])[14:]
            length, sport, dport, offset, flags = struct.unpack_from(">4xH34xHH8xBB", packet)
            if length <= offset // 16 * 4 and not flags & FIN:
                continue
            if packet in seen:
                copies[(socket.inet_ntop(socket.AF_INET6, packet[8:24]), str(sport),
                        socket.inet_ntop(socket.AF_INET6, packet[24:40]), str(dport))] += 1
            seen.add(packet)


# --- both ---

def pair(kernel, probes):
    """Yields (ends, kernel's endpoint or None, that of the probes or None)."""
    for ends in sorted(set(kernel) | set(probes)):
        theirs, ours = kernel.get(ends, []), list(probes.get(ends, []))
        # For the kernel a request whose handshake never completed is not a socket yet.
        if len(ours) > len(theirs):
            ours = [end for end in ours if not set(end.states) <= {"LISTEN", "SYN_RECEIVED", "CLOSED"}]
        for i in range(max(len(theirs), len(ours))):
            yield ends, theirs[i] if i < len(theirs) else None, ours[i] if i < len(ours) else None


def compare_timers(where, theirs, ours, total, notes):
    """Retransmissions by the retransmission timer, and tail-loss probes.  The kernel could not record the stack of some:
    these may be any."""
    total["stacks"] += theirs["known"]
    for timer in ("timeout", "probe"):
        more = ours[timer] - theirs[timer]
        wrong = -more if more < 0 else max(0, more - theirs["unknown"])
        total[timer] += theirs[timer]
        total["wrong"] += wrong
        if wrong:
            notes.append(f"{where}: {timer}: kernel {theirs[timer]}, {theirs['unknown']} unknown, ours {ours[timer]}")


def compare(kernel, probes, copies):
    total, unseen, reached = collections.Counter(), collections.Counter(), collections.Counter()
    notes = {"states": [], "retransmissions": [], "timers": []}
    for ends, theirs, ours in pair(kernel, probes):
        where = "%s:%s %s:%s" % ends
        if theirs is None:
            notes["states"].append(f"{where}: not in the kernel's record, ours {','.join(ours.states)}")
            continue
        states = truth.without_repeats(theirs.states)
        total["endpoints"] += 1
        total["IPv6"] += ":" in ends[0]
        total["transitions"] += len(states) - 1
        if ours is None:
            notes["states"].append(f"{where}: not reported, kernel {','.join(states)}")
            continue
        for state in ours.states:
            reached[state] += 1
        wrong, reasons = truth.explain(states, ours.states, ours.facts)
        if wrong:
            notes["states"].append(f"{where}: {wrong}")
        else:
            total["right"] += len(states) - 1 - len(reasons)
            total["unseen"] += len(reasons)
            for reason in reasons:
                unseen[reason] += 1
        count, most = len(theirs.retransmissions), len(ours.retransmissions)
        least = most - ours.facts["continued"]
        total["kernel"] += count
        total["ours"] += most
        total["split"] += max(0, most - count)
        copied = min(copies[ends], max(0, count - most))
        copies[ends] -= copied
        total["copied"] += copied
        if not least <= count - copied <= most:
            notes["retransmissions"].append(f"{where}: kernel {count}, ours {least}..{most}")
        compare_timers(where, theirs.timers, ours.timers, total, notes["timers"])
    return total, unseen, reached, notes


def point(good, text, notes=()):
    print(f"{'ok' if good else 'not ok'} - {text}")
    for note in notes:
        print(f"# {note}")
    return good


def main():
    kernel_path, probes_path, stopped_path, connections, near_path, far_path, *addresses = sys.argv[1:]
    with open(stopped_path, encoding="ascii") as file:
        monotonic, real = (int(word) for word in file.read().split())
    kernel = read_kernel(kernel_path, addresses, monotonic)
    probes = read_probes(probes_path, addresses, real - monotonic, monotonic)
    copies = collections.Counter()
    for path in (near_path, far_path):
        count_copies(path, copies)
    total, unseen, reached, notes = compare(kernel, probes, copies)
    good = [
        point(total["endpoints"] >= 2 * int(connections) and total["IPv6"] and not [s for s in WANTED if not reached[s]],
              "as many endpoints as there must be, of IPv6, too",
              [f"{total['endpoints']} endpoints, {total['IPv6']} of them IPv6"] +
              [f"{state} was reached {reached[state]} times" for state in WANTED]),
        point(not notes["states"], "states",
              [f"{total['right']} of {total['transitions'] - total['unseen']} visible transitions right"] + notes["states"] + [f"{count} not visible: {reason}" for reason, count in sorted(unseen.items())]),
        point(not notes["retransmissions"], "retransmissions",
              [f"kernel {total['kernel']}, ours {total['ours']}, {total['split']} of them further segments of one "
               f"super-packet; {total['copied']} of the kernel's have all bytes of a segment before"] +
              notes["retransmissions"]),
        # The cause is an estimate, because no packet shows all of the kernel's state: one wrong cause in fifty is allowed.
        point(total["wrong"] <= 2 + total["stacks"] // 50, "timers",
              [f"of {total['stacks']} retransmissions with a known cause, {total['timeout']} by the retransmission timer "
               f"and {total['probe']} tail-loss probes, {total['wrong']} reported otherwise"] + notes["timers"]),
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
