#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mutations.py BUILD COUNT SEED DIRECTORY CAPTURE...: runs the programs of BUILD on COUNT damaged captures.

Each run takes one of the CAPTUREs, or the frames of two, damages the frames, the file, or the compressed file, and reads
it in one of the modes of netobsd, netobs-report, netobs-split and netobs conns.  A run must end by itself with a
documented status, within limits of processor time and output; a failure has a message; what is printed is ASCII, or in JSON and pages
UTF-8, without control characters, and as JSON is JSON; a capture that it has written can be read.  A program with
sanitizers must not report anything.

Number and seed give the run: COUNT may be FIRST-LAST.  The input of a run that fails stays in DIRECTORY, with the command.
"""
import collections
import gzip
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import unicodedata

CAPTURE_MAX = 60000  # bytes of an input
CPU_MAX = 60  # seconds of processor time of a run, which takes less than one
WAIT_MAX = 900  # seconds until a run that waits is ended
OUTPUT_MAX = 128 << 20  # bytes of a file that a run writes
JSON_LINES = 500  # of an output are parsed
SANITIZER_STATUS = 99
RUNS = ("print", "print", "json", "json", "summary", "records", "write", "write", "split", "report", "conns")
NASTY = [b"\x1b[2J", b"\x9b31m", b"\r\n\r\n", b"\0", b"\x7f", b"\xff\xfe", b"\xe2\x80\xae", b"</script>", b"\"\\", b"%n%s", b"\xc2\x85"]
EDGES = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 19, 20, 21, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF]


# --------------------------------------------------------------------------------------------------------- the captures

class Pcap:
    """A classic capture: its header and its records."""

    def __init__(self, data):
        self.order = {b"\xa1\xb2": ">", b"\xd4\xc3": "<", b"\x4d\x3c": "<"}.get(data[:2])
        if self.order is None or len(data) < 24:
            raise ValueError
        self.head, self.frames = bytearray(data[:24]), []
        at = 24
        while at + 16 <= len(data):
            times = list(struct.unpack_from(self.order + "IIII", data, at))
            frame = bytearray(data[at + 16:at + 16 + times[2]])
            at += 16 + times[2]
            self.frames.append((times, frame))

    def link_type(self):
        return struct.unpack_from(self.order + "I", self.head, 20)[0] & 0xFFFF

    def data(self):
        parts = [bytes(self.head)]
        for times, frame in self.frames:
            parts += [struct.pack(self.order + "IIII", *times), bytes(frame)]
        return b"".join(parts)


def read(path):
    content = pathlib.Path(path).read_bytes()
    try:
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError):
        return content


def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", bytes(data) + bytes(len(data) % 2)))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return ~total & 0xFFFF


def mend(frame, link_type):
    """Sets the checksums of IPv4, TCP and UDP, so that damage after them is read."""
    at = {1: 14, 101: 0, 12: 0, 0: 4, 113: 16}.get(link_type)
    if at is None or len(frame) < at + 20 or frame[at] >> 4 != 4:
        return
    header, total = (frame[at] & 15) * 4, struct.unpack_from(">H", frame, at + 2)[0]
    if header < 20 or total < header or at + total > len(frame):
        return
    struct.pack_into(">H", frame, at + 10, 0)
    struct.pack_into(">H", frame, at + 10, checksum(frame[at:at + header]))
    place = {6: 16, 17: 6}.get(frame[at + 9])
    if place is None or total < header + place + 2:
        return
    segment = frame[at + header:at + total]
    struct.pack_into(">H", segment, place, 0)
    pseudo = frame[at + 12:at + 20] + struct.pack(">HH", frame[at + 9], len(segment))
    struct.pack_into(">H", frame, at + header + place, checksum(pseudo + segment))


# --------------------------------------------------------------------------------------------------------------- damage

def damage_bytes(rng, data):
    """Changes some bytes, all lengths included."""
    if not data:
        return
    at, room = rng.randrange(len(data)), rng.randrange(1, 40)
    kind = rng.randrange(8)
    if kind == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        data[at:at + room] = bytes([rng.choice((0, 0xFF, 0x41, rng.randrange(256)))]) * room
    elif kind == 2:
        data[at:at + 2] = struct.pack(rng.choice("<>") + "H", rng.choice(EDGES))
    elif kind == 3:
        data[at:at + 4] = struct.pack(rng.choice("<>") + "I", rng.choice(EDGES) << rng.choice((0, 0, 8, 16)))
    elif kind == 4:
        nasty = rng.choice(NASTY)
        data[at:at + len(nasty)] = nasty
    elif kind == 5:
        del data[at:at + room]
    elif kind == 6:
        data[at:at] = data[at:at + room]
    else:
        data[at:at + room] = rng.randbytes(room)


def damage_time(rng, capture, times):
    kind = rng.randrange(6)
    if kind == 0:
        times[0] = rng.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF))
    elif kind == 1:
        times[0] = max(0, times[0] - rng.choice((1, 60, 86400, 10 ** 8)))
    elif kind == 2:
        times[0] = min(0xFFFFFFFF, times[0] + rng.choice((1, 130, 86400 * 6, 10 ** 8)))
    elif kind == 3:
        times[1] = rng.choice((0, 999999, 10 ** 6, 10 ** 9 - 1, 0xFFFFFFFF))
    else:
        from_here = rng.randrange(len(capture.frames))
        step = rng.choice((-3600, -5, 5, 3600, 10 ** 6))
        for later, _ in capture.frames[from_here:]:
            later[0] = min(max(later[0] + step, 0), 0xFFFFFFFF)


def damage_frames(rng, capture, other):
    """Changes the frames of a capture, their order, times and lengths; inserts those of another one."""
    for _ in range(rng.choice((1, 2, 4, 16))):
        if not capture.frames:
            return
        number = rng.randrange(len(capture.frames))
        times, frame = capture.frames[number]
        kind = rng.randrange(16)
        if kind < 8:
            damage_bytes(rng, frame)
            if rng.randrange(3) > 0:
                mend(frame, capture.link_type())
            if rng.randrange(8) > 0:
                times[2:] = [len(frame), max(times[3], len(frame))]
        elif kind == 8:
            del frame[rng.randrange(len(frame) + 1):]
            times[2] = len(frame)
        elif kind == 9:
            times[2 + rng.randrange(2)] = rng.choice(EDGES) << rng.choice((0, 0, 8, 16))
        elif kind == 10:
            capture.frames.insert(rng.randrange(len(capture.frames) + 1), (list(times), bytearray(frame)))
        elif kind == 11:
            place = rng.randrange(len(capture.frames))
            capture.frames[number], capture.frames[place] = capture.frames[place], capture.frames[number]
        elif kind == 12:
            del capture.frames[number:number + rng.choice((1, 1, 3))]
        elif kind == 13 and other is not None and other.frames:
            first = rng.randrange(len(other.frames))
            capture.frames[number:number] = [(list(t), bytearray(f)) for t, f in other.frames[first:first + 8]]
        elif kind == 14:
            capture.frames.reverse()
        else:
            damage_time(rng, capture, times)


def damage_head(rng, capture):
    place = rng.choice((0, 4, 8, 16, 20, 20))
    struct.pack_into(capture.order + "I", capture.head, place,
                     rng.choice((0, 1, 9, 101, 113, 147, 276, 0x0A0D0D0A, 0xA1B23C4D, 0xFFFFFFFF, rng.getrandbits(32))))


def damage_blocks(rng, data):
    """Repeats, moves or removes a block of pcapng, or changes its type or length."""
    blocks, at = [], 0
    while at + 12 <= len(data):
        length = struct.unpack_from("<I", data, at + 4)[0]
        if length < 12 or at + length > len(data):
            break
        blocks.append(bytearray(data[at:at + length]))
        at += length
    if not blocks:
        return data
    number, kind = rng.randrange(len(blocks)), rng.randrange(6)
    if kind == 0:
        blocks.insert(rng.randrange(len(blocks) + 1), bytearray(blocks[number]))
    elif kind == 1:
        del blocks[number]
    elif kind == 2:
        struct.pack_into("<I", blocks[number], 0, rng.choice((1, 2, 3, 4, 5, 6, 0x0A0D0D0A, 0xBAD)))
    elif kind == 3:
        struct.pack_into("<I", blocks[number], rng.choice((4, len(blocks[number]) - 4)), rng.choice(EDGES))
    else:
        damage_bytes(rng, memory := blocks[number][8:-4])
        blocks[number][8:-4] = memory
    return bytearray(b"".join(blocks)) + data[at:]


def zstd(data):
    """A frame of raw blocks (RFC 8878)."""
    return (struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data)) + struct.pack("<I", 1 | len(data) << 3)[:3] + bytes(data))


def damaged(rng, captures):
    """The bytes of an input."""
    data, other = rng.choice(captures)[:CAPTURE_MAX], rng.choice(captures)[:CAPTURE_MAX]
    try:
        capture = Pcap(data)
        try:
            other = Pcap(other)
        except ValueError:
            other = None
        if rng.randrange(8) > 0:
            damage_frames(rng, capture, other)
        if rng.randrange(16) == 0:
            damage_head(rng, capture)
        data = bytearray(capture.data())
    except ValueError:
        data = bytearray(data)
        for _ in range(rng.choice((1, 1, 3))):
            data = damage_blocks(rng, data)
    if rng.randrange(5) == 0:
        damage_bytes(rng, data)
    if rng.randrange(12) == 0:
        del data[rng.randrange(len(data) + 1):]
    pack = rng.randrange(12)
    if pack < 2:
        data = bytearray(gzip.compress(bytes(data), 1, mtime=0) if pack == 0 else zstd(data))
        for _ in range(rng.randrange(3)):
            damage_bytes(rng, data)
    return bytes(data)


# ------------------------------------------------------------------------------------------------------------- the modes

FORMULAS = ["x = tcp-*, 3 times in 1s by cs_cid", "x = ip-send where ip_plength > 60 counted", "x = udp-send where pcap(\"udp port 53\")",
            "x = gld-* where pcap(\"tcp[tcpflags] & tcp-syn != 0\")", "x = connection-end where cr_name ~ \"*e*\" || cr_client_bytes > 100",
            "x = dns-*, 2 times in 1min by dns_qname",
            "x = tcp-*, 2 distinct cs_cid in 1s", "x = tcp-receive where tcp_window == 0 for 1ms by cs_cid",
            "x = tcp-send, no tcp-receive within 1ms by cs_cid", "x = http-request-done where rq_status >= 400"]
PROBES = ["tcp-*", "tcp-state-change", "connection-*", "dns-*,http-*,tls-*,smb-*,iscsi-*", "ip-*,udp-*,sctp-*"]


def some(rng, *options):
    """An option, or none."""
    return [rng.choice(options)] if rng.randrange(3) == 0 else []


def window(rng, data):
    """Options of a window of packet time around the first packets of a classic capture."""
    first = struct.unpack_from("<I", data, 24)[0] if len(data) > 28 else 0
    begin = first + rng.choice((0, 0, 1, 3))
    return rng.choice(([f"--from={begin}"], [f"--to={begin + 1}"], [f"--from={begin}", f"--to={begin + 2}"],
                       [f"--from={begin}", f"--lead-in={rng.choice((0.1, 100))}"]))


def common(rng, data):
    return ((window(rng, data) if rng.randrange(4) == 0 else []) + some(rng, "--view=host", "--view=both", "--view=monitor") + some(rng, "--local=10.0.0.0/8", "--local=::/0", "--local=0.0.0.0/1") +
            some(rng, *(f"--max-flows={flows}" for flows in range(16, 41))) + some(rng, "--no-inner", "--ports-only") +
            some(rng, "--tcp-idle=0.1", "--udp-idle=0.01", "--time-wait=0.001", "--connect-timeout=0.5") +
            some(rng, "--strict", "--workers=3", "--active-records=1", "--http-port=80,443,8080,139", "--dns-port=53,80", "--app-timeout=0.01"))


def printing(rng):
    return (["--formula", rng.choice(FORMULAS)] if rng.randrange(2) == 0 else []) + ["--print" + rng.choice(["", "", f"={rng.choice(PROBES)}"])]


def flight(rng):
    if rng.randrange(3) > 0:
        return []
    return ["--flight-memory=" + rng.choice(("1M", "3M"))] + some(rng, "--flight-snap=40") + some(rng, "--flight-bytes=1")


def recorded(rng, directory):
    definition = rng.choice(FORMULAS)
    names = ["x", "connection-end", "tcp-state-change", "udp-stream-start"]
    options = ["--formula", definition]
    for number, name in enumerate(rng.sample(names, rng.randrange(1, 3))):
        options += ["--write", f"{name}={directory}/record-{number}"]
    return (options + [f"--write-format={rng.choice(('pcapng', 'pcap', 'snoop'))}"] + flight(rng))


def tabled(rng, directory):
    return ([rng.choice(("--records", f"--records={directory}/records"))] + some(rng, "--records-where=cr_client_bytes > 10") +
            some(rng, "--records-limit=3") +
            (["--records-services"] if rng.random() < 0.2 else
             some(rng, "--records-sort=cr_client_bytes", "--records-sort=-cr_client") +
             some(rng, "--records-fields=cr_uid,cr_name,cr_reason,cr_anomaly")))


class Run:
    """A command and what it may do."""

    def __init__(self, rng, kind, build, directory, path, data):
        self.kind, self.stdin = kind, None
        program = f"{build}/netobsd"
        if kind == "report":
            self.command = [f"{build}/netobs-report", path]
        elif kind == "split":
            self.command = ([f"{build}/netobs-split", f"--number={rng.randrange(1, 4)}", "-w", f"{directory}/part", path] +
                            some(rng, "--filter=tcp", "--filter=udp or sctp", "--filter=ip6", "--filter=greater 70"))
        elif kind == "conns":
            self.command = [f"{build}/netobs", "conns", path] + (["--json"] if rng.randrange(2) == 0 else [])
        else:
            options = common(rng, data)
            if kind in ("print", "json"):
                options += printing(rng) + ([f"--format={'json' if kind == 'json' else 'text'}"])
            elif kind == "summary":
                options += ["--summary"]
            elif kind == "records":
                options += tabled(rng, directory)
            else:
                options += recorded(rng, directory)
            options += some(rng, "tcp", "udp or sctp", "ip6", "greater 70")
            if rng.randrange(4) == 0:
                self.stdin, path = path, "-"
            self.command = [program, "-r", path] + options
        self.json = "--json" in self.command or "--format=json" in self.command


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_MAX, CPU_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_MAX, OUTPUT_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def execute(run, build, directory):
    """Runs it; returns its status, and -1 if it had to be ended."""
    env = dict(os.environ, ASAN_OPTIONS=f"exitcode={SANITIZER_STATUS}", UBSAN_OPTIONS=f"halt_on_error=1:exitcode={SANITIZER_STATUS}",
               LC_ALL="C", TZ="UTC", TMPDIR=str(directory), NETOBSD=f"{build}/netobsd")
    with open(directory / "out", "wb") as out, open(directory / "err", "wb") as err:
        # A pipe: netobsd cannot read standard input again.
        feeder = subprocess.Popen(["cat", run.stdin], stdout=subprocess.PIPE) if run.stdin else None
        program = subprocess.Popen(run.command, stdin=feeder.stdout if feeder else subprocess.DEVNULL, stdout=out, stderr=err, env=env,
                                   preexec_fn=limit)
        if feeder:
            feeder.stdout.close()
        try:
            status = program.wait(WAIT_MAX)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            status = -1
        if feeder:
            feeder.wait()
    return status


# --------------------------------------------------------------------------------------------------------- what is wrong

def is_hidden(character):
    """Whether it controls a terminal, or is not shown, or changes the direction of text."""
    return character not in "\t\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def text_fault(name, data, ascii_only):
    try:
        text = data.decode("ascii" if ascii_only else "utf-8")
    except UnicodeDecodeError as error:
        return f"{name} is not {error.encoding}: {data[max(error.start - 20, 0):error.start + 20]!r}"
    for character in sorted(set(text)):
        if is_hidden(character):
            at = text.index(character)
            return f"{name} has a hidden character: {text[max(at - 20, 0):at + 20]!r}"
    return None


def json_fault(data):
    for line in data.splitlines()[:JSON_LINES]:
        try:
            json.loads(line)
        except ValueError as error:
            return f"{error}: {line[:200]!r}"
    return None


def written_fault(build, directory):
    for path in sorted(directory.glob("record-*")) + sorted(directory.glob("part-*.pcap*")):
        again = subprocess.run([f"{build}/netobsd", "-r", str(path)], capture_output=True, check=False)
        if again.returncode != 0:
            return f"{path.name} cannot be read: {again.stderr.decode(errors='replace')}"
    return None


def fault(run, status, build, directory):
    """Why the run has failed, or None."""
    out, err = (directory / "out").read_bytes(), (directory / "err").read_bytes()
    if status not in (0, 1, 2, 3) or b"Sanitizer" in err or b"runtime error:" in err:
        return f"status {status}: {err[:3000].decode(errors='replace')}"
    if status == 3 and "--strict" not in run.command:
        return "status 3 without --strict"
    if status in (1, 2) and not err:
        return f"status {status} without a message"
    if b"File too large" in err or max(len(out), len(err)) >= OUTPUT_MAX:
        return "unlimited output"
    return (text_fault("standard output", out, not run.json and run.kind != "report") or text_fault("standard error", err, True) or
            (json_fault(out) if run.json else None) or
            (status != 1 and written_fault(build, directory)) or None)


def main():
    build, count, seed, keep = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    first, last = map(int, count.split("-")) if "-" in count else (1, int(count))
    captures = [read(path) for path in sorted(sys.argv[5:])]
    work, faults, statuses = keep / "work", 0, collections.Counter()
    for number in range(first, last + 1):
        rng = random.Random(f"{seed}/{number}")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True, mode=0o777)
        work.chmod(0o777)  # netobsd that is started as root changes its user
        path = work / "input"
        data = damaged(rng, captures)
        path.write_bytes(data)
        run = Run(rng, rng.choice(RUNS), build, work, str(path), data)
        status = execute(run, build, work)
        statuses[run.kind, status] += 1
        why = fault(run, status, build, work)
        if why:
            faults += 1
            shutil.copy(path, keep / f"input-{seed}-{number}")
            print(f"run {number} of seed {seed}: {' '.join(run.command)!r}, {'from a pipe' if run.stdin else 'from a file'}: {why}", flush=True)
    for (kind, status), runs in sorted(statuses.items()):
        print(f"{kind}, status {status}: {runs} runs")
    print(f"{last - first + 1} runs with seed {seed}, {faults} faults")
    return faults != 0


if __name__ == "__main__":
    sys.exit(main())
