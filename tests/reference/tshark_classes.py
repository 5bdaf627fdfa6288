# SPDX-License-Identifier: BSD-2-Clause
"""Shared by tshark_records.py and tshark_retransmissions.py, which compare each capture by itself.  Their command line is

    PROGRAM NETOBSD CAPTURES TRUTH [SHARED] [--few] [--write | --accept]

Compared are the captures below CAPTURES and TRUTH, the folders of the source tree, or with SHARED those below SHARED/captures
and SHARED/truth whose content is not among them.  Each difference belongs to a class.  PROGRAM.tsv beside the program has

    class   name     reason
    few     capture                  one of those that --few compares, which together have each class
    count   capture  class    count  the differences of a capture

A difference without a class fails, and so does a count that is not the listed one.  The counts of the shipped captures, or of
the few, must be those of accuracy.expected, the sums with the further captures those of README.md.  --write prints the list
with the counts of this run; --accept writes them into these files, if nothing else is wrong."""
import collections
import concurrent.futures
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import accuracy  # noqa: E402


def read_listed(path):
    """The classes with their reasons, the few captures, and (capture, class) -> count."""
    reasons, few, counts = {}, [], {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.rstrip("\n").split("\t")
            if words[0] == "class":
                reasons[words[1]] = words[2]
            elif words[0] == "few":
                few.append(words[1])
            elif words[0] == "count":
                counts[(words[1], words[2])] = int(words[3])
    return reasons, few, counts


def both_folders(captures, truth, scratch, known=()):
    return [(prefix + name, path) for prefix, folder in (("captures/", captures), ("truth/", truth))
            for name, path in accuracy.captures(folder, scratch, known)]


class Comparison:
    """The counts of the captures, their differences by class, and what is wrong with them."""

    def __init__(self, captures, compare, netobsd, scratch):
        self.total, self.found, self.wrong = collections.Counter(), {}, []
        self.names = {name for name, _ in captures}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda capture: compare(netobsd, capture[1], scratch), captures)
            for (name, _), (total, classes, unexplained) in zip(captures, results):
                self.total.update(total)
                self.found.update({(name, kind): count for kind, count in classes.items()})
                self.wrong += [f"unexplained: {name} {text}" for text in unexplained]
        self.total["differences"] = sum(self.found.values())
        self.total["classes"] = len({kind for _, kind in self.found})

    def check_listed(self, reasons, counts):
        """Compares with the listed counts."""
        for key in sorted(set(self.found) | set(counts)):
            if self.found.get(key, 0) != counts.get(key, 0):
                self.wrong.append(f"{key[0]} {key[1]}: {self.found.get(key, 0)} differences, {counts.get(key, 0)} are listed")
            self.wrong += [f"{kind}: a class without a reason" for kind in key[1].split("+") if kind not in reasons]

    def print_classes(self, reasons):
        by_class = collections.Counter()
        for (_, kind), count in self.found.items():
            by_class[kind] += count
        for kind, count in sorted(by_class.items()):
            print(f"{count} {kind}: {'; '.join(reasons.get(part, '?') for part in kind.split('+'))}")


def write(reasons, few, counts):
    for name, reason in reasons.items():
        print(f"class\t{name}\t{reason}")
    for name in few:
        print(f"few\t{name}")
    for key in sorted(counts):
        print(f"count\t{key[0]}\t{key[1]}\t{counts[key]}")


def main(test, compare, text):
    """compare(netobsd, path, scratch) returns the counts of a capture, its differences by class, and a line for each without
    a class; text(counts) is the closing line."""
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(arguments) not in (3, 4):
        sys.exit(sys.modules["__main__"].__doc__)
    netobsd, captures, truth, *shared = arguments
    reasons, few, counts = read_listed(os.path.join(accuracy.HERE, test + ".tsv"))
    with tempfile.TemporaryDirectory() as scratch:
        own = both_folders(captures, truth, scratch)
        shipped, what, counts_of = {name for name, _ in own}, "shipped", test
        if shared:
            folders = (os.path.join(shared[0], name) for name in ("captures", "truth"))
            own, what = both_folders(*folders, scratch, {accuracy.digest(path) for _, path in own}), "further"
        elif "--few" in sys.argv:
            own, what, counts_of = [(name, path) for name, path in own if name in few], "few", test + "_few"
        if not own:
            sys.exit("no capture files")
        run = Comparison(own, compare, netobsd, scratch)
    here = {key: count for key, count in counts.items()
            if key[0] in run.names or what == "further" and key[0] not in shipped}
    others = {key: count for key, count in counts.items() if key not in here}
    if "--write" in sys.argv:
        write(reasons, few, {**others, **run.found})
        for line in run.wrong:
            print(line, file=sys.stderr)
        return
    run.check_listed(reasons, here)
    accept = "--accept" in sys.argv and not run.wrong
    if what == "further":
        classes = len({kind for _, kind in run.found} - {kind for _, kind in others})  # that the shipped captures lack
        run.wrong += accuracy.wrong_rows(accuracy.rows_with_shared(test, {**run.total, "classes": classes}), accept)
    else:
        if accept:
            accuracy.accept_counts(counts_of, dict(run.total))
        run.wrong += accuracy.wrong_counts(counts_of, dict(run.total))
    print("".join(line + "\n" for line in run.wrong), end="")
    run.print_classes(reasons)
    print(f"{what}: {text(run.total)}")
    sys.exit(bool(run.wrong))
