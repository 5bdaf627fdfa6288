#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command on a terminal that is not its controlling one, types a key, and takes the terminal away.

usage: lost_terminal.py KEY COMMAND...

Waits until the command has drawn something, and with a key something more.  Prints its exit status and its standard
error.
"""
import os
import signal
import subprocess
import sys

signal.alarm(300)  # it ends this program
key, *command = sys.argv[1:]
terminal, slave = os.openpty()
child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.PIPE, start_new_session=True,
                         env={**os.environ, "TERM": "xterm"}, text=True)
os.close(slave)


def read_until(text):
    """Reads what the command draws, up to a text."""
    drawn = b""
    while text not in drawn:
        drawn += os.read(terminal, 65536)


read_until(b"q quit")
if key:
    os.write(terminal, key.encode())
    read_until(b"Expression")
os.close(terminal)
try:
    print(child.wait(50), child.stderr.read().strip())
finally:
    child.kill()
