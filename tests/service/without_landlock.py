#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command as on a kernel without Landlock.

usage: without_landlock.py COMMAND...
"""
import ctypes
import os
import sys

ALLOW, ENOSYS = 0x7FFF0000, 0x00050000 | 38
LANDLOCK_CREATE_RULESET = 444

library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(library.seccomp_init(ALLOW))
library.seccomp_rule_add(context, ENOSYS, LANDLOCK_CREATE_RULESET, 0)
if library.seccomp_load(context) != 0:
    sys.exit("the filter cannot be loaded")
os.execvp(sys.argv[1], sys.argv[1:])
