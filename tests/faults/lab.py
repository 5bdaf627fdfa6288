# SPDX-License-Identifier: BSD-2-Clause
"""A network of three namespaces, clients - router - servers, with real sockets, a bad path on demand, and a capture.

    clients 10.77.0.2 to .20, fd77:1::2 to ::14        servers 10.77.1.2 to .6, fd77:2::2 to ::6

Nothing but the namespaces is touched; they are deleted at the end.  Offloads are off, so that a capture has the packets
of the wire.  No module of the kernel is needed for a bad path: bad_path.py is one in user space.
"""
import array
import fcntl
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SERVER, SERVER6 = "10.77.1.2", "fd77:2::2"
LONGEST_S = 60  # of a client
NEIGHBOURS = "not icmp6 or icmp6[0] < 128"  # IPv6's own traffic has nothing to do with a fault


def pause(seconds):
    """Lets time pass, which is what a fault is made of."""
    time.sleep(seconds)  # no event: the fault is this time


def ip(*words, namespace=None, batch=None):
    """One command of ip(8), or those of the list `batch`."""
    where = ["-n", namespace] if namespace else []
    if batch:
        subprocess.run(["ip", *where, "-b", "-"], input="\n".join(batch) + "\n", text=True, check=True)
    else:
        subprocess.run(["ip", *where, *words], check=True, stderr=subprocess.DEVNULL)


