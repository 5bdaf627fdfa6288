#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command under the system-call filters of a unit, as systemd would.

    unit_filter.py UNIT COMMAND...

Reads the lines SystemCallFilter= of the unit: names and groups that are allowed, and after "~" those that no longer are.
Other calls fail with EPERM.  systemd-analyze lists the groups.  Sockets of families that RestrictAddressFamilies= does not
list fail with EAFNOSUPPORT.  SYSTEMD_EXEC_PID is set to the process of the command.
"""
import ctypes
import os
import socket
import subprocess
import sys

ALLOW = 0x7FFF0000
EPERM = 0x00050001
EAFNOSUPPORT = 0x00050061
FAMILIES = 50
EQUAL = 4


class Comparison(ctypes.Structure):
    """struct scmp_arg_cmp"""

    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("value", ctypes.c_uint64), ("mask", ctypes.c_uint64)]


def groups():
    """Names of the calls and groups in each group."""
    listed = subprocess.run(["systemd-analyze", "syscall-filter"], check=True, capture_output=True, text=True)
    found, names = {}, set()
    for line in listed.stdout.splitlines():
        if line.startswith("@"):
            names = found[line] = set()
        elif line.startswith(" ") and not line.strip().startswith("#"):
            names.add(line.strip())
    return found


GROUPS = groups()


def members(name):
    """Calls of a group, or the name itself."""
    return set().union(*map(members, GROUPS[name])) if name.startswith("@") else {name}


def allowed(unit):
    calls = members("@default")
    for line in open(unit, encoding="utf-8"):
        if line.startswith("SystemCallFilter=~"):
            calls -= set().union(*map(members, line.split("~")[1].split()))
        elif line.startswith("SystemCallFilter="):
            calls |= set().union(*map(members, line.split("=")[1].split()))
    # systemd executes the command itself, before it counts.
    return calls | members("@default") | {"execve"}


def families(unit):
    """Numbers of the address families that are allowed."""
    lines = [line.split("=")[1] for line in open(unit, encoding="utf-8") if line.startswith("RestrictAddressFamilies=")]
    return {int(getattr(socket, name)) for line in lines for name in line.split()}


def load(library, context):
    if library.seccomp_load(context) != 0:
        sys.exit("the filter cannot be loaded")


def context_of(library, action):
    library.seccomp_init.restype = ctypes.c_void_p
    return ctypes.c_void_p(library.seccomp_init(action))


def restrict_families(library, unit):
    context = context_of(library, ALLOW)
    for family in set(range(FAMILIES)) - families(unit):
        comparison = Comparison(0, EQUAL, family, 0)
        number = library.seccomp_syscall_resolve_name(b"socket")
        library.seccomp_rule_add_array(context, EAFNOSUPPORT, number, 1, ctypes.byref(comparison))
    load(library, context)


def restrict_calls(library, calls):
    context = context_of(library, EPERM)
    for name in calls:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(context, ALLOW, number, 0)
    load(library, context)


def main():
    library = ctypes.CDLL("libseccomp.so.2")
    calls = allowed(sys.argv[1])
    restrict_families(library, sys.argv[1])
    restrict_calls(library, calls)
    os.environ["SYSTEMD_EXEC_PID"] = str(os.getpid())
    os.execvp(sys.argv[2], sys.argv[2:])


main()
