#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the tls probes with tshark, message by message.

    tls_messages.py NETOBSD [--explained FILE] CAPTURE...

tests/apps/tshark_messages.py says what it prints.  Of each connection: the hellos in their order with server name, version and
cipher suite, and the alerts that are not encrypted.
"""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from tshark_messages import ENDS, ends, firings, first, main, tshark_frames  # noqa: E402  # pylint: disable=wrong-import-position

FIELDS = ENDS + ["tls.handshake.type", "tls.handshake.extensions_server_name", "tls.handshake.ciphersuite", "tls.handshake.version",
                 "tls.handshake.extensions.supported_version", "tls.alert_message.desc", "tls.handshake.random"]
DISPLAY = "tls.handshake.type == 1 || tls.handshake.type == 2 || tls.alert_message.desc"
RETRY = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"


def of_tshark(path):
    """(client, message) of each hello and alert.  Only the first hello of a frame is read: several in one are rare."""
    for frame in tshark_frames(path, DISPLAY, FIELDS, "-o", "tcp.desegment_tcp_streams:TRUE", "-o", "tls.desegment_ssl_records:TRUE"):
        source, destination = ends(frame)
        types = frame.get("tls.handshake.type", [])
        version = int(first(frame, "tls.handshake.version") or "0", 0)
        if "1" in types:
            yield source, ("client-hello", first(frame, "tls.handshake.extensions_server_name"))
        elif "2" in types and first(frame, "tls.handshake.random").replace(":", "") != RETRY:
            chosen = frame.get("tls.handshake.extensions.supported_version")
            version = int(chosen[0], 0) if chosen else version
            yield destination, ("server-hello", version, int(first(frame, "tls.handshake.ciphersuite"), 0))
        for alert in frame.get("tls.alert_message.desc", []):
            yield min(source, destination, key=lambda end: -end[1]), ("alert", int(alert))


def of_netobsd(netobsd, path):
    for firing in firings(netobsd, path, "tls-*"):
        ci, tls = firing["args"]
        client = (ci["ci_remote"], ci["ci_rport"])
        if firing["probe"] == "tls-client-hello":
            yield client, ("client-hello", tls["tls_sni"])
        elif firing["probe"] == "tls-server-hello":
            yield client, ("server-hello", tls["tls_version"], tls["tls_cipher"])
        elif firing["probe"] == "tls-alert" and tls["tls_alert_description"] >= 0:
            both = (client, (ci["ci_local"], ci["ci_lport"]))
            yield min(both, key=lambda end: -end[1]), ("alert", tls["tls_alert_description"])


def compare(netobsd, path):
    theirs, ours = collections.Counter(of_tshark(path)), collections.Counter(of_netobsd(netobsd, path))
    found = ["only tshark: %s" % (message,) for message in (theirs - ours).elements()]
    found += ["only netobsd: %s" % (message,) for message in (ours - theirs).elements()]
    return sum(theirs.values()), found


main(compare)
