# SPDX-License-Identifier: BSD-2-Clause
"""Used by records.py: what the states of Zeek and Suricata at the end of a capture are in a connection record.

Each state has alternatives (reasons, states of the originator, states of the responder), each a set or None for any;
the client of a reason is the originator."""
import suricata

OPEN = {"capture-end", "idle", "evicted"}
CLOSING = {"fin-wait-1", "fin-wait-2", "closing", "last-ack", "time-wait"}
RESET = {"reset-by-client", "reset-by-server"}

# conn_state of a TCP connection in conn.log.
ZEEK_TCP = {
    "S0": [(OPEN | {"no-answer"}, {"syn-sent", "closed"}, {"", "listen", "closed", "syn-received"})],
    "S1": [(OPEN, {"established"}, {"established", "syn-received"}), (OPEN, {"syn-sent"}, {"syn-received"})],
    "S2": [(OPEN, CLOSING, {"established", "close-wait"})],
    "S3": [(OPEN, {"established", "close-wait"}, CLOSING)],
    "SF": [({"fin"}, None, None)],
    "REJ": [({"refused"}, None, None)],
    "RSTO": [({"reset-by-client"}, {"closed"}, None)],
    "RSTR": [({"reset-by-server"}, None, {"closed"})],
    "RSTOS0": [({"reset-by-client", "no-answer"}, {"closed"}, None)],
    "RSTRH": [({"reset-by-server"}, None, {"closed"})],
    "SH": [(OPEN | {"no-answer"}, CLOSING | {"syn-sent"}, {"", "listen", "closed", "close-wait"})],
    "SHR": [(OPEN | {"no-answer"}, {"", "syn-sent", "close-wait", "closed"}, CLOSING)],
    "OTH": [(OPEN, {"established", "syn-received", ""}, {"established", "syn-received", ""})],
}
# conn_state of a UDP stream: which ends have sent.
ZEEK_UDP = {"S0": (True, False), "SHR": (False, True), "SF": (True, True)}
# flow.state of Suricata: TCP by what may still come, UDP by which ends have sent.
SURICATA_TCP = {
    "new": [(None, {"syn-sent"}, None)],
    "established": [(OPEN, None, None)],
    "closed": [({"fin", "refused"} | RESET, None, None)],
}
SURICATA_UDP = {"new": ((True, False), (False, True)), "established": ((True, True),)}


def in_state(alternatives, record):
    found = (record.reason, *record.states)
    return any(all(allowed is None or value in allowed for allowed, value in zip(row, found)) for row in alternatives)


def zeek_state(wanted, record):
    if record.tcp:
        return in_state(ZEEK_TCP.get(wanted, []), record)
    return ZEEK_UDP.get(wanted) == tuple(count > 0 for count in record.packets)


def suricata_state(wanted, record):
    if record.tcp:
        return in_state(SURICATA_TCP.get(wanted, []), record)
    return tuple(count > 0 for count in record.packets) in SURICATA_UDP.get(wanted, ())


def suricata_tcp(wanted, record):
    """tcp.state of Suricata is one state of both ends."""
    return set(record.states) - {""} in suricata.ENDS.get(wanted, [])
