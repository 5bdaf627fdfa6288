# SPDX-License-Identifier: BSD-2-Clause
"""Points of a test, as TAP."""

point = 0


def check(name, got, wanted=True):
    global point
    point += 1
    print(f"{'ok' if got == wanted else 'not ok'} {point} - {name}")
    if got != wanted:
        print(f"# got    {got!r}\n# wanted {wanted!r}")


def finish():
    print(f"1..{point}")
