#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""traffic.py DIRECTORY [PATH...]: makes the traffic of plays.py once for each path, needs root.

Writes DIRECTORY/PATH/client.pcap and server.pcap, the captures at both ends, and ends.json, the records of the programs
and of their kernel.
"""
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "faults"))
import lab  # noqa: E402 pylint: disable=wrong-import-position

import plays  # noqa: E402 pylint: disable=wrong-import-position

PATHS = {
    "near": (),
    "metro": ("up:delay=3", "down:delay=3"),
    "far": ("up:delay=25", "down:delay=25"),
    "farther": ("up:delay=70", "down:delay=70"),
    "lossy": ("up:delay=10,drop=2,seed=3", "down:delay=10,drop=2,seed=4"),
    "worse": ("up:delay=25,drop=5,seed=5", "down:delay=25,drop=5,seed=6"),
    "narrow": ("up:delay=10,shape=2500000:150000", "down:delay=10,shape=2500000:150000"),
}
LONGEST_S = 120


def urgent(process):
    """The process runs before the load of the machine."""
    os.sched_setscheduler(process.pid, os.SCHED_FIFO, os.sched_param(20))


class Captures:
    """tcpdump at both ends."""

    def __init__(self, network, folder):
        self.tcpdumps = [self.begin(network.names[end], folder / f"{end}.pcap") for end in ("client", "server")]

    @staticmethod
    def begin(namespace, pcap):
        """One of them, which listens."""
        command = ["ip", "netns", "exec", namespace, "tcpdump", "-q", "-Z", "root", "-B", "16384", "-s", "100",
                   "--time-stamp-precision=nano", "-i", "eth0", "-w", str(pcap), "tcp"]
        tcpdump = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while "listening on" not in tcpdump.stderr.readline():
            if tcpdump.poll() is not None:
                raise OSError("tcpdump has ended")
        return tcpdump

    def end(self):
        """Both end, and have written all."""
        for tcpdump in self.tcpdumps:
            tcpdump.send_signal(signal.SIGINT)
            words = tcpdump.communicate()[1]
            if " 0 packets dropped by kernel" not in " " + words.replace("\n", " "):
                print(words)


def ends(network, end, log):
    """Starts one end of all plays."""
    command = ["ip", "netns", "exec", network.names[end], sys.executable, "-B", str(HERE / "ends.py"), end, lab.SERVER]
    process = subprocess.Popen(command + list(plays.PLAYS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    return process


def make(folder, rules):
    """The traffic of one path."""
    folder.mkdir(parents=True, exist_ok=True)
    with lab.Lab(f"nw{os.getpid() % 10000}", "") as network, open(folder / "errors", "wb") as log:
        if rules:
            network.path(*rules)
            urgent(network.processes[-1])
        server = ends(network, "server", log)
        server.stdout.readline()
        captures = Captures(network, folder)
        client = ends(network, "client", log)
        lines = client.communicate(timeout=LONGEST_S)[0]
        lab.pause(1)
        lines += server.communicate(timeout=LONGEST_S)[0]
        captures.end()
        (folder / "ends.json").write_bytes(lines)
    print(f"{folder.name}: {len(lines.splitlines())} records of programs", flush=True)


def main():
    """The command line."""
    directory, *names = sys.argv[1:]
    for name in names or PATHS:
        make(pathlib.Path(directory) / name, PATHS[name])


if __name__ == "__main__":
    main()
