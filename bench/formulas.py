# SPDX-License-Identifier: BSD-2-Clause
"""The cost of formulas, compared with the same predicate in bpftrace: the row "formulas" of bench/run.py.

The formula is true for one of 1000 segments.  bpftrace counts its firings in one run, and in another evaluates the predicate
on the probe itself.  From both the time of a run is subtracted in which bpftrace waits for a probe that does not fire, so
that what remains is the cost of the packets.
"""
import os
import shutil
import subprocess
import time

EXPRESSION = "tcp_seq % 1000 == 7"
PREDICATE = "((struct tcpinfo *)arg4)->tcp_seq % 1000 == 7"


def traced(b, run, argv, wanted, script):
    """A replay that begins when bpftrace has attached; also what bpftrace printed."""
    header = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "probes/netobs.h")
    out = b.path("bpftrace")
    with open(out, "wb") as to:
        tracer = subprocess.Popen(["bpftrace", "-q", "--include", header, "-e", script + " interval:s:600 { exit() }"],
                                  stdout=to, stderr=to)
        try:
            result = run([*argv, "--wait-probes=" + wanted])
        finally:
            while tracer.poll() is None:
                tracer.send_signal(2)
                time.sleep(0.2)
    with open(out, encoding="utf-8", errors="replace") as printed:
        return result, printed.read()


def count(printed):
    """The count that bpftrace printed."""
    return int(printed.split("@n:")[1].split()[0])


def measure(b, run, trace, rounds):
    """name -> runs; the firings of the formula."""
    program = shutil.copy(b.netobsd, b.path("netobsd"))
    sites = b.path("formulas.so")
    replay = [program, "-r", trace]
    formula = ["--formula", "one-of = tcp-receive where %s uncounted" % EXPRESSION, "--formula-file", sites]
    subprocess.run([program, "--install-formulas", sites, *formula[:2]], check=True)
    runs = {name: [] for name in ("plain", "counted", "counted 32", "waits", "formula", "predicate")}
    many = [word for i in range(32) for word in ("--formula", "f%d = tcp-receive where %s + %d counted" % (i, EXPRESSION, i))]
    fired = set()
    for _ in range(rounds):
        runs["plain"].append(run(replay))
        runs["counted"].append(run([*replay, "--formula", "f = tcp-receive where %s counted" % EXPRESSION]))
        runs["counted 32"].append(run([*replay, *many]))
        runs["waits"].append(traced(b, run, replay, "tcp-connect-refused",
                                    "usdt:%s:netobs:tcp__connect__refused { @n = count(); }" % program)[0])
        result, printed = traced(b, run, [*replay, *formula], "one-of", "usdt:%s:netobs:one__of { @n = count(); }" % sites)
        runs["formula"].append(result)
        fired.add(count(printed))
        result, printed = traced(b, run, replay, "tcp-receive",
                                 "usdt:%s:netobs:tcp__receive /%s/ { @n = count(); }" % (program, PREDICATE))
        runs["predicate"].append(result)
        fired.add(count(printed))
    return runs, fired
