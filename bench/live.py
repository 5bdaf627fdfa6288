# SPDX-License-Identifier: BSD-2-Clause
"""The live rows of bench/run.py: small frames (bench/live_send) on a veth pair between two network namespaces.

live: the highest of some rates at which `tcpdump -w /dev/null` drops nothing, and the processor time of tcpdump and
netobsd at that rate, in turns, on the interface and on "any", for datagrams, connections that last and short ones.
workers: the time that one worker and two need for full buffers, in turns; the sender has finished before, because with two
processors it would compete with them.
"""
import contextlib
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import time

RATES = (100000, 200000, 300000, 400000, 500000, 600000, 800000, 1000000, 1500000)


class Wire:
    """Two namespaces with a cable: frames sent on in0 of the first arrive at out0 of the second."""

    def __init__(self, bench, failure):
        self.bench, self.failure = bench, failure
        self.space = "netobs-bench-%d" % os.getpid()
        self.sender_space = self.space + "-sender"
        self.sender = os.path.join(bench.build, "bench/live_send")

    def __enter__(self):
        if os.geteuid() != 0:
            raise self.failure("live capture is measured by root only")
        for words in ("netns add SENDER", "netns add SPACE",
                      "-n SENDER link add in0 type veth peer name out0 netns SPACE",
                      "netns exec SENDER sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'",
                      "netns exec SPACE sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'",
                      "-n SENDER link set in0 up", "-n SPACE link set out0 up"):
            words = words.replace("SPACE", self.space).replace("SENDER", self.sender_space)
            done = subprocess.run(["ip", *shlex.split(words)], check=False, stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                self.__exit__()
                raise self.failure("no network namespace: " + done.stderr.strip())
        return self

    def __exit__(self, *_):
        for space in (self.space, self.sender_space):
            subprocess.run(["ip", "netns", "del", space], check=False, stderr=subprocess.DEVNULL)

    def inside(self, argv):
        return ["ip", "netns", "exec", self.space, *argv]

    def sockets(self):
        """Number of capture sockets that receive every frame."""
        table = subprocess.run(self.inside(["cat", "/proc/net/packet"]), stdout=subprocess.PIPE, check=True, text=True)
        return sum(line.split()[3:4] == ["0003"] for line in table.stdout.splitlines())

    @contextlib.contextmanager
    def capture(self, argv, sockets=1):
        """A program that captures; its output is in `.output` at the end."""
        log = self.bench.path("output")
        with open(log, "w+", encoding="utf-8", errors="replace") as out:
            process = subprocess.Popen(self.inside(argv), stdout=out, stderr=out)
            try:
                limit = time.monotonic() + 10
                while self.sockets() < sockets:
                    if process.poll() is not None or time.monotonic() > limit:
                        out.seek(0)
                        raise self.failure("%s does not capture: %s" % (argv[0], out.read()[-300:]))
                    time.sleep(0.05)
                time.sleep(0.5)
                yield process
                process.send_signal(signal.SIGINT)
                process.wait(timeout=20)
                out.seek(0)
                process.output = out.read()
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()

    def send(self, trace, rate, count):
        """Sends frames.  Returns how many were sent per second."""
        command = ["ip", "netns", "exec", self.sender_space, self.sender, "in0", trace, str(rate), str(count)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        sent, seconds = done.stdout.split()
        return int(sent) / float(seconds)


def threads(process):
    """Processor time in seconds of each thread so far."""
    times = {}
    for thread in os.listdir("/proc/%d/task" % process.pid):
        with open("/proc/%d/task/%s/schedstat" % (process.pid, thread), encoding="ascii") as text:
            times[thread] = int(text.read().split()[0]) / 1e9
    return times


def used(process, before):
    """Processor time of each thread since `before`."""
    return [now - before.get(thread, 0) for thread, now in threads(process).items()]


def counter(output, *names):
    """A counter in the summary of netobsd ("frames 12") or of tcpdump ("12 packets captured")."""
    for line in output.splitlines():
        words = line.split()
        if words[:1] == [names[0]] or (len(names) > 1 and line.endswith(names[1])):
            return int(words[1] if words[0] == names[0] else words[0])
    return 0


class Load:
    """One program under one load: processor time a frame, and dropped frames."""

    def __init__(self, wire, argv, trace, rate, seconds):
        count = min(int(rate * seconds), wire.bench.args.packets // 2)
        with wire.capture(argv) as process:
            before = threads(process)
            self.rate = wire.send(trace, rate, count)
            time.sleep(1.2)  # the kernel delivers frames to tcpdump once a second
            self.cpu = sum(used(process, before))
        self.dropped = count - counter(process.output, "frames", "packets captured")
        self.each = self.cpu / count


# The cost of netobsd depends mostly on how often a connection begins and ends.
LASTING = ("-r", "10000")
TRAFFIC = {"datagrams": (100, "-t", "0", "-u", "100", *LASTING),
           "lasting connections": (100, "-t", "100", "-u", "0", *LASTING),
           "short connections": (None,)}


def small_frames(b, kind="short connections"):
    at_once, *options = TRAFFIC[kind]
    return b.trace(b.args.packets // 2, at_once or max(b.args.flows // 10, 1), "-l", "0", *options)


def commands(b, interface):
    """The programs to compare: tcpdump, netobsd, and with --other another netobsd, such as that of an earlier commit."""
    buffer = ["-B", str(b.args.live_buffer)]
    found = {"tcpdump": ["tcpdump", "-n", "-i", interface, "-w", "/dev/null", *buffer],
             "netobsd": [b.netobsd, "-i", interface, "--summary", *buffer]}
    if b.args.other:
        found["other netobsd"] = [b.args.other, "-i", interface, "--summary", *buffer]
    return found


def lossless_rate(b, wire, trace, command, seconds):
    """The highest of RATES at which no frame is dropped in two runs, or that can be sent."""
    best = None
    for rate in RATES:
        loads = [Load(wire, command, trace, rate, seconds) for _ in range(2)]
        if any(load.rate < 0.97 * rate for load in loads):
            b.note("live", "{:,} frames a second are more than can be sent here".format(rate))
            break
        if any(load.dropped > 0 for load in loads):
            break
        best = rate
    return best


def row_live(b, failure):
    """tcpdump -w /dev/null and netobsd on a veth pair, at a rate at which tcpdump drops no frame."""
    if shutil.which("tcpdump") is None:
        raise failure("tcpdump is not installed")
    # No frame is sent twice: it would be a retransmission.
    traces, seconds = {kind: small_frames(b, kind) for kind in TRAFFIC}, b.args.live_seconds
    with Wire(b, failure) as wire:
        rate = lossless_rate(b, wire, traces["short connections"], commands(b, "any")["tcpdump"], seconds)
        if rate is None:
            raise failure("tcpdump drops frames at {:,} a second".format(RATES[0]))
        b.print_row("live", "tcpdump -i any -w /dev/null drops nothing at", rate, "/s")
        for interface in ("out0", "any"):
            for kind, trace in traces.items():
                programs = commands(b, interface)
                loads = {name: [] for name in programs}
                for _ in range(b.args.rounds):
                    for name, command in programs.items():
                        loads[name].append(Load(wire, command, trace, rate, seconds))
                print_loads(b, kind + (" on any" if interface == "any" else ""), loads)


def print_loads(b, kind, loads):
    for name, runs in loads.items():
        b.print_row("live", "%s, %s: cpu per frame" % (kind, name), statistics.median(load.each for load in runs) * 1e9, "ns")
    dropped = sum(load.dropped for load in loads["netobsd"])
    b.print_row("live", kind + ", tcpdump: dropped in these runs", sum(load.dropped for load in loads["tcpdump"]), "frames")
    b.print_row("live", kind + ", netobsd: dropped in these runs", dropped, "frames", "none", dropped == 0)
    ratio = statistics.median(a.cpu / t.cpu for a, t in zip(loads["netobsd"], loads["tcpdump"]))
    b.print_row("live", kind + ", netobsd / tcpdump, cpu", ratio, "x", "at most 1.5", ratio <= 1.5)
    if "other netobsd" in loads:
        ratio = statistics.median(a.cpu / o.cpu for a, o in zip(loads["netobsd"], loads["other netobsd"]))
        b.print_row("live", kind + ", netobsd / other netobsd, cpu", ratio, "x")


class Drain:
    """The time to empty full buffers: by the clock, and the processor time of the busiest thread."""

    def __init__(self, b, wire, trace, workers, count):
        argv = [b.netobsd, "-i", "out0", "--summary", "--workers", str(workers), "-B", str(b.args.drain_buffer)]
        with wire.capture(argv, workers) as process:
            process.send_signal(signal.SIGSTOP)
            wire.send(trace, 0, count)
            before = threads(process)
            begin = time.monotonic()
            process.send_signal(signal.SIGCONT)
            self.wall = wait_until_idle(process) - begin
            self.busiest = max(used(process, before))
        self.frames = counter(process.output, "frames")
        self.dropped = counter(process.output, "capture.dropped")


def wait_until_idle(process):
    """Waits until all threads are idle.  Returns since when."""
    since, idle = None, 0
    while idle < 10:
        time.sleep(0.003)
        now, running = time.monotonic(), False
        for thread in os.listdir("/proc/%d/task" % process.pid):
            with open("/proc/%d/task/%s/stat" % (process.pid, thread), encoding="ascii") as text:
                running |= text.read().rpartition(") ")[2][0] != "S"
        if running:
            since, idle = None, 0
        else:
            since, idle = since or now, idle + 1
    return since


def row_workers(b, failure):
    """Two workers against one."""
    trace, count = small_frames(b), b.args.packets // 2
    with Wire(b, failure) as wire:
        drains = {1: [], 2: []}
        for _ in range(b.args.rounds):
            for workers, runs in drains.items():
                runs.append(Drain(b, wire, trace, workers, count))
    for workers, runs in drains.items():
        name = "%d worker%s" % (workers, "s"[:workers - 1])
        b.print_row("workers", name + ": frames a second, by the clock",
               statistics.median(count / drain.wall for drain in runs), "/s")
        b.print_row("workers", name + ": frames a second, by the busiest thread's time",
               statistics.median(count / drain.busiest for drain in runs), "/s")
        observed = [drain.frames for drain in runs]
        b.print_row("workers", name + ": frames not observed, of {:,}".format(count * len(runs)), count * len(runs) - sum(observed),
               "", "none", all(n == count for n in observed))
    wall = statistics.median(one.wall / two.wall for one, two in zip(drains[1], drains[2]))
    busiest = statistics.median(one.busiest / two.busiest for one, two in zip(drains[1], drains[2]))
    b.print_row("workers", "two workers / one, by the clock", wall, "x")
    b.print_row("workers", "two workers / one, by the busiest thread's time", busiest, "x", "at least 1.6", busiest >= 1.6)
