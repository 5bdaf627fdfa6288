#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Helper of write.sh: traffic on 127.0.0.1, captures as lists of frames, and a slow reader of the control socket.

  write_client.py traffic PORT COUNT BYTES   COUNT connections from the ports 41001, 41002, ... to PORT
  write_client.py hold PORT SOURCE READY     a connection between two processes, until standard input ends; when there was
                                             data, the file READY has their ids: of the client, of the server
  write_client.py processes CAPTURE PORT     prints the port and process id, or "none", of the senders of frames with PORT
                                             of a pcapng capture
  write_client.py same CAPTURE CAPTURE PORT  whether the frames of the first capture are those with PORT of the second
  write_client.py wrap SOCKET FILE           reads a capture slowly while the ring wraps; prints what netobsd counts
  write_client.py stalled SOCKET             requests a capture, reads nothing, and waits until netobsd disconnects it
  write_client.py terminal COMMAND...        prints the status and the output of a command on a terminal
  write_client.py ordered CAPTURE            prints the number of frames, if their times do not decrease
"""
import json
import os
import pty
import select
import socket
import struct
import sys
import time


def connect(port, source, size):
    listener = socket.create_server(("127.0.0.1", port))
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    client.bind(("127.0.0.1", source))
    client.connect(("127.0.0.1", port))
    server, _ = listener.accept()
    while size > 0:
        part = min(size, 3000)
        client.sendall(b"x" * part)
        got = 0
        while got < part:
            got += len(server.recv(65536))
        size -= part
    client.close()
    server.close()
    listener.close()


def hold(port, source, ready):
    listener = socket.create_server(("127.0.0.1", port))
    child = os.fork()
    if child == 0:
        listener.close()
        client = socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.1", source))
        client.sendall(b"hello")
        while client.recv(100):
            pass
        os._exit(0)
    server, _ = listener.accept()
    server.recv(5)
    server.sendall(b"hello")
    with open(ready + ".part", "w", encoding="ascii") as file:
        print(child, os.getpid(), file=file)
    os.rename(ready + ".part", ready)
    sys.stdin.read()
    server.close()
    os.waitpid(child, 0)


def processes(path, port):
    with open(path, "rb") as file:
        data = file.read()
    at, found = 0, set()
    while at < len(data):
        kind, size = struct.unpack("<II", data[at:at + 8])
        if kind == 6:
            caplen = struct.unpack("<I", data[at + 20:at + 24])[0]
            frame, option, pid = data[at + 28:at + 28 + caplen], at + 28 + (caplen + 3) // 4 * 4, "none"
            while option < at + size - 4:
                code, length = struct.unpack("<HH", data[option:option + 4])
                if code == 8:  # epb_processid_threadid
                    pid = struct.unpack("<II", data[option + 4:option + 4 + length])[0]
                option += 4 + (length + 3) // 4 * 4
            if has_port(frame, port):
                found.add((struct.unpack("!H", frame[34:36])[0], pid))
        at += size
    print(" ".join(f"{sender}:{pid}" for sender, pid in sorted(found)))


def frames(path):
    """Times in ns and bytes of the frames of a classic capture."""
    with open(path, "rb") as file:
        data = file.read()
    unit = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[struct.unpack("=I", data[:4])[0]]
    at = 24
    while at + 16 <= len(data):
        seconds, part, caplen, _ = struct.unpack("=IIII", data[at:at + 16])
        yield seconds * 10**9 + part * unit, data[at + 16:at + 16 + caplen]
        at += 16 + caplen


def has_port(frame, port):
    return frame[12:14] == b"\x08\x00" and port in struct.unpack("!HH", frame[34:38])


def same(written, reference, port):
    got = [frame for _, frame in frames(written)]
    wanted = [frame for _, frame in frames(reference) if has_port(frame, port)]
    print(len(got), "frames of", len(wanted))
    return got == wanted and len(got) > 0


def wait_for(path, port):
    """Returns when netobsd has observed the end of the connection from this port."""
    for _ in range(600):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(path)
            control.sendall(b"connections server_port == %d && client_state == \"time-wait\"\n" % port)
            if b"{" in control.makefile("rb").read():
                return
        time.sleep(0.1)  # no event: the interval between two tries


def wrap(path, output):
    control = socket.socket(socket.AF_UNIX)
    control.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    control.connect(path)
    control.sendall(b"write\n")
    reply = control.makefile("rb", buffering=0)
    received = bytearray(reply.read(8192))
    for number in range(40):
        connect(7200, 42001 + number, 300000)
        received += reply.read(4096)
    wait_for(path, 42040)
    while part := reply.read(65536):
        received += part
    assert received.startswith(b"ok\n"), received[:100]
    at, capture = 3, b""
    while length := struct.unpack("!I", received[at:at + 4])[0]:
        assert length <= 65536, received[at + 4:]
        capture += received[at + 4:at + 4 + length]
        at += 4 + length
    counts = json.loads(received[at + 4:])
    assert counts["bytes"] == len(capture)
    with open(output, "wb") as file:
        file.write(capture)
    print(counts["frames"], "lost" if counts["lost"] > 0 else "complete")


def stalled(path):
    control = socket.socket(socket.AF_UNIX)
    control.connect(path)
    control.sendall(b"write\n")
    poll = select.poll()
    poll.register(control, 0)
    print("disconnected" if poll.poll(120000) else "still connected")


def terminal(command):
    pid, terminal_fd = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    text = b""
    try:
        while part := os.read(terminal_fd, 4096):
            text += part
    except OSError:
        pass  # the end of a terminal
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode().strip())


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "traffic":
        for number in range(int(arguments[1])):
            connect(int(arguments[0]), 41001 + number, int(arguments[2]))
    elif command == "hold":
        hold(int(arguments[0]), int(arguments[1]), arguments[2])
    elif command == "processes":
        processes(arguments[0], int(arguments[1]))
    elif command == "same":
        sys.exit(0 if same(arguments[0], arguments[1], int(arguments[2])) else 1)
    elif command == "wrap":
        wrap(*arguments)
    elif command == "stalled":
        stalled(*arguments)
    elif command == "terminal":
        terminal(arguments)
    else:
        times = [time for time, _ in frames(arguments[0])]
        assert times == sorted(times)
        print(len(times))


main()
