#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""netobs(1) on the loopback interface, for tests/scripts/netobs_traced.sh: brings it up, runs COMMAND, which is netobs with
its arguments, with the output in OUT/out and OUT/err, makes traffic until it has ended, and exits with its status.

    netobs_live.py datagrams OUT SIGNAL COMMAND...  datagrams; sends the signal (as TERM; -TERM: to all its processes; none: to
                                                    nobody) when the tracer was attached for a hundred of them
    netobs_live.py process OUT COMMAND...           connections that stay; SIGTERM when this process is printed, or after
                                                    200 connections; prints the id of this process
    netobs_live.py resets OUT COMMAND...            connections within this host that are reset; SIGTERM when there are more
                                                    than ten lines, or after 200 resets after the first line
    netobs_live.py service OUT SIGNAL NETOBSCTL COMMAND...
                                                    COMMAND attaches to a netobsd with --all-owners; 200 connections, then
                                                    the signal at once
"""
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

LIMIT = 200  # seconds; then what is awaited is told, before timeout(1) ends this program without a word


def start(out, command):
    with open(out + "/out", "w") as output, open(out + "/err", "w") as errors:
        return subprocess.Popen(command, stdout=output, stderr=errors, start_new_session=True)


def printed(out):
    with open(out + "/out", errors="replace") as output:
        return output.read()


def send_signal(process, name):
    if name:
        os.kill(-process.pid if name[0] == "-" else process.pid, getattr(signal, "SIG" + name.strip("-")))


def waits_for_events(pid):
    with open("/proc/%s/wchan" % pid) as wchan:
        return "poll" in wchan.read()


def traces(netobs):
    """Whether bpftrace, a child of netobs, waits for firings: it is attached."""
    try:
        with open("/proc/%d/task/%d/children" % (netobs.pid, netobs.pid)) as children:
            for pid in children.read().split():
                with open("/proc/%s/comm" % pid) as comm:
                    if comm.read() == "bpftrace\n":
                        return waits_for_events(pid)
    except OSError:  # one of them has ended
        pass
    return False


def capture_sockets():
    with open("/proc/net/packet") as table:
        return [line for line in table if line.split()[3] == "0003"]


def datagrams(out, name, *command):
    netobs, traced, observing = start(out, command), 0, False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while netobs.poll() is None:
            sender.sendto(b"x", ("127.0.0.1", 9999))
            time.sleep(0.01)  # no event: the interval between two datagrams
            observing = observing or bool(capture_sockets())
            traced += traced < 100 and bool(name) and observing and traces(netobs)
            if traced == 100:
                send_signal(netobs, name)
                traced = 101
    return netobs.returncode


def process(out, *command):
    netobs, kept = start(out, command), []
    with socket.create_server(("127.0.0.1", 7777), backlog=300) as server:
        while netobs.poll() is None:
            kept.append(socket.create_connection(("127.0.0.1", 7777)))
            kept.append(server.accept()[0])
            time.sleep(0.2)  # no event: the interval between two connections
            if len(kept) > 400 or re.search(r"^ *\d+ +%d " % os.getpid(), printed(out), re.M):
                netobs.terminate()
                netobs.wait()
    print(os.getpid())
    return netobs.returncode


def resets(out, *command):
    netobs, count = start(out, command), 0
    with socket.create_server(("127.0.0.1", 7777)) as server:
        while netobs.poll() is None:
            client = socket.create_connection(("127.0.0.1", 7777))
            accepted = server.accept()[0]
            client.sendall(b"request")
            accepted.recv(7)
            accepted.sendall(b"reply")
            client.recv(5)
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            accepted.close()
            client.close()
            time.sleep(0.05)  # no event: the interval between two connections
            lines = printed(out).count("\n")
            count += lines > 0
            if count > 200 or lines > 10:
                netobs.terminate()
                netobs.wait()
    return netobs.returncode


def service(out, name, netobsctl, *command):
    observer = subprocess.Popen(
        [os.environ["NETOBSD"], "-u", "nobody", "--all-owners", "-i", "lo", "--control", out + "/control"])
    deadline = time.monotonic() + LIMIT

    def observes():
        return waits_for_events(observer.pid) and capture_sockets()

    def attached():
        return traces(netobs) or netobs.poll() is not None

    def ended():
        listing = subprocess.run([netobsctl, "--socket", out + "/control", "connections", "--json"],
                                 stdout=subprocess.PIPE, universal_newlines=True, check=False).stdout
        return listing.count('_state":"time-wait"') + listing.count('_state":"closed"') >= 400

    def has_ended():
        return netobs.poll() is not None

    def wait_for(condition):
        while not condition():
            if time.monotonic() > deadline:
                print("%s() is still false" % condition.__name__, file=sys.stderr)
                observer.kill()  # netobs ends with it
                sys.exit(99)
            time.sleep(0.01)  # no event: the interval between two looks

    with socket.create_server(("127.0.0.1", 7777)) as server:
        wait_for(observes)
        netobs = start(out, [*command, "-p", str(observer.pid)])
        wait_for(attached)
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", 7777), 60):
                pass
            server.accept()[0].close()
    wait_for(ended)
    send_signal(netobs, name)
    wait_for(has_ended)
    observer.terminate()
    observer.wait()
    return netobs.returncode


subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
TRAFFIC = {"datagrams": datagrams, "process": process, "resets": resets, "service": service}
sys.exit(TRAFFIC[sys.argv[1]](*sys.argv[2:]))
