#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Names that try to forge output and to control a terminal, for tests/scripts/names.sh and names_traced.sh.

    evil_names.py CAPTURE OUT           writes a capture of tests/captures with such names in place of its own, of equal
                                        length; prints how many it has replaced
    evil_names.py dtrace NAME           writes what DTrace would for the D script on standard input: each of its texts once,
                                        with NAME, or such a name, for each %s
"""
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "lib"))
import capture_frames  # noqa: E402  # pylint: disable=wrong-import-position

CONTROL = b"\x1b]0;x\x07\x1b[2J\x9b\xc2\x9b\xe2\x80\xae\\\"%s\x7f"
FORGED = b"]: 1\n\n@x[y]: 7\n@h[z]: \n[4, 8)  9 |@@@|\nLost 9 events\nstdin:1:1-9: WARNING: Map full\nmissed 9 firings\n"


def fit(text, length):
    """The text, cut or filled up."""
    return (text + b"n" * length)[:length]


def of_tls(names):
    """Each has another part of what could be forged."""
    texts = (b"a]: \n[8, 9) 1 |@|", b"b]: 1\n\n@x[y]: 77\n", b"\nLost 99 events\n", b"\x1b[2J\x9b\xc2\x9b\xe2\x80\xae\\\"%s\x7f\t",
             b"\r\n\nmissed 9 f\\n", b"\\x0a\n\\\\\n\\x1b[m\n", b"\xc2\x85\xe2\x80\xa8\xe2\x81\xa6\xff\xfe\x80\xed\xa0\x80\v")
    return [(name + b".example.com", text) for name, text in zip(names, texts)]


# No space and no line break can be in a request target, and no NUL in any of the names; netobsd itself escapes names of DNS.
REPLACED = {
    "tls.pcap": of_tls((b"seven", b"three", b"five", b"four", b"one", b"two", b"six")),
    "http.pcap": [(b"/silence", b"/" + CONTROL[-7:]), (b"/" + b"a" * 40, fit(b"/" + CONTROL + b"]:\x091", 41)),
                  (b"/" + b"b" * 40, fit(b"/\\\\" + CONTROL, 41)), (b"/unmodified", fit(b"/\\x1b" + CONTROL[-8:], 11)),
                  (b"refused.example:443", fit(CONTROL, 15) + b":443")],
    "iscsi.pcap": [(b"iqn.2026-11.net.netobs:disk1-not-there", fit(FORGED[4:], 38)),
                   (b"iqn.2026-11.net.netobs:disk1", fit(CONTROL, 28)), (b"iqn.2026-11.net.netobs:disk2", fit(FORGED, 28))],
    "smb.pcap": [(name.encode("utf-16le"), text.encode("utf-16le")) for name, text in
                 (("second", "]: 1\n\x1b"), ("sub\\\u00fcn\u00ef", "\n\x85\\\x9b%s\""), ("files", "\n\x9b\u202e\"s"),
                  ("file", "\n\x1b\u202e%"))],
    "dns.pcap": [(b"\x07missing", b"\x07\n\x1b\x9b\\\"%s"), (b"\x04mail", b"\x04\n]: ")],
}
ROWS = b"\n\n           value  ------------- Distribution ------------- count\n               1 |@@@@@@@@  7\n"


def sum16(data):
    total = sum(struct.unpack("!%dH" % ((len(data) + 1) // 2), data + bytes(len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def corrected(frame, data):
    """The changed data of a frame of IPv4 on Ethernet; its checksum is as right or as wrong as before."""
    if frame.data == data:
        return frame
    header = 14 + 4 * (data[14] & 15)
    at = header + (16 if data[23] == 6 else 6)
    old, = struct.unpack_from("!H", data, at)
    total = (~old & 0xFFFF) + (~sum16(frame.data[header:]) & 0xFFFF) + sum16(data[header:])
    data = data[:at] + struct.pack("!H", ~sum16(struct.pack("!I", total)) & 0xFFFF) + data[at + 2:]
    return frame._replace(data=data)


def replace_names(path, out):
    replaced, frames, count = REPLACED[os.path.basename(path)], [], 0
    if any(len(name) != len(evil) for name, evil in replaced):
        sys.exit("names of unequal lengths")
    for frame in capture_frames.read(path):
        data = frame.data
        for name, evil in replaced:
            count += data.count(name)
            data = data.replace(name, evil)
        frames.append(corrected(frame, data))
    capture_frames.write_pcap(out, 1, frames)
    print(count)


def write_dtrace(program, name):
    """With rows for aggregations of quantize()."""
    for text, maps in re.findall(rb'print[fa]\("((?:[^"\\]|\\.)*)"([^;]*)', program):
        of_rows = any(re.search(rb"@" + found + rb"(\[[^;]*\])? = quantize", program) for found in re.findall(rb"@(\w+)", maps))
        number = ROWS if of_rows else b"7"
        for conversion, text_of in ((rb"%-?[0-9]*s", name), (rb"%@d", number), (rb"%[0-9]*[dux]|%04x", b"7"), (rb"%Y", b"2026")):
            text = re.sub(conversion, lambda _, given=text_of: given, text)
        sys.stdout.buffer.write(text.replace(b"\\n", b"\n"))


def main():
    if sys.argv[1] == "dtrace":
        write_dtrace(sys.stdin.buffer.read(), CONTROL + FORGED + CONTROL if sys.argv[2] == "evil" else sys.argv[2].encode())
    else:
        replace_names(*sys.argv[1:])


main()
