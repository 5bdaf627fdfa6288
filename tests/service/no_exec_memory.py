#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command whose memory may not become executable; status 77 if the kernel has no PR_SET_MDWE.

usage: no_exec_memory.py COMMAND...
"""
import ctypes
import os
import sys

PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1

if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0:
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
