#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command under the system-call filter of a unit, as systemd would.

    unit_filter.py UNIT COMMAND...

Reads the lines SystemCallFilter= of the unit: names and groups that are allowed, and after "~" those that no longer are.
Other calls fail with EPERM.  systemd-analyze lists the groups.
"""
import ctypes
import os
import subprocess
import sys

ALLOW = 0x7FFF0000
EPERM = 0x00050001


def members(name):
    """Calls of a group, or the name itself."""
    if not name.startswith("@"):
        return {name}
    listed = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True)
    lines = [line.strip() for line in listed.stdout.splitlines()[1:]]
    return set().union(*(members(line) for line in lines if line and not line.startswith("#")))


def allowed(unit):
    calls = members("@default")
    for line in open(unit, encoding="utf-8"):
        if line.startswith("SystemCallFilter=~"):
            calls -= set().union(*map(members, line.split("~")[1].split()))
        elif line.startswith("SystemCallFilter="):
            calls |= set().union(*map(members, line.split("=")[1].split()))
    # systemd executes the command itself, before it counts.
    return calls | members("@default") | {"execve"}


def main():
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(EPERM))
    for name in allowed(sys.argv[1]):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(context, ALLOW, number, 0)
    if library.seccomp_load(context) != 0:
        sys.exit("the filter cannot be loaded")
    os.execvp(sys.argv[2], sys.argv[2:])


main()
