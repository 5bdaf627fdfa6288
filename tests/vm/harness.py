#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In place of QEMU in harness.sh: the agent with a Unix socket instead of a virtio-serial port, on this machine.

It runs the guest scripts in the source tree $HARNESS_TREE.  Every other command of check.sh only succeeds, or fails if it
contains $HARNESS_FAILS.  $HARNESS_BOOTS gets a line for each start: the image and the number of processors.
"""
import os
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import agent  # noqa: E402

TREE, FAILS = os.environ["HARNESS_TREE"], os.environ.get("HARNESS_FAILS", "")


class Port(agent.Port):
    """The socket, on which the host connects for each command."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.listener = socket.create_server("agent", family=socket.AF_UNIX)
        self.connect()

    def connect(self):
        self.connection = self.listener.accept()[0]
        self.file, self.input = self.connection.fileno(), b""

    def send(self, message):
        try:
            super().send(message)
        except BrokenPipeError:
            pass  # the host has its answer

    def receive(self):
        while not (line := self.connection.makefile("rb").readline()):
            self.connect()
        return agent.json.loads(line)


def main():
    with open(os.environ["HARNESS_BOOTS"], "a", encoding="ascii") as file:
        kernel, processors = (sys.argv[sys.argv.index(option) + 1] for option in ("-kernel", "-smp"))
        print(os.path.basename(os.path.dirname(kernel)), processors, file=file)
    agent.ENVIRONMENT.update(HOME="/", PATH=os.environ["PATH"], HARNESS_CACHE=os.environ["HARNESS_CACHE"])
    port = Port()
    while True:
        message = port.receive()
        command = message["command"]
        if "reboot.target" in command:
            port.send({"boot": True})
            continue
        message["command"] = "false" if FAILS and FAILS in command else "true"
        if "/netobs/" in command:
            message["command"] = command.replace("/netobs/", TREE + "/")
        port.send({"id": message["id"], "status": agent.run(port, message)})


if __name__ == "__main__":
    main()
