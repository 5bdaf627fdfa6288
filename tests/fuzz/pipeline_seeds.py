#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""pipeline_seeds.py DIRECTORY: inputs of fuzz_pipeline, always the same ones.

Each has a few flows that mostly send plain data, on one or two link types, while tracers, local addresses, devices and
time change at random.
"""
import os
import random
import sys

INPUTS = 400
MADE_FRAME, TRACER, ADDRESS, DEVICE, TIME = 0, 4, 5, 6, 7


def record(operation, argument, *more):
    return bytes([operation | argument << 3, *more])


def frame(r, tuples, links):
    """A frame: mostly a plain one, in sequence."""
    link = r.choice(links)
    where = r.choice((1, 1, 1, 0, 2, 3)) | link << 2 | r.randrange(8) << 5
    tuple_bits = r.choice(tuples) | r.randrange(2) << 5 | r.choice((0, 0x40))
    what = r.randrange(4) | r.randrange(8) << 3
    numbers = 0
    if r.random() < 0.1:
        what = r.randrange(256)
    if r.random() < 0.1:
        numbers = r.randrange(256)
    return record(MADE_FRAME, r.choice((0, 0, 1, 5)), where, tuple_bits, what, numbers)


def change(r, tracers):
    kind = r.random()
    if kind < tracers:
        return record(TRACER, r.randrange(32), 1 << r.randrange(8))
    if kind < 0.7:
        return record(ADDRESS, r.randrange(32))
    if kind < 0.85:
        return record(DEVICE, r.randrange(32))
    return record(TIME, r.randrange(32))


def seed(number):
    r = random.Random(number)
    tuples = [r.randrange(32) for _ in range(r.choice((1, 2, 4, 20)))]
    links = r.choice(((0,), (1,), (1, 2), (3,), (0, 1), (4, 5, 6, 7), range(8)))
    changes, tracers = r.choice((0.02, 0.1, 0.3)), r.choice((0, 0.2, 0.4))
    made = bytes([r.choice((0, 1, 0, 1, 2, 3)) | r.randrange(8) << 2])
    for address in r.sample(range(8), r.randrange(4)):
        made += record(ADDRESS, address | r.randrange(4) << 3)
    for _ in range(r.choice((20, 100, 500))):
        made += change(r, tracers) if r.random() < changes else frame(r, tuples, links)
    return made


def main():
    for number in range(INPUTS):
        with open(os.path.join(sys.argv[1], "%03d" % number), "wb") as out:
            out.write(seed(number))


main()
