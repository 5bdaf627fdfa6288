#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Locks a file as a reader of it may, until standard input ends.

usage: hold_lock.py FILE
"""
import fcntl
import sys

with open(sys.argv[1], encoding="latin-1") as file:
    fcntl.lockf(file, fcntl.LOCK_SH)
    print("locked", flush=True)
    sys.stdin.read()
