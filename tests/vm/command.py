#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command as root in a guest of check-vm, and prints its output as it comes.

    tests/vm/command.py [-t SECONDS] DIRECTORY COMMAND

DIRECTORY is the guest's on the host (tests/vm/check.sh prints it).  The exit status is the command's, 124 if it did not end
within SECONDS (300), or 125 if the guest died, restarted or does not answer.
"""
import argparse
import json
import os
import pathlib
import socket
import sys
import time


def connect(directory):
    """A connected socket.  Unix socket paths have at most 107 bytes, so that the path is relative."""
    os.chdir(directory)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("agent")
    return connection


def alive():
    """Whether QEMU runs."""
    try:
        os.kill(int(pathlib.Path("pid").read_text(encoding="ascii")), 0)
    except (OSError, ValueError):
        return False
    return True


class Command:
    """One command on its way."""

    def __init__(self, connection, options):
        self.connection, self.starting, self.closed = connection, options.starting, False
        self.message = {"id": f"{os.getpid()}.{time.time()}", "command": options.command, "timeout": options.timeout}
        # The agent ends the command first; the rest is for a guest that does not run any more.
        self.end = time.monotonic() + options.timeout + (0 if self.starting else 30)

    def send(self):
        self.connection.sendall((json.dumps(self.message) + "\n").encode())

    def lines(self):
        """The messages of the guest; None for each three seconds without one."""
        self.connection.settimeout(3)
        rest = b""
        while time.monotonic() < self.end:
            try:
                data = self.connection.recv(65536)
            except TimeoutError:
                yield None
                continue
            if not data:  # QEMU ended
                self.closed = True
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from (json.loads(line) for line in lines)

    def run(self):
        """Prints the output.  Returns the status, or a text that says why there is no status."""
        self.send()
        for message in self.lines():
            if message is None and not alive():
                break
            if self.starting and (message is None or "boot" in message):
                self.send()  # a guest that restarts loses messages
            elif message is not None and "boot" in message:
                return "the guest restarted"
            elif message is not None and message.get("id") == self.message["id"]:
                sys.stdout.write(message.get("output", ""))
                sys.stdout.flush()
                if "status" in message:
                    return message["status"]
        return "the guest died" if self.closed or not alive() else "the guest does not answer"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-t", dest="timeout", type=float, default=300)
    parser.add_argument("-b", dest="starting", action="store_true", help="the guest starts: repeat a harmless command")
    parser.add_argument("directory")
    parser.add_argument("command")
    options = parser.parse_args()
    try:
        command = Command(connect(options.directory), options)
    except OSError as error:
        print(f"command.py: no guest in {options.directory}: {error.strerror}", file=sys.stderr)
        return 125
    status = command.run()
    if isinstance(status, str):
        print(f"command.py: {status}", file=sys.stderr)
        return 125
    return status


if __name__ == "__main__":
    sys.exit(main())