class Lab:
    """The network of one capture.  `at` is where the capture is made: see capture()."""

    def __init__(self, prefix, pcap):
        self.names = {end: f"{prefix}-{end}" for end in ("client", "router", "server")}
        self.pcap, self.processes, self.tcpdump, self.background = pcap, [], None, None
        self.folder = tempfile.TemporaryDirectory(prefix="netobs-faults-")

    def __enter__(self):
        self.down()
        self.up()
        return self

    def __exit__(self, *unused):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.down()
        self.folder.cleanup()

    # --- the network ---

    def up(self):
        """Makes the namespaces, their interfaces and addresses."""
        client, router, server = self.names.values()
        for name in self.names.values():
            ip("netns", "add", name)
            ip("link", "set", "lo", "up", namespace=name)
            self.sysctl(name, "ipv6.conf.all.accept_dad=0", "ipv6.conf.default.accept_dad=0",
                        "ipv4.tcp_no_metrics_save=1", "ipv4.icmp_ratelimit=0", "ipv6.icmp.ratelimit=0")
        self.sysctl(router, "ipv4.ip_forward=1", "ipv6.conf.all.forwarding=1", "ipv4.conf.all.rp_filter=0")
        for end, interface in ((client, "cl"), (server, "sv")):
            ip("link", "add", interface, "type", "veth", "peer", "name", "eth0", "netns", end, namespace=router)
        ip(namespace=router, batch=["addr add 10.77.0.1/24 dev cl", "addr add 10.77.1.1/24 dev sv",
                                    "addr add fd77:1::1/64 dev cl nodad", "addr add fd77:2::1/64 dev sv nodad",
                                    "link set cl up", "link set sv up"])
        for end, net, last in ((client, 0, 20), (server, 1, 6)):
            commands = ["link set eth0 up", f"route add default via 10.77.{net}.1"]
            for host in range(last, 1, -1):
                commands.insert(0, f"addr add fd77:{net + 1}::{host:x}/64 dev eth0 nodad")
                commands.insert(0, f"addr add 10.77.{net}.{host}/24 dev eth0")
            ip(namespace=end, batch=commands)
            ip("-6", "route", "add", "default", "via", f"fd77:{net + 1}::1", namespace=end)
        self.inside(client, "offloads", "eth0")
        self.inside(server, "offloads", "eth0")
        self.inside(router, "offloads", "cl", "sv")

    def down(self):
        """Deletes the namespaces, if there are any."""
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)

    def inside(self, namespace, *words):
        """Runs this file in a namespace."""
        subprocess.run(["ip", "netns", "exec", namespace, sys.executable, __file__, *words], check=True)

    def sysctl(self, namespace, *settings):
        """Sets what is under net in a namespace."""
        for setting in settings:
            subprocess.run(["ip", "netns", "exec", namespace, "sysctl", "-qw", "net." + setting], check=True)

    # --- servers and clients ---

    def begin(self, end, script, *words):
        """Starts one of the scripts in a namespace; its standard output is a pipe."""
        command = ["ip", "netns", "exec", self.names[end], sys.executable, "-B", str(HERE / script), *words]
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   cwd=self.folder.name)
        self.processes.append(process)
        return process

    def serve(self, kind, port, **options):
        """Starts a server of servers.py, and waits until it is ready."""
        words = [f"{key}={value}" for key, value in options.items()]
        self.begin("server", "servers.py", kind, str(port), *words).stdout.readline()

    def serve_many(self, **options):
        """The servers of the healthy traffic; the options are of those on one port: web={...}, sql={...}, dns={...}."""
        for name, kind, port in (("web", "http", 80), ("", "http", 8080), ("", "lines", 7000), ("sql", "sql", 5432),
                                 ("dns", "dns", 53)):
            self.serve(kind, port, **options.get(name, {}))

    def start(self, kind, *words, **options):
        """Starts a client of clients.py."""
        return self.begin("client", "clients.py", kind, *words, *(f"{key}={value}" for key, value in options.items()))

    def client(self, kind, *words, **options):
        """Runs a client to its end."""
        self.finish(self.start(kind, *words, **options))

    def healthy(self, seconds=6, connections=40, versions="4"):
        """Starts healthy traffic of many kinds; capture_end() waits for it."""
        self.background = self.start("healthy", seconds=seconds, connections=connections, versions=versions)

    @staticmethod
    def finish(process):
        """Waits for a client, but not for ever."""
        try:
            process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()

    @staticmethod
    def mark(process):
        """Waits until a client says that it is at the place where the fault is to happen."""
        select.select([process.stdout], [], [], LONGEST_S)
        process.stdout.readline()

    # --- faults of the network ---

    def path(self, *rules):
        """Puts a bad path between clients and servers: rules of bad_path.py."""
        self.begin("router", "bad_path.py", *rules).stdout.readline()

    def rule(self, text, hook="forward"):
        """A rule of nftables on the router."""
        commands = (f"add table inet f\nadd chain inet f {hook} {{ type filter hook {hook} priority 0; }}\n"
                    f"add rule inet f {hook} {text}\n")
        subprocess.run(["ip", "netns", "exec", self.names["router"], "nft", "-f", "-"], input=commands, text=True,
                       check=True)

    def no_rules(self):
        """The router passes all again."""
        subprocess.run(["ip", "netns", "exec", self.names["router"], "nft", "flush", "ruleset"], check=True)

    def router_ip(self, *words):
        """A command of ip(8) on the router."""
        ip(*words, namespace=self.names["router"])

    # --- the capture ---

    def capture(self, end="router", interface="cl", snap=0, only=NEIGHBOURS):
        """Begins the capture: on the router's side of the clients, or at the interface eth0 of an end."""
        command = ["tcpdump", "-q", "-U", "-Z", "root", "-B", "8192", "-i", interface, "-w", self.pcap]
        command += ["-s", str(snap)] if snap else []
        # pylint: disable-next=consider-using-with
        self.tcpdump = subprocess.Popen(["ip", "netns", "exec", self.names[end], *command, only],
                                        stderr=subprocess.PIPE, text=True)
        self.processes.append(self.tcpdump)
        while "listening on" not in self.tcpdump.stderr.readline():
            if self.tcpdump.poll() is not None:
                raise OSError("tcpdump has ended")

    def capture_end(self):
        """Ends the capture, a little after the traffic."""
        if self.background:
            self.finish(self.background)
        pause(1.2)
        self.tcpdump.send_signal(signal.SIGINT)
        self.tcpdump.communicate()


def offloads(interfaces):
    """The interface leaves segmentation and checksums to the kernel: ethtool -K tso off gso off gro off tx off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for interface in interfaces:
            for command in (0x1F, 0x24, 0x2C, 0x17):  # ETHTOOL_STSO, SGSO, SGRO, STXCSUM
                value = array.array("B", struct.pack("II", command, 0))
                request = struct.pack("16sP", interface.encode(), value.buffer_info()[0]) + bytes(16)
                fcntl.ioctl(control, 0x8946, request)  # SIOCETHTOOL


if __name__ == "__main__" and sys.argv[1] == "offloads":
    offloads(sys.argv[2:])
