#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The cost of netobsd, compared with bare reading of the file and with other programs that track connections.

    bench/run.py [--quick] [--rows ROW,...] [--packets N] [--flows N] [--rounds N] [--build DIR] [--any-build] [--json FILE]

Makes its captures in a temporary directory (bench/gentrace), which takes about 2 GB and is removed at the end.  Programs that
are compared run in turns, A B A B, so that other load affects all of them; ratios are computed within a turn, and medians
over the turns are printed.  "cpu" is user plus system time, without waiting; "wall" is printed beside it; memory is the
maximum resident set.  bench/NOTES.md has figures.
"""
import argparse
import atexit
import json
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # not into the source tree
import attach  # noqa: E402
import formulas  # noqa: E402
import live  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def release_build(build):
    """Whether the netobsd there was optimised as a whole, as the one that is installed (configure --enable-lto)."""
    try:
        with open(os.path.join(build, "Makefile"), encoding="utf-8") as makefile:
            return any(line.startswith("LTO_LDFLAGS =") and "-flto" in line for line in makefile)
    except OSError:
        return False


class Run:
    """One run of a program: cpu (the kernel's included), user and wall in seconds, memory in bytes."""

    def __init__(self, cpu, user, wall, memory):
        self.cpu, self.user, self.wall, self.memory = cpu, user, wall, memory


class Failure(Exception):
    pass


def run(argv, output=os.devnull, limit=900):
    """Runs a program to its end; its standard output goes to the file `output`."""
    with open(output, "wb") as out, tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True)
        previous = signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.alarm(limit)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            message = errors.read()[-300:].decode(errors="replace").strip()
            raise Failure("%s: exit status %d: %s" % (argv[0], process.returncode, message))
    return Run(used.ru_utime + used.ru_stime, used.ru_utime, wall, used.ru_maxrss * 1024)


def in_turns(commands, rounds):
    """name -> runs, for name -> argv: each of them once in each round."""
    runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            runs[name].append(run(argv))
    return runs


def median(runs, what="cpu"):
    return statistics.median(getattr(r, what) for r in runs)


def ratio(runs, base, what="cpu"):
    """The median of the ratios within each turn."""
    return statistics.median(getattr(a, what) / getattr(b, what) for a, b in zip(runs, base))


