#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the tls probes with tshark, message by message.

    tls_messages.py NETOBSD [--explained FILE] CAPTURE...

Of each connection: the hellos in their order with server name, version and cipher suite, and the alerts that are not encrypted.
Prints each message that only one of the two has, and at the end the number of messages.  Exit status 1 if there is one that FILE
does not explain: a line of FILE is the capture's name, the number of differences, and the reason.
"""
import collections
import json
import os
import subprocess
import sys

FIELDS = ["tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "ip.dst", "ipv6.dst", "tcp.dstport", "tls.handshake.type",
          "tls.handshake.extensions_server_name", "tls.handshake.ciphersuite", "tls.handshake.version",
          "tls.handshake.extensions.supported_version", "tls.alert_message.desc", "tls.handshake.random"]
RETRY = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"


def first(layers, *fields):
    return next((layers[field][0] for field in fields if layers.get(field)), "")


def of_tshark(path):
    """(client, message) of each hello and alert.  Only the first hello of a frame is read: several in one are rare."""
    command = ["tshark", "-r", path, "-Y", "tls.handshake.type == 1 || tls.handshake.type == 2 || tls.alert_message.desc",
               "-T", "json", "-o", "tcp.desegment_tcp_streams:TRUE", "-o", "tls.desegment_ssl_records:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    for frame in json.loads(output or "[]"):
        layers = frame["_source"]["layers"]
        source = (first(layers, "ip.src", "ipv6.src"), int(first(layers, "tcp.srcport") or 0))
        destination = (first(layers, "ip.dst", "ipv6.dst"), int(first(layers, "tcp.dstport") or 0))
        types = layers.get("tls.handshake.type", [])
        version = int(first(layers, "tls.handshake.version") or "0", 0)
        if "1" in types:
            yield source, ("client-hello", first(layers, "tls.handshake.extensions_server_name"))
        elif "2" in types and first(layers, "tls.handshake.random").replace(":", "") != RETRY:
            chosen = layers.get("tls.handshake.extensions.supported_version")
            version = int(chosen[0], 0) if chosen else version
            yield destination, ("server-hello", version, int(first(layers, "tls.handshake.ciphersuite"), 0))
        for alert in layers.get("tls.alert_message.desc", []):
            yield min(source, destination, key=lambda end: -end[1]), ("alert", int(alert))


def of_netobsd(netobsd, path):
    output = subprocess.run([netobsd, "--view=monitor", "-r", path, "--print=tls-*", "--format=json"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=False).stdout
    for line in output.splitlines():
        firing = json.loads(line)
        ci, tls = firing["args"]
        client = (ci["ci_remote"], ci["ci_rport"])
        if firing["probe"] == "tls-client-hello":
            yield client, ("client-hello", tls["tls_sni"])
        elif firing["probe"] == "tls-server-hello":
            yield client, ("server-hello", tls["tls_version"], tls["tls_cipher"])
        elif firing["probe"] == "tls-alert" and tls["tls_alert_description"] >= 0:
            ends = (client, (ci["ci_local"], ci["ci_lport"]))
            yield min(ends, key=lambda end: -end[1]), ("alert", tls["tls_alert_description"])


def compare(netobsd, path):
    theirs, ours = collections.Counter(of_tshark(path)), collections.Counter(of_netobsd(netobsd, path))
    found = ["only tshark: %s" % (message,) for message in (theirs - ours).elements()]
    found += ["only netobsd: %s" % (message,) for message in (ours - theirs).elements()]
    return sum(theirs.values()), found


def read_explained(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {row[0]: int(row[1]) for row in rows}


def main():
    arguments, explained = sys.argv[1:], {}
    netobsd = arguments.pop(0)
    if arguments[0] == "--explained":
        explained = read_explained(arguments[1])
        arguments = arguments[2:]
    total, captures, different, failed = 0, 0, 0, False
    for path in arguments:
        count, found = compare(netobsd, path)
        name = "/".join(path.split(os.sep)[-2:])
        total, captures, different = total + count, captures + (count > 0), different + len(found)
        if len(found) != explained.get(name, 0):
            failed = True
            print("%s: %d differences, %d are explained" % (name, len(found), explained.get(name, 0)))
            for line in found[:20]:
                print("  " + line)
    print("%d messages of %d captures are as tshark has them, but for %d that are explained" % (total, captures, different))
    sys.exit(failed or total == 0)


main()
