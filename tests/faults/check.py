#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check.py [-j JOBS] [-d DIRECTORY] [-v] NETOBS-REPORT [NAME...]: makes the captures of faults.tsv, those that
DIRECTORY lacks, and compares what the report says with what was done.  Needs root.

A capture is right if the finding that comes first is one of those of the table, with its side and its count; a healthy
capture if there is none.  Prints a line for each that is not, with -v for all, and a table at the end:

    faults made / cause named / side right / count right / false alarms
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import lab
import recipes

HERE = pathlib.Path(__file__).resolve().parent


class Truth:
    """A row of faults.tsv."""

    def __init__(self, line):
        self.name, self.done, finding, side, count = line.rstrip("\n").split("\t")
        self.healthy = finding == "-"
        self.findings, self.sides, self.counts = finding.split(), side.split(), count.split()

    def make(self, pcap, number):
        """Makes the capture; another number has other namespaces.  One that breaks off leaves no capture."""
        part = pcap.with_suffix(".part")
        with lab.Lab(f"nf{os.getpid() % 10000}-{number}", str(part)) as network:
            getattr(recipes, self.name)(network)
            network.capture_end()
        part.rename(pcap)

    def side_is_right(self, finding):
        """Whether who is to blame is right; of network>client also the direction that the sentence names."""
        for side, _, end in (side.partition(">") for side in self.sides):
            if finding["side"] == side and (not end or re.search(f"(toward|to) the {end}", finding["text"])):
                return True
        return False

    def count_is_right(self, finding):
        """Whether the number is that of the finding, or one that its first sentence names."""
        said = [str(finding["count"])] + re.findall(r"\d+", finding["text"])
        return any(re.fullmatch(count, word) for count in self.counts for word in said)


def judge(truth, report, pcap):
    """A set of words for what is right of a fault, or wrong of a healthy capture, and what the report says."""
    run = subprocess.run([report, "--json", pcap], capture_output=True, text=True, check=False)
    findings = json.loads(run.stdout)["findings"]
    findings = [finding for finding in findings if not finding.get("harmless") and finding["cost_us"]]
    if truth.healthy:
        return {"alarm"} if findings else {"quiet"}, findings
    if not findings or findings[0]["finding"] not in truth.findings:
        return set(), findings
    right = {"cause"}
    if truth.side_is_right(findings[0]):
        right.add("side")
    if truth.count_is_right(findings[0]):
        right.add("count")
    return right, findings


def main():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=4, dest="jobs")
    parser.add_argument("-d", type=pathlib.Path, default=None, dest="directory")
    parser.add_argument("-v", action="store_true", dest="all")
    parser.add_argument("report")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("check.py: needs root, for network namespaces")
    lines = (HERE / "faults.tsv").read_text("utf-8").splitlines()
    truths = [Truth(line) for line in lines if not line.startswith("#")]
    truths = [truth for truth in truths if not arguments.names or truth.name in arguments.names]
    with tempfile.TemporaryDirectory() as temporary:
        directory = arguments.directory or pathlib.Path(temporary)
        directory.mkdir(exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            made = {truth: pool.submit(truth.make, directory / f"{truth.name}.pcap", number)
                    for number, truth in enumerate(truths) if not (directory / f"{truth.name}.pcap").exists()}
        sys.exit(print_table(truths, made, arguments, directory))


def print_table(truths, made, arguments, directory):
    """Judges all captures; the exit status."""
    results = []
    for truth in truths:
        error = made[truth].exception() if truth in made else None
        if error:
            print(f"{truth.name}: no capture: {error}")
            results.append(set())
            continue
        right, findings = judge(truth, arguments.report, directory / f"{truth.name}.pcap")
        results.append(right)
        if arguments.all or right not in ({"quiet"}, {"cause", "side", "count"}):
            print(f"{truth.name} ({truth.done}): {' '.join(sorted(right)) or 'wrong'}")
            for finding in findings:
                print(f"    {finding['finding']} {finding['side']} {finding['count']}: {finding['text']}")
    faults = sum(not truth.healthy for truth in truths)
    numbers = [sum(word in right for right in results) for word in ("cause", "side", "count", "alarm")]
    print(f"{faults} faults made, {numbers[0]} causes named, {numbers[1]} sides right, {numbers[2]} counts right; "
          f"{numbers[3]} false alarms on {len(truths) - faults} healthy captures")
    return int(numbers[:3] != [faults] * 3 or numbers[3] != 0)


if __name__ == "__main__":
    main()
