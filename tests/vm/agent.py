#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs commands of the host in the guest, one at a time (tests/vm/command.py sends them).

The virtio-serial port transports one JSON object a line.  From the host: {"id", "command", "timeout"}.  To the host:
{"boot": true} when the agent starts, {"id", "output"} for each piece of output, {"id", "status"} at the end; the status is 124
if the timeout expired.  A command ends early if the host closes the connection.
"""
import codecs
import contextlib
import json
import os
import select
import signal
import subprocess
import time

PORT = "/dev/virtio-ports/netobs"
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8",
               "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive", "top_srcdir": "/netobs", "NETOBSD": "/usr/sbin/netobsd"}


class Port:
    """The connection to the host."""

    def __init__(self):
        self.file = os.open(PORT, os.O_RDWR)
        self.input = b""

    def send(self, message):
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self.file, data):]

    def receive(self):
        """The next message of the host."""
        while b"\n" not in self.input:
            data = os.read(self.file, 65536)
            if not data:
                self.input = b""
                time.sleep(0.1)  # no event: a port without a reader is always ready
            self.input += data
        line, self.input = self.input.split(b"\n", 1)
        return json.loads(line)

    def closed(self):
        poll = select.poll()
        poll.register(self.file, 0)
        return any(event & select.POLLHUP for _, event in poll.poll(0))


def run(port, message):
    """Runs one command in a process group of its own, and sends its output as it comes."""
    end = time.monotonic() + message["timeout"]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with subprocess.Popen(["/bin/sh", "-c", message["command"]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=ENVIRONMENT["HOME"], env=ENVIRONMENT, start_new_session=True) as process:
        output = process.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        status = None
        while status is None:
            if poll.poll(200):
                data = os.read(output, 65536)
                if text := decoder.decode(data):
                    port.send({"id": message["id"], "output": text})
                if not data:  # the command ends soon, or continues without output
                    poll.unregister(output)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        status = process.wait(0.2)
            elif process.poll() is not None:  # processes in the background may still hold the output
                status = process.returncode
            if status is None and (time.monotonic() > end or port.closed()):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = 124
    return status if status >= 0 else 128 - status


def main():
    port = Port()
    port.send({"boot": True})
    while True:
        try:
            message = port.receive()
        except ValueError:
            continue  # the rest of a line whose sender has gone
        port.send({"id": message["id"], "status": run(port, message)})


if __name__ == "__main__":
    main()