class Bench:
    def __init__(self, args):
        self.args = args
        self.build = os.path.abspath(args.build)
        self.netobsd = os.path.join(self.build, "netobsd")
        self.rows = []
        self.traces = {}
        self.directory = tempfile.mkdtemp(prefix="netobs-bench.")
        atexit.register(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def trace(self, packets, concurrent, *more):
        """A capture of gentrace's, read once so that it is in the page cache."""
        key = (packets, concurrent) + more
        if key not in self.traces:
            path = self.path("%d.pcap" % len(self.traces))
            subprocess.run([os.path.join(self.build, "bench/gentrace"), "-n", str(packets), "-c", str(concurrent),
                            *more, path], check=True)
            self.traces[key] = path
        run(["cat", self.traces[key]])
        return self.traces[key]

    def drop(self, path):
        """A capture that no other row reads."""
        self.traces = {key: p for key, p in self.traces.items() if p != path}
        os.unlink(path)

    def standard(self):
        return self.trace(self.args.packets, self.args.flows, "-l", "40")

    def replay(self, path, *more):
        return [self.netobsd, "-r", path, *more]

    def print_row(self, row, what, figure, unit, target=None, good=None):
        """One line of the result; `good` says whether the target is met."""
        self.rows.append({"row": row, "what": what, "figure": figure, "unit": unit, "target": target, "met": good})
        text = "%.3g" % figure if abs(figure) < 1000 else "{:,.0f}".format(figure)
        verdict = "" if target is None else "  %s (%s)" % ("met" if good else "NOT MET", target)
        print("%-10s %-58s %12s %-10s%s" % (row, what, text, unit, verdict), flush=True)

    def note(self, row, text):
        self.rows.append({"row": row, "note": text})
        print("%-10s %s" % (row, text), flush=True)

    def print_runs(self, row, name, runs, packets):
        self.print_row(row, name + ": cpu", median(runs), "s")
        self.print_row(row, name + ": wall", median(runs, "wall"), "s")
        self.print_row(row, name + ": cpu per packet", median(runs) / packets * 1e9, "ns")
        self.print_row(row, name + ": memory", median(runs, "memory") / 1e6, "MB")


# Of tests/captures: ordinary traffic, and the protocols of application providers.
CAPTURES_OF_APPLICATIONS = ["home-network", "dns", "http", "smb", "tls"]


def frames_of(b, path):
    summary = subprocess.run(b.replay(path, "--summary"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return next(int(line.split()[1]) for line in summary.stderr.decode().splitlines() if line.startswith("frames "))


# -------------------------------------------------------------------------------------------------------------- rows


def print_replay(b, name, trace, limit):
    """Prints the cost of a replay against that of a bare pcap_loop(); the target is at most `limit`."""
    runs = in_turns({"floor": [os.path.join(b.build, "bench/pcap_floor"), trace], "netobsd": b.replay(trace)},
                    b.args.rounds)
    for program in runs:
        b.print_runs("replay", "%s, %s" % (name, program), runs[program], b.args.packets)
    against = ratio(runs["netobsd"], runs["floor"])
    b.print_row("replay", name + ", netobsd / bare pcap_loop, cpu", against, "x", "at most %s" % limit,
                against <= limit)
    b.print_row("replay", name + ", netobsd / bare pcap_loop, wall", ratio(runs["netobsd"], runs["floor"], "wall"), "x")


def row_replay(b):
    """The standard capture, and one with connections of many lengths: frames of 128 bytes, a fifth of UDP, all IPv4."""
    print_replay(b, "standard", b.standard(), 1.7)
    lengths = b.trace(b.args.packets, b.args.flows, "-4", "100", "-t", "80", "-u", "20", "-f", "128", "-a", "-k", "2-2000")
    print_replay(b, "many lengths", lengths, 2.0)
    b.drop(lengths)


def row_compressed(b):
    """The standard capture, compressed: one thread, and further ones that decompress; one file and two."""
    plain, names = b.standard(), {"zstd": b.path("zst"), "gzip": b.path("gz")}
    subprocess.run(["zstd", "-q", "-f", plain, "-o", names["zstd"]], check=True)
    with open(names["gzip"], "wb") as out:
        subprocess.run(["gzip", "-1", "-c", plain], stdout=out, check=True)
    for name, path in names.items():
        runs = in_turns({"plain": b.replay(plain), "one": b.replay(path), "two": b.replay(path, "--workers", "2")},
                        b.args.rounds)
        b.print_row("compressed", name + ", one thread: wall", median(runs["one"], "wall"), "s")
        b.print_row("compressed", name + ", one thread / not compressed, wall", ratio(runs["one"], runs["plain"], "wall"), "x")
        b.print_row("compressed", name + ", two threads / one, wall", ratio(runs["two"], runs["one"], "wall"), "x")
        b.print_row("compressed", name + ", two threads / one, cpu", ratio(runs["two"], runs["one"]), "x")
    two = b.replay(names["zstd"], "-r", names["gzip"])
    runs = in_turns({"one": two, "three": two + ["--workers", "3"]}, b.args.rounds)
    b.print_row("compressed", "both files, one thread: wall", median(runs["one"], "wall"), "s")
    b.print_row("compressed", "both files, three threads / one, wall", ratio(runs["three"], runs["one"], "wall"), "x")
    for path in names.values():
        os.unlink(path)


# Name, command that reads FILE, part of the standard capture that it reads, and whether it tracks connections, so that the
# target applies to it.
PEERS = (
    ("tcpdump", ["tcpdump", "-r", "FILE", "-w", "/dev/null"], 1.0, False),
    ("argus", ["argus", "-X", "-r", "FILE", "-w", "/dev/null"], 1.0, True),
    ("softflowd", ["softflowd", "-d", "-6", "-r", "FILE", "-m", "2000000", "-p", "DIR/pid", "-c", "none"], 1.0, True),
    ("ndpiReader", ["ndpiReader", "-q", "-i", "FILE"], 1.0, True),
    ("tcptrace", ["tcptrace", "-n", "FILE"], 1.0, True),
    ("tshark", ["tshark", "-n", "-q", "-r", "FILE", "-z", "conv,tcp"], 0.1, False),
)


def row_peers(b):
    """Other programs on the standard capture, in turns with netobsd."""
    fastest = None
    for name, command, part, tracks in PEERS:
        if shutil.which(name) is None:
            b.note("peers", "%s is not installed" % name)
            continue
        packets = int(b.args.packets * part)
        trace = b.standard() if part == 1.0 else b.trace(packets, int(b.args.flows * part), "-l", "40")
        argv = [word.replace("FILE", trace).replace("DIR", b.directory) for word in command]
        try:
            runs = in_turns({name: argv, "netobsd": b.replay(trace)}, b.args.peer_rounds)
        except Failure as failure:
            b.note("peers", str(failure))
            continue
        times = ratio(runs[name], runs["netobsd"])
        label = name if part == 1.0 else "%s, %.0f %% of the capture" % (name, part * 100)
        b.print_row("peers", label + ": cpu", median(runs[name]), "s")
        b.print_row("peers", label + ": wall", median(runs[name], "wall"), "s")
        b.print_row("peers", label + ": memory", median(runs[name], "memory") / 1e6, "MB")
        b.print_row("peers", label + " / netobsd, cpu", times, "x")
        if tracks and (fastest is None or times < fastest[1]):
            fastest = (name, times)
    if fastest is not None:
        b.print_row("peers", "the fastest of them, %s / netobsd" % fastest[0], fastest[1], "x", "at least 8",
               fastest[1] >= 8)


def row_concurrency(b):
    """The cost of a packet with a thousand and a million connections under way."""
    packets = b.args.packets
    many = b.args.many
    few, much = b.trace(packets, 1000, "-l", "40"), b.trace(packets, many, "-l", "40")
    runs = in_turns({"few": b.replay(few), "many": b.replay(much)}, b.args.rounds)
    b.print_row("concurrency", "1,000 connections: cpu per packet", median(runs["few"]) / packets * 1e9, "ns")
    b.print_row("concurrency", "{:,} connections: cpu per packet".format(many), median(runs["many"]) / packets * 1e9, "ns")
    times = ratio(runs["many"], runs["few"])
    b.print_row("concurrency", "many / few", times, "x", "at most 2.5", times <= 2.5)
    b.drop(few)
    b.drop(much)


# State of a connection, packets of each, whether all exist at once, and gentrace's options: -k stops a connection and begins
# the next one.
KINDS = (
    ("with data", 4, True, ("-r", "1000")),
    ("idle, established", 3, False, ("-k", "3")),
    ("half-open", 1, False, ("-S",)),
)


def row_memory(b):
    """Memory of a tracked TCP connection, both endpoints: the difference of two runs' maximum resident sets."""
    for kind, packets, at_once, options in KINDS:
        sizes = [memory_of(b, count * packets, count if at_once else 1, options)
                 for count in (b.args.many // 10, b.args.many)]
        (few, small), (many, large) = sizes
        per = (large - small) / (many - few)
        b.print_row("memory", "a connection more, %s" % kind, per, "bytes", "at most 256", per <= 256)
        # The target is for a million connections, whatever was measured.
        total = (large + per * (1000000 - many)) / 1e6
        b.print_row("memory", "{:,} connections: resident".format(many), large / 1e6, "MB")
        b.print_row("memory", "1,000,000 connections: resident", total, "MB", "at most 300", total <= 300)


def memory_of(b, packets, at_once, options, *more):
    """Number of connections at the end of a capture, and the maximum resident set."""
    path = b.trace(packets, at_once, "-t", "100", "-u", "0", "-l", "40", *options)
    size = median([run(b.replay(path, *more)) for _ in range(3)], "memory")
    flows = flows_of(b, path)
    b.drop(path)
    return flows, size


def flows_of(b, path):
    """Number of connections at the end of a capture."""
    done = subprocess.run(b.replay(path, "--summary"), stderr=subprocess.PIPE, check=True, text=True)
    counters = dict(line.split() for line in done.stderr.splitlines() if len(line.split()) == 2)
    return int(counters["flow.created"])


def row_connections(b):
    """Every packet is the SYN of another connection."""
    count = b.args.many
    path = b.trace(count, 1, "-S", "-t", "100", "-u", "0")
    runs = in_turns({"netobsd": b.replay(path)}, b.args.rounds)["netobsd"]
    rate = count / median(runs)
    b.print_row("new", "new connections per second of cpu", rate, "/s", "at least 1,000,000", rate >= 1000000)
    b.drop(path)


def without_probes(b):
    """A build with the same options and --disable-probes."""
    directory = b.path("without")
    os.mkdir(directory)
    config = subprocess.run([os.path.join(b.build, "config.status"), "--config"], stdout=subprocess.PIPE, check=True,
                            text=True).stdout.strip()
    for command in ("%s/configure -q --srcdir='%s' %s --disable-probes" % (ROOT, ROOT, config),
                    "make -s -j2 all"):
        done = subprocess.run(["sh", "-c", command], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, text=True)
        if done.returncode != 0:
            raise Failure("the build without probes: " + done.stdout[-300:])
    return os.path.join(directory, "netobsd")


def instructions(b, program, path):
    """Instructions of one replay, counted by callgrind."""
    out = b.path("callgrind")
    with open(out, "wb"):  # written at the end, when netobsd runs as a user that cannot create files
        os.chmod(out, 0o666)
        os.chmod(b.directory, 0o755)
    subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, program, "--no-seccomp",
                    "-r", path], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(("summary:", "totals:")))


def row_probes(b):
    """Compiled-in, unattached probes against a build without them."""
    other, trace = without_probes(b), b.standard()
    runs = in_turns({"without": [other, "-r", trace], "with": b.replay(trace)}, max(b.args.rounds, 11))
    more = (ratio(runs["with"], runs["without"]) - 1) * 100
    b.print_row("probes", "unattached probes, cpu", more, "%", "at most 2", more <= 2)
    if shutil.which("valgrind") is None:
        b.note("probes", "valgrind is not installed: instructions are not counted")
        return
    # The difference of two captures, so that the start of the program is not in it.
    packets, counts = 100000, []
    captures = [b.trace(packets * n, 10000, "-l", "40") for n in (1, 2)]
    for program in (other, b.netobsd):
        short, long = (instructions(b, program, capture) for capture in captures)
        counts.append((long - short) / packets)
    b.print_row("probes", "unattached probes, instructions", (counts[1] / counts[0] - 1) * 100, "%")
    b.print_row("probes", "instructions per packet", counts[1], "")


def row_print(b):
    """--print of all probes, as text into a file."""
    packets = b.args.packets // 10
    trace, out = b.trace(packets, max(b.args.flows // 10, 1), "-l", "40"), b.path("printed")
    runs = [run(b.replay(trace, "--print", "--format", "text"), output=out) for _ in range(b.args.rounds)]
    with open(out, "rb") as printed:
        firings = sum(block.count(b"\n") for block in iter(lambda: printed.read(1 << 20), b""))
    rate = firings / median(runs)
    b.print_row("print", "firings of %d packets" % packets, firings, "")
    b.print_row("print", "firings printed per second of cpu", rate, "/s", "at least 1,000,000", rate >= 1000000)
    b.print_row("print", "firings printed per second, wall", firings / median(runs, "wall"), "/s")
    os.unlink(out)


def row_formulas(b):
    """A formula that is true for one of 1000 segments against the same predicate in bpftrace, as root."""
    if os.geteuid() != 0 or shutil.which("bpftrace") is None:
        b.note("formulas", "needs root and bpftrace")
        return
    packets = b.args.packets // 5
    trace = b.trace(packets, max(b.args.flows // 5, 1), "-l", "40")
    runs, fired = formulas.measure(b, run, trace, b.args.rounds)
    if len(fired) != 1:
        raise Failure("formula and predicate fired %s times" % " and ".join(map(str, sorted(fired))))

    def more(name, than):
        return [a.cpu - z.cpu for a, z in zip(runs[name], runs[than])]

    def typical(values):
        return statistics.median(values)

    b.print_row("formulas", "firings of %d packets" % packets, fired.pop(), "")
    b.print_row("formulas", "counted, without a tracer: cpu per packet", typical(more("counted", "plain")) / packets * 1e9, "ns")
    ratio32 = typical([a / z for a, z in zip(more("counted 32", "plain"), more("counted", "plain"))])
    b.print_row("formulas", "32 formulas / one", ratio32, "", "below 32", ratio32 < 32)
    b.print_row("formulas", "traced: cpu per packet", typical(more("formula", "waits")) / packets * 1e9, "ns")
    b.print_row("formulas", "predicate in bpftrace: cpu per packet", typical(more("predicate", "waits")) / packets * 1e9, "ns")
    times = typical(more("predicate", "waits")) / max(typical(more("formula", "waits")), 1e-9)
    b.print_row("formulas", "predicate in bpftrace / formula", times, "", "at least 20", times >= 20)


def row_records(b):
    """Connection records: counted and filled for a formula, and written as JSON, against a replay without."""
    trace, out = b.standard(), b.path("records.jsonl")
    commands = {
        "floor": [os.path.join(b.build, "bench/pcap_floor"), trace],
        "plain": b.replay(trace),
        "kept": b.replay(trace, "--formula", "never = connection-end where cr_end == 0"),
        "unwritten": b.replay(trace, "--records=/dev/null", "--format", "json"),
        "written": b.replay(trace, "--records=" + out),
    }
    runs = in_turns(commands, b.args.rounds)
    with open(out, "rb") as written:
        lines = sum(block.count(b"\n") for block in iter(lambda: written.read(1 << 20), b""))
    size = os.path.getsize(out)
    os.unlink(out)

    def more(name, than):
        return statistics.median((a.cpu - z.cpu) / f.cpu for a, z, f in zip(runs[name], runs[than], runs["floor"]))

    b.print_row("records", "records of %d packets" % b.args.packets, lines, "")
    b.print_row("records", "bytes of a record as JSON", size / lines, "bytes")
    b.print_row("records", "counted and filled, cpu, of the floor", more("kept", "plain"), "x", "at most 0.3",
                more("kept", "plain") <= 0.3)
    b.print_row("records", "the same, sorted and written to a file, cpu, of the floor", more("written", "plain"), "x",
                "at most 0.3", more("written", "plain") <= 0.3)
    cost = statistics.median((a.cpu - z.cpu) for a, z in zip(runs["unwritten"], runs["kept"]))
    rate = lines / max(cost, 1e-9)
    b.print_row("records", "records filled, sorted and formatted per second of cpu", rate, "/s", "at least 1,000,000",
                rate >= 1000000)
    few, many = (memory_of(b, count * 4, count, ("-r", "1000"), "--formula", "never = connection-end where cr_end == 0")
                 for count in (b.args.many // 10, b.args.many))
    per = (many[1] - few[1]) / (many[0] - few[0])
    b.print_row("records", "a connection more, with data, with its record", per, "bytes", "at most 384", per <= 384)


def row_flight(b):
    """The flight memory, against a replay without; the time in which its memory is made present is a part of it."""
    trace = b.standard()
    commands = {
        "floor": [os.path.join(b.build, "bench/pcap_floor"), trace],
        "plain": b.replay(trace),
        "small": b.replay(trace, "--flight-memory=1M"),
        "kept": b.replay(trace, "--flight-memory=64M"),
    }
    runs = in_turns(commands, b.args.rounds)

    def more(name, than, what="cpu"):
        return statistics.median((getattr(a, what) - getattr(z, what)) / f.cpu
                                 for a, z, f in zip(runs[name], runs[than], runs["floor"]))

    b.print_row("flight", "netobsd / bare pcap_loop, cpu", ratio(runs["plain"], runs["floor"]), "x")
    b.print_row("flight", "kept in 64 MiB, cpu, of the floor", more("kept", "plain"), "x", "at most 0.3",
                more("kept", "plain") <= 0.3)
    b.print_row("flight", "the same without the kernel's time", more("kept", "plain", "user"), "x")
    b.print_row("flight", "kept in 1 MiB, without the kernel's time", more("small", "plain", "user"), "x")
    b.print_row("flight", "memory more than without, 64 MiB are asked for",
                (median(runs["kept"], "memory") - median(runs["plain"], "memory")) / (1 << 20), "MiB")


def count_firings(b, trace, names):
    """A replay whose firings of these probes bpftrace counts."""
    sites = ",".join("usdt:%s:netobs:%s" % (b.netobsd, name) for name in names)
    return ["bpftrace", "-q", "-e", sites + " { @ = count(); }", "-c", "%s -r %s" % (b.netobsd, trace)]


def row_applications(b):
    """Application providers: not enabled, and counted by a tracer, which counts tcp-receive for comparison."""
    captures = [os.path.join(ROOT, "tests/captures", name + ".pcap") for name in CAPTURES_OF_APPLICATIONS]
    trace = b.path("applications.pcap")
    subprocess.run([sys.executable, os.path.join(ROOT, "bench/copies.py"), "200", trace, *captures], check=True)
    listed = subprocess.run([b.netobsd, "--list-probes"], check=True, stdout=subprocess.PIPE).stdout.decode()
    probes = [line.split()[0] for line in listed.splitlines()
              if line.startswith(tuple(name + "-" for name in CAPTURES_OF_APPLICATIONS[1:]))]
    b.print_row("apps", "frames of %d copies of %s" % (200, ", ".join(CAPTURES_OF_APPLICATIONS)),
                frames_of(b, trace), "")
    if os.geteuid() != 0 or shutil.which("bpftrace") is None:
        b.note("apps", "a tracer needs root and bpftrace: the cost with one is not measured")
    else:
        runs = in_turns({"tcp": count_firings(b, trace, ["tcp__receive"]),
                         "apps": count_firings(b, trace, [name.replace("-", "__") for name in probes])}, b.args.rounds)
        b.print_row("apps", "all application probes counted / tcp-receive counted, cpu", ratio(runs["apps"], runs["tcp"]),
                    "x", "at most 2.0", ratio(runs["apps"], runs["tcp"]) <= 2)
        b.print_row("apps", "the same, wall", ratio(runs["apps"], runs["tcp"], "wall"), "x")
    runs = in_turns({"plain": b.replay(trace), "printed": b.replay(trace, "--print=" + ",".join(probes))}, b.args.rounds)
    b.print_row("apps", "all application probes printed / none enabled, cpu", ratio(runs["printed"], runs["plain"]), "x")
    os.unlink(trace)


def row_attach(b):
    """A tracer attaches to probes and detaches from them, as root (bench/attach.py)."""
    if os.geteuid() != 0 or shutil.which("bpftrace") is None:
        b.note("attach", "needs root and bpftrace")
        return
    version = subprocess.run(["bpftrace", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[1]
    programs = {"": b.netobsd}
    if b.args.other is not None:
        programs["the other netobsd, "] = os.path.abspath(b.args.other)
    found = attach.measure(programs, b.args.peer_rounds)
    for (name, what), runs in found.items():
        text = "%s%s: " % (name, what)
        b.print_row("attach", text + "sites, bpftrace " + version, runs[0].sites, "")
        b.print_row("attach", text + "until attached", median(runs, "attach"), "s")
        b.print_row("attach", text + "until detached", median(runs, "detach"), "s")
    for name in programs:
        b.print_row("attach", name + "detaching from a site",
                    attach.a_site(found[name, "tcp-accept-refused"], found[name, "all probes"]), "ms")
    for name in programs:
        if name != "":
            b.print_row("attach", "all probes, until detached / " + name.rstrip(", "),
                        ratio(found["", "all probes"], found[name, "all probes"], "detach"), "x")


def row_live(b):
    """Live capture against tcpdump (bench/live.py)."""
    live.row_live(b, Failure)


def row_workers(b):
    """Two workers against one (bench/live.py)."""
    live.row_workers(b, Failure)


ROWS = {
    "replay": row_replay,
    "compressed": row_compressed,
    "peers": row_peers,
    "concurrency": row_concurrency,
    "memory": row_memory,
    "new": row_connections,
    "probes": row_probes,
    "print": row_print,
    "formulas": row_formulas,
    "records": row_records,
    "flight": row_flight,
    "apps": row_applications,
    "attach": row_attach,
    "live": row_live,
    "workers": row_workers,
}


def machine():
    """One line about the machine of the measurement."""
    model = platform.processor()
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return "%s, %d CPUs, Linux %s, %s, load %.1f" % (model, os.cpu_count(), platform.release(),
                                                     time.strftime("%Y-%m-%d"), os.getloadavg()[0])


def arguments():
    parser = argparse.ArgumentParser(description="Measures netobsd; see bench/NOTES.md.")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything, fewer rounds")
    parser.add_argument("--rows", default=",".join(ROWS), help="of %s" % ", ".join(ROWS))
    parser.add_argument("--packets", type=int, help="of the standard capture (5,000,000)")
    parser.add_argument("--flows", type=int, help="connections under way in it (100,000)")
    parser.add_argument("--many", type=int, help="connections of rows that need many (1,000,000)")
    parser.add_argument("--rounds", type=int, help="turns (7)")
    parser.add_argument("--peer-rounds", type=int, help="turns with each of the peers (3)")
    parser.add_argument("--live-seconds", type=float, help="of each load (4)")
    parser.add_argument("--live-buffer", type=int, default=16384, help="kernel buffer of live captures in KiB (16384)")
    parser.add_argument("--drain-buffer", type=int, default=1048576, help="kernel buffer in KiB of the row workers, which must hold all frames (1048576)")
    parser.add_argument("--build", default=".", help="the build directory")
    parser.add_argument("--other", metavar="NETOBSD", help="attach, live: another netobsd to compare in the same turns")
    parser.add_argument("--any-build", action="store_true", help="measure a development build, too")
    parser.add_argument("--json", help="write the figures to this file as well")
    args = parser.parse_args()
    for name, default, quick in (("packets", 5000000, 500000), ("flows", 100000, 10000), ("many", 1000000, 100000),
                               ("rounds", 7, 3), ("peer_rounds", 3, 1), ("live_seconds", 4, 1)):
        if getattr(args, name) is None:
            setattr(args, name, quick if args.quick else default)
        if getattr(args, name) < 10 and name not in ("rounds", "peer_rounds", "live_seconds") or getattr(args, name) < 1:
            parser.error("--%s: too few" % name.replace("_", "-"))
    args.rows = args.rows.split(",")
    for row in args.rows:
        if row not in ROWS:
            parser.error("no row %s; there are %s" % (row, ", ".join(ROWS)))
    return args


def main():
    args = arguments()
    bench = Bench(args)
    if not os.access(bench.netobsd, os.X_OK):
        sys.exit("bench/run.py: no netobsd in %s; --build sets the build directory" % bench.build)
    if not release_build(bench.build):
        if not args.any_build:
            sys.exit("bench/run.py: %s is not a release build, the program that is installed;\n"
                     "configure with --enable-lto, or use --any-build to measure it nevertheless" % bench.build)
        print("a development build, not the program that is installed", flush=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    where = machine()
    print(where, flush=True)
    bad = 0
    for row in args.rows:
        try:
            ROWS[row](bench)
        except (Failure, OSError, subprocess.CalledProcessError) as failure:
            bench.note(row, "could not be measured: %s" % failure)
            bad = 1
    if args.json is not None:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"machine": where, "packets": args.packets, "flows": args.flows, "rows": bench.rows}, out,
                      indent=1)
            out.write("\n")
    sys.exit(bad)


if __name__ == "__main__":
    main()
