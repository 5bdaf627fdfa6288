#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the answer of an engine with one that is computed here from the same record lines.

    answers.py QUESTION ANSWER RECORDS     ANSWER has the rows that QUESTION.sql or QUESTION.jq printed, separated by tabs or
                                           commas; RECORDS is the directory with HOST.jsonl.  Prints the differences
    answers.py facts RECORDS               what is known of the connections of two_hosts.py, without any engine
"""
import csv
import ipaddress
import json
import pathlib
import sys

MINUTE = 60 * 10**9


def records(directory):
    for path in sorted(pathlib.Path(directory).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield {"host": path.stem, **json.loads(line)}


def worst_servers(every):
    servers = {}
    for record in every:
        servers.setdefault((record["host"], record["cr_server"], record["cr_server_port"]), []).append(record)
    rows = []
    for server, connections in servers.items():
        exchanges = sum(record["cr_exchanges"] for record in connections)
        waited = sum(record["cr_answer_mean_us"] * record["cr_exchanges"] for record in connections)
        rows.append((*server, len(connections), sum(record["cr_reason"] in ("refused", "unreachable", "no-answer") for record in connections),
                     exchanges, waited // exchanges if exchanges else -1, max(record["cr_answer_max_us"] for record in connections)))
    return sorted(rows, key=lambda row: (-row[4], -row[7], row[:3]))


def retransmissions(every):
    subnets = {}
    for record in every:
        if record["cr_protocol"] != 6:
            continue
        for end in "client", "server":
            address = ipaddress.ip_address(record[f"cr_{end}"])
            subnet = ipaddress.ip_network((address, 24 if address.version == 4 else 64), strict=False)
            sums = subnets.setdefault((record["host"], str(subnet)), [0, 0])
            sums[0] += record[f"cr_{end}_segments"]
            sums[1] += record[f"cr_{end}_resent"]
    rows = [(*subnet, *sums, 100 * sums[1] / sums[0]) for subnet, sums in subnets.items() if sums[1] > 0]
    return sorted(rows, key=lambda row: (-row[3], row[:2]))


def two_hosts(every):
    rows = []
    for a in every:
        for b in every:
            syn = a["cr_client_flags"] & 2 and b["cr_client_flags"] & 2
            if (a["host"] < b["host"] and a["cr_community"] == b["cr_community"] and (
                    a["cr_uid"] == b["cr_uid"] or not syn and abs(a["cr_start"] - b["cr_start"]) < MINUTE)):
                rows.append((a["cr_community"], a["host"], b["host"], a["cr_client"], a["cr_client_port"], a["cr_server"],
                             a["cr_server_port"], a["cr_client_segments"], b["cr_client_segments"], a["cr_server_segments"],
                             b["cr_server_segments"], a["cr_answer_max_us"], b["cr_answer_max_us"], a["cr_start"]))
    rows.sort(key=lambda row: (-abs(row[7] - row[8]) - abs(row[9] - row[10]), row[13]))
    return [row[:13] for row in rows]


def comparable(column, value):
    """A value as all engines print it: numbers, networks in one notation, nothing for what is unknown."""
    text = str(value).strip()
    if text in ("", "\\N", "NULL", "-1"):
        return ""
    if column == "subnet":
        if "/" in text:
            return str(ipaddress.ip_network(text))
        address = ipaddress.ip_address(text)  # ClickHouse prints the first address
        if address.version == 6 and address.ipv4_mapped:
            return f"{address.ipv4_mapped}/24"
        return f"{address}/64"
    if column == "percent":
        return float(text)
    return text


COLUMNS = {
    "worst-servers": (worst_servers, "host server port connections failed exchanges answer_mean answer_max".split()),
    "retransmissions": (retransmissions, "host subnet segments resent percent".split()),
    "two-hosts": (two_hosts, "community host_a host_b client client_port server server_port client_a client_b server_a server_b "
                             "answer_a answer_b".split()),
}


def alike(one, two):
    return abs(one - two) <= 0.0051 if isinstance(one, float) else one == two


def differences(question, answer, directory):
    compute, columns = COLUMNS[question]
    wanted = [[comparable(*pair) for pair in zip(columns, row)] for row in compute(list(records(directory)))]
    text = pathlib.Path(answer).read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines(), delimiter="\t" if "\t" in text else ","))
    if not rows or not 0 < len(wanted) <= 20:
        yield f"{len(rows)} rows, {len(wanted)} expected"
    for number, row in enumerate(rows):
        if len(row) != len(columns):
            yield f"row {number + 1} has {len(row)} columns, not {len(columns)}: {row}"
            return
        row = [comparable(*pair) for pair in zip(columns, row)]
        if number >= len(wanted) or not all(map(alike, row, wanted[number])):
            yield f"row {number + 1}: got {row}, wanted {wanted[number] if number < len(wanted) else 'none'}"
    for row in wanted[len(rows):]:
        yield f"missing: {row}"


def facts(directory):
    every = list(records(directory))
    worst = [row[:5] for row in worst_servers(every)]
    if worst[0] != ("alpha", "192.0.2.82", 25, 4, 4) or worst[1] != ("beta", "192.0.2.82", 25, 4, 4):
        yield f"the server that refuses four connections is not the worst: {worst[:2]}"
    if worst[2] != ("alpha", "192.0.2.83", 9, 1, 1):
        yield f"the server that does not answer is not the next one: {worst[2]}"
    if worst[3][1:3] != ("192.0.2.81", 80):
        yield f"the slow server is not the next one: {worst[3]}"
    resent = [row[:2] + row[3:4] for row in retransmissions(every)]
    if resent != [("alpha", "198.18.1.0/24", 6), ("beta", "192.0.2.0/24", 3), ("alpha", "198.18.0.0/24", 2),
                  ("alpha", "2001:db8:a:1::/64", 2)]:
        yield f"retransmissions: {resent}"
    pairs = two_hosts(every)
    lost = sum(abs(row[7] - row[8]) + abs(row[9] - row[10]) for row in pairs)
    if (len(pairs), lost) != (18, 12):
        yield f"{len(pairs)} connections at both hosts with {lost} segments lost between them, not 18 with 12"


if __name__ == "__main__":
    found = list(facts(sys.argv[2]) if sys.argv[1] == "facts" else differences(*sys.argv[1:4]))
    print("\n".join(found) or "alike")
    sys.exit(1 if found else 0)
