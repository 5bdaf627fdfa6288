#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""iscsi_pdus.py NETOBSD CAPTURE [at-least PROBE...]: every iscsi probe against tshark's iSCSI dissector, PDU by PDU.

Both read the same capture; the n-th firing must be the n-th PDU of tshark that has a probe, completed by the same frame at
the same time, on the same connection, with the same fields; the names must be those in the login of that connection.
PROBEs must occur, so that an empty capture fails.
"""
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

PROBES = {
    0x00: "nop-receive", 0x01: "scsi-command", 0x02: "task-command", 0x03: "login-command", 0x04: "text-command",
    0x05: "data-receive", 0x06: "logout-command", 0x20: "nop-send", 0x21: "scsi-response", 0x22: "task-response",
    0x23: "login-response", 0x24: "text-response", 0x25: "data-send", 0x26: "logout-response", 0x31: "data-request",
    0x32: "async-send",
}
TARGET_PORT = 3260


class Pdu:
    """One PDU of tshark."""

    def __init__(self, frame, tree):
        self.frame, self.fields, self.keys = frame, {}, []
        for field in tree.iter("field"):
            name, show = field.get("name"), field.get("show")
            if name == "iscsi.keyvalue":
                self.keys.append(show)
            self.fields.setdefault(name, show)
        self.scsi_opcode = None
        self.opcode = self.number("iscsi.opcode")

    def number(self, *names):
        for name in names:
            if name in self.fields:
                return int(self.fields[name], 0)
        return 0


def take_frame(element):
    """The PDUs of one frame, each with the number, addresses and ports of the frame."""
    frame = {"number": 0, "ports": (), "hosts": ()}
    pdus = []
    for proto in element.findall("proto"):
        name = proto.get("name")
        of = {field.get("name"): field.get("show") for field in proto.iter("field")}
        if name == "geninfo":
            frame["number"] = int(of["num"])
        elif name == "ip":
            frame["hosts"] = (of["ip.src"], of["ip.dst"])
        elif name == "tcp":
            frame["ports"] = (int(of["tcp.srcport"]), int(of["tcp.dstport"]))
            frame["stream"] = of["tcp.stream"]
        elif name == "iscsi":
            pdus.append(Pdu(frame, proto))
        elif name == "scsi" and pdus and pdus[-1].opcode == 0x01:
            for field in proto.iter("field"):
                if field.get("name").endswith(".opcode") and pdus[-1].scsi_opcode is None:
                    pdus[-1].scsi_opcode = int(field.get("show"), 0)
    return pdus


def tshark_pdus(capture):
    # Port 3260 is set explicitly: tshark tries other protocols first, and an initiator's ephemeral port may be one of
    # theirs (44322 is pmproxy's).
    command = ["tshark", "-r", capture, "-Y", "iscsi", "-T", "pdml", "-o", "iscsi.target_ports:3260", "-d",
               "tcp.port==3260,iscsi"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for _, element in ElementTree.iterparse(process.stdout):
            if element.tag == "packet":
                yield from take_frame(element)
                element.clear()


def firings(netobsd, capture):
    command = [netobsd, "-r", capture, "--print=iscsi-*", "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    for line in done.stdout.splitlines():
        yield json.loads(line)


class Names:
    """Names of initiator and target of each connection, from its login."""

    def __init__(self):
        self.of = {}

    def add_login(self, pdu):
        names = self.of.setdefault(pdu.frame["stream"], {"InitiatorName": "", "TargetName": ""})
        if pdu.opcode == 0x03:
            for pair in pdu.keys:
                key, _, value = pair.partition("=")
                if key in names:
                    names[key] = value
        return names


def expected(pdu, names):
    """The fields that the contract requires."""
    from_target = pdu.opcode >= 0x20
    has_status = pdu.opcode != 0x25 or pdu.number("iscsi.scsidata.S") == 1
    hosts, ports = pdu.frame["hosts"], pdu.frame["ports"]
    local = 0 if from_target else 1
    want = {
        "ci_local": hosts[local], "ci_remote": hosts[1 - local], "ci_lport": ports[local], "ci_rport": ports[1 - local],
        "ci_protocol": "ipv4", "ci_pkt": pdu.frame["number"],
        "ii_target": names["TargetName"], "ii_initiator": names["InitiatorName"],
        "ii_opcode": pdu.opcode, "ii_itt": pdu.number("iscsi.initiatortasktag"),
        "ii_lun": pdu.number("scsi.lun"),
        "ii_ttt": pdu.number("iscsi.targettransfertag"),
        "ii_cmdsn": pdu.number("iscsi.cmdsn"),
        "ii_statsn": pdu.number("iscsi.statsn") if has_status else 0,
        "ii_datasn": pdu.number("iscsi.datasn", "iscsi.r2tsn"),
        "ii_datalen": pdu.number("iscsi.datasegmentlength"),
        "ii_offset": pdu.number("iscsi.bufferOffset"),
        "ii_status": pdu.number("iscsi.scsiresponse.status", "iscsi.login.status") if has_status else 0,
        "ii_response": pdu.number("iscsi.scsiresponse.response", "iscsi.logout.response",
                                  "iscsi.taskmanfun.response"),
        "ii_xferlen": pdu.number("iscsi.scsicommand.expecteddatatransferlength", "iscsi.desireddatalength"),
    }
    if "iscsi.flags" in pdu.fields:
        want["ii_flags"] = pdu.number("iscsi.flags")
    elif pdu.opcode in (0x03, 0x23):
        want["ii_flags"] = (pdu.number("iscsi.login.T") << 7 | pdu.number("iscsi.login.C") << 6 |
                            pdu.number("iscsi.login.csg") << 2 | pdu.number("iscsi.login.nsg"))
    elif pdu.opcode == 0x02:
        want["ii_flags"] = 0x80 | pdu.number("iscsi.taskmanfun.function")
    elif pdu.opcode == 0x06:
        want["ii_flags"] = 0x80 | pdu.number("iscsi.logout.reason")
    if pdu.scsi_opcode is not None:
        want["ic_opcode"] = pdu.scsi_opcode
    # Data-In needs LUN and tag only if it must be acknowledged; tshark shows them only then.
    if pdu.opcode == 0x25 and "iscsi.targettransfertag" not in pdu.fields:
        del want["ii_lun"], want["ii_ttt"]
    return want


def compare(number, firing, pdu, names):
    wrong = []
    if firing["probe"] != "iscsi-" + PROBES[pdu.opcode]:
        wrong.append(f"probe {firing['probe']}, PDU {PROBES[pdu.opcode]}")
    fields = {key: value for arg in firing["args"] if arg for key, value in arg.items()}
    # If a login stays in its stage, tshark does not show the next one.
    if pdu.opcode in (0x03, 0x23) and "iscsi.login.nsg" not in pdu.fields:
        fields["ii_flags"] &= ~3
    for key, value in expected(pdu, names).items():
        if fields.get(key) != value:
            wrong.append(f"{key} {fields.get(key)}, tshark {value}")
    return [f"PDU {number}, frame {pdu.frame['number']}, {firing['probe']}: {line}" for line in wrong]


def main():
    netobsd, capture, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    names, wrong, kinds = Names(), [], {}
    fired = list(firings(netobsd, capture))
    pdus = []
    for pdu in tshark_pdus(capture):
        of_connection = dict(names.add_login(pdu))
        if pdu.opcode in PROBES:
            pdus.append((pdu, of_connection))
            kinds[PROBES[pdu.opcode]] = kinds.get(PROBES[pdu.opcode], 0) + 1
    if len(fired) != len(pdus):
        wrong.append(f"{len(fired)} firings for {len(pdus)} PDUs")
    for number, (firing, (pdu, of_connection)) in enumerate(zip(fired, pdus), 1):
        wrong += compare(number, firing, pdu, of_connection)
    wrong += [f"no {probe} in the capture" for probe in wanted if probe not in kinds]
    for line in wrong[:20]:
        print(line)
    print(f"{len(pdus)} PDUs: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    sys.exit(1 if wrong else 0)


main()
