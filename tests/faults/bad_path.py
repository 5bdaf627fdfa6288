#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bad_path.py RULE...: a bad path between clients and servers, in user space, on a tun device of the router.

RULE is up:KEY=VALUE,... (towards the servers) or down:KEY=VALUE,... (towards the clients).  A packet meets the first
rule of its direction whose conditions hold.

    port=N, min=BYTES           conditions: either port; size of the IP packet
    syn=1, data=1               only SYN and SYN,ACK; only with payload of TCP
    drop=PERCENT, nth=N         loses some, or each Nth
    delay=MS, jitter=MS         distance; the order is kept
    reorder=N:MS                each Nth is late
    duplicate=PERCENT           some come twice
    police=BYTES/S:BURST        a token bucket: what exceeds it is dropped
    shape=BYTES/S:LIMIT         a queue of LIMIT bytes
    unscaled=1                  takes the window scale option out of SYNs
    seed=N                      of the chances

Prints "ready" when it forwards.
"""
import fcntl
import heapq
import os
import pathlib
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, TUN_WITHOUT_HEADER = 0x400454CA, 0x1001
TCP, UDP = 6, 17
SYN = 0x02
ROUTES = ("link set path0 up mtu 1500", "rule add dev cl lookup 100", "rule add dev sv lookup 100",
          "route add default dev path0 table 100", "-6 rule add dev cl lookup 100", "-6 rule add dev sv lookup 100",
          "-6 route add default dev path0 table 100")


class Packet:
    """An IP packet, as far as rules look at it."""

    def __init__(self, data):
        self.data = data
        if data[0] >> 4 == 4:
            self.header, protocol = (data[0] & 15) * 4, data[9]
            self.up = data[16:19] == b"\x0a\x4d\x01"
            self.addresses = data[12:20]
        else:
            self.header, protocol = 40, data[6]
            self.up = data[24:28] == b"\xfd\x77\0\x02"
            self.addresses = data[8:40]
        self.ports = struct.unpack("!HH", data[self.header:self.header + 4]) if protocol in (TCP, UDP) else ()
        self.flags = data[self.header + 13] if protocol == TCP else 0
        self.payload = len(data) - self.header - ((data[self.header + 12] >> 4) * 4 if protocol == TCP else 0)

    def without_scale(self):
        """The packet with NOPs in the place of the window scale option."""
        segment = bytearray(self.data[self.header:])
        at, end = 20, (segment[12] >> 4) * 4
        while at < end and segment[at]:
            if segment[at] == 3:
                segment[at:at + 3] = b"\1\1\1"
            at += 1 if segment[at] == 1 else segment[at + 1]
        segment[16:18] = b"\0\0"
        segment[16:18] = struct.pack("!H", checksum(self.addresses + struct.pack("!HH", TCP, len(segment)) + segment))
        return self.data[:self.header] + bytes(segment)


def checksum(data):
    """The checksum of the internet (RFC 1071)."""
    data = bytes(data) + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return ~total & 0xFFFF


class Rule:
    """One rule, with what it remembers of the packets before."""

    def __init__(self, text):
        way, _, rest = text.partition(":")
        self.up = way == "up"
        self.options = dict(item.split("=", 1) for item in rest.split(","))
        self.random = random.Random(int(self.options.get("seed", 1)))
        self.count, self.last = 0, 0.0
        self.tokens, self.filled = None, 0.0  # of the token bucket
        self.free = 0.0                       # when the queue will be empty

    def number(self, name):
        """A number of the rule, 0 if it has none."""
        return float(self.options.get(name, 0))

    def pair(self, name):
        """The two numbers A:B of the rule."""
        first, second = self.options[name].split(":")
        return float(first), float(second)

    def takes(self, packet):
        """Whether the conditions hold."""
        return (packet.up == self.up and ("port" not in self.options or int(self.number("port")) in packet.ports)
                and len(packet.data) >= self.number("min") and ("syn" not in self.options or packet.flags & SYN != 0)
                and ("data" not in self.options or packet.payload > 0))

    def loses(self, packet, now):
        """Whether the packet is dropped."""
        if "nth" in self.options and self.count % int(self.number("nth")) == 0:
            return True
        if self.random.random() * 100 < self.number("drop"):
            return True
        if "police" not in self.options:
            return False
        rate, burst = self.pair("police")
        self.tokens = burst if self.tokens is None else min(burst, self.tokens + (now - self.filled) * rate)
        self.filled = now
        if self.tokens < len(packet.data):
            return True
        self.tokens -= len(packet.data)
        return False

    def times(self, packet, now):
        """When the copies of the packet leave; none if it is lost."""
        self.count += 1
        if self.loses(packet, now):
            return []
        at = now + self.number("delay") / 1e3 + self.random.random() * self.number("jitter") / 1e3
        if "shape" in self.options:
            rate, limit = self.pair("shape")
            self.free = max(self.free, now)
            if (self.free - now) * rate > limit:
                return []
            self.free += len(packet.data) / rate
            at += self.free - now
        every, late_ms = self.pair("reorder") if "reorder" in self.options else (0, 0)
        if every and self.count % int(every) == 0:
            return [at + late_ms / 1e3]
        self.last = at = max(at, self.last)
        twice = self.random.random() * 100 < self.number("duplicate")
        return [at, at + 0.0002] if twice else [at]


class Path:
    """The device, the rules, and the packets that are under way."""

    def __init__(self, rules):
        self.rules, self.queue, self.count = rules, [], 0
        self.tun = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22s", b"path0", TUN_WITHOUT_HEADER, b""))
        for line in ROUTES:
            subprocess.run(["ip", *line.split()], check=True)
        for name in ("all", "path0"):
            pathlib.Path(f"/proc/sys/net/ipv4/conf/{name}/rp_filter").write_text("0", encoding="ascii")

    def take(self, data):
        """A packet comes."""
        packet, now = Packet(data), time.monotonic()
        rule = next((rule for rule in self.rules if rule.takes(packet)), None)
        if rule and "unscaled" in rule.options and packet.flags & SYN:
            data = packet.without_scale()
        for at in rule.times(packet, now) if rule else [now]:
            self.count += 1
            heapq.heappush(self.queue, (at, self.count, data))

    def run(self):
        """Forwards packets until the process is ended."""
        while True:
            now = time.monotonic()
            while self.queue and self.queue[0][0] <= now:
                try:
                    os.write(self.tun, heapq.heappop(self.queue)[2])
                except OSError:  # no route: the packet is lost
                    pass
            wait = max(0, self.queue[0][0] - now) if self.queue else None
            if select.select([self.tun], [], [], wait)[0]:
                self.take(os.read(self.tun, 65536))


if __name__ == "__main__":
    path = Path([Rule(text) for text in sys.argv[1:]])
    print("ready", flush=True)
    path.run()
