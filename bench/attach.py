# SPDX-License-Identifier: BSD-2-Clause
"""How long bpftrace takes to attach to probes and to detach from them: the row "attach" of bench/run.py.

bpftrace prints what its BEGIN has printed when all probes are attached, and ends when all are detached.  A netobsd that waits
for its input runs meanwhile, as in use; its probes do not fire.
"""
import re
import statistics
import subprocess
import time


class Attachment:
    """Sites, and seconds: from the start of bpftrace until it has attached, from its exit() until its end."""

    def __init__(self, sites, attach, detach):
        self.sites, self.attach, self.detach = sites, attach, detach


def attach(arguments, probes):
    """Runs bpftrace, which counts the firings of `probes` for a second."""
    script = 'BEGIN { printf("attached\\n"); } %s { @ = count(); } interval:s:1 { printf("exit\\n"); exit(); }' % probes
    begin = time.monotonic()
    tracer = subprocess.Popen(["bpftrace", *arguments, "-e", script], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    printed, times = "", {}
    for line in tracer.stdout:
        printed += line
        times[line.strip()] = time.monotonic()
    if tracer.wait() != 0 or "exit" not in times:
        raise OSError("bpftrace does not attach: " + printed[-300:].strip())
    # BEGIN and interval are not sites.
    sites = int(re.search(r"Attach(?:ing|ed) (\d+) probe", printed).group(1)) - 2
    return Attachment(sites, times["attached"] - begin, time.monotonic() - times["exit"])


def measure(programs, rounds):
    """(program's name, what) -> attachments, one of each in every round."""
    found = {}
    for _ in range(rounds):
        for name, program in programs.items():
            with subprocess.Popen([program, "-r", "-"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as netobsd:
                by_path = "usdt:%s:netobs:" % program
                for what, arguments, probes in (
                        ("tcp-accept-refused", [], by_path + "tcp__accept__refused"),
                        ("tcp-receive", [], by_path + "tcp__receive"),
                        ("all probes", [], by_path + "*"),
                        ("all probes, -p", ["-p", str(netobsd.pid)], "usdt::netobs:*")):
                    found.setdefault((name, what), []).append(attach(arguments, probes))
                netobsd.stdin.close()
    return found


def a_site(few, many):
    """The detachment of a further site, ms: the median of the differences within each round."""
    return statistics.median((m.detach - f.detach) / (m.sites - f.sites) * 1e3 for f, m in zip(few, many))
