#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""http_messages.py NETOBSD CAPTURE...: the http probes against tshark's HTTP dissector, message by message.

Compares, for each connection in order: method, target and Host of each request; status, method and time to the end of
each final response that follows a request.  Prints each difference, and in the last line the numbers of messages.
"""
import collections
import json
import subprocess
import sys

FIELDS = ["tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "ip.dst", "ipv6.dst", "tcp.dstport", "http.request.method",
          "http.request.uri", "http.host", "http.response.code", "http.time", "http.content_length", "frame.number"]


def tshark(capture):
    command = ["tshark", "-r", capture, "-n", "-Y", "http.request or http.response", "-T", "fields", "-E", "separator=/t",
               "-E", "aggregator=\x02", "-o", "http.desegment_body:TRUE", "-o", "tcp.try_heuristic_first:FALSE",
               "-o", "tcp.reassemble_out_of_order:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    connections = collections.defaultdict(lambda: ([], []))
    for line in output.decode("latin-1").split("\n"):
        if line == "":
            continue
        row = dict(zip(FIELDS, (value.split("\x02") for value in line.split("\t"))))
        source = (row["ip.src"][0] or row["ipv6.src"][0], int(row["tcp.srcport"][0] or 0))
        target = (row["ip.dst"][0] or row["ipv6.dst"][0], int(row["tcp.dstport"][0] or 0))
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
    if theirs[0] != ours[0]:
        return False
    # tshark counts from the frame with the end of the request, netobs from its first byte.
    return theirs[1] == "" or ours[1] < 0 or ours[1] + 1 >= float(theirs[1]) * 1000000 - 1


def compare(capture, what, theirs, ours, same):
    """Both lists in order; prints what is in one only."""
    differences = 0
    theirs, ours = list(theirs), list(ours)
    while theirs or ours:
        if theirs and ours and same(theirs[0], ours[0]):
            theirs.pop(0)
            ours.pop(0)
        elif ours and not any(same(t, ours[0]) for t in theirs):
            print(f"{capture}: {what}: only netobs: {ours.pop(0)}")
            differences += 1
        else:
            print(f"{capture}: {what}: only tshark: {theirs.pop(0)}")
            differences += 1
    return differences


def main():
    total = collections.Counter()
    for capture in sys.argv[2:]:
        theirs, ours = tshark(capture), netobs(sys.argv[1], capture)
        for ends in sorted(set(theirs) | set(ours), key=str):
            their, our = theirs.get(ends, ([], [])), ours.get(ends, ([], []))
            what = f"{ends[0][0]}:{ends[0][1]} to {ends[1][0]}:{ends[1][1]}"
            answered = [response for response in our[1] if response[0] != 0]
            total["requests"] += len(their[0])
            total["responses"] += len(their[1])
            total["unanswered"] += len(our[1]) - len(answered)
            total["differences"] += compare(capture, what, their[0], our[0], same_request)
            total["differences"] += compare(capture, what, their[1], answered, same_response)
    print(", ".join(f"{total[word]} {word}" for word in ("requests", "responses", "unanswered", "differences")))
    sys.exit(1 if total["differences"] > 0 or total["requests"] == 0 else 0)


main()
