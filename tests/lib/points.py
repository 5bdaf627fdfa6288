# SPDX-License-Identifier: BSD-2-Clause
"""Points of the Test Anything Protocol, for Python of a shell test, which relays them (relay of tests/lib/tap.sh)."""
count = 0


def point(name, good, *why):
    """`why` explains a failure."""
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for text in () if good else why:
        print("# " + str(text).strip()[:2000].replace("\n", "\n# "), flush=True)


def equal(name, got, wanted):
    point(name, got == wanted, f"got    {got}", f"wanted {wanted}")
