#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traffic of the soak test: soak_traffic.py NETNS IFACE

Executes the commands on standard input, one a line, and prints one line for each:

    frames COUNT    COUNT short TCP connections between two other hosts, as frames of a packet socket on IFACE, which is in
                    the network namespace NETNS; prints the number of frames sent since the start
    sockets COUNT   COUNT short connections over the loopback interface
    step SECONDS    sets the host's clock forward, or back

It ends without a line if a command fails or takes more than a minute."""
import ctypes
import errno
import os
import signal
import socket
import struct
import sys
import time

CONNECTIONS_PER_CALL = 64
MOST_SECONDS = 60  # for one command
PORTS = 60000  # client ports of one client address, from 1024 on
SYN, ACK, FIN = 2, 16, 1
libc = ctypes.CDLL(None, use_errno=True)


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Msghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.c_void_p), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int)]


class Mmsghdr(ctypes.Structure):
    _fields_ = [("header", Msghdr), ("len", ctypes.c_uint)]


def checksum(data):
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(sends, seq, ack, flags, data=b""):
    """A frame of the client (sends is true) or the server.  Port and sequence numbers of the client are 0 and 65535."""
    hosts = [socket.inet_aton("203.0.113.1"), socket.inet_aton("198.51.100.2")]
    ports = (0, 80)
    source, to = (0, 1) if sends else (1, 0)
    length = 20 + len(data)
    tcp = struct.pack("!HHIIBBHHH", ports[source], ports[to], seq, ack, 5 << 4, flags, 8192, 0, 0) + data
    pseudo = hosts[source] + hosts[to] + struct.pack("!BBH", 0, 6, length)
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, 6, 0) + hosts[source] + hosts[to]
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return bytes.fromhex("02000000000e" + "02000000000f" + "0800") + ip + tcp


def connection():
    """The frames of one connection, and for each the offsets of the client's port and of its sequence number's low half.

    Port and low half have a constant sum, so that all checksums remain right."""
    base = 0x10000  # its low half is 65535 - port, instead of 0
    frames = [frame(True, base, 0, SYN), frame(False, 9000, base + 1, SYN | ACK), frame(True, base + 1, 9001, ACK),
              frame(True, base + 1, 9001, ACK, b"GET / HTTP/1.0\r\n\r\n"), frame(False, 9001, base + 19, ACK, b"x" * 50),
              frame(True, base + 19, 9051, ACK | FIN), frame(False, 9051, base + 20, ACK | FIN),
              frame(True, base + 20, 9052, ACK)]
    senders = [True, False, True, True, False, True, False, True]
    added = [0, 1, 1, 1, 19, 19, 20, 20]
    # For the checksum of 0 + 65535, which is 0 in ones' complement, the templates' 0 + 0 is as good.
    return frames, [(34 if sends else 36, 40 if sends else 44, more) for sends, more in zip(senders, added)]


class Sender:
    """A packet socket, and one call's connections as messages for sendmmsg(2)."""

    def __init__(self, netns, interface):
        frames, places = connection()
        self.each = len(frames)
        self.memory = bytearray(sum(map(len, frames)) * CONNECTIONS_PER_CALL)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.messages = (Mmsghdr * (self.each * CONNECTIONS_PER_CALL))()
        self.vectors = (Iovec * len(self.messages))()
        self.patches = []  # for each connection: (place of the port, place of the sequence number, what is added to it)
        at = 0
        for index in range(len(self.messages)):
            data, (port, low, added) = frames[index % self.each], places[index % self.each]
            self.memory[at:at + len(data)] = data
            self.vectors[index] = Iovec(address + at, len(data))
            self.messages[index].header.iov = ctypes.addressof(self.vectors[index])
            self.messages[index].header.iovlen = 1
            if index % self.each == 0:
                self.patches.append([])
            self.patches[-1].append((at + port, at + low, added))
            at += len(data)
        self.socket = self.open(netns, interface)
        self.connections = self.sent = 0

    @staticmethod
    def open(netns, interface):
        with open("/proc/self/ns/net") as here, open("/run/netns/" + netns) as there:
            libc.setns(there.fileno(), 0)
            out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            out.bind((interface, 0))
            out.setsockopt(263, 20, 1)  # SOL_PACKET, PACKET_QDISC_BYPASS
            libc.setns(here.fileno(), 0)
        return out

    def send(self, count):
        put = struct.Struct("!H").pack_into
        while count > 0:
            now = min(CONNECTIONS_PER_CALL, count)
            for patch in self.patches[:now]:
                port = 1024 + self.connections % PORTS
                for port_at, low_at, added in patch:
                    put(self.memory, port_at, port)
                    put(self.memory, low_at, 65535 - port + added)
                self.connections += 1
            self.send_messages(now * self.each)
            count -= now
        return self.sent

    def send_messages(self, end):
        begin = 0
        while begin < end:
            got = libc.sendmmsg(self.socket.fileno(), ctypes.byref(self.messages, begin * ctypes.sizeof(Mmsghdr)),
                                end - begin, 0)
            if got > 0:
                begin += got
            elif ctypes.get_errno() not in (errno.EAGAIN, errno.ENOBUFS):
                raise OSError(ctypes.get_errno(), "sendmmsg: " + os.strerror(ctypes.get_errno()))
            else:
                time.sleep(0.001)  # no event: the queue of the interface is full
        self.sent += end


def use_sockets(count):
    with socket.create_server(("127.0.0.1", 0), backlog=8) as server:
        for _ in range(count):
            client = socket.create_connection(server.getsockname())
            peer, _ = server.accept()
            client.sendall(b"request")
            peer.recv(100)
            peer.sendall(b"reply")
            client.recv(100)
            client.close()
            peer.close()


def step(seconds):
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + seconds)


sender = Sender(sys.argv[1], sys.argv[2])
for line in sys.stdin:
    command, value = line.split()
    done = ""
    signal.alarm(MOST_SECONDS)  # which ends this program
    if command == "frames":
        done = sender.send(int(value))
    elif command == "sockets":
        use_sockets(int(value))
    else:
        step(float(value))
    signal.alarm(0)
    print(command, done, flush=True)
