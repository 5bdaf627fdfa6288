#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""http_messages.py NETOBSD EXPLAINED CAPTURE...: the http probes against tshark's HTTP dissector, message by message.

Compares, for each connection in order: method, target and Host of each request; status and time to the end of each final
response.  EXPLAINED lists the differences that are known: the name of the capture, "netobs" or "tshark" for what only
that one has, "request", "response" or "time", how many, and the reason, separated by tabs.  Prints each other difference, and in
the last line the numbers of messages.
"""
import collections
import itertools
import json
import os
import subprocess
import sys

FIELDS = ["tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "ip.dst", "ipv6.dst", "tcp.dstport", "http.request.method",
          "http.request.uri", "http.host", "http.response.code", "http.time", "http.content_length", "frame.number"]


def tshark(capture):
    command = ["tshark", "-r", capture, "-n", "-Y", "tcp and (http.request or http.response)", "-T", "fields", "-E", "separator=/t",
               "-E", "aggregator=\x02", "-o", "http.desegment_body:TRUE", "-o", "tcp.try_heuristic_first:FALSE",
               "-o", "tcp.reassemble_out_of_order:TRUE", "--enable-heuristic", "http_tcp"]
    for field in FIELDS:
        command += ["-e", field]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    connections = collections.defaultdict(lambda: ([], []))
    for line in output.decode("latin-1").split("\n"):
        if line == "":
            continue
        row = dict(zip(FIELDS, (value.split("\x02") for value in line.split("\t"))))
        # Of a tunnel or a quoted packet, the innermost addresses.
        source = (row["ip.src"][-1] or row["ipv6.src"][-1], int(row["tcp.srcport"][-1] or 0))
        target = (row["ip.dst"][-1] or row["ipv6.dst"][-1], int(row["tcp.dstport"][-1] or 0))
        if row["http.request.method"] != [""]:
            hosts = row["http.host"] + [""] * len(row["http.request.method"])
            for i, method in enumerate(row["http.request.method"]):
                connections[source, target][0].append((method, row["http.request.uri"][i], hosts[i]))
        if row["http.response.code"] != [""]:
            times = row["http.time"] + [""] * len(row["http.response.code"])
            for i, code in enumerate(row["http.response.code"]):
                if int(code) >= 200 or code == "101":
                    connections[target, source][1].append((int(code), times[i]))
    return connections


def netobs(netobsd, capture):
    connections = collections.defaultdict(lambda: ([], []))
    command = [netobsd, "-r", capture, "--view", "monitor", "--print=http-*", "--format", "json"]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    for line in output.decode("utf-8").splitlines():
        firing = json.loads(line)
        ci, rq = firing["args"][0], firing["args"][1]
        ends = (ci["ci_remote"], ci["ci_rport"]), (ci["ci_local"], ci["ci_lport"])
        if firing["probe"] == "http-request-start":
            connections[ends][0].append((rq["rq_method"], rq["rq_uri"], rq["rq_host"], rq["rq_uri_len"]))
        else:
            connections[ends][1].append((rq["rq_status"], rq["rq_total_us"]))
    return connections


def same_request(theirs, ours):
    return theirs[0][:15] == ours[0] and theirs[1][:255] == ours[1] and len(theirs[1]) == ours[3] and \
        theirs[2][:255] == ours[2]


def same_response(theirs, ours):
    return theirs[0] == ours[0]


def times(theirs, ours):
    """Yields the responses whose times differ.  tshark counts from the frame with the end of the request, netobs from its
    first byte."""
    if [code for code, _ in theirs] == [code for code, _ in ours]:
        for their, our in zip(theirs, ours):
            if their[1] != "" and 0 <= our[1] < float(their[1]) * 1000000 - 2:
                yield "netobs", "time", (their, our)


def compare(kind, theirs, ours, same):
    """Both lists in order; yields what is in one only."""
    theirs, ours = list(theirs), list(ours)
    while theirs or ours:
        if theirs and ours and same(theirs[0], ours[0]):
            theirs.pop(0)
            ours.pop(0)
        elif ours and not any(same(t, ours[0]) for t in theirs):
            yield "netobs", kind, ours.pop(0)
        else:
            yield "tshark", kind, theirs.pop(0)


def read_explained(path):
    explained = {}
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            capture, only, kind, count, _ = line.rstrip("\n").split("\t")
            explained[capture, only, kind] = int(count)
    return explained


def main():
    total, unexplained = collections.Counter(), 0
    explained = read_explained(sys.argv[2])
    for capture in sys.argv[3:]:
        theirs, ours = tshark(capture), netobs(sys.argv[1], capture)
        found = collections.defaultdict(list)
        for ends in sorted(set(theirs) | set(ours), key=str):
            their, our = theirs.get(ends, ([], [])), ours.get(ends, ([], []))
            answered = [response for response in our[1] if response[0] != 0]
            total["requests"] += len(their[0])
            total["responses"] += len(their[1])
            total["unanswered"] += len(our[1]) - len(answered)
            for only, kind, message in [*compare("request", their[0], our[0], same_request),
                                        *compare("response", their[1], answered, same_response),
                                        *times(their[1], answered)]:
                found[only, kind].append((ends, message))
        name = os.path.basename(capture)
        for only, kind in itertools.product(("netobs", "tshark"), ("request", "response", "time")):
            want = explained.get((name, only, kind), 0)
            total["explained differences"] += want
            if len(found[only, kind]) == want:
                continue
            unexplained += 1
            print(f"{name}: {len(found[only, kind])} {kind}s, not {want}, are only in {only}:")
            for (client, server), message in found[only, kind]:
                print(f"    {client[0]}:{client[1]} to {server[0]}:{server[1]}: {message}")
    print(", ".join(f"{total[word]} {word}" for word in ("requests", "responses", "unanswered", "explained differences")))
    sys.exit(1 if unexplained > 0 or total["requests"] == 0 else 0)


main()
