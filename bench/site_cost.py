#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The cost of one firing while bpftrace counts it: the plain site of a probe against the fast one (usdt/site.h).

    site_cost.py BUILD/tests/probes/fire_sites [FIRINGS [ROUNDS]]

Runs the two in turns, so that other load affects both, and prints processor time (user and system) per firing.
Needs root and bpftrace.
"""
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def fire(program, kind, firings):
    before = processor_seconds()
    subprocess.run([program, kind, str(firings)], check=True)
    return (processor_seconds() - before) / firings * 1e9


def end(tracer):
    """Interrupts bpftrace and returns its output.  bpftrace misses an interrupt that arrives between two waits for firings."""
    while True:
        tracer.send_signal(signal.SIGINT)
        try:
            return tracer.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            pass


def main():
    firings = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    cost = {"plain": [], "fast": []}
    with tempfile.TemporaryDirectory() as scratch:
        program = shutil.copy(sys.argv[1], os.path.join(scratch, "fire_sites"))  # a copy: no other process fires
        script = 'BEGIN { printf("ready\\n"); } usdt:%s:netobs:tcp__receive { @ = count(); }' % program
        tracer = subprocess.Popen(["bpftrace", "-e", script], stdout=subprocess.PIPE, text=True)
        while "ready" not in tracer.stdout.readline():
            if tracer.poll() is not None:
                sys.exit("bpftrace does not attach")
        time.sleep(1)  # BEGIN runs before the probe is attached
        for _ in range(rounds):
            for kind in cost:
                cost[kind].append(fire(program, kind, firings))
        counted = end(tracer).split()
    if str(2 * rounds * firings) not in counted:
        sys.exit("bpftrace counted %s of %d firings" % (" ".join(counted), 2 * rounds * firings))
    for kind, each in cost.items():
        print("%-5s  median %4.0f ns  least %4.0f  most %4.0f" % (kind, statistics.median(each), min(each), max(each)))
    print("fast / plain  %.2f" % (statistics.median(cost["fast"]) / statistics.median(cost["plain"])))


if __name__ == "__main__":
    main()
